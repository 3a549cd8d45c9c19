"""The linear family of mutual-information criteria [Brown et al. 2012]:

    J(k) = I(X_k;Y) - beta sum_{j in S} I(X_k;X_j) + gamma sum_{j in S} I(X_k;X_j|Y)

    mim      beta = 0       gamma = 0            mifs     beta free     gamma = 0
    mrmr     beta = 1/|S|   gamma = 0            cife     beta = 1      gamma = 1
    condred  beta = 0       gamma = 1            jmi      beta = 1/|S|  gamma = 1/|S|
    betagamma: both free

JMI is reported in its sum form, sum_{j in S} I(X_k X_j;Y) = |S| J(k) + sum_{j in S} I(X_j;Y), which ranks alike.
MIQ divides instead of subtracting: J(k) = I(X_k;Y) / max(mean_{j in S} I(X_k;X_j), 1e-12).
For S empty every criterion scores I(X_k;Y).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from jifs import Info, InputError, Stats, criterion, info


@dataclass(frozen=True)
class Linear:
    """Relevance less beta times the redundancy plus gamma times the conditional redundancy with what is selected."""

    beta: float = 1.0
    gamma: float = 1.0
    mean: bool = False
    summed: bool = False
    info: Info = field(default_factory=lambda: info("plugin"))

    def __post_init__(self) -> None:
        for name in ("beta", "gamma"):
            value = getattr(self, name)
            if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not isfinite(value):
                raise InputError(f"parameter {name} must be a finite number, not {value!r}")

    def open(self, stats: Stats) -> LinearRun:
        """A run with nothing selected."""
        return LinearRun(self, stats, self.info.relevance(stats))


@dataclass
class LinearRun:
    """Running sums of the two redundancies; one statistic per step, and none that is not used."""

    rule: Linear
    stats: Stats
    relevance: np.ndarray
    redundancy: np.ndarray | float = 0.0
    conditional: np.ndarray | float = 0.0
    company: float = 0.0
    taken: int = 0

    def gains(self) -> np.ndarray:
        """J of every feature."""
        if self.taken == 0:
            return self.relevance.copy()
        beta, gamma = self.rule.beta, self.rule.gamma
        if self.rule.summed:
            return (
                self.taken * self.relevance - beta * self.redundancy + gamma * self.conditional + self.company
            )
        share = self.taken if self.rule.mean else 1
        scores: np.ndarray = self.relevance - self.redundancy * (beta / share)
        if gamma:
            scores += self.conditional * (gamma / share)
        return scores

    def take(self, k: int) -> None:
        """Add feature k: one pass gives both redundancies with it."""
        if self.rule.gamma:
            self.conditional = _grown(self.conditional, self.rule.info.conditional(self.stats, k))
        if self.rule.beta:
            self.redundancy = _grown(self.redundancy, self.rule.info.redundancy(self.stats, k))
        self.company += float(self.relevance[k])
        self.taken += 1

    def parts(self, k: int) -> dict[str, float]:
        """The terms of J(k): information with the target, and mean information with what is selected."""
        out = {"relevance": float(self.relevance[k])}
        if self.rule.beta:
            out["redundancy"] = _mean_at(self.redundancy, k, self.taken)
        if self.rule.gamma:
            out["conditional"] = _mean_at(self.conditional, k, self.taken)
        return out


def _grown(total: np.ndarray | float, more: np.ndarray) -> np.ndarray:
    """total + more, in place once the total is an array of our own: answers of an estimator are not ours to change."""
    if isinstance(total, float):
        return more.copy()
    total += more
    return total


def _mean_at(total: np.ndarray | float, k: int, taken: int) -> float:
    return float(np.asarray(total).reshape(-1)[k] / taken) if taken else 0.0


@criterion(
    "miq",
    cite="[Ding & Peng 2005]",
    summary="Relevance divided by the mean redundancy: I(X_k;Y) / mean I(X_k;X_j)",
)
@dataclass(frozen=True)
class Quotient:
    """Relevance divided by the mean redundancy with what is selected, guarded by 1e-12."""

    info: Info = field(default_factory=lambda: info("plugin"))

    def open(self, stats: Stats) -> QuotientRun:
        """A run with nothing selected."""
        return QuotientRun(Linear(1.0, 0.0, info=self.info), stats, self.info.relevance(stats))


class QuotientRun(LinearRun):
    """The running sum of LinearRun, used as a divisor."""

    def gains(self) -> np.ndarray:
        """J of every feature."""
        if self.taken == 0:
            return self.relevance.copy()
        return self.relevance / np.maximum(self.redundancy / self.taken, 1e-12)


RULES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mim": (
        "I(X_k;Y): relevance alone",
        "[Lewis 1992]",
        {"beta": 0.0, "gamma": 0.0, "mean": False, "summed": False},
    ),
    "mifs": (
        "I(X_k;Y) - beta sum I(X_k;X_j)",
        "[Battiti 1994]",
        {"gamma": 0.0, "mean": False, "summed": False},
    ),
    "mrmr": (
        "I(X_k;Y) - mean I(X_k;X_j): relevance less mean redundancy",
        "[Peng et al. 2005]",
        {"beta": 1.0, "gamma": 0.0, "mean": True, "summed": False},
    ),
    "cife": (
        "I(X_k;Y) - sum I(X_k;X_j) + sum I(X_k;X_j|Y)",
        "[Lin & Tang 2006]",
        {"beta": 1.0, "gamma": 1.0, "mean": False, "summed": False},
    ),
    "condred": (
        "I(X_k;Y) + sum I(X_k;X_j|Y)",
        "[Brown et al. 2012]",
        {"beta": 0.0, "gamma": 1.0, "mean": False, "summed": False},
    ),
    "jmi": (
        "sum I(X_k X_j;Y): joint information with each selected feature",
        "[Yang & Moody 1999]",
        {"beta": 1.0, "gamma": 1.0, "mean": True, "summed": True},
    ),
    "betagamma": (
        "I(X_k;Y) - beta sum I(X_k;X_j) + gamma sum I(X_k;X_j|Y)",
        "[Brown et al. 2012]",
        {"mean": False, "summed": False},
    ),
}
for _name, (_summary, _cite, _fixed) in RULES.items():
    criterion(_name, default="rank" if _name == "mim" else "forward", cite=_cite, summary=_summary, **_fixed)(
        Linear
    )
