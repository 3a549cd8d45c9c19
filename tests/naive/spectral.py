"""The relaxations of max x'Qx, sum x = k, from their formulas on small matrices, one set or one draw at a time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from naive.entropy import Column, cmi, mi

Matrix = NDArray[np.float64]


def conditional_form(x: list[Column], y: Column, info: str = "plugin") -> Matrix:
    """Q_ii = I(X_i;Y), Q_ij = [I(X_i;Y|X_j) + I(X_j;Y|X_i)] / 2."""
    m = len(x)
    given = [[cmi(x[i], y, x[j], info=info) for j in range(m)] for i in range(m)]
    return np.array(
        [
            [mi(x[i], y, info=info) if i == j else (given[i][j] + given[j][i]) / 2 for j in range(m)]
            for i in range(m)
        ]
    )


def value(Q: Matrix, S: Iterable[int]) -> float:
    """The sum of Q_ij over i and j in S."""
    chosen = list(S)
    return float(sum(Q[i, j] for i in chosen for j in chosen))


def best(Q: Matrix, k: int) -> float:
    """The largest value of a set of k features, by trying all."""
    return max(value(Q, S) for S in combinations(range(len(Q)), k))


def dominant(Q: Matrix) -> tuple[Matrix, float]:
    """|x| of an eigenvector x of the largest eigenvalue, and that eigenvalue."""
    values, vectors = np.linalg.eigh(Q)
    return np.abs(vectors[:, -1]), float(values[-1])


def lift(n: int) -> Matrix:
    """E, (n+1) x n: first row all ones, above the identity."""
    return np.array([[1.0 if i == 0 or i - 1 == j else 0.0 for j in range(n)] for i in range(n + 1)])


def nystrom(Q: Matrix, rows: list[int]) -> Matrix:
    """[A; B'] A^-1/2 u / sqrt(sigma), (sigma, u) dominant for A + A^-1/2 B B' A^-1/2, put back in order; A pos. def."""
    rest = [i for i in range(len(Q)) if i not in rows]
    A, B = Q[np.ix_(rows, rows)], Q[np.ix_(rows, rest)]
    values, vectors = np.linalg.eigh(A)
    root = vectors @ np.diag(values**-0.5) @ vectors.T
    sigma, u = (a[..., -1] for a in np.linalg.eigh(A + root @ B @ B.T @ root))
    x = np.vstack([A, B.T]) @ root @ u / np.sqrt(sigma)
    out = np.empty(len(Q))
    out[rows + rest] = x
    return out * np.sign(out.sum())


def nystrom_matrix(Q: Matrix, rows: list[int]) -> Matrix:
    """C A^+ C', whatever A is."""
    return Q[:, rows] @ np.linalg.pinv(Q[np.ix_(rows, rows)], rcond=1e-10) @ Q[rows]


def rounded(
    Q: Matrix, k: int, Y: Matrix, directions: Matrix, rows: str = "Y", orient: bool = False
) -> list[int]:
    """Per direction the k features whose rows are most alike to it by cosine; of these sets the first best one."""
    if rows == "V":
        values, vectors = np.linalg.eigh(Y)
        Y = vectors @ np.diag(np.sqrt(np.clip(values, 0, None)))
    found: list[int] = []
    for r in directions:
        cosine = [float(row @ r) / float(np.sqrt(row @ row) * np.sqrt(r @ r)) for row in Y]
        if orient and cosine[0] < 0:
            cosine = [-c for c in cosine]
        order = sorted(range(len(Q)), key=lambda i: (-cosine[i + 1], i))
        S = sorted(order[:k])
        if not found or value(Q, S) > value(Q, found) * (1 + 1e-12):
            found = S
    return found


def on_simplex(P: Matrix, c: Matrix) -> float:
    """min x'Px/2 - c'x over x >= 0, sum x = 1, P psd: the best of the faces' minima that lie inside them."""
    n, lowest = len(c), np.inf
    for size in range(1, n + 1):
        for face in map(list, combinations(range(n), size)):
            system = np.ones((size + 1, size + 1))
            system[:size, :size], system[size, size] = P[np.ix_(face, face)], 0.0
            x = np.linalg.lstsq(system, np.append(c[face], 1.0), rcond=1e-12)[0][:size]
            if x.min() >= -1e-12 and abs(x.sum() - 1) < 1e-9:
                lowest = min(lowest, float(x @ P[np.ix_(face, face)] @ x / 2 - c[face] @ x))
    return lowest
