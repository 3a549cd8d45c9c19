"""Least-squares mutual information [Suzuki, Sugiyama, Sese & Kanamori 2009]: squared-loss information, fitted directly.

    phi_c(x, y) = exp(-|x - x_c|^2 / (2 sigma^2)) q_c(y)              b centres x_c, rows drawn by chance
    H = mean over i, j of phi(x_i, y_j) phi(x_i, y_j)^T,  h = mean over i of phi(x_i, y_i)
    Is = 1/2 h^T (H + lambda I)^-1 h - 1/2

q_c(y) is 1[y = y_c] for classes and a Gaussian of the same sigma for a real y. The pairs i, j are never formed: H is
the elementwise product of two matrices of b x b. (sigma, lambda) has the least loss on held-out folds; sigma is looked
for in multiples of the median distance of the rows. Is may be slightly below 0. For a class that is a function of x
the true value is (C - 1) / 2. Centres, folds and the rows whose distances give the median are the beginnings of three
permutations by the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from jifs.jit import spread
from jifs.kernels import lsmi as kernels
from jifs.kernels.distances import squared_all
from jifs.kernels.ridge import ridge_path
from jifs.measures.rows import checked, checked_weights, in_units, one_of, positive, whole
from jifs.measures.widths import Pairs

SIGMAS = (0.1, 0.2, 0.5, 1.0, 2.0)
LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)
TIE = 1e-12
"""Losses as near as this are level, and the first of the grid is taken."""
GRAIN = 512
"""Rows that are worth a thread's while."""
MOST_PARTS = 16


class Fit(NamedTuple):
    """Is, and the sigma and lambda chosen for it."""

    value: float
    sigma: float
    lam: float


@dataclass(frozen=True)
class Settings:
    """How LSMI is fitted: number of centres and folds, the grid, and where the unit of sigma comes from.

    sigma_scale="weighted": the median distance of the columns in use, with their weights; "data": of all columns.
    `median_rows` rows, drawn by chance if there are more, give that median.
    """

    centres: int = 100
    folds: int = 5
    sigmas: tuple[float, ...] = SIGMAS
    lambdas: tuple[float, ...] = LAMBDAS
    median_rows: int = 1000
    sigma_scale: str = "weighted"
    standardise: bool = True

    def __post_init__(self) -> None:
        for name, least in (("centres", 1), ("folds", 2), ("median_rows", 2)):
            object.__setattr__(self, name, whole(name, getattr(self, name), least))
        for name in ("sigmas", "lambdas"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        one_of("sigma_scale", self.sigma_scale, ("weighted", "data"))
        one_of("standardise", self.standardise, (True, False))


def lsmi(
    X: Any,
    y: Any,
    *,
    task: str | None = None,
    seed: int = 0,
    centres: int = 100,
    folds: int = 5,
    sigmas: Sequence[float] = SIGMAS,
    lambdas: Sequence[float] = LAMBDAS,
    median_rows: int = 1000,
    standardise: bool = True,
) -> float:
    """Least-squares mutual information between the rows of X and y, in one number.

    Whole numbers and text in y are classes, other numbers are real; task="class" or "real" overrules. sigmas are in
    units of the median distance between rows, which is taken of `median_rows` of them. standardise=False takes X (and a
    real y) in their own units.
    """
    how = {"centres": centres, "folds": folds, "sigmas": sigmas, "lambdas": lambdas}
    return fit(X, y, task=task, seed=seed, **how, median_rows=median_rows, standardise=standardise).value


def fit(X: Any, y: Any, *, task: str | None = None, seed: int = 0, **settings: Any) -> Fit:
    """The same with the sigma (in units of standardised rows) and the lambda chosen; `settings` as in `Settings`."""
    rows, target, kind = checked(X, y, task)
    return Sample(rows, target, kind, Settings(**settings), whole("seed", seed, 0)).fit(range(rows.shape[1]))


class Sample:
    """Rows and target made ready: rows in the order of the folds, centres in the order of their classes."""

    def __init__(self, X: np.ndarray, y: np.ndarray, kind: str, settings: Settings, seed: int) -> None:
        self.settings = settings
        n, self.m = X.shape
        X = in_units(X, settings.standardise)
        rng = np.random.default_rng(seed)
        centres, order, wide = (rng.permutation(n) for _ in range(3))
        centres = centres[: settings.centres]
        parts = np.array_split(order, min(settings.folds, n))
        self.folds = np.cumsum([0, *(len(part) for part in parts)])
        self.points = np.ascontiguousarray(X[wide[: settings.median_rows]].T)
        self.x = np.ascontiguousarray(X[order])
        if kind == "class":
            centres = centres[np.argsort(y[centres], kind="stable")]
            known, sizes = np.unique(y[centres], return_counts=True)
            self.blocks = np.cumsum([0, *sizes])
            place = np.minimum(np.searchsorted(known, y[order]), len(known) - 1)
            self.block_of = np.where(known[place] == y[order], place, -1)
            self.y, self.target_centres = np.empty((0, 1)), np.empty((1, len(centres)))
        else:
            own = in_units(np.asarray(y, np.float64)[:, None], settings.standardise)
            self.blocks = np.array([0, len(centres)])
            self.block_of = np.zeros(n, np.int64)
            self.y, self.target_centres = own[order], np.ascontiguousarray(own[centres].T)
        self.target_distances = np.square(self.y - self.target_centres)
        self.real = kind != "class"
        self.centres = np.ascontiguousarray(X[centres].T)
        parts = [self.block_of[a:b] + 1 for a, b in pairwise(self.folds.tolist())]
        inside = [np.bincount(part, minlength=len(self.blocks))[1:] for part in parts]
        self.counts = np.array(inside, np.float64)
        self._data_width: float | None = None
        self._target: tuple[float, np.ndarray, np.ndarray] | None = None

    # -------------------------------------------------------------------------------------------------------- sets

    def fit(self, chosen: Sequence[int]) -> Fit:
        """Is of some columns."""
        chosen = list(chosen)
        d, pairs = self._distances(chosen)
        return self.choose(d, self._width(pairs))

    def changed(self, chosen: Sequence[int], columns: Sequence[int], sign: float) -> list[Fit]:
        """Is of the columns with each of these added (sign = 1) or left out (-1), one step from the others."""
        d, pairs = self._distances(list(chosen))
        columns = list(columns)
        fits: list[Fit | None] = [None] * len(columns)

        def task(lo: int, hi: int) -> None:
            for at in range(lo, hi):
                j = columns[at]
                moved = d + sign * np.square(self.x[:, j][:, None] - self.centres[j])
                width = self._width(pairs, self.points[j], sign)
                fits[at] = self.choose(np.maximum(moved, 0.0, out=moved), width)

        spread(len(columns), task)
        return [found for found in fits if found is not None]

    def _distances(self, chosen: list[int]) -> tuple[np.ndarray, Pairs | None]:
        """Squared distances of rows to centres, and the pairs that give the width."""
        d = np.empty((len(self.x), self.centres.shape[1]))
        squared_all(len(d), np.ascontiguousarray(self.x[:, chosen]), self.centres[chosen], d, grain=GRAIN)
        return d, self._pairs(self.points[chosen]) if self.settings.sigma_scale == "weighted" else None

    @staticmethod
    def _pairs(points: np.ndarray) -> Pairs:
        pairs = Pairs(points, points.shape[1] ** 2)
        for _ in pairs.blocks():
            pass  # made now, before threads ask for them
        return pairs

    def _width(self, pairs: Pairs | None, column: np.ndarray | None = None, sign: float = 0.0) -> float:
        if pairs is not None:
            return pairs.median(column, sign)
        if self._data_width is None:
            self._data_width = self._pairs(self.points).median()
        return self._data_width

    def choose(self, d: np.ndarray, width: float) -> Fit:
        """The sigma and lambda of the least held-out loss, the first in the grid among equals, and Is of all rows."""
        sigmas, lambdas = width * np.array(self.settings.sigmas), np.array(self.settings.lambdas)
        losses, values = np.zeros((len(sigmas), len(lambdas))), np.zeros((len(sigmas), len(lambdas)))
        data = (d, self.target_distances, self.block_of, self.blocks, self.folds, self.counts)
        kernels.grid_all(len(sigmas), *data, sigmas, lambdas, losses, values)
        best = float(losses.min())
        s, t = divmod(int(np.argmax(losses.ravel() <= best + TIE * max(1.0, abs(best)))), len(lambdas))
        return Fit(float(values[s, t]), float(sigmas[s]), float(lambdas[t]))

    # ----------------------------------------------------------------------------------------------------- weights

    def weighted(self, w: np.ndarray) -> Fit:
        """Is of the rows with their columns multiplied by weights."""
        active = np.flatnonzero(w)
        d = np.empty((len(self.x), self.centres.shape[1]))
        z = np.ascontiguousarray(self.x[:, active] * w[active])
        squared_all(len(d), z, self.centres[active] * w[active, None], d, grain=GRAIN)
        pairs = None
        if self.settings.sigma_scale == "weighted":
            pairs = self._pairs(self.points[active] * w[active, None])
        return self.choose(d, self._width(pairs))

    def slope(self, w: np.ndarray, sigma: float, lam: float) -> tuple[float, np.ndarray]:
        """Is of the weighted rows at this sigma and lambda, and its gradient:  dIs = dh^T alpha - 1/2 alpha^T dH alpha.

        d phi_c(x_i) / d w_f = -(w_f / sigma^2) (x_if - x_cf)^2 phi_c(x_i), which is exactly 0 at w_f = 0.
        """
        active, scale = np.flatnonzero(w), 1 / (2 * sigma * sigma)
        n, b = len(self.x), self.centres.shape[1]
        x, centres = np.ascontiguousarray(self.x[:, active]), self.centres[active]
        K = np.empty((n, b))
        kernels.basis_all(n, x * w[active], centres * w[active, None], scale, K, grain=GRAIN)
        Q, gram_y = self._target_at(scale)
        gram, mean = self._moments(K, Q)
        H, alphas, counts = np.zeros((b, b)), np.zeros((1, b)), self.counts.sum(axis=0)
        kernels.assemble(gram, gram_y, counts, n, self.blocks, H)
        for first, last in pairwise(self.blocks.tolist()):
            ridge_path(H, mean, first, last, np.array([lam]), alphas)
        strips = np.empty((-(-n // kernels.STRIP), len(active)))
        own = (self.block_of, self.blocks, counts, alphas[0], gram_y)
        kernels.slope_all(len(strips), x, centres, K, Q, *own, strips, grain=GRAIN // kernels.STRIP)
        gradient = np.zeros(self.m)
        gradient[active] = -(w[active] / (sigma * sigma)) * strips.sum(axis=0)
        return float((mean * alphas[0]).sum() / 2 - 0.5), gradient

    def _moments(self, K: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The upper half of K^T K and the means of K * Q, over parts of the rows that depend on their number alone."""
        n, b = K.shape
        parts = min(max(n // 256, 1), MOST_PARTS)
        cuts = np.arange(parts + 1) * n // parts
        grams, sums = np.zeros((parts, b, b)), np.zeros((parts, b))
        kernels.gram_all(parts, cuts, K, Q, self.block_of, self.blocks, grams, sums)
        return grams.sum(axis=0), sums.sum(axis=0) / n

    def _target_at(self, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Q and Q^T Q of a real y, those of the last scale remembered; nothing for classes."""
        if self._target is None or self._target[0] != scale:
            Q = np.empty((len(self.y), self.target_centres.shape[1]))
            kernels.basis_all(len(Q), self.y, self.target_centres, scale, Q, grain=GRAIN)
            upper = np.triu(self._moments(Q, Q)[0]) if self.real else np.empty((0, Q.shape[1]))
            self._target = scale, Q, upper + np.triu(upper, 1).T if self.real else upper
        return self._target[1], self._target[2]


class Descent:
    """w -> (Is, gradient), for a search over weights: one smooth function, with its exact gradient, until `renew`.

    `fitted` tells the sigma and lambda in use.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.fitted: Fit | None = None

    def renew(self, w: Any) -> None:
        """Choose sigma and lambda for these weights, and keep them."""
        self.fitted = self.sample.weighted(checked_weights(w, self.sample.m))

    def __call__(self, w: Any) -> tuple[float, np.ndarray]:
        weights = checked_weights(w, self.sample.m)
        if self.fitted is None:
            self.renew(weights)
        assert self.fitted is not None
        return self.sample.slope(weights, self.fitted.sigma, self.fitted.lam)
