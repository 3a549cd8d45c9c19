"""Where each feature lives: blocks of eight features of like cardinality, the same for every batch of a data set."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

LANES = 8
NARROW = 256
"""Features with more levels than a byte can hold have codes of four bytes, and blocks of their own."""


class Layout:
    """Slots of eight lanes. slots[8 b + lane] is a feature or -1; width[b] the largest cardinality in block b."""

    def __init__(self, cards: np.ndarray) -> None:
        self.cards = np.ascontiguousarray(cards, np.int64)
        m = self.cards.size
        alike = m > 0 and self.cards.min() == self.cards.max()
        order = np.arange(m) if alike else np.argsort(self.cards, kind="stable")
        narrow = int(np.count_nonzero(self.cards <= NARROW))
        self.narrow_blocks = -(-narrow // LANES)
        self.blocks = self.narrow_blocks - (-(m - narrow) // LANES)
        self.slots = np.full(self.blocks * LANES, -1, np.int64)
        self.slots[:narrow] = order[:narrow]
        start = self.narrow_blocks * LANES
        self.slots[start : start + m - narrow] = order[narrow:]
        padded = np.ones(self.slots.size, np.int64)
        padded[self.slots >= 0] = self.cards[order]
        self.width = padded.reshape(-1, LANES).max(axis=1) if self.blocks else np.zeros(0, np.int64)
        self.before = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.width)])

    @cached_property
    def in_order(self) -> bool:
        """Whether slot j holds feature j."""
        return bool((self.slots[: self.cards.size] == np.arange(self.cards.size)).all())

    @cached_property
    def slot_of(self) -> np.ndarray:
        """The slot of each feature."""
        where = np.empty(self.cards.size, np.int64)
        used = np.flatnonzero(self.slots >= 0)
        where[self.slots[used]] = used
        return where

    def by_feature(self, per_slot: np.ndarray) -> np.ndarray:
        """Values in the order of slots, put in the order of features."""
        values: np.ndarray = per_slot[: self.cards.size] if self.in_order else per_slot[self.slot_of]
        return values

    def table_of(self, flat: np.ndarray, j: int, classes: int, rz: int, lo: int = 0) -> Any:
        """One feature's table [class, level of X_j, level of Z] out of the tables of blocks lo.. in a flat array."""
        slot = int(self.slot_of[j])
        block, lane = divmod(slot, LANES)
        r = int(self.width[block])
        at = int(self.before[block] - self.before[lo]) * classes * rz * LANES
        cube = flat[at : at + classes * r * rz * LANES].reshape(classes, r, rz, LANES)
        return cube[:, : self.cards[j], :, lane]

    def pieces(self, lo: int, hi: int, most: int) -> Iterator[tuple[int, int]]:
        """Parts of the blocks lo..hi-1 with at most so many levels each, though never less than one block."""
        while lo < hi:
            end = int(np.searchsorted(self.before, self.before[lo] + most, "right")) - 1
            end = min(max(end, lo + 1), hi)
            yield lo, end
            lo = end
