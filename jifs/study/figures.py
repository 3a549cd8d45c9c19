"""Tables and pictures of the studies: bounds along a curve of mixtures, where eq. (8) fails, errors by sample size."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from jifs.errors import InputError
from jifs.report import Column

from .bounds import Bounds, compromise_cases, estimates_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .sample_size import SampleSizeStudy

# Okabe and Ito's colours: told apart by every kind of colour vision; styles and marks help in print.
_GREEN, _BLUE, _RED, _PINK, _ORANGE, _SKY = "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#E69F00", "#56B4E9"

_LINES: dict[str, dict[str, Any]] = {
    "true": {"color": _GREEN, "lw": 2.2, "zorder": 4, "label": "true value, by quadrature"},
    "fitted": {"color": _BLUE, "ls": "--", "label": "Gaussian fitted to the mixture, eq. (5)"},
    "far_apart": {"color": "black", "ls": ":", "lw": 2, "label": "components far apart, eq. (7)"},
    "compromise": {
        "color": _RED,
        "lw": 7,
        "alpha": 0.4,
        "zorder": 1,
        "label": "compromise per class, eq. (8)",
    },
    "total": {"color": _PINK, "ls": "-.", "lw": 2, "label": "compromise in total: min of (5) and (7)"},
    "kl": {"color": _ORANGE, "ls": (0, (6, 2, 1, 2)), "label": "KL bound, without its constant"},
    "kl_tight": {"color": _SKY, "ls": (0, (3, 1)), "label": "p1 p2 (KL12 + KL21), tighter"},
}


def text_of(columns: list[Column]) -> str:
    """The columns side by side under their heads."""
    lines = ["  ".join(row).rstrip() for row in zip(*(column.padded() for column in columns), strict=True)]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def html_of(caption: str, columns: list[Column]) -> str:
    """The same as an HTML table."""
    head = "".join(f"<th>{escape(column.head)}</th>" for column in columns)
    cells = zip(*(column.cells for column in columns), strict=True)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
    return f"<p>{escape(caption)}</p><table><tr>{head}</tr>{body}</table>"


def _drawn(count: int, given: Any, size: tuple[float, float]) -> tuple[list[Axes], Callable[[], Figure]]:
    """The axes to draw on, and what returns their figure at the end."""
    try:
        import matplotlib as mpl
        from matplotlib import pyplot as plt
    except ImportError:
        raise InputError(
            "plot needs matplotlib, which the extra `plot` brings; try: pip install 'jifs[plot]'."
        ) from None
    if given is None:
        grid = plt.subplots(1, count, figsize=size, layout="constrained", squeeze=False)[1]
    else:
        grid = np.asarray(given, dtype=object)
        if grid.size != count:
            raise InputError(f"ax must be {count} matplotlib axes here, and not {grid.size}")
    axes: list[Axes] = grid.ravel().tolist()

    def done() -> Figure:
        whole: Any = axes[0].figure
        for each in axes:
            each.spines[["top", "right"]].set_visible(False)
            each.grid(color="0.92")
            each.set_axisbelow(True)
        if given is None and "inline" in mpl.get_backend():
            plt.close(whole)  # a notebook shows the returned figure; left open, it would be shown twice
        figure: Figure = whole
        return figure

    return axes, done


# ---- bounds


def bounds_figure(bounds: Bounds, ax: Axes | None, which: str, kl: bool) -> Figure:
    """The truth and the bounds along a curve of mixtures."""
    estimates = estimates_of(bounds, which)
    if np.size(bounds.conditional) < 2:
        raise InputError("plot needs a curve: give an array of at least two means, or see table()")
    x, label = _along(bounds)
    order = np.argsort(x, kind="stable")
    same = np.allclose(estimates.total, estimates.compromise, rtol=0, atol=1e-12)
    names = [name for name in _LINES if (kl or "kl" not in name) and not (same and name == "total")]
    many = len(names) > 4  # then the legend goes beside the curves, not among them
    (axes,), done = _drawn(1, ax, (10.2 if many else 7.4, 4.8))
    for name in names:
        axes.plot(x[order], getattr(estimates, name)[order], **_LINES[name])
    if kl:  # they leave the picture soon, and what matters is where they are below the others
        seen = [getattr(estimates, name) for name in names if "kl" not in name]
        low, high = np.min(seen), np.max(seen)
        axes.set_ylim(low - 0.05 * (high - low), high + 0.1 * (high - low))
    quantity = "Entropy H(X)" if which == "entropy" else "Information I(X;Y)"
    axes.set(xlabel=label, ylabel=f"{quantity} in nats")
    axes.set_title(f"{quantity} of a mixture of two Gaussian classes", loc="left", fontweight="bold")
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)} if many else {}
    axes.legend(frameon=False, fontsize="small", **beside)
    return done()


def _along(bounds: Bounds) -> tuple[np.ndarray, str]:
    """What changes along the curve, and its name: one distance, width or prior, or else the number of the mixture."""
    distance = np.abs(bounds.means[1] - bounds.means[0])
    width = np.sqrt(bounds.variances[1] / bounds.variances[0])
    first = np.sqrt(bounds.variances[0])
    prior = bounds.priors[1]
    moving = [np.ptp(values) > 0 for values in (distance / first, width, prior)]
    if moving == [False, True, False]:
        return width, "standard deviation of class 2, in those of class 1"
    if moving == [False, False, True]:
        return prior, "prior of class 2"
    if moving == [True, False, False]:
        return distance / first, "distance between the means, in standard deviations of class 1"
    return np.arange(1.0, len(prior) + 1), "mixture"


def plot_compromise_cases(bounds: Bounds | None = None, ax: Axes | None = None) -> Figure:
    """True information beside eq. (8), the total and eq. (5), as shares of H(Y): where (8) is no bound.

    Shows the four mixtures of `compromise_cases`, or yours.
    """
    bounds = compromise_cases() if bounds is None else bounds
    rows = bounds.records()
    (axes,), done = _drawn(1, ax, (8.6, 1.6 + 0.75 * len(rows)))
    top = 1.55
    marks = (("true", "o", 11), ("compromise", "X", 9), ("total", "|", 20), ("fitted", ">", 7))
    for name, mark, size in marks:
        at = [min(row[name] / row["far_apart"], top) for row in rows]
        style = {"color": _LINES[name]["color"], "marker": mark, "ms": size, "mew": 2 if mark == "|" else 0}
        axes.plot(at, np.arange(len(rows)), ls="none", label=_LINES[name]["label"], **style)
    for i, row in enumerate(rows):
        if row["fitted"] > top * row["far_apart"]:
            text = f"({row['fitted'] / row['far_apart']:.1f} H(Y))"
            axes.annotate(text, (top, i), (7, 0), textcoords="offset points", va="center", fontsize="small")
        if row["compromise"] < row["true"] - 1e-10:
            ends = [row["compromise"] / row["far_apart"], row["true"] / row["far_apart"]]
            axes.plot(ends, [i, i], color=_RED, lw=1.2, ls=":", zorder=1)
    axes.axvline(0, color="0.4", lw=0.8)
    axes.set_yticks(range(len(rows)), [_case(row) for row in rows])
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(None, top + 0.3), xlabel="information in shares of H(Y)")
    axes.set_title("Eq. (8) is no upper bound in general", loc="left", fontweight="bold", pad=42)
    axes.legend(
        frameon=False, fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0
    )
    return done()


def _case(row: dict[str, float]) -> str:
    def law(y: int) -> str:
        return f"N({row[f'mean_{y}']:.5g}, {row[f'variance_{y}']:.5g})"

    priors = f"p = ({row['prior_1']:.3g}, {row['prior_2']:.3g})"
    outcome = "below the truth" if row["compromise"] < row["true"] - 1e-10 else "above the truth"
    return f"{law(1)}, {law(2)}\n{priors}; (8) {outcome}"


# ---- sample size


def sample_size_figure(study: SampleSizeStudy, ax: Any) -> Figure:
    """Three panels against N: the condition number, the relative errors, and the error of log|S|."""
    from .sample_size import spread

    axes, done = _drawn(3, ax, (13.2, 4.6))
    sizes = study.sizes

    def draw(panel: Axes, values: np.ndarray, color: str, style: str, label: str) -> None:
        low, middle, high = np.array([spread(row) for row in values]).T
        seen = np.isfinite(middle)
        panel.plot(sizes[seen], middle[seen], style, color=color, ms=5, label=label)
        if style == "-o":
            panel.fill_between(sizes[seen], low[seen], high[seen], color=color, alpha=0.2, lw=0)

    for errors, color, name in ((study.plain, _BLUE, "ML"), (study.shrunk, _RED, "Ledoit-Wolf")):
        draw(axes[0], errors.condition, color, "-o", name)
        draw(axes[1], errors.spectral, color, "-o", f"{name}, spectral norm")
        draw(axes[1], errors.frobenius, color, "--s", f"{name}, Frobenius norm")
        draw(axes[2], errors.log_det, color, "-o", name)
    axes[0].axhline(study.true_condition, color="black", ls=":", lw=2, label="true covariance")
    regular = np.isfinite(study.expected_log_det)
    axes[2].plot(sizes[regular], study.expected_log_det[regular], "k--x", label="ML, exact expectation")
    axes[2].axhline(0, color="0.4", lw=0.8)
    axes[0].set(yscale="log", ylabel="condition number", title="Condition")
    axes[1].set(
        ylabel="error relative to the true covariance", title="Error of the covariance", ylim=(0, None)
    )
    axes[2].set(ylabel="log|S| - log|Sigma| in nats", title="Error of the log-determinant")
    for panel in axes:
        _against_sizes(panel, sizes, study.dimension)
    whole = done()
    if ax is None:
        over = f"median and 10-90 % of {study.trials} trials" if study.trials > 1 else "one trial"
        whole.suptitle(
            f"{study.dimension} features, covariance: {study.covariance}; {over}", fontweight="bold"
        )
    return whole


def _against_sizes(panel: Axes, sizes: np.ndarray, d: int) -> None:
    """A logarithmic axis of sample sizes, with those up to d shaded, where the plain covariance is singular."""
    panel.set(xscale="log", xlabel="number of samples N")
    if sizes[0] <= d:
        panel.axvspan(sizes[0] * 0.9, d + 1, color="0.5", alpha=0.12, lw=0, label="N <= d: ML is singular")
    named = [sizes[0]]
    for size in sizes[1:]:
        if np.log(size / named[-1]) > 0.06 * np.log(
            sizes[-1] / sizes[0]
        ):  # closer ones would be written over each other
            named.append(size)
    panel.set_xticks(named, [str(size) for size in named], rotation=45 if len(named) > 6 else 0)
    panel.set_xticks([], minor=True)
    panel.legend(frameon=False, fontsize="small")
