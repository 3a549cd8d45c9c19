"""The rows in use, sorted by class: once each, or as they are counted.

Weights: 2 is exactly the row twice, and rows of weight 0 are absent. Real weights are scaled to sum to the number of
rows, which changes no entropy, and rounded to multiples of a power of two so fine that all their sums are exact: a
count by weights is then the same in any order, and what is zero by definition comes out as zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jifs.table import Table

MOST_REPEATS, FEW_VALUES = 8, 1 << 24
"""Integer weights repeat rows, for bit planes, up to 8 times the rows there are or to so many values in all."""
EXACT = 2.0**53
"""Whole numbers below this, and their sums, are exact."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows in use: their order, by class; where classes start; weights of rows, and the total of those given."""

    order: np.ndarray
    starts: np.ndarray
    weights: np.ndarray | None
    size: float
    present: np.ndarray
    """The classes that have rows."""
    by_class: bool

    @property
    def labels(self) -> np.ndarray:
        """The class of each row, in this order."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))


def rows_in_use(table: Table) -> Rows:
    """Every row of a weight above 0, once, with its weight as it was given."""
    target = table.target
    by_class = target is not None and target.kind == "class"
    y = target.values if by_class and target is not None else np.zeros(table.n, np.intp)
    classes = max(len(target.labels), 1) if by_class and target is not None else 1
    kind = np.uint8 if classes <= 256 else np.uint16 if classes <= 65536 else np.int64
    order = np.argsort(y.astype(kind), kind="stable")
    weights, size = None, float(table.n)
    if table.weights is not None:
        order = order[table.weights[order] > 0]
        weights = table.weights[order].astype(np.float64)
        with np.errstate(over="ignore"):
            size = float(weights.sum())
    counts = np.bincount(y[order], minlength=classes)
    present = np.flatnonzero(counts)
    starts = np.concatenate([[0], np.cumsum(counts[present])])
    return Rows(order, starts, weights, size, present, by_class)


def rows_to_count(table: Table) -> Rows:
    """The rows with weights that can be counted: repeated, or with masses whose sums are exact."""
    rows = rows_in_use(table)
    if rows.weights is None:
        return rows
    repeats, masses = _masses(rows.weights, rows.size, table.n, table.m)
    if repeats is None:
        return replace(rows, weights=masses)
    ends = np.concatenate([[0], np.cumsum(repeats)])
    return replace(rows, order=np.repeat(rows.order, repeats), starts=ends[rows.starts], weights=None)


def _masses(given: np.ndarray, total: float, n: int, m: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Positive weights as repeats of rows, or as masses whose sums are exact, or as neither."""
    if (given == np.floor(given)).all() and total < EXACT:
        repeat = total <= MOST_REPEATS * n or total * m <= FEW_VALUES
        return (given.astype(np.int64), None) if repeat else (None, given)
    if (given == given[0]).all():
        return None, None
    share = given / given.max()
    unit = 0.5 ** (52 - int(np.ceil(np.log2(given.size))))
    masses = np.rint(share * (given.size / share.sum()) / unit)
    return None, np.maximum(masses, 1.0) * unit
