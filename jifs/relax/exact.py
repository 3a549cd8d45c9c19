"""The best set, with a proof:  max x'Qx, x in {0,1}^n, e'x = k,  by branch and bound.

1. Tabu search finds a set; as a rule it is the best one already, and the rest is its proof.
2. The split bound (relax/split.py) is improved, and features that no better set can have, or that all must have, are
   decided. For k > n/2 the problem is turned round: which n - k features are left out?
3. A depth-first search with that bound (kernels/branch.py), for a limited number of comparisons.
4. Branching, the node with the largest bound first: each node's own split bound and, where it is the better one, the
   tight dual, which decides features too (relax/fixing.py); then 3 again, within limits.

Proven means: no set has a value above (1 + 1e-9) times the value returned. All bounds count with their rounding errors,
which are bounded in relax/split.py and relax/fixing.py, and in relax/dual.py for the dual.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.kernels.branch import dive
from jifs.relax.fixing import forced_bounds
from jifs.relax.local import deadline_of, tabu_search
from jifs.relax.problem import Problem, check, trivial
from jifs.relax.split import HUGE, UNIT, Core

TOLERANCE = 1e-9
STAGES = ("tabu", "split", "dive", "dual")
ROOT_STEPS, NODE_STEPS, CHUNK = 300, 60, 20
ROOT_WORK, NODE_WORK, CALL = 1e8, 60.0, 2e7  # comparisons: of the first search; of a node's, times m^2; of one call
DUAL_SIZE = 1500  # the dual of more features would take longer than all else together
PACKED = 3e8  # bytes of R that waiting nodes may keep; further ones start from that of the root


@dataclass(frozen=True, eq=False)
class Exact:
    """The best set found, its value and an upper bound of all values; `proven` if they agree to 1e-9.

    `nodes` counts the parts that were looked at; `stopped` is "" for a search that ended by itself, "time" or "interrupt".
    """

    S: np.ndarray
    value: float
    bound: float
    proven: bool
    nodes: int
    seconds: float
    stopped: str = ""


def solve(
    Q: Any,
    k: int,
    seconds: float | None = None,
    seed: int = 0,
    first: Any = None,
    stages: tuple[str, ...] = STAGES,
) -> Exact:
    """The set of k features with the largest x'Qx, proven unless time runs out or it is interrupted.

    `first` is a set to begin with. `stages` may leave out any of tabu, split, dive, dual: the result is the same, later.
    """
    begin = time.perf_counter()
    problem, deadline = check(Q, k), deadline_of(seconds)
    unknown = [name for name in stages if name not in STAGES]
    if unknown:
        raise InputError(f"stages may be {', '.join(STAGES)}, not {unknown[0]!r}")
    known = trivial(problem)
    if known is not None:
        value = exact_value(problem.Q, known)
        bound = value if problem.k < 2 or value == 0 else float(np.nextafter(value, np.inf))
        return Exact(known, value, bound, True, 0, time.perf_counter() - begin)
    found = tabu_search(
        problem,
        starts=4 if "tabu" in stages else 1,
        steps=2000 if "tabu" in stages else 1,
        seed=seed,
        seconds=None if seconds is None else seconds / 4,
        first=first,
    )
    tree = _Tree(problem, found.S if "tabu" in stages or first is None else np.sort(first), deadline, stages)
    stopped = found.stopped if found.stopped == "interrupt" else tree.run()
    value, bound = tree.value * problem.power, float(np.nextafter(tree.bound() * problem.power, np.inf))
    proven = bound <= value * (1 + TOLERANCE)
    return Exact(tree.S, value, bound, proven, tree.nodes, time.perf_counter() - begin, "" if proven else stopped)


def exact_value(Q: np.ndarray, S: np.ndarray) -> float:
    """x'Qx, rounded once."""
    return math.fsum(Q[np.ix_(S, S)].ravel().tolist())


class _Stop(Exception):
    """Time is over."""


class _Node:
    """A part of the problem: its core, a proven upper bound, where to branch, and the multipliers of the dual."""

    def __init__(self, core: Core, upper: float, dual: bool, u: np.ndarray | None, ids: np.ndarray) -> None:
        self.core, self.upper, self.dual, self.u, self.u_ids = core, upper, dual, u, ids
        self.branch = -1


class _Tree:
    """What is known: the best set S and its value, the largest bound cut off, and the nodes that wait."""

    def __init__(self, problem: Problem, S: np.ndarray, deadline: float, stages: tuple[str, ...]) -> None:
        self.Q, self.n, self.k = problem.scaled(), problem.n, problem.k
        self.S, self.value = S, exact_value(self.Q, S)
        self.deadline, self.stages = deadline, stages
        self.turned = 2 * self.k > self.n
        self.top, self.nodes, self.heap = -HUGE, 0, list[tuple[float, int, _Node]]()
        self._ticket = itertools.count()
        self._upper = HUGE

    def bound(self) -> float:
        """No set has more than this."""
        waiting = self._upper if self._upper < HUGE else self.heap[0][2].upper if self.heap else -HUGE
        return max(self.value * (1 + 2 * UNIT), self.top, waiting)
