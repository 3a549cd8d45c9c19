"""Contingency tables from the definition: one row after the other adds its weight to its cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def table(x: Any, z: Any, y: Any, shape: tuple[int, int, int], weights: Any = None) -> NDArray[Any]:
    """T[c, a, b] = total weight of the rows with Y = c, X = a, Z = b; whole numbers without weights."""
    cells = np.zeros(shape, dtype=np.int64 if weights is None else np.float64)
    for i in range(len(y)):
        cells[y[i], x[i], z[i]] += 1 if weights is None else weights[i]
    return cells


def sum_xlogx(*columns: Any, weights: Any = None) -> float:
    """Sum over the joint cells of the columns of n log n, n the total weight of a cell."""
    mass: dict[tuple[Any, ...], float] = {}
    for i, cell in enumerate(zip(*(np.asarray(column).tolist() for column in columns), strict=True)):
        mass[cell] = mass.get(cell, 0.0) + (1.0 if weights is None else float(weights[i]))
    return float(sum(n * np.log(n) for n in mass.values() if n > 0))


def occupied(*columns: Any, weights: Any = None) -> int:
    """Number of joint cells with any weight in them."""
    rows = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    return len({cell for i, cell in enumerate(rows) if weights is None or weights[i] > 0})
