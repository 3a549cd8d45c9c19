"""The Hilbert-Schmidt independence criterion from its definition: tr(K H L H) / (n - 1)^2 with H = I - 1 1^T / n.

K is Gaussian with the median width; L is 1[y_i = y_j] for classes, Gaussian with the median width for a real y.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from naive.distances import Array, gauss, median_width, standardised


def target_matrix(y: Any, kind: str) -> Array:
    """L."""
    if kind == "class":
        return np.array([[float(a == b) for b in y] for a in y])
    rows = [[float(a)] for a in y]
    return gauss(rows, rows, median_width(rows))


def trace_form(K: Array, L: Array) -> float:
    """tr(K H L H) / (n - 1)^2, with the matrix H."""
    n = len(K)
    H = np.eye(n) - np.ones((n, n)) / n
    return float(np.trace(K @ H @ L @ H)) / (n - 1) ** 2


def three_terms(K: Array, L: Array) -> float:
    """(sum K * L + sum K sum L / n^2 - (2 / n) sum_i (K 1)_i (L 1)_i) / (n - 1)^2."""
    n = len(K)
    both = K.sum(axis=1) @ L.sum(axis=1)
    return float(((K * L).sum() + K.sum() * L.sum() / n**2 - 2 / n * both) / (n - 1) ** 2)


def at(X: Array, y: Any, kind: str, sigma: float) -> float:
    """The value at a given width, of rows as they are."""
    return trace_form(gauss(X, X, sigma), target_matrix(y, kind))


def hsic(X: Any, y: Any, kind: str, weights: Any = None, standardise: bool = True) -> float:
    """The whole of it; `weights` multiply the columns."""
    X = np.asarray(X, dtype=np.float64)
    X = standardised(X) if standardise else X
    X = X if weights is None else X * np.asarray(weights)
    return at(X, y, kind, median_width(X)) if len(X) > 1 else 0.0
