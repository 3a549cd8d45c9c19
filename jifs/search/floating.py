"""Floating search (SFFS):  S <- S + argmax_j f(S + j), then S <- S - i while f(S - i) > the best known of that size.

[Pudil, Novovicova & Kittler 1994]. For each size the best set met so far is kept; a step up that does not beat the one
of its size returns to that one [Somol et al. 1999]. Every step down beats what is kept, so the search ends. Among
equals the LOWEST index joins and the HIGHEST leaves, and a set within the tolerance of the one kept does not beat it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from jifs.errors import InputError
from jifs.kernels.pick import least_tied
from jifs.registry import strategy
from jifs.search.backward import others, refuse_stop, value_of, values_without
from jifs.search.base import Outcome, Taken, Task, pick


class Kept(NamedTuple):
    """The best set of its size so far: its members in the order in which they joined, and its value.

    A member's score is the value of the set it makes with those before it, or None once one of them has left.
    """

    members: tuple[Member, ...]
    value: float


@dataclass(frozen=True)
class Member:
    """A feature that joined, and who came second at that moment."""

    feature: int
    score: float | None
    runner_up: int | None
    margin: float | None
    tie: bool


@strategy("floating", cite="[Pudil, Novovicova & Kittler 1994]")
@dataclass(frozen=True)
class Floating:
    """Forward selection that looks back (SFFS): after each step, members leave while that beats all sets of that size.

    The search goes up to k + `beyond` features and lists the best set of k, its members in the order in which they
    joined. A feature's score is the value of the set that it makes with all before it in the list; runner-up and margin
    are those of the moment it joined. The fact `path` tells every move, `values` the best value met for each size.
    """

    beyond: int = 0

    needs = "sets"

    def __post_init__(self) -> None:
        beyond: Any = self.beyond
        if isinstance(beyond, bool) or not isinstance(beyond, Integral) or beyond < 0:
            raise InputError(f"beyond must be a whole number of features, from 0 on, not {beyond!r}")

    def total(self, task: Task) -> int:
        """The sizes to go through, for a bar: it moves when one is reached for the first time."""
        return self._sizes(task)[1]

    def _sizes(self, task: Task) -> tuple[int, int]:
        """How many features join in the end, and up to how many the search goes."""
        count = len(others(task))
        size = min(max(task.k - len(task.include), 0), count)
        return size, min(size + int(self.beyond), count) if size else 0

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Float up to k features, the included ones held; an interrupt lists the best set of the size reached."""
        refuse_stop(task, "floating")
        size, top = self._sizes(task)
        first = list(task.include)
        steps = [
            Taken(j, value_of(face, stats, first[: i + 1], task), {}, included=True)
            for i, j in enumerate(first)
        ]
        if not size:
            return Outcome(steps)
        walk, stopped = _Walk(face, stats, task), ""
        try:
            walk.climb(top)
        except KeyboardInterrupt:
            if not walk.kept:
                raise
            reached = len(first) + min(max(walk.kept), size)
            stopped = f"interrupted after {reached} features"
            stopped += ", before the search was over" if max(walk.kept) >= size else ""
        best = walk.kept[min(max(walk.kept), size)]
        try:
            best = best if stopped else walk.scored(best)
        except KeyboardInterrupt:
            stopped = f"interrupted after {len(first) + size} features, before all had their scores"
        for one in best.members:
            score = best.value if one.score is None else one.score
            steps.append(Taken(one.feature, score, {}, one.runner_up, one.margin, one.tie))
        facts = walk.facts() | {"value": best.value}
        return Outcome(steps, facts=facts | ({"stopped": stopped} if stopped else {}))


@dataclass
class _Walk:
    """The search on its way: the best set of each size (included features not counted), and every move."""

    face: Callable[..., Any]
    stats: Any
    task: Task
    kept: dict[int, Kept] = field(default_factory=dict)
    path: list[dict[str, Any]] = field(default_factory=list)
    asked: int = 0

    def climb(self, top: int) -> None:
        """Up to sets of `top` features."""
        size = 0
        while size < top:
            up = self._joined(self.kept[size].members if size else ())
            size += 1
            if self._beats(up.value, size):
                new = size not in self.kept
                self._keep(up, "join", up.members[-1].feature)
                if new:
                    self.task.advance(up.members[-1].feature)
                size = self._descend(size)
            else:
                self._note("return", None, self.kept[size])

    def _descend(self, size: int) -> int:
        """Down while that beats the best set of the size; all sets of one feature have been seen."""
        while size > 2:
            down, gone = self._left(self.kept[size])
            if not self._beats(down.value, size - 1):
                break
            size -= 1
            self._keep(down, "leave", gone)
        return size

    def _joined(self, members: tuple[Member, ...]) -> Kept:
        chosen = [*self.task.include, *(one.feature for one in members)]
        free = [j for j in others(self.task) if j not in chosen]
        values = np.array([value_of(self.face, self.stats, [*chosen, j], self.task) for j in free])
        self.asked += len(free)
        found = pick(values, np.ones(len(free), np.bool_), self.task)
        second = free[found.runner_up] if found.runner_up >= 0 else None
        value = float(values[found.winner])
        new = Member(free[found.winner], value, second, found.margin, found.tie)
        return Kept((*members, new), value)

    def _left(self, kept: Kept) -> tuple[Kept, int]:
        """The set without the member that it can do best without, and that member."""
        values = values_without(self.face, self.stats, self.task, [one.feature for one in kept.members])
        self.asked += len(values)
        # of equals the highest index leaves
        by_index = np.argsort([one.feature for one in kept.members])[::-1]
        at = int(by_index[pick(values[by_index], np.ones(len(values), np.bool_), self.task).winner])
        value = float(values[at])
        after = [replace(one, score=None) for one in kept.members[at + 1 :]]
        rest = [*kept.members[:at], *after]
        rest[-1] = replace(rest[-1], score=value)
        return Kept(tuple(rest), value), kept.members[at].feature

    def _beats(self, value: float, size: int) -> bool:
        """Whether a set is better than the one kept, by more than the tolerance."""
        return size not in self.kept or least_tied(value, self.task.tolerance) > self.kept[size].value

    def _keep(self, new: Kept, move: str, feature: int) -> None:
        self.kept[len(new.members)] = new
        self._note(move, feature, new)

    def _note(self, move: str, feature: int | None, at: Kept) -> None:
        size = len(self.task.include) + len(at.members)
        self.path.append({"move": move, "feature": feature, "size": size, "value": at.value})

    def scored(self, best: Kept) -> Kept:
        """The set with the scores that were lost when a member left."""
        chosen, members = list(self.task.include), list[Member]()
        for one in best.members:
            chosen.append(one.feature)
            if one.score is None:
                one = replace(one, score=value_of(self.face, self.stats, list(chosen), self.task))
                self.asked += 1
            members.append(one)
        return Kept(tuple(members), best.value)

    def facts(self) -> dict[str, Any]:
        """What the user should know at the end."""
        return {
            "values": [self.kept[size].value for size in sorted(self.kept)],
            "removed": [move["feature"] for move in self.path if move["move"] == "leave"],
            "path": self.path,
            "sets_evaluated": self.asked,
        }
