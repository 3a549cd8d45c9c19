"""Bit planes: one bit per row for each level of a feature, eight features interleaved to a vector.

    plane_j[a] has bit i set  <=>  X_j = a in row i;      planes[block][level][word][lane]

Rows are sorted by class and every class starts a new 64-bit word, so a run of words belongs to one class. A block
of eight features has the width r of its largest, and keeps r - 1 planes a feature: the last level follows from the
margins. Features are put into blocks in order of their cardinality, so that a block's features are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel
from jifs.kernels.popcount import LANES, pack_word


@kernel
def popcount_one(word: Any) -> Any:
    """Number of bits set in a 64-bit word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return np.int64(word & np.uint64(0x7F))


@kernel
def word_one(codes: Any, at: int, count: int, level: int) -> Any:
    """The rows among codes[at : at + count], count <= 64, that hold `level`; reads 64 bytes."""
    inside = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - count)
    return pack_word(codes, at, np.uint8(level)) & inside


@pkernel
def margins_all(
    lo: int, hi: int, codes: Any, stride: int, slots: Any, width: Any, before: Any, starts: Any, out: Any
) -> None:
    """out[block][class][level][lane] = number of rows of the class that hold the level, blocks lo..hi-1.

    `before[b]` is the sum of the widths of the blocks before b; `starts` the first row of each class and n.
    """
    classes = starts.size - 1
    for b in range(lo, hi):
        r = width[b]
        for lane in range(LANES):
            j = slots[b * LANES + lane]
            if j < 0:
                continue
            for c in range(classes):
                at = (before[b] * classes + c * r) * LANES + lane
                rest = starts[c + 1] - starts[c]
                for a in range(r - 1):
                    count = np.int64(0)
                    for i in range(starts[c], starts[c + 1], 64):
                        count += popcount_one(word_one(codes, j * stride + i, min(64, starts[c + 1] - i), a))
                    out[at + a * LANES] = count
                    rest -= count
                out[at + (r - 1) * LANES] = rest


@pkernel
def pack_all(
    lo: int,
    hi: int,
    codes: Any,
    stride: int,
    slots: Any,
    width: Any,
    at: Any,
    starts: Any,
    words: Any,
    planes: Any,
) -> None:
    """Fill the planes of blocks lo..hi-1, which begin at at[b]; class c has the words words[c]..words[c+1]-1."""
    classes = starts.size - 1
    total = words[classes]
    for b in range(lo, hi):
        for c in range(classes):
            for w in range(words[c], words[c + 1]):
                i = starts[c] + 64 * (w - words[c])
                count = min(64, starts[c + 1] - i)
                for lane in range(LANES):
                    j = slots[b * LANES + lane]
                    if j < 0:
                        continue
                    for a in range(width[b] - 1):
                        planes[at[b] + (a * total + w) * LANES + lane] = word_one(
                            codes, j * stride + i, count, a
                        )


@kernel
def chosen_planes_one(codes: Any, r: int, starts: Any, words: Any, out: Any) -> None:
    """The planes of one column, out[a * words + w] for its first r - 1 levels: what candidates are counted against."""
    classes = starts.size - 1
    total = words[classes]
    for c in range(classes):
        for w in range(words[c], words[c + 1]):
            i = starts[c] + 64 * (w - words[c])
            count = min(64, starts[c + 1] - i)
            for a in range(r - 1):
                out[a * total + w] = word_one(codes, i, count, a)


@kernel
def column_margins_one(codes: Any, r: int, starts: Any, out: Any) -> None:
    """out[class][level][lane] = number of rows of the class that hold the level, the same in all eight lanes."""
    counts = np.zeros(r, np.int64)
    for c in range(starts.size - 1):
        counts[:] = 0
        for i in range(starts[c], starts[c + 1]):
            counts[codes[i]] += 1
        for a in range(r):
            for lane in range(LANES):
                out[(c * r + a) * LANES + lane] = counts[a]
