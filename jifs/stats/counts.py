"""Contingency tables as statistics: updated from a batch, merged with another, the same for any order of arrival.

TargetCounts:  n(X_j, Y) for every feature          PairCounts:  n(X_j, Z, Y) or n(X_j, Z) for blocks of features
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jifs.stats.codes import Codes, Column


@dataclass(eq=False)
class TargetCounts:
    """Flat [block][class][level][lane] counts of every feature with the target."""

    cells: np.ndarray | None = None

    def update(self, batch: Codes) -> None:
        """Add a batch."""
        self._add(batch.margins)

    def merge(self, other: TargetCounts) -> None:
        """Add what another has counted."""
        if other.cells is not None:
            self._add(other.cells)

    def _add(self, cells: np.ndarray) -> None:
        self.cells = cells if self.cells is None else self.cells + cells


@dataclass(eq=False)
class PairCounts:
    """Tables of blocks lo..hi-1 with feature z (or with a column made of several), by class if split."""

    z: int | Column
    lo: int
    hi: int
    split: bool = True
    cells: np.ndarray | None = None
    room: np.ndarray | None = None
    """Memory for the first batch's tables: who asks again and again may lend the same."""

    def update(self, batch: Codes) -> None:
        """Add a batch."""
        column = self.z if isinstance(self.z, Column) else batch.column(self.z)
        room = self.room if self.cells is None else None
        self._add(batch.tables(column, self.lo, self.hi, self.split, room))

    def merge(self, other: PairCounts) -> None:
        """Add what another has counted."""
        if other.cells is not None:
            self._add(other.cells)

    def _add(self, cells: np.ndarray) -> None:
        self.cells = cells if self.cells is None else self.cells + cells
