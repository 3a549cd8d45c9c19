"""A criterion's quadratic form, made ready for a relaxation:  sum_S q + sum_{i != j in S} Q_ij = base + x'Mx.

M is Q with q on its diagonal, on the features that may be chosen. An included feature is fixed at x_i = 1: its q and
what is among the included go into the base, and 2 Q_ij is added to the diagonal of every other j. A feature with
q = -inf is one the criterion never wants; it is left out of M and taken only when no other is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jifs.errors import MismatchError
from jifs.search.backward import others
from jifs.search.base import Outcome, Taken, Task, pick
from jifs.search.rank import Rank


@dataclass(frozen=True, eq=False)
class Form:
    """M on the features `members`, of which `size` are to be chosen; `unwanted` are those that come last."""

    matrix: np.ndarray
    members: list[int]
    unwanted: list[int]
    size: int
    base: float

    def value(self, chosen: Sequence[int]) -> float:
        """base + x'Mx of a set of members, by their places in M."""
        return self.base + float(self.matrix[np.ix_(chosen, chosen)].sum())


def read_pairs(face: Callable[..., Any], stats: Any, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """q and Q of the criterion, checked for their shapes and for NaN; Q may have any diagonal."""
    q, pairs = (np.asarray(part, np.float64) for part in face(stats))
    m = task.free.size
    if q.shape != (m,) or pairs.shape != (m, m):
        raise MismatchError(
            f"criterion '{task.name}' gave q and Q of shapes {q.shape} and {pairs.shape} for {m} features"
        )
    if np.isnan(q).any() or (q == np.inf).any() or not np.isfinite(pairs).all():
        raise ArithmeticError(f"criterion '{task.name}' gave a form with entries that are no finite numbers")
    return q, pairs


def read_form(face: Callable[..., Any], stats: Any, task: Task) -> Form:
    """The form on what is free, with what is included fixed."""
    q, pairs = read_pairs(face, stats, task)
    free, first = others(task), list(task.include)
    members = [j for j in free if q[j] > -np.inf]
    matrix = pairs[np.ix_(members, members)]
    matrix = matrix + matrix.T
    matrix *= 0.5
    company = (pairs[np.ix_(members, first)] + pairs[np.ix_(first, members)].T).sum(axis=1)
    np.fill_diagonal(matrix, q[members] + company)
    among = pairs[np.ix_(first, first)]
    base = float(q[first].sum() + among.sum() - np.trace(among))
    unwanted = [j for j in free if not q[j] > -np.inf]
    return Form(matrix, members, unwanted, min(max(task.k - len(first), 0), len(members)), base)


def by_weight(weights: np.ndarray, unwanted: Sequence[int], stats: Any, task: Task) -> Outcome:
    """The included features, then the others by weight, the unwanted ones last."""
    scores = weights.copy()
    scores[list(unwanted)] = -np.inf
    out = Rank().run(lambda _: scores, stats, task)
    steps = [replace(s, score=float(weights[s.feature])) for s in out.steps]
    return Outcome(steps, weights, out.facts)


def in_order(form: Form, chosen: Sequence[int], task: Task, steps: list[Taken]) -> None:
    """Add a set, given by places in M, to the steps, each time the member that brings the best value.

    A feature's score is the value of the set that it makes with all before it, its runner-up another member.
    """
    rest, company, value = list(chosen), np.zeros(len(form.members)), form.base
    while rest:
        values = value + form.matrix.diagonal()[rest] + 2 * company[rest]
        found = pick(values, np.ones(len(rest), np.bool_), task)
        place, value = rest[found.winner], float(values[found.winner])
        second = form.members[rest[found.runner_up]] if found.runner_up >= 0 else None
        steps.append(Taken(form.members[place], value, {}, second, found.margin, found.tie))
        company += form.matrix[place]
        task.advance(form.members[place])
        rest.remove(place)


def first_steps(q: np.ndarray, pairs: np.ndarray, task: Task) -> list[Taken]:
    """The included features, each with the value of the set that it makes with all before it."""
    steps: list[Taken] = []
    value, company = 0.0, np.zeros(q.size)
    for j in task.include:
        value += float(q[j] + company[j])
        company = company + pairs[:, j] + pairs[j, :]
        steps.append(Taken(j, value, {}, included=True))
        task.advance(j)
    return steps
