"""Plug-in information from counts, and its Miller-Madow correction.

    H = log N - S/N,   S = sum over cells of n log n                                 (plug-in)
    H + (K - 1)/(2N),  K = number of cells that are not empty                        (Miller-Madow)

    I(X;Y) = (S_xy - S_x - S_y + S)/N          I(X;Y|Z) = (S_xyz - S_xz - S_yz + S_z)/N         S = N log N

Everything is built from S of one, two or three columns; the correction is S - (K - 1)/2 for each of them, so the same
lines serve both. Plug-in information is never negative: rounding down to -1e-11 is set to 0, anything lower is a bug
and is raised. The Miller-Madow estimate may be negative and is left as it is [Miller 1955].
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jifs import jit
from jifs.estimators.base import Info
from jifs.kernels import entropy as kernels
from jifs.registry import estimator
from jifs.stats.base import Stats
from jifs.stats.columns import Column
from jifs.stats.counts import PairCounts
from jifs.stats.grouping import Grouping
from jifs.stats.layout import LANES

LOOKUP_ROWS = 1 << 22
"""Most rows for which x log x is looked up."""
TABLE_BYTES = 1 << 19
"""Tables held at a time by a thread, so that they are still in its cache when they are summed."""
GRAIN = 800_000
"""Cells and words that are worth handing to another thread."""


class Margins(NamedTuple):
    """S of each feature alone and with the target, of the target alone, and of nothing (N log N)."""

    x: np.ndarray
    xy: np.ndarray
    y: float
    one: float


class Pair(NamedTuple):
    """S of every (X_j, Z), and of (X_j, Z, Y) where the classes were counted."""

    xz: np.ndarray
    xzy: np.ndarray


@functools.lru_cache(maxsize=4)
def xlogx_table(size: int) -> np.ndarray:
    """x log x for x = 0..size."""
    table = np.empty(size + 1)
    kernels.xlogx_table(size + 1, table, grain=4096)
    return table


@estimator("plugin", tasks=("class",), reads="codes", cite="[Brown et al. 2012]")
@dataclass(frozen=True)
class PlugIn(Info):
    """Plug-in information: probabilities are relative frequencies, without smoothing or correction."""

    corrected = False

    # ------------------------------------------------------------------------------------------ the questions

    def relevance(self, stats: Stats) -> np.ndarray:
        """I(X_j ; Y)."""

        def make() -> np.ndarray:
            s = self.margins(stats)
            return self._information(stats, s.xy, s.x, s.y - s.one)

        return stats.remember((self, "relevance"), make)

    def redundancy(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j ; X_k)."""
        s, z = self.margins(stats), self.pair(stats, k, split=False).xz
        return self._information(stats, z, s.x, s.x[k] - s.one)

    def conditional(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j ; X_k | Y)."""
        s, z = self.margins(stats), self.pair(stats, k).xzy
        return self._information(stats, z, s.xy, s.xy[k] - s.y)

    def relevance_given(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j ; Y | X_k)."""
        s, z = self.margins(stats), self.pair(stats, k)
        return self._information(stats, z.xzy, z.xz, s.xy[k] - s.x[k])

    def joint_relevance(self, stats: Stats, k: int) -> np.ndarray:
        """I(X_j X_k ; Y)."""
        s, z = self.margins(stats), self.pair(stats, k)
        return self._information(stats, z.xzy, z.xz, s.y - s.one)

    def joint_entropy(self, stats: Stats, k: int) -> np.ndarray:
        """H(X_j, X_k, Y)."""
        return self._entropy(stats, self.pair(stats, k).xzy)

    def entropy(self, stats: Stats) -> np.ndarray:
        """H(X_j)."""
        return self._entropy(stats, self.margins(stats).x)

    def target_entropy(self, stats: Stats) -> float:
        """H(Y)."""
        return float(self._entropy(stats, np.array([self.margins(stats).y]))[0])

    def relevance_given_state(self, stats: Stats, state: Column) -> np.ndarray:
        """I(X_j ; Y | Z) for a joint state Z: a table per feature, or a walk over the rows that are not yet decided."""
        batch = stats.source.batch
        groups = batch.grouping(state)
        if batch.routes(state, split=True).planes == stats.source.layout.blocks:
            z = self.pair(stats, state)
            return self._information(stats, z.xzy, z.xz, self.state_difference(stats, groups))
        with stats.timed("counting"):
            groups = groups.undecided()
            stats.facts["tables_counted"] += stats.m
            stats.facts["passes"] += 1
            xz, xzy = self._corrected(stats, batch.grouped_features(np.arange(stats.m), groups))
            return self._information(stats, xzy, xz, self.state_difference(stats, groups))

    def state_difference(self, stats: Stats, groups: Grouping) -> float:
        """S of (Z, Y) less S of Z, from rows in groups of Z and runs of Y."""
        weights = stats.source.batch.weights
        mass = np.ones(groups.rows.size) if weights is None else weights[groups.rows]
        z, zy = (
            np.add.reduceat(mass, np.append(0, ends[:-1])) if ends.size else mass
            for ends in (groups.group_ends, groups.run_ends)
        )
        return self._sum_of(stats, zy) - self._sum_of(stats, z)

    # ---------------------------------------------------------------------------- for kernels of a plug-in's own

    def lookup(self, stats: Stats) -> np.ndarray | None:
        """The table of x log x, or None where it is not used (real weights, very many rows)."""
        if stats.source.batch is None or stats.source.batch.weights is not None or stats.n > LOOKUP_ROWS:
            return None
        return xlogx_table(stats.n)

    def given_constant(self, stats: Stats, k: int) -> float:
        """What is subtracted from S_xzy - S_xz to make N I(X_j;Y|X_k): S of (X_k, Y) less S of X_k."""
        s = self.margins(stats)
        return float(s.xy[k] - s.x[k])

    # -------------------------------------------------------------------------------------- sums of x log x

    def margins(self, stats: Stats) -> Margins:
        """S of each feature, with and without the target, from one statistic."""

        def make() -> Margins:
            if self.corrected and stats.source.size < stats.mass / 2:
                stats.warn(
                    f"the sample weights sum to {stats.source.size:.3g}, which {self.name} takes for the number of rows"
                    f" (there are {stats.n}); scale them so that they sum to the rows you have"
                )
            x, xy = self._pair(stats, None, split=True)
            sizes = stats.class_sizes()
            return Margins(x, xy, self._sum_of(stats, sizes), self._sum_of(stats, sizes.sum(keepdims=True)))

        return stats.remember((self, "margins"), make)

    def pair(self, stats: Stats, z: int | Column, split: bool = True) -> Pair:
        """S of every feature with column z, and with z and the target; without the classes it is half the work."""
        if isinstance(z, Column):
            return self._pair(stats, z, split)
        split = split or stats.remembers((self, z, True))
        return stats.remember((self, z, split), lambda: self._pair(stats, z, split))

    def _pair(self, stats: Stats, z: int | Column | None, split: bool) -> Pair:
        layout = stats.source.layout
        xz = np.empty(layout.slots.size)
        xzy = np.empty(layout.slots.size) if split else xz
        stats.share_time(self._pair_slots(stats, z, split, 0, xz, xzy))
        stats.facts["passes"] += 1
        stats.facts["tables_counted"] += stats.m
        return Pair(layout.by_feature(xz), layout.by_feature(xzy))

    def _pair_slots(
        self, stats: Stats, z: int | Column | None, split: bool, first: int, xz: np.ndarray, xzy: np.ndarray
    ) -> tuple[float, list[tuple[float, float]]]:
        """S of (X_j, Z) and (X_j, Z, Y) for the features of blocks first.., per slot; the time that took."""
        layout, classes = stats.source.layout, stats.classes if split else 1
        batch, column = stats.source.batch, z
        start = time.perf_counter()
        dense = layout.blocks
        if batch is not None:
            column = batch.as_column(z)
            dense = max(batch.prepare(column, split).histogram, first)
        levels = (
            column.levels if isinstance(column, Column) else 1 if column is None else int(stats.cards[column])
        )
        per_level = classes * levels * LANES

        def task(lo: int, hi: int) -> tuple[float, float]:
            counting, begin = 0.0, time.perf_counter()
            for at, end in layout.pieces(first + lo, first + hi, TABLE_BYTES // (8 * per_level)):
                here = time.perf_counter()
                room = stats.room(int(layout.before[end] - layout.before[at]) * per_level)
                cells = stats.reduce(PairCounts(z=column, lo=at, hi=end, split=split, room=room)).cells
                counting += time.perf_counter() - here
                assert cells is not None
                self._sums(stats, cells, at, end, classes, levels, (xz, xzy))
            return counting, time.perf_counter() - begin - counting

        parts: list[tuple[float, float]] = []
        if dense > first:
            width = int(layout.width[(first + dense) // 2])
            work = width * per_level + stats.n * (levels - 1) * (width - 1) // 64 + 1
            _, parts = jit.spread(dense - first, task, max(1, GRAIN // work))
        if dense < layout.blocks:
            begin = time.perf_counter()
            features = layout.slots[dense * LANES :]
            features = features[features >= 0]
            sums = batch.grouped_features(features, batch.grouping(column, split))
            where = layout.slot_of[features]
            xz[where], xzy[where] = self._corrected(stats, sums)
            parts.append((time.perf_counter() - begin, 0.0))
        return time.perf_counter() - start, parts

    def matrix(
        self, stats: Stats, which: str, advance: Callable[[int], None] = lambda done: None
    ) -> np.ndarray:
        """All pairs; each table is counted once, by blocks, and serves both orders of its two features."""
        layout, split = stats.source.layout, which != "mi"
        m, s = stats.m, self.margins(stats)
        pair, triple = np.empty((m, m)), np.empty((m, m)) if split else np.empty((0, 0))
        if stats.source.batch is not None:
            stats.source.batch.prepare(stats.source.batch.column(0), split)

        def task(lo: int, hi: int) -> None:
            xz, xzy = np.empty(layout.slots.size), np.empty(layout.slots.size)
            for slot in layout.slot_of[order[lo:hi]].tolist():
                first = slot // LANES
                self._pair_slots(stats, int(layout.slots[slot]), split, first, xz, xzy)
                others = layout.slots[slot:]
                others = others[others >= 0]
                here = layout.slot_of[others]
                k = int(layout.slots[slot])
                pair[others, k] = pair[k, others] = xz[here]
                if split:
                    triple[others, k] = triple[k, others] = xzy[here]
            with lock:
                advance(hi - lo)

        order, lock = layout.slots[layout.slots >= 0], threading.Lock()
        with stats.timed("counting"):
            jit.spread(m, task, most=16)
        stats.facts["tables_counted"] += m * (m + 1) // 2
        stats.facts["passes"] += 1
        if which == "mi":
            return self._information(stats, *_symmetric(pair, s.x, s.one), 0.0)
        if which == "cmi":
            return self._information(stats, *_symmetric(triple, s.xy, s.y), 0.0)
        given = np.broadcast_to(s.xy - s.x, pair.shape)
        return self._information(stats, triple - pair, given, 0.0)

    def _sums(
        self,
        stats: Stats,
        cells: np.ndarray,
        lo: int,
        hi: int,
        classes: int,
        rz: int,
        out: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """S of the tables of blocks lo..hi-1, without and with the classes, per slot."""
        layout = stats.source.layout
        pair, triple = out or (np.empty(layout.slots.size), np.empty(layout.slots.size))
        where = (layout.width, layout.before, classes, rz)
        if cells.dtype == np.int64 and stats.n <= LOOKUP_ROWS:
            together = np.empty(int(layout.width[hi - 1]) * rz * LANES if hi > lo else 0, np.int64)
            kernels.table_sums_lookup(lo, hi, cells, *where, xlogx_table(stats.n), together, pair, triple)
        else:
            kernels.table_sums_direct(lo, hi, cells, *where, pair, triple)
        if self.corrected:
            few, many = np.zeros(pair.size, np.int64), np.zeros(pair.size, np.int64)
            kernels.table_occupied(lo, hi, cells, *where, few, many)
            here, scale = slice(lo * LANES, hi * LANES), self._scale(stats)
            pair[here] -= (few[here] - 1) / 2 * scale
            if triple is not pair:  # without classes they are one array
                triple[here] -= (many[here] - 1) / 2 * scale
        return pair, triple

    def _corrected(self, stats: Stats, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self.corrected:
            return sums[:, 0], sums[:, 1]
        scale = self._scale(stats)
        return sums[:, 0] - (sums[:, 2] - 1) / 2 * scale, sums[:, 1] - (sums[:, 3] - 1) / 2 * scale

    def _sum_of(self, stats: Stats, counts: np.ndarray) -> float:
        counts = counts[counts > 0].astype(np.float64)
        total = 0.0
        for x in counts.tolist():  # in order, one by one, as the kernels do
            total += kernels.xlogx_one(x)
        return total - (counts.size - 1) / 2 * self._scale(stats) if self.corrected else total

    # ------------------------------------------------------------------------------------------ from S to I, H

    @staticmethod
    def _scale(stats: Stats) -> float:
        """Mass in the tables for each unit of N: 1 but for real weights, which are scaled to the number of rows."""
        return stats.mass / stats.source.size

    def _entropy(self, stats: Stats, s: np.ndarray) -> np.ndarray:
        entropy: np.ndarray = np.log(stats.mass) - s / stats.mass
        return entropy

    def _information(self, stats: Stats, joint: np.ndarray, own: np.ndarray, constant: float) -> np.ndarray:
        """(joint - own - constant) / N. For the plug-in estimate a value below 0 by more than rounding is a bug."""
        if self.corrected:
            estimate: np.ndarray = ((joint - own) - constant) / stats.mass
            return estimate
        value = np.empty(joint.shape)
        joint, own = np.ascontiguousarray(joint).reshape(-1), np.ascontiguousarray(own).reshape(-1)
        if kernels.information_all(joint, own, float(constant), stats.mass, value.reshape(-1)):
            raise ArithmeticError("plug-in information came out negative: a bug in jifs, please report it")
        return value


def _symmetric(joint: np.ndarray, alone: np.ndarray, rest: float) -> tuple[np.ndarray, np.ndarray]:
    """joint_ij less the larger, and the smaller less rest: the same bits for (i, j) and (j, i), 0 for a constant."""
    rows, columns = alone[:, None], alone[None, :]
    return joint - np.maximum(rows, columns), np.minimum(rows, columns) - rest


@estimator("miller_madow", tasks=("class",), reads="codes", cite="[Miller 1955]")
@dataclass(frozen=True)
class MillerMadow(PlugIn):
    """Plug-in entropies plus (K - 1)/(2N) each, K the number of cells that are not empty; may be negative."""

    corrected = True

    def lookup(self, stats: Stats) -> None:
        """None: a look-up of counts alone would leave the correction out."""
