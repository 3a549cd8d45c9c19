"""The table and the figure of a gap study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jifs.study.gap import Gap

VALUES = {
    "spec": ("SPEC", "#E69F00", "o"),
    "jmi": ("greedy JMI", "#56B4E9", "v"),
    "greedy": ("greedy", "#999999", "s"),
    "swap": ("SPEC + swap", "#009E73", "D"),
    "tabu": ("tabu", "#0072B2", "^"),
    "sdp": ("SDP + rounding", "#CC79A7", "P"),
}
LIMITS = {
    "spectral": ("spectral bound", "#E69F00", ":"),
    "eq26": ("eq. (26) bound", "#CC79A7", "-."),
    "split": ("split bound", "#56B4E9", "--"),
    "tight": ("tight bound", "#0072B2", "-"),
}
"""Okabe and Ito's colours, told apart by every kind of colour vision."""


def table(study: Gap) -> str:
    """k, best value, best bound, certified gap, and the loss of every method against the best bound, in per cent."""
    methods = [name for name in VALUES if any(r["method"] == name for r in study.records)]
    limits = [name for name in LIMITS if any(r["method"] == name for r in study.records)]
    header = [
        "k",
        "best value",
        "best bound",
        "gap",
        "",
        *(VALUES[m][0] for m in methods),
        *(LIMITS[b][0] for b in limits),
    ]
    rows = [header]
    for k, best in study.best.items():
        own = {(r["method"], r["kind"]): r for r in study.records if r["k"] == k}
        line = [str(k), f"{best['value']:.6g}", f"{best['bound']:.6g}", _per_cent(best["gap"])]
        line.append("proven" if best["proven"] else "")
        for name, kind in [*((m, "value") for m in methods), *((b, "bound") for b in limits)]:
            record = own.get((name, kind))
            line.append("-" if record is None else _per_cent(record["gap"]))
        rows.append(line)
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    how = [
        "Under a method: how far its set may be below the best bound.",
        "Under a bound: how far it is above the best value.",
    ]
    stopped = [study.stopped] if study.stopped else []
    return "\n".join([f"gap: {study.n} features, sets of k", "", *lines, "", *how, *stopped])


def _per_cent(share: float | None) -> str:
    return "-" if share is None else "0 %" if share <= 1e-9 else f"{100 * share:.3g} %"


def plot(study: Gap, ax: Any = None) -> Any:
    """Values and bounds against k, in per cent of the best bound."""
    from matplotlib import pyplot as plt

    figure = ax.figure if ax is not None else None
    if ax is None:
        figure, ax = plt.subplots(figsize=(8, 4.5), constrained_layout=True)
    for styles, kind in ((LIMITS, "bound"), (VALUES, "value")):
        for name, (label, colour, mark) in styles.items():
            points = [
                (r["k"], 100 * r["value"] / study.best[r["k"]]["bound"])
                for r in study.records
                if r["method"] == name
                and r["kind"] == kind
                and study.best.get(r["k"], {}).get("bound", 0) > 0
            ]
            if points:
                line = (
                    {"linestyle": mark}
                    if kind == "bound"
                    else {"linestyle": "none", "marker": mark, "markersize": 4}
                )
                ax.plot(*zip(*points, strict=True), color=colour, label=label, **line)
    proven = [k for k, best in study.best.items() if best["proven"]]
    if proven:
        ax.plot(proven, [100.0] * len(proven), "|", color="black", markersize=10, label="proven optimum")
    ax.axhline(100.0, color="black", linewidth=0.8)
    ax.set_xlabel("k, number of features")
    ax.set_ylabel("per cent of the best bound")
    ax.set_title(f"Values and upper bounds, {study.n} features")
    ax.legend(fontsize=8, ncols=2)
    return figure
