"""The vector instructions equal their plain Python twins and the words of their docstring, wherever they point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jifs.jit import COMPILED, kernel
from jifs.kernels import popcount
from jifs.kernels.popcount import (
    count_tile1,
    count_tile2,
    count_tile4,
    count_tile8,
    lookup_lanes,
    pack_word,
    rest_lanes,
    turn_bytes,
)

SEEDS = st.integers(0, 2**32 - 1)
OFFSETS = st.integers(0, 19)
SPECIAL = np.array([0, 1, 2**63, 2**64 - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 2**32, 2**31], np.uint64)


@kernel
def pack(codes, at, level):
    return pack_word(codes, at, np.uint8(level))


@kernel
def tile1(planes, p, chosen, c, stride, words, fresh, out, o):
    count_tile1(planes, p, chosen, c, stride, words, fresh, out, o)


@kernel
def tile2(planes, p, chosen, c, stride, words, fresh, out, o):
    count_tile2(planes, p, chosen, c, stride, words, fresh, out, o)


@kernel
def tile4(planes, p, chosen, c, stride, words, fresh, out, o):
    count_tile4(planes, p, chosen, c, stride, words, fresh, out, o)


@kernel
def tile8(planes, p, chosen, c, stride, words, fresh, out, o):
    count_tile8(planes, p, chosen, c, stride, words, fresh, out, o)


@kernel
def rest(out, o, whole, w, first, step, count):
    rest_lanes(out, o, whole, w, first, step, count)


@kernel
def look_up(cells, at, count, table, out, o):
    lookup_lanes(cells, at, count, table, out, o)


@kernel
def turn(rows, r, stride, columns, c, column_stride):
    turn_bytes(rows, r, stride, columns, c, column_stride)


TILES = {1: tile1, 2: tile2, 4: tile4, 8: tile8}


def words_of(rng, size):
    """Random words, some of them special: all bits, no bits, the sign bit alone."""
    words = rng.integers(0, 2**64, size, dtype=np.uint64, endpoint=False)
    some = rng.random(size) < 0.3
    words[some] = rng.choice(SPECIAL, some.sum())
    return words


def bits(word):
    return bin(int(word)).count("1")


def test_compiled_functions_are_not_the_twins_themselves():
    same = pack_word is popcount._plain_pack_word
    assert same is not COMPILED


@given(SEEDS, OFFSETS, st.integers(0, 255), st.integers(1, 256))
def test_pack_word(seed, at, level, levels):
    codes = np.random.default_rng(seed).integers(0, levels, 90).astype(np.uint8)
    word = int(pack(codes, at, level))
    assert word == int(popcount._plain_pack_word(codes, at, level))
    assert word == sum(1 << i for i in range(64) if codes[at + i] == level)


@pytest.mark.parametrize("at", [0, 1, 7, 26])
def test_pack_word_of_every_place(at):
    for i in range(64):
        codes = np.full(90, 7, np.uint8)
        codes[at + i] = 200
        assert int(pack(codes, at, 200)) == 1 << i
        assert int(pack(codes, at, 7)) == 2**64 - 1 - (1 << i)


@pytest.mark.parametrize("width", TILES)
@given(SEEDS, OFFSETS, OFFSETS, OFFSETS, st.integers(0, 9), st.integers(0, 5), st.booleans())
def test_count_tiles(width, seed, p, c, o, words, extra, fresh):
    rng = np.random.default_rng(seed)
    stride = words + extra
    planes, chosen = words_of(rng, p + 8 * words + 3), words_of(rng, c + width * stride + words + 3)
    before = rng.integers(-5, 2**40, o + 8 * width + 5)  # added to unless fresh; what lies around stays
    fast, plain, slow = before.copy(), before.copy(), before.copy()
    TILES[width](planes, p, chosen, c, stride, words, int(fresh), fast, o)
    popcount._plain_tile(width)(planes, p, chosen, c, stride, words, int(fresh), plain, o)
    if fresh:
        slow[o : o + 8 * width] = 0
    for t in range(width):
        for lane in range(8):
            pairs = [(planes[p + 8 * w + lane], chosen[c + t * stride + w]) for w in range(words)]
            slow[o + 8 * t + lane] += sum(bits(a & b) for a, b in pairs)
    assert fast.tolist() == slow.tolist()
    assert plain.tolist() == slow.tolist()


@pytest.mark.parametrize("width", TILES)
def test_count_tile_of_full_words(width):
    planes, chosen = np.full(8 * 300, 2**64 - 1, np.uint64), np.full(width * 300, 2**64 - 1, np.uint64)
    out = np.zeros(8 * width, np.int64)
    TILES[width](planes, 0, chosen, 0, 300, 300, 0, out, 0)
    assert (out == 64 * 300).all()


@given(SEEDS, OFFSETS, OFFSETS, st.integers(0, 6), st.integers(8, 21))
def test_rest_lanes(seed, o, w, count, step):
    rng = np.random.default_rng(seed)
    first = o + 8
    before = rng.integers(0, 2**40, first + count * step + 8)
    whole = rng.integers(0, 2**45, w + 8 + 3)
    fast, plain, slow = before.copy(), before.copy(), before.copy()
    rest(fast, o, whole, w, first, step, count)
    popcount._plain_rest_lanes(plain, o, whole, w, first, step, count)
    for lane in range(8):
        slow[o + lane] = whole[w + lane] - sum(int(before[first + t * step + lane]) for t in range(count))
    assert fast.tolist() == slow.tolist()
    assert plain.tolist() == slow.tolist()


@given(SEEDS, OFFSETS, OFFSETS, st.integers(0, 20))
def test_lookup_lanes(seed, at, o, count):
    """Sums in order, one addition after the other: the same bits, not just nearly."""
    rng = np.random.default_rng(seed)
    table, cells = (
        rng.normal(size=50) * 10.0 ** rng.integers(-9, 9, 50),
        rng.integers(0, 50, at + 8 * count + 3),
    )
    before = rng.normal(size=o + 8 + 3)
    fast, plain, slow = before.copy(), before.copy(), before.copy()
    look_up(cells, at, count, table, fast, o)
    popcount._plain_lookup_lanes(cells, at, count, table, plain, o)
    for lane in range(8):
        total = 0.0
        for t in range(count):
            total += float(table[cells[at + 8 * t + lane]])
        slow[o + lane] = total
    assert fast.tolist() == slow.tolist()
    assert plain.tolist() == slow.tolist()


@given(SEEDS, OFFSETS, OFFSETS, st.integers(8, 23), st.integers(8, 23))
def test_turn_bytes(seed, r, c, stride, column_stride):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 256, r + 7 * stride + 8).astype(np.uint8)
    before = rng.integers(0, 256, c + 7 * column_stride + 9).astype(np.uint8)
    fast, plain, slow = before.copy(), before.copy(), before.copy()
    turn(rows, r, stride, fast, c, column_stride)
    popcount._plain_turn_bytes(rows, r, stride, plain, c, column_stride)
    for i in range(8):
        for j in range(8):
            slow[c + j * column_stride + i] = rows[r + i * stride + j]
    assert fast.tolist() == slow.tolist()
    assert plain.tolist() == slow.tolist()
