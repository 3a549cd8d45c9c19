"""Distances, Gaussian kernels and the median width from their definitions: double loops over rows.

sigma_med = median over i < j of |x_i - x_j|; of the positive ones if that is 0; 1 if there is none
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def standardised(X: Any) -> Array:
    """Zero mean and unit variance (maximum likelihood); a constant column becomes 0."""
    X = np.asarray(X, dtype=np.float64)
    spread = np.where(X.max(axis=0) > X.min(axis=0), X.std(axis=0), np.inf)
    return (X - X.mean(axis=0)) / spread


def squared(p: Any, q: Any) -> float:
    """|p - q|^2."""
    return float(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)))


def squared_pairs(X: Any) -> list[float]:
    """|x_i - x_j|^2 for i < j, row after row."""
    return [squared(X[i], X[j]) for i in range(len(X)) for j in range(i + 1, len(X))]


def median_width(X: Any) -> float:
    """The median distance, as above."""
    distances = [math.sqrt(d) for d in squared_pairs(X)]
    if distances and np.median(distances) > 0:
        return float(np.median(distances))
    positive = [d for d in distances if d > 0]
    return float(np.median(positive)) if positive else 1.0


def gauss(X: Any, Y: Any, sigma: float) -> Array:
    """exp(-|x_i - y_j|^2 / (2 sigma^2)) for all i, j."""
    return np.array([[math.exp(-squared(x, y) / (2 * sigma**2)) for y in Y] for x in X])
