"""The Lagrangian split bound [after Caprara, Pisinger & Toth 1999]: strong where k is small beside n.

    x'Qx  <=  sum of the k largest T_i,   T_i = Q_ii + sum of the k - 1 largest R_ij (j != i),   R_ij + R_ji = 2 Q_ij

for ANY such R (kernels/split.py), so that a better R is a better bound and every R is a proof. A `Core` is a problem some
of whose features have been decided: those that no good enough set can have are gone, those that it must have are taken.

Rounding. Every bound here is a sum of the numbers c (the value of what is taken), Q_ii, 2 Q_ij, R_ij. No more than k rows
with k - 1 pairs each take part, hence their absolute values add up to at most

    M = |c| + sum of the k largest over i of [ |Q_ii| + sum of the k - 1 largest over j of max(2 Q_ij, |R_ij|) ]

and to 3 M with the exchanged share of a forced feature (T - last + share: |last| and |share| are each below the largest
max(2 Q_ij, |R_ij|) of the row). A number passes through at most 3 k + 10 additions, so the rounded sum is wrong by at
most 3 M (3k + 10) u / (1 - (3k + 10) u), u = 2^-53 [Higham 2002, section 4.2]. R_ji is stored as 2 Q_ij - R_ij rounded,
wrong by u |R_ji|: M u in all. A diagonal that is itself a sum of n numbers adds n u M. `safety` returns
4 (3 k + n + 16) u M, which is above the sum of these, its own rounding included.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from jifs.kernels.split import force_all, rows_all, split_steps, top_sum
from jifs.relax.local import deadline_of

UNIT = 2.0**-53
HUGE = 1e300  # "no bound yet": finite, as a difference of infinities would be no number
CALL = 3e7  # comparisons between two looks at the clock


class Core:
    """max c + sum of d_i + sum of Q_ij, i != j, over sets of k of the m features `ids`, besides the `taken` ones.

    d is any diagonal. `bound` is that of the R in `kept`, the best so far, in floating point: add `safety()`.
    """

    def __init__(
        self, Q: np.ndarray, diagonal: np.ndarray, k: int, constant: float, ids: np.ndarray, taken: list[int]
    ) -> None:
        self.Q, self.diagonal, self.k, self.constant = Q, diagonal, k, constant
        self.ids, self.taken = ids, taken
        self.relax = 1.0
        self.cut_off = -HUGE  # the largest bound of what `decide` has cut off, safety included
        self.use(Q.copy())

    @property
    def m(self) -> int:
        return len(self.Q)

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
        total, every = np.empty((3, self.m)), np.ones(self.m, np.bool_)
        rows_all(widest, np.abs(self.diagonal), max(self.k - 1, 0), every, total[0], total[1], total[2])
        most = abs(self.constant) + top_sum(total[0], self.m, self.k)
        k = self.k + len(self.taken)
        return 4.0 * (3 * k + self.m + 16) * UNIT * most

    def improve(self, lower: float, steps: int, deadline: float = np.inf) -> bool:
        """Subgradient steps towards `lower`, or a single look; True if the bound is the value of a set."""
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
        """Drop features that no set above the cut has, take those that all have; the one to branch on, or -1.

        -1 means that nothing above the cut is left. `cut` must leave room for `safety`.
        """
        rows, every = np.empty((3, self.m)), np.ones(self.m, np.bool_)
        inside, outside = np.empty(self.m), np.empty(self.m)
        rows_all(self.kept, self.diagonal, self.k - 1, every, rows[0], rows[1], rows[2])
        force_all(self.kept, self.k, rows, inside, outside)
        inside += self.constant
        outside += self.constant
        drop, must = inside <= cut, outside <= cut
        for gone in (inside[drop], outside[must]):
            self.cut_off = max(self.cut_off, float(gone.max(initial=-HUGE)))
        if (drop & must).any() or must.sum() > self.k or (~drop).sum() < self.k:
            return -1
        branch = int(self.ids[np.where(must | drop, np.inf, outside).argmin()])
        if drop.any() or must.any():
            self.keep(~drop, np.flatnonzero(must))
        return branch

    def keep(self, stay: np.ndarray, take: np.ndarray) -> None:
        """Go on with the features that stay, less those that are taken."""
        stay = stay.copy()
        for i in take:
            self.constant += float(self.diagonal[i])
            self.diagonal = self.diagonal + 2.0 * self.Q[i]
            self.taken = [*self.taken, int(self.ids[i])]
            stay[i] = False
        self.k -= len(take)
        self.ids, self.diagonal = self.ids[stay], self.diagonal[stay]
        block = np.ix_(stay, stay)
        self.Q = self.Q[block]
        self.use(self.kept[block])
