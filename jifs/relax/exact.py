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

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.relax.local import Found, deadline_of, tabu_search
from jifs.relax.problem import Problem, check, trivial
from jifs.relax.split import UNIT
from jifs.relax.tree import TOLERANCE, Tree, exact_value

STAGES = ("tabu", "split", "dive", "dual")


@dataclass(frozen=True, eq=False)
class Exact:
    """The best set found, its value and an upper bound of all values; `proven` if they agree to 1e-9.

    `nodes` counts the parts that were looked at; `stopped` is "time" or "interrupt" for a search that did not end.
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

    `first` is a set to begin with. `stages` may leave out any of tabu, split, dive, dual: it is the same, but slower.
    """
    begin = time.perf_counter()
    problem, deadline = check(Q, k), deadline_of(seconds)
    unknown = [name for name in stages if name not in STAGES]
    if unknown:
        raise InputError(f"stages may be {', '.join(STAGES)}, not {unknown[0]!r}")
    known = trivial(problem)
    if known is not None:
        value = exact_value(problem.Q, known)
        return Exact(known, value, value * (1 + 2 * UNIT), True, 0, time.perf_counter() - begin)
    found = _first(problem, first, seed, seconds, stages)
    tree = Tree(problem, found.S, deadline, stages)
    stopped = tree.run(found.stopped == "interrupt")
    value, bound = tree.value * problem.power, math.nextafter(tree.bound() * problem.power, math.inf)
    proven = bound <= value * (1 + TOLERANCE)
    spent = time.perf_counter() - begin
    return Exact(tree.S, value, bound, proven, tree.nodes, spent, "" if proven else stopped)


def _first(problem: Problem, first: Any, seed: int, seconds: float | None, stages: tuple[str, ...]) -> Found:
    """A set to begin with: that of tabu search, or just the given one, or the first k features."""
    quarter = None if seconds is None else seconds / 4
    steps = 2000 if "tabu" in stages else 1
    found = tabu_search(problem, steps=steps, seed=seed, seconds=quarter, first=first)
    if "tabu" in stages:
        return found
    return Found(np.arange(problem.k) if first is None else np.sort(np.asarray(first)), 0.0, found.stopped)
