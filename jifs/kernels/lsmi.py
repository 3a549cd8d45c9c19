"""Least-squares mutual information: moments of the basis, one tridiagonal form for all lambdas, folds, and gradients.

    phi_c(x, y) = k_c(x) q_c(y)              c = 1 .. b centres
    H = (K^T K) * (Q^T Q) / n^2,  h = column means of K * Q          * is elementwise
    alpha = (H + lambda I)^-1 h

For classes q_c(y) = 1[y = y_c]: with the centres sorted by class, H falls into one block a class, with n_c K^T K / n^2
in it, and each block is solved by itself. For a real y there is one block. Lanczos' steps from h give H V = V T with T
tridiagonal; (T + lambda I)^-1 costs next to nothing, so that one T serves all lambdas. The steps end when what is left
of the equation for the smallest lambda is rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel
from jifs.kernels.distances import gauss_one, squared_one

CHUNK = 32
"""Rows whose kernels are made and used at a time."""
STRIP = 64
"""Rows whose gradients are summed together."""
LEFT_OVER = 1e-15
"""The share of h that may be left of the equation."""


@kernel
def add_gram(K: Any, rows: int, blocks: Any, gram: Any) -> None:
    """gram += K^T K of the first rows, in the upper halves of the blocks."""
    for g in range(blocks.size - 1):
        lo, hi = blocks[g], blocks[g + 1]
        i = 0
        while i + 4 <= rows:
            for c in range(lo, hi):
                p, q, r, s = K[i, c:hi], K[i + 1, c:hi], K[i + 2, c:hi], K[i + 3, c:hi]
                a, b, e, d = p[0], q[0], r[0], s[0]
                own = gram[c, c:hi]
                for t in range(own.size):
                    own[t] += (a * p[t] + b * q[t]) + (e * r[t] + d * s[t])
            i += 4
        while i < rows:
            for c in range(lo, hi):
                p, own = K[i, c:hi], gram[c, c:hi]
                a = p[0]
                for t in range(own.size):
                    own[t] += a * p[t]
            i += 1


@kernel
def ridge_path(H: Any, h: Any, lo: int, hi: int, lambdas: Any, alphas: Any) -> int:
    """alphas[t, lo:hi] = (H + lambdas[t] I)^-1 h in the block lo .. hi - 1 of H; the number of Lanczos' steps."""
    size = hi - lo
    length = 0.0
    for c in range(lo, hi):
        length += h[c] * h[c]
    length = math.sqrt(length)
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
        times(H, lo, hi, V[k], z)
        diagonal[k] = take_out(V, turned, steps, z, shares)
        take_out(V, turned, steps, z, shares)  # twice is enough [Parlett 1980]
        beside[k] = norm(z)
        before = beside[k - 1] if k else 0.0
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
def take_out(V: Any, turned: Any, steps: int, z: Any, shares: Any) -> float:
    """z less its parts along the first rows of V (turned is V transposed); the part along the last of them."""
    own = shares[:steps]
    own[:] = 0.0
    for c in range(z.size):
        a, p = z[c], turned[c, :steps]
        for k in range(steps):
            own[k] += a * p[k]
    for k in range(steps):
        a, p = own[k], V[k]
        for c in range(z.size):
            z[c] -= a * p[c]
    return own[steps - 1]


@kernel
def norm(z: Any) -> float:
    """The length of z."""
    total = 0.0
    for c in range(z.size):
        total += z[c] * z[c]
    return math.sqrt(total)


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


# ------------------------------------------------------------------------------------------------------------- folds


@kernel
def moments(
    lo: int, hi: int, d: Any, e: Any, block_of: Any, blocks: Any, scale: float, gram: Any, gram_y: Any, h: Any
) -> None:
    """Add rows lo .. hi - 1 to K^T K, to Q^T Q (for a real y), and to the sums of K * Q, from squared distances."""
    b = d.shape[1]
    K, Q, bits = np.empty((CHUNK, b)), np.empty((CHUNK, b)), np.empty(b, np.int64)
    real = e.shape[0] > 0
    for first in range(lo, hi, CHUNK):
        rows = min(CHUNK, hi - first)
        for i in range(rows):
            gauss_one(d[first + i], scale, K[i], bits)
            g = block_of[first + i]
            if real:
                gauss_one(e[first + i], scale, Q[i], bits)
                for c in range(b):
                    h[c] += K[i, c] * Q[i, c]
            elif g >= 0:
                for c in range(blocks[g], blocks[g + 1]):
                    h[c] += K[i, c]
        add_gram(K, rows, blocks, gram)
        if real:
            add_gram(Q, rows, blocks, gram_y)


@kernel
def assemble(gram: Any, gram_y: Any, counts: Any, rows: float, blocks: Any, H: Any) -> None:
    """H = K^T K * Q^T Q / rows^2, both halves; for classes Q^T Q is the number of rows of the class."""
    real = gram_y.shape[0] > 0
    for g in range(blocks.size - 1):
        lo, hi = blocks[g], blocks[g + 1]
        for c in range(lo, hi):
            own, out = gram[c, lo:hi], H[c, lo:hi]
            for t in range(c - lo, hi - lo):
                other = gram_y[c, lo + t] if real else counts[g]
                out[t] = own[t] * other / (rows * rows)
                H[lo + t, c] = out[t]


@kernel
def loss(H: Any, h: Any, blocks: Any, alpha: Any, work: Any) -> float:
    """1/2 alpha^T H alpha - h^T alpha."""
    total = 0.0
    for g in range(blocks.size - 1):
        lo, hi = blocks[g], blocks[g + 1]
        own, a = work[lo:hi], alpha[lo:hi]
        times(H, lo, hi, a, own)
        for c in range(hi - lo):
            total += a[c] * (own[c] / 2 - h[lo + c])
    return total


@pkernel
def grid_all(
    lo: int,
    hi: int,
    d: Any,
    e: Any,
    block_of: Any,
    blocks: Any,
    folds: Any,
    counts: Any,
    sigmas: Any,
    lambdas: Any,
    losses: Any,
    values: Any,
) -> None:
    """For each sigma: the mean loss of held-out folds, and 1/2 h^T alpha - 1/2 of all rows, for every lambda.

    Fold f is rows folds[f] .. folds[f + 1] - 1, with counts[f, g] of them in block g. The kernels are made once a
    sigma, the moments once a fold: those of the other folds are what is left of the whole.
    """
    b, parts = d.shape[1], folds.size - 1
    n = folds[parts]
    for s in range(lo, hi):
        scale = 1 / (2 * sigmas[s] * sigmas[s])
        gram, h = np.zeros((parts + 1, b, b)), np.zeros((parts + 1, b))
        gram_y = np.zeros((parts + 1, b if e.shape[0] else 0, b))
        everywhere = np.zeros(counts.shape[1])
        for f in range(parts):
            moments(folds[f], folds[f + 1], d, e, block_of, blocks, scale, gram[f], gram_y[f], h[f])
            gram[parts] += gram[f]
            gram_y[parts] += gram_y[f]
            h[parts] += h[f]
            everywhere += counts[f]
        H, alphas, work = np.empty((b, b)), np.empty((lambdas.size, b)), np.empty(b)
        for f in range(parts if parts > 1 else 0):
            held = folds[f + 1] - folds[f]
            rest = n - held
            assemble(
                gram[parts] - gram[f], gram_y[parts] - gram_y[f], everywhere - counts[f], rest, blocks, H
            )
            for g in range(blocks.size - 1):
                ridge_path(H, (h[parts] - h[f]) / rest, blocks[g], blocks[g + 1], lambdas, alphas)
            assemble(gram[f], gram_y[f], counts[f], held, blocks, H)
            for t in range(lambdas.size):
                losses[s, t] += loss(H, h[f] / held, blocks, alphas[t], work) / parts
        assemble(gram[parts], gram_y[parts], everywhere, n, blocks, H)
        for g in range(blocks.size - 1):
            ridge_path(H, h[parts] / n, blocks[g], blocks[g + 1], lambdas, alphas)
        for t in range(lambdas.size):
            for c in range(b):
                values[s, t] += h[parts, c] / n * alphas[t, c]
            values[s, t] = values[s, t] / 2 - 0.5


# ---------------------------------------------------------------------------------------------------------- gradients


@pkernel
def basis_all(lo: int, hi: int, x: Any, centres: Any, scale: float, K: Any) -> None:
    """K[i, c] = exp(-scale |x_i - c_l|^2), rows x[n, f] and centres[f, b]."""
    b = centres.shape[1]
    d, bits = np.empty(b), np.empty(b, np.int64)
    for i in range(lo, hi):
        squared_one(x[i], centres, 0, b, d)
        gauss_one(d, scale, K[i], bits)


@pkernel
def gram_all(
    lo: int, hi: int, rows: Any, K: Any, Q: Any, block_of: Any, blocks: Any, gram: Any, h: Any
) -> None:
    """gram[p] and h[p]: K^T K in the blocks, and the sums of K * Q, of rows rows[p] .. rows[p + 1] - 1."""
    for p in range(lo, hi):
        add_gram(K[rows[p] : rows[p + 1]], rows[p + 1] - rows[p], blocks, gram[p])
        own = h[p]
        for i in range(rows[p], rows[p + 1]):
            g = block_of[i]
            if Q.shape[0]:
                for c in range(own.size):
                    own[c] += K[i, c] * Q[i, c]
            elif g >= 0:
                for c in range(blocks[g], blocks[g + 1]):
                    own[c] += K[i, c]


@kernel
def pull_one(
    k: Any, q: Any, own: int, blocks: Any, counts: Any, alpha: Any, gram_y: Any, n: float, out: Any
) -> None:
    """out[c] = d Is / d log k_c(x_i) of one row, = k_c alpha_c (q_c / n - sum_t k_t alpha_t (Q^T Q)_ct / n^2)."""
    if q.size:
        for c in range(k.size):
            out[c] = k[c] * alpha[c]
        total = np.zeros(k.size)
        times(gram_y, 0, k.size, out, total)
        for c in range(k.size):
            out[c] *= q[c] / n - total[c] / (n * n)
        return
    for g in range(blocks.size - 1):
        seen = 0.0
        for c in range(blocks[g], blocks[g + 1]):
            out[c] = k[c] * alpha[c]
            seen += out[c]
        share = (1.0 / n if g == own else 0.0) - counts[g] * seen / (n * n)
        for c in range(blocks[g], blocks[g + 1]):
            out[c] *= share


@pkernel
def slope_all(
    lo: int,
    hi: int,
    x: Any,
    centres: Any,
    K: Any,
    Q: Any,
    block_of: Any,
    blocks: Any,
    counts: Any,
    alpha: Any,
    gram_y: Any,
    out: Any,
) -> None:
    """out[p, f] = sum over rows i of strip p and centres c of (x_if - c_f)^2 d Is / d log k_c(x_i)."""
    n, b = K.shape
    pull, none = np.empty(b), np.empty(0)
    for p in range(lo, hi):
        total = np.zeros(centres.shape)
        for i in range(p * STRIP, min((p + 1) * STRIP, n)):
            pull_one(K[i], Q[i] if Q.shape[0] else none, block_of[i], blocks, counts, alpha, gram_y, n, pull)
            for f in range(centres.shape[0]):
                a, point, own = x[i, f], centres[f], total[f]
                for c in range(b):
                    u = a - point[c]
                    own[c] += pull[c] * (u * u)
        for f in range(centres.shape[0]):
            out[p, f] = total[f].sum()
