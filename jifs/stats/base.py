"""The contract of a statistic, and the desk where criteria ask and answers are remembered."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from jifs.errors import MismatchError
from jifs.stats.counts import ClassCounts
from jifs.stats.normals import Normals

if TYPE_CHECKING:
    from jifs.sources.base import Source

T = TypeVar("T")
REMEMBERED_BYTES, REMEMBERED_NUMBERS = 4 << 20, 16
"""Answers kept: the recent ones, little enough that their memory is used again and again; at least a few."""


class Statistic(Protocol):
    """Something that is counted on rows: a batch is added by `update`, another statistic of its kind by `merge`."""

    def update(self, batch: Any) -> None:
        """Add a batch of encoded rows."""

    def merge(self, other: Any) -> None:
        """Add what another has counted."""


S = TypeVar("S", bound=Statistic)


class Stats:
    """The desk: lazy questions to a source, remembered; what happened on the way is in `facts` and `clock`."""

    def __init__(self, source: Source, seed: int = 0) -> None:
        self.source = source
        self.seed = seed
        """For what a criterion leaves to chance."""
        self.free = np.ones(source.m, np.bool_)
        """The features that may be taken: all but the excluded ones."""
        self.facts: dict[str, Any] = {"tables_counted": 0, "passes": 0}
        self.clock: dict[str, float] = {"encoding": 0.0, "counting": 0.0, "estimating": 0.0}
        self.warnings: list[str] = []
        self._memory: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._kept: dict[Any, Any] = {}
        self._rooms = threading.local()

    @property
    def m(self) -> int:
        """Number of features."""
        return self.source.m

    @property
    def n(self) -> int:
        """Number of rows, a row of integer weight w counted w times."""
        return self.source.n

    @property
    def mass(self) -> float:
        """What the cells of a table add up to: the rows, or their weights."""
        return self.source.mass

    @property
    def cards(self) -> np.ndarray:
        """Number of levels of each feature."""
        return self.source.cards

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.source.classes

    def warn(self, text: str) -> None:
        """Say something the user should know; it is told once, and kept in the result."""
        if text not in self.warnings:
            self.warnings.append(text)

    def name_of(self, j: int) -> str:
        """Name of feature j."""
        return self.source.name_of(j)

    def reduce(self, statistic: S) -> S:
        """Count over all rows of the source."""
        return self.source.reduce(statistic)

    def remember(self, key: Any, make: Callable[[], T]) -> T:
        """The answer under this key, made if it is not remembered; the oldest answers go when there are too many."""
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key][0]  # type: ignore[no-any-return]
        answer = make()
        parts: tuple[Any, ...] = answer if isinstance(answer, tuple) else (answer,)
        for part in parts:
            if isinstance(part, np.ndarray):
                part.flags.writeable = False  # others will be given the same array
        size = sum(getattr(part, "nbytes", 64) for part in parts)
        self._memory[key] = (answer, size)
        self._bytes += size
        most = max(REMEMBERED_BYTES, 8 * REMEMBERED_NUMBERS * self.m)
        while self._bytes > most and len(self._memory) > 1:
            _, (_, freed) = self._memory.popitem(last=False)
            self._bytes -= freed
        return answer

    def room(self, size: int) -> np.ndarray:
        """This thread's own scratch memory for tables; what it held is overwritten by the next that asks."""
        kind = np.int64 if self.source.batch is None or self.source.batch.weights is None else np.float64
        own: np.ndarray | None = getattr(self._rooms, "own", None)
        if own is None or own.size < size or own.dtype != kind:
            own = self._rooms.own = np.empty(size, kind)
        return own

    def remembers(self, key: Any) -> bool:
        """Whether an answer is at hand."""
        return key in self._memory

    # ------------------------------------------------------------------------------- rows that must be at hand

    def rows_in_memory(self, who: str) -> Any:
        """The batch of all rows, or an error that says who needs it."""
        if self.source.batch is None:
            raise MismatchError(
                f"{who} needs the rows in memory; use jifs.memory(X, y), or a criterion on pairs such as jmi or cmim"
            )
        return self.source.batch

    def numbers_in_memory(self, who: str) -> Any:
        """The batch of all rows as numbers, or an error that says who needs it."""
        values = getattr(self.source, "values", None)
        if values is None:
            raise MismatchError(f"{who} needs the rows in memory; use jifs.memory(X, y), or a number for reg")
        return values

    def plain(self, who: str) -> Any:
        """All rows as they came (X, y, kind, weights: `jifs.numbers.Plain`), or an error that says who needs them."""
        rows = getattr(self.source, "plain", None)
        if rows is None:
            raise MismatchError(
                f"{who} needs the rows in memory; use jifs.memory(X, y), or a criterion on counts such as jmi"
            )
        return rows

    def normals(self, standardise: bool = False, reg: float | str = 0.0) -> Normals:
        """The classes as normal distributions: see jifs/stats/normals.py."""
        key = ("normals", standardise, repr(reg))  # what is no number is refused where it is used
        if key not in self._kept:
            self._kept[key] = Normals(self, standardise, reg)
        made: Normals = self._kept[key]
        return made

    def forget(self) -> None:
        """Let go of what is kept, which also refers back to this desk and would stay in memory for a while."""
        self._kept.clear()
        self._memory.clear()

    def join(self, state: Any, k: int) -> Any:
        """The joint state of a column (None: nothing yet) and feature k, as a column with dense codes."""
        batch = self.rows_in_memory("a joint state of several features")
        own = batch.column(k)
        if state is None:
            return own
        both = state.codes[: batch.n].astype(np.int64) * own.levels + own.codes[: batch.n]
        values, codes = np.unique(both, return_inverse=True)
        return batch.state(codes, values.size)

    def nothing_left(self, state: Any, rest: np.ndarray) -> bool:
        """Whether the features `rest`, even all together, can tell nothing about the class beyond the joint state.

        So it is when every state holds one class, or each of these features has one value in every other state.
        """
        batch = self.rows_in_memory("a joint state of several features")
        groups = batch.grouping(state or batch.constant).undecided()
        if groups.rows.size == 0 or rest.size == 0:
            return bool(groups.rows.size == 0)
        sums = batch.grouped_features(rest, groups)
        return bool((sums[:, 2] == groups.group_ends.size).all())

    def planes(self) -> Any:
        """The bit planes of all features (`jifs.stats.codes.PlaneView`), or None where there are none."""
        batch = self.source.batch
        return batch.plane_view() if batch is not None else None

    def chosen(self, k: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Bit planes, margins by class and number of levels of feature k, to count others against."""
        return self.rows_in_memory("counting by planes").chosen_view(k)  # type: ignore[no-any-return]

    def class_sizes(self) -> np.ndarray:
        """Rows of each class, or their weight (scaled, if real)."""
        return self.remember("class sizes", lambda: self._class_sizes())

    def _class_sizes(self) -> np.ndarray:
        cells = self.reduce(ClassCounts()).cells
        assert cells is not None
        return cells

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Add the time of the block to the clock."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.clock[what] = self.clock.get(what, 0.0) + time.perf_counter() - start

    def share_time(self, spread: tuple[float, list[tuple[float, float]]]) -> None:
        """Divide the time of a spread between counting and estimating, as its tasks spent theirs."""
        elapsed, parts = spread
        counting, estimating = (sum(column) for column in zip(*parts, strict=True))
        busy = max(counting + estimating, 1e-12)
        self.clock["counting"] += elapsed * counting / busy
        self.clock["estimating"] += elapsed * estimating / busy
