"""Steps of a growing Cholesky factor for all candidates at once, and log-determinants of small blocks.

    rest_j = base_j - sum_t coefficient_t rows[t, j]

With rows = the factor's rows so far and the coefficients of the feature just taken, `rest` is the covariance of every
candidate with what is new in that feature: O(|S|) for each candidate, and the same bits for any number of threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel

CHUNK = 2048


@pkernel
def reduce_columns(lo: int, hi: int, base: Any, coefficients: Any, rows: Any, used: int, out: Any) -> None:
    """out[p, j] = base[p, j] - sum_{t < used} coefficients[p, t] rows[p, t, j]; a piece is a chunk of columns."""
    m = base.shape[1]
    chunks = (m + CHUNK - 1) // CHUNK
    for piece in range(lo, hi):
        p, first = piece // chunks, piece % chunks * CHUNK
        last = min(first + CHUNK, m)
        total, own = out[p, first:last], coefficients[p]
        total[:] = base[p, first:last]
        t = 0
        while t + 4 <= used:
            a, b, c, d = own[t], own[t + 1], own[t + 2], own[t + 3]
            q, r = rows[p, t, first:last], rows[p, t + 1, first:last]
            s, u = rows[p, t + 2, first:last], rows[p, t + 3, first:last]
            for j in range(total.size):
                total[j] -= (a * q[j] + b * r[j]) + (c * s[j] + d * u[j])
            t += 4
        while t < used:
            a, q = own[t], rows[p, t, first:last]
            for j in range(total.size):
                total[j] -= a * q[j]
            t += 1


@kernel
def log_determinant(block: Any, tolerance: float, factor: Any) -> float:
    """log |block| by Cholesky rows into `factor`; minus infinity when a pivot is within the tolerance of 0.

    A pivot is what is left of a variance: it counts as 0 when it is no more than tolerance times that variance.
    """
    total = 0.0
    for i in range(block.shape[0]):
        for j in range(i):
            left = block[i, j]
            for t in range(j):
                left -= factor[i, t] * factor[j, t]
            factor[i, j] = left / factor[j, j]
        left = block[i, i]
        for t in range(i):
            left -= factor[i, t] * factor[i, t]
        if left <= tolerance * block[i, i]:
            return -np.inf
        factor[i, i] = math.sqrt(left)
        total += math.log(left)
    return total


@pkernel
def catch_up(
    lo: int,
    hi: int,
    who: Any,
    done: Any,
    used: int,
    columns: Any,
    own: Any,
    pivots: Any,
    rows: Any,
    left: Any,
) -> None:
    """Rows done..used-1 of the factors for the candidates who[lo..hi-1], in the very order of `reduce_columns`."""
    for i in range(lo, hi):
        j = who[i]
        for p in range(left.shape[0]):
            for t in range(done[j], used):
                rest, u = columns[p, t, j], 0
                while u + 4 <= t:
                    a = own[p, t, u] * rows[p, u, j] + own[p, t, u + 1] * rows[p, u + 1, j]
                    b = own[p, t, u + 2] * rows[p, u + 2, j] + own[p, t, u + 3] * rows[p, u + 3, j]
                    rest -= a + b
                    u += 4
                while u < t:
                    rest -= own[p, t, u] * rows[p, u, j]
                    u += 1
                rows[p, t, j] = rest / math.sqrt(pivots[p, t]) if pivots[p, t] > 0.0 else 0.0
                left[p, j] -= rows[p, t, j] * rows[p, t, j]
