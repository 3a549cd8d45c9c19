"""Double input symmetrical relevance [Meyer & Bontempi 2006]:

J(k) = sum_{j in S} I(X_k X_j;Y) / H(X_k,X_j,Y),    a term with H = 0 is 0;    S empty: I(X_k;Y)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jifs import Info, Stats, criterion, info


@criterion("disr", cite="[Meyer & Bontempi 2006]", summary="sum I(X_k X_j;Y) / H(X_k,X_j,Y)")
@dataclass(frozen=True)
class DISR:
    """Joint information with each selected feature, as a share of the joint entropy."""

    info: Info = field(default_factory=lambda: info("plugin"))

    def open(self, stats: Stats) -> Run:
        """A run with nothing selected."""
        return Run(self.info, stats, self.info.relevance(stats))


@dataclass
class Run:
    """The running sum of ratios."""

    info: Info
    stats: Stats
    relevance: np.ndarray
    ratios: np.ndarray | None = None

    def gains(self) -> np.ndarray:
        """J of every feature."""
        return self.relevance.copy() if self.ratios is None else self.ratios.copy()

    def take(self, k: int) -> None:
        """Add feature k."""
        ratio = self.info.symmetrical_relevance(self.stats, k)
        self.ratios = ratio if self.ratios is None else self.ratios + ratio

    def parts(self, k: int) -> dict[str, float]:
        """Relevance alone, beside the score in company."""
        return {"relevance": float(self.relevance[k])}
