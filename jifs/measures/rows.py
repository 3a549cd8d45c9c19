"""Rows as the kernel measures take them: checked, and in units of their spread, z = (x - mean) / sd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jifs.errors import InputError

LARGEST = 1e100
"""Numbers beyond this would overflow when squared and summed."""


def checked(X: Any, y: Any, task: str | None) -> tuple[np.ndarray, np.ndarray, str]:
    """X as doubles [n, m], y as class codes or doubles, and its kind.

    Text, booleans and whole numbers are classes, other numbers are real; `task` ("class" or "real") overrules.
    """
    if task not in (None, "class", "real"):
        raise InputError(f"task must be 'class', 'real' or None (inferred from y), not {task!r}")
    rows = _numbers(X, "X")
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not len(rows):
        raise InputError(f"X must have rows and columns, but its shape is {rows.shape}")
    target = np.asarray(y)
    target = target.ravel() if target.ndim == 2 and target.shape[1] == 1 else target
    if target.shape != rows.shape[:1]:
        raise InputError(
            f"y must have one entry for each of the {len(rows)} rows of X, not shape {target.shape}"
        )
    number = target.dtype.kind in "fiu"
    whole = number and np.array_equal(target, np.floor(target))
    if task == "real" or (task is None and number and not whole):
        return rows, _numbers(target, "y"), "real"
    if number:
        _numbers(target, "y")
    return rows, np.unique(target, return_inverse=True)[1].astype(np.int64), "class"


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        out = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers; encode text first") from None
    if not np.isfinite(out).all():
        raise InputError(f"{name} holds NaN or infinite values; remove or fill those rows first")
    return out


def standardised(X: np.ndarray) -> np.ndarray:
    """Each column with mean 0 and standard deviation 1 (maximum likelihood); a constant column becomes 0."""
    size = np.abs(X).max(axis=0, initial=0.0)
    shrunk = X / np.where(size > 0, size, 1.0)  # so that nothing overflows
    centred = shrunk - shrunk.mean(axis=0)
    spread = np.sqrt(np.square(centred).mean(axis=0))
    constant = (X.max(axis=0) == X.min(axis=0)) | (spread == 0)
    out: np.ndarray = np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))
    return out


def in_units(X: np.ndarray, standardise: bool) -> np.ndarray:
    """The rows standardised, or as they are if their numbers are not too large for that."""
    if standardise:
        return standardised(X)
    if np.abs(X).max(initial=0.0) > LARGEST:
        raise InputError(f"X holds numbers beyond {LARGEST:g}; use standardise=True")
    return X


def checked_weights(w: Any, m: int) -> np.ndarray:
    """The weights of the features as doubles."""
    out = np.asarray(w, np.float64)
    if out.shape != (m,) or not (np.abs(out) <= LARGEST).all():
        raise InputError(f"w must be {m} numbers, one weight for each feature, none beyond {LARGEST:g}")
    return out


def positive(name: str, values: Any) -> tuple[float, ...]:
    """A grid of positive numbers as a tuple."""
    try:
        out = tuple(float(v) for v in ([values] if isinstance(values, int | float) else values))
    except (TypeError, ValueError):
        out = ()
    if not out or not all(1 / LARGEST <= v <= LARGEST for v in out):
        raise InputError(f"parameter {name} must be a list of positive numbers, not {values!r}")
    return out


def whole(name: str, value: Any, least: int) -> int:
    """A whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"parameter {name} must be a whole number from {least} on, not {value!r}")
    return int(value)


def one_of(name: str, value: Any, known: Sequence[Any]) -> Any:
    """One of a few known values."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in known):
        raise InputError(f"parameter {name} must be {' or '.join(map(repr, known))}, not {value!r}")
    return value
