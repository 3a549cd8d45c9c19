"""The Kullback-Leibler bounds [Lefakis & Fleuret 2014] on normal classes f_y and the normal of the rest, f_r:

    KL(1||2) = 1/2 [ tr(S2^-1 S1) - log(|S1|/|S2|) - d + (mu2-mu1)' S2^-1 (mu2-mu1) ]
    gkl_mi   mean over y of  p_y KL(y||r) + (1-p_y) KL(r||y)              for two classes both terms are the same
    gkl_e    mean over y of  the same + p_y H_y + (1-p_y) H_r

`constant` adds -p_y log(1-p_y) - (1-p_y) log p_y, the same for all sets; `tight` weighs both divergences by
p_y (1-p_y), a lower bound that is still one. Where a class has no volume the divergence is infinite: such a feature is
not chosen while others remain. `reg` adds a variance to every covariance, "auto" (Ledoit-Wolf) and "oas" shrink each
class; `standardise` brings all features to unit variance first.

A candidate costs O(|S|), not O(|S|^2) as published. With u_t the directions that features add under f2 (Gram-Schmidt)
and e_j = X_j - sum_t l_jt u_t what is new in X_j, a run keeps

    v_j = Var2(e_j)     w_j = Var1(e_j)     d_j = E1 e_j - E2 e_j     l_jt     m_jt = Cov1(X_j, u_t)

and X_j adds 1/2 [(w_j + d_j^2)/v_j - log(v1_j/v_j) - 1] to KL(1||2). When k is taken, with r_j = Cov2(e_j,e_k)/v_k and
c_j = Cov1(e_j,e_k) = Cov1(X_j,e_k) - sum_t l_jt Cov1(u_t,e_k):  w_j += r_j^2 w_k - 2 r_j c_j,  d_j -= r_j d_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from jifs import InputError, Stats, criterion
from jifs.kernels.gaussian import CHUNK, reduce_columns


@dataclass(frozen=True)
class Divergence:
    """What gkl_mi and gkl_e have in common."""

    constant: bool = False
    tight: bool = False
    reg: float | str = 0.0
    standardise: bool = False
    tolerance = 1e-10
    entropy = False

    def __post_init__(self) -> None:
        for name in ("constant", "tight", "standardise"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InputError(f"parameter {name} must be True or False, not {getattr(self, name)!r}")

    def model(self, stats: Stats) -> Any:
        """The classes as normals."""
        return stats.normals(bool(self.standardise), self.reg)

    def score(self, priors: np.ndarray, divergence: np.ndarray, entropy: np.ndarray) -> np.ndarray:
        """From KL and H: first half of the rows y||r and of r, second half r||y and of y."""
        own, rest = priors[:, None], 1.0 - priors[:, None]
        half = priors.size
        with_own, with_rest = (own * rest, own * rest) if self.tight else (own, rest)
        total = _times(with_own, divergence[:half]) + _times(with_rest, divergence[half:])
        if self.entropy:
            total = total + _times(own, entropy[half:]) + _times(rest, entropy[:half])
        if self.constant and (rest > 0.0).all():
            total = total - own * np.log(rest) - rest * np.log(own)
        mean: np.ndarray = total.sum(axis=0) / half
        return mean

    def open(self, stats: Stats) -> DivergenceRun:
        """A run with nothing selected."""
        return DivergenceRun(self, stats)

    def value(self, stats: Stats, chosen: Sequence[int]) -> float:
        """The criterion of a set, from scratch; minus infinity where a class has no volume."""
        problem = Problem(self.model(stats))
        if not chosen:
            return float(self.score(problem.priors, *(np.zeros((2 * problem.count, 1)),) * 2)[0])
        second, apart, units = problem.scaled(chosen)
        dets = problem.model.log_dets(second)
        problem.model.caution_about_rows(len(chosen))
        if not np.isfinite(dets).all():
            return -inf
        inverse = problem.model.inverses(second)
        divergence = problem.divergence(second, inverse, dets, apart)
        entropy = (dets + units.sum()) / 2 + len(chosen) * problem.model.unit_entropy
        return float(self.score(problem.priors, divergence[:, None], entropy[:, None])[0])

    def basis(self, stats: Stats, chosen: Sequence[int]) -> list[int]:
        """Those of the features that have volume of their own, beside the ones before them, in every class."""
        return self.model(stats).basis(chosen, every_class=True)  # type: ignore[no-any-return]

    def without(self, stats: Stats, chosen: Sequence[int]) -> np.ndarray:
        """The criterion without each member j, whose own share of KL follows from row j of the inverses."""
        problem, size = Problem(self.model(stats)), len(chosen)
        if size < 2:
            return np.array([self.value(stats, [])] * size)
        second, apart, units = problem.scaled(chosen)
        dets = problem.model.log_dets(second)
        problem.model.caution_about_rows(size)
        if not np.isfinite(dets).all():
            rest = ([*chosen[:p], *chosen[p + 1 :]] for p in range(size))
            return np.array([self.value(stats, some) for some in rest])
        inverse = problem.model.inverses(second)
        own = np.diagonal(inverse, axis1=1, axis2=2)
        new = np.einsum("pij,pjk,pki->pi", inverse, problem.other(second), inverse) / own
        moved = np.einsum("pij,pj->pi", inverse, apart) ** 2 / own
        share = (new + moved - np.log(own / problem.other(own)) - 1.0) / 2
        divergence = problem.divergence(second, inverse, dets, apart)[:, None] - share
        volume = dets[:, None] + np.log(own) + (units.sum() - units)
        return self.score(problem.priors, divergence, volume / 2 + (size - 1) * problem.model.unit_entropy)


@criterion(
    "gkl_mi",
    reads="values",
    cite="[Lefakis & Fleuret 2014]",
    summary="KL bound, information: mean of p_y KL(y||rest) + (1-p_y) KL(rest||y)",
)
@dataclass(frozen=True)
class GKLMI(Divergence):
    """How far each class is from the rest, as normals."""


@criterion(
    "gkl_e",
    reads="values",
    cite="[Lefakis & Fleuret 2014]",
    summary="KL bound, entropy: gkl_mi + p_y H_y + (1-p_y) H_rest",
)
@dataclass(frozen=True)
class GKLE(Divergence):
    """The same, and the entropy of the classes."""

    standardise: bool = True
    entropy = True


def _times(weight: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """weight x terms, 0 where the weight is, whatever the term."""
    return np.where(weight > 0.0, weight * np.where(weight > 0.0, terms, 0.0), 0.0)


class Problem:
    """One against the rest: rows of every array are the second normals f2, first the rests, then the classes.

    The first normal of row p is the second of row `other(p)`. Two classes are one problem; one class is its own rest.
    """

    def __init__(self, model: Any) -> None:
        classes = model.priors.size
        self.model = model
        self.alone = classes == 1
        self.count = 1 if classes == 2 else classes
        self.priors = model.priors[: self.count]
        self.variance = self._stack(model.rest_variance, model.own)
        apart = model.shift[: self.count] - (model.shift if self.alone else model.rest_shift)[: self.count]
        self.apart = np.vstack([apart, -apart])

    def _stack(self, rest: np.ndarray, own: np.ndarray) -> np.ndarray:
        return np.vstack([(own if self.alone else rest)[: self.count], own[: self.count]])

    def other(self, rows: np.ndarray) -> np.ndarray:
        """What belongs to the first normals, from what belongs to the second."""
        return np.roll(rows, self.count, axis=0)

    def column(self, k: int) -> np.ndarray:
        """Covariances of every feature with feature k under the second normals."""
        own = self.model.of_classes(k)
        return self._stack(self.model.rest_column(own, k), own)

    def scaled(self, chosen: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Covariances of some features under the second normals, distances of the means, and log squared units.

        The units are such that variances are near 1: a divergence does not know them, an entropy gets them back.
        """
        some = list(chosen)
        block = np.stack([self.column(k)[:, some] for k in some], axis=2)
        variance = self.variance[:, some].mean(axis=0)
        variance = np.where(variance > 0.0, variance, 1.0)
        unit = 1.0 / np.sqrt(variance)
        return block * unit[:, None] * unit, self.apart[:, some] * unit, np.log(variance)

    def divergence(
        self, second: np.ndarray, inverse: np.ndarray, dets: np.ndarray, apart: np.ndarray
    ) -> np.ndarray:
        """KL(1||2) of every pair of normals."""
        trace = np.einsum("pij,pji->p", inverse, self.other(second))
        far = np.einsum("pi,pij,pj->p", apart, inverse, apart)
        total: np.ndarray = (trace - self.other(dets) + dets - second.shape[1] + far) / 2
        return total


# ------------------------------------------------------------------------------------------------------------- the run


@dataclass
class DivergenceRun:
    """Residuals of every candidate under each second normal, as the head of this file has them."""

    rule: Divergence
    stats: Stats
    taken: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problem = Problem(self.rule.model(self.stats))
        self.new = self.problem.variance.copy()
        self.first = self.problem.other(self.new).copy()
        self.apart = self.problem.apart.copy()
        self.alive = self.new > 0.0
        count = len(self.new)
        self.divergence, self.log_dets = np.zeros(count), np.zeros(count)
        self.rows, self.mixed = np.zeros((count, 8, self.stats.m)), np.zeros((count, 8, self.stats.m))
        self.among = np.zeros((count, 8, 8))

    def gains(self) -> np.ndarray:
        """The criterion of S + j for every feature j."""
        divergence = self.divergence[:, None] + self._shares()
        entropy = (self.log_dets[:, None] + np.log(self._volume())) / 2 + (
            len(self.taken) + 1
        ) * self.problem.model.unit_entropy
        scores = self.rule.score(self.problem.priors, divergence, entropy)
        return np.where(self._usable(), scores, -inf)

    def take(self, k: int) -> None:
        """Add feature k: one column of covariances, and three sums of |S| terms for each candidate."""
        used = len(self.taken)
        if used == self.rows.shape[1]:
            self._grow()
        column = self.problem.column(k)
        usable = bool(self._usable()[k])
        with self.stats.timed("estimating"):
            if usable:
                self.divergence += self._shares()[:, k]
                self.log_dets += np.log(self.new[:, k])
                self._update(k, used, column)
            elif self._usable().any():
                self.stats.warn(
                    f"feature '{self.stats.name_of(k)}' has no volume of its own in every class: those after it are"
                    " scored as if it were not there; use reg above 0 if it is to count"
                )
            self.alive[:, k] = False
        self.taken.append(k)
        self.problem.model.caution_about_rows(len(self.taken))

    def parts(self, j: int) -> dict[str, float]:
        """Means over the classes of both divergences of S + j."""
        both = (self.divergence + self._shares()[:, j]).reshape(2, -1)
        if not self._usable()[j]:
            return {}
        return {"class_from_rest": float(both[0].mean()), "rest_from_class": float(both[1].mean())}

    def _usable(self) -> np.ndarray:
        """Features with volume of their own in every class and every rest."""
        return np.asarray(self.alive.all(axis=0))

    def _volume(self) -> np.ndarray:
        return np.where(self.alive, self.new, 1.0)

    def _shares(self) -> np.ndarray:
        """What each feature would add to the divergence from every second normal."""
        new = self._volume()
        share: np.ndarray = (self.first + self.apart**2) / new - np.log(self.problem.other(new) / new) - 1.0
        share /= 2
        return share

    def _update(self, k: int, used: int, column: np.ndarray) -> None:
        pieces = len(column) * -(-self.stats.m // CHUNK)
        own = np.ascontiguousarray(self.rows[:, :used, k])
        covariance, under_first, together = (np.empty_like(column) for _ in range(3))
        reduce_columns(pieces, column, own, self.rows, used, covariance)
        reduce_columns(pieces, self.problem.other(column), own, self.mixed, used, under_first)
        along = self.mixed[:, :used, k] - np.einsum("pts,ps->pt", self.among[:, :used, :used], own)
        reduce_columns(pieces, under_first, along, self.rows, used, together)
        pivot = np.where(self.alive[:, k], self.new[:, k], inf)[:, None]
        first, apart = self.first[:, [k]].copy(), self.apart[:, [k]].copy()
        ratio = covariance / pivot
        self.first = np.maximum(self.first + ratio * (ratio * first - 2 * together), 0.0)
        self.apart = self.apart - ratio * apart
        self.rows[:, used] = covariance / np.sqrt(pivot)
        self.mixed[:, used] = under_first / np.sqrt(pivot)
        self.among[:, used, :used] = self.among[:, :used, used] = along / np.sqrt(pivot)
        self.among[:, used, used] = (first / pivot)[:, 0]
        self.new -= self.rows[:, used] ** 2
        self.alive &= self.new > self.problem.model.dependent * self.problem.variance
        self.alive[:, k] = False

    def _grow(self) -> None:
        self.rows, self.mixed = (
            np.concatenate([a, np.zeros_like(a)], axis=1) for a in (self.rows, self.mixed)
        )
        size = self.among.shape[1]
        among = np.zeros((len(self.among), 2 * size, 2 * size))
        among[:, :size, :size] = self.among
        self.among = among
