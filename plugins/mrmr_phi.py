"""Minimum redundancy, maximum relevance as a function of a set [Peng et al. 2005]:

    Phi(S) = (1/|S|) sum_{d in S} I(X_d;Y) - (1/|S|^2) sum_{d,l in S} I(X_d;X_l)

The diagonal is included: I(X_d;X_d) = H(X_d). Its greedy ascent is not `mrmr`: with t = |S| + 1 it ranks candidates by
I(X_k;Y) - (1/t)(2 sum_j I(X_k;X_j) + H(X_k)), so it shuns features of high entropy. It is here to evaluate sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jifs import Info, Stats, criterion, info


@criterion(
    "mrmr_phi",
    cite="[Peng et al. 2005]",
    summary="mean I(X_d;Y) - mean I(X_d;X_l) of the whole set, a set function",
)
@dataclass(frozen=True)
class Phi:
    """Mean relevance of a set less its mean redundancy, each feature with itself included."""

    info: Info = field(default_factory=lambda: info("plugin"))

    def value(self, stats: Stats, chosen: Sequence[int]) -> float:
        """Phi of a set; 0 for the empty one."""
        if not len(chosen):
            return 0.0
        own = list(chosen)
        relevance = float(self.info.relevance(stats)[own].mean())
        return relevance - float(np.mean([self.info.redundancy(stats, j)[own] for j in own]))

    def open(self, stats: Stats) -> Run:
        """A run with nothing selected."""
        return Run(self, stats, self.info.relevance(stats))


@dataclass
class Run:
    """Sums over S of relevance and of redundancy, and each candidate's redundancy with S."""

    rule: Phi
    stats: Stats
    relevance: np.ndarray
    company: np.ndarray | float = 0.0
    inside: float = 0.0
    relevances: float = 0.0
    taken: int = 0

    def gains(self) -> np.ndarray:
        """Phi(S + k) of every feature k."""
        t = self.taken + 1
        entropy = self.rule.info.entropy(self.stats)
        redundancy = (self.inside + 2 * self.company + entropy) / t**2
        scores: np.ndarray = (self.relevances + self.relevance) / t - redundancy
        return scores

    def take(self, k: int) -> None:
        """Add feature k."""
        redundancy = self.rule.info.redundancy(self.stats, k)
        self.inside += float(2 * np.asarray(self.company).reshape(-1)[k if self.taken else 0] + redundancy[k])
        self.company = self.company + redundancy
        self.relevances += float(self.relevance[k])
        self.taken += 1

    def parts(self, k: int) -> dict[str, float]:
        """The candidate's own relevance and its mean redundancy with what is selected."""
        mean = np.asarray(self.company).reshape(-1)[k] / self.taken if self.taken else 0.0
        return {"relevance": float(self.relevance[k]), "redundancy": float(mean)}
