"""One batch of encoded rows, sorted by class, and the three ways to count it.

A batch answers questions about a Column Z (a feature of its own, or a joint state made from several) against every
feature at once. Blocks of features are in order of their width, so the ways follow one another: bit planes for
narrow tables, a histogram for wide ones, and rows grouped by Z where a table would be larger than the rows it counts.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from jifs.errors import MismatchError
from jifs.kernels import counts, entropy, planes
from jifs.stats.columns import Column, PlaneView, Routes
from jifs.stats.grouping import Grouping, grouping
from jifs.stats.layout import LANES, NARROW, Layout

PLANE_LEVELS = 64
"""Features with more levels get no planes."""
WORD_COST, ROW_COST = 0.3, 0.5
"""Nanoseconds for eight candidates, one cell and one word; and for one candidate and one row of a histogram."""
LEAST_CELLS, MOST_CELLS = 1 << 16, 1 << 20
"""A table is made up to as many cells as there are rows, within these limits; beyond, rows are grouped."""
FEW_CELLS = 512
"""Planes are made for features with no more cells by class than rows, or than this."""
KEPT_COLUMNS = 256
SLACK = 64
"""Bytes after the last code, which a vector load may touch."""


class Codes:
    """Encoded rows: codes one byte each (features with over 256 levels four), classes as runs of rows."""

    def __init__(
        self,
        narrow: np.ndarray,
        wide: np.ndarray,
        cards: np.ndarray,
        starts: np.ndarray,
        order: np.ndarray,
        weights: np.ndarray | None = None,
        size: float | None = None,
    ) -> None:
        self.narrow = narrow
        self.wide = wide
        self.starts = np.ascontiguousarray(starts, np.int64)
        self.order = order
        self.n = int(self.starts[-1])
        self.classes = self.starts.size - 1
        self.layout = Layout(cards)
        self.cards = self.layout.cards
        self.weights = weights
        self.size = float(self.n if size is None else size)
        self.mass = float(self.n if weights is None else weights.sum())
        self.wide_row = np.cumsum(self.cards > NARROW) - 1
        self.one_class = np.array([0, self.n], np.int64)
        ends = np.cumsum(-(-np.diff(self.starts) // 64))
        self.words = np.concatenate([np.zeros(1, np.int64), ends])
        self._columns: dict[int, Column] = {}

    # ------------------------------------------------------------------------------------------------ columns

    def column(self, k: int) -> Column:
        """Feature k as a column to count against; what is made for it is kept while it is in use."""
        known = self._columns.get(k)
        if known is not None:
            return known
        if self.cards[k] <= NARROW:
            at = k * self.n
            column = Column(self.narrow[at : at + self.n + SLACK], int(self.cards[k]))
        else:
            at = int(self.wide_row[k]) * self.n
            column = Column(self.wide[at : at + self.n], int(self.cards[k]))
        if len(self._columns) >= KEPT_COLUMNS:
            self._columns.clear()
        self._columns[k] = column
        return column

    def as_column(self, z: int | Column | None) -> Column:
        """A feature, a column made of several, or nothing, as a column to count against."""
        return self.constant if z is None else z if isinstance(z, Column) else self.column(z)

    def state(self, codes: np.ndarray, levels: int) -> Column:
        """Any column of dense codes, in this batch's order of rows."""
        if levels <= NARROW:
            padded = np.zeros(self.n + SLACK, np.uint8)
            padded[: self.n] = codes
            return Column(padded, levels)
        return Column(np.ascontiguousarray(codes, np.uint32), levels)

    @cached_property
    def constant(self) -> Column:
        """The column with one level: what a table without Z is counted against."""
        return Column(np.zeros(self.n + SLACK, np.uint8), 1)

    @cached_property
    def class_mass(self) -> np.ndarray:
        """Rows of each class, or their weight."""
        if self.weights is None:
            return np.diff(self.starts)
        ends = np.concatenate([np.zeros(1), np.cumsum(self.weights)])
        return np.diff(ends[self.starts])

    # ------------------------------------------------------------------------------------------------- layout

    @cached_property
    def plane_blocks(self) -> int:
        """Blocks that have planes: narrow ones with fewer cells by class than rows, unless rows have weights."""
        most = min(PLANE_LEVELS, max(self.n, FEW_CELLS) // max(self.classes, 1))
        return 0 if self.weights is not None else _blocks_up_to(self.layout.width, most)

    @cached_property
    def plane_at(self) -> np.ndarray:
        """First word of each block's planes."""
        sizes = (self.layout.width[: self.plane_blocks] - 1) * (int(self.words[-1]) * LANES)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])

    @cached_property
    def planes(self) -> np.ndarray:
        """The bit planes, made when first asked for."""
        out = np.zeros(int(self.plane_at[-1]), np.uint64)
        lay = self.layout
        planes.pack_all(
            self.plane_blocks,
            self.narrow,
            self.n,
            lay.slots,
            lay.width,
            self.plane_at,
            self.starts,
            self.words,
            out,
        )
        return out

    @cached_property
    def margins(self) -> np.ndarray:
        """Counts of (X_j, Y) in the blocks that have planes: flat [block][class][level][lane]."""
        lay = self.layout
        out = np.zeros(int(lay.before[self.plane_blocks]) * self.classes * LANES, np.int64)
        planes.margins_all(
            self.plane_blocks, self.narrow, self.n, lay.slots, lay.width, lay.before, self.starts, out
        )
        return out

    @cached_property
    def totals(self) -> np.ndarray:
        """Counts of X_j in the blocks that have planes: flat [block][level][lane]."""
        lay, blocks = self.layout, self.plane_blocks
        out = np.zeros(int(lay.before[blocks]) * LANES, np.int64)
        if blocks and lay.width[0] == lay.width[blocks - 1]:
            shape = (blocks, self.classes, int(lay.width[0]) * LANES)
            return np.ascontiguousarray(self.margins.reshape(shape).sum(axis=1)).reshape(-1)
        for b in range(blocks):
            lo, hi = int(lay.before[b]) * LANES, int(lay.before[b + 1]) * LANES
            table = self.margins[lo * self.classes : hi * self.classes].reshape(self.classes, -1)
            out[lo:hi] = table.sum(axis=0)
        return out

    @property
    def cell_type(self) -> Any:
        """Type of a table's cells."""
        return np.int64 if self.weights is None else np.float64

    # ----------------------------------------------------------------------------------------------- counting

    def routes(self, column: Column, split: bool) -> Routes:
        """Where planes end and where tables end, for this column: by cost, and by the size of a table."""
        if split in column.routes:
            return column.routes[split]
        width, rz = self.layout.width, column.levels
        classes = self.classes if split else 1
        cells = min(max(self.n, LEAST_CELLS), MOST_CELLS)
        dense = _blocks_up_to(width, cells // (classes * rz))
        by_planes = 0
        if rz <= PLANE_LEVELS:
            cheap = LANES * self.n * ROW_COST / (WORD_COST * max(int(self.words[-1]), 1) * max(rz - 1, 1))
            by_planes = min(_blocks_up_to(width, int(cheap) + 1), self.plane_blocks)
        column.routes[split] = Routes(min(by_planes, dense), dense)
        return column.routes[split]

    def prepare(self, column: Column, split: bool) -> Routes:
        """Make what several threads will read, and say which way each block goes."""
        routes = self.routes(column, split)
        if routes.planes:
            _ = (self.margins if split else self.totals, self._planes_for(column))
            self._chosen(column)
            self._column_margins(column, split)
        return routes

    def grouping(self, column: Column, split: bool = True) -> Grouping:
        """The rows grouped by a column and, if split, by class within."""
        return grouping(column.codes, self.starts, split)

    def plane_view(self) -> PlaneView | None:
        """The arrays for counting by planes, or None when that is not the way to count all features by class."""
        lay = self.layout
        widest = Column(self.constant.codes, int(lay.width.max(initial=1)))
        if self.routes(widest, split=True).planes < lay.blocks:
            return None
        return PlaneView(
            self.planes, self.plane_at, lay.width, lay.before, self.words, self.margins, lay.slots
        )

    def chosen_view(self, k: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Planes, margins by class and number of levels of feature k, to count others against."""
        column = self.column(k)
        if column.levels > PLANE_LEVELS:
            raise MismatchError(
                f"feature {k} has {column.levels} levels, and bit planes are for {PLANE_LEVELS} at most"
            )
        return self._chosen(column), self._column_margins(column, True), column.levels

    def tables(
        self, column: Column, lo: int, hi: int, split: bool, room: np.ndarray | None = None, way: str = ""
    ) -> np.ndarray:
        """Tables of blocks lo..hi-1, flat [block][class][level of X_j][level of Z][lane]; without classes if not split.

        They are written into `room` if it is large enough. `way` forces "planes" or "histogram", which give the
        same integers.
        """
        lay, rz = self.layout, column.levels
        starts, words = (self.starts, self.words) if split else (self.one_class, self.words[[0, -1]])
        classes = starts.size - 1
        size = int(lay.before[hi] - lay.before[lo]) * classes * rz * LANES
        fits = room is not None and room.dtype == self.cell_type and room.size >= size
        out = room[:size] if fits and room is not None else np.empty(size, self.cell_type)
        end = {"planes": hi, "histogram": lo}.get(way, self.routes(column, split).planes)
        middle = min(max(end, lo), hi)
        if column is self.constant and middle == hi:  # counted already
            margins = self.margins if split else self.totals
            return margins[int(lay.before[lo]) * classes * LANES : int(lay.before[hi]) * classes * LANES]
        cut = int(lay.before[middle] - lay.before[lo]) * classes * rz * LANES
        if lo < middle:
            margins = self.margins if split else self.totals
            counts.tables_by_planes(
                lo,
                middle,
                self._planes_for(column),
                self.plane_at,
                lay.width,
                lay.before,
                words,
                self._chosen(column),
                margins,
                self._column_margins(column, split),
                rz,
                out[:cut],
            )
        if middle < hi:
            self._histogram(middle, hi, column, starts, out[cut:])
        return out

    def grouped_features(self, features: np.ndarray, groups: Grouping) -> np.ndarray:
        """[feature, (sum pair, sum triple, cells pair, cells triple)] without tables, for rows in groups."""
        out = np.empty((features.size, 4))
        weights = np.zeros(0) if self.weights is None else self.weights
        for is_wide in (False, True):
            chosen = np.flatnonzero((self.cards[features] > NARROW) == is_wide)
            if chosen.size == 0:
                continue
            of = features[chosen]
            codes = self.wide if is_wide else self.narrow
            where = self.wide_row[of] if is_wide else of
            part = np.empty((chosen.size, 4))
            grain = max(1, 20_000 // max(groups.rows.size, 1))
            entropy.grouped_sums_all(
                chosen.size, codes, self.n, where, self.cards[of], *groups, weights, part, grain=grain
            )
            out[chosen] = part
        return out

    def _histogram(self, lo: int, hi: int, column: Column, starts: np.ndarray, out: np.ndarray) -> None:
        lay = self.layout
        z = column.codes[: self.n].astype(np.uint32)
        weights = np.zeros(0) if self.weights is None else self.weights
        middle = min(max(lay.narrow_blocks, lo), hi)
        cut = int(lay.before[middle] - lay.before[lo]) * (starts.size - 1) * column.levels * LANES
        if lo < middle:
            counts.tables_by_histogram(
                lo,
                middle,
                self.narrow,
                self.n,
                lay.slots,
                lay.width,
                lay.before,
                starts,
                z,
                column.levels,
                weights,
                out[:cut],
            )
        if middle < hi:
            rows = np.where(lay.slots >= 0, self.wide_row[lay.slots], -1)
            counts.tables_by_histogram(
                middle,
                hi,
                self.wide,
                self.n,
                rows,
                lay.width,
                lay.before,
                starts,
                z,
                column.levels,
                weights,
                out[cut:],
            )

    def _planes_for(self, column: Column) -> np.ndarray:
        """The planes, which are not made for a column that has nothing to be counted against."""
        return self.planes if column.levels > 1 else np.zeros(0, np.uint64)

    def _chosen(self, column: Column) -> np.ndarray:
        if column.chosen is None:
            chosen = np.zeros(max(column.levels - 1, 1) * int(self.words[-1]), np.uint64)
            planes.chosen_planes_one(column.codes, column.levels, self.starts, self.words, chosen)
            column.chosen = chosen
        return column.chosen

    def _column_margins(self, column: Column, split: bool) -> np.ndarray:
        if split not in column.margins:
            starts = self.starts if split else self.one_class
            margins = np.zeros((starts.size - 1) * column.levels * LANES, np.int64)
            planes.column_margins_one(column.codes, column.levels, starts, margins)
            column.margins[split] = margins
        return column.margins[split]


def _blocks_up_to(width: np.ndarray, most: int) -> int:
    """Number of blocks, in order of their width, that are no wider than this."""
    if width.size and width[-1] <= most:
        return int(width.size)
    return int(np.searchsorted(width, most, "right"))
