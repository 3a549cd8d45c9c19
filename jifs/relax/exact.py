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

import copy
import heapq
import itertools
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.kernels.branch import dive
from jifs.relax.dual import tight_bound
from jifs.relax.eigen import alone
from jifs.relax.fixing import forced_bounds
from jifs.relax.local import Found, deadline_of, tabu_search
from jifs.relax.problem import Problem, check, trivial
from jifs.relax.split import HUGE, UNIT, Core

TOLERANCE = 1e-9
STAGES = ("tabu", "split", "dive", "dual")
ROOT_STEPS, NODE_STEPS, CHUNK = 300, 60, 20
NODE_RELAX = 0.25
ROOT_WORK, NODE_WORK, CALL = (
    1e8,
    60.0,
    2e7,
)  # comparisons: of the first search; of a node's, times m^2; of one call
DUAL_SIZE = 1500  # the dual of more features would take longer than all else together
DUAL_BEST, DUAL_WORST = 1e-5, 1e-3  # how near to its best value the dual of a node must come, relatively
PACKED = 3e8  # bytes of R that waiting nodes may keep; further ones start from that of the root


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
    tree = _Tree(problem, found.S, deadline, stages)
    stopped = tree.run(found.stopped == "interrupt")
    value, bound = tree.value * problem.power, tree.bound() * problem.power
    proven = bound <= value * (1 + TOLERANCE)
    spent = time.perf_counter() - begin
    return Exact(tree.S, value, bound, proven, tree.nodes, spent, "" if proven else stopped)


def exact_value(Q: np.ndarray, S: np.ndarray) -> float:
    """x'Qx, rounded once."""
    return math.fsum(Q[np.ix_(S, S)].ravel().tolist())


def _first(problem: Problem, first: Any, seed: int, seconds: float | None, stages: tuple[str, ...]) -> Found:
    """A set to begin with: that of tabu search, or just the given one, or the first k features."""
    quarter = None if seconds is None else seconds / 4
    steps = 2000 if "tabu" in stages else 1
    found = tabu_search(problem, steps=steps, seed=seed, seconds=quarter, first=first)
    if "tabu" in stages:
        return found
    return Found(np.arange(problem.k) if first is None else np.sort(np.asarray(first)), 0.0, found.stopped)


@contextmanager
def interrupts() -> Iterator[list[bool]]:
    """A list that is not empty if an interrupt came, also one that was answered inside the block."""
    noticed, before = list[bool](), signal.getsignal(signal.SIGINT)

    def notice(number: int, frame: Any) -> None:
        noticed.append(True)
        before(number, frame)  # type: ignore[operator,misc]

    ours = callable(before) and threading.current_thread() is threading.main_thread()
    if ours:
        signal.signal(signal.SIGINT, notice)
    try:
        yield noticed
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)


class _OutOfTimeError(Exception):
    """Time is over."""


class _Node:
    """A part of the problem: its core, a proven upper bound, the place to branch at, the multipliers of the dual."""

    def __init__(self, core: Core, upper: float) -> None:
        self.core, self.upper, self.branch = core, upper, -1
        self.dual, self.u, self.u_ids = False, np.empty(0), np.empty(0, np.int64)

    def part(self, take: bool) -> _Node:
        other = copy.copy(self)
        other.core = self.core.part(self.branch, take)
        other.core.relax = NODE_RELAX
        return other

    @property
    def simple(self) -> bool:
        """Can the best set be read off?"""
        return self.core.k <= 2 or self.core.m <= self.core.k


class _Tree:
    """What is known: the best set S and its value, the largest bound cut off, and the nodes that wait."""

    def __init__(self, problem: Problem, S: np.ndarray, deadline: float, stages: tuple[str, ...]) -> None:
        self.Q, self.S = problem.scaled(), S
        self.value = exact_value(self.Q, S)
        self.deadline, self.stages = deadline, stages
        core = Core(self.Q, self.Q.diagonal().copy(), problem.k)
        self.turned = 2 * problem.k > problem.n
        self.root = _Node(core.flipped() if self.turned else core, HUGE)
        self.top, self.nodes, self.packed = -HUGE, 0, 0
        self.heap: list[tuple[float, int, _Node]] = []
        self._ticket = itertools.count()

    @property
    def cut(self) -> float:
        """What has no more than this need not be looked at."""
        return self.value * (1 + TOLERANCE / 2)

    def bound(self) -> float:
        """No set has more than this."""
        return max([self.value * (1 + 2 * UNIT), self.top, *(node.upper for _, _, node in self.heap)])

    def run(self, interrupted: bool) -> str:
        """Look at nodes until none is left; "" then, otherwise why it ended."""
        root = self.root
        root.core.improve(self.value, 1)
        self._look(root)
        self.heap.append((-root.upper, next(self._ticket), root))
        if interrupted:
            return "interrupt"
        try:
            if self.close(root, ROOT_STEPS, ROOT_WORK):
                self.heap.clear()
            elif "dual" in self.stages and root.core.m <= DUAL_SIZE:
                root.dual = True
                if self.close(root, NODE_STEPS, ROOT_WORK):
                    self.heap.clear()
            while self.heap:
                self.branch(self.heap[0][2])
        except KeyboardInterrupt:
            return "interrupt"
        except _OutOfTimeError:
            return "time"
        return ""

    def branch(self, node: _Node) -> None:
        """Look at the two parts of the first node in its stead; it waits until both are there."""
        if node.upper <= self.cut:
            self.top = max(self.top, node.upper)
            self.heap.clear()
            return
        if node is not self.root:
            self.unpack(node)
        for take in (True, False):
            part = node.part(take)
            if not self.close(part, NODE_STEPS, NODE_WORK * part.core.m**2):
                self.push(part)
        heapq.heappop(self.heap)

    def close(self, node: _Node, steps: int, work: float) -> bool:
        """Whether nothing above the cut is left in the node; if not, its bound and the place to branch at are known."""
        self.nodes += 1
        if not node.simple and node.dual and self._dual(node):
            return True
        if not node.simple and self._split(node, steps if "split" in self.stages else 1):
            return True
        if node.simple or ("dive" in self.stages and node.core.m**2 < work):
            return self._dive(node, HUGE if node.simple else work)
        return False

    def _look(self, node: _Node) -> float:
        """The split bound as it stands; returns the safety that its rounding needs."""
        safety = node.core.safety()
        node.upper = min(node.upper, node.core.bound + safety)
        return safety

    def _split(self, node: _Node, steps: int) -> bool:
        core = node.core
        for done in range(0, steps, CHUNK):
            before, size = core.bound, core.m
            core.improve(self.value, min(CHUNK, steps - done), self.deadline)
            safety = self._look(node)
            if node.upper <= self.cut:
                self.top = max(self.top, node.upper)
                return True
            node.branch = core.decide(self.cut - safety)
            self.top = max(self.top, core.cut_off + safety)
            if node.branch < 0:
                return True
            self._clock()
            slow = before - core.bound < 0.02 * (before - self.value) and core.relax < 0.1
            if node.simple or (slow and core.m == size):
                break
        return False

    def _dual(self, node: _Node) -> bool:
        """The tight dual of the node, and what it decides; True if nothing is left."""
        node.dual = False  # until it proves better than the split bound
        while not node.simple:
            core, size = node.core, node.core.m
            plain = core.flipped() if self.turned else core
            error = 8.0 * (core.origin + 16) * UNIT
            error *= abs(core.constant) + 2.0 * float(np.abs(core.diagonal).sum() + core.Q.sum())
            Q, cut = plain.Q.copy(), self.cut - plain.constant - error
            Q[np.diag_indices(size)] = np.maximum(plain.diagonal, 0.0)
            before = node.upper
            near = min(max((before - self.cut) / self.cut / 4, DUAL_BEST), DUAL_WORST)
            with interrupts() as noticed:
                certificate = tight_bound(
                    Q,
                    plain.k,
                    lower=cut / (1 + near),
                    tolerance=near,
                    seconds=self._left(),
                    u=self._warm(node),
                )
            if noticed:
                raise KeyboardInterrupt
            node.u, node.u_ids = np.asarray(certificate.multipliers), core.ids
            node.upper = min(before, certificate.bound + plain.constant + error)
            if node.upper <= self.cut:
                self.top = max(self.top, node.upper)
                return True
            self._clock()
            node.dual = node.dual or node.upper < before
            if not node.upper < before:
                return False
            most = float(np.nextafter(certificate.bound / plain.k, np.inf))
            with alone():
                inside, outside = forced_bounds(Q, plain.k, node.u, most, cut)
            if self.turned:
                inside, outside = outside, inside
            node.branch = core.settle(inside + plain.constant, outside + plain.constant, self.cut - error)
            self.top = max(self.top, core.cut_off + error)
            if node.branch < 0:
                return True
            self._clock()
            if core.m > 0.9 * size:
                return False
        return False

    def _warm(self, node: _Node) -> np.ndarray | None:
        """The multipliers of the features that are left, from the last dual above this node."""
        if not len(node.u):
            return None
        return np.asarray(node.u[np.searchsorted(node.u_ids, node.core.ids)])

    def _dive(self, node: _Node, work: float) -> bool:
        """Depth-first search of the node within so many comparisons; True if it came to its end."""
        core, safety = node.core, self._look(node)
        m, k = core.m, core.k
        order = np.argsort(-core.kept, axis=1, kind="stable")
        levels, candidates, h = np.zeros((k + 2, 5)), np.zeros((k + 2, m), np.int64), np.zeros((k + 2, m))
        levels[0, 1], levels[0, 3], candidates[0], h[0] = HUGE, m, np.arange(m), core.diagonal
        path, branches, best = np.zeros(k + 2, np.int64), np.zeros(k + 2, np.int64), np.zeros(k, np.int64)
        value, sizes = np.array([self.value - core.constant, -HUGE]), np.zeros(3)
        slack = self.cut - self.value - safety
        over = False
        while not over and sizes[2] < work:
            known = value[0]
            over = dive(
                core.Q, core.kept, order, k, slack, min(CALL, work - sizes[2]), levels, candidates, h, path, branches,
                best, value, sizes,
            )  # fmt: skip
            if value[0] > known:
                self.better([*core.taken, *core.ids[best]])
            self.top = max(self.top, float(value[1]) + core.constant + safety)
            if not over:
                left = float(levels[: int(sizes[0]) + 1, 1].max()) + core.constant + safety
                node.upper = min(node.upper, max(left, self.value))
                self._clock()
        self.nodes += int(sizes[1])
        return over

    def better(self, found: list[int]) -> None:
        """Take note of a set; in the features left out, if the problem is turned round."""
        S = np.setdiff1d(np.arange(len(self.Q)), found) if self.turned else np.sort(found)
        value = exact_value(self.Q, S)
        if value > self.value:
            self.S, self.value = S, value

    def push(self, node: _Node) -> None:
        """Let a node wait, with its R in single precision: any R serves."""
        core = node.core
        core.kept = core.kept.astype(np.float32) if self.packed < PACKED else core.kept[:0]
        self.packed += core.kept.nbytes
        core.Q = core.R = core.kept[:0]
        heapq.heappush(self.heap, (-node.upper, next(self._ticket), node))

    def unpack(self, node: _Node) -> None:
        """What `push` has put away."""
        core, root = node.core, self.root.core
        core.Q = self.Q[np.ix_(core.ids, core.ids)]
        R = core.kept.astype(np.float64)
        self.packed -= core.kept.nbytes
        if not len(R):
            places = np.searchsorted(root.ids, core.ids)
            R = root.kept[np.ix_(places, places)]
        upper = np.triu(R, 1)
        core.use(upper + np.tril(2.0 * core.Q - upper.T, -1))

    def _left(self) -> float | None:
        return None if self.deadline == math.inf else max(self.deadline - time.perf_counter(), 0.0)

    def _clock(self) -> None:
        if time.perf_counter() > self.deadline:
            raise _OutOfTimeError
