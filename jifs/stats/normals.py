"""The classes as normal distributions: priors, means and covariances, of each class, of all rows and of the rest.

    Sigma_* = sum_y p_y (Sigma_y + d_y d_y'),       d_y = mu_y - mu            maximum likelihood (divisors N_y and N)
    rest of y:  one normal with the mean and covariance of all rows outside y

`reg` adds rho I to every Sigma_y, as independent noise of variance rho would. "auto" (or "ledoit_wolf") and "oas"
shrink each class instead, Sigma_y <- (1 - a_y) Sigma_y + a_y (tr Sigma_y / m) I, with a_y estimated from the class's
rows [Ledoit and Wolf 2004; Chen, Wiesel, Eldar, Hero 2010]. Either way Sigma_* is that of the mixture, so the identity
above stays true. Covariances are asked for by columns; the whole matrix is made when it is cheaper than its columns.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from math import inf, log, pi
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from jifs.errors import InputError
from jifs.kernels.gaussian import log_determinant
from jifs.stats.factors import Factor, LazyFactor
from jifs.stats.moments import Moments, Products

if TYPE_CHECKING:
    from jifs.stats.base import Stats

SMALL_BYTES, LARGE_BYTES = 1 << 25, 1 << 29
"""Whole matrices up to the first are made at once if that is quick, up to the second after many columns."""
QUICK = 2e9
"""Multiplications that are done at once."""
MANY_COLUMNS = 1 / 16
"""Beyond this share of the columns the whole matrix would have been cheaper."""
KEPT_BYTES = 1 << 26
ROUNDING = 16 * 2.0**-52
"""A column that varies by no more than this share of its mean is constant but for rounding."""
SPARSE = 0.95
"""A feature with one value in more than this share of the rows is sparse."""
UNLIKE = 1e4
"""Variances that differ by more than this factor are in very different units."""
SHRINKING = ("auto", "ledoit_wolf", "oas")


class Normals:
    """One normal for all rows (first in every array) and one for each class (after it)."""

    dependent = 1e-10
    """A feature of which no more than this share of its variance is new depends on the others."""
    unit_entropy = (log(2 * pi) + 1) / 2
    """Entropy of a normal of variance 1."""

    def __init__(self, stats: Stats, standardise: bool = False, reg: float | str = 0.0) -> None:
        self.stats = stats
        self.moments = stats.reduce(Moments())
        mass = self.moments.mass
        self.priors = mass / mass.sum()
        own = self.moments.squares / mass[:, None]
        own[own <= (ROUNDING * self.moments.mean) ** 2] = 0.0
        centre, shift = self._centred()
        spread = self.priors @ (own + shift * shift)
        self.constant = spread <= (ROUNDING * centre) ** 2
        """The features with one value in all rows, but for rounding."""
        unit = np.where(self.constant, 0.0, 1.0 / np.sqrt(np.where(self.constant, 1.0, spread)))
        self.scale = unit if standardise else np.where(self.constant, 0.0, 1.0)
        self.shift = shift * self.scale
        """[class, m]: means of the classes less the mean of all."""
        self.keep, self.add = self._regularised(reg, own)
        self.own = own * self.scale**2 * self.keep[:, None] + self.add[:, None]
        if isinstance(reg, str):
            self.own[:, self.constant] = (
                0.0  # what is added differs from class to class, and would look like knowledge
            )
            self._caution_about_units(standardise, spread)
        self._caution()
        self._columns: OrderedDict[int, np.ndarray] = OrderedDict()
        self._asked: set[int] = set()

    def _centred(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean of all rows, and class means less that; by way of the first class, so a large mean costs no digits."""
        mean, offset = self.moments.mean, self.moments.offset
        apart = (mean - mean[0]) + (offset - offset[0])
        between = self.priors @ apart
        return mean[0] + between, apart - between

    # --------------------------------------------------------------------------------------- words to the user

    def _caution(self) -> None:
        """Where a normal distribution is a poor model."""
        name_of, free = self.stats.name_of, self.stats.free & ~self.constant
        sparse = np.flatnonzero((self.moments.common > SPARSE * self.moments.mass.sum()) & free)
        if sparse.size:
            more = f" and {sparse.size - 1} others have" if sparse.size > 1 else " has"
            self.stats.warn(
                f"feature '{name_of(int(sparse[0]))}'{more} one value in over {SPARSE:.0%} of the rows: a normal"
                " distribution is a poor model of that; leave it out, or use a large reg without standardise"
            )
        flat = np.argwhere((self.own <= 0.0) & free)
        if flat.size:
            count = np.unique(flat[:, 1]).size
            more = f" and {count - 1} others have one value" if count > 1 else " has one value"
            self.stats.warn(
                f"feature '{name_of(int(flat[0, 1]))}'{more} only within a class, as in"
                f" {self.stats.source.labels[flat[0, 0]]!r}: a normal distribution has no volume there;"
                " use reg above 0, for instance reg=0.1"
            )

    def caution_about_rows(self, features: int) -> None:
        """Say so when a class has too few rows for the covariance of so many features."""
        few = np.flatnonzero((self.moments.rows <= features) & (self.add == 0.0))
        if few.size:
            c, rows = int(few[0]), int(self.moments.rows[few[0]])
            self.stats.warn(
                f"class {self.stats.source.labels[c]!r} has {rows} row{'s' * (rows != 1)}, too few for the"
                " covariance of as many features: a normal distribution has no volume there;"
                " use reg='auto', or fewer features"
            )

    def _caution_about_units(self, standardise: bool, spread: np.ndarray) -> None:
        used = spread[self.stats.free & ~self.constant]
        if not standardise and used.size and used.max() > UNLIKE * used.min():
            self.stats.warn(
                "the features are in very different units, and shrinkage adds the same variance to all of them;"
                " use standardise=True with it"
            )

    # --------------------------------------------------------------------------------------------- covariances

    def factor(self, lazy: bool = False) -> Factor:
        """Conditional variances of all candidates, with nothing taken."""
        return LazyFactor(self) if lazy else Factor(self)

    def log_dets(self, blocks: np.ndarray) -> np.ndarray:
        """log |Sigma| of each matrix, minus infinity where it has no volume."""
        factor = np.zeros(blocks.shape[1:])
        one_by_one = (log_determinant(np.ascontiguousarray(one), self.dependent, factor) for one in blocks)
        return np.array(list(one_by_one))

    @staticmethod
    def inverses(blocks: np.ndarray) -> np.ndarray:
        """The inverse of each matrix, by way of unit variances and the Cholesky factor, so that units do not matter."""
        unit = 1.0 / np.sqrt(np.diagonal(blocks, axis1=1, axis2=2))
        scaled = blocks * unit[:, :, None] * unit[:, None, :]
        half = np.linalg.inv(np.linalg.cholesky(scaled))
        inverse: np.ndarray = np.swapaxes(half, 1, 2) @ half
        inverse *= unit[:, :, None] * unit[:, None, :]
        return inverse

    def basis(self, features: Sequence[int], every_class: bool) -> list[int]:
        """Those of the features, in this order, that add volume to the ones before; in every class and rest, if so."""
        factor, kept = Factor(self), []
        for k in features:
            alive = factor.alive[:, k] if every_class else factor.alive[:1, k]
            if alive.all():
                factor.take(k)
                kept.append(k)
        return kept

    @cached_property
    def variance(self) -> np.ndarray:
        """[1 + classes, m]: variances of all rows and of each class."""
        return np.vstack([self._mixed(self.own, self.shift * self.shift), self.own])

    def column(self, k: int) -> np.ndarray:
        """[1 + classes, m]: covariances of every feature with feature k."""
        own = self.of_classes(k)
        return np.vstack([self._mixed(own, self.shift * self.shift[:, k][:, None]), own])

    def of_classes(self, k: int) -> np.ndarray:
        """[classes, m]: covariances of every feature with feature k, in each class."""
        own: np.ndarray = self._raw(k) * (self.scale[k] * self.scale) * self.keep[:, None]
        own[:, k] = self.own[:, k]
        return own

    def block(self, features: Sequence[int]) -> np.ndarray:
        """[1 + classes, s, s]: covariances among some features."""
        some = list(features)
        if not some:
            return np.zeros((self.priors.size + 1, 0, 0), np.float64)
        block: np.ndarray = np.stack([self.column(k)[:, some] for k in some], axis=2)
        return block

    def _mixed(self, own: np.ndarray, between: np.ndarray) -> np.ndarray:
        """sum_y p_y (own_y + between_y), without the rounding of equal classes that add nothing to each other."""
        first = own[0]
        mixed: np.ndarray = first + np.einsum("c,cj->j", self.priors, (own - first) + between)
        return mixed

    def _raw(self, k: int) -> np.ndarray:
        if self._whole is None:
            self._asked.add(k)
            if self._now_whole():
                self._make_whole()
        if self._whole is not None:
            column: np.ndarray = self._whole[:, k, :]
            return column
        if k not in self._columns:
            self._columns[k] = self._reduced(k) / self.moments.mass[:, None]
            while len(self._columns) * self._columns[k].nbytes > KEPT_BYTES and len(self._columns) > 1:
                self._columns.popitem(last=False)
        return self._columns[k]

    _whole: np.ndarray | None = None

    def _now_whole(self) -> bool:
        m, bytes_ = self.stats.m, 8 * self.priors.size * self.stats.m**2
        quick = bytes_ <= SMALL_BYTES and float(self.moments.rows.sum()) * m * m <= QUICK
        return quick or (bytes_ <= LARGE_BYTES and len(self._asked) > MANY_COLUMNS * m)

    def _make_whole(self) -> None:
        self._whole = self._reduced(None) / self.moments.mass[:, None, None]
        self._columns.clear()

    def _reduced(self, k: int | None) -> np.ndarray:
        with self.stats.timed("counting"):
            cells = self.stats.reduce(Products(k)).cells
        self.stats.facts["passes"] += 1
        assert cells is not None
        return cells

    # -------------------------------------------------------------------------------------------------- the rest

    @cached_property
    def others(self) -> np.ndarray:
        """[class y, class z]: share of class z among the rows outside y."""
        share = np.tile(self.priors, (self.priors.size, 1))
        np.fill_diagonal(share, 0.0)
        total = share.sum(axis=1, keepdims=True)
        np.divide(share, total, out=share, where=total > 0)
        return share

    @cached_property
    def rest_shift(self) -> np.ndarray:
        """[class, m]: mean of the rows outside the class, less the mean of all."""
        mean: np.ndarray = np.einsum("yz,zj->yj", self.others, self.shift)
        return mean

    def rest_column(self, own: np.ndarray, k: int) -> np.ndarray:
        """[class, m]: covariances with feature k among the rows outside each class, from those of the classes."""
        out: np.ndarray = np.einsum("yz,zj->yj", self.others, own)
        for y in range(self.priors.size):  # about the rest's own mean: nothing large is subtracted
            apart = self.shift - self.rest_shift[y]
            out[y] += np.einsum("z,zj->j", self.others[y] * apart[:, k], apart)
        return out

    @cached_property
    def rest_variance(self) -> np.ndarray:
        """[class, m]: variances among the rows outside each class."""
        out: np.ndarray = np.einsum("yz,zj->yj", self.others, self.own)
        for y in range(self.priors.size):
            out[y] += np.einsum("z,zj->j", self.others[y], (self.shift - self.rest_shift[y]) ** 2)
        return out

    # ------------------------------------------------------------------------------------------ regularisation

    def _regularised(self, reg: Any, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Share of each class covariance that is kept, and the variance added to it."""
        classes = self.priors.size
        added = _variance(reg)
        if added is not None:
            return np.ones(classes), np.full(classes, added)
        if not isinstance(reg, str) or reg not in SHRINKING:
            known = " or ".join(map(repr, SHRINKING))
            raise InputError(f"parameter reg must be a number from 0 on, or {known}, not {reg!r}")
        scale, m = (
            self.scale * self.stats.free,
            max(int(self.stats.free.sum()), 1),
        )  # the excluded have no say
        trace = (own * scale**2).sum(axis=1)
        squared, fourth = self.stats.numbers_in_memory("shrinkage").fourth_moments(scale)
        rows = self.priors * self.stats.mass  # a row of weight 2 is two rows
        share = _oas(rows, squared, m) if reg == "oas" else _ledoit_wolf(rows, squared, fourth, m)
        tiny = (self.moments.rows <= 2) | (trace == 0.0)  # such a class says nothing of its own spread
        within = float(self.priors @ trace)
        return np.where(tiny, 0.0, 1.0 - share), np.where(tiny, within, share * trace) / m


def _variance(reg: Any) -> float | None:
    """reg as a number from 0 on, None if it is something else."""
    if isinstance(reg, bool | np.bool_) or not isinstance(reg, Real):
        return None
    try:
        return float(reg) if 0 <= float(reg) < inf else None
    except OverflowError:
        return None


def _ledoit_wolf(rows: np.ndarray, squared: np.ndarray, fourth: np.ndarray, m: int) -> np.ndarray:
    """Distance of the sample's covariance from what one row says, as a share of its distance from a sphere."""
    return _share((fourth - squared) / rows, squared - 1.0 / m)


def _oas(rows: np.ndarray, squared: np.ndarray, m: int) -> np.ndarray:
    """The oracle's approximation for normal data, without its terms in 2/m, as scikit-learn has it."""
    return _share(squared + 1.0, (rows + 1.0) * (squared - 1.0 / m))


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, from 0 to 1; 1 where there is nothing to share, as for one feature or one row."""
    share = np.ones_like(whole)
    part = np.where(part > 1e-12 * np.abs(whole), part, 0.0)  # less is rounding
    np.divide(part, whole, out=share, where=whole > part)
    return share
