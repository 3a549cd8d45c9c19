"""Semidefinite relaxation of a quadratic form, and rounding by random projections [Vinh et al. 2014]:

max x'Mx, sum x = k  ->  max M~.Y/4;  the best of `draws` sets whose rows of Y are most alike to a random direction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from jifs.errors import InputError
from jifs.registry import strategy
from jifs.relax import convex, sdp
from jifs.search.backward import refuse_stop
from jifs.search.base import Outcome, Taken, Task
from jifs.search.form import first_steps, in_order, read_form, read_pairs


@strategy("sdp", cite="[Vinh et al. 2014]")
@dataclass(frozen=True)
class Sdp:
    """Semidefinite relaxation as published, or tight=True with (sum x)^2 = k^2 as well, and the best of 100 roundings.

    draws, rows ("Y" or "V") and orient are those of the rounding, solver "SCS" or "CLARABEL", seconds its time limit;
    more than `limit` features are refused. The form may have any signs. The set is listed as forward selection inside
    it would take it, with the value of the set so far as the score. The facts tell its value, the bound, and how well
    that was solved.
    """

    tight: bool = False
    draws: int = 100
    solver: str = "SCS"
    limit: int = sdp.LIMIT
    orient: bool = False
    rows: str = "Y"
    seconds: float | None = None

    needs = "pairs"

    def __post_init__(self) -> None:
        for name in ("tight", "orient"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be True or False, not {getattr(self, name)!r}")
        for name in ("draws", "limit"):
            given: Any = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, Integral) or given < 1:
                raise InputError(f"{name} must be a whole number from 1 on, not {given!r}")
        if self.rows not in ("Y", "V"):
            raise InputError(f"rows must be 'Y' or 'V', not {self.rows!r}")
        convex.checked_solver(self.solver, sdp.SOLVERS)
        convex.checked_seconds(self.seconds)

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Solve, round, and list the set."""
        refuse_stop(task, "sdp")
        q, pairs = read_pairs(face, stats, task)
        form = read_form(lambda _: (q, pairs), stats, task)
        steps, facts = first_steps(q, pairs, task), dict[str, Any]()
        if form.size:
            found = sdp.solve(
                form.matrix, form.size, self.tight, self.solver, limit=int(self.limit), seconds=self.seconds
            )
            chosen = sdp.round_off(
                form.matrix, form.size, found.Y, int(self.draws), task.seed, self.rows, self.orient
            )
            in_order(form, chosen.tolist(), task, steps)
            facts = {
                "value": form.value(chosen.tolist()),
                "bound": form.base + found.bound,
                "upper_bound": form.base + found.upper,
                "solver": found.solver,
                "status": found.status,
                "residuals": found.residuals,
                "solver_seconds": found.seconds,
            }
            if not found.accepted:
                worst = max(found.residuals, key=lambda name: found.residuals[name])
                stats.warn(
                    f"the semidefinite program ended with '{found.status}' and is not solved (residual of {worst}:"
                    f" {found.residuals[worst]:.2g}); use its upper_bound, not its bound, or give it more seconds"
                )
        for j in form.unwanted[: task.k - len(steps)]:
            steps.append(Taken(j, float("-inf"), {}))
            task.advance(j)
        return Outcome(steps, facts=facts)
