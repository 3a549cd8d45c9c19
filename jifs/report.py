"""A Result for people: the text table, the HTML fragment and page, the figure."""

from __future__ import annotations

import csv
import io
import shutil
import sys
import unicodedata
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .result import Result, Step

# ---- text


class Column(NamedTuple):
    """One column of a text table."""

    head: str
    cells: list[str]
    left: bool = False

    def width(self) -> int:
        return max(columns(text) for text in (self.head, *self.cells))

    def padded(self) -> list[str]:
        wide = self.width()
        blanks = [" " * (wide - columns(text)) for text in (self.head, *self.cells)]
        texts = zip((self.head, *self.cells), blanks, strict=True)
        return [text + blank if self.left else blank + text for text, blank in texts]


def columns(text: str) -> int:
    """How many columns of a terminal the text takes: east Asian letters take two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def shown(name: object, width: int = 40) -> str:
    """A name fit for one cell: no line breaks or control characters, at most `width` columns wide."""
    whole = str(name)
    text = whole[: 2 * width]
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    if columns(text) <= width and len(whole) <= 2 * width:
        return text
    while columns(text) > width - 1:
        text = text[:-1]
    return text + "…"


def shortened(name: object, width: int) -> str:
    """A name for a narrow cell: cut in the middle, because names that begin alike often differ at the end."""
    text = shown(name, 500)
    if columns(text) <= width:
        return text
    start, end = text[: width // 2], text[len(text) - width + width // 2 + 1 :]
    while columns(start) + columns(end) > width - 1:
        start, end = (start[:-1], end) if columns(start) >= columns(end) else (start, end[1:])
    return f"{start}…{end}"


def number(value: float | None) -> str:
    """Four decimals, or a power of ten where those would say nothing."""
    if value is None:
        return ""
    return f"{value:.2e}" if 0 < abs(value) < 5e-4 or 1e6 <= abs(value) < np.inf else f"{value:z.4f}"


def headline(result: Result) -> str:
    """One line: what was selected out of what, how, how long it took, and why it ended early."""
    how = f"{result.criterion} by {result.strategy}" + (
        f" with {result.info} information" if result.info else ""
    )
    target = result.facts.get("settings", {}).get("target")
    how += f" for {target!r}" if target else ""
    size = f"{len(result.names)} of {result.n_features} features, {result.n_rows} rows"
    early = f"; stopped: {result.facts['stopped']}" if result.facts.get("stopped") else ""
    ended = result.facts.get("exhausted_at")
    if ended is not None and ended < len(result.names):
        early += f"; information ran out after {ended}, the rest come by lowest index"
    return shown(f"{how}: {size}, {result.seconds:.3g} s{early}", 200)


def note(step: Step) -> str:
    """`included` for a feature the user asked for, `tie` where the lowest index decided."""
    return ", ".join(word for word, holds in (("included", step.included), ("tie", step.tie)) if holds)


def text_table(result: Result, width: int | None = None) -> str:
    """The steps as aligned columns; names are cut, and if need be parts left out, to fit `width` columns.

    Left to itself it takes a terminal's width, and elsewhere what most names need.
    """
    if width is None:
        width = max(shutil.get_terminal_size().columns, 60) if sys.stdout.isatty() else 160
    steps = result.steps()
    head = [Column("step", [str(step.step) for step in steps])]
    score = [Column("score", [number(step.score) for step in steps])]
    parts = [Column(shown(p, 16), [number(s.parts.get(p)) for s in steps]) for p in result.part_names()]
    tail = [Column("margin", [number(step.margin) for step in steps])]
    tail += [Column("note", [note(step) for step in steps], left=True)] if any(map(note, steps)) else []

    def room() -> int:
        return width - sum(column.width() + 2 for column in (*head, *score, *parts, *tail)) - 2

    while parts and room() < 24:
        parts.pop()
    name_width = max(room() // 2, 8)
    names = [Column("feature", [shortened(step.name, name_width) for step in steps], left=True)]
    rivals = ["" if s.runner_up_name is None else shortened(s.runner_up_name, name_width) for s in steps]
    tail = [Column("runner-up", rivals, left=True), *tail]
    grid = zip(*(column.padded() for column in (*head, *names, *score, *parts, *tail)), strict=True)
    lines = ["  ".join(row).rstrip() for row in grid]
    lines.insert(1, "-" * max(map(columns, lines)))
    left_out = ", ".join(result.part_names()[len(parts) :])
    return "\n".join(lines + ([shown(f"(no room for: {left_out})", width)] if left_out else []))


def csv_text(result: Result) -> str:
    """The steps as CSV with a header."""
    lines, rows = io.StringIO(), result.records()
    table = csv.DictWriter(lines, list(rows[0]) if rows else ["step", "feature", "name", "score"])
    table.writeheader()
    table.writerows(rows)
    return lines.getvalue()


def print_table(title: str, heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """A rich table on stdout; into a pipe as wide as it needs to be, so that each row stays one line."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(*heads, title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        grid.add_row(*(Text(shown(cell or "", 500)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 2000, highlight=False).print(grid)


# ---- HTML: names, facts and parameters are data, so everything passes through `escape`

_STYLE = """
.jifs-result table {border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5em 0}
.jifs-result th {text-align: left; font-weight: 600; border-bottom: 1px solid #8888}
.jifs-result th, .jifs-result td {padding: .2em .9em .2em 0; text-align: left; vertical-align: top}
.jifs-result td.number, .jifs-result th.number {text-align: right}
.jifs-result td.bar {min-width: 7em; vertical-align: middle}
.jifs-result td.bar div {height: .7em; background: #0072b2}
.jifs-result .warning {border-left: 4px solid #d55e00; padding-left: .6em}
.jifs-result td.value {white-space: pre-wrap; overflow-wrap: anywhere}
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{color-scheme: light dark}}
body {{font: 16px/1.5 system-ui, sans-serif; max-width: 64em; margin: 2em auto; padding: 0 1em}}
pre {{font-size: 14px; line-height: 1.3}}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def html_page(result: Result, title: str, picture: str = "", caption: str = "") -> str:
    """One self-contained page: no scripts, nothing loaded from elsewhere; `picture` is laid-out text."""
    body = html_fragment(result)
    if picture:
        body += f"\n<h2>{escape(caption)}</h2>\n<pre>{escape(picture)}</pre>"
    return _PAGE.format(title=escape(shown(title, 120)), body=body)


def html_fragment(result: Result) -> str:
    """The steps as an HTML table, the warnings, and the settings and facts to unfold."""
    said = result.facts.get("warnings") or ()
    said = said if isinstance(said, list | tuple) else [said]
    warned = "".join(f'<p class="warning">{_cell(text)}</p>' for text in said)
    names = ("criterion", "strategy", "info", "seed", "n_rows", "n_features")
    settings = {name: getattr(result, name) for name in names} | result.params
    facts = {name: value for name, value in result.facts.items() if name != "warnings"}
    return (
        f'<div class="jifs-result"><style>{_STYLE}</style>\n<p>{_cell(headline(result))}</p>\n{warned}'
        f"{_html_steps(result)}\n<details><summary>Settings</summary>{_html_pairs(settings)}</details>\n"
        f"<details><summary>Facts</summary>{_html_pairs(facts)}</details>\n</div>"
    )


def _html_steps(result: Result) -> str:
    steps, parts = result.steps(), result.part_names()
    top = max((s.score for s in steps if 0 < s.score < np.inf), default=1.0)
    heads = ["step", "feature", "", "score", *parts, "runner-up", "margin", "note"]
    rows = [
        f"<tr><td>{s.step}</td><td>{_cell(s.name)}</td>"
        f'<td class="bar"><div style="width:{100 * s.score / top if 0 < s.score <= top else 0:.0f}%"></div></td>'
        + "".join(f'<td class="number">{number(value)}</td>' for value in (s.score, *map(s.parts.get, parts)))
        + f'<td>{_cell(s.runner_up_name or "")}</td><td class="number">{number(s.margin)}</td>'
        f"<td>{note(s)}</td></tr>"
        for s in steps
    ]
    numeric = {"score", "margin", *parts}
    top_row = "".join(f"<th{' class=number' if h in numeric else ''}>{_cell(h)}</th>" for h in heads)
    return f"<table><thead><tr>{top_row}</tr></thead><tbody>\n" + "\n".join(rows) + "\n</tbody></table>"


def _cell(value: object, width: int = 200) -> str:
    return escape(shown(value, width))


def _html_pairs(pairs: Mapping[str, Any]) -> str:
    rows = (
        f"<tr><td>{_cell(k)}</td><td class=value>{_cell(_told(v), 600)}</td></tr>" for k, v in pairs.items()
    )
    return f"<table>{''.join(rows)}</table>"


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_told(item)}" for key, item in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# ---- the figure

# Okabe and Ito's colours: told apart by every kind of colour vision.
_SCORE, _MARGIN = "#0072B2", "#D55E00"
_PARTS = ("#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#999999")


def figure(result: Result) -> Figure:
    """Three strips over the steps: the score, the parts of the score, and the margin over the runner-up."""
    try:
        import matplotlib as mpl
        from matplotlib import pyplot as plt
    except ImportError:
        raise InputError(
            "plot needs matplotlib, which the extra `plot` brings; try: pip install 'jifs[plot]'."
        ) from None
    steps, parts = result.steps(), result.part_names()
    raced = any(step.margin is not None for step in steps)
    heights = [2.6] + [2.2] * bool(parts) + [1.1] * raced
    size = (min(max(7.0, 2.0 + 0.4 * len(steps)), 18.0), sum(heights) + 1.8)
    drawn, grid = plt.subplots(
        len(heights), 1, sharex=True, squeeze=False, figsize=size, height_ratios=heights, layout="constrained"
    )
    strips = list(grid[:, 0])
    at = np.arange(1, len(steps) + 1)
    _draw_score(strips[0], steps, at)
    if parts:
        _draw_parts(strips[1], steps, parts, at)
    if raced:
        margins = [np.nan if step.margin is None else step.margin for step in steps]
        strips[-1].bar(at, margins, 0.5, color=_MARGIN)
        _finish(strips[-1], "margin")
    _name_steps(strips[-1], steps, at)
    title = f"{result.criterion} by {result.strategy}: {len(steps)} of {result.n_features} features"
    strips[0].set_title(title, loc="left", fontweight="bold").set_parse_math(False)
    if "inline" in mpl.get_backend():
        plt.close(drawn)  # a notebook shows the returned figure; left open, it would be shown twice
    return drawn


def _draw_score(axes: Axes, steps: tuple[Step, ...], at: np.ndarray) -> None:
    axes.plot(at, [step.score for step in steps], "-o", color=_SCORE)
    marks = (("tie", "o", "tie: lowest index won"), ("included", "s", "included by the user"))
    for what, shape, label in marks:
        chosen = [i for i, step in enumerate(steps) if getattr(step, what)]
        if chosen:
            scores = [steps[i].score for i in chosen]
            axes.plot(at[chosen], scores, shape, ms=12, mfc="none", mec=_MARGIN, label=label)
    _finish(axes, "score when chosen")


def _draw_parts(axes: Axes, steps: tuple[Step, ...], parts: tuple[str, ...], at: np.ndarray) -> None:
    width = 0.8 / len(parts)
    for i, part in enumerate(parts):
        values = [step.parts.get(part, np.nan) for step in steps]
        offset = (i - (len(parts) - 1) / 2) * width
        label = shown(part, 24).replace("$", r"\$").lstrip("_")
        axes.bar(at + offset, values, width, color=_PARTS[i % len(_PARTS)], label=label)
    axes.axhline(0, color="0.4", linewidth=0.8)
    _finish(axes, "parts of the score")


def _name_steps(axes: Axes, steps: tuple[Step, ...], at: np.ndarray) -> None:
    stride = 1 + len(steps) // 80
    labels = [shown(step.name, 24) for step in steps[::stride]]
    axes.set_xticks(at[::stride], labels, rotation=60, ha="right", rotation_mode="anchor", parse_math=False)
    axes.set_xlim(0.4, max(len(steps), 1) + 0.6)
    axes.set_xlabel("feature, in the order of selection")


def _finish(axes: Axes, label: str) -> None:
    axes.set_ylabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, ncols=6, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
