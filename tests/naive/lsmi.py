"""Least-squares mutual information from its definition: every pair of rows, one solve for each sigma, lambda and fold.

phi_c(x, y) = exp(-|x - x_c|^2 / (2 sigma^2)) q_c(y),   H = mean over i, j of phi(x_i, y_j) phi(x_i, y_j)^T
h = mean over i of phi(x_i, y_i),   alpha = (H + lambda I)^-1 h,   Is = 1/2 h^T alpha - 1/2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from naive.distances import Array, gauss, median_width, standardised

SIGMAS = (0.1, 0.2, 0.5, 1.0, 2.0)
LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)
TIE = 1e-12


class Draw(NamedTuple):
    """What is left to chance: the rows that are centres, the folds, the rows whose distances give the width."""

    centres: list[int]
    folds: list[list[int]]
    wide: list[int]


class Fit(NamedTuple):
    """The value, and the width and the ridge that were chosen."""

    value: float
    sigma: float
    lam: float


def draw(n: int, seed: int, centres: int = 100, folds: int = 5, median_rows: int = 1000) -> Draw:
    """Three permutations of the rows, one after the other."""
    rng = np.random.default_rng(seed)
    rows, order, wide = (rng.permutation(n).tolist() for _ in range(3))
    parts = [part.tolist() for part in np.array_split(order, min(folds, n))]
    return Draw(rows[:centres], parts, wide[:median_rows])


def target_kernel(y: Any, centres: Any, kind: str, sigma: float) -> Array:
    """q_c(y_i): 1 for the same class; for a real y a Gaussian of the width that x has."""
    if kind == "class":
        return np.array([[float(a == b) for b in centres] for a in y])
    return gauss([[a] for a in y], [[b] for b in centres], sigma)


def moments(K: Array, Q: Array) -> tuple[Array, Array]:
    """H by the double sum over rows i and j, and h."""
    n, b = K.shape
    H = np.zeros((b, b))
    for i in range(n):
        for j in range(n):
            phi = K[i] * Q[j]
            H += np.outer(phi, phi) / n**2
    return H, sum((K[i] * Q[i] for i in range(n)), np.zeros(b)) / n


def solve(K: Array, Q: Array, lam: float) -> Array:
    """alpha."""
    H, h = moments(K, Q)
    return np.asarray(np.linalg.solve(H + lam * np.eye(len(h)), h))


def information(K: Array, Q: Array, lam: float) -> float:
    """1/2 h^T alpha - 1/2."""
    return float(moments(K, Q)[1] @ solve(K, Q, lam) / 2 - 0.5)


def held_out(K: Array, Q: Array, folds: Sequence[Sequence[int]], lam: float) -> float:
    """Mean over the folds of 1/2 a^T H a - h^T a in the fold, a from the others."""
    losses = []
    for fold in folds:
        rest = [i for other in folds if other is not fold for i in other]
        a = solve(K[rest], Q[rest], lam)
        H, h = moments(K[list(fold)], Q[list(fold)])
        losses.append(a @ H @ a / 2 - h @ a)
    return float(np.mean(losses))


def prepared(X: Any, y: Any, kind: str, standardise: bool = True) -> tuple[Array, Array]:
    """X and a real y standardised."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if standardise:
        X = standardised(X)
        y = standardised(y[:, None])[:, 0] if kind == "real" else y
    return X, y


def at(X: Array, y: Array, kind: str, centres: Sequence[int], sigma: float, lam: float) -> float:
    """The value at a given sigma and lambda, of rows as they are."""
    K = gauss(X, X[list(centres)], sigma)
    return information(K, target_kernel(y, y[list(centres)], kind, sigma), lam)


def fit(
    X: Any,
    y: Any,
    kind: str,
    seed: int = 0,
    sigmas: Sequence[float] = SIGMAS,
    lambdas: Sequence[float] = LAMBDAS,
    weights: Any = None,
    width_of: Any = None,
    standardise: bool = True,
    **how: int,
) -> Fit:
    """The whole of it; `weights` multiply the columns, `width_of` are other rows to take the width from."""
    X, y = prepared(X, y, kind, standardise)
    X = X if weights is None else X * np.asarray(weights)
    centres, folds, wide = draw(len(X), seed, **how)
    unit = median_width((X if width_of is None else prepared(width_of, y, "class", standardise)[0])[wide])
    losses, places = [], []
    for s in sigmas:
        K = gauss(X, X[centres], s * unit)
        Q = target_kernel(y, y[centres], kind, s * unit)
        for lam in lambdas:
            losses.append(held_out(K, Q, folds, lam) if len(folds) > 1 else 0.0)
            places.append((s * unit, lam))
    best = min(losses)
    sigma, lam = next(
        p for p, loss in zip(places, losses, strict=True) if loss <= best + TIE * max(1, abs(best))
    )
    return Fit(at(X, y, kind, centres, sigma, lam), sigma, lam)
