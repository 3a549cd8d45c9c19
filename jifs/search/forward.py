"""Forward selection:  S <- S + argmax_j J(j | S), one feature at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.registry import strategy
from jifs.search.base import Outcome, Taken, Task, pick


@strategy("forward")
@dataclass(frozen=True)
class Forward:
    """Greedy forward selection: at each step the feature with the best score joins, ties go to the lowest index."""

    needs = "steps"

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Take the included features in their order, then the best until k are taken or the stop rule speaks."""
        run = face(stats)
        parts: Callable[[int], dict[str, float]] = getattr(run, "parts", lambda j: {})
        best: Callable[[np.ndarray], np.ndarray] = getattr(run, "best", lambda free: run.gains())
        ties: Callable[[], np.ndarray] | None = getattr(run, "ties", None)
        reports = hasattr(run, "facts")  # else the last feature need not be prepared for
        free = task.free.copy()
        shown = free.view()
        shown.flags.writeable = False  # the run may look at what is free, not change it
        steps: list[Taken] = []
        facts: dict[str, Any] = {}
        try:
            for j in task.include:
                steps.append(Taken(j, float(run.gains()[j]), dict(parts(j) or {}), included=True))
                run.take(j)
                free[j] = False
                task.advance(j)
            while len(steps) < task.k and free.any():
                scores = np.asarray(best(shown), np.float64)
                found = pick(scores, free, task, ties)
                score = float(scores[found.winner])
                reason = getattr(run, "finished", None)
                if task.stop and not reason:
                    reason = task.stop.reason([s.feature for s in steps], shown, score, run)
                if reason:
                    facts["stopped"] = reason
                    break
                second = found.runner_up if found.runner_up >= 0 else None
                own = dict(parts(found.winner) or {})
                steps.append(Taken(found.winner, score, own, second, found.margin, found.tie))
                free[found.winner] = False
                if len(steps) < task.k or reports:
                    run.take(found.winner)
                task.advance(found.winner)
        except KeyboardInterrupt:
            if not steps:
                raise
            facts["stopped"] = f"interrupted after {len(steps)} features"
        if reports:
            facts = {**run.facts(), **facts}
        return Outcome(steps, facts=facts)
