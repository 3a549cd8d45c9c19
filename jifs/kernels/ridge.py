"""Ridge regressions that differ in lambda alone:  alpha(lambda) = (H + lambda I)^-1 h,  H symmetric, eigenvalues >= 0.

Lanczos' steps from h give H V = V T with V orthonormal, its first column along h, and T tridiagonal; then
alpha = |h| V (T + lambda I)^-1 e_1, which costs next to nothing once T is there: one T serves all lambdas. Every step
is made orthogonal to all before it. The steps end when what is left of the equation for the smallest lambda is
rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jifs.jit import kernel

LEFT_OVER = 1e-15
"""The share of h that may be left of the equation."""


@kernel
def ridge_path(H: Any, h: Any, lo: int, hi: int, lambdas: Any, alphas: Any) -> int:
    """alphas[t, lo:hi] = (H + lambdas[t] I)^-1 h in the block lo .. hi - 1 of H; the number of Lanczos' steps."""
    size = hi - lo
    length = math.sqrt(dot(h[lo:hi], h[lo:hi]))
    alphas[:, lo:hi] = 0.0
    if length == 0.0:
        return 0
    V, turned = np.empty((size, size)), np.empty((size, size))
    diagonal, beside, shares = np.empty(size), np.empty(size), np.empty(size)
    z = np.empty(size)
    for c in range(size):
        V[0, c] = turned[c, 0] = h[lo + c] / length
    least = lambdas.min()
    pivot, tail, largest, steps = 1.0, 1.0, 0.0, 0
    for k in range(size):
        steps = k + 1
        before = beside[k - 1] if k else 0.0
        times(H, lo, hi, V[k], z)
        diagonal[k] = next_one(V, k, before, z)
        diagonal[k] += take_out(V, turned, steps, z, shares)  # what rounding has left of all before
        beside[k] = math.sqrt(dot(z, z))
        pivot = diagonal[k] + least - before * before / pivot
        tail = -tail * before / pivot if k else 1.0 / pivot
        largest = max(largest, diagonal[k] + beside[k])
        if k + 1 == size or beside[k] <= LEFT_OVER * max(largest, 1.0 / abs(tail)):
            break
        for c in range(size):
            V[k + 1, c] = turned[c, k + 1] = z[c] / beside[k]
    for t in range(lambdas.size):
        combine(diagonal, beside, lambdas[t], length, V, steps, shares, alphas[t, lo:hi])
    return steps


@kernel
def times(H: Any, lo: int, hi: int, v: Any, out: Any) -> None:
    """out = H v in a block of the symmetric H."""
    out[:] = 0.0
    c = 0
    while c + 4 <= v.size:
        a, b, e, d = v[c], v[c + 1], v[c + 2], v[c + 3]
        p, q = H[lo + c, lo:hi], H[lo + c + 1, lo:hi]
        r, s = H[lo + c + 2, lo:hi], H[lo + c + 3, lo:hi]
        for t in range(out.size):
            out[t] += (a * p[t] + b * q[t]) + (e * r[t] + d * s[t])
        c += 4
    while c < v.size:
        a, p = v[c], H[lo + c, lo:hi]
        for t in range(out.size):
            out[t] += a * p[t]
        c += 1


@kernel
def next_one(V: Any, k: int, before: float, z: Any) -> float:
    """z = H V[k] less its parts along V[k - 1], which is `before`, and along V[k], which is returned."""
    own, last = V[k], V[max(k - 1, 0)]
    for c in range(z.size):
        z[c] -= before * last[c]
    part = dot(z, own)
    for c in range(z.size):
        z[c] -= part * own[c]
    return part


@kernel
def take_out(V: Any, turned: Any, steps: int, z: Any, shares: Any) -> float:
    """z less its parts along the first rows of V (turned is V transposed); the part along the last of them."""
    own = shares[:steps]
    own[:] = 0.0
    whole = z.size - z.size % 4
    for c in range(0, whole, 4):
        p, q = turned[c, :steps], turned[c + 1, :steps]
        r, s = turned[c + 2, :steps], turned[c + 3, :steps]
        for k in range(steps):
            own[k] += (z[c] * p[k] + z[c + 1] * q[k]) + (z[c + 2] * r[k] + z[c + 3] * s[k])
    for c in range(whole, z.size):
        p = turned[c, :steps]
        for k in range(steps):
            own[k] += z[c] * p[k]
    whole = steps - steps % 4
    for k in range(0, whole, 4):
        p, q, r, s = V[k], V[k + 1], V[k + 2], V[k + 3]
        a, b, e, d = own[k], own[k + 1], own[k + 2], own[k + 3]
        for c in range(z.size):
            z[c] -= (a * p[c] + b * q[c]) + (e * r[c] + d * s[c])
    for k in range(whole, steps):
        a, p = own[k], V[k]
        for c in range(z.size):
            z[c] -= a * p[c]
    last: float = own[steps - 1]
    return last


@kernel
def dot(p: Any, q: Any) -> float:
    """sum_c p[c] q[c], in four sums side by side."""
    a = b = c = d = 0.0
    whole = p.size - p.size % 4
    for t in range(0, whole, 4):
        a += p[t] * q[t]
        b += p[t + 1] * q[t + 1]
        c += p[t + 2] * q[t + 2]
        d += p[t + 3] * q[t + 3]
    for t in range(whole, p.size):
        a += p[t] * q[t]
    return (a + b) + (c + d)


@kernel
def combine(
    diagonal: Any, beside: Any, shift: float, length: float, V: Any, steps: int, y: Any, alpha: Any
) -> None:
    """alpha = sum_k y_k V[k] with (T + shift I) y = length e_1, by elimination from the last row up."""
    factor = np.empty(steps)
    factor[steps - 1] = diagonal[steps - 1] + shift
    for k in range(steps - 2, -1, -1):
        factor[k] = diagonal[k] + shift - beside[k] * beside[k] / factor[k + 1]
    y[0] = length / factor[0]
    for k in range(1, steps):
        y[k] = -beside[k - 1] * y[k - 1] / factor[k]
    for k in range(steps):
        a, p = y[k], V[k]
        for c in range(alpha.size):
            alpha[c] += a * p[c]
