"""From a Table to numbers: rows in order of class, centred, checked on the way.

Two passes over the data: the means, then x - mean. Columns of few bits (float32, small integers) are kept in single
precision, the others in double; all sums are double. A class may have no rows here: its weight is then 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.kernels.moments import CHUNK, centre_columns, profile_columns
from jifs.rows import Rows, rows_in_use
from jifs.stats.values import Values, by_class
from jifs.table import Table, refuse_nonfinite

LIMITS = {np.dtype(np.float64): (1e140, 1e-140), np.dtype(np.float32): (1e38, 1e-30)}
"""Numbers beyond these have squares that do not fit a double, or distances that do not fit where they are kept."""
LEAST_WEIGHT = 2.0**-64
"""Share of the largest weight that a row has at least: less could not be told from it, and would not fit a square."""


def centre(table: Table, rows: Rows | None = None, unit: float | None = None) -> Values:
    """The rows of a table as a batch of numbers.

    `unit` is the weight that counts as 1, the largest if None; batches that will be added must have the same.
    """
    rows = rows or rows_in_use(table)
    x, order, out = _matrix(table, rows)
    n, m, classes = rows.order.size, table.m, rows.starts.size - 1
    weights = np.ones(n)
    if rows.weights is not None:
        weights = np.maximum(rows.weights / (unit or rows.weights.max()), LEAST_WEIGHT)
    mass = by_class(weights, rows.starts)
    shift = x[order[np.minimum(rows.starts[:-1], n - 1)]].astype(np.float64)
    sums, largest, vote = np.zeros((classes, m)), np.zeros(m), np.zeros(m)
    count = -(-m // CHUNK)
    profile_columns(count, x, order, rows.starts, weights, shift, sums, largest, vote)
    most, least = LIMITS[out.dtype]
    _check(table, largest, most)
    divisor = np.where(mass > 0, mass, 1.0)[:, None]
    mean = shift + sums / divisor
    left, squares, holders = np.zeros((classes, m)), np.zeros((classes, m)), np.zeros(m)
    centre_columns(count, x, order, rows.starts, weights, mean, vote, out, left, squares, holders)
    _check_small(table, out, squares, least)
    squares = np.maximum(squares - left * left / divisor, 0.0)
    common = np.where(2 * holders > mass.sum(), holders, 0.0)
    own = None if rows.weights is None else weights
    return Values(out, rows.starts, own, mass, mean, left, squares, vote, common)


def _matrix(table: Table, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix to read, the order of rows to read it in, and the matrix to write the centred rows to."""
    data = table.data
    kinds = refuse_text(table)
    kept = np.float32 if all(_fits_single(kind) for kind in kinds) else np.float64
    out = np.empty((rows.order.size, table.m), kept)
    if isinstance(data, np.ndarray) and data.flags.c_contiguous and data.dtype != np.float16:
        return (data.view(np.uint8) if data.dtype == np.bool_ else data), rows.order, out
    for j in range(table.m):
        out[:, j] = table.column(j)[rows.order]
    return out, np.arange(rows.order.size), out


def refuse_text(table: Table) -> list[Any]:
    """The types of the columns, none of which may be text."""
    data = table.data
    kinds = [c.dtype for c in data] if isinstance(data, list) else [data.dtype]
    text = [j for j, kind in enumerate(kinds) if kind.kind not in "biuf"]
    if text:
        raise InputError(
            f"column '{table.name_of(text[0])}' holds text, and this criterion needs numbers;"
            " drop it from X, or turn its levels into columns of 0 and 1"
        )
    return kinds


def _fits_single(kind: Any) -> bool:
    return bool(kind.itemsize <= 2 or kind == np.float32)


def _check(table: Table, largest: np.ndarray, most: float) -> None:
    if not np.isfinite(largest).all():
        refuse_nonfinite(table)
    j = int(largest.argmax())
    if largest[j] > most:
        raise InputError(
            f"column '{table.name_of(j)}' reaches {largest[j]:.3g}, too large for a covariance;"
            " divide it by a power of ten"
        )


def _check_small(table: Table, out: np.ndarray, squares: np.ndarray, least: float) -> None:
    """A column whose squares have vanished, although it is not constant, would look constant."""
    for j in np.flatnonzero((squares < least**2).all(axis=0)).tolist():
        size = float(np.abs(out[:, j]).max())
        if 0 < size < least:
            raise InputError(
                f"column '{table.name_of(j)}' varies by {size:.3g} only, too little for a covariance;"
                " multiply it by a power of ten"
            )


@dataclass(frozen=True, eq=False)
class Plain:
    """Rows as they came, of weight above 0: numbers, the target (class codes or real), and weights if given."""

    X: np.ndarray
    y: np.ndarray
    kind: str
    weights: np.ndarray | None


def plain(table: Table) -> Plain:
    """The rows of a table as one matrix of doubles, checked; for criteria that look at rows and not at moments."""
    refuse_text(table)
    rows = np.arange(table.n) if table.weights is None else np.flatnonzero(table.weights > 0)
    X = np.empty((rows.size, table.m))
    for j in range(table.m):
        X[:, j] = table.column(j)[rows]
    if not np.isfinite(X).all():
        refuse_nonfinite(table)
    y = np.zeros(rows.size) if table.target is None else table.target.values[rows]
    weights = None if table.weights is None else table.weights[rows].astype(np.float64)
    return Plain(X, y, "none" if table.target is None else table.target.kind, weights)
