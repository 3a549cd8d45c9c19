"""Least-squares mutual information [Suzuki, Sugiyama, Sese & Kanamori 2009], for sets and weights of features:

    Is(S) = 1/2 h^T (H + lambda I)^-1 h - 1/2,   phi_c(x, y) = exp(-|x_S - x_cS|^2 / (2 sigma^2)) q_c(y)
    H = mean over i, j of phi(x_i, y_j) phi(x_i, y_j)^T,   h = mean over i of phi(x_i, y_i)

an estimate of squared-loss information, 1/2 E[(p(x,y) / (p(x) p(y)) - 1)^2] under p(x) p(y). It is of all features in
S together, so it sees those that tell something only in company. q_c(y) is 1[y = y_c] for classes, a Gaussian of the
same sigma for a real y. sigma (in multiples of the median distance) and lambda have the least loss on held-out folds.
By strategy it is F-LSMI ("forward"), B-LSMI ("backward") or l1-LSMI [Jitkrittum, Hachiya & Sugiyama 2013] ("l1").

sigma_scale="weighted" takes the median distance of the features in use, with their weights; then the value for classes
does not change when all weights are multiplied by a number, and a k far from the natural size may be out of reach of
"l1". sigma_scale="data" takes that of all features. Centres, folds and the rows for the median depend on the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jifs import InputError, Stats, criterion
from jifs.measures.lsmi import Descent, Fit, Sample, Settings


@criterion(
    "lsmi",
    tasks=("class", "real"),
    reads="values",
    cite="[Suzuki, Sugiyama, Sese & Kanamori 2009]",
    summary="Least-squares mutual information of a set and the target: 1/2 h^T (H + lambda I)^-1 h - 1/2",
)
@dataclass(frozen=True)
class LSMI(Settings):
    """Squared-loss information of all features of a set together, with its widths chosen by cross-validation."""

    tolerance = 1e-10

    def sample(self, stats: Stats) -> Sample:
        """The rows, made ready."""
        rows = stats.plain("lsmi")
        if rows.weights is not None:
            raise InputError("criterion 'lsmi' takes no sample_weight; leave it out, or repeat the rows")
        make = (rows.X, rows.y, rows.kind, self, stats.seed)
        return stats.remember(("lsmi", self), lambda: Sample(*make))

    def value(self, stats: Stats, chosen: Sequence[int]) -> float:
        """Is of a set; 0 for the empty one."""
        return self.sample(stats).fit(chosen).value if len(chosen) else 0.0

    def without(self, stats: Stats, chosen: Sequence[int]) -> np.ndarray:
        """Is of the set without each of its members."""
        if len(chosen) < 2:
            return np.zeros(len(chosen))
        return np.array([fit.value for fit in self.sample(stats).changed(chosen, chosen, -1.0)])

    def open(self, stats: Stats) -> Run:
        """A run with nothing selected."""
        return Run(self.sample(stats), stats.m)

    def smooth(self, stats: Stats) -> Descent:
        """Is of weighted features, and its gradient."""
        return Descent(self.sample(stats))


@dataclass
class Run:
    """The chosen features, and the last fits with each candidate."""

    sample: Sample
    m: int
    taken: list[int] = field(default_factory=list)
    fits: dict[int, Fit] = field(default_factory=dict)

    def gains(self) -> np.ndarray:
        """Is of S + j for every feature j."""
        return self.best(np.ones(self.m, np.bool_))

    def best(self, free: np.ndarray) -> np.ndarray:
        """The same for the free features only."""
        columns = [j for j in np.flatnonzero(free).tolist() if j not in self.taken]
        fits = self.sample.changed(self.taken, columns, 1.0)
        self.fits = dict(zip(columns, fits, strict=True))
        scores = np.full(self.m, -np.inf)
        scores[columns] = [fit.value for fit in fits]
        return scores

    def take(self, k: int) -> None:
        """Add feature k."""
        self.taken.append(k)

    def parts(self, j: int) -> dict[str, float]:
        """The width and the ridge that were chosen."""
        return {"sigma": self.fits[j].sigma, "lambda": self.fits[j].lam} if j in self.fits else {}
