"""Codes from the definitions: distinct values in order, rows sorted by class, a row of weight 2 twice.

Also the batch as arrays (`laid_out`), so that a test can count codes that no table ever had: levels that do not occur,
classes without rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SLACK = 64


def dense(column: ArrayLike) -> NDArray[np.int64]:
    """Place of each value among the sorted distinct values of the column."""
    values = np.asarray(column).tolist()
    place = {value: code for code, value in enumerate(sorted(set(values)))}
    return np.array([place[value] for value in values], dtype=np.int64)


def row_order(y: ArrayLike, weights: ArrayLike | None = None) -> list[int]:
    """Rows class by class, each as it came; a row of whole weight w appears w times."""
    labels = np.asarray(y).tolist()
    times = [1] * len(labels) if weights is None else np.asarray(weights).astype(int).tolist()
    return [
        i
        for c in sorted(set(labels))
        for i, label in enumerate(labels)
        if label == c
        for _ in range(times[i])
    ]


def shifted(column: ArrayLike) -> tuple[Any, list[int], int]:
    """(least value, differences from it, the set of differences as the bits of one whole number)."""
    values = [int(v) for v in np.asarray(column).tolist()]
    low = min(values)
    codes = [v - low for v in values]
    return low, codes, sum(1 << d for d in set(codes))


def is_discrete(column: ArrayLike) -> bool:
    """Text and truth values always; numbers when all are whole and at most 32 different ones occur."""
    values = np.asarray(column).tolist()
    if any(isinstance(v, str | bool) for v in values):
        return True
    return all(float(v).is_integer() for v in values) and len(set(values)) <= 32


def sample(
    seed: int, sizes: Sequence[int], cards: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random codes [m, n] below `cards` and classes, sizes[c] rows of class c in a random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    columns = [np.minimum(rng.integers(0, r, len(y)), rng.integers(0, r, len(y))) for r in cards]
    return np.array(columns, dtype=np.int64).reshape(len(cards), len(y)), y


def laid_out(
    columns: Any, y: Any, classes: int, cards: Sequence[int], weights: Any = None, narrow_levels: int = 256
) -> tuple[Any, ...]:
    """Arrays of a batch: bytes (with slack), codes of columns over 256 levels, cards, class starts, order, weights."""
    cards = np.array(cards, dtype=np.int64)
    order = np.argsort(y, kind="stable")
    in_order = [column[order] for column in columns]
    narrow = np.full(
        (len(cards), len(order)), 255, dtype=np.uint8
    )  # what a byte of a wide column holds means nothing
    for j in np.flatnonzero(cards <= narrow_levels):
        narrow[j] = in_order[j]
    wide = [in_order[j] for j in np.flatnonzero(cards > narrow_levels)]
    starts = np.array([0, *np.cumsum([np.sum(y == c) for c in range(classes)])], dtype=np.int64)
    return (
        np.concatenate([narrow.reshape(-1), np.zeros(SLACK, np.uint8)]),
        np.concatenate([np.zeros(0), *wide]).astype(np.uint32),
        cards,
        starts,
        order,
        None if weights is None else np.asarray(weights, dtype=np.float64)[order],
    )
