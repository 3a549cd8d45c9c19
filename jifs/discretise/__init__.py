"""From continuous columns to codes: bins are learned on one table and applied, by the same rule, to any other.

    equal frequency   cuts = distinct quantiles i/b, i = 1..b-1, linear;  code = number of cuts strictly below x
    equal width       code = min(b-1, floor(b (x - low) / (high - low)))
    mdl               cuts by minimum description length [Fayyad and Irani 1993], see jifs/kernels/mdl.py
    none              every distinct value is a level of its own

Weights: rows of weight 0 are absent, and whole weights repeat rows. With real ones quantile q is the least x whose
cumulative weight reaches q times the total; mdl counts weight in place of rows, so weights that sum to 1 are the
evidence of one row and yield no cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jifs.discretise.rules import (
    BinRule,
    Cuts,
    Levels,
    Rule,
    Width,
    parse_bins,
    rule_from_dict,
    width_codes,
)
from jifs.errors import InputError
from jifs.jit import spread
from jifs.kernels.mdl import mdl_all, xlogx_table

__all__ = [
    "BinRule",
    "Cuts",
    "Levels",
    "Rule",
    "Width",
    "learn_cuts",
    "learn_levels",
    "parse_bins",
    "rule_from_dict",
]

Floats = npt.NDArray[np.float64]
Columns = npt.NDArray[Any] | Sequence[npt.NDArray[Any]]

BLOCK_VALUES = 1 << 17
"""Columns are learned in blocks of about this many values: a block and its sorted copy stay in the cache."""

# ------------------------------------------------------------------------------------------------------------ learning


def learn_levels(column: npt.ArrayLike) -> Levels:
    """Every distinct value of the column is a level."""
    return Levels(tuple(np.unique(np.asarray(column)).tolist()))


def learn_cuts(
    columns: Columns,
    rule: BinRule,
    y_codes: npt.NDArray[np.integer[Any]] | None = None,
    n_classes: int = 0,
    weights: Floats | None = None,
) -> list[Rule]:
    """One learned rule per column; columns are rows of an array [m, n] or m arrays of n finite numbers.

    "mdl" needs the class codes 0..n_classes-1 of the rows; the other rules look at the columns only.
    """
    rows = None
    if weights is not None:
        rows = np.flatnonzero(weights > 0)
        weights = weights[rows]
        y_codes = None if y_codes is None else y_codes[rows]
    learn = _learner(rule, y_codes, n_classes, weights)
    rules: list[Rule] = [Levels(())] * len(columns)
    size = max(8, BLOCK_VALUES // max(len(columns[0]), rule.count)) if rules else 1

    def task(lo: int, hi: int) -> None:
        for start in range(lo, hi, size):
            stop = min(start + size, hi)
            rules[start:stop] = learn(_block(columns, start, stop, rows))

    spread(len(columns), task, grain=size)
    return rules


Learner = Callable[[Floats], list[Rule]]


def _block(columns: Columns, start: int, stop: int, rows: npt.NDArray[np.intp] | None) -> Floats:
    """Columns start..stop-1 as a float64 array [columns, rows], each contiguous."""
    part = np.asarray(columns[start:stop])
    return np.ascontiguousarray(part if rows is None else part[:, rows], dtype=np.float64)


def _learner(
    rule: BinRule, y: npt.NDArray[np.integer[Any]] | None, n_classes: int, weights: Floats | None
) -> Learner:
    """The function that learns a block of columns."""
    if rule.kind == "frequency":
        if weights is None:
            return lambda block: _frequency(block, rule.count)
        countable = weights.max() < 2.0**53 / len(weights)
        repeats = countable and bool((weights == np.floor(weights)).all())
        by_weight = _repeated_frequency if repeats else _weighted_frequency
        return lambda block: by_weight(block, rule.count, weights)
    if rule.kind == "width":
        return lambda block: _width(block, rule.count)
    if rule.kind == "mdl":
        if y is None:
            raise InputError(
                "bins='mdl' needs a target of classes; use bins=5 or 'width:5' for a real target or none."
            )
        return _mdl_learner(y, n_classes, weights)
    return lambda block: [learn_levels(column) for column in block]


def _frequency(block: Floats, count: int) -> list[Rule]:
    """Cuts at the quantiles i/b of each column, linear between neighbours."""
    ordered = np.sort(block, axis=1)
    below, above, t = _quantile_places(block.shape[1], count)
    return _interpolated(ordered[:, below], ordered[:, above], t, ordered[:, -1])


def _repeated_frequency(block: Floats, count: int, weights: Floats) -> list[Rule]:
    """The same for rows repeated by whole weights, without repeating them."""
    order = np.argsort(block, axis=1)
    ordered = np.take_along_axis(block, order, axis=1)
    ends = np.cumsum(weights[order], axis=1)
    below, above, t = _quantile_places(int(ends[0, -1]), count)
    a, b = (
        np.stack(
            [own[np.searchsorted(end, place, side="right")] for own, end in zip(ordered, ends, strict=True)]
        )
        for place in (below, above)
    )
    return _interpolated(a, b, t, ordered[:, -1])


def _quantile_places(n: int, count: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]:
    """Which two of n sorted values each quantile lies between, and how far from the first."""
    position = (n - 1) * (np.arange(1, count) / count)
    below = position.astype(np.intp)
    return below, np.minimum(below + 1, n - 1), position - below


def _interpolated(a: Floats, b: Floats, t: Floats, largest: Floats) -> list[Rule]:
    with np.errstate(over="ignore", invalid="ignore"):
        cuts = np.where(t < 0.5, a + (b - a) * t, b - (b - a) * (1 - t))  # stays in [a, b] also when rounded
        cuts = np.where(np.isfinite(b - a), cuts, a * (1 - t) + b * t)
    return _cut_rules(cuts, np.where(cuts == b, b, a), largest)


def _weighted_frequency(block: Floats, count: int, weights: Floats) -> list[Rule]:
    """Cuts at the least values whose cumulative weight reaches i/b of the total, rounding of the sum set aside."""
    order = np.argsort(block, axis=1)
    ordered = np.take_along_axis(block, order, axis=1)
    reached = np.cumsum((weights / weights.max())[order], axis=1)
    wanted = np.arange(1, count) / count * (1 - 1e-10)
    at = np.stack([np.searchsorted(sums, wanted * sums[-1], side="left") for sums in reached])
    cuts = np.take_along_axis(ordered, at, axis=1)
    return _cut_rules(cuts, cuts, ordered[:, -1])


def _cut_rules(cuts: Floats, reached: Floats, largest: Floats) -> list[Rule]:
    """Rules from ascending cuts, equal ones merged; `reached` is the largest training value up to each cut.

    The bin between two cuts is occupied when the value reached at its upper end lies above its lower end.
    """
    fresh = np.ones((len(cuts), cuts.shape[1] + 1), dtype=bool)
    fresh[:, 1:-1] = cuts[:, 1:] > cuts[:, :-1]
    occupied = np.ones_like(fresh)
    occupied[:, 1:-1] = reached[:, 1:] > cuts[:, :-1]
    occupied[:, -1] = largest > cuts[:, -1]
    return [
        Cuts(tuple(c[f[:-1]].tolist()), tuple(np.flatnonzero(o[f]).tolist()))
        for c, f, o in zip(cuts, fresh, occupied, strict=True)
    ]


def _width(block: Floats, count: int) -> list[Rule]:
    """Equal parts of the range of each column."""
    low, high = block.min(axis=1), block.max(axis=1)
    raw = width_codes(block, low[:, None], high[:, None], count)
    return [
        Width(a, b, count, tuple(np.flatnonzero(np.bincount(codes, minlength=count)).tolist()))
        for a, b, codes in zip(low.tolist(), high.tolist(), raw, strict=True)
    ]


def _mdl_learner(y: npt.NDArray[np.integer[Any]], n_classes: int, weights: Floats | None) -> Learner:
    """Minimum description length cuts of each column of a block."""
    y = np.ascontiguousarray(y, dtype=np.int64)
    if weights is None:
        w, scale = np.ones(len(y)), 1.0
        table, unit = xlogx_table(len(y))
    else:
        # a power of two near the largest weight: exact, and keeps w log w and N far from the ends of the number range
        power = int(np.frexp(weights.max())[1])
        w, scale = np.ldexp(weights, -power), 2.0 ** min(power, 900)
        table, unit = np.zeros(0, dtype=np.int64), 1.0

    def learn(block: Floats) -> list[Rule]:
        order = np.argsort(block, axis=1)
        out, found = np.empty_like(block), np.zeros(len(block), dtype=np.int64)
        mdl_all(len(block), block, order, y, w, n_classes, table, unit, scale, out, found)
        return [
            Cuts(tuple(cuts[:size].tolist()), tuple(range(size + 1)))
            for cuts, size in zip(out, found.tolist(), strict=True)
        ]

    return learn
