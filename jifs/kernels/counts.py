"""Contingency tables of a column Z with every candidate X_j, by class: two ways to the same integers.

    table[block][c][a][b][lane] = #{rows of class c with X_j = a and Z = b}

`tables_by_planes` counts the bits of X_j = a and Z = b together, (r_j - 1)(r_z - 1) cells a class, and takes the last
row and column from the margins. `tables_by_histogram` adds one (or the row's weight) per row. The first wins below
about 32 levels, the second beyond, and with real weights it is the only one. With one run of words or rows for all
classes the same kernels give the table without the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel
from jifs.kernels.popcount import LANES, count_tile1, count_tile2, count_tile4, count_tile8, rest_lanes

SEGMENT = 256
"""Words counted at a time, so that the levels of the chosen column stay in the first cache."""


@kernel
def cells_one(
    planes: Any, at: int, total: int, first: int, last: int, chosen: Any, r: int, rz: int, out: Any, o: int
) -> None:
    """Count the (r - 1) x (rz - 1) inner cells of one class of one block, over the words first..last-1."""
    for start in range(first, last, SEGMENT):
        words, fresh = min(SEGMENT, last - start), int(start == first)
        for a in range(r - 1):
            p = at + (a * total + start) * LANES
            row = o + a * rz * LANES
            b = 0
            while b + 8 <= rz - 1:
                count_tile8(planes, p, chosen, b * total + start, total, words, fresh, out, row + b * LANES)
                b += 8
            if b + 4 <= rz - 1:
                count_tile4(planes, p, chosen, b * total + start, total, words, fresh, out, row + b * LANES)
                b += 4
            if b + 2 <= rz - 1:
                count_tile2(planes, p, chosen, b * total + start, total, words, fresh, out, row + b * LANES)
                b += 2
            if b < rz - 1:
                count_tile1(planes, p, chosen, b * total + start, total, words, fresh, out, row + b * LANES)


@kernel
def edges_one(margins: Any, m: int, z_margins: Any, z: int, r: int, rz: int, out: Any, o: int) -> None:
    """The last column and the last row of one class's table, from the margins of X_j (at m) and of Z (at z)."""
    for a in range(r - 1):
        row = o + a * rz * LANES
        rest_lanes(out, row + (rz - 1) * LANES, margins, m + a * LANES, row, LANES, rz - 1)
    for b in range(rz):
        column = o + b * LANES
        rest_lanes(out, column + (r - 1) * rz * LANES, z_margins, z + b * LANES, column, rz * LANES, r - 1)


@kernel
def tables_by_planes(
    lo: int,
    hi: int,
    planes: Any,
    at: Any,
    width: Any,
    before: Any,
    words: Any,
    chosen: Any,
    margins: Any,
    z_margins: Any,
    rz: int,
    out: Any,
) -> None:
    """Tables of blocks lo..hi-1 into `out`.

    `words` holds the first word of each class and the end; z_margins[c][b][lane] is the same in every lane.
    """
    classes = words.size - 1
    total = words[classes]
    for block in range(lo, hi):
        r = width[block]
        for c in range(classes):
            o = ((before[block] - before[lo]) * classes + c * r) * rz * LANES
            m = (before[block] * classes + c * r) * LANES
            if words[c] == words[c + 1]:
                out[o : o + r * rz * LANES] = 0
            cells_one(planes, at[block], total, words[c], words[c + 1], chosen, r, rz, out, o)
            edges_one(margins, m, z_margins, c * rz * LANES, r, rz, out, o)


@kernel
def tables_by_histogram(
    lo: int,
    hi: int,
    codes: Any,
    stride: int,
    slots: Any,
    width: Any,
    before: Any,
    starts: Any,
    z: Any,
    rz: int,
    weights: Any,
    out: Any,
) -> None:
    """The same tables row by row; an empty `weights` counts every row once. Lanes without a feature are zero.

    Two lanes are counted at a time: their additions do not wait for each other, and share what is read of Z.
    """
    classes, across = starts.size - 1, np.uint64(rz)
    for block in range(lo, hi):
        r = width[block]
        one, two = np.empty(r * rz, out.dtype), np.empty(r * rz, out.dtype)
        for lane in range(0, LANES, 2):
            i, j = slots[block * LANES + lane], slots[block * LANES + lane + 1]
            if i < 0:  # and so is j: slots are filled from the first
                lanes = out[(before[block] - before[lo]) * classes * rz * LANES :][: classes * r * rz * LANES]
                lanes[lane::LANES] = 0
                lanes[lane + 1 :: LANES] = 0
                continue
            first = codes[i * stride : i * stride + z.size]
            second = codes[j * stride : j * stride + z.size] if j >= 0 else first
            for c in range(classes):
                one[:] = 0
                two[:] = 0
                if weights.size:
                    for row in range(starts[c], starts[c + 1]):
                        one[np.uint64(first[row]) * across + np.uint64(z[row])] += weights[row]
                        two[np.uint64(second[row]) * across + np.uint64(z[row])] += weights[row]
                else:
                    for row in range(starts[c], starts[c + 1]):
                        one[np.uint64(first[row]) * across + np.uint64(z[row])] += 1
                        two[np.uint64(second[row]) * across + np.uint64(z[row])] += 1
                o = ((before[block] - before[lo]) * classes + c * r) * rz * LANES + lane
                for cell in range(r * rz):
                    out[o + cell * LANES] = one[cell]
                    out[o + cell * LANES + 1] = two[cell] if j >= 0 else 0
