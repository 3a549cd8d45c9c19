"""The contract of an information estimator: three questions, and what follows from them.

    relevance(stats)          I(X_j ; Y)           for every feature j
    redundancy(stats, k)      I(X_j ; X_k)
    conditional(stats, k)     I(X_j ; X_k | Y)

By the chain rule these give I(X_j;Y|X_k) = I(X_j;Y) - I(X_j;X_k) + I(X_j;X_k|Y) and I(X_j X_k;Y) = I(X_j;Y|X_k) + I(X_k;Y).
An estimator that can do better answers those itself. `joint_entropy` exists for those that have entropies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jifs.errors import MismatchError
from jifs.stats.base import Stats


class Info:
    """Base of information estimators. Subclasses are frozen dataclasses of their parameters."""

    name = "info"
    tasks: tuple[str, ...] = ("class",)
    reads = "codes"

    def relevance(self, stats: Stats) -> np.ndarray:
        """I(X_j ; Y) for every feature."""
        raise NotImplementedError

    def redundancy(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j ; X_k) for every feature; at j = k the entropy of X_k."""
        raise NotImplementedError

    def conditional(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j ; X_k | Y) for every feature."""
        raise NotImplementedError

    def relevance_given(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j ; Y | X_k) for every feature."""
        return self.relevance(stats) - self.redundancy(stats, k) + self.conditional(stats, k)

    def joint_relevance(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j X_k ; Y) for every feature."""
        return self.relevance_given(stats, k) + self.relevance(stats)[k]

    def matrix(self, stats: Stats, which: str, advance: Callable[[int], None] = lambda done: None) -> np.ndarray:
        """All pairs: "mi" I(X_i;X_j), "cmi" I(X_i;X_j|Y), "cmi_target" I(X_i;Y|X_j) in row i and column j."""
        ask = {"mi": self.redundancy, "cmi": self.conditional, "cmi_target": self.relevance_given}[which]
        out = np.empty((stats.m, stats.m))
        for k in range(stats.m):
            out[:, k] = ask(stats, k)
            advance(1)
        return out

    def joint_entropy(self, stats: Stats, k: int) -> np.ndarray:
        """H(X_j, X_k, Y) for every feature."""
        raise MismatchError(
            f"info '{self.name}' has no joint entropy, which this criterion needs; infos that have: plugin, miller_madow"
        )

    def relevance_given_state(self, stats: Stats, state: Any) -> np.ndarray:
        """I(X_j ; Y | Z) for every feature, Z a joint state of several features."""
        raise MismatchError(
            f"info '{self.name}' cannot condition on a joint state, which this criterion needs; infos that can: plugin, miller_madow"
        )
