"""Passes over rows of numbers, sorted by class: means, centred rows, and products with a column.

    mean_cj = sum_i w_i x_ij / sum_i w_i            rows i of class c
    centred x_ij - mean_cj                          so that no product has to cancel a large mean
    product_bj = sum_i z_i x_ij                     rows i of block b

A column is summed from the first row to the last, and products block by block of rows, whatever the number of threads:
results are the same bits. Sums are kept in double precision, also of single-precision numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel

CHUNK = 1024
"""Columns at a time: their sums stay in the first cache."""


@pkernel
def profile_columns(
    lo: int,
    hi: int,
    x: Any,
    order: Any,
    starts: Any,
    weights: Any,
    shift: Any,
    sums: Any,
    largest: Any,
    vote: Any,
) -> None:
    """Of the columns in chunks lo..hi-1: sums of w (x - shift) by class, the largest |x|, and a vote for a majority.

    A shift is near the values of its class, or large numbers elsewhere would cost them their digits. vote[j] is the
    value that has more than half of the weight, if there is one [Boyer and Moore 1991]. largest[j] is NaN if a value is
    not finite.
    """
    for chunk in range(lo, hi):
        first, last = chunk * CHUNK, min((chunk + 1) * CHUNK, x.shape[1])
        most, held = largest[first:last], vote[first:last]
        lead, flaw = np.zeros(last - first), np.zeros(last - first)
        most[:] = 0.0
        for c in range(starts.size - 1):
            base, total = shift[c, first:last], sums[c, first:last]
            for i in range(starts[c], starts[c + 1]):
                row, w = x[order[i], first:last], weights[i]
                for j in range(total.size):
                    v = np.float64(row[j])
                    total[j] += w * (v - base[j])
                    size = abs(v)
                    most[j] = size if size > most[j] else most[j]
                    flaw[j] += v - v  # NaN for NaN and for infinities, and it stays
                    ahead = lead[j] + (w if held[j] == v else -w)
                    held[j] = v if ahead < 0 else held[j]
                    lead[j] = abs(ahead)
        most += flaw


@pkernel
def centre_columns(
    lo: int, hi: int, x: Any, order: Any, starts: Any, weights: Any, mean: Any, vote: Any, out: Any, left: Any,
    squares: Any, holders: Any,
) -> None:  # fmt: skip
    """out = x - mean of the class, rows in order; what is left of the means, sums of squares, weight of the vote.

    `out` may be x itself when the order is that of the rows.
    """
    for chunk in range(lo, hi):
        first, last = chunk * CHUNK, min((chunk + 1) * CHUNK, x.shape[1])
        held, count = vote[first:last], holders[first:last]
        for c in range(starts.size - 1):
            base, rest, square = mean[c, first:last], left[c, first:last], squares[c, first:last]
            for i in range(starts[c], starts[c + 1]):
                row, to, w = x[order[i], first:last], out[i, first:last], weights[i]
                for j in range(base.size):
                    v = np.float64(row[j])
                    count[j] += w if held[j] == v else 0.0
                    to[j] = v - base[j]
                    kept = np.float64(to[j])
                    rest[j] += w * kept
                    square[j] += w * (kept * kept)


@pkernel
def product_blocks(lo: int, hi: int, data: Any, starts: Any, z: Any, out: Any) -> None:
    """out[b, j] = sum over the rows of block b of z_i data[i, j]; a piece is a chunk of columns."""
    chunks = (data.shape[1] + CHUNK - 1) // CHUNK
    for piece in range(lo, hi):
        b, chunk = piece // chunks, piece % chunks
        product_one(
            data, starts[b], starts[b + 1], chunk * CHUNK, min((chunk + 1) * CHUNK, data.shape[1]), z, out[b]
        )


@kernel
def product_one(data: Any, start: int, end: int, first: int, last: int, z: Any, out: Any) -> None:
    """Columns first..last-1 of z' data over the rows start..end-1; four rows at a time."""
    total = out[first:last]
    total[:] = 0.0
    i = start
    while i + 4 <= end:
        a, b, c, d = z[i], z[i + 1], z[i + 2], z[i + 3]
        p, q = data[i, first:last], data[i + 1, first:last]
        r, s = data[i + 2, first:last], data[i + 3, first:last]
        for j in range(total.size):
            total[j] += (a * p[j] + b * q[j]) + (c * r[j] + d * s[j])
        i += 4
    while i < end:
        row, w = data[i, first:last], z[i]
        for j in range(total.size):
            total[j] += w * row[j]
        i += 1
