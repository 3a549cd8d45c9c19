"""Matrices that grow, shrink and change by one, from scratch each time; and exactly, in fractions, where a test asks.

A is symmetric, c the new column, s2 the new corner: A grown = [[A, c], [c', s2]].
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def grown(A: Matrix, column: Matrix, variance: float) -> Matrix:
    """[[A, c], [c', s2]]."""
    return np.block([[A, column[:, None]], [column[None, :], np.array([[variance]])]])


def shrunk(A: Matrix, i: int) -> Matrix:
    """A without row and column i."""
    return np.delete(np.delete(A, i, 0), i, 1)


def changed(A: Matrix, u: Matrix, s: float) -> Matrix:
    """A + s u u'."""
    return A + s * np.outer(u, u)


def factor(A: Matrix) -> Matrix:
    """The lower L with L L' = A."""
    return np.linalg.cholesky(A)


def inverse(A: Matrix) -> Matrix:
    """A^-1."""
    return np.linalg.inv(A)


def logdet(A: Matrix) -> float:
    """log|A|, minus infinity if |A| is not positive."""
    sign, value = np.linalg.slogdet(A)
    return float(value) if sign > 0 else -math.inf


def conditional_variance(A: Matrix, i: int) -> float:
    """What the other features leave of feature i:  |A| / |A without i|."""
    return math.exp(logdet(A) - logdet(shrunk(A, i)))


def eigenvalues(A: Matrix) -> Matrix:
    """All eigenvalues, ascending.

    By eigh: eigvalsh works with squares, and was seen to lose seven digits where some entries are below 1e-154.
    """
    return np.linalg.eigh(A)[0]


def arrow(lam: Matrix, q: Matrix, corner: float) -> Matrix:
    """[[diag(lam), q], [q', corner]]."""
    return grown(np.diag(lam), q, corner)


def secular(t: float, lam: Matrix, q: Matrix, corner: float) -> float:
    """f(t) = s2 - t - sum_i q_i^2 / (lambda_i - t)."""
    return corner - t - sum(q[i] ** 2 / (lam[i] - t) for i in range(len(lam)))


def exact_inverse(A: Matrix) -> tuple[list[list[Fraction]], Fraction]:
    """(A^-1, |A|) without rounding, by elimination in fractions; A is positive definite, so no pivot is 0."""
    k = len(A)
    rows = [[Fraction(float(x)) for x in A[r]] + [Fraction(int(r == c)) for c in range(k)] for r in range(k)]
    determinant = Fraction(1)
    for r in range(k):
        pivot = rows[r][r]
        determinant *= pivot
        rows[r] = [x / pivot for x in rows[r]]
        for other in range(k):
            if other != r:
                times = rows[other][r]
                rows[other] = [x - times * y for x, y in zip(rows[other], rows[r], strict=True)]
    return [row[k:] for row in rows], determinant


def exact_logdet(A: Matrix) -> float:
    """log|A| of the stored numbers, right to the last digits."""
    determinant = exact_inverse(A)[1]
    power = determinant.numerator.bit_length() - determinant.denominator.bit_length()
    return math.log(determinant / Fraction(2) ** power) + power * math.log(2.0)
