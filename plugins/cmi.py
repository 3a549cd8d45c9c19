"""Full conditional mutual information [Brown et al. 2012], which the other criteria approximate:

    J(k) = I(X_k;Y | X_S),    all of S jointly

The joint state of S is kept as one column, re-coded densely after each step. When it determines Y, or no feature
divides any of its undecided states, every candidate scores 0: `exhausted_at` says after how many features. By the
chain rule the scores add up to I(X_S;Y), and Fano gives a floor for the error of any classifier on S:
P_e >= (H(Y) - I(X_S;Y) - log 2) / log|Y|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jifs import Info, Stats, criterion, info

TOLERANCE = 1e-12


@criterion("cmi", cite="[Brown et al. 2012]", summary="I(X_k;Y|X_S), all selected features jointly")
@dataclass(frozen=True)
class CMI:
    """Information about the target that all selected features together do not give."""

    info: Info = field(default_factory=lambda: info("plugin"))

    def open(self, stats: Stats) -> Run:
        """A run with nothing selected."""
        return Run(self.info, stats, self.info.relevance(stats))


@dataclass
class Run:
    """The joint state of what is selected, and what each feature adds to it."""

    info: Info
    stats: Stats
    relevance: np.ndarray
    given: np.ndarray = field(init=False)
    state: Any = None
    taken: list[int] = field(default_factory=list)
    joint: float = 0.0
    exhausted_at: int | None = None

    def __post_init__(self) -> None:
        self._set(self.relevance)

    def gains(self) -> np.ndarray:
        """J of every feature."""
        return self.given.copy()

    def take(self, k: int) -> None:
        """Add feature k to the joint state."""
        self.joint += float(self.given[k])
        self.taken.append(k)
        self.state = self.stats.join(self.state, k)
        self._set(self.info.relevance_given_state(self.stats, self.state))

    def _set(self, given: np.ndarray) -> None:
        self.given = given
        free = self.stats.free.copy()
        free[self.taken] = False
        rest = np.flatnonzero(free)
        silent = not (
            np.abs(given[rest]) > TOLERANCE
        ).any()  # as before an exclusive or: silent alone, not together
        if self.exhausted_at is None and silent and self.stats.nothing_left(self.state, rest):
            self.exhausted_at = len(self.taken)

    @property
    def exhausted(self) -> bool:
        """Whether no feature can add anything."""
        return self.exhausted_at is not None

    def parts(self, k: int) -> dict[str, float]:
        """Information alone, and jointly with what is selected."""
        return {"relevance": float(self.relevance[k]), "joint": self.joint + float(self.given[k])}

    def facts(self) -> dict[str, Any]:
        """When information ran out, and Fano's bound for what the joint information leaves open."""
        target = self.info.target_entropy(self.stats)
        classes = int(np.count_nonzero(self.stats.class_sizes()))
        floor = (target - self.joint - math.log(2)) / math.log(classes) if classes > 1 else 0.0
        return {
            "exhausted_at": self.exhausted_at,
            "joint_information": self.joint,
            "target_entropy": target,
            "fano_error_floor": max(0.0, floor),
            "fano_note": "plug-in estimates of joint information are optimistic, so the true floor may be higher",
        }
