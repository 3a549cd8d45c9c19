"""Interaction capping [Jakulin 2005]:

    J(k) = I(X_k;Y) - sum_{j in S} max(0, I(X_k;X_j) - I(X_k;X_j|Y))

Redundancy is subtracted, synergy (a negative difference) is not rewarded.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jifs import Info, Stats, criterion, info


@criterion("icap", cite="[Jakulin 2005]", summary="I(X_k;Y) - sum max(0, I(X_k;X_j) - I(X_k;X_j|Y))")
@dataclass(frozen=True)
class ICAP:
    """Relevance less the redundancy that is not made up for by the class."""

    info: Info = field(default_factory=lambda: info("plugin"))

    def open(self, stats: Stats) -> Run:
        """A run with nothing selected."""
        return Run(self.info, stats, self.info.relevance(stats))


@dataclass
class Run:
    """The running sum of the capped differences."""

    info: Info
    stats: Stats
    relevance: np.ndarray
    capped: np.ndarray | float = 0.0

    def gains(self) -> np.ndarray:
        """J of every feature."""
        return self.relevance - self.capped

    def take(self, k: int) -> None:
        """Add feature k."""
        conditional = self.info.conditional(self.stats, k)
        self.capped = self.capped + np.maximum(0.0, self.info.redundancy(self.stats, k) - conditional)

    def parts(self, k: int) -> dict[str, float]:
        """Relevance, and what is subtracted from it."""
        return {
            "relevance": float(self.relevance[k]),
            "redundancy": float(self.relevance[k] - self.gains()[k]),
        }
