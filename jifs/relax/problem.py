"""The global problem QIP_CMI [Vinh et al. 2014]:  maximise x'Qx  over x in {0,1}^n with e'x = k.

Q is symmetric with entries >= 0. A set S of k features has the value x'Qx = sum of Q_ij over i, j in S: an
off-diagonal pair counts twice, the diagonal once.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jifs.errors import InputError

ROUNDING = 1e-12
"""How far from symmetric, and how far below zero, an entry may be, relative to the largest: rounding, not meaning."""
LARGEST = 1e290
"""Sums over all pairs of entries above this would overflow."""
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Problem:
    """max x'Qx, x in {0,1}^n, e'x = k; Q is float64, C-contiguous, exactly symmetric and >= 0 (see `check`)."""

    Q: np.ndarray
    k: int

    @property
    def n(self) -> int:
        return len(self.Q)

    @cached_property
    def scale(self) -> float:
        """max |Q_ij|, or 1 when all are zero."""
        return float(self.Q.max()) or 1.0

    @cached_property
    def power(self) -> float:
        """The power of two with 1/2 <= scale / power < 1: dividing by it is exact, dividing by `scale` rounds."""
        return math.ldexp(1.0, math.frexp(self.scale)[1])

    def scaled(self) -> np.ndarray:
        """Q / power, a copy with entries in [0, 1]."""
        return np.asarray(self.Q / self.power)


def check(Q: Any, k: Any) -> Problem:
    """The problem of (Q, k), or an InputError that names what is wrong with Q or k.

    An asymmetry and a negative entry within 1e-12 of the largest |Q_ij| are rounding, and are put right in a copy: by
    the mean of Q_ij and Q_ji, which leaves x'Qx as it was, and by 0. A faultless float64 array is used as it is.
    """
    matrix = _square(Q)
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(f"Q[{i}, {j}] is {matrix[i, j]}: every entry of Q must be a finite number")
    least, most = float(matrix.min()), float(matrix.max())
    largest = max(-least, most)
    if largest > LARGEST:
        raise InputError(
            f"the largest entry of Q is {largest:.3g}: divide Q by a number that brings it below 1e290"
        )
    if least < -ROUNDING * largest:
        i, j = np.unravel_index(int(matrix.argmin()), matrix.shape)
        raise InputError(
            f"Q[{i}, {j}] is {least:.6g}: entries of Q must be >= 0; adding one constant to all of them adds the "
            "same to every set of size k"
        )
    matrix = _symmetric(matrix, ROUNDING * largest)
    if least < 0:
        matrix = np.maximum(matrix, 0.0)
    return Problem(np.ascontiguousarray(matrix), _size(k, len(matrix)))


def value(Q: np.ndarray, S: Any) -> float:
    """x'Qx of the set S: the sum of Q_ij over all i and j in S."""
    chosen = np.asarray(S, dtype=np.int64).reshape(-1)
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(Q) or len(np.unique(chosen)) < len(chosen)):
        raise InputError(f"S must hold different features out of 0..{len(Q) - 1}")
    return float(Q[np.ix_(chosen, chosen)].sum())


def trivial(problem: Problem) -> np.ndarray | None:
    """The best set where it can be read off (k = 0, 1 or n, hence n <= 2, and all-zero Q), otherwise None."""
    Q, k, n = problem.Q, problem.k, problem.n
    if k in (0, n) or not Q.any():
        return np.arange(k, dtype=np.int64)
    if k == 1:
        return np.array([Q.diagonal().argmax()], dtype=np.int64)
    return None


def _square(Q: Any) -> np.ndarray:
    try:
        matrix = np.asarray(Q)
        if matrix.dtype.kind not in "biuf":
            matrix = matrix.astype(np.float64, casting="safe" if matrix.dtype.kind == "c" else "unsafe")
        matrix = matrix.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError("Q must be a square array of real numbers") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(
            f"Q must be a square array, one row and one column a feature, not of shape {matrix.shape}"
        )
    return matrix


def _symmetric(Q: np.ndarray, allowed: float) -> np.ndarray:
    """Q, or a copy with the mean of Q_ij and Q_ji where they differ; refused where they differ by more than allowed."""
    differ = False
    for lo in range(0, len(Q), BLOCK):  # by blocks of rows, so that a large Q is not copied to be looked at
        rows = slice(lo, lo + BLOCK)
        apart = np.abs(Q[rows, lo:] - Q[lo:, rows].T)
        if apart.max() > allowed:
            i, j = np.unravel_index(int(apart.argmax()), apart.shape)
            i, j = i + lo, j + lo
            raise InputError(
                f"Q[{i}, {j}] = {Q[i, j]:.9g} but Q[{j}, {i}] = {Q[j, i]:.9g}: Q must be symmetric; (Q + Q.T) / 2 is, "
                "and gives every set the same value"
            )
        differ = differ or bool(apart.any())
    return Q / 2 + Q.T / 2 if differ else Q


def _size(k: Any, n: int) -> int:
    try:
        size = int(k) if isinstance(k, float | np.floating) and float(k).is_integer() else operator.index(k)
    except TypeError as error:
        raise InputError(f"k must be a whole number between 0 and {n}, not {k!r}") from error
    if isinstance(k, bool | np.bool_) or not 0 <= size <= n:
        raise InputError(f"k must be a whole number between 0 and {n}, not {k!r}")
    return size
