"""Conditional mutual information maximisation [Fleuret 2004]:

    J(k) = min_{j in S} I(X_k;Y | X_j),    S empty: I(X_k;Y)

`include_marginal=True` takes the minimum over I(X_k;Y) as well, as several packages do. The partial minimum over the
first members of S can only fall, so a candidate whose partial minimum is already below the second best complete one is
left where it is: the lazy search counts few tables and finds the same winner and runner-up as the eager one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jifs import Info, InputError, Stats, criterion, info, kernel
from jifs.kernels.counts import tables_by_planes
from jifs.kernels.entropy import table_sums_lookup

LANES = 8
CUT = 1e-10
"""A candidate is left alone when it is behind by more than this: well over what counts as a tie."""


@criterion(
    "cmim",
    cite="[Fleuret 2004]",
    summary="min I(X_k;Y|X_j): the least information any selected feature leaves",
)
@dataclass(frozen=True)
class CMIM:
    """The information about the target that is left when any one selected feature is known."""

    include_marginal: bool = False
    lazy: bool = True
    info: Info = field(default_factory=lambda: info("plugin"))

    def __post_init__(self) -> None:
        for name in ("include_marginal", "lazy"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InputError(f"parameter {name} must be True or False, not {getattr(self, name)!r}")

    def open(self, stats: Stats) -> Eager:
        """A run with nothing selected: lazy where the bit planes are at hand."""
        table = self.info.lookup(stats) if self.lazy else None
        view = stats.planes() if table is not None else None
        relevance = self.info.relevance(stats)
        if view is None or table is None:
            return Eager(self, stats, relevance)
        return Lazy(self, stats, relevance, view, table)


@dataclass
class Eager:
    """The minimum of every candidate, brought up to date at each step."""

    rule: CMIM
    stats: Stats
    relevance: np.ndarray
    least: np.ndarray = field(init=False)
    taken: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.least = (
            self.relevance.copy() if self.rule.include_marginal else np.full(self.relevance.size, np.inf)
        )

    def gains(self) -> np.ndarray:
        """J of every feature."""
        return self.least.copy() if self.taken else self.relevance.copy()

    def take(self, k: int) -> None:
        """Add feature k."""
        self.taken.append(k)
        self.least = np.minimum(self.least, self.rule.info.relevance_given(self.stats, k))

    def parts(self, k: int) -> dict[str, float]:
        """Relevance alone, beside the score in company."""
        return {"relevance": float(self.relevance[k])}


class Lazy(Eager):
    """Partial minima by blocks of eight features: block b has looked at the first done[b] members of S."""

    def __init__(self, rule: CMIM, stats: Stats, relevance: np.ndarray, view: Any, table: np.ndarray) -> None:
        super().__init__(rule, stats, relevance)
        self.view, self.table = view, table
        m, in_slots = relevance.size, np.flatnonzero(view.slots >= 0)
        in_order = np.array_equal(in_slots, view.slots[:m])  # then a slice does, without looking up each slot
        self.used: Any = slice(0, m) if in_order else in_slots
        self.feature: Any = slice(0, m) if in_order else view.slots[in_slots]
        self.waiting = np.zeros(view.slots.size, np.bool_)
        self.partial = np.full(view.slots.size, np.inf)
        if rule.include_marginal:
            self.partial[self.used] = relevance[self.feature]
        self.done = np.zeros(view.width.size, np.int64)
        self.members = Members()
        self.counted = 0
        self.looked_at = 0

    def take(self, k: int) -> None:
        """Add feature k; nothing is counted until somebody asks."""
        self.taken.append(k)
        self.members.append(*self.stats.chosen(k), self.rule.info.given_constant(self.stats, k))

    def gains(self) -> np.ndarray:
        """J of every feature, all brought up to date."""
        return self._scores(np.ones(self.relevance.size, np.bool_), cut=np.inf)

    def best(self, free: np.ndarray) -> np.ndarray:
        """J where a feature may come first or second, minus infinity elsewhere."""
        return self._scores(free, cut=CUT)

    def facts(self) -> dict[str, Any]:
        """How many tables the laziness counted, and how many there are."""
        return {"lazy_tables": self.counted, "eager_tables": self.looked_at * self.relevance.size}

    def _scores(self, free: np.ndarray, cut: float) -> np.ndarray:
        if not self.taken:
            return self.relevance.copy()
        scores = np.full(self.relevance.size, -np.inf)
        with self.stats.timed("counting"):
            state = (self._waiting(free), cut, self.partial, self.done, self.stats.n, self.table)
            everything: tuple[Any, ...] = (*state, *self.view, *self.members.arrays(), scores)
            counted = bring_up(*everything)
        self.counted += counted
        self.looked_at = len(self.taken)
        self.stats.facts["tables_counted"] += counted
        return scores

    def _waiting(self, free: np.ndarray) -> np.ndarray:
        """Which slots hold a free feature."""
        self.waiting[self.used] = free[self.feature]
        return self.waiting


class Store:
    """An array that grows at its end."""

    def __init__(self, kind: Any) -> None:
        self.values = np.zeros(64, kind)
        self.size = 0

    def append(self, new: Any) -> None:
        """Put a number or an array at the end; the room is doubled when it is full."""
        end = self.size + np.size(new)
        if end > self.values.size:
            larger = np.zeros(2 * end, self.values.dtype)
            larger[: self.size] = self.values[: self.size]
            self.values = larger
        self.values[self.size : end] = new
        self.size = end


class Members:
    """Planes, class margins, levels and constants of the members of S, end to end."""

    def __init__(self) -> None:
        self.planes, self.margins, self.constants = Store(np.uint64), Store(np.int64), Store(np.float64)
        self.planes_at, self.margins_at, self.levels = Store(np.int64), Store(np.int64), Store(np.int64)
        self.planes_at.append(0)
        self.margins_at.append(0)

    def append(self, planes: np.ndarray, margins: np.ndarray, levels: int, constant: float) -> None:
        """Add a member."""
        self.planes.append(planes)
        self.planes_at.append(self.planes.size)
        self.margins.append(margins)
        self.margins_at.append(self.margins.size)
        self.levels.append(levels)
        self.constants.append(constant)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the kernel reads."""
        stores = (self.planes, self.planes_at, self.margins, self.margins_at, self.levels, self.constants)
        return tuple(store.values[: store.size] for store in stores)


@kernel
def bound_one(b: int, partial: Any, waiting: Any) -> float:
    """The best that a waiting feature of block b may still reach."""
    bound = -np.inf
    for slot in range(b * LANES, (b + 1) * LANES):
        own = partial[slot] if waiting[slot] else -np.inf
        bound = own if own > bound else bound
    return bound


@kernel
def bring_up(
    waiting: Any, cut: float, partial: Any, done: Any, n: int, table: Any,
    planes: Any, at: Any, width: Any, before: Any, words: Any, margins: Any, slots: Any,
    chosen: Any, chosen_at: Any, chosen_margins: Any, chosen_margins_at: Any, levels: Any, constants: Any, scores: Any,
) -> int:  # fmt: skip
    """Bring blocks up to date, the most promising first, unless they can change neither of the first two.

    Scores of blocks that have seen every member of S go to `scores`; returns the number of tables counted.
    """
    first, second, counted, promising, highest = -np.inf, -np.inf, 0, 0, -np.inf
    members, classes = levels.size, words.size - 1
    scratch = np.empty(width.max() * classes * levels.max() * LANES, np.int64)
    together = np.empty(width.max() * levels.max() * LANES, np.int64)
    pair, triple = np.empty(slots.size), np.empty(slots.size)
    bounds = np.empty(width.size)
    for b in range(width.size):
        bounds[b] = bound_one(b, partial, waiting)
        if bounds[b] > highest:
            promising, highest = b, bounds[b]
    for turn in range(-1, width.size):
        b = promising if turn < 0 else turn
        if turn == promising:
            continue
        while done[b] < members and bounds[b] > -np.inf and bounds[b] >= second - cut:
            s, rz = done[b], levels[done[b]]
            cells = scratch[: width[b] * classes * rz * LANES]
            z = chosen[chosen_at[s] : chosen_at[s + 1]]
            z_margins = chosen_margins[chosen_margins_at[s] : chosen_margins_at[s + 1]]
            tables_by_planes(b, b + 1, planes, at, width, before, words, z, margins, z_margins, rz, cells)
            table_sums_lookup(b, b + 1, cells, width, before, classes, rz, table, together, pair, triple)
            for slot in range(b * LANES, (b + 1) * LANES):
                given = max(((triple[slot] - pair[slot]) - constants[s]) / n, 0.0)
                partial[slot] = min(partial[slot], given)
                counted += slots[slot] >= 0
            done[b] += 1
            bounds[b] = bound_one(b, partial, waiting)
        if done[b] == members:
            for slot in range(b * LANES, (b + 1) * LANES):
                if slots[slot] >= 0:
                    scores[slots[slot]] = partial[slot]
                    if waiting[slot]:
                        second = max(second, min(first, partial[slot]))
                        first = max(first, partial[slot])
    return counted
