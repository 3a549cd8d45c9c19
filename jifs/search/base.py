"""What strategies share: the task, the tie rule, stop rules, and the outcome.

The winner of a step is the LOWEST index whose score is within the tolerance of the best, so that equal scores which
differ by rounding are equal; the tolerance is absolute for scores up to 1 and relative beyond. The search starts at
minus infinity, so negative scores are chosen like any other.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from jifs.errors import MismatchError
from jifs.kernels.pick import best_one, least_tied


class Pick(NamedTuple):
    """A winner and the best of the others (-1 if there is none)."""

    winner: int
    runner_up: int
    margin: float | None
    tie: bool


class Stop(Protocol):
    """Decides, before the next feature is taken, whether the search ends; returns the reason or None."""

    def reason(self, taken: list[int], free: np.ndarray, score: float, run: Any) -> str | None:
        """Why to stop now, or None to go on."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the rule has seen, for the result."""
        ...


@dataclass(frozen=True)
class Task:
    """What is asked of a strategy."""

    k: int
    name: str
    tolerance: float = 1e-12
    include: tuple[int, ...] = ()
    free: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))
    stop: Stop | None = None
    advance: Callable[[int], None] = lambda j: None
    seed: int = 0


@dataclass
class Taken:
    """One step: the feature, its score and parts when it was taken, and who came second."""

    feature: int
    score: float
    parts: dict[str, float]
    runner_up: int | None = None
    margin: float | None = None
    tie: bool = False
    included: bool = False


@dataclass
class Outcome:
    """What a strategy found."""

    steps: list[Taken]
    weights: np.ndarray | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class Strategy(Protocol):
    """A search: the face it needs, and a loop."""

    name: str
    needs: str

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Search with the criterion's method for the face that is needed."""
        ...


def pick(scores: np.ndarray, free: np.ndarray, task: Task, ties: Callable[[], Any] | None = None) -> Pick:
    """Winner and runner-up among the free features, of which there is at least one; NaN is refused.

    `ties` gives a second score, which decides among those level at the top; then comes the lowest index.
    """
    if scores.shape != free.shape:
        raise MismatchError(f"criterion '{task.name}' gave {scores.size} scores for {free.size} features")
    first, second = _first_two(scores, free, task)
    if ties is None or second < 0 or not lead(scores, first, second, task).tie:
        return lead(scores, first, second, task)
    level = free & (scores >= least_tied(float(scores[free].max()), task.tolerance))
    first, among = _first_two(np.asarray(ties(), np.float64), level, task)
    if among < 0:  # one alone was within reach of the best: whoever comes next is second
        among = best_one(scores, free, task.tolerance, first)
    return lead(scores, first, among, task)


def _first_two(scores: np.ndarray, free: np.ndarray, task: Task) -> tuple[int, int]:
    first = best_one(scores, free, task.tolerance, -1)
    if first <= -2:
        raise ArithmeticError(
            f"criterion '{task.name}' gave feature {-2 - first} the score NaN, which is no number"
        )
    return first, best_one(scores, free, task.tolerance, first)


def lead(scores: np.ndarray, first: int, second: int, task: Task) -> Pick:
    """How far a winner is ahead of the runner-up (-1: there is none)."""
    if second < 0:
        return Pick(first, -1, None, False)
    ahead, behind = float(scores[first]), float(scores[second])
    margin = 0.0 if ahead <= behind else ahead - behind
    return Pick(first, second, margin, behind >= least_tied(ahead, task.tolerance))


def ranking(scores: np.ndarray, free: np.ndarray, task: Task, most: int) -> list[int]:
    """The winners of `most` steps with fixed scores, without looking at all of them each time; NaN is refused.

    Whoever is level with the best of the others waits in a heap, and the lowest index leaves it first.
    """
    if not free.any():
        return []
    pick(scores, free, task)
    candidates = np.flatnonzero(free)
    if most < candidates.size:  # those far behind need not be sorted
        own = scores[candidates]
        last = float(np.partition(own, own.size - most)[own.size - most])
        candidates = candidates[own >= least_tied(last, task.tolerance)]
    by_score = candidates[np.argsort(-scores[candidates], kind="stable")].tolist()
    waiting: list[int] = []
    order: list[int] = []
    taken: set[int] = set()
    top = level = 0
    while len(order) < min(most, len(by_score)):
        while by_score[top] in taken:
            top += 1
        least = least_tied(float(scores[by_score[top]]), task.tolerance)
        while level < len(by_score) and scores[by_score[level]] >= least:
            heapq.heappush(waiting, by_score[level])
            level += 1
        order.append(heapq.heappop(waiting))
        taken.add(order[-1])
    return order


@dataclass(frozen=True)
class Below:
    """Stop when the best score falls below a threshold."""

    threshold: float

    def reason(self, taken: list[int], free: np.ndarray, score: float, run: Any) -> str | None:
        """The sentence for the user, or None."""
        return f"best score {score:.6g} is below {self.threshold:g}" if score < self.threshold else None

    def facts(self) -> dict[str, Any]:
        """Nothing beyond the reason."""
        return {}


@dataclass(frozen=True)
class Exhausted:
    """Stop when the criterion says that no candidate can add anything."""

    name: str

    def reason(self, taken: list[int], free: np.ndarray, score: float, run: Any) -> str | None:
        """The sentence for the user, or None."""
        if not hasattr(run, "exhausted"):
            raise MismatchError(
                f"stop='exhausted' needs a criterion that knows when nothing is left, as 'cmi' by forward;"
                f" '{self.name}' does not"
            )
        return "information is exhausted" if run.exhausted else None

    def facts(self) -> dict[str, Any]:
        """Nothing beyond the reason."""
        return {}
