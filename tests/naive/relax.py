"""The global problem max x'Qx over sets of k features, and its upper bounds, from their formulas.

Exhaustive optimum by doubling: f(S + i) = f(S) + Q_ii + 2 sum_{j in S} Q_ij, for every set, 2^n of them.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from naive.spectral import conditional_form, lift

Matrix = NDArray[np.float64]


def best_values(Q: Matrix) -> list[float]:
    """The best value of k features for k = 0..n, n <= 22."""
    value, size = {0: 0.0}, {0: 0}
    for i in range(len(Q)):
        for S in list(value):
            linked = sum(Q[i, j] for j in range(i) if S >> j & 1)
            value[S | 1 << i] = value[S] + Q[i, i] + 2 * linked
            size[S | 1 << i] = size[S] + 1
    best = [-np.inf] * (len(Q) + 1)
    for S, own in value.items():
        best[size[S]] = max(best[size[S]], float(own))
    return best


def best_set(Q: Matrix, k: int) -> tuple[int, ...]:
    """The first set, in the order of the dictionary, with the best value in rational numbers."""
    exact = [[Fraction(float(entry)) for entry in row] for row in Q]
    return max(combinations(range(len(Q)), k), key=lambda S: sum(exact[i][j] for i in S for j in S))


def spectral(Q: Matrix, k: int) -> float:
    """k lambda_max(Q)."""
    return float(k * np.linalg.eigvalsh(Q)[-1])


def tight_matrix(Q: Matrix, k: int, u: Matrix) -> Matrix:
    """A(u) = Q + k Diag(u) - (u e' + e u')/2."""
    n = len(Q)
    return np.array([[Q[i, j] + k * u[i] * (i == j) - (u[i] + u[j]) / 2 for j in range(n)] for i in range(n)])


def tight(Q: Matrix, k: int, u: Matrix) -> float:
    """k lambda_max(A(u))."""
    return spectral(tight_matrix(Q, k, u), k)


def eq26(Q: Matrix, k: int, s: float, d: Matrix) -> float:
    """(4ks + sum d + (n + 1) lambda_max(Q~ - s I~ - Diag d)) / 4."""
    E = lift(len(Q))
    slack = E @ Q @ E.T - s * E @ E.T - np.diag(d)
    return float(4 * k * s + sum(d) + len(slack) * np.linalg.eigvalsh((slack + slack.T) / 2)[-1]) / 4


def split(Q: Matrix, k: int, R: Matrix) -> float:
    """The sum of the k largest over i of [Q_ii + sum of the k - 1 largest R_ij, j != i]."""
    n = len(Q)
    rows = [
        Q[i, i] + sum(sorted((R[i, j] for j in range(n) if j != i), reverse=True)[: k - 1]) for i in range(n)
    ]
    return float(sum(sorted(rows, reverse=True)[:k])) if k else 0.0


FAMILIES = (
    "random",
    "conditional",
    "low rank",
    "reducible",
    "duplicates",
    "sparse",
    "zero",
    "hollow",
    "tiny and large",
)


def matrix(family: str, n: int, seed: int) -> Matrix:
    """A symmetric n x n matrix with entries >= 0 of a kind that has given trouble, or might."""
    rng = np.random.default_rng([seed, n, FAMILIES.index(family)])
    A = rng.random((n, n))
    Q: Matrix = (A + A.T) / 2
    if family == "conditional":
        y = rng.integers(0, 3, 60)
        x = [np.where(rng.random(60) < rng.random(), y, rng.integers(0, 3, 60)) for _ in range(n)]
        Q = np.maximum(conditional_form(x, y), 0)
        Q = (Q + Q.T) / 2
    elif family == "low rank":
        Q = A[:, :2] @ A[:, :2].T
        Q = (Q + Q.T) / 2
    elif family == "reducible":
        part = np.arange(n) < n // 2
        Q = Q * (part[:, None] == part)
    elif family == "duplicates":
        own = rng.integers(0, max(n // 2, 1), n)
        Q = Q[np.ix_(own, own)]
    elif family == "sparse":
        keep = rng.random((n, n)) < 0.15
        Q = Q * (keep | keep.T)
    elif family == "zero":
        Q = np.zeros((n, n))
    elif family == "hollow":
        np.fill_diagonal(Q, 0.0)
    elif family == "tiny and large":
        size = 10.0 ** rng.integers(-9, 1, n)
        Q = Q * np.sqrt(np.outer(size, size))
        Q = (Q + Q.T) / 2
    return Q
