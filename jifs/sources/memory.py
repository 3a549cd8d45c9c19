"""Rows in memory: one batch, encoded once and used by any number of selections."""

from __future__ import annotations

from typing import Any, TypeVar

from jifs.encode import Encoding
from jifs.stats.base import Statistic
from jifs.stats.codes import Codes
from jifs.table import Table

S = TypeVar("S", bound=Statistic)


class MemorySource:
    """A table, encoded. `batch` holds the codes, `encoding` what was learned and can be applied to new data."""

    def __init__(self, table: Table, batch: Codes, encoding: Encoding, seconds: float) -> None:
        self.table = table
        self.batch = batch
        self.encoding = encoding
        self.seconds = seconds
        self.n, self.m, self.classes = batch.n, table.m, batch.classes
        self.cards, self.layout = batch.cards, batch.layout
        self.size, self.mass = batch.size, batch.mass
        self.target_kind = table.target.kind if table.target is not None else "none"
        labels = table.target.labels if table.target is not None else ()
        self.labels: tuple[Any, ...] = tuple(labels[c] for c in encoding.present) if labels else ()

    def name_of(self, j: int) -> str:
        """Name of feature j."""
        return self.table.name_of(j)

    def reduce(self, statistic: S) -> S:
        """Update the statistic with the one batch there is."""
        statistic.update(self.batch)
        return statistic

    def lost_columns(self) -> list[int]:
        """Columns that are not constant, but have all their values in one bin."""
        return self.encoding.lost

    def settings(self) -> dict[str, Any]:
        """For the result: what the data were told to be."""
        target = self.table.target
        return {
            "target": None if target is None else target.name,
            "task": self.target_kind,
            "bins": str(self.encoding.bins),
            "weights": self.table.weights is not None,
        }

    def about_columns(self) -> dict[str, Any]:
        """How many columns were taken as they are, how many were cut into bins, and by which rule."""
        cut = self.encoding.cut_columns()
        return {"discrete": self.m - cut, "cut": cut, "bins": str(self.encoding.bins)}

    def __repr__(self) -> str:
        return f"<jifs source in memory: {self.n} rows, {self.m} features, {self.classes} classes>"
