"""The Hilbert-Schmidt independence criterion [Gretton, Bousquet, Smola & Schoelkopf 2005], for sets and weights:

    HSIC(S) = tr(K H L H) / (n - 1)^2,   H = I - 1 1^T / n,   K_ij = exp(-|x_iS - x_jS|^2 / (2 sigma^2))

with sigma the median distance of the rows in the features of S. L_ij is 1[y_i = y_j] for classes, and Gaussian with the
median distance for a real y. By strategy it is F-HSIC ("forward"), B-HSIC or BAHSIC [Song, Smola, Gretton, Borgwardt &
Bedo 2007] ("backward"), or l1-HSIC [Jitkrittum, Hachiya & Sugiyama 2013] ("l1"), where sigma follows the weighted rows.

All pairs of rows are looked at. While they fit into `memory` bytes (8 for a pair, 16 if y is real) a feature that joins
or leaves is one addition; beyond that, distances are made block by block and every set from its columns: as exact, but
slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jifs import InputError, Stats, criterion
from jifs.measures.hsic import Descent, Sample, Settings


@criterion(
    "hsic",
    tasks=("class", "real"),
    reads="values",
    cite="[Gretton, Bousquet, Smola & Schoelkopf 2005]",
    summary="Hilbert-Schmidt independence criterion of a set and the target: tr(K H L H) / (n - 1)^2",
)
@dataclass(frozen=True)
class HSIC(Settings):
    """Dependence of all features of a set together on the target, by kernels of median width."""

    def sample(self, stats: Stats) -> Sample:
        """The rows, made ready."""
        rows = stats.plain("hsic")
        if rows.weights is not None:
            raise InputError("criterion 'hsic' takes no sample_weight; leave it out, or repeat the rows")
        made = stats.remember(("hsic", self), lambda: Sample(rows.X, rows.y, rows.kind, self))
        if not made.kept:
            stats.warn(
                f"the pairs of {made.n} rows do not fit into the memory of criterion 'hsic' and are made in blocks,"
                " which is slow; raise its parameter memory, or take a sample of the rows"
            )
        return made

    def value(self, stats: Stats, chosen: Sequence[int]) -> float:
        """HSIC of a set; 0 for the empty one."""
        return self.sample(stats).value(chosen) if len(chosen) else 0.0

    def without(self, stats: Stats, chosen: Sequence[int]) -> np.ndarray:
        """HSIC of the set without each of its members."""
        if len(chosen) < 2:
            return np.zeros(len(chosen))
        return self.sample(stats).changed(chosen, chosen, -1.0)

    def open(self, stats: Stats) -> Run:
        """A run with nothing selected."""
        return Run(self.sample(stats), stats.m)

    def smooth(self, stats: Stats) -> Descent:
        """HSIC of weighted features, and its gradient."""
        return Descent(self.sample(stats))


@dataclass
class Run:
    """The chosen features."""

    sample: Sample
    m: int
    taken: list[int] = field(default_factory=list)

    def gains(self) -> np.ndarray:
        """HSIC of S + j for every feature j."""
        return self.best(np.ones(self.m, np.bool_))

    def best(self, free: np.ndarray) -> np.ndarray:
        """The same for the free features only."""
        columns = [j for j in np.flatnonzero(free).tolist() if j not in self.taken]
        scores = np.full(self.m, -np.inf)
        scores[columns] = self.sample.changed(self.taken, columns, 1.0)
        return scores

    def take(self, k: int) -> None:
        """Add feature k."""
        self.taken.append(k)
