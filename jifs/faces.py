"""The contract between criteria and strategies: five faces, the conversions between them, and the mismatch message.

    ranks     ranks(stats) -> scores[m]                     each feature alone
    steps     open(stats) -> Run: gains(), take(j)          running state; optional best(free), parts(j), facts()
    sets      value(stats, S) -> float                      a function of a set; optional without(stats, S)
    pairs     pairs(stats) -> (q[m], Q[m, m])               a quadratic form: sum_S q + sum_{i != j in S} Q_ij
    weights   smooth(stats) -> f(w) -> (value, gradient)    differentiable in the weights; optional f.renew(w)

In a form the diagonal of Q says which part of q_i belongs to x_i^2 where x is not 0 or 1 (sets ignore it), and
q_i = -inf marks a feature that is never wanted.

A criterion implements the faces it honestly has. A strategy names the one it needs. What a criterion lacks is converted
where that changes nothing but the speed: steps -> ranks (the first step), ranks -> steps (the same scores each time),
ranks -> pairs (Q = 0), pairs -> sets, pairs -> steps (running column sums), sets -> steps (the slow obvious way).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jifs.errors import MismatchError

METHODS = {"ranks": "ranks", "steps": "open", "sets": "value", "pairs": "pairs", "weights": "smooth"}
"""The method that shows a face."""


SET_OPTIONS = ("without", "basis", "second", "second_without")
"""What a criterion of sets may offer besides: see `SetFunction`."""


@runtime_checkable
class Run(Protocol):
    """A greedy run in progress: what taking each feature would bring, and taking one.

    Optional: `best(free)`, scores as `gains` where candidates that can come neither first nor second may be left at
    minus infinity; `ties()`, a second score that decides among candidates level at the top; `parts(j)`, the named terms
    of a candidate's score; `facts()`, what the user should know at the end; `exhausted`, true when no candidate can add
    anything; `finished`, a sentence when the run is at its end before k features are taken, else None.
    """

    def gains(self) -> np.ndarray:
        """Score of every feature, given what has been taken."""
        ...

    def take(self, j: int) -> None:
        """Add feature j."""
        ...


# -------------------------------------------------------------------------------------------------------- conversions


@dataclass
class _PairsRun:
    """Gains of a quadratic form: q_j + 2 sum_{s in S} Q_js, by running column sums."""

    q: np.ndarray
    form: np.ndarray
    company: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.company = np.zeros_like(self.q)

    def gains(self) -> np.ndarray:
        scores: np.ndarray = self.q + self.company
        return scores

    def take(self, j: int) -> None:
        self.company = self.company + self.form[:, j] + self.form[j, :]

    def parts(self, j: int) -> dict[str, float]:
        return {"alone": float(self.q[j]), "in_company": float(self.company[j])}


@dataclass
class _RanksRun:
    """Gains that do not change."""

    scores: np.ndarray

    def gains(self) -> np.ndarray:
        return self.scores

    def take(self, j: int) -> None:
        """Nothing follows from it."""


@dataclass
class _SetsRun:
    """Gains of a set function the slow obvious way: f(S + j) for every j outside S."""

    value: Callable[[Any, Sequence[int]], float]
    stats: Any
    taken: list[int] = field(default_factory=list)

    def gains(self) -> np.ndarray:
        out = np.full(self.stats.m, -np.inf)
        for j in range(self.stats.m):
            if j not in self.taken:
                out[j] = self.value(self.stats, [*self.taken, j])
        return out

    def take(self, j: int) -> None:
        self.taken.append(j)


def _steps_to_ranks(criterion: Any) -> Callable[..., Any]:
    return lambda stats: criterion.open(stats).gains()


def _ranks_to_steps(criterion: Any) -> Callable[..., Any]:
    return lambda stats: _RanksRun(criterion.ranks(stats))


def _ranks_to_pairs(criterion: Any) -> Callable[..., Any]:
    return lambda stats: (criterion.ranks(stats), np.zeros((stats.m, stats.m)))


def _pairs_to_sets(criterion: Any) -> Callable[..., Any]:
    last: list[Any] = [
        None,
        None,
    ]  # the form of the data asked about last: a search asks for thousands of sets

    def value(stats: Any, chosen: Sequence[int]) -> float:
        if last[0] is not stats:
            q, form = criterion.pairs(stats)
            never = -(1.0 + np.abs(q[np.isfinite(q)]).sum() + np.abs(form).sum())
            last[:] = (
                stats,
                (np.where(q == -np.inf, never, q), form),
            )  # worse than any set without it, and comparable
        q, form = last[1]
        inner = form[np.ix_(chosen, chosen)]
        return float(q[list(chosen)].sum() + inner.sum() - np.trace(inner))

    return value


def _pairs_to_steps(criterion: Any) -> Callable[..., Any]:
    def start(stats: Any) -> _PairsRun:
        q, form = criterion.pairs(stats)
        return _PairsRun(q, form)

    return start


def _sets_to_steps(criterion: Any) -> Callable[..., Any]:
    return lambda stats: _SetsRun(criterion.value, stats)


CONVERSIONS: dict[tuple[str, str], Callable[[Any], Callable[..., Any]]] = {
    ("steps", "ranks"): _steps_to_ranks,
    ("ranks", "steps"): _ranks_to_steps,
    ("ranks", "pairs"): _ranks_to_pairs,
    ("pairs", "sets"): _pairs_to_sets,
    ("pairs", "steps"): _pairs_to_steps,
    ("sets", "steps"): _sets_to_steps,
}


def faces_of(criterion: Any) -> tuple[str, ...]:
    """The faces a criterion (or its class) shows itself."""
    return tuple(face for face, method in METHODS.items() if callable(getattr(criterion, method, None)))


def _paths(own: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Every face that can be reached, with the shortest chain of conversions from one of its own."""
    paths: dict[str, tuple[str, ...]] = {face: (face,) for face in own}
    waiting = sorted(paths, key=lambda face: face == "ranks")  # last, for it knows the least
    while waiting:
        at = waiting.pop(0)
        for start, to in CONVERSIONS:
            if start == at and to not in paths:
                paths[to] = (*paths[at], to)
                if (
                    to != "ranks"
                ):  # the first step of a run is a ranking; a form made of it is another criterion
                    waiting.append(to)
    return paths


def reachable(own: Iterable[str]) -> tuple[str, ...]:
    """The faces that can be had from these by conversion, these included, in the order of METHODS."""
    paths = _paths(own)
    return tuple(face for face in METHODS if face in paths)


@dataclass(frozen=True)
class SetFunction:
    """A criterion's value of a set; `without` values every set with one member left out, slowly if need be."""

    value: Callable[[Any, Sequence[int]], float]
    quick: Callable[[Any, Sequence[int]], np.ndarray] | None = None
    basis: Callable[[Any, Sequence[int]], list[int]] | None = None
    """Which of the features can be valued together; the others are worth nothing beside them."""
    second: Callable[[Any, Sequence[int]], float] | None = None
    """A second value, for sets that are level in the first; `second_without` as `without`."""
    second_without: Callable[[Any, Sequence[int]], np.ndarray] | None = None

    def __call__(self, stats: Any, chosen: Sequence[int]) -> float:
        return self.value(stats, chosen)

    def without(self, stats: Any, chosen: Sequence[int]) -> np.ndarray:
        """For each place p of the list, the value of the set without its p-th member."""
        if self.quick is not None:
            return np.asarray(self.quick(stats, chosen), np.float64)
        rest = ([*chosen[:p], *chosen[p + 1 :]] for p in range(len(chosen)))
        return np.array([self.value(stats, some) for some in rest], np.float64)


class _Seen:
    """A criterion seen through a converted face."""

    def __init__(self, face: str, method: Callable[..., Any]) -> None:
        setattr(self, METHODS[face], method)


def as_face(criterion: Any, face: str) -> Callable[..., Any]:
    """The criterion's method for a face: its own, or by the shortest chain of conversions."""
    path = _paths(faces_of(criterion)).get(face)
    if path is None:
        raise MismatchError(f"{type(criterion).__name__} has no `{METHODS[face]}`")
    for start, to in pairwise(path):
        criterion = _Seen(to, CONVERSIONS[start, to](criterion))
    method: Callable[..., Any] = getattr(criterion, METHODS[face])
    if face != "sets":
        return method
    return SetFunction(method, *(getattr(criterion, name, None) for name in SET_OPTIONS))


def mismatch(
    criterion: str, strategy: str, face: str, works_with: Sequence[str], others: Sequence[str]
) -> MismatchError:
    """Who lacks what, and what would work."""
    text = f"criterion '{criterion}' has no `{METHODS[face]}`, which strategy '{strategy}' needs"
    if works_with:
        text += f"; it works with strategy {' or '.join(works_with)}"
    if others:
        text += f"; criteria with `{METHODS[face]}`: {', '.join(others)}"
    return MismatchError(text)
