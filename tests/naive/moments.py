"""Moments from their definitions: sums over rows, and in fractions where rounding would blur the answer.

mean_j = sum w x_j / sum w        Sigma_jk = sum w (x_j - mean_j)(x_k - mean_k) / sum w        (maximum likelihood)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
UNIT = 2.0**-53
"""Relative error of one rounding in double precision."""


def classes_of(y: Any) -> list[Any]:
    """The classes there are, in order."""
    return sorted(set(np.asarray(y).tolist()))


def mean(X: Any, weights: Any = None) -> Array:
    """The weighted mean of every column."""
    X = np.asarray(X, dtype=np.float64)
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    return np.asarray((w[:, None] * X).sum(axis=0) / w.sum())


def covariance(X: Any, weights: Any = None) -> Array:
    """Maximum likelihood covariances of all columns; seen from the first row, so that equal rows give exactly 0."""
    X = np.asarray(X, dtype=np.float64) - np.asarray(X, dtype=np.float64)[0]
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    centred = X - mean(X, w)
    return np.asarray((w[:, None] * centred).T @ centred / w.sum())


def exact_mean(X: Any, weights: Any = None) -> list[Fraction]:
    """The mean of the very numbers given, without any rounding."""
    rows = [[Fraction(float(x)) for x in row] for row in np.asarray(X)]
    w = [Fraction(1)] * len(rows) if weights is None else [Fraction(float(a)) for a in weights]
    return [
        sum((a * row[j] for a, row in zip(w, rows, strict=True)), Fraction(0)) / sum(w)
        for j in range(len(rows[0]))
    ]


def exact_covariance(X: Any, weights: Any = None) -> list[list[Fraction]]:
    """The covariances of the very numbers given, without any rounding."""
    middle = exact_mean(X, weights)
    rows = [[Fraction(float(x)) - mu for x, mu in zip(row, middle, strict=True)] for row in np.asarray(X)]
    w = [Fraction(1)] * len(rows) if weights is None else [Fraction(float(a)) for a in weights]
    every = range(len(middle))
    return [
        [
            sum((a * row[j] * row[k] for a, row in zip(w, rows, strict=True)), Fraction(0)) / sum(w)
            for k in every
        ]
        for j in every
    ]


def worst_error(found: Any, exact: list[list[Fraction]]) -> float:
    """Largest error of a covariance matrix, as a share of the product of the two spreads; infinite where that is 0."""
    worst = 0.0
    for j, row in enumerate(exact):
        for k, value in enumerate(row):
            error = (Fraction(float(found[j][k])) - value) ** 2
            scale = exact[j][j] * exact[k][k]
            worst = max(worst, float(error / scale) if scale else (float("inf") if error else 0.0))
    return float(worst**0.5)


def majority(values: Any, weights: Any = None) -> tuple[float, float] | None:
    """The value with more than half of the weight, and its weight; None if there is none."""
    w = [1.0] * len(values) if weights is None else list(map(float, weights))
    held: dict[float, float] = {}
    for v, a in zip(np.asarray(values, dtype=np.float64).tolist(), w, strict=True):
        held[v] = held.get(v, 0.0) + a
    value, weight = max(held.items(), key=lambda item: item[1])
    return (value, weight) if 2 * weight > sum(w) else None


def ledoit_wolf(X: Any) -> float:
    """How far the covariance of one row is from that of all, on average, as a share of the way to a sphere."""
    centred = np.asarray(X, dtype=np.float64) - mean(X)
    n, m = centred.shape
    sigma = covariance(X)
    noise = sum(((np.outer(x, x) - sigma) ** 2).sum() for x in centred) / n**2
    way = ((sigma - np.trace(sigma) / m * np.eye(m)) ** 2).sum()
    return float(min(noise, way) / way)


def oas(X: Any) -> float:
    """(tr S^2 + tr^2 S) / ((n + 1) (tr S^2 - tr^2 S / m)), at most 1."""
    n, m = np.shape(X)
    sigma = covariance(X)
    trace, squared = float(np.trace(sigma)), float(np.trace(sigma @ sigma))
    return min((squared + trace**2) / ((n + 1) * (squared - trace**2 / m)), 1.0)
