"""Ranking:  the k features with the best scores of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import MismatchError
from jifs.registry import strategy
from jifs.search.base import Outcome, Taken, Task, pick


@strategy("rank")
@dataclass(frozen=True)
class Rank:
    """Order features by their own score; ties go to the lowest index."""

    needs = "ranks"

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Included features first, then by score."""
        scores = np.asarray(face(stats), np.float64)
        if scores.shape != task.free.shape:
            raise MismatchError(
                f"criterion '{task.name}' gave {scores.size} scores for {task.free.size} features"
            )
        steps = [Taken(j, float(scores[j]), {}, included=True) for j in task.include]
        free = task.free.copy()
        free[list(task.include)] = False
        facts: dict[str, Any] = {}
        for j in task.include:
            task.advance(j)
        contenders = _contenders(scores, free, task)
        own = scores[contenders]
        left = np.ones(contenders.size, np.bool_)
        while len(steps) < task.k and left.any():
            found = pick(own, left, task)
            j = int(contenders[found.winner])
            reason = (
                task.stop.reason([s.feature for s in steps], free, float(scores[j]), None)
                if task.stop
                else None
            )
            if reason:
                facts["stopped"] = reason
                break
            second = int(contenders[found.runner_up]) if found.runner_up >= 0 else None
            steps.append(Taken(j, float(scores[j]), {}, second, found.margin, found.tie))
            left[found.winner] = False
            free[j] = False
            task.advance(j)
        return Outcome(steps, weights=scores, facts=facts)


def _contenders(scores: np.ndarray, free: np.ndarray, task: Task) -> np.ndarray:
    """The features that can come among the first k, or second to one of them: the others are not looked at again."""
    candidates = np.flatnonzero(free)
    need = task.k - len(task.include) + 1
    own = scores[candidates]
    if need >= candidates.size or np.isnan(own).any():
        return candidates
    least = np.partition(own, own.size - need)[own.size - need]
    few: np.ndarray = candidates[own >= least - task.tolerance]
    return few
