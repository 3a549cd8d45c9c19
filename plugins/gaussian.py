"""The Gaussian compromise [Lefakis & Fleuret 2014]: classes and their mixture as normals, H* and H_y their entropies.

    gc_mi   clip="class"  sum_y p_y min(H* - H_y, -log p_y)        gc_e   sum_y p_y min(H*, H_y - log p_y)
            clip="total"  min(sum_y p_y (H* - H_y), H(Y))                 min(H*, sum_y p_y (H_y - log p_y))
            clip=None     sum_y p_y (H* - H_y)                            H*

clip="class" is the published score. It is an approximation: it can lie below the true information, and even below 0.
"total" and None are upper bounds under the model. A candidate costs O(|S|): for all rows and for each class a run keeps
the conditional variance v_j of every candidate and its row of the Cholesky factor; H grows by log(2 pi e v_j) / 2.

`reg` adds a variance to every covariance, in the units in use; "auto" (Ledoit-Wolf) and "oas" shrink each class towards
a sphere instead, by an amount learned from its rows. `standardise` brings all features to unit variance first.
prune=True skips candidates that an O(1) bound shows to be neither first nor second; it never changes the result.
When every candidate has reached H(Y), gc_mi is blind. saturation="unclipped" then goes by the value without clipping,
"random" picks by chance as published, "stop" ends the search; `saturated_at` in the facts tells when it happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from jifs import InputError, Stats, criterion

SLACK = 1e-9
"""A candidate is skipped when its bound is behind by more than this, well over what counts as a tie."""
BATCH = 32
"""Candidates evaluated at a time, the most promising first."""


@dataclass(frozen=True)
class Gaussian:
    """What gc_mi and gc_e have in common: the model, and its checks."""

    clip: str | None = "class"
    reg: float | str = 0.0
    standardise: bool = False
    prune: bool = False
    tolerance = 1e-10

    def __post_init__(self) -> None:
        _one_of("clip", self.clip, ("class", "total", None))
        _one_of("standardise", self.standardise, (True, False))
        _one_of("prune", self.prune, (True, False))

    def model(self, stats: Stats) -> Any:
        """The classes as normals."""
        return stats.normals(bool(self.standardise), self.reg)

    def basis(self, stats: Stats, chosen: Sequence[int]) -> list[int]:
        """Those of the features that add volume to the ones before them."""
        return self.model(stats).basis(chosen, every_class=False)  # type: ignore[no-any-return]


def _one_of(name: str, value: Any, known: tuple[Any, ...]) -> None:
    if not isinstance(value, str | bool | np.bool_ | None) or value not in known:
        raise InputError(f"parameter {name} must be {' or '.join(map(repr, known))}, not {value!r}")


@criterion(
    "gc_mi",
    reads="values",
    cite="[Lefakis & Fleuret 2014]",
    summary="Gaussian compromise, information: sum p_y min(H* - H_y, -log p_y)",
)
@dataclass(frozen=True)
class GCMI(Gaussian):
    """Information between the joint Gaussian of the features and the class, no more than the class has."""

    saturation: str = "unclipped"

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("saturation", self.saturation, ("unclipped", "random", "stop"))

    def second_without(self, stats: Stats, chosen: Sequence[int]) -> np.ndarray:
        """What decides among sets that are level: the values without clipping."""
        return values_without(replace(self, clip=None), stats, chosen)

    def second(self, stats: Stats, chosen: Sequence[int]) -> float:
        """The same of one set."""
        return value_of(replace(self, clip=None), stats, chosen)

    def score(self, model: Any, log_dets: np.ndarray, size: int) -> np.ndarray:
        """From log |Sigma| of all rows (first) and of each class, over sets of one size."""
        gaps = gap(log_dets)
        if self.clip == "class":
            gaps = np.minimum(gaps, -np.log(model.priors)[:, None])
        total = weighted(model.priors, gaps)
        if self.clip == "total":
            total = np.minimum(total, cap(model.priors))
        return np.where(log_dets[0] == -inf, -inf, total)

    @staticmethod
    def optimistic(above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """The log-determinants, within these bounds, that give the highest score."""
        return np.vstack([above[:1], below[1:]])

    def open(self, stats: Stats) -> InformationRun:
        """A run with nothing selected."""
        return InformationRun(self, stats)

    def value(self, stats: Stats, chosen: Sequence[int]) -> float:
        """The criterion of a set, from scratch."""
        return value_of(self, stats, chosen)

    def without(self, stats: Stats, chosen: Sequence[int]) -> np.ndarray:
        """The criterion of the set without each of its members."""
        return values_without(self, stats, chosen)


@criterion(
    "gc_e",
    reads="values",
    cite="[Lefakis & Fleuret 2014]",
    summary="Gaussian compromise, entropy: sum p_y min(H*, H_y - log p_y)",
)
@dataclass(frozen=True)
class GCE(Gaussian):
    """Entropy of the joint Gaussian of the features, no more than classes far apart would have."""

    standardise: bool = True

    def score(self, model: Any, log_dets: np.ndarray, size: int) -> np.ndarray:
        """From log |Sigma| of all rows (first) and of each class, over sets of one size."""
        entropy: np.ndarray = log_dets / 2 + size * model.unit_entropy
        if self.clip is None:
            pooled: np.ndarray = entropy[0]
            return pooled
        apart = entropy[1:] - np.log(model.priors)[:, None]
        if self.clip == "class":
            return weighted(model.priors, np.minimum(entropy[0], apart))
        total: np.ndarray = np.minimum(entropy[0], weighted(model.priors, apart))
        return total

    @staticmethod
    def optimistic(above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """The log-determinants, within these bounds, that give the highest score."""
        return above

    def open(self, stats: Stats) -> CompromiseRun:
        """A run with nothing selected."""
        return CompromiseRun(self, stats)

    def value(self, stats: Stats, chosen: Sequence[int]) -> float:
        """The criterion of a set, from scratch."""
        return value_of(self, stats, chosen)

    def without(self, stats: Stats, chosen: Sequence[int]) -> np.ndarray:
        """The criterion of the set without each of its members."""
        return values_without(self, stats, chosen)


def gap(log_dets: np.ndarray) -> np.ndarray:
    """H* - H_y for each class; infinite where a class has no volume."""
    known = log_dets[1:] > -inf
    whole = np.where(log_dets[0] > -inf, log_dets[0], 0.0)
    return np.where(known, (whole - np.where(known, log_dets[1:], 0.0)) / 2, inf)


def weighted(priors: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """sum_y p_y term_y, the same bits for the same terms whatever else is in the array."""
    total = np.zeros(terms.shape[1:])
    for p, term in zip(priors.tolist(), terms, strict=True):
        total = total + p * term
    return total


def cap(priors: np.ndarray) -> float:
    """H(Y), summed as a score that is clipped in every class."""
    return float(weighted(priors, -np.log(priors)))


# ------------------------------------------------------------------------------------------------------------- the run


@dataclass
class CompromiseRun:
    """The growing factors of all candidates, and the score they give."""

    rule: Any
    stats: Stats
    model: Any = field(init=False)
    factor: Any = field(init=False)
    behind: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp))
    skipped: int = 0
    looked_at: int = 0

    def __post_init__(self) -> None:
        self.model = self.rule.model(self.stats)
        self.factor = self.model.factor(lazy=self.rule.prune)

    @property
    def taken(self) -> list[int]:
        """What has been taken."""
        return self.factor.taken  # type: ignore[no-any-return]

    def gains(self) -> np.ndarray:
        """The criterion of S + j for every feature j."""
        return self._scores(self.factor.candidates())

    def best(self, free: np.ndarray) -> np.ndarray:
        """The same; with pruning, minus infinity where a bound shows that j can come neither first nor second."""
        if not self.rule.prune:
            return self.gains()
        ceiling = self._scores(self.rule.optimistic(*self.factor.bounds()))
        waiting = np.flatnonzero(free)
        waiting = waiting[np.argsort(-ceiling[waiting], kind="stable")]
        scores, second, at = np.full(self.stats.m, -inf), -inf, 0
        while at < waiting.size and ceiling[waiting[at]] >= second - SLACK * max(1.0, abs(second)):
            some = waiting[at : at + BATCH]
            self.factor.bring_up(some)
            scores[some] = self._scores(self.factor.known(some))
            at += some.size
            if at > 1:
                second = float(np.partition(scores[waiting[:at]], at - 2)[at - 2])
        self.behind = waiting[at:]
        self.skipped += self.behind.size
        self.looked_at += waiting.size
        return scores

    def take(self, k: int) -> None:
        """Add feature k: one column of covariances, one row of each factor."""
        if not self.factor.alive[0, k] and self.factor.alive[0].any():
            self.stats.warn(
                f"feature '{self.stats.name_of(k)}' is constant or depends on those taken before it: it adds no volume,"
                " and those after it are scored as if it were not there; use reg above 0 if it is to count"
            )
        self.factor.take(k)
        self.model.caution_about_rows(len(self.taken))

    def parts(self, j: int) -> dict[str, float]:
        """Entropies of S + j: of all rows together, and the mean over the classes."""
        entropy = self._candidate(j)[:, 0] / 2 + (len(self.taken) + 1) * self.model.unit_entropy
        return {"pooled": float(entropy[0]), "classes": float(weighted(self.model.priors, entropy[1:]))}

    def facts(self) -> dict[str, Any]:
        """How many evaluations the bound saved."""
        return (
            {"evaluations_saved": self.skipped, "evaluations_asked": self.looked_at}
            if self.rule.prune
            else {}
        )

    def _scores(self, log_dets: np.ndarray) -> np.ndarray:
        return self.rule.score(self.model, log_dets, len(self.taken) + 1)  # type: ignore[no-any-return]

    def _candidate(self, j: int) -> np.ndarray:
        """log |Sigma| of S + j."""
        return self.factor.known(np.array([j]))  # type: ignore[no-any-return]


@dataclass
class InformationRun(CompromiseRun):
    """The same, with an eye on saturation."""

    saturated_at: int | None = None
    finished: str | None = None

    def gains(self) -> np.ndarray:
        """The criterion of S + j for every feature j."""
        scores = super().gains()
        open_ = self.stats.free & (scores > -inf)
        open_[self.taken] = False
        self._watch(scores[open_])
        return scores

    def best(self, free: np.ndarray) -> np.ndarray:
        """As gains, but for candidates that a bound leaves behind."""
        scores = super().best(free)
        if self.rule.prune:
            self._watch(scores[free & (scores > -inf)])
        return scores

    def _watch(self, scores: np.ndarray) -> None:
        """Note when every candidate that adds anything has reached the top; those left behind have not."""
        top = cap(self.model.priors) - self.rule.tolerance
        reached = top > 0.0 and scores.size > 0 and bool((scores >= top).all())
        if self.saturated_at is not None or self.rule.clip is None or not reached:
            return
        if self.behind.size:
            self.factor.bring_up(self.behind)
            if (self._scores(self.factor.known(self.behind)) > -inf).any():
                return
        self.saturated_at = len(self.taken)
        if self.rule.saturation == "stop":
            self.finished = f"saturated: every candidate has reached H(Y) after {self.saturated_at} features"

    def ties(self) -> np.ndarray:
        """What decides among candidates level at the top: the value without clipping, or chance."""
        if self.rule.saturation == "random" and self.saturated_at is not None:
            return np.random.default_rng([self.stats.seed, len(self.taken)]).random(self.stats.m)
        dets = self.factor.known()
        return np.where(dets[0] > -inf, weighted(self.model.priors, gap(dets)), -inf)

    def parts(self, j: int) -> dict[str, float]:
        """The information without clipping."""
        return {"unclipped": float(weighted(self.model.priors, gap(self._candidate(j)))[0])}

    def facts(self) -> dict[str, Any]:
        """Features taken when the criterion went blind, None if it did not."""
        return {"saturated_at": self.saturated_at, **super().facts()}


# -------------------------------------------------------------------------------------------------------------- a set


def value_of(rule: Any, stats: Stats, chosen: Sequence[int]) -> float:
    """The criterion of a set, from scratch; 0 for the empty one."""
    if not chosen:
        return 0.0
    model = rule.model(stats)
    model.caution_about_rows(len(chosen))
    return float(rule.score(model, model.log_dets(model.block(chosen))[:, None], len(chosen))[0])


def values_without(rule: Any, stats: Stats, chosen: Sequence[int]) -> np.ndarray:
    """The criterion of a set without each member: log |Sigma_{S-j}| = log |Sigma_S| + log (Sigma_S^-1)_jj."""
    model = rule.model(stats)
    block = model.block(chosen)
    dets = model.log_dets(block)
    if len(chosen) < 2 or not np.isfinite(dets).all():
        rest = ([*chosen[:p], *chosen[p + 1 :]] for p in range(len(chosen)))
        return np.array([value_of(rule, stats, some) for some in rest])
    model.caution_about_rows(len(chosen))
    own = np.diagonal(model.inverses(block), axis1=1, axis2=2)
    return rule.score(model, dets[:, None] + np.log(own), len(chosen) - 1)  # type: ignore[no-any-return]
