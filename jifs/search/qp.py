"""Quadratic programming over the simplex [Rodriguez-Lujan et al. 2010]:  max (q - diag Q)'w + w'Qw,  w >= 0, sum w = 1.

The diagonal of Q tells which part of q goes with the square of a weight; a set, whose weights are 0 and 1, can't tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.registry import strategy
from jifs.relax import convex, qp
from jifs.search.base import Outcome, Task
from jifs.search.form import by_weight, read_pairs


@strategy("qp", cite="[Rodriguez-Lujan et al. 2010]")
@dataclass(frozen=True)
class Qp:
    """Features by their weights on the simplex: one ranking for every k, features of weight 0 by index.

    The form must be concave; convexify=True lowers its diagonal by the least that makes it so. solver: "OSQP" or
    "CLARABEL". Included features take part in the program like all others, and come first.
    """

    solver: str = "OSQP"
    convexify: bool = False
    seconds: float | None = None

    needs = "pairs"

    def __post_init__(self) -> None:
        if not isinstance(self.convexify, bool):
            raise InputError(f"convexify must be True or False, not {self.convexify!r}")
        convex.checked_solver(self.solver, qp.SOLVERS)
        convex.checked_seconds(self.seconds)

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Weights from the form, the features in their order; the facts tell how far from an optimum they can be."""
        q, pairs = read_pairs(face, stats, task)
        unwanted = np.flatnonzero(task.free & (q == -np.inf))
        members = np.flatnonzero(task.free & (q > -np.inf))
        weights, facts = np.zeros(task.free.size), dict[str, Any]()
        if members.size:
            matrix = pairs[np.ix_(members, members)]
            matrix = -(matrix + matrix.T)
            linear = q[members] + matrix.diagonal() / 2
            found = qp.on_simplex(matrix, linear, self.convexify, self.solver, self.seconds)
            weights[members] = found.x
            facts = {
                "value": -found.value,
                "gap": found.gap,
                "kkt": found.residuals,
                "shift": found.shift,
                "unique": found.unique,
                "status": found.status,
                "solver_seconds": found.seconds,
            }
        out = by_weight(weights, unwanted.tolist(), stats, task)
        return replace(out, facts={**facts, **out.facts})
