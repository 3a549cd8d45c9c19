"""l1 search:  max f(w) over w >= 0, sum w <= r;  the features are the weights that are left, r is moved until k are.

[Jitkrittum, Hachiya & Sugiyama 2013], Algorithm 1, from several random starts; each solve is a projected gradient
ascent (jifs/search/ascent.py). A budget of solves stands for the paper's clock, so that the same seed gives the same
set. f is what `smooth(stats)` of the criterion gives: f(w) -> (value, gradient). If f has a method `renew(w)`, it is
called now and then, and f may choose what it leaves open (widths of kernels, penalties) afresh for these weights;
between two calls it must stay the same function.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from jifs.errors import InputError, MismatchError
from jifs.registry import strategy
from jifs.search.ascent import Objective, ascend
from jifs.search.backward import others, refuse_stop
from jifs.search.base import Outcome, Taken, Task, lead, pick, ranking

FIRST, LEAST, MOST = 0.2, 2.0**-100, 2.0**100
"""The first radius, and radii that are not left: beyond them the squares of weights would be lost."""
NARROW = 1e-9
"""A range of radii this narrow (relative) is not halved again."""


class Solved(NamedTuple):
    """The end of one ascent: the features left, their weights (the others are 0), and where it was."""

    features: tuple[int, ...]
    weights: np.ndarray
    radius: float
    objective: float


@strategy("l1", cite="[Jitkrittum, Hachiya & Sugiyama 2013]")
@dataclass(frozen=True)
class L1:
    """Gradient ascent over feature weights of bounded sum, the bound moved until k weights are left; several restarts.

    restarts: how often the search for the radius is begun anew. solves: the most ascents in each of them.
    iterations: the most steps of an ascent. step: the first of them, as a share of the radius. every: steps between two
    choices of what the criterion leaves open. least: the share of the radius from which on a weight counts as left.
    seconds: no new step after this time; None for no limit, and only then the result depends on the seed alone.
    Of all sets found the nearest to k features is taken, rather a smaller than a larger one, then the best by the
    criterion's value with weights of 1. So there may be more or fewer than k features: the fact `exact` tells.
    A feature's score is its weight.
    """

    restarts: int = 20
    solves: int = 20
    iterations: int = 40
    step: float = 0.3
    every: int = 5
    least: float = 1e-4
    seconds: float | None = None

    needs = "weights"

    def __post_init__(self) -> None:
        for name in ("restarts", "solves", "iterations", "every"):
            given: Any = getattr(self, name)
            if isinstance(given, bool | np.bool_) or not isinstance(given, Integral) or given < 1:
                raise InputError(f"{name} must be a whole number from 1 on, not {given!r}")
        if not (_is_number(self.step) and 0 < self.step <= 1):
            raise InputError(f"step must be a share of the radius, above 0 and up to 1, not {self.step!r}")
        if not (_is_number(self.least) and 0 <= self.least < 1):
            raise InputError(f"least must be a share of the radius, from 0 to below 1, not {self.least!r}")
        if self.seconds is not None and not (_is_number(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds must be a number above 0, or None for no limit, not {self.seconds!r}")

    def total(self, task: Task) -> int:
        """The most solves, for a bar: a restart that ends before takes its rest at once."""
        return int(self.restarts * self.solves) if 0 < task.k < len(others(task)) else 0

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Restart the search for the radius, and list the best set; an interrupt lists the best by then."""
        refuse_stop(task, "l1")
        if task.include:
            raise MismatchError(
                "strategy 'l1' can't hold features in, for any weight may fall to 0; leave include out, or use strategy"
                " 'forward' or 'floating'"
            )
        free = others(task)
        if not task.k or not free:
            return Outcome([])
        objective = Objective(face(stats), task.name, task.free)
        if task.k >= len(free):
            return _everything(objective, free)
        search = _Search(self, objective, task, free)
        try:
            search.go()
        except KeyboardInterrupt:
            if not search.found:
                raise
            search.stopped = f"interrupted after {len(search.found)} solves"
        out = search.outcome()
        if not out.facts["exact"]:
            stats.warn(
                f"strategy 'l1' met no set of {task.k} features in {len(search.found)} solves, and the nearest has"
                f" {len(out.steps)}; more restarts may find one, and strategies on sets such as 'backward' do"
            )
        return out


def _is_number(given: Any) -> bool:
    return not isinstance(given, bool | np.bool_) and isinstance(given, Real) and math.isfinite(float(given))


# --------------------------------------------------------------------------------------------------- the search


def radius_search(
    solve: Callable[[float], int], k: int, budget: int, late: Callable[[], bool] = lambda: False
) -> None:
    """Algorithm 1: `solve(r)`, which tells how many features are left at radius r, until k are or the budget is used.

    r is doubled until there are more than k, then the range between the last radius with fewer and that one is halved.
    If the first radius already gives more, nothing is known of smaller ones, and the range begins at 0.
    """
    low, high, r = 0.0, math.inf, FIRST
    for _ in range(budget):
        count = solve(r)
        if count == k or late():
            return
        if count > k:
            high = r
        else:
            low = r
        if high == math.inf:
            r = min(2 * r, MOST)
        elif high <= LEAST or high - low <= NARROW * high:
            return
        else:
            r = (low + high) / 2


@dataclass
class _Search:
    """All solves of a search."""

    how: L1
    objective: Objective
    task: Task
    free: list[int]
    found: list[Solved] = field(default_factory=list)
    restarts: int = 0
    iterations: int = 0
    stopped: str = ""
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        limit = self.how.seconds
        self.deadline = math.inf if limit is None else time.monotonic() + float(limit)

    def go(self) -> None:
        """Algorithm 1 again and again, each time with random numbers of its own."""
        budget = int(self.how.solves)
        for number in range(int(self.how.restarts)):
            rng, before = np.random.default_rng([self.task.seed, number]), len(self.found)
            radius_search(partial(self._solve, rng), self.task.k, budget, self._late)
            self.restarts += 1
            if self._late():
                self.stopped = f"out of time after {len(self.found)} solves"
                return
            for _ in range(budget - (len(self.found) - before)):
                self.task.advance(int(self.found[-1].weights.argmax()))

    def _solve(self, rng: np.random.Generator, r: float) -> int:
        """Ascend from random weights, all above 0, of sum r; how many are left."""
        start = np.zeros(self.task.free.size)
        start[self.free] = r * rng.dirichlet(np.ones(len(self.free)))
        end, steps = ascend(self.objective, start, r, self.how, self._late)
        self.iterations += steps
        left = np.where(end.weights > self.how.least * r, end.weights, 0.0)
        self.found.append(Solved(tuple(np.flatnonzero(left).tolist()), left, r, end.value))
        self.task.advance(int(left.argmax()))
        return len(self.found[-1].features)

    def _late(self) -> bool:
        return time.monotonic() >= self.deadline

    def outcome(self) -> Outcome:
        """The best set of all that were found, by size and then by value, and how it was found."""
        k = self.task.k
        nearest = min((abs(len(s.features) - k), len(s.features)) for s in self.found)
        level = [s for s in self.found if (abs(len(s.features) - k), len(s.features)) == nearest]
        sets, values = self._valued(level)
        at = pick(values, np.ones(len(sets), np.bool_), self.task)
        best = max((s for s in level if s.features == sets[at.winner]), key=lambda s: s.objective)
        sizes = Counter(len(s.features) for s in self.found)
        facts: dict[str, Any] = {
            "exact": len(best.features) == k,
            "radius": best.radius,
            "objective": best.objective,
            "value": float(values[at.winner]),
            "runner_up_set": None if at.runner_up < 0 else list(sets[at.runner_up]),
            "margin": at.margin,
            "tie": at.tie,
            "restarts": self.restarts,
            "solves": len(self.found),
            "iterations": self.iterations,
            "evaluations": self.objective.evaluations,
            "sizes": [[size, sizes[size]] for size in sorted(sizes)],
        }
        if self.stopped:
            facts["stopped"] = self.stopped
        return Outcome(_listed(best, self.task), best.weights, facts)

    def _valued(self, level: list[Solved]) -> tuple[list[tuple[int, ...]], np.ndarray]:
        """The different sets and their values; after an interrupt, those that have one by then."""
        sets, values = sorted({s.features for s in level}), list[float]()
        try:
            for features in sets:
                values.append(_value(self.objective, features))
        except KeyboardInterrupt:
            self.stopped = f"interrupted after {len(self.found)} solves, before all sets were compared"
            if not values:  # the objective, each with its own weights, is the next best to know
                values = [max(s.objective for s in level if s.features == features) for features in sets]
        return sets[: len(values)], np.array(values)


def _listed(best: Solved, task: Task) -> list[Taken]:
    """The features by weight, heaviest first; each one's runner-up is the next."""
    w, share = best.weights, best.weights / best.radius
    order = ranking(share, w > 0, task, len(best.features))
    steps = []
    for j, after in zip(order, [*order[1:], -1], strict=False):
        margin = None if after < 0 else max(float(w[j] - w[after]), 0.0)
        tie = lead(share, j, after, task).tie
        steps.append(Taken(j, float(w[j]), {}, None if after < 0 else after, margin, tie))
    return steps


def _indicator(objective: Objective, features: tuple[int, ...]) -> np.ndarray:
    """Weights of 1 for a set."""
    w = np.zeros(objective.free.size)
    w[list(features)] = 1.0
    return w


def _value(objective: Objective, features: tuple[int, ...]) -> float:
    """The value of a set: that of weights of 1."""
    return objective.renewed(_indicator(objective, features)).value


def _everything(objective: Objective, free: list[int]) -> Outcome:
    """All that are free, by index and with weights of 1: there is nothing to choose."""
    value = _value(objective, tuple(free))
    facts = {"exact": True, "radius": float(len(free)), "objective": value, "value": value}
    facts |= {"restarts": 0, "solves": 0, "iterations": 0, "evaluations": objective.evaluations}
    steps = [Taken(j, 1.0, {}) for j in free]
    return Outcome(steps, _indicator(objective, tuple(free)), facts)
