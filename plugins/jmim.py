"""Joint mutual information maximisation [Bennasar et al. 2015]:

    JMIM:   J(k) = min_{j in S} I(X_k X_j;Y)
    NJMIM:  J(k) = min_{j in S} I(X_k X_j;Y) / H(X_k,X_j,Y),    a term with H = 0 is 0

For S empty both score I(X_k;Y).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jifs import Info, Stats, criterion, info


@criterion("njmim", cite="[Bennasar et al. 2015]", summary="min I(X_k X_j;Y) / H(X_k,X_j,Y)", normalised=True)
@criterion("jmim", cite="[Bennasar et al. 2015]", summary="min I(X_k X_j;Y)", normalised=False)
@dataclass(frozen=True)
class JMIM:
    """The least joint information with any selected feature, or its share of the joint entropy."""

    normalised: bool = False
    info: Info = field(default_factory=lambda: info("plugin"))

    def open(self, stats: Stats) -> Run:
        """A run with nothing selected."""
        return Run(self, stats, self.info.relevance(stats))


@dataclass
class Run:
    """The running minimum."""

    rule: JMIM
    stats: Stats
    relevance: np.ndarray
    least: np.ndarray | None = None

    def gains(self) -> np.ndarray:
        """J of every feature."""
        return self.relevance.copy() if self.least is None else self.least.copy()

    def take(self, k: int) -> None:
        """Add feature k."""
        ask = self.rule.info.symmetrical_relevance if self.rule.normalised else self.rule.info.joint_relevance
        joint = ask(self.stats, k)
        self.least = joint if self.least is None else np.minimum(self.least, joint)

    def parts(self, k: int) -> dict[str, float]:
        """Relevance alone, beside the score in company."""
        return {"relevance": float(self.relevance[k])}
