"""Rows in memory: one batch, made once and used by any number of selections."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from jifs.discretise import parse_bins
from jifs.encode import Encoding, encode
from jifs.numbers import Plain, centre, plain
from jifs.rows import rows_to_count
from jifs.stats.base import Statistic
from jifs.stats.codes import Codes
from jifs.stats.layout import Layout
from jifs.stats.values import Values
from jifs.table import Table

S = TypeVar("S", bound=Statistic)


class MemorySource:
    """A table in memory. What a statistic reads of it is made when first asked for, and kept.

    `batch` holds codes and `encoding` what was learned for them, which applies to new data too; `values` the numbers.
    """

    def __init__(self, table: Table, bins: Any = 5, seconds: float = 0.0) -> None:
        start = time.perf_counter()
        self.table, self.bins = table, parse_bins(bins)
        self.rows = rows_to_count(table)
        self.n, self.m, self.classes = self.rows.order.size, table.m, self.rows.starts.size - 1
        self.size = self.rows.size
        self.mass = float(self.n if self.rows.weights is None else self.rows.weights.sum())
        self.target_kind = table.target.kind if table.target is not None else "none"
        labels = table.target.labels if table.target is not None else ()
        self.labels: tuple[Any, ...] = tuple(labels[c] for c in self.rows.present) if labels else ()
        self.seconds = seconds + time.perf_counter() - start

    @cached_property
    def _encoded(self) -> tuple[Codes, Encoding]:
        start = time.perf_counter()
        made = encode(self.table, self.bins, self.rows)
        self.seconds += time.perf_counter() - start
        return made

    @cached_property
    def batch(self) -> Codes:
        """The rows as codes."""
        return self._encoded[0]

    @cached_property
    def values(self) -> Values:
        """The rows as numbers."""
        start = time.perf_counter()
        made = centre(self.table)
        self.seconds += time.perf_counter() - start
        return made

    @cached_property
    def plain(self) -> Plain:
        """The rows as they came."""
        return plain(self.table)

    @property
    def encoding(self) -> Encoding:
        """What was learned to make the codes."""
        return self._encoded[1]

    @property
    def cards(self) -> np.ndarray:
        """Levels of each feature, as it is encoded."""
        return self.batch.cards

    @property
    def layout(self) -> Layout:
        """Where each feature lives in a batch of codes."""
        return self.batch.layout

    @property
    def encoded(self) -> bool:
        """Whether anybody has asked for codes."""
        return "_encoded" in self.__dict__

    def name_of(self, j: int) -> str:
        """Name of feature j."""
        return self.table.name_of(j)

    def reduce(self, statistic: S) -> S:
        """Update the statistic with the one batch there is, of the kind it reads."""
        statistic.update(self.values if getattr(statistic, "reads", "codes") == "values" else self.batch)
        return statistic

    def lost_columns(self) -> list[int]:
        """Columns that are not constant, but have all their values in one bin."""
        return self.encoding.lost if self.encoded else []

    def settings(self) -> dict[str, Any]:
        """For the result: what the data were told to be."""
        target = self.table.target
        return {
            "target": None if target is None else target.name,
            "task": self.target_kind,
            "bins": str(self.bins),
            "weights": self.table.weights is not None,
        }

    def about_columns(self) -> dict[str, Any]:
        """How many columns were taken as they are, how many were cut into bins, and by which rule."""
        if not self.encoded:
            return {"numbers": self.m}
        cut = self.encoding.cut_columns()
        return {"discrete": self.m - cut, "cut": cut, "bins": str(self.encoding.bins)}

    def __repr__(self) -> str:
        return f"<jifs source in memory: {self.n} rows, {self.m} features, {self.classes} classes>"
