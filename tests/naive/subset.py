"""Sets under x'Qx by trying everything, and matrices to try it on.

f(S) = sum of Q_ij over i, j in S;   what a feature brings and what an exchange changes are differences of f
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from naive.spectral import conditional_form

Matrix = NDArray[np.float64]


def value(Q: Matrix, S: set[int]) -> float:
    """f(S)."""
    return float(sum(Q[i, j] for i in S for j in S))


def gain(Q: Matrix, S: set[int], i: int) -> float:
    """What i brings to S, or what S would lose without it."""
    return value(Q, S | {i}) - value(Q, S - {i})


def exchanges(Q: Matrix, S: set[int]) -> dict[tuple[int, int], float]:
    """(i, o) -> the change of f when o leaves and i comes."""
    outside = set(range(len(Q))) - S
    return {(i, o): value(Q, S - {o} | {i}) - value(Q, S) for i in sorted(outside) for o in sorted(S)}


def greedy(Q: Matrix, k: int) -> set[int]:
    """k times the feature that brings most, the lowest index among equals (to 1e-12 of the largest entry)."""
    S: set[int] = set()
    for _ in range(k):
        gains = {i: gain(Q, S, i) for i in range(len(Q)) if i not in S}
        slack = 1e-12 * max(Q.max(), max(gains.values()))
        S.add(min(i for i in gains if gains[i] >= max(gains.values()) - slack))
    return S


def best(Q: Matrix, k: int) -> float:
    """The largest f of a set of k features."""
    return max(value(Q, set(S)) for S in combinations(range(len(Q)), k))


def best_values(Q: Matrix) -> Matrix:
    """The largest f for k = 0..n, over all 2^n sets:  f(S + i) = f(S) + Q_ii + 2 sum over j in S of Q_ij."""
    n = len(Q)
    values, sizes = np.zeros(1), np.zeros(1, np.int64)
    for i in range(n):
        links = np.zeros(1)
        for j in range(i):
            links = np.concatenate([links, links + Q[i, j]])
        values = np.concatenate([values, values + Q[i, i] + 2 * links])
        sizes = np.concatenate([sizes, sizes + 1])
    return np.array([values[sizes == k].max() for k in range(n + 1)])


KINDS = (
    *(
        "random",
        "diagonal",
        "hollow",
        "sparse",
        "blocks",
        "duplicates",
        "equal",
        "whole",
        "steep",
        "low_rank",
    ),
    *("cmi", "zero", "trap"),
)


def matrix(kind: str, n: int, seed: int) -> Matrix:
    """A symmetric matrix >= 0 of a kind that may be hard to handle."""
    rng = np.random.default_rng([seed, KINDS.index(kind), n])
    A = rng.random((n, n))
    Q = np.triu(A) + np.triu(A, 1).T
    if kind == "diagonal":
        Q = np.diag(np.diag(Q))
    elif kind == "hollow":
        Q[np.diag_indices(n)] = 0
    elif kind == "sparse":
        Q[Q < 0.8] = 0
    elif kind == "blocks":  # reducible: features of different blocks know nothing of each other
        block = rng.integers(0, 3, n)
        Q[block[:, None] != block] = 0
    elif kind == "duplicates":
        copy = rng.integers(0, max(n // 3, 1), n)
        Q = Q[np.ix_(copy, copy)]
    elif kind == "equal":
        Q[:] = 0.3
    elif kind == "whole":
        Q = np.floor(3 * Q)
    elif kind == "steep":  # from 1e-12 to 1
        Q = 10 ** (-12 * Q)
    elif kind == "low_rank":
        Q = A[:, :2] @ A[:, :2].T
        Q = (Q + Q.T) / 2
    elif kind == "cmi":
        X, noise = rng.integers(0, 3, (60, n)), rng.random(60) < 0.2
        X[:, n // 2 :] = np.where(rng.random((60, n - n // 2)) < 0.3, X[:, n // 2 :], X[:, : n - n // 2])
        y = (X[:, 0] + X[:, n // 3] * X[:, n // 2] + noise) % 3
        Q = np.maximum(conditional_form(list(X.T), y), 0)
    elif kind == "zero":
        Q[:] = 0
    elif kind == "trap":  # the best pairs are worth nothing with others, and greedy starts elsewhere
        Q *= 0.1
        for i in range(0, n - 1, 2):
            Q[i, i + 1] = Q[i + 1, i] = 1 + A[i, i]
            Q[i, i] = Q[i + 1, i + 1] = 0
    return Q
