"""Exhaustive search:  argmax_S f(S) over all sets of k features.

Among equals (the house's rule of ties) the set that comes first in the dictionary wins, its members sorted.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from numbers import Integral
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.kernels.pick import least_tied
from jifs.registry import strategy
from jifs.search.backward import others, refuse_stop, value_of
from jifs.search.base import Outcome, Taken, Task, pick

TICKS = 100
"""How often a bar moves on the way through the sets."""


@strategy("exhaustive")
@dataclass(frozen=True)
class Exhaustive:
    """Exhaustive search: every set of k features is valued and the best is taken; more than `limit` sets are refused.

    The set is listed as forward selection inside it would take it: a feature's score is the value of the set that it
    makes with all before it, its runner-up another member of the set. Which set came second, and by how much, is told
    by the facts `runner_up_set` and `margin`.
    """

    limit: int = 1_000_000

    needs = "sets"

    def __post_init__(self) -> None:
        limit: Any = self.limit
        if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1:
            raise InputError(f"limit must be a whole number of sets, from 1 on, not {limit!r}")

    def total(self, task: Task) -> int:
        """The length of the way, for a bar: a tick for every hundredth of the sets."""
        count, size = _size(task)
        return min(math.comb(count, size), TICKS) if size else 0

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Value every set that holds the included features, and list the best; an interrupt lists the best by then."""
        refuse_stop(task, "exhaustive")
        count, size = _size(task)
        sets = math.comb(count, size)
        if sets > self.limit:
            raise InputError(_too_many(count, size, len(task.include), int(self.limit)))
        first, free = list(task.include), others(task)
        steps = [
            Taken(j, value_of(face, stats, first[: i + 1], task), {}, included=True)
            for i, j in enumerate(first)
        ]
        if not size:
            return Outcome(steps)
        values, facts = array("d"), dict[str, Any]()
        try:
            for some in combinations(free, size):
                values.append(value_of(face, stats, [*first, *some], task))
                if len(values) * TICKS // sets > (len(values) - 1) * TICKS // sets:
                    task.advance(some[0])
        except KeyboardInterrupt:
            if not values:
                raise
            facts["stopped"] = f"interrupted after {len(values):,} of {sets:,} sets"
        found = pick(
            np.array(values), np.ones(len(values), np.bool_), task, self._ties(face, stats, task, values)
        )
        best, value = _nth(free, size, found.winner), values[found.winner]
        try:
            _put_in_order(face, stats, task, steps, best)
        except KeyboardInterrupt:
            facts.setdefault("stopped", f"interrupted after {sets:,} sets, before the best was in order")
        listed = {s.feature for s in steps}
        steps += [Taken(j, value, {}) for j in best if j not in listed]
        second = None if found.runner_up < 0 else sorted(first + _nth(free, size, found.runner_up))
        facts |= {"sets_evaluated": len(values), "value": value, "runner_up_set": second}
        return Outcome(steps, facts=facts | {"margin": found.margin, "tie": found.tie})

    def _ties(self, face: Any, stats: Any, task: Task, values: Any) -> Callable[[], np.ndarray] | None:
        """A second value of the sets level at the top, if the criterion has one."""
        second = getattr(face, "second", None)
        if second is None:
            return None

        def ties() -> np.ndarray:
            first, least = np.array(values), least_tied(max(values), task.tolerance)
            out = np.full(first.size, -math.inf)
            for i, some in enumerate(islice(combinations(others(task), _size(task)[1]), first.size)):
                if first[i] >= least:
                    out[i] = second(stats, [*task.include, *some])
            return out

        return ties


def _size(task: Task) -> tuple[int, int]:
    """How many features are free, and how many of them are to be taken."""
    count = len(others(task))
    return count, min(max(task.k - len(task.include), 0), count)


def _nth(free: Sequence[int], size: int, rank: int) -> list[int]:
    return list(next(islice(combinations(free, size), rank, None)))


def _put_in_order(
    face: Callable[..., Any], stats: Any, task: Task, steps: list[Taken], best: Sequence[int]
) -> None:
    """Add the members of the best set to the steps, each time the one that brings the best value; not the last one."""
    rest = list(best)
    while len(rest) > 1:
        before = [s.feature for s in steps]
        values = np.array([value_of(face, stats, [*before, j], task) for j in rest])
        found = pick(values, np.ones(len(rest), np.bool_), task)
        j, score = rest[found.winner], float(values[found.winner])
        steps.append(Taken(j, score, {}, rest[found.runner_up], found.margin, found.tie))
        rest.remove(j)


def _too_many(count: int, size: int, included: int, limit: int) -> str:
    """How many sets there would be, and what would bring them down to the limit."""
    sets = math.comb(count, size)
    number = f"{sets:,}" if sets < 10**15 else f"about 10^{math.floor(math.log10(sets))}"
    fewer = next(s for s in range(size + 1) if math.comb(count, s) > limit) - 1
    less = f"k = {included + fewer} or less, or " if fewer else ""
    enough = size - 1 + bisect_right(range(size, count + 1), limit, key=lambda n: math.comb(n, size))
    more = f"{count - enough:,} more feature{'s' if count - enough > 1 else ''} in exclude"
    return (
        f"strategy 'exhaustive' would compare {number} sets of size {included + size}, and its limit is"
        f" {limit:,}; {less}{more} would do"
    )
