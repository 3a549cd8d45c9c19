"""Backward elimination:  S <- S - argmax_j f(S - j), from all features down, one at a time.

Among equals (the house's rule of ties) the HIGHEST index goes, so that the lowest stays. Removal goes on below k only
to put the survivors in order: the last to go is listed first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from jifs.errors import MismatchError
from jifs.registry import strategy
from jifs.search.base import Outcome, Taken, Task, pick


class Removal(NamedTuple):
    """One feature goes: the value of the set with it and of the rest, and who else could have gone."""

    feature: int
    whole: float
    rest: float
    runner_up: int | None = None
    margin: float | None = None
    tie: bool = False


@strategy("backward")
@dataclass(frozen=True)
class Backward:
    """Backward elimination: at each step the feature whose removal leaves the best value goes, until k are left.

    A feature's score is the value of the set that it makes with all before it in the list, its part `loss` what that
    set would lose with it, its runner-up the one before it in the list that would stand in its place if the margin were
    the other way. The fact `cut` tells the same of the removal that left k features.
    """

    needs = "sets"

    def total(self, task: Task) -> int:
        """How many features will be removed: the length of the way, for a bar."""
        return len(others(task)) if task.k > len(task.include) else 0

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Remove all that may go, and list the k that stayed longest; an interrupt lists whoever is left by then."""
        refuse_stop(task, "backward")
        first, left = list(task.include), others(task)
        if not (first or task.k):
            return Outcome([])
        start = [value_of(face, stats, first[:i], task) for i in range(len(first) + 1)]
        kept = [
            Taken(j, start[i + 1], {"loss": change(start[i + 1], start[i])}, included=True)
            for i, j in enumerate(first)
        ]
        if task.k <= len(first) or not left:
            return Outcome(kept)
        most = value_of(face, stats, [*first, *left], task)
        removed = _without_basis(face, stats, first, left, most)
        interrupted = False
        try:
            whole = value_of(face, stats, [*first, *left], task) if removed else most
            while left:
                gone = _removal(face, stats, task, left, whole, start[-1])
                removed.append(gone)
                left.remove(gone.feature)
                whole = gone.rest
                task.advance(gone.feature)
        except KeyboardInterrupt:
            if not removed:
                raise
            interrupted = True
        return _outcome(kept, removed, most, task, interrupted)


def _without_basis(
    face: Callable[..., Any], stats: Any, first: list[int], left: list[int], most: float
) -> list[Removal]:
    """The features that cannot be valued beside the others go first, the highest index first; `left` loses them."""
    basis = getattr(face, "basis", None)
    if basis is None:
        return []
    kept = set(basis(stats, [*first, *left]))
    lost = [j for j in reversed(left) if j not in kept]
    if lost and math.isfinite(most):
        return []
    for j in lost:
        left.remove(j)
    if lost:
        stats.warn(
            f"{len(lost)} features, among them '{stats.name_of(lost[-1])}', are constant or depend on others, and were"
            " removed first; use reg above 0 if they are to count"
        )
    return [Removal(j, most, most) for j in lost]


def _removal(
    face: Callable[..., Any], stats: Any, task: Task, left: Sequence[int], whole: float, base: float
) -> Removal:
    """Who goes next; `base` is the value when the last one is gone."""
    if len(left) == 1:
        return Removal(left[0], whole, base)
    values = values_without(face, stats, task, left)
    second = getattr(face, "second_without", None)
    ties = None
    if second is not None:
        chosen = [*task.include, *left]
        ties = lambda: np.asarray(second(stats, chosen), np.float64)[len(task.include) :][::-1]  # noqa: E731
    # read backwards, the lowest place among equals is the highest index
    found = pick(values[::-1].copy(), np.ones(len(left), np.bool_), task, ties)
    at, other = len(left) - 1 - found.winner, len(left) - 1 - found.runner_up
    return Removal(left[at], whole, float(values[at]), left[other], found.margin, found.tie)


def values_without(face: Callable[..., Any], stats: Any, task: Task, left: Sequence[int]) -> np.ndarray:
    """For each feature that may go, the value of the set without it; NaN is refused."""
    chosen = [*task.include, *left]
    if hasattr(face, "without"):
        values = np.asarray(face.without(stats, list(chosen)), np.float64)
        if values.shape != (len(chosen),):
            raise MismatchError(
                f"criterion '{task.name}' gave {values.size} values for {len(chosen)} sets without one feature"
            )
        values = values[len(task.include) :]
    else:
        rests = ([i for i in chosen if i != j] for j in left)
        values = np.array([face(stats, rest) for rest in rests], np.float64)
    flaws = np.flatnonzero(np.isnan(values))
    if flaws.size:
        raise ArithmeticError(
            f"criterion '{task.name}' gave the set of {len(chosen)} features without feature {left[flaws[0]]}"
            " the value NaN, which is no number"
        )
    return values


def _outcome(
    kept: list[Taken], removed: list[Removal], most: float, task: Task, interrupted: bool
) -> Outcome:
    """The included, those that nobody came to remove (by index, with the value of their set), then the last removed."""
    gone = {r.feature for r in removed}
    loose = [j for j in others(task) if j not in gone]
    steps = kept + [Taken(j, removed[-1].rest, {}) for j in loose]
    cut = max(len(removed) - max(task.k - len(steps), 0), 0)
    for r in reversed(removed[cut:]):
        steps.append(
            Taken(r.feature, r.whole, {"loss": change(r.whole, r.rest)}, r.runner_up, r.margin, r.tie)
        )
    facts: dict[str, Any] = {"value_of_all": most, "removed": [r.feature for r in removed[:cut]]}
    facts["removed_by_tie"] = sum(r.tie for r in removed[:cut])
    if cut:
        facts["cut"] = removed[cut - 1]._asdict()
    if interrupted:
        unordered = bool(loose) and len(steps) <= task.k
        facts["stopped"] = f"interrupted with {len(steps)} features left"
        facts["stopped"] += ", before they were in order" if unordered else ""
    return Outcome(steps, facts=facts)


# ----------------------------------------------------------------------------------- for all that search over sets


def others(task: Task) -> list[int]:
    """The features that are free and not included, by index."""
    free = task.free.copy()
    free[list(task.include)] = False
    return [int(j) for j in np.flatnonzero(free)]


def value_of(face: Callable[..., Any], stats: Any, chosen: list[int], task: Task) -> float:
    """The value of a set; NaN is refused."""
    value = float(face(stats, chosen))
    if math.isnan(value):
        few = ", ".join(map(str, chosen[:8])) + (", ..." if len(chosen) > 8 else "")
        raise ArithmeticError(
            f"criterion '{task.name}' gave the set [{few}] the value NaN, which is no number"
        )
    return value


def change(after: float, before: float) -> float:
    """after - before; nothing changes between equal infinities."""
    return 0.0 if after == before else after - before


def refuse_stop(task: Task, name: str) -> None:
    """Stop rules ask of the next feature to take, and a search that takes none would never hear them."""
    if task.stop is not None:
        raise MismatchError(
            f"strategy '{name}' ends at k features and takes no stop rule; leave stop out, or use strategy 'forward'"
        )
