"""Counts as statistics: updated from a batch, merged with another, the same for any order of arrival.

ClassCounts:  n(Y)                  PairCounts:  n(X_j, Z, Y) or n(X_j, Z) for blocks of features; without Z n(X_j, Y)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from jifs.stats.codes import Codes
from jifs.stats.columns import Column


class _Counts:
    """Cells that are added up, whatever they count."""

    cells: np.ndarray | None

    def merge(self, other: Self) -> None:
        """Add what another has counted."""
        if other.cells is not None:
            self._add(other.cells)

    def _add(self, cells: np.ndarray) -> None:
        self.cells = cells if self.cells is None else self.cells + cells


@dataclass(eq=False)
class ClassCounts(_Counts):
    """Rows of each class, or their weight."""

    cells: np.ndarray | None = None

    def update(self, batch: Codes) -> None:
        """Add a batch."""
        self._add(batch.class_mass)


@dataclass(eq=False)
class PairCounts(_Counts):
    """Tables of blocks lo..hi-1 with feature z (or a column made of several, or with nothing), by class if split."""

    z: int | Column | None
    lo: int
    hi: int
    split: bool = True
    cells: np.ndarray | None = None
    room: np.ndarray | None = None
    """Memory for the first batch's tables: who asks again and again may lend the same."""

    def update(self, batch: Codes) -> None:
        """Add a batch."""
        column = batch.as_column(self.z)
        room = self.room if self.cells is None else None
        self._add(batch.tables(column, self.lo, self.hi, self.split, room))
