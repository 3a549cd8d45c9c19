"""The vector instructions that counting rests on, written once in LLVM and lowered to what the machine has.

    pack_word(codes, at, level)      bit i = 1[codes[at + i] == level], i = 0..63
    count_tile8(planes, p, chosen, c, stride, words, fresh, out, o)
        out[o + 8 t + lane] += sum_w popcount(planes[p + 8 w + lane] & chosen[c + t stride + w]),  t = 0..7, 8 lanes,
        from 0 instead of what is there if `fresh`
    rest_lanes(out, o, whole, w, first, step, count)
        out[o + lane] = whole[w + lane] - sum_{t < count} out[first + t step + lane]
    lookup_lanes(cells, at, count, table, out, o)
        out[o + lane] = sum_{t < count} table[cells[at + 8 t + lane]], in the order of t
    turn_bytes(rows, r, stride, columns, c, column_stride)      an 8 x 8 square of bytes, transposed

One load of eight candidates serves the eight levels of a tile; nothing is ever summed across lanes. count_tile4, 2
and 1 are the same for fewer levels. On AVX-512 a tile is a handful of instructions; on AVX2, SSE2 or NEON
LLVM splits the same vector operation. The plain Python twins serve NUMBA_DISABLE_JIT=1 and are the meaning of the
words above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jifs.jit import COMPILED, array_pointer, intrinsic, ir, llvm_function, types

LANES = 8
_BYTE, _INDEX, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_REAL = ir.DoubleType()
_BYTES, _WORDS = ir.VectorType(_BYTE, 64), ir.VectorType(_WORD, LANES)


def _splat(builder: Any, scalar: Any, vector: Any) -> Any:
    """A vector with the scalar in every lane."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(
        one, one, ir.Constant(ir.VectorType(_INDEX, vector.count), [0] * vector.count)
    )


def _pack_word(typingctx: Any, codes: Any, at: Any, level: Any) -> Any:
    """64 bytes against one level: a word of 64 answers."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = builder.load(
            array_pointer(context, builder, signature.args[0], args[0], args[1], _BYTES), align=1
        )
        same = builder.icmp_unsigned("==", row, _splat(builder, args[2], _BYTES))
        return builder.bitcast(same, _WORD)

    return types.uint64(codes, types.intp, types.uint8), emit


def _emit_tile(width: int, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The loop over words, with `width` running sums of eight lanes held in registers."""
    planes, p, chosen, c, stride, words, fresh, out, o = args
    planes_at = array_pointer(context, builder, signature.args[0], planes, p, _WORDS)
    chosen_at = array_pointer(context, builder, signature.args[2], chosen, c, _WORD)
    out_at = array_pointer(context, builder, signature.args[7], out, o, _WORDS)
    zero, nothing = ir.Constant(_WORD, 0), ir.Constant(_WORDS, [0] * LANES)
    is_fresh = builder.icmp_signed("!=", fresh, zero)
    popcount = llvm_function(builder, "llvm.ctpop.v8i64", _WORDS, [_WORDS])
    before, loop, after = (
        builder.block,
        builder.append_basic_block("words"),
        builder.append_basic_block("stored"),
    )
    builder.cbranch(builder.icmp_signed(">", words, zero), loop, after)

    builder.position_at_end(loop)
    w = builder.phi(_WORD)
    sums = [builder.phi(_WORDS) for _ in range(width)]
    candidates = builder.load(builder.gep(planes_at, [w]), align=8)
    grown = []
    for t in range(width):
        row = builder.gep(chosen_at, [builder.add(w, builder.mul(stride, ir.Constant(_WORD, t)))])
        both = builder.and_(candidates, _splat(builder, builder.load(row), _WORDS))
        grown.append(builder.add(sums[t], builder.call(popcount, [both])))
    following = builder.add(w, ir.Constant(_WORD, 1))
    w.add_incoming(zero, before)
    w.add_incoming(following, loop)
    for total, larger in zip(sums, grown, strict=True):
        total.add_incoming(nothing, before)
        total.add_incoming(larger, loop)
    builder.cbranch(builder.icmp_signed("<", following, words), loop, after)

    builder.position_at_end(after)
    finals = [builder.phi(_WORDS) for _ in range(width)]
    for final, larger in zip(finals, grown, strict=True):
        final.add_incoming(nothing, before)
        final.add_incoming(larger, loop)
    for t, final in enumerate(finals):
        place = builder.gep(out_at, [ir.Constant(_WORD, t)])
        old = builder.select(is_fresh, nothing, builder.load(place, align=8))
        builder.store(builder.add(old, final), place, align=8)
    return context.get_dummy_value()


def _compiled_tile(width: int) -> Callable[..., Any]:
    def count_tile(
        typingctx: Any,
        planes: Any,
        p: Any,
        chosen: Any,
        c: Any,
        stride: Any,
        words: Any,
        fresh: Any,
        out: Any,
        o: Any,
    ) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _emit_tile(width, context, builder, signature, args)

        i = types.intp
        return types.void(planes, i, chosen, i, i, i, i, out, i), emit

    return intrinsic(count_tile)


def _rest_lanes(
    typingctx: Any, out: Any, o: Any, whole: Any, w: Any, first: Any, step: Any, count: Any
) -> Any:
    """Eight margins less the cells already counted: what the last cell holds."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = array_pointer(context, builder, signature.args[0], args[0], args[1], _WORDS)
        start = array_pointer(context, builder, signature.args[0], args[0], args[4], _WORD)
        whole = builder.load(
            array_pointer(context, builder, signature.args[2], args[2], args[3], _WORDS), align=8
        )
        zero = ir.Constant(_WORD, 0)
        before, loop, after = (
            builder.block,
            builder.append_basic_block("cells"),
            builder.append_basic_block("rest"),
        )
        builder.cbranch(builder.icmp_signed(">", args[6], zero), loop, after)
        builder.position_at_end(loop)
        t, rest = builder.phi(_WORD), builder.phi(_WORDS)
        cell = builder.bitcast(builder.gep(start, [builder.mul(t, args[5])]), _WORDS.as_pointer())
        less, following = (
            builder.sub(rest, builder.load(cell, align=8)),
            builder.add(t, ir.Constant(_WORD, 1)),
        )
        t.add_incoming(zero, before)
        t.add_incoming(following, loop)
        rest.add_incoming(whole, before)
        rest.add_incoming(less, loop)
        builder.cbranch(builder.icmp_signed("<", following, args[6]), loop, after)
        builder.position_at_end(after)
        final = builder.phi(_WORDS)
        final.add_incoming(whole, before)
        final.add_incoming(less, loop)
        builder.store(final, place, align=8)
        return context.get_dummy_value()

    i = types.intp
    return types.void(out, i, whole, i, i, i, i), emit


def _lookup_lanes(typingctx: Any, cells: Any, at: Any, count: Any, table: Any, out: Any, o: Any) -> Any:
    """Eight sums of a function of counts, looked up, each in a register of its own."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cells_at = array_pointer(context, builder, signature.args[0], args[0], args[1], _WORD)
        values = array_pointer(context, builder, signature.args[3], args[3], ir.Constant(_WORD, 0), _REAL)
        out_at = array_pointer(context, builder, signature.args[4], args[4], args[5], _REAL)
        zero, nothing = ir.Constant(_WORD, 0), ir.Constant(_REAL, 0.0)
        before, loop, after = (
            builder.block,
            builder.append_basic_block("cells"),
            builder.append_basic_block("sums"),
        )
        builder.cbranch(builder.icmp_signed(">", args[2], zero), loop, after)
        builder.position_at_end(loop)
        t = builder.phi(_WORD)
        sums = [builder.phi(_REAL) for _ in range(LANES)]
        first = builder.mul(t, ir.Constant(_WORD, LANES))
        grown = []
        for lane, total in enumerate(sums):
            cell = builder.load(builder.gep(cells_at, [builder.add(first, ir.Constant(_WORD, lane))]))
            grown.append(builder.fadd(total, builder.load(builder.gep(values, [cell]))))
        following = builder.add(t, ir.Constant(_WORD, 1))
        t.add_incoming(zero, before)
        t.add_incoming(following, loop)
        for total, larger in zip(sums, grown, strict=True):
            total.add_incoming(nothing, before)
            total.add_incoming(larger, loop)
        builder.cbranch(builder.icmp_signed("<", following, args[2]), loop, after)
        builder.position_at_end(after)
        finals = [builder.phi(_REAL) for _ in range(LANES)]
        for final, larger in zip(finals, grown, strict=True):
            final.add_incoming(nothing, before)
            final.add_incoming(larger, loop)
        for lane, final in enumerate(finals):
            builder.store(final, builder.gep(out_at, [ir.Constant(_WORD, lane)]))
        return context.get_dummy_value()

    i = types.intp
    return types.void(cells, i, i, table, out, i), emit


def _turn_bytes(
    typingctx: Any, rows: Any, r: Any, stride: Any, columns: Any, c: Any, column_stride: Any
) -> Any:
    """An 8 x 8 square of bytes, transposed: one shuffle where the machine has it."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows_at = array_pointer(context, builder, signature.args[0], args[0], args[1], _BYTE)
        columns_at = array_pointer(context, builder, signature.args[3], args[3], args[4], _BYTE)

        def line(start: Any, step: Any, i: int) -> Any:
            return builder.bitcast(
                builder.gep(start, [builder.mul(step, ir.Constant(_WORD, i))]), _WORD.as_pointer()
            )

        square = ir.Constant(_WORDS, ir.Undefined)
        for i in range(8):
            word = builder.load(line(rows_at, args[2], i), align=1)
            square = builder.insert_element(square, word, ir.Constant(_INDEX, i))
        transposed = ir.Constant(ir.VectorType(_INDEX, 64), [8 * (i % 8) + i // 8 for i in range(64)])
        turned = builder.shuffle_vector(
            builder.bitcast(square, _BYTES), ir.Constant(_BYTES, ir.Undefined), transposed
        )
        words = builder.bitcast(turned, _WORDS)
        for i in range(8):
            word = builder.extract_element(words, ir.Constant(_INDEX, i))
            builder.store(word, line(columns_at, args[5], i), align=1)
        return context.get_dummy_value()

    i = types.intp
    return types.void(rows, i, i, columns, i, i), emit


def _plain_pack_word(codes: Any, at: int, level: int) -> Any:
    return np.packbits(codes[at : at + 64] == level, bitorder="little").view(np.uint64)[0]


def _plain_tile(width: int) -> Callable[..., Any]:
    def count_tile(
        planes: Any, p: int, chosen: Any, c: int, stride: int, words: int, fresh: int, out: Any, o: int
    ) -> None:
        eight = planes[p : p + LANES * words].reshape(words, LANES)
        for t in range(width):
            word = chosen[c + t * stride : c + t * stride + words]
            bits = np.bitwise_count(eight & word[:, None]).sum(axis=0, dtype=np.int64)
            own = slice(o + LANES * t, o + LANES * (t + 1))
            out[own] = bits if fresh else out[own] + bits

    return count_tile


def _plain_rest_lanes(out: Any, o: int, whole: Any, w: int, first: int, step: int, count: int) -> None:
    rest = whole[w : w + LANES].copy()
    for t in range(count):
        rest -= out[first + t * step : first + t * step + LANES]
    out[o : o + LANES] = rest


def _plain_lookup_lanes(cells: Any, at: int, count: int, table: Any, out: Any, o: int) -> None:
    for lane in range(LANES):
        total = 0.0
        for t in range(count):
            total += table[cells[at + LANES * t + lane]]
        out[o + lane] = total


def _plain_turn_bytes(rows: Any, r: int, stride: int, columns: Any, c: int, column_stride: int) -> None:
    flat, turned = rows.reshape(-1), columns.reshape(-1)
    for i in range(8):
        for j in range(8):
            turned[c + j * column_stride + i] = flat[r + i * stride + j]


_tile = _compiled_tile if COMPILED else _plain_tile
pack_word: Any = intrinsic(_pack_word) if COMPILED else _plain_pack_word
rest_lanes: Any = intrinsic(_rest_lanes) if COMPILED else _plain_rest_lanes
lookup_lanes: Any = intrinsic(_lookup_lanes) if COMPILED else _plain_lookup_lanes
turn_bytes: Any = intrinsic(_turn_bytes) if COMPILED else _plain_turn_bytes
count_tile1, count_tile2, count_tile4, count_tile8 = _tile(1), _tile(2), _tile(4), _tile(8)
