"""The contract of a source: a schema, and one method, `reduce`, that counts a statistic over all its rows.

A source in memory has one batch, a stream a loop of them, a cluster a tree: a new kind of source is one file with its
own `reduce`. All batches of a source share the layout of its features, so their statistics can be added.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np

from jifs.stats.base import Statistic
from jifs.stats.layout import Layout

S = TypeVar("S", bound=Statistic)


class Source(Protocol):
    """Rows to be counted, wherever they are."""

    n: int
    m: int
    classes: int
    size: float
    """Number of rows, or their total weight as it was given."""
    mass: float
    """What the cells of a table add up to: the same, but for real weights, which are scaled to the number of rows."""
    seconds: float
    """Time it took to encode, so far."""
    target_kind: str
    labels: tuple[Any, ...]

    @property
    def batch(self) -> Any:
        """All rows as one batch of codes if they are in memory, else None."""
        ...

    @property
    def cards(self) -> np.ndarray:
        """Levels of each feature, as it is encoded."""
        ...

    @property
    def layout(self) -> Layout:
        """Where each feature lives in a batch of codes."""
        ...

    @property
    def encoded(self) -> bool:
        """Whether anybody has asked for codes."""
        ...

    def name_of(self, j: int) -> str:
        """Name of feature j."""
        ...

    def settings(self) -> dict[str, Any]:
        """For the result: target, task, bins, and whether rows have weights."""
        ...

    def lost_columns(self) -> list[int]:
        """Columns that are not constant, but have all their values in one bin."""
        ...

    def about_columns(self) -> dict[str, Any]:
        """For the result: how the columns were encoded."""
        ...

    def reduce(self, statistic: S) -> S:
        """Update the statistic with every row, as codes or (`statistic.reads = "values"`) as numbers; return it."""
        ...
