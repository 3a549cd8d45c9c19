"""The contract of an information estimator: three questions, and what follows from them.

    relevance(stats)          I(X_j ; Y)           for every feature j
    redundancy(stats, k)      I(X_j ; X_k)
    conditional(stats, k)     I(X_j ; X_k | Y)

By the chain rule these give I(X_j;Y|X_k) = I(X_j;Y) - I(X_j;X_k) + I(X_j;X_k|Y) and
I(X_j X_k;Y) = I(X_j;Y|X_k) + I(X_k;Y). An estimator that can do better answers those itself. Entropies and joint
states exist for those that have them; the others say what would work.
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
        conditional = self.conditional(stats, k)  # first: an estimator may learn the redundancy on the way
        given: np.ndarray = self.relevance(stats) - self.redundancy(stats, k) + conditional
        return given

    def joint_relevance(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j X_k ; Y) for every feature."""
        joint: np.ndarray = self.relevance_given(stats, k) + self.relevance(stats)[k]
        return joint

    def symmetrical_relevance(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j X_k ; Y) / H(X_j, X_k, Y) for every feature; 0 where there is no entropy, to rounding."""
        information, entropy = self.joint_relevance(stats, k), self.joint_entropy(stats, k)
        some = entropy > 1e-12
        share: np.ndarray = np.where(some, information / np.where(some, entropy, 1.0), 0.0)
        return share

    def matrix(
        self, stats: Stats, which: str, advance: Callable[[int], None] = lambda done: None
    ) -> np.ndarray:
        """All pairs: "mi" I(X_i;X_j), "cmi" I(X_i;X_j|Y), "cmi_target" I(X_i;Y|X_j) in row i and column j."""
        ask = {"mi": self.redundancy, "cmi": self.conditional, "cmi_target": self.relevance_given}[which]
        out = np.empty((stats.m, stats.m))
        for k in range(stats.m):
            out[:, k] = ask(stats, k)
            advance(1)
        return out

    def joint_entropy(self, stats: Stats, k: int) -> np.ndarray:
        """H(X_j, X_k, Y) for every feature."""
        raise self._lacks("joint entropies")

    def entropy(self, stats: Stats) -> np.ndarray:
        """H(X_j) for every feature."""
        raise self._lacks("entropies")

    def target_entropy(self, stats: Stats) -> float:
        """H(Y)."""
        raise self._lacks("an entropy of the target")

    def relevance_given_state(self, stats: Stats, state: Any) -> np.ndarray:
        """I(X_j ; Y | Z) for every feature, Z a joint state of several features."""
        raise self._lacks("information given a joint state")

    def lookup(self, stats: Stats) -> np.ndarray | None:
        """For kernels of a plug-in's own: the table of x log x, or None where counts are not looked up."""
        return None

    def given_constant(self, stats: Stats, k: int) -> float:
        """For kernels of a plug-in's own: what I(X_j;Y|X_k) subtracts for X_k, see `PlugIn`."""
        raise self._lacks("sums of x log x")

    def _lacks(self, what: str) -> MismatchError:
        return MismatchError(
            f"info '{self.name}' has no {what}, which this criterion needs; use info='plugin' or 'miller_madow'"
        )
