"""The Hilbert-Schmidt independence criterion [Gretton, Bousquet, Smola & Schoelkopf 2005]:

    HSIC = tr(K H L H) / (n - 1)^2,  H = I - 1 1^T / n,  K_ij = exp(-|x_i - x_j|^2 / (2 sigma^2))

with sigma the median distance of the columns in use. L_ij is 1[y_i = y_j] for classes, and Gaussian with the median
distance for a real y. All pairs i < j are looked at, but none of the matrices is made: tr(K H L H) = sum_ij K_ij C_ij
with C the centred L. Distances are kept while they fit into `memory` bytes, so that a feature that joins or leaves is
one addition; beyond that they are made block by block, in the memory of a block, and every set starts from its columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.jit import spread
from jifs.kernels import hsic as kernels
from jifs.kernels.distances import GROUP
from jifs.measures.rows import checked, checked_weights, in_units, one_of
from jifs.measures.widths import Pairs, pairs_of, row_blocks

GRAIN = 1 << 15
"""Pairs that are worth a thread's while."""
NONE = np.empty(0)


@dataclass(frozen=True)
class Settings:
    """How HSIC is computed: the bytes that pairs of rows may take, and whether columns are standardised."""

    memory: float = 1e9
    standardise: bool = True

    def __post_init__(self) -> None:
        given: Any = self.memory
        if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) < math.inf:
            raise InputError(f"parameter memory must be a number of bytes, such as 1e9, not {given!r}")
        one_of("standardise", self.standardise, (True, False))


def hsic(X: Any, y: Any, *, task: str | None = None, memory: float = 1e9, standardise: bool = True) -> float:
    """The Hilbert-Schmidt independence criterion of the rows of X and y, in one number; 0 for a single row.

    Whole numbers and text in y are classes, other numbers are real; task="class" or "real" overrules. The pairs of rows
    take at most `memory` bytes at a time. standardise=False takes the columns in their own units.
    """
    rows, target, kind = checked(X, y, task)
    return Sample(rows, target, kind, Settings(memory, standardise)).value(range(rows.shape[1]))


class Sample:
    """Rows and target made ready: columns in their units, and the centred kernel of the target."""

    def __init__(self, X: np.ndarray, y: np.ndarray, kind: str, settings: Settings) -> None:
        self.settings = settings
        self.n, self.m = X.shape
        self.x = np.ascontiguousarray(in_units(X, settings.standardise).T)
        self.real = kind != "class"
        self.most = int(settings.memory / (16 if self.real else 8))
        self.bounds = row_blocks(self.n, self.most)
        self.means = np.empty(self.n)
        self._flat: np.ndarray | None = None
        if self.real:
            self.y = in_units(np.asarray(y, np.float64)[:, None], settings.standardise)[:, 0].copy()
            width = Pairs(self.y[None], self.most).median()
            self.scale = 1 / (2 * width * width)
            self.codes = np.zeros(self.n, np.int64)
            kernels.mean_rows(self.n, self.y, self.scale, self.means, grain=max(1, GRAIN // self.n))
        else:
            self.codes, sizes = np.unique(y, return_inverse=True, return_counts=True)[1:]
            self.means[:] = sizes[self.codes] / self.n
        self.mean = float(self.means.mean())
        self.diagonal = float((1 - 2 * self.means + self.mean).sum())

    @property
    def kept(self) -> bool:
        """Whether all pairs fit into the memory at once."""
        return len(self.bounds) == 1

    # -------------------------------------------------------------------------------------------------------- sets

    def value(self, chosen: Sequence[int]) -> float:
        """HSIC of some columns."""
        pairs = Pairs(self.x[list(chosen)], self.most)
        return self._dependence(pairs, np.zeros(self.n), 0.0)

    def changed(self, chosen: Sequence[int], columns: Sequence[int], sign: float) -> np.ndarray:
        """HSIC of the columns with each of these added (sign = 1) or left out (-1)."""
        chosen, columns = list(chosen), list(columns)
        if not self.kept:
            sets = [[*chosen, j] if sign > 0 else [c for c in chosen if c != j] for j in columns]
            return np.array([self.value(some) for some in sets])
        pairs, values = Pairs(self.x[chosen], self.most), np.empty(len(columns))
        for _ in pairs.blocks():
            self._target(0, self.n)  # both are made now, before threads ask for them

        def task(lo: int, hi: int) -> None:
            for at in range(lo, hi):
                values[at] = self._dependence(pairs, self.x[columns[at]], sign)

        spread(len(columns), task)
        return values

    def _dependence(self, pairs: Pairs, column: np.ndarray, sign: float) -> float:
        if self.n < 2:
            return 0.0
        width = pairs.median(column, sign)
        own, rows = (column, sign, pairs.least(sign), 1 / (2 * width * width)), np.zeros(self.n)
        for first, last, d in pairs.blocks():
            target = (self._target(first, last), self.codes, self.means, self.mean)
            grain = max(1, GRAIN // self.n)
            kernels.dependence_rows(last - first, first, d, *own, *target, rows, grain=grain)
        return (2 * float(rows.sum()) + self.diagonal) / float(self.n - 1) ** 2

    def _target(self, first: int, last: int) -> np.ndarray:
        """Flat centred kernel of a real target; nothing for classes, where it is made on the way."""
        if not self.real:
            return NONE
        if self._flat is not None:
            return self._flat
        out = np.empty(pairs_of(self.n, first, last))
        kernels.centred_pairs(
            last - first, self.y, self.scale, self.means, self.mean, first, out, grain=GROUP
        )
        if self.kept:
            self._flat = out
        return out

    # ----------------------------------------------------------------------------------------------------- weights

    def width(self, w: np.ndarray) -> float:
        """The median distance of the rows with their columns multiplied by weights."""
        active = np.flatnonzero(w)
        return Pairs(self.x[active] * w[active, None], self.most).median()

    def slope(self, w: np.ndarray, sigma: float) -> tuple[float, np.ndarray]:
        """HSIC of the weighted rows at this width, and its gradient, which is exactly 0 at w_f = 0:

        d HSIC / d w_f = -(w_f / sigma^2) sum_ij K_ij C_ij (x_if - x_jf)^2 / (n - 1)^2
        """
        gradient = np.zeros(self.m)
        if self.n < 2:
            return 0.0, gradient
        active, scale = np.flatnonzero(w), 1 / (2 * sigma * sigma)
        x = self.x[active]
        z = x * w[active, None]
        values, slopes = [], []
        for first, last in self.bounds:
            groups = -(-(last - first) // GROUP)
            value, slope = np.empty(groups), np.empty((groups, len(active)))
            target = (self._target(first, last), self.codes, self.means, self.mean)
            grain = max(1, GRAIN // (GROUP * self.n))
            kernels.slope_groups(groups, first, last, z, x, scale, *target, value, slope, grain=grain)
            values.append(value)
            slopes.append(slope)
        pairs = (self.n - 1) ** 2
        gradient[active] = -(w[active] / (sigma * sigma)) * 2 * np.concatenate(slopes).sum(axis=0) / pairs
        return (2 * float(np.concatenate(values).sum()) + self.diagonal) / pairs, gradient


class Descent:
    """w -> (HSIC, gradient), for a search over weights: one smooth function, with its exact gradient, until `renew`.

    `sigma` tells the width in use.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.sigma: float | None = None

    def renew(self, w: Any) -> None:
        """Take the width of the rows with these weights, and keep it."""
        self.sigma = self.sample.width(checked_weights(w, self.sample.m))

    def __call__(self, w: Any) -> tuple[float, np.ndarray]:
        weights = checked_weights(w, self.sample.m)
        if self.sigma is None:
            self.renew(weights)
        assert self.sigma is not None
        return self.sample.slope(weights, self.sigma)
