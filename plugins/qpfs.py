"""Quadratic programming feature selection [Rodriguez-Lujan et al. 2010; Vinh et al. 2014]: weights x >= 0, sum x = 1.

    qpfs   balanced   max a f'x - (1-a)/2 x'Hx,   a = qbar / (qbar + fbar), the means of all H_ij and of f
           plain      max f'x - alpha x'Hx
           H_ij = I(X_i;X_j), H_ii = H(X_i), f_i = I(X_i;Y); or the sizes of Pearson correlations
    eqpfs             max f'x - alpha x'Mx,       M = H1 - beta H2 + lambda I
           H1_ij = I(X_i;X_j), H2_ij = I(X_i;X_j|Y), zero on their diagonals

Strategy `qp` finds the weights; strategies that compare sets value a set by the same function of its 0/1 vector.
qpfs penalises entropy: a constant feature costs nothing and would come out on top, so constants are left out unless
drop_constant=False. convexify=True raises the diagonal of an H with negative eigenvalues, which `qp` would refuse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from numbers import Real
from typing import Any

import numpy as np

from jifs import Info, InputError, Stats, criterion, info

SAFE = 1e-10
ROUNDING = 16 * 2.0**-52
"""A column that varies by no more than this share of its mean is constant but for rounding."""


@criterion(
    "qpfs",
    default="qp",
    cite="[Rodriguez-Lujan et al. 2010]",
    summary="a sum I(X_i;Y) x_i - (1-a)/2 sum I(X_i;X_j) x_i x_j: weights by quadratic programming",
)
@dataclass(frozen=True)
class Qpfs:
    """Relevance of the weighted features less their redundancy, each with itself included.

    form: "balanced" or "plain"; alpha: a or alpha above, None for the means or 1; similarity: "mi" or "pearson".
    """

    form: str = "balanced"
    similarity: str = "mi"
    alpha: float | None = None
    drop_constant: bool = True
    convexify: bool = False
    info: Info = field(default_factory=lambda: info("plugin"))

    def __post_init__(self) -> None:
        _one_of("form", self.form, ("balanced", "plain"))
        _one_of("similarity", self.similarity, ("mi", "pearson"))
        _one_of("drop_constant", self.drop_constant, (True, False))
        _one_of("convexify", self.convexify, (True, False))
        if self.alpha is not None:
            _number("alpha", self.alpha, 0.0, 1.0 if self.form == "balanced" else inf)

    def pairs(self, stats: Stats) -> tuple[np.ndarray, np.ndarray]:
        """The objective at 0/1 vectors, the part of H_ii also on the diagonal of Q."""
        if self.similarity == "mi":
            H, f = self.info.matrix(stats, "mi"), self.info.relevance(stats)
            constant = stats.cards < 2
        else:
            H, f = correlations(stats)
            constant = H.diagonal() == 0
        unwanted = constant if self.drop_constant else np.zeros(stats.m, np.bool_)
        use = np.flatnonzero(stats.free & ~unwanted)
        inner = H[np.ix_(use, use)]
        weight = self._weight(inner, f[use])
        stats.facts["alpha"] = weight
        factor, linear = ((1 - weight) / 2, weight * f) if self.form == "balanced" else (weight, f)
        shift = max(0.0, -_least(inner)) if self.convexify and use.size else 0.0
        return _form(H, factor, linear, shift, unwanted)

    def _weight(self, H: np.ndarray, f: np.ndarray) -> float:
        if self.alpha is not None:
            return float(self.alpha)
        if self.form == "plain":
            return 1.0
        redundancy, relevance = (float(a.mean()) if a.size else 0.0 for a in (H, f))
        if redundancy < 0 or relevance < 0:
            raise InputError(
                "parameter alpha must be given here: form 'balanced' takes it from the mean redundancy and relevance,"
                f" and one is below zero ({redundancy:.3g} and {relevance:.3g})"
            )
        return redundancy / (redundancy + relevance) if redundancy + relevance > 0 else 0.5


@criterion(
    "eqpfs",
    default="qp",
    cite="[Vinh et al. 2014]",
    summary="sum I(X_i;Y) x_i - sum [I(X_i;X_j) - beta I(X_i;X_j|Y)] x_i x_j: weights by quadratic programming",
)
@dataclass(frozen=True)
class Eqpfs:
    """Relevance less redundancy plus redundancy given the class, and the same penalty `lam` on every squared weight.

    lam None is the least that makes the program convex, plus 1e-10.
    """

    beta: float = 1.0
    lam: float | None = None
    alpha: float = 1.0
    drop_constant: bool = True
    info: Info = field(default_factory=lambda: info("plugin"))

    def __post_init__(self) -> None:
        _number("beta", self.beta, -inf, inf)
        _number("alpha", self.alpha, 0.0, inf)
        _one_of("drop_constant", self.drop_constant, (True, False))
        if self.lam is not None:
            _number("lam", self.lam, -inf, inf)

    def pairs(self, stats: Stats) -> tuple[np.ndarray, np.ndarray]:
        """The objective at 0/1 vectors, the part of lambda also on the diagonal of Q."""
        M = self.info.matrix(stats, "mi")
        if self.beta:
            M = M - self.beta * self.info.matrix(stats, "cmi")
        np.fill_diagonal(M, 0.0)
        unwanted = stats.cards < 2 if self.drop_constant else np.zeros(stats.m, np.bool_)
        use = np.flatnonzero(stats.free & ~unwanted)
        lam = self.lam
        if lam is None:
            lam = max(0.0, -_least(M[np.ix_(use, use)])) + SAFE if use.size else SAFE
        stats.facts["lambda"] = float(lam)
        return _form(M, self.alpha, self.info.relevance(stats), float(lam), unwanted)


def correlations(stats: Stats) -> tuple[np.ndarray, np.ndarray]:
    """|rho(X_i, X_j)| and sum_y p_y |rho(X_i, 1[Y = y])|; 0 for a constant."""
    batch = stats.numbers_in_memory("similarity='pearson'")
    mass, first = batch.mass, batch.mean[0]
    share = mass / mass.sum()
    apart = (batch.mean - first) + (
        batch.offset - batch.offset[0]
    )  # by way of the first class: no digits are lost
    shift = apart - share @ apart
    products = batch.all_products().sum(axis=0) / mass.sum() + (shift.T * share) @ shift
    spread = products.diagonal().copy()
    constant = spread <= (ROUNDING * (first + share @ apart)) ** 2
    unit = np.where(constant, 0.0, 1.0 / np.sqrt(np.where(constant, 1.0, spread)))
    H = np.minimum(np.abs(products * unit[:, None] * unit), 1.0)
    np.fill_diagonal(H, np.where(constant, 0.0, 1.0))
    inside = np.where((share > 0) & (share < 1), share, 0.5)
    with_class = np.abs(shift * unit) * np.sqrt(inside / (1 - inside))[:, None]
    return H, np.minimum(share @ np.where((share < 1)[:, None], with_class, 0.0), 1.0)


def _form(
    H: np.ndarray, factor: float, linear: np.ndarray, shift: float, unwanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """q and Q of linear'x - factor x'(H + shift I)x; minus infinity for features that must not be chosen."""
    Q = -factor * H
    Q[np.diag_indices(len(H))] -= factor * shift
    q = linear + Q.diagonal()
    q[unwanted] = -inf
    Q[unwanted], Q[:, unwanted] = 0.0, 0.0
    return q, Q


def _least(H: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(H)[0])


def _one_of(name: str, value: Any, known: tuple[Any, ...]) -> None:
    if not any(value is one or (isinstance(one, str) and value == one) for one in known):
        raise InputError(f"parameter {name} must be {' or '.join(map(repr, known))}, not {value!r}")


def _number(name: str, value: Any, least: float, most: float) -> None:
    number = not isinstance(value, bool | np.bool_) and isinstance(value, Real) and isfinite(value)
    if not number or not least <= float(value) <= most:
        reach = "a finite number" if least == -inf else f"a number from 0 {'to 1' if most == 1 else 'on'}"
        raise InputError(f"parameter {name} must be {reach}, not {value!r}")
