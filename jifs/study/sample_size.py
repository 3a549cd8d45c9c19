"""How many samples a covariance needs: S = 1/N sum_i (x_i - mean)(x_i - mean)^T against the true Sigma, N growing.

    condition     kappa(S) = largest / smallest eigenvalue; infinite for N <= d, where S is singular
    frobenius     |S - Sigma|_F / |Sigma|_F
    spectral      |S - Sigma|_2 / |Sigma|_2: about sqrt(d/N), so that N must be a multiple of d [Vershynin 2012]
    log_det       log|S| - log|Sigma|, the error of twice an entropy; minus infinity for N <= d

The criteria that need S^-1 or log|S| meet the condition number first: slides of [Lefakis & Fleuret 2016]. Each is also
measured after the shrinkage (1 - s) S + s (tr S / d) I with the intensity s of [Ledoit & Wolf 2004].
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from jifs.errors import InputError
from jifs.report import Column, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Errors:
    """What an estimate of the covariance gets wrong: arrays with a row for each size and a column for each trial."""

    condition: np.ndarray
    frobenius: np.ndarray
    spectral: np.ndarray
    log_det: np.ndarray


MEASURES = tuple(field.name for field in fields(Errors))


@dataclass(frozen=True, eq=False, repr=False)
class SampleSizeStudy:
    """Errors of the covariance of `dimension` Gaussian features from N samples, for each N in `sizes`.

    `plain` is the maximum likelihood estimate, `shrunk` the same after Ledoit and Wolf's shrinkage, whose intensity is
    `shrinkage`. `expected_log_det` is the exact mean of plain.log_det, whatever the true covariance.
    """

    dimension: int
    sizes: np.ndarray
    covariance: str
    trials: int
    seed: int
    true_condition: float
    expected_log_det: np.ndarray
    plain: Errors
    shrunk: Errors
    shrinkage: np.ndarray

    def records(self) -> list[dict[str, Any]]:
        """One row a size and estimate: median of each error over the trials, and its 10 % and 90 % quantiles."""
        rows = []
        for i, size in enumerate(self.sizes.tolist()):
            for name, errors in (("plain", self.plain), ("shrunk", self.shrunk)):
                row: dict[str, Any] = {"size": size, "estimate": name}
                for measure in MEASURES:
                    low, middle, high = spread(getattr(errors, measure)[i])
                    row |= {measure: middle, f"{measure}_low": low, f"{measure}_high": high}
                rows.append(row | {"shrinkage": spread(self.shrinkage[i])[1] if name == "shrunk" else 0.0})
        return rows

    def table(self) -> str:
        """One line a size and estimate: the median of each error, with its 10 % and 90 % quantiles in brackets."""
        from .figures import text_of

        return f"{_headline(self)}\n\n{text_of(_columns(self))}"

    def plot(self, ax: Any = None) -> Figure:
        """Condition number, relative errors and error of log|S| against N; `ax`: three matplotlib axes."""
        from .figures import sample_size_figure

        return sample_size_figure(self, ax)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<SampleSizeStudy: {_headline(self)}>"

    def _repr_html_(self) -> str:
        from .figures import html_of

        return html_of(_headline(self), _columns(self))


def sample_size_study(
    dimension: int, sizes: Any, covariance: Any = None, trials: int = 20, seed: int = 0
) -> SampleSizeStudy:
    """Draw N Gaussian samples, `trials` times for each N in `sizes`, and measure the errors of their covariance.

    `covariance` is None for the identity, a number r in (-1, 1) for r^|i-j| (AR(1)), or a positive definite matrix. A
    trial with more samples holds those of the same trial with fewer, so a curve shows one sample that grows. The
    same seed gives the same numbers.
    """
    d = _whole("dimension", dimension, 1)
    trials, seed = _whole("trials", trials, 1), _whole("seed", seed, 0)
    counts = sorted({_whole("sizes", size, 2) for size in _entries(sizes)})
    sigma, told = _truth(d, covariance)
    root = np.linalg.cholesky(sigma)
    known = np.linalg.eigvalsh(sigma)
    shape = (len(counts), trials)
    plain, shrunk = (Errors(*(np.empty(shape) for _ in MEASURES)) for _ in range(2))
    shrinkage = np.empty(shape)
    for i, count in enumerate(counts):
        for t in range(trials):
            white = np.random.default_rng([seed, t]).standard_normal((count, d))
            first, second, shrinkage[i, t] = _one_trial(white, sigma, root, known[-1])
            for errors, found in ((plain, first), (shrunk, second)):
                for measure, value in zip(MEASURES, found, strict=True):
                    getattr(errors, measure)[i, t] = value
    expected = np.array([_expected_log_det(count, d) for count in counts])
    condition = float(known[-1] / known[0])
    where = np.array(counts)
    return SampleSizeStudy(d, where, told, trials, seed, condition, expected, plain, shrunk, shrinkage)


def spread(values: np.ndarray) -> tuple[float, float, float]:
    """The 10 %, 50 % and 90 % quantiles, each one of the values, so that infinite ones do no harm."""
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], method="inverted_cdf").tolist()
    return low, middle, high


def _one_trial(
    white: np.ndarray, sigma: np.ndarray, root: np.ndarray, largest: float
) -> tuple[list[float], list[float], float]:
    """The errors of the plain and of the shrunk covariance of one sample, in the order of MEASURES; the intensity."""
    from sklearn.covariance import ledoit_wolf_shrinkage

    count, d = white.shape
    white = white - white.mean(0)
    x = white @ root.T
    plain = x.T @ x / count
    values = np.maximum(np.linalg.eigvalsh(plain), 0.0)
    values[: max(d - count + 1, 0)] = 0.0  # the mean took one sample; without this, rounding would be left
    intensity = float(ledoit_wolf_shrinkage(x, assume_centered=True))
    level = intensity * np.trace(plain) / d
    shrunk = (1 - intensity) * plain + level * np.eye(d)
    shrunk_values = (1 - intensity) * values + level
    # in the white sample the true covariance has no part in the rounding: log|S| - log|Sigma| = log|W|
    log_det = float(np.linalg.slogdet(white.T @ white / count)[1]) if count > d else -np.inf
    shrunk_log_det = _log_det(shrunk_values) - 2 * float(np.log(np.diag(root)).sum())

    def errors(estimate: np.ndarray, spectrum: np.ndarray, gap: float) -> list[float]:
        off, top = estimate - sigma, spectrum[-1]
        condition = np.inf if _vanishes(spectrum) else top / spectrum[0]
        far = float(np.abs(np.linalg.eigvalsh(off)[[0, -1]]).max())
        return [condition, float(np.linalg.norm(off) / np.linalg.norm(sigma)), far / largest, gap]

    return errors(plain, values, log_det), errors(shrunk, shrunk_values, shrunk_log_det), intensity


def _vanishes(spectrum: np.ndarray) -> bool:
    """Is the smallest eigenvalue zero, as far as rounding lets one see?"""
    return bool(spectrum[0] <= len(spectrum) * np.finfo(float).eps * spectrum[-1])


def _log_det(spectrum: np.ndarray) -> float:
    return -np.inf if _vanishes(spectrum) else float(np.log(spectrum).sum())


def _expected_log_det(count: int, d: int) -> float:
    """E log|S| - log|Sigma| = sum_{i=1..d} digamma((N - i) / 2) + d log(2 / N): a product of chi2's."""
    from scipy.special import digamma

    if count <= d:
        return -np.inf
    return float(digamma((count - np.arange(1, d + 1)) / 2).sum() + d * np.log(2 / count))


# ---- what is asked for


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool | np.bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be whole and at least {least}, and {str(value)[:60]!r} is not.")
    return int(value)


def _entries(sizes: Any) -> list[Any]:
    """The sizes as a list; one alone is a list of one."""
    if isinstance(sizes, int | np.integer):
        return [sizes]
    try:
        listed = list(sizes)
    except TypeError:
        raise InputError(f"sizes must be a list of sample sizes, and not {str(sizes)[:60]!r}") from None
    if not listed:
        raise InputError("sizes must hold at least one sample size, for instance [50, 100, 200]")
    return listed


def _truth(d: int, covariance: Any) -> tuple[np.ndarray, str]:
    """The true covariance, with 1 as its largest entry (no measure feels the unit), and its name."""
    if covariance is None:
        return np.eye(d), "identity"
    what = "covariance must be None, a number between -1 and 1, or a positive definite matrix"
    try:
        given = np.asarray(covariance)
    except ValueError:
        raise InputError(what) from None
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        raise InputError(f"{what}, all of finite numbers")
    given = given.astype(np.float64)
    if given.ndim == 0:
        if abs(given) >= 1:
            raise InputError(f"{what}, and {given:g} is none of these")
        return given ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))), f"AR(1) with {given:g}"
    if given.shape != (d, d):
        raise InputError(f"{what} of {d} x {d} for dimension {d}, and this has shape {given.shape}")
    scale = np.abs(given).max() or 1.0
    given = given / scale
    if np.abs(given - given.T).max() > 1e-10:
        raise InputError(f"{what}, and this one is not symmetric")
    given = (given + given.T) / 2
    if _vanishes(np.linalg.eigvalsh(given)):
        raise InputError(f"{what}, and this one has an eigenvalue that is zero or negative")
    return given, "given matrix"


# ---- the table


def _headline(study: SampleSizeStudy) -> str:
    trials = f"{study.trials} trial{'s' * (study.trials != 1)}, seed {study.seed}"
    known = f"covariance: {study.covariance}, condition {number(study.true_condition)}"
    return f"{study.dimension} features; {known}; {trials}"


def _columns(study: SampleSizeStudy) -> list[Column]:
    rows = study.records()
    columns = [Column("N", [str(row["size"]) for row in rows])]
    columns += [Column("covariance", [row["estimate"] for row in rows], left=True)]
    for measure, head in zip(MEASURES, ("condition", "Frobenius", "spectral", "log det"), strict=True):
        cells = [
            f"{number(row[measure])} ({number(row[f'{measure}_low'])} .. {number(row[f'{measure}_high'])})"
            for row in rows
        ]
        columns.append(Column(head, cells))
    return [*columns, Column("shrinkage", [number(row["shrinkage"]) for row in rows])]
