"""Bounds on the entropy of two Gaussian classes in one dimension, beside the truth [Lefakis & Fleuret 2014].

    f = p1 f1 + p2 f2,  f_y = N(mu_y, v_y);   H_y = H(f_y) = 1/2 log(2 pi e v_y);   H* = H(N with f's mean and variance)

    H(X)   = - integral of f log f                                  the truth, by quadrature
    fitted       H*                                                 eq. (5)
    far apart    sum_y p_y (H_y - log p_y)                          eq. (7)
    compromise   sum_y p_y min(H*, H_y - log p_y)                   eq. (8), no bound in general
    total        min(fitted, far apart)                             a bound always
    KL           sum_y p_y H_y + p1 KL(1||2) + p2 KL(2||1)          with a constant -p1 log p2 - p2 log p1, or without
    tight KL     sum_y p_y H_y + p1 p2 (KL(1||2) + KL(2||1))        never above the last one

The same less sum_y p_y H_y, what is left of X's entropy when the class is known, is about I(X;Y).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import erfc
from typing import TYPE_CHECKING, Any

import numpy as np

from jifs.errors import InputError
from jifs.report import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = Any  # a float, or an array with one entry a mixture

# Beyond these, squares would overflow; no entropy changes there any more.
FARTHEST, RAREST = 1e100, 1e-300

LABELS = {
    "true": "true",
    "fitted": "fitted, (5)",
    "far_apart": "far apart, (7)",
    "compromise": "compromise, (8)",
    "total": "total",
    "kl": "KL",
    "kl_constant": "KL + constant",
    "kl_tight": "tight KL",
}


@dataclass(frozen=True, eq=False)
class Estimates:
    """The truth and what is said to bound it, in nats; a float each, or an array with one entry a mixture."""

    true: Numbers
    fitted: Numbers
    far_apart: Numbers
    compromise: Numbers
    total: Numbers
    kl: Numbers
    kl_constant: Numbers
    kl_tight: Numbers


@dataclass(frozen=True, eq=False, repr=False)
class Bounds:
    """Entropy H(X) and information I(X;Y) of two Gaussian classes: the truth and every bound, in nats.

    `entropy` and `information` hold the same `Estimates`; they differ by `conditional`, H(X|Y). `quadrature_error`
    is an estimate of the error of both truths.
    """

    means: np.ndarray
    variances: np.ndarray
    priors: np.ndarray
    entropy: Estimates
    information: Estimates
    conditional: Numbers
    quadrature_error: Numbers

    @property
    def compromise_fails(self) -> Any:
        """Where eq. (8) lies below the truth, so that it is no upper bound: one bool, or one a mixture."""
        return self.information.compromise < self.information.true - 1e-10

    def records(self, which: str = "information") -> list[dict[str, float]]:
        """One row a mixture: its parameters and the estimates of its "information" or "entropy"."""
        columns = {
            f"{name}_{y + 1}": values[y]
            for name, values in (("mean", self.means), ("variance", self.variances), ("prior", self.priors))
            for y in (0, 1)
        }
        columns |= {name: getattr(estimates_of(self, which), name) for name in LABELS}
        grid = {name: np.atleast_1d(values).tolist() for name, values in columns.items()}
        return [dict(zip(grid, row, strict=True)) for row in zip(*grid.values(), strict=True)]

    def table(self, which: str = "information") -> str:
        """One line a mixture with its true "information" or "entropy" and the bounds, in nats."""
        from .figures import text_of

        return text_of(_columns(self, which))

    def plot(self, ax: Axes | None = None, which: str = "entropy", kl: bool = False) -> Figure:
        """The truth and the bounds along a curve of mixtures: Figure 1 of the paper; `kl` adds the KL bounds."""
        from .figures import bounds_figure

        return bounds_figure(self, ax, which, kl)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        count = np.size(self.conditional)
        return f"<Bounds of {count} mixture{'s' * (count != 1)}>"

    def _repr_html_(self) -> str:
        from .figures import html_of

        return html_of("Information I(X;Y) in nats", _columns(self, "information"))


def entropy_bounds(means: Any, variances: Any = (1.0, 1.0), priors: Any = (0.5, 0.5)) -> Bounds:
    """True entropy and information of two Gaussian classes in one dimension, with every bound, in nats.

    Each argument is a pair, one entry a class. An entry may be an array, or the pair an array of shape (2, g), for g
    mixtures in one call: `entropy_bounds((0, np.linspace(0, 8, 161))).plot()` is Figure 1 of the paper. The truth comes
    by quadrature and is good to twelve digits, for any distance, widths and priors.
    """
    (m, v, p), curve = _mixtures(means, variances, priors)
    sd = np.sqrt(v)
    away = (m[0] - m[1]) / sd  # the distance in each class's own standard deviations
    wider = (v[::-1] - v) / v  # v_other / v_y - 1
    conditional = (p * 0.5 * (np.log(2 * np.pi * np.e) + np.log(v))).sum(0)

    above, fitted = _pooled(p, wider, away)
    surprise = -_log_prior(p)
    kl = 0.5 * ((v / v[::-1]) * log_excess(wider) + away[::-1] ** 2)  # KL(y || other)
    far_apart, kl_mean = (p * surprise).sum(0), (p * kl).sum(0)
    truth = [_information(*column) for column in zip(p.T, sd.T, wider.T, away.T, strict=True)]
    information = {
        "true": np.array([value for value, _ in truth]),
        "fitted": fitted,
        "far_apart": far_apart,
        "compromise": (p * np.minimum(above, surprise)).sum(0),
        "total": np.minimum(fitted, far_apart),
        "kl": kl_mean,
        "kl_constant": kl_mean - (p * _log_prior(p)[::-1]).sum(0),
        "kl_tight": p.prod(0) * kl.sum(0),
    }

    def shaped(values: np.ndarray) -> Numbers:
        return values if curve else float(values[0])

    m, v, p = (values if curve else values[:, 0] for values in (m, v, p))
    return Bounds(
        m,
        v,
        p,
        Estimates(**{name: shaped(conditional + values) for name, values in information.items()}),
        Estimates(**{name: shaped(values) for name, values in information.items()}),
        shaped(conditional),
        shaped(np.array([error for _, error in truth])),
    )


def compromise_cases() -> Bounds:
    """Four mixtures that show when eq. (8) bounds the information: in the first one only.

    In the first, priors and variances are equal. In the second and third H* > H_y for both classes, the condition
    under which (8) has been recommended. In the fourth (8) is even negative.
    """
    just_beyond = 1 + np.sqrt(2 * (100.0**2 - 1))  # H* > H_2 from one less on
    means = [[0, 0, 0, 0], [3, 8, just_beyond, 0]]
    variances = [[1, 1, 1, 1], [1, 1, 100**2, 100]]
    priors = [[0.5, 0.9, 0.5, 0.99], [0.5, 0.1, 0.5, 0.01]]
    return entropy_bounds(means, variances, priors)


def _mixtures(means: Any, variances: Any, priors: Any) -> tuple[list[np.ndarray], bool]:
    """The arguments as arrays of shape (2, g), and whether g was asked for; every refusal is here."""
    given = {"means": _pair("means", means), "variances": _pair("variances", variances)}
    given["priors"] = _pair("priors", priors)
    lengths = {len(entry) for pair in given.values() for entry in pair if entry.ndim}
    if len(lengths) > 1:
        raise InputError(f"all arrays must have one length, and these have {sorted(lengths)}")
    g = max(lengths, default=1)
    m, v, p = (np.array([np.broadcast_to(entry, g) for entry in pair]) for pair in given.values())
    if (v <= 0).any():
        raise InputError(f"variances must be positive, and one is {v.min():g}")
    for p1, p2 in p.T[(p.min(0) < RAREST) | (np.abs(p.sum(0) - 1) > 1e-9)]:
        raise InputError(
            f"priors must be positive and sum to 1, as (0.9, 0.1) do and ({p1:g}, {p2:g}) do not."
        )
    sd = np.sqrt(v)
    with np.errstate(over="ignore"):
        farthest = max((np.abs(m[0] / 2 - m[1] / 2) / FARTHEST / sd).max(), (sd / FARTHEST / sd[::-1]).max())
    if farthest > 0.5:
        raise InputError(f"means and variances must not be more than {FARTHEST:g} standard deviations apart")
    return [m, v, p / p.sum(0)], bool(lengths)


def _pair(name: str, value: Any) -> list[np.ndarray]:
    """Two finite numbers or one-dimensional arrays of them."""
    what = f"{name} must be a pair, one entry a class, of finite numbers or one-dimensional arrays of them"
    try:
        entries = [np.asarray(entry) for entry in value]
    except (TypeError, ValueError):
        raise InputError(f"{what}, and not {str(value)[:60]!r}") from None
    if len(entries) != 2:
        raise InputError(f"{what}; {len(entries)} entries were given")
    for entry in entries:
        if entry.dtype.kind not in "iuf" or entry.ndim > 1 or not entry.size or not np.isfinite(entry).all():
            raise InputError(what)
    return [entry.astype(np.float64) for entry in entries]


# ---- closed forms that keep their digits when the classes are nearly equal


def log_excess(t: np.ndarray) -> np.ndarray:
    """phi(t) = (1 + t) log(1 + t) - t for t >= -1, never negative; t^2/2 near 0, where the difference would cancel."""
    near, series = np.clip(t, -0.05, 0.05), np.zeros_like(t)
    for k in range(12, 1, -1):
        series = (-1) ** k / (k * (k - 1)) + near * series
    log_up = np.log1p(np.maximum(t, np.finfo(float).eps - 1))  # 0 log 0 = 0
    out: np.ndarray = np.where(np.abs(t) < 0.05, near * near * series, (1 + t) * log_up - t)
    return out


def _log_prior(p: np.ndarray) -> np.ndarray:
    """log p, from the other class's prior where p is near 1."""
    out: np.ndarray = np.where(p > 0.5, np.log1p(-np.minimum(p[::-1], 0.5)), np.log(p))
    return out


def _pooled(p: np.ndarray, wider: np.ndarray, away: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H* - H_y of each class, and its mean over the classes; v* = p1 v1 + p2 v2 + p1 p2 (mu1 - mu2)^2.

    The mean is half of (v* - p1 v1 - p2 v2) / v* + sum_y p_y (v_y / v*) phi(v* / v_y - 1): nothing cancels.
    """
    apart = p.prod(0) * away**2
    more = p[::-1] * wider + apart  # v* / v_y - 1
    ratio = np.where(more < -0.5, p + p[::-1] * (1 + wider) + apart, 1 + more)
    above = 0.5 * np.where(more < -0.5, np.log(ratio), np.log1p(np.maximum(more, -0.5)))
    mean = 0.5 * (apart[0] / ratio[0] + (p * (log_excess(more) / ratio)).sum(0))
    return above, mean


# ---- the truth


_REACH = 60.0  # standard deviations of the narrower class; no prior or width makes it count beyond


def _information(p: np.ndarray, sd: np.ndarray, wider: np.ndarray, away: np.ndarray) -> tuple[float, float]:
    """I(X;Y) = integral of f(x) KL(P(Y|x) || P(Y)), and an estimate of its error.

    Where the narrower class may be, x is counted in its standard deviations z; the other class sees a z + delta of its
    own, a <= 1, so that neither a large distance nor different widths cost digits. Elsewhere the class is certain.
    """
    n, w = (0, 1) if sd[0] <= sd[1] else (1, 0)
    a, delta = sd[n] / sd[w], (w - n) * away[w]
    less = wider[w] / (1 + a)  # a - 1
    log_a = np.log1p(less) if less > -0.5 else np.log(a)

    def integrand(z: np.ndarray) -> np.ndarray:
        ratio = 0.5 * (less * z + delta) * ((a + 1) * z + delta) - log_a  # log f_n / f_w
        density = p[n] * np.exp(-0.5 * z * z) + p[w] * a * np.exp(-0.5 * (a * z + delta) ** 2)
        out: np.ndarray = density * _posterior_kl(ratio, p[n], p[w])
        return out

    marks = np.arange(-12.0, 13.0)
    edges = np.r_[-_REACH, -40, -24, -16, marks, 16, 24, 40, _REACH, (marks - delta) / a]
    value, error = _integral(integrand, np.unique(np.clip(edges, -_REACH, _REACH))) / np.sqrt(2 * np.pi)
    outside = erfc((_REACH * a + delta) / 2**0.5) / 2 + erfc((_REACH * a - delta) / 2**0.5) / 2
    return float(value - p[w] * outside * _log_prior(p)[w]), float(error)


def _posterior_kl(ratio: np.ndarray, p: float, q: float) -> np.ndarray:
    """KL( P(Y|x) || P(Y) ) = p phi(P(y|x)/p - 1) + q phi(P(other|x)/q - 1), at log f_y(x)/f_other(x) = ratio."""
    rarer, less = np.exp(-np.abs(ratio)), np.expm1(-np.abs(ratio))
    like = np.where(ratio > 0, p, q)  # the prior of the class that x looks like
    unlike = np.where(ratio > 0, q, p)
    both = like + unlike * rarer
    out: np.ndarray = like * log_excess(-unlike * less / both) + unlike * log_excess(like * less / both)
    return out


def _integral(f: Callable[[np.ndarray], np.ndarray], edges: np.ndarray) -> np.ndarray:
    """The integral of f >= 0 and an error estimate: Gauss-Legendre on panels, halved until two orders agree."""
    orders = [np.polynomial.legendre.leggauss(n) for n in (16, 32)]
    low, high = edges[:-1], edges[1:]
    value = error = scale = 0.0
    for halvings in range(60):
        middle, half = (low + high) / 2, (high - low) / 2
        coarse, fine = (half * (f(middle[:, None] + half[:, None] * x) @ w) for x, w in orders)
        doubt = np.abs(fine - coarse)
        scale = max(scale, fine.sum() + value)
        open_ = (doubt > 1e-13 * scale) & (halvings < 59)
        value, error = value + fine[~open_].sum(), error + doubt[~open_].sum()
        low, high = np.r_[low[open_], middle[open_]], np.r_[middle[open_], high[open_]]
        if not low.size:
            break
    return np.array([value, error])


# ---- the table


def estimates_of(bounds: Bounds, which: str) -> Estimates:
    """The estimates of "entropy" or "information"."""
    if which not in ("entropy", "information"):
        raise InputError(f"which must be 'entropy' or 'information', and not {which!r}")
    estimates: Estimates = getattr(bounds, which)
    return estimates


def _columns(bounds: Bounds, which: str) -> list[Column]:
    rows = bounds.records(which)
    classes = [[f"N({r[f'mean_{y}']:g}, {r[f'variance_{y}']:g})" for r in rows] for y in (1, 2)]
    priors = Column("priors", [f"{r['prior_1']:g}, {r['prior_2']:g}" for r in rows], left=True)
    known = [priors, *(Column(f"class {y}", classes[y - 1], left=True) for y in (1, 2))]
    found = [Column(label, [_nats(row[name]) for row in rows]) for name, label in LABELS.items()]
    notes = ["(8) below the truth" if fails else "" for fails in np.atleast_1d(bounds.compromise_fails)]
    return [*known, *found, *([Column("note", notes, left=True)] if any(notes) else [])]


def _nats(value: float) -> str:
    return f"{value:z.5f}" if abs(value) < 1e6 else f"{value:.3g}"
