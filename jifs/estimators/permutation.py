"""Is there any information left? A permutation test of the best remaining candidate.

    T = max over j outside S of I(X_j ; Y | X_S),    p = (1 + #{T_perm >= T}) / (B + 1)

Under the hypothesis that no remaining feature tells anything about Y beyond S, the labels may be shuffled among the
rows that agree in all of S. The maximum is over all candidates, so the choice of the best is allowed for. When every
state of S holds one class or one row, there is nothing to shuffle and p = 1: the sample can show no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.estimators.discrete import PlugIn
from jifs.stats.base import Stats
from jifs.stats.codes import PLANE_LEVELS
from jifs.stats.columns import Column


@dataclass
class Permutation:
    """Stop rule: end the search when the test finds no further information at the level."""

    stats: Stats
    level: float = 0.05
    permutations: int = 200
    seed: int = 0
    p_values: list[float] = field(default_factory=list)
    _state: Column | None = None
    _joined: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"stop: level must lie between 0 and 1, not {self.level!r}")
        if self.permutations != int(self.permutations):
            raise InputError(f"stop: permutations must be a whole number, not {self.permutations!r}")
        if self.permutations + 1 < 1 / self.level:
            least = int(np.ceil(1 / self.level)) - 1
            raise InputError(
                f"stop: {self.permutations!r} permutations cannot reach the level {self.level:g}; use {least} or more"
            )
        if self.stats.rows_in_memory("stop='permutation'").weights is not None:
            raise InputError(
                "stop='permutation' cannot honour real sample weights, nor whole ones too large to repeat rows"
            )

    def reason(self, taken: list[int], free: np.ndarray, score: float, run: Any) -> str | None:
        """Why to stop, or None."""
        for j in taken[self._joined :]:
            self._state = self.stats.join(self._state, j)
        self._joined = len(taken)
        p = self.p_value(free)
        self.p_values.append(p)
        return (
            f"no further information (permutation p = {p:.3g} > {self.level:g})" if p > self.level else None
        )

    def facts(self) -> dict[str, Any]:
        """The p-value before each feature."""
        return {"permutation_p_values": list(self.p_values)}

    def p_value(self, free: np.ndarray) -> float:
        """The p-value of the best remaining candidate; shuffling ends early when the level is out of reach."""
        with self.stats.timed("permuting"):
            left = Left(self.stats, self._state, np.flatnonzero(free))
            if left.rows.size == 0:
                return 1.0
            observed = left.information(left.rows).max()
            random = np.random.default_rng([self.seed, self._joined])
            enough = self.level * (self.permutations + 1)
            drawn = reached = 0
            while drawn < self.permutations and reached <= enough:
                drawn += 1
                reached += left.information(left.shuffled(random)).max() >= observed - 1e-12
            return float((1 + reached) / (1 + drawn))


class Left:
    """The information about Y that features have beyond a state Z, when the labels of some rows change places.

    N I(X_j;Y|Z) = S_xzy - S_xz - (S_zy - S_z), and a shuffle within Z changes the first only. It is counted with the
    planes, against the column (Z, Y), while that has few levels; else by a walk over the rows that are not decided.
    """

    def __init__(self, stats: Stats, state: Column | None, features: np.ndarray) -> None:
        batch = stats.source.batch
        state = state or batch.constant
        self.stats, self.features, self.info = stats, features, PlugIn()
        self.groups = batch.grouping(state).undecided()
        self.rows = self.groups.rows
        self.order = np.repeat(
            np.arange(self.groups.group_ends.size), np.diff(self.groups.group_ends, prepend=0)
        )
        self.by_planes = state.levels * stats.classes <= PLANE_LEVELS
        if self.by_planes:
            self.labels = np.searchsorted(batch.starts, self.rows, "right") - 1
            self.z = state.codes[: batch.n].astype(np.int64) * stats.classes
            self.levels = state.levels * stats.classes
            own = np.searchsorted(batch.starts, np.arange(batch.n), "right") - 1
            self.with_labels = self.z + own
            pair = self.info.pair(stats, state, split=False).xz[features]
            groups = batch.grouping(state)
        else:
            pair = batch.grouped_features(features, self.groups)[:, 0]
            groups = self.groups
        self.rest = pair + self.info.state_difference(stats, groups)

    def shuffled(self, random: np.random.Generator) -> np.ndarray:
        """The rows in an order of chance within their groups."""
        mixed: np.ndarray = self.rows[np.lexsort((random.random(self.order.size), self.order))]
        return mixed

    def information(self, rows: np.ndarray) -> np.ndarray:
        """I(X_j;Y|Z) of the features when the labels of `self.rows` go to `rows`, one by one."""
        batch = self.stats.source.batch
        if self.by_planes:
            both = self.with_labels.copy()
            both[rows] = self.z[rows] + self.labels
            joint = self.info.pair(self.stats, batch.state(both, self.levels), split=False).xz[self.features]
        else:
            joint = batch.grouped_features(self.features, self.groups._replace(rows=rows))[:, 1]
        answer: np.ndarray = (joint - self.rest) / self.stats.mass
        return answer
