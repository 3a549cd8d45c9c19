"""Squared distances and what is made of them: Gaussian kernels, and the values around a rank.

    d_ic = sum_f (x_if - p_fc)^2          row i against the points p
    K_ic = exp(-scale d_ic)               scale = 1 / (2 sigma^2)

Distances are sums of squared differences, not differences of inner products: near points stay near, however far they
are from the origin. The pairs i < j of n rows are kept in one flat array, row after row: `place(n, i)` is where row i
begins. The pair of a set that feature f has joined or left is that distance plus or minus (x_if - x_jf)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel

LANES = 32
"""Running sums kept side by side, so that a long sum goes in wide steps and always in the same order."""
TILE = 512
"""Rows at a time, so that all their features stay in the second cache."""
GROUP = 16
"""Rows that meet a tile while it is there."""

FAR = 708.0
"""exp(-FAR) is about the smallest normal number; beyond it a kernel is 0."""
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number, which is then in the lowest bits
LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10


@kernel
def squared_one(point: Any, others: Any, lo: int, hi: int, out: Any) -> None:
    """out[t - lo] = sum over f of (point[f] - others[f, t])^2, t = lo .. hi - 1."""
    own = out[: hi - lo]
    own[:] = 0.0
    f = 0
    while f + 4 <= point.size:
        a, b, c, d = point[f], point[f + 1], point[f + 2], point[f + 3]
        p, q = others[f, lo:hi], others[f + 1, lo:hi]
        r, s = others[f + 2, lo:hi], others[f + 3, lo:hi]
        for t in range(own.size):
            u, v, w, z = a - p[t], b - q[t], c - r[t], d - s[t]
            own[t] += (u * u + v * v) + (w * w + z * z)
        f += 4
    while f < point.size:
        a, p = point[f], others[f, lo:hi]
        for t in range(own.size):
            u = a - p[t]
            own[t] += u * u
        f += 1


@kernel
def gauss_one(d: Any, scale: float, out: Any, bits: Any) -> None:
    """out[t] = exp(-scale d[t]) within 2 roundings and those of the product; `bits` is scratch for whole numbers.

    exp(x) = 2^k exp(r) with |r| <= log(2) / 2, and exp(r) by its series: plain arithmetic, which runs in vectors.
    """
    power = bits.view(np.float64)
    for t in range(d.size):
        x = -scale * d[t]
        x = x if x > -FAR else -FAR
        z = x * LOG2_E + ROUND
        power[t] = z
        k = z - ROUND
        r = (x - k * LN2_HIGH) - k * LN2_LOW
        p = r * (1.0 / 479001600.0) + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        out[t] = p * r + 1.0
    for t in range(d.size):
        bits[t] = (bits[t] + 1023) << 52
    for t in range(d.size):
        out[t] = out[t] * power[t] if scale * d[t] <= FAR else 0.0


@kernel
def dot_one(a: Any, b: Any, lanes: Any) -> float:
    """sum_l a[t] b[t], in LANES sums side by side."""
    lanes[:] = 0.0
    whole = a.size - a.size % LANES
    for first in range(0, whole, LANES):
        p, q = a[first : first + LANES], b[first : first + LANES]
        for t in range(LANES):
            lanes[t] += p[t] * q[t]
    for t in range(a.size - whole):
        lanes[t] += a[whole + t] * b[whole + t]
    total = 0.0
    for t in range(LANES):
        total += lanes[t]
    return total


@pkernel
def squared_all(lo: int, hi: int, x: Any, others: Any, out: Any) -> None:
    """out[i, t]: squared distance of row i of x[n, f] to point t of others[f, b]."""
    for i in range(lo, hi):
        squared_one(x[i], others, 0, others.shape[1], out[i])


# ---------------------------------------------------------------------------------------------------------- all pairs


@kernel
def place(n: int, i: int) -> int:
    """Where the pair i, i + 1 of n rows is in the flat array."""
    return i * (2 * n - 1 - i) // 2


@pkernel
def squared_pairs(lo: int, hi: int, x: Any, first: int, last: int, out: Any) -> None:
    """Flat distances of rows first .. last - 1 of x[f, n] to all rows after them; an item is a GROUP of rows."""
    n = x.shape[1]
    for item in range(lo, hi):
        begin = first + item * GROUP
        end = min(begin + GROUP, last)
        for left in range(begin + 1, n, TILE):
            right = min(left + TILE, n)
            for i in range(begin, end):
                own = max(left, i + 1)
                if own < right:
                    at = place(n, i) - place(n, first) + own - i - 1
                    squared_one(x[:, i], x, own, right, out[at : at + right - own])


@kernel
def changed_one(d: Any, column: Any, i: int, sign: float, least: float, out: Any) -> None:
    """out[t] = d[t] + sign (column[i] - column[i + 1 + t])^2; what is left of d within the share `least` of it is 0."""
    a, rest = column[i], column[i + 1 :]
    for t in range(d.size):
        u = a - rest[t]
        v = d[t] + sign * (u * u)
        out[t] = v if v > least * d[t] else 0.0


@kernel
def count_around(
    first: int,
    last: int,
    n: int,
    base: int,
    d: Any,
    column: Any,
    sign: float,
    least: float,
    low: float,
    high: float,
    counts: Any,
    found: Any,
) -> None:
    """Of rows first .. last - 1: how many pairs are below, at low, between, and at high; those between go to `found`.

    d begins with row `base`. `found` takes as many as it has room for, less one.
    """
    row = np.empty(n)
    below = level = between = top = 0
    room = found.size - 1
    for i in range(first, last):
        start = place(n, i) - place(n, base)
        own = row[: n - 1 - i]
        changed_one(d[start : start + own.size], column, i, sign, least, own)
        for t in range(own.size):
            v = own[t]
            below += v < low
            level += v == low
            top += v == high
        for t in range(own.size):
            v = own[t]
            found[min(between, room)] = v
            between += (v > low) & (v < high)
    counts[0], counts[1], counts[2], counts[3] = below, level, between, top
