"""The width of a Gaussian kernel:  sigma_med = median over i < j of |x_i - x_j|, exactly, without sorting all pairs.

On discrete data more than half of the pairs may coincide: then it is the median of the positive distances, and 1 if
there is none. A sample of pairs gives an interval around the median; one pass counts what is below it and collects what
is in it, and the median is found among those few. The sample decides how few they are, never the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from jifs.jit import spread
from jifs.kernels.distances import GROUP, count_around, place, squared_pairs

SAMPLE = 4096
"""Pairs looked at to bracket a median; with fewer than four times as many, all are collected."""
GRAIN = 1 << 18
"""Pairs that are worth a thread's while."""


class Pairs:
    """Squared distances of the pairs of rows of x[f, n]: kept if they are at most `most`, else made block by block."""

    def __init__(self, x: np.ndarray, most: int) -> None:
        self.x = np.ascontiguousarray(x)
        self.n = self.x.shape[1]
        self.count = self.n * (self.n - 1) // 2
        self.bounds = row_blocks(self.n, most)
        self._flat: np.ndarray | None = None

    @property
    def kept(self) -> bool:
        """Whether all pairs are in memory at once."""
        return len(self.bounds) == 1

    def blocks(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """First row, row after the last, and the flat distances of these rows to all after them."""
        if self.kept and self._flat is not None:
            yield 0, self.n, self._flat
            return
        room = np.empty(max(pairs_of(self.n, first, last) for first, last in self.bounds))
        for first, last in self.bounds:
            out = room[: pairs_of(self.n, first, last)]
            squared_pairs(-(-(last - first) // GROUP), self.x, first, last, out)
            if self.kept:
                self._flat = out
            yield first, last, out

    def least(self, sign: float) -> float:
        """The share of a distance that may be rounding after a feature is left out: as little counts as 0."""
        return 2 * (len(self.x) + 2) * np.finfo(float).eps if sign < 0 else 0.0

    def median(self, column: np.ndarray | None = None, sign: float = 0.0) -> float:
        """The median distance, of rows with the squared differences of a column added (sign = 1) or left out (-1)."""
        column = np.zeros(self.n) if column is None else column
        if not self.count:
            return 1.0
        middle = ((self.count - 1) // 2, self.count // 2)
        low, high = self._ranked(middle, column, sign)
        if high > 0:
            return (math.sqrt(low) + math.sqrt(high)) / 2
        zeros = int(self._around(0.0, 0.0, column, sign, 0.0)[0][1])
        rest = self.count - zeros
        if not rest:
            return 1.0
        low, high = self._ranked((zeros + (rest - 1) // 2, zeros + rest // 2), column, sign)
        return (math.sqrt(low) + math.sqrt(high)) / 2

    def _ranked(self, ranks: tuple[int, int], column: np.ndarray, sign: float) -> tuple[float, float]:
        """The squared distances of these two ranks, 0 being the least."""
        few = self.count <= 4 * SAMPLE
        sample = np.empty(0) if few else self._sample(column, sign)
        reach = 1.0 if few else 2 / math.sqrt(sample.size)
        while True:
            low, high = -1.0, math.inf
            share = min(1.0, 2 * reach)
            from_, to = ranks[0] / self.count - reach, ranks[1] / self.count + reach
            if from_ > 0:
                low = float(sample[int(from_ * sample.size)])
            if to < 1:
                high = float(sample[int(to * sample.size)])
            counts, found = self._around(low, high, column, sign, share)
            before, inside = int(counts[0]), int(counts[1] + counts[2])
            if before <= ranks[0] and ranks[1] < before + inside + counts[3]:
                break
            reach *= 4
        places = [rank - before - int(counts[1]) for rank in ranks]
        at = sorted({p for p in places if 0 <= p < found.size})
        ordered = np.partition(found, at) if at else found
        return tuple(low if p < 0 else high if p >= found.size else float(ordered[p]) for p in places)  # type: ignore[return-value]

    def _sample(self, column: np.ndarray, sign: float) -> np.ndarray:
        """Squared distances of pairs drawn by chance, sorted."""
        rng = np.random.default_rng(0)
        size = SAMPLE if self.kept else 16 * SAMPLE
        i, j = rng.integers(0, self.n, size), rng.integers(1, self.n, size)
        j = (i + j) % self.n
        i, j = np.minimum(i, j), np.maximum(i, j)
        if self.kept:
            ((_, _, flat),) = self.blocks()
            d = flat[i * (2 * self.n - 1 - i) // 2 + j - i - 1]
        else:
            d = np.zeros(size)
            for row in self.x:
                d += np.square(row[i] - row[j])
        changed = d + sign * np.square(column[i] - column[j])
        return np.sort(np.where(changed > self.least(sign) * d, changed, 0.0))

    def _around(
        self, low: float, high: float, column: np.ndarray, sign: float, share: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """How many are below low, at it, between, and at high; and those between, in any order."""
        n, least = self.n, self.least(sign)
        counts, parts = np.zeros(4, np.int64), []
        for first, last, flat in self.blocks():

            def task(
                lo: int, hi: int, first: int = first, flat: np.ndarray = flat
            ) -> tuple[np.ndarray, np.ndarray]:
                own, room = (
                    np.zeros(4, np.int64),
                    int(1.5 * share * pairs_of(n, first + lo, first + hi)) + 1024,
                )
                while True:
                    found = np.empty(room + 1)
                    span = (first + lo, first + hi, n, first)
                    count_around(*span, flat, column, sign, least, low, high, own, found)
                    if own[2] <= room:
                        return own, found[: own[2]]
                    room = int(own[2])

            for own, found in spread(last - first, task, grain=max(1, GRAIN // n))[1]:
                counts += own
                parts.append(found)
        return counts, np.concatenate(parts)


def pairs_of(n: int, first: int, last: int) -> int:
    """How many pairs the rows first .. last - 1 make with rows after them."""
    return int(place(n, last) - place(n, first))


def row_blocks(n: int, most: int) -> list[tuple[int, int]]:
    """Ranges of rows of at most so many pairs, of one row at least; their sizes are those of GROUPs where possible."""
    bounds, first = [], 0
    while first < max(n, 1):
        last, step = n, GROUP
        if pairs_of(n, first, n) > most:
            last = first + max(1, min(most // max(n - 1 - first, 1), n - first))
            last = last if last - first < step else last - (last - first) % step
        bounds.append((first, last))
        first = last
    return bounds
