"""The tree of branch and bound for  max x'Qx, e'x = k:  nodes, their bounds, and what is left to look at.

A node is a `Core` (relax/split.py): features are dropped or taken for certain until nothing above the cut is left, or
one of them is tried both ways. Whatever is cut off leaves its bound in `top`; whatever waits has one of its own; so at
any moment `bound()` is above the value of every set.
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
from typing import Any

import numpy as np

from jifs.kernels.branch import dive
from jifs.relax.dual import tight_bound
from jifs.relax.eigen import alone
from jifs.relax.fixing import forced_bounds
from jifs.relax.problem import Problem
from jifs.relax.split import HUGE, UNIT, Core

TOLERANCE = 1e-9
"""No set is better than the one found by more than this share of its value, or nothing is proven."""
ROOT_STEPS, NODE_STEPS, CHUNK = 300, 60, 20
"""Steps of the split bound: at the root, at other nodes, and before features are decided."""
NODE_RELAX = 0.25
ROOT_WORK, NODE_WORK, CALL = 1e8, 60.0, 2e7
"""Comparisons of a depth-first search: at the root; at other nodes, times m^2; between two looks at the clock."""
DUAL_SIZE, DIVE_SIZE = 1000, 2000
"""With more features than that, a dual or a depth-first search takes too long between two looks at the clock."""
DUAL_SHARE, DUAL_BEST, DUAL_WORST = 0.15, 1e-6, 1e-4
"""How near to its best value a dual must come: a share of the node's gap, but within these, relatively."""
PACKED = 3e8
"""Bytes of R that waiting nodes may keep; further ones start again from the R of the root."""


def exact_value(Q: np.ndarray, S: np.ndarray) -> float:
    """x'Qx, rounded once."""
    return math.fsum(Q[np.ix_(S, S)].ravel().tolist())


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


class Node:
    """A part of the problem: its core, a proven upper bound, the place to branch at, the multipliers of the dual."""

    def __init__(self, core: Core, upper: float) -> None:
        self.core, self.upper, self.branch = core, upper, -1
        self.dual, self.u, self.u_ids = False, np.empty(0), np.empty(0, np.int64)
        self.by_dual = self.by_split = HUGE

    def part(self, take: bool) -> Node:
        other = copy.copy(self)
        other.core = self.core.part(self.branch, take)
        other.core.relax = NODE_RELAX
        return other

    @property
    def simple(self) -> bool:
        """Can the best set be read off?"""
        return self.core.k <= 2 or self.core.m <= self.core.k


class Tree:
    """What is known: the best set S and its value, the largest bound cut off, and the nodes that wait."""

    def __init__(self, problem: Problem, S: np.ndarray, deadline: float, stages: tuple[str, ...]) -> None:
        self.Q, self.S = problem.scaled(), S
        self.value = exact_value(self.Q, S)
        self.deadline, self.stages = deadline, stages
        core = Core(self.Q, self.Q.diagonal().copy(), problem.k)
        self.turned = 2 * problem.k > problem.n
        self.root = Node(core.flipped() if self.turned else core, HUGE)
        self.top, self.nodes, self.packed = -HUGE, 0, 0
        self.heap: list[tuple[float, int, Node]] = []
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
        while not self.heap:  # whatever happens, there must be a bound
            try:
                root.core.improve(self.value, 1)
                self._look(root)
                self.heap.append((-root.upper, next(self._ticket), root))
            except KeyboardInterrupt:
                interrupted = True
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

    def branch(self, node: Node) -> None:
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

    def close(self, node: Node, steps: int, work: float) -> bool:
        """Whether nothing above the cut is left in the node; if not, its bound and the place to branch at are known."""
        self.nodes += 1
        if not node.simple and node.dual and self._dual(node):
            return True
        if not node.simple and self._split(node, steps if "split" in self.stages else 1):
            return True
        node.dual = node.dual and node.by_dual <= node.by_split
        if node.simple or ("dive" in self.stages and node.core.m <= DIVE_SIZE):
            return self._dive(node, HUGE if node.simple else work)
        return False

    def _look(self, node: Node) -> float:
        """The split bound as it stands; returns the safety that its rounding needs."""
        safety = node.core.safety()
        node.by_split = node.core.bound + safety
        node.upper = min(node.upper, node.by_split)
        return safety

    def _split(self, node: Node, steps: int) -> bool:
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

    def _dual(self, node: Node) -> bool:
        """The tight dual of the node, and what it decides; True if nothing is left."""
        while not node.simple:
            core, size = node.core, node.core.m
            plain = core.flipped() if self.turned else core
            error = 8.0 * (core.origin + 16) * UNIT
            error *= abs(core.constant) + 2.0 * float(np.abs(core.diagonal).sum() + core.Q.sum())
            Q, cut = plain.Q.copy(), self.cut - plain.constant - error
            Q[np.diag_indices(size)] = np.maximum(plain.diagonal, 0.0)
            before = node.upper
            near = min(max(DUAL_SHARE * (before - self.cut) / before, DUAL_BEST), DUAL_WORST)
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
            node.by_dual = certificate.bound + plain.constant + error
            node.upper = min(before, node.by_dual)
            if node.upper <= self.cut:
                self.top = max(self.top, node.upper)
                return True
            self._clock()
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

    def _warm(self, node: Node) -> np.ndarray | None:
        """The multipliers of the features that are left, from the last dual above this node."""
        if not len(node.u):
            return None
        return np.asarray(node.u[np.searchsorted(node.u_ids, node.core.ids)])

    def _dive(self, node: Node, work: float) -> bool:
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

    def push(self, node: Node) -> None:
        """Let a node wait, with its R in single precision: any R serves."""
        core = node.core
        core.kept = core.kept.astype(np.float32) if self.packed < PACKED else core.kept[:0]
        self.packed += core.kept.nbytes
        core.Q = core.R = core.kept[:0]
        heapq.heappush(self.heap, (-node.upper, next(self._ticket), node))

    def unpack(self, node: Node) -> None:
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
