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
from jifs.stats.codes import Column


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
        batch, info = self.stats.source.batch, PlugIn()
        groups = batch.grouping(self._state or batch.constant()).undecided()
        if groups.rows.size == 0:
            return 1.0
        observed = info.given_groups(self.stats, groups)[free].max()
        random = np.random.default_rng([self.seed, self._joined])
        sizes = np.diff(groups.group_ends, prepend=0)
        group = np.repeat(np.arange(sizes.size), sizes)
        enough = self.level * (self.permutations + 1)
        drawn = reached = 0
        while drawn < self.permutations and reached <= enough:
            drawn += 1
            shuffled = groups.rows[np.lexsort((random.random(group.size), group))]
            reached += (
                info.given_groups(self.stats, groups._replace(rows=shuffled))[free].max() >= observed - 1e-12
            )
        return float((1 + reached) / (1 + drawn))
