"""Searches over sets of k features for a quadratic form  x'Mx:  exchanges (swap), tabu search, and branch and bound.

The form may have any signs: a constant c added to every entry adds c k^2 to every set of k features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.registry import strategy
from jifs.relax import exact, local, spectral
from jifs.relax.problem import check
from jifs.search.backward import refuse_stop
from jifs.search.base import Outcome, Taken, Task
from jifs.search.form import Form, first_steps, in_order, read_form, read_pairs

Search = Callable[[np.ndarray, int, Task], tuple[Any, dict[str, Any]]]


@strategy("swap", cite="[Vinh et al. 2014]")
@dataclass(frozen=True)
class Swap:
    """The spectral set, improved by exchanging one feature for another while that helps, at most `steps` times."""

    steps: int | None = None

    needs = "pairs"

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Start from the k largest spectral weights."""
        return _searched("swap", face, stats, task, self._search)

    def _search(self, matrix: np.ndarray, k: int, task: Task) -> tuple[Any, dict[str, Any]]:
        weights = spectral.weights(matrix, seed=task.seed).weights
        start = np.sort(np.argsort(-weights, kind="stable")[:k])
        return local.swap(matrix, start, self.steps), {}


@strategy("tabu", cite="[Glover 1989]")
@dataclass(frozen=True)
class Tabu:
    """The best set met by several tabu searches: exchanges that may also lose, without going back at once."""

    starts: int = 4
    steps: int = 2000
    seconds: float | None = None

    needs = "pairs"

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Starts are the greedy set, the spectral one and sets by chance."""
        return _searched("tabu", face, stats, task, self._search)

    def _search(self, matrix: np.ndarray, k: int, task: Task) -> tuple[Any, dict[str, Any]]:
        found = local.tabu_search(check(matrix, k), self.starts, self.steps, task.seed, self.seconds)
        return found.S, {"stopped": f"{found.stopped} after the search had begun"} if found.stopped else {}


@strategy("exact", cite="[Caprara, Pisinger & Toth 1999]")
@dataclass(frozen=True)
class BestSet:
    """The best set of all, proven by branch and bound; `seconds` bounds the time, and the facts tell what is proven."""

    seconds: float | None = None

    needs = "pairs"

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Facts: value, bound, gap, proven, nodes."""
        return _searched("exact", face, stats, task, self._search)

    def _search(self, matrix: np.ndarray, k: int, task: Task) -> tuple[Any, dict[str, Any]]:
        found = exact.solve(matrix, k, seconds=self.seconds, seed=task.seed)
        return found.S, {"bound": found.bound, "proven": found.proven, "nodes": found.nodes}


def _searched(name: str, face: Callable[..., Any], stats: Any, task: Task, search: Search) -> Outcome:
    """Fix what is included, lift the form to entries >= 0, search, and list the set as a forward pass would."""
    refuse_stop(task, name)
    q, pairs = read_pairs(face, stats, task)
    form = read_form(lambda _: (q, pairs), stats, task)
    steps, facts = first_steps(q, pairs, task), dict[str, Any]()
    if form.size:
        lift = max(0.0, -float(form.matrix.min()))
        chosen, facts = search(form.matrix + lift if lift else form.matrix, form.size, task)
        in_order(form, chosen.tolist(), task, steps)
        facts = {"value": form.value(chosen.tolist()), **_unlifted(form, lift, facts)}
    for j in form.unwanted[: task.k - len(steps)]:
        steps.append(Taken(j, float("-inf"), {}))
        task.advance(j)
    return Outcome(steps, facts=facts)


def _unlifted(form: Form, lift: float, facts: dict[str, Any]) -> dict[str, Any]:
    if "bound" not in facts:
        return facts
    return {**facts, "bound": form.base + facts["bound"] - lift * form.size**2}
