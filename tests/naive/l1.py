"""The positive l1-ball by the book: nearest point, best point of a quadratic form, the search for a radius.

Where a set of features is few enough to try all, a quadratic program is solved by trying every support: on the right
one the conditions of Karush, Kuhn and Tucker are linear equations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np


def best_in_ball(A: np.ndarray, b: np.ndarray, r: float) -> np.ndarray:
    """The v >= 0, sum v <= r, with the largest b'v - v'Av / 2, A positive definite.

    For every support, with the bound on the sum and without: the equations' solution; the one that least violates
    v >= 0, sum v <= r, price >= 0 and slope <= price, the price being what a unit more of the sum would bring.
    """
    m = len(b)
    best, least = np.zeros(m), max(0.0, float(b.max()))
    for size in range(1, m + 1):
        for some in combinations(range(m), size):
            S = list(some)
            inner = A[np.ix_(S, S)]
            inside, ones = np.linalg.solve(inner, b[S]), np.linalg.solve(inner, np.ones(size))
            for price in (0.0, (inside.sum() - r) / ones.sum()):
                v = np.zeros(m)
                v[S] = inside - price * ones
                flaw = max(0.0, -v.min(), v.sum() - r, -price, (b - A @ v).max() - price)
                if flaw < least:
                    best, least = v, flaw
    return np.maximum(best, 0.0)


def project(w: np.ndarray, r: float) -> np.ndarray:
    """The nearest v to w with v >= 0, sum v <= r: the largest w'v - v'v / 2."""
    return best_in_ball(np.eye(len(w)), w, r)


def algorithm_1(solve: Callable[[float], int], k: int, budget: int) -> list[float]:
    """The radii that are solved, for a number of features by radius; a budget of solves stands for the clock.

    Where the first radius gives more than k already, the lower end of the range is 0, and not half of it.
    """
    radii: list[float] = []
    r = 0.1
    while True:
        r = 2 * r
        radii.append(r)
        count = solve(r)
        if count == k or len(radii) == budget:
            return radii
        if count > k:
            break
    high, low = r, r / 2 if len(radii) > 1 else 0.0
    while len(radii) < budget:
        middle = (high + low) / 2
        radii.append(middle)
        count = solve(middle)
        if count == k:
            return radii
        if count < k:
            low = middle
        else:
            high = middle
    return radii


def fallback(
    sets: Sequence[tuple[int, ...]], k: int, value: Callable[[tuple[int, ...]], float], tol: float
) -> tuple[int, ...]:
    """The first set by ( ||S| - k|, |S| - k, -value(S) ); of equal values the first in the dictionary."""
    nearest = min((abs(len(S) - k), len(S) - k) for S in sets)
    values = {S: value(S) for S in sets if (abs(len(S) - k), len(S) - k) == nearest}
    top = max(values.values())
    least = top - tol * max(1.0, abs(top)) if math.isfinite(top) else top
    return min(S for S, v in values.items() if v >= least)
