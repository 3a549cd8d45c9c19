"""From counts to entropies: sums of x log x, so that H = log N - (1/N) sum x log x.

    I(X;Y) = (1/N) [ sum xlx(n_xy) - sum xlx(n_x) - sum xlx(n_y) + xlx(N) ],     xlx(x) = x log x,  xlx(0) = 0

Counts are integers up to N, so x log x is a look-up in a table of N + 1 numbers (`lookup` kernels); real weights and
very large N take the logarithm (`direct` kernels). A candidate is summed serially in the order of its table, so a
result depends neither on threads nor on the way the table was counted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel
from jifs.kernels.popcount import LANES, lookup_lanes


@kernel
def xlogx_one(x: float) -> float:
    """x log x, 0 at 0."""
    return x * math.log(x) if x > 0.0 else 0.0


@pkernel
def xlogx_table(lo: int, hi: int, out: Any) -> None:
    """out[x] = x log x for the counts lo..hi-1."""
    for x in range(lo, hi):
        out[x] = xlogx_one(float(x))


@kernel
def table_sums_lookup(
    lo: int,
    hi: int,
    tables: Any,
    width: Any,
    before: Any,
    classes: int,
    rz: int,
    xlx: Any,
    together: Any,
    pair: Any,
    triple: Any,
) -> None:
    """Sums of x log x over the tables of blocks lo..hi-1: pair over (X_j, Z), triple over (X_j, Z, Y), per slot.

    `together` is room for a table without classes, width x rz x 8.
    """
    for block in range(lo, hi):
        cells = width[block] * rz
        base = (before[block] - before[lo]) * classes * rz * LANES
        lookup_lanes(tables, base, classes * cells, xlx, triple, block * LANES)
        if classes == 1:
            for slot in range(block * LANES, (block + 1) * LANES):
                pair[slot] = triple[slot]
            continue
        size = cells * LANES
        total = together[:size]
        total[:] = tables[base : base + size]
        for c in range(1, classes):
            own = tables[base + c * size : base + (c + 1) * size]
            for i in range(size):
                total[i] += own[i]
        lookup_lanes(together, 0, cells, xlx, pair, block * LANES)


@kernel
def table_sums_direct(
    lo: int, hi: int, tables: Any, width: Any, before: Any, classes: int, rz: int, pair: Any, triple: Any
) -> None:
    """The same sums in the same order by logarithms, for real weights and for very many rows."""
    for block in range(lo, hi):
        cells = width[block] * rz
        base = (before[block] - before[lo]) * classes * rz * LANES
        for lane in range(LANES):
            with_class, without = 0.0, 0.0
            for cell in range(classes * cells):
                with_class += xlogx_one(float(tables[base + cell * LANES + lane]))
            for cell in range(cells):
                together = 0.0
                for c in range(classes):
                    together += tables[base + (c * cells + cell) * LANES + lane]
                without += xlogx_one(together)
            pair[block * LANES + lane] = without
            triple[block * LANES + lane] = with_class


@kernel
def table_occupied(
    lo: int, hi: int, tables: Any, width: Any, before: Any, classes: int, rz: int, pair: Any, triple: Any
) -> None:
    """Numbers of cells that are not empty: pair over (X_j, Z), triple over (X_j, Z, Y), per slot."""
    for block in range(lo, hi):
        r = width[block]
        base = (before[block] - before[lo]) * classes * rz * LANES
        for lane in range(LANES):
            with_class, without = 0, 0
            for cell in range(r * rz):
                here = 0
                for c in range(classes):
                    here += tables[base + (c * r * rz + cell) * LANES + lane] > 0
                with_class += here
                without += here > 0
            pair[block * LANES + lane] = without
            triple[block * LANES + lane] = with_class


@kernel
def information_all(joint: Any, own: Any, constant: float, n: float, out: Any) -> int:
    """out_j = ((joint_j - own_j) - constant) / n, negative values raised to 0; the number of those below -1e-11."""
    wrong = 0
    for j in range(out.size):
        value = ((joint[j] - own[j]) - constant) / n
        wrong += value < -1e-11
        out[j] = value if value > 0.0 else 0.0
    return wrong


@kernel
def group_close(own: Any, touched: Any, count: int) -> Any:
    """Sum of x log x and number of the `count` touched cells; clears them."""
    total = 0.0
    for t in range(count):
        total += xlogx_one(own[touched[t]])
        own[touched[t]] = 0.0
    return total


@pkernel
def grouped_sums_all(
    lo: int,
    hi: int,
    codes: Any,
    stride: int,
    features: Any,
    cards: Any,
    rows: Any,
    group_ends: Any,
    run_ends: Any,
    weights: Any,
    out: Any,
) -> None:
    """Sums and occupied cells of (X_j, Z) and (X_j, Z, Y) without a table, for Z of any number of levels.

    `rows` are ordered by Z and, within, by class; run_ends mark the end of each (Z, class) run and group_ends that of
    each Z. out[f] = (sum pair, sum triple, cells pair, cells triple) for features[f], f in lo..hi-1.
    """
    for f in range(lo, hi):
        j = features[f]
        own = codes[j * stride : j * stride + stride]
        in_run, in_group = np.zeros(cards[f]), np.zeros(cards[f])
        run_touched, group_touched = np.empty(cards[f], np.int64), np.empty(cards[f], np.int64)
        pair, triple, pair_cells, triple_cells = 0.0, 0.0, 0, 0
        i, g, group_count = 0, 0, 0
        for end in run_ends:
            run_count = 0
            while i < end:
                a = own[rows[i]]
                weight = weights[rows[i]] if weights.size else 1.0
                i += 1
                if weight == 0.0:
                    continue
                if in_run[a] == 0.0:
                    run_touched[run_count] = a
                    run_count += 1
                if in_group[a] == 0.0:
                    group_touched[group_count] = a
                    group_count += 1
                in_run[a] += weight
                in_group[a] += weight
            triple += group_close(in_run, run_touched, run_count)
            triple_cells += run_count
            if end == group_ends[g]:
                pair += group_close(in_group, group_touched, group_count)
                pair_cells += group_count
                group_count = 0
                g += 1
        out[f, 0], out[f, 1], out[f, 2], out[f, 3] = pair, triple, pair_cells, triple_cells
