"""The Lagrangian split bound [after Caprara, Pisinger & Toth 1999]: strong where k is small beside n.

    x'Qx  <=  sum of the k largest T_i,   T_i = Q_ii + sum of the k - 1 largest R_ij (j != i),   R_ij + R_ji = 2 Q_ij

for ANY such R (kernels/split.py), so that a better R is a better bound and every R is a proof. A `Core` is a problem
some of whose features have been decided: those that no good enough set can have are gone, those that it must have are
taken.

Rounding. Every bound here is a sum of the numbers c (the value of what is taken), Q_ii, 2 Q_ij, R_ij. No more than k
rows with k - 1 pairs each take part, hence their absolute values add up to at most

    M = |c| + sum of the k largest over i of [ |Q_ii| + sum of the k - 1 largest over j of max(2 Q_ij, |R_ij|) ]

and to 3 M with the exchanged share of a forced feature (T - last + share: |last| and |share| are each below the largest
max(2 Q_ij, |R_ij|) of the row). A number passes through at most 3 k + 10 additions, so the rounded sum is wrong by at
most 3 M (3k + 10) u / (1 - (3k + 10) u), u = 2^-53 [Higham 2002, section 4.2]. R_ji is stored as 2 Q_ij - R_ij rounded,
wrong by u |R_ji|: M u in all. A diagonal that is itself a sum of n numbers adds n u M. `safety` returns
4 (3 k + n + 16) u M, which is above the sum of these, its own rounding included.
"""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np

from jifs.kernels.split import force_all, rows_all, split_steps, top_sum
from jifs.relax.certificate import Certificate, split_sums
from jifs.relax.local import deadline_of, greedy, swap, whole
from jifs.relax.problem import check, value

UNIT = 2.0**-53
TINY = 2.0**-900  # more than all the rounding of subnormal numbers
HUGE = 1e300  # "no bound yet": finite, as a difference of infinities would be no number
CALL = 3e7  # comparisons between two looks at the clock


def split_bound(
    Q: Any, k: int, lower: float = -np.inf, steps: int = 300, seconds: float | None = None
) -> Certificate:
    """A certificate of kind "split": R[n, n] and the bound that it proves, rounded up.

    `lower` is the value of a good set, towards which the steps are measured; without one, a set is found. Time and an
    interrupt end the steps early, and the best R so far is returned.
    """
    deadline, problem = deadline_of(seconds), check(Q, k)
    count = whole("steps", steps, 0)
    if problem.k == 0:
        return Certificate("split", 0, 0.0, problem.Q.copy())
    scaled = problem.scaled()
    core = Core(scaled, scaled.diagonal().copy(), problem.k)
    if 1 < problem.k < problem.n:
        try:
            if not lower > -np.inf:
                lower = value(problem.Q, swap(problem.Q, greedy(problem.Q, problem.k)))
            core.improve(float(lower) / problem.power, count, deadline)
        except KeyboardInterrupt:
            pass  # whatever R is kept is a proof
    R = core.kept * problem.power
    return Certificate("split", problem.k, split_sums(problem.Q, problem.k, R), R)


class Core:
    """max c + sum of d_i + sum of Q_ij, i != j, over sets of k of the m features `ids`, besides the `taken` ones.

    d is any diagonal. `bound` is that of the R in `kept`, the best so far, in floating point: add `safety()`. Arrays
    are replaced, never written to, except for R and `kept`, so that a `part` may share them.
    """

    def __init__(self, Q: np.ndarray, diagonal: np.ndarray, k: int, constant: float = 0.0) -> None:
        self.Q, self.diagonal, self.k, self.constant = Q, diagonal, k, constant
        self.ids, self.taken = np.arange(len(Q)), list[int]()
        self.origin = len(Q)  # features of the whole problem
        self.relax = 1.0
        self.cut_off = -HUGE  # the largest bound of what `decide` has cut off
        self.use(Q.copy())

    @property
    def m(self) -> int:
        return len(self.ids)

    @property
    def bound(self) -> float:
        return float(self._state[0]) + self.constant

    def use(self, R: np.ndarray) -> None:
        """Start from this R."""
        self.R, self.kept = R, R.copy()
        self._rows = np.empty((3, self.m))
        self._touched, self._dirty = np.ones(self.m, np.bool_), np.zeros(self.m, np.bool_)
        self._state = np.array([HUGE, self.relax, 0.0])

    def safety(self) -> float:
        """What rounding can add to any bound of this core or of its parts: see the top of this file."""
        widest = np.maximum(2.0 * self.Q, np.abs(self.kept))
        rows, every = np.empty((3, self.m)), np.ones(self.m, np.bool_)
        rows_all(widest, np.abs(self.diagonal), max(self.k - 1, 0), every, rows[0], rows[1], rows[2])
        most = abs(self.constant) + top_sum(rows[0], self.m, self.k)
        k = self.k + len(self.taken)
        return float(4.0 * (3 * k + self.origin + 16) * UNIT * most + TINY)

    def improve(self, lower: float, steps: int, deadline: float = np.inf) -> bool:
        """Subgradient steps towards `lower`; True if the bound is the value of a set, so that it can't be improved."""
        cost = 6.0 * self.m * min(self.m, self.k * self.k + 1)
        chunk = int(min(max(CALL / cost, 1.0), 20.0))
        for done in range(0, steps, chunk):
            settled = split_steps(
                self.Q, self.R, self.diagonal, self.k, lower - self.constant, min(chunk, steps - done),
                self._rows, self._touched, self._dirty, self.kept, self._state,
            )  # fmt: skip
            self.relax = float(self._state[1])
            if settled or self.bound <= lower or time.perf_counter() > deadline:
                return bool(settled)
        return False

    def decide(self, cut: float) -> int:
        """Drop the features that no set above the cut has, take those that all have; the place of the one to branch on.

        -1 means that nothing above the cut is left. The cut is compared with bounds in floating point, so it must leave
        room for `safety`. The branch is the feature whose loss costs most, among those that stay.
        """
        rows, every = np.empty((3, self.m)), np.ones(self.m, np.bool_)
        inside, outside = np.empty(self.m), np.empty(self.m)
        rows_all(self.kept, self.diagonal, self.k - 1, every, rows[0], rows[1], rows[2])
        force_all(self.kept, self.k, rows, inside, outside)
        return self.settle(inside + self.constant, outside + self.constant, cut)

    def settle(self, inside: np.ndarray, outside: np.ndarray, cut: float) -> int:
        """`decide`, from given bounds of the sets with and without each feature."""
        drop, must = inside <= cut, outside <= cut
        for gone in (inside[drop], outside[must]):
            self.cut_off = max(self.cut_off, float(gone.max(initial=-HUGE)))
        if (drop & must).any() or must.sum() > self.k or (~drop).sum() < self.k:
            return -1
        open_ = ~(drop | must)
        branch = int(np.where(open_, outside, np.inf).argmin())
        if not open_.all():
            self.keep(~drop, np.flatnonzero(must))
        return int(np.count_nonzero(open_[:branch]))

    def keep(self, stay: np.ndarray, take: np.ndarray) -> None:
        """Go on with the features that stay, less those that are taken."""
        stay, diagonal = stay.copy(), self.diagonal.copy()
        for i in take:
            self.constant += float(diagonal[i])
            diagonal += 2.0 * self.Q[i]
            stay[i] = False
        self.taken = [*self.taken, *(int(self.ids[i]) for i in take)]
        self.k -= len(take)
        self.ids, self.diagonal = self.ids[stay], diagonal[stay]
        block = np.ix_(stay, stay)
        self.Q = np.ascontiguousarray(self.Q[block])
        self.use(np.ascontiguousarray(self.kept[block]))

    def part(self, place: int, take: bool) -> Core:
        """The sets with the feature at this place, or those without it."""
        other = copy.copy(self)
        stay = np.arange(self.m) != place
        if take:
            other.keep(~stay | stay, np.array([place]))
        else:
            other.keep(stay, np.empty(0, np.int64))
        return other

    def flipped(self) -> Core:
        """The same problem in the features that are left out: d_i -> -d_i - 2 sum of Q_ij, k -> m - k."""
        sums = self.Q.sum(axis=1) - self.Q.diagonal()
        constant = self.constant + float(self.diagonal.sum() + sums.sum())
        return Core(self.Q, -self.diagonal - 2.0 * sums, self.m - self.k, constant)
