"""Least-squares mutual information: moments of the basis functions, held-out folds, and gradients.

    phi_c(x, y) = k_c(x) q_c(y)              c = 1 .. b centres
    H = (K^T K) * (Q^T Q) / n^2,  h = column means of K * Q          * is elementwise
    alpha = (H + lambda I)^-1 h

For classes q_c(y) = 1[y = y_c]: with the centres sorted by class, H falls into one block a class, with n_c K^T K / n^2
in it, and each block is solved by itself, for all lambdas at once (jifs/kernels/ridge.py). For a real y there is one
block. Kernels are made once a sigma, moments once a fold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel, pkernel
from jifs.kernels.distances import gauss_one, squared_one
from jifs.kernels.ridge import ridge_path, times

CHUNK = 32
"""Rows whose kernels are made and used at a time."""
STRIP = 64
"""Rows whose gradients are summed together."""


@kernel
def add_gram(K: Any, rows: int, blocks: Any, gram: Any) -> None:
    """gram += K^T K of the first rows, in the upper halves of the blocks; what is below is not to be read."""
    for g in range(blocks.size - 1):
        lo, hi = blocks[g], blocks[g + 1]
        for i in range(0, rows - rows % 4, 4):
            for c in range(
                lo, hi - 1, 2
            ):  # two rows of the result at a time, for each row of K is then read once
                p, q, r, s = K[i, c:hi], K[i + 1, c:hi], K[i + 2, c:hi], K[i + 3, c:hi]
                a, b, e, d = p[0], q[0], r[0], s[0]
                u, v, w, z = p[1], q[1], r[1], s[1]
                first, second = gram[c, c:hi], gram[c + 1, c:hi]
                for t in range(hi - c):
                    first[t] += (a * p[t] + b * q[t]) + (e * r[t] + d * s[t])
                    second[t] += (u * p[t] + v * q[t]) + (w * r[t] + z * s[t])
            if (hi - lo) % 2:
                last = hi - 1
                a, b, e, d = K[i, last], K[i + 1, last], K[i + 2, last], K[i + 3, last]
                gram[last, last] += (a * a + b * b) + (e * e + d * d)
        for i in range(rows - rows % 4, rows):
            for c in range(lo, hi):
                p, own = K[i, c:hi], gram[c, c:hi]
                a = p[0]
                for t in range(own.size):
                    own[t] += a * p[t]


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
def pulls_of_classes(K: Any, own: Any, blocks: Any, counts: Any, alpha: Any, n: float, out: Any) -> None:
    """out[i, c] = d Is / d log k_c(x_i) = k_c alpha_c (q_c / n - n_g sum_t k_t alpha_t / n^2), t in c's class g."""
    for i in range(own.size):
        k, pull = K[i], out[i]
        for g in range(blocks.size - 1):
            seen = 0.0
            for c in range(blocks[g], blocks[g + 1]):
                pull[c] = k[c] * alpha[c]
                seen += pull[c]
            share = (1.0 / n if g == own[i] else 0.0) - counts[g] * seen / (n * n)
            for c in range(blocks[g], blocks[g + 1]):
                pull[c] *= share


@kernel
def pulls_of_numbers(K: Any, Q: Any, alpha: Any, gram: Any, n: float, total: Any, out: Any) -> None:
    """out[i, c] = d Is / d log k_c(x_i) = k_c alpha_c (q_c / n - sum_t (Q^T Q)_ct k_t alpha_t / n^2)."""
    rows, b = K.shape
    for i in range(rows):
        for c in range(b):
            out[i, c] = K[i, c] * alpha[c]
    total[:rows] = 0.0
    for i in range(0, rows - 1, 2):
        x, y, first, second = out[i], out[i + 1], total[i], total[i + 1]
        for c in range(0, b - b % 4, 4):
            p, q, r, s = gram[c], gram[c + 1], gram[c + 2], gram[c + 3]
            a, e, f, d = x[c], x[c + 1], x[c + 2], x[c + 3]
            u, v, w, z = y[c], y[c + 1], y[c + 2], y[c + 3]
            for t in range(b):
                first[t] += (a * p[t] + e * q[t]) + (f * r[t] + d * s[t])
                second[t] += (u * p[t] + v * q[t]) + (w * r[t] + z * s[t])
        for c in range(b - b % 4, b):
            p, a, u = gram[c], x[c], y[c]
            for t in range(b):
                first[t] += a * p[t]
                second[t] += u * p[t]
    if rows % 2:
        times(gram, 0, b, out[rows - 1], total[rows - 1])
    for i in range(rows):
        for c in range(b):
            out[i, c] *= Q[i, c] / n - total[i, c] / (n * n)


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
    pull, work = np.zeros((STRIP + 3, b)), np.empty((STRIP, b))
    for p in range(lo, hi):
        first, last = p * STRIP, min((p + 1) * STRIP, n)
        rows = last - first
        if Q.shape[0]:
            pulls_of_numbers(K[first:last], Q[first:last], alpha, gram_y, n, work, pull)
        else:
            pulls_of_classes(K[first:last], block_of[first:last], blocks, counts, alpha, n, pull)
        pull[rows:] = 0.0
        for f in range(centres.shape[0]):
            total = np.zeros(b)
            point = centres[f]
            for i in range(0, rows, 4):
                q, r, s, t = pull[i], pull[i + 1], pull[i + 2], pull[i + 3]
                a, e = x[first + i, f], x[min(first + i + 1, last - 1), f]
                d, g = x[min(first + i + 2, last - 1), f], x[min(first + i + 3, last - 1), f]
                for c in range(b):
                    u, v, w, z = a - point[c], e - point[c], d - point[c], g - point[c]
                    total[c] += (q[c] * (u * u) + r[c] * (v * v)) + (s[c] * (w * w) + t[c] * (z * z))
            out[p, f] = total.sum()
