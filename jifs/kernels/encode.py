"""From a matrix of numbers to codes, one byte each, features in rows, table rows in a given order.

    low_j = min_i x_ij,   codes[j, i] = x[order[i], j] - low_j,   seen_j = set of the codes that occur

This is the quick way in, for columns of whole numbers that span at most 64 values; the others are encoded by the rules
of `jifs.discretise`. A matrix is read in strips of columns that stay in the cache between the two passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel
from jifs.kernels.popcount import pack_word, turn_bytes

SPAN = 64
"""Most values a column may span to be coded here: one bit each in `seen`."""
ROWS = 64


@kernel
def profile_whole(x: Any, lo: int, hi: int, low: Any, high: Any) -> None:
    """Least and greatest value of columns lo..hi-1 of an integer matrix x[n, m]."""
    least, most = low[lo:hi], high[lo:hi]
    least[:] = x[0, lo:hi]
    most[:] = x[0, lo:hi]
    for i in range(x.shape[0]):
        row = x[i, lo:hi]
        for j in range(row.size):
            least[j] = min(least[j], row[j])
            most[j] = max(most[j], row[j])


@kernel
def profile_real(x: Any, lo: int, hi: int, low: Any, high: Any, flaw: Any, part: Any) -> None:
    """As profile_whole for floats; flaw_j is not 0 if a value is not finite, part_j not 0 if one is not whole."""
    least, most, flaws, parts = low[lo:hi], high[lo:hi], flaw[lo:hi], part[lo:hi]
    least[:] = x[0, lo:hi]
    most[:] = x[0, lo:hi]
    for i in range(x.shape[0]):
        row = x[i, lo:hi]
        for j in range(row.size):
            v = row[j]
            least[j] = v if v < least[j] else least[j]
            most[j] = v if v > most[j] else most[j]
            flaws[j] += v - v  # NaN for NaN and for infinities, and it stays
            parts[j] += abs(v - np.floor(v))


@kernel
def profile_real_columns(x: Any, lo: int, hi: int, low: Any, high: Any, flaw: Any, part: Any) -> None:
    """As profile_real for x[m, n] with features in rows."""
    for j in range(lo, hi):
        column = x[j]
        least, most, flaws, parts = column[0], column[0], column[0] - column[0], column[0] - column[0]
        for i in range(column.size):
            v = column[i]
            least = v if v < least else least
            most = v if v > most else most
            flaws += v - v
            parts += abs(v - np.floor(v))
        low[j], high[j], flaw[j], part[j] = least, most, flaws, parts


@kernel
def seen_one(codes: Any, at: int, count: int, span: int, seen: Any) -> Any:
    """The set of codes among codes[at : at + count], count <= 64, added to the set `seen` (a bit for each)."""
    inside = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - count)
    for level in range(span):
        bit = np.uint64(1) << np.uint64(level)
        if not seen & bit and pack_word(codes, at, np.uint8(level)) & inside:
            seen |= bit
    return seen


@kernel
def codes_from_rows(
    x: Any, order: Any, lo: int, hi: int, low: Any, span: Any, codes: Any, stride: int, seen: Any
) -> None:
    """Codes of columns lo..hi-1 of a row-major matrix into codes[j * stride + i], with 64 bytes of slack at the end.

    span_j is the number of values from the least to the greatest; a column with span 0 is not wanted, and its
    codes mean nothing.
    """
    n, width = order.size, hi - lo
    least = low[lo:hi]
    across = (width + 7) // 8 * 8
    block = np.zeros((ROWS, across), np.uint8)
    flat = block.reshape(-1)
    for start in range(0, n, ROWS):
        count = min(ROWS, n - start)
        for i in range(count):
            row, line = x[order[start + i], lo:hi], block[i]
            for j in range(width):
                line[j] = np.uint8(row[j] - least[j])
        for j in range(width):
            if count == ROWS and j % 8 == 0 and j + 8 <= width:
                for i in range(0, ROWS, 8):
                    turn_bytes(flat, i * across + j, across, codes, (lo + j) * stride + start + i, stride)
            elif count < ROWS or j >= width // 8 * 8:
                for i in range(count):
                    codes[(lo + j) * stride + start + i] = block[i, j]
        for j in range(lo, hi):
            seen[j] = seen_one(codes, j * stride + start, count, span[j], seen[j])


@kernel
def codes_from_columns(
    x: Any, order: Any, lo: int, hi: int, low: Any, span: Any, codes: Any, stride: int, seen: Any
) -> None:
    """As codes_from_rows for x[m, n] with features in rows (a column-major matrix, transposed)."""
    n = order.size
    for j in range(lo, hi):
        if span[j] == 0:
            continue
        column, least, at = x[j], low[j], j * stride
        own = codes[at : at + n]
        for i in range(n):
            own[i] = np.uint8(column[order[i]] - least)
        for start in range(0, n, ROWS):
            seen[j] = seen_one(codes, at + start, min(ROWS, n - start), span[j], seen[j])


@kernel
def recode_one(codes: Any, at: int, n: int, dense: Any) -> None:
    """codes <- dense[codes] for one feature, in place: closes the gaps between the codes that occur."""
    own = codes[at : at + n]
    for i in range(n):
        own[i] = dense[own[i]]
