"""Conditional variances of every candidate given what is taken, for all rows and for each class.

    l_jt = (Sigma_jk - l_j . l_k) / sqrt(v_k),    v_j <- v_j - l_jt^2,    log|Sigma_{S+j}| = log|Sigma_S| + log v_j

One row of a Cholesky factor is added when a feature is taken: O(|S|) a candidate. `LazyFactor` leaves that undone
until a candidate is looked at, and bounds its variance in O(1) meanwhile: with c the covariances of j with S and lambda
the eigenvalues of Sigma_S,  v - |c|^2/lambda_min <= v_j <= v - |c|^2/lambda_max  [Lefakis, slides].
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from jifs.kernels.gaussian import CHUNK, catch_up, reduce_columns
from jifs.kernels.secular import eigen_add

if TYPE_CHECKING:
    from jifs.stats.normals import Normals

ALL = slice(None)
SAFE = 1e-11
"""Share of the largest eigenvalue by which a computed one may be wrong, with plenty to spare."""


class Factor:
    """Rows of the factor for every candidate, brought up to date at each step."""

    def __init__(self, model: Normals) -> None:
        self.model = model
        self.left = model.variance.copy()
        self.alive = self.left > 0.0
        """Where a candidate has variance of its own."""
        self.log_dets = np.zeros(len(self.left))
        self.rows = np.zeros((len(self.left), 8, self.left.shape[1]))
        self.taken: list[int] = []

    def take(self, k: int) -> None:
        """Add feature k."""
        column = self.model.column(k)
        with self.model.stats.timed("estimating"):
            self.rows = _with_room(self.rows, len(self.taken))
            self._extend(k, column, self._pivot(k))
            self.alive[:, k] = False
        self.taken.append(k)

    def candidates(self) -> np.ndarray:
        """[1 + classes, m]: log |Sigma| of S + j; minus infinity where j adds no volume."""
        return self.known()

    def known(self, some: np.ndarray | slice = ALL) -> np.ndarray:
        """The same of some candidates, right for those that have been brought up to date."""
        return self._grown(self.left[:, some], some)

    def _grown(self, left: np.ndarray, some: np.ndarray | slice = ALL) -> np.ndarray:
        alive = self.alive[:, some] & (left > self.model.dependent * self.model.variance[:, some])
        return np.where(alive, np.log(np.where(alive, left, 1.0)) + self.log_dets[:, None], -inf)

    def _pivot(self, k: int) -> np.ndarray:
        """What is new in feature k, and the volume it adds: 0 in a class where it adds none.

        A feature that adds nothing at all depends on the others, or is constant. It is taken because the user wants it
        or none other is left, and leaves the volume as it was.
        """
        if not self.alive[0, k]:
            return np.zeros(len(self.left))
        pivot = np.where(self.alive[:, k], self.left[:, k], 0.0)
        with np.errstate(divide="ignore"):
            self.log_dets += np.log(pivot)
        return pivot

    def _extend(self, k: int, column: np.ndarray, pivot: np.ndarray) -> None:
        used, new = len(self.taken), self.rows[:, len(self.taken)]
        own, rest = np.ascontiguousarray(self.rows[:, :used, k]), np.empty_like(column)
        reduce_columns(len(own) * -(-column.shape[1] // CHUNK), column, own, self.rows, used, rest)
        new[:] = rest / np.sqrt(np.where(pivot > 0.0, pivot, inf))[:, None]
        self.left -= new * new
        self.alive &= self.left > self.model.dependent * self.model.variance


class LazyFactor(Factor):
    """The same, for the candidates that are asked for; bounds for the others."""

    def __init__(self, model: Normals) -> None:
        super().__init__(model)
        count, m = self.left.shape
        self.columns = np.zeros((count, 8, m))
        self.own, self.pivots = np.zeros((count, 8, 8)), np.zeros((count, 8))
        self.lengths = np.zeros((count, m))
        self.done = np.zeros(m, np.int64)
        self.values, self.vectors = np.zeros((count, 8)), np.zeros((count, 8, 8))
        pooled = model.variance[0]
        self.unit = 1.0 / np.sqrt(np.where(pooled > 0.0, pooled, inf))
        """Lengths and eigenvalues are those of features of unit variance, in which nothing overflows."""

    def bring_up(self, some: np.ndarray) -> None:
        """Bring these candidates up to date."""
        waiting = some[self.done[some] < len(self.taken)]
        if waiting.size == 0:
            return
        used = len(self.taken)
        grain = max(1, 20_000 // (len(self.left) * (used * used // 2 + 1)))
        catch_up(
            waiting.size, waiting, self.done, used, self.columns, self.own, self.pivots, self.rows, self.left,
            grain=grain,
        )  # fmt: skip
        self.done[waiting] = used
        self.alive[:, waiting] &= (
            self.left[:, waiting] > self.model.dependent * self.model.variance[:, waiting]
        )

    def candidates(self) -> np.ndarray:
        """As of a Factor, of all candidates."""
        self.bring_up(np.arange(self.done.size))
        return super().candidates()

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Upper and lower bounds of `candidates`, in O(1) for each."""
        used, variance = len(self.taken), self.model.variance * self.unit**2
        if used == 0:
            exact = super().candidates()
            return exact, exact
        largest = self.values[:, used - 1] * (1 + SAFE)
        smallest = self.values[:, 0] - SAFE * largest
        above = variance - self.lengths / np.where(largest > 0, largest, inf)[:, None]
        sure = (smallest > 0)[:, None]
        below = np.where(sure, variance - self.lengths / np.where(sure, smallest[:, None], 1.0), -inf)
        back = np.where(self.unit > 0.0, self.unit, 1.0) ** -2.0
        above = np.minimum((above + SAFE * variance) * back, self.left)
        below = np.where((self.done == used)[None, :], self.left, (below - SAFE * variance) * back)
        return self._grown(above), self._grown(np.minimum(below, above))

    def take(self, k: int) -> None:
        """Add feature k: its column is kept for those who come to need it."""
        self.bring_up(np.array([k]))
        column, used = self.model.column(k), len(self.taken)
        with self.model.stats.timed("estimating"):
            self._make_room(used)
            pivot = self._pivot(k)
            self.own[:, used, :used] = self.rows[:, :used, k]
            self.pivots[:, used] = pivot
            self.columns[:, used] = column
            share = column * (self.unit[k] * self.unit)
            self.lengths += share * share
            for p, values in enumerate(self.values):
                among = np.ascontiguousarray(share[p, self.taken])
                eigen_add(among, float(share[p, k]), values, self.vectors[p], used)
            self.alive[:, k] = False
        self.taken.append(k)

    def _make_room(self, used: int) -> None:
        self.rows, self.columns = _with_room(self.rows, used), _with_room(self.columns, used)
        if used == self.pivots.shape[1]:
            grown = ((0, 0), (0, used))
            self.pivots, self.values = np.pad(self.pivots, grown), np.pad(self.values, grown)
            self.own = np.pad(self.own, (*grown, (0, used)))
            self.vectors = np.pad(self.vectors, (*grown, (0, used)))


def _with_room(rows: np.ndarray, used: int) -> np.ndarray:
    return np.concatenate([rows, np.zeros_like(rows)], axis=1) if used == rows.shape[1] else rows
