"""The Hilbert-Schmidt independence criterion: sums over the pairs i < j of rows, and their gradient.

    tr(K H L H) = sum_ij K_ij C_ij,  C_ij = L_ij - u_i - u_j + mean u,  u_i = mean_j L_ij

C is L with its rows and columns centred, so that K need not be, and no matrix H is made. For classes
L_ij = 1[y_i = y_j] and C is made on the way; for a real y it is a flat array of pairs. Each row (or group of rows) has
a sum of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel
from jifs.kernels.distances import GROUP, LANES, TILE, changed_one, dot_one, gauss_one, place, squared_one


@pkernel
def mean_rows(lo: int, hi: int, y: Any, scale: float, out: Any) -> None:
    """out[i] = mean over j of exp(-scale (y_i - y_j)^2)."""
    n = y.size
    d, row, bits = np.empty(n), np.empty(n), np.empty(n, np.int64)
    ones, lanes = np.ones(n), np.empty(LANES)
    for i in range(lo, hi):
        for j in range(n):
            u = y[i] - y[j]
            d[j] = u * u
        gauss_one(d, scale, row, bits)
        out[i] = dot_one(row, ones, lanes) / n


@pkernel
def centred_pairs(
    lo: int, hi: int, y: Any, scale: float, means: Any, mean: float, first: int, out: Any
) -> None:
    """Flat C_ij of rows first + lo .. first + hi - 1 with all rows after them."""
    n = y.size
    d, bits = np.empty(n), np.empty(n, np.int64)
    for i in range(first + lo, first + hi):
        start, size = place(n, i) - place(n, first), n - 1 - i
        own = out[start : start + size]
        for t in range(size):
            u = y[i] - y[i + 1 + t]
            d[t] = u * u
        gauss_one(d[:size], scale, own, bits)
        shift = mean - means[i]
        for t in range(size):
            own[t] += shift - means[i + 1 + t]


@kernel
def centred_classes(i: int, lo: int, hi: int, codes: Any, means: Any, mean: float, out: Any) -> None:
    """out[j - lo] = C_ij = 1[y_i = y_j] - u_i - u_j + mean u for classes, j = lo .. hi - 1."""
    own, code, shift = out[: hi - lo], codes[i], mean - means[i]
    others, theirs = codes[lo:hi], means[lo:hi]
    for t in range(own.size):
        own[t] = (1.0 if others[t] == code else 0.0) + (shift - theirs[t])


@pkernel
def dependence_rows(
    lo: int,
    hi: int,
    first: int,
    d: Any,
    column: Any,
    sign: float,
    least: float,
    scale: float,
    flat: Any,
    codes: Any,
    means: Any,
    mean: float,
    out: Any,
) -> None:
    """out[i] = sum over j > i of K_ij C_ij, rows i = first + lo .. first + hi - 1; d and flat begin with row first.

    The distances are those of d with the squared differences of the column added (sign = 1), left out (-1) or not (0).
    """
    n = means.size
    row, own, centred = np.empty(n), np.empty(n), np.empty(n)
    bits, lanes = np.empty(n, np.int64), np.empty(LANES)
    for i in range(first + lo, first + hi):
        start, size = place(n, i) - place(n, first), n - 1 - i
        changed_one(d[start : start + size], column, i, sign, least, row)
        gauss_one(row[:size], scale, own, bits)
        if flat.size:
            out[i] = dot_one(own[:size], flat[start : start + size], lanes)
        else:
            centred_classes(i, i + 1, n, codes, means, mean, centred)
            out[i] = dot_one(own[:size], centred[:size], lanes)


@kernel
def slope_tile(i: int, left: int, right: int, x: Any, weights: Any, lanes: Any, totals: Any) -> None:
    """totals[f, .] += weights_j (x_fi - x_fj)^2 and lanes += weights_j, j = left .. right - 1, in LANES sums."""
    for first in range(left, right, LANES):
        own = weights[first - left : min(first + LANES, right) - left]
        for t in range(own.size):
            lanes[t] += own[t]
    for f in range(x.shape[0]):
        a, total = x[f, i], totals[f]
        for first in range(left, right, LANES):
            own, others = weights[first - left : min(first + LANES, right) - left], x[f, first:right]
            for t in range(own.size):
                u = a - others[t]
                total[t] += own[t] * (u * u)


@pkernel
def slope_groups(
    lo: int,
    hi: int,
    first: int,
    last: int,
    z: Any,
    x: Any,
    scale: float,
    flat: Any,
    codes: Any,
    means: Any,
    mean: float,
    value: Any,
    slope: Any,
) -> None:
    """Of group p of rows, with j > i: value[p] = sum K_ij C_ij, slope[p, f] = sum K_ij C_ij (x_fi - x_fj)^2.

    K is of the weighted rows z[f, n], x[f, n] are the rows without weights; first is the row flat begins with.
    """
    n = means.size
    row, own, centred, bits = np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE, np.int64)
    for p in range(lo, hi):
        begin = first + p * GROUP
        lanes, totals = np.zeros(LANES), np.zeros((x.shape[0], LANES))
        for left in range(begin + 1, n, TILE):
            right = min(left + TILE, n)
            for i in range(begin, min(begin + GROUP, last)):
                start, size = max(left, i + 1), right - max(left, i + 1)
                if size <= 0:
                    continue
                squared_one(z[:, i], z, start, right, row)
                gauss_one(row[:size], scale, own, bits)
                if flat.size:
                    at = place(n, i) - place(n, first) + start - i - 1
                    centred[:size] = flat[at : at + size]
                else:
                    centred_classes(i, start, right, codes, means, mean, centred)
                for t in range(size):
                    centred[t] *= own[t]
                slope_tile(i, start, right, x, centred, lanes, totals)
        value[p] = lanes.sum()
        for f in range(x.shape[0]):
            slope[p, f] = totals[f].sum()
