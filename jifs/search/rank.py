"""Ranking:  the k features with the best scores of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import MismatchError
from jifs.registry import strategy
from jifs.search.base import Outcome, Taken, Task, lead, ranking


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
        order = ranking(scores, free, task, task.k - len(steps) + 1)
        for i, j in enumerate(order[: task.k - len(steps)]):
            found = lead(scores, j, order[i + 1] if i + 1 < len(order) else -1, task)
            score = float(scores[j])
            reason = task.stop.reason([s.feature for s in steps], free, score, None) if task.stop else None
            if reason:
                facts["stopped"] = reason
                break
            second = found.runner_up if found.runner_up >= 0 else None
            steps.append(Taken(j, score, {}, second, found.margin, found.tie))
            free[j] = False
            task.advance(j)
        return Outcome(steps, weights=scores, facts=facts)
