"""The Lagrangian split bound: every pair's 2 Q_ij shared out between its two features.

For any R with R_ij + R_ji = 2 Q_ij and any set S of k features, where T_i is the row bound of feature i,

    f(S) = sum over i in S of [ Q_ii + sum of R_ij over j in S, j != i ]  <=  sum of the k largest T_i,
    T_i  = Q_ii + sum of the k - 1 largest R_ij, j != i

because each i in S takes k - 1 of its row. The best R gives the bound of the linear relaxation with the products
z_ij <= x_i and sum_j z_ij = (k - 1) x_i [after Caprara, Pisinger & Toth 1999 for the quadratic knapsack]. The bound
is convex and piecewise linear in R; a subgradient step [Polyak 1969] moves t = relax (bound - lower) / (pairs) from
R_ij to R_ji for every i among the k best rows that takes j, unless j takes i as well: such a pair is settled. If all
are settled, the k rows are a set whose value is the bound.

`diagonal` stands for Q_ii throughout and may be of any sign: x fixed to 1 adds to it, and the complement subtracts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel

PATIENCE = 10  # steps without a better bound before the steps are halved
WORTH = 1e-4  # a bound is better if it closes this share of the gap


@kernel
def nth_largest(numbers: Any, size: int, r: int) -> float:
    """The r-th largest (r from 1) of the first `size` numbers, which are moved: the r largest come to the front."""
    lo, hi, want = 0, size - 1, r - 1
    while lo < hi:
        pivot = numbers[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while numbers[i] > pivot:
                i += 1
            while numbers[j] < pivot:
                j -= 1
            if i <= j:
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i += 1
                j -= 1
        if want <= j:
            hi = j
        elif want >= i:
            lo = i
        else:
            break
    return float(numbers[want])


@kernel
def top_sum(numbers: Any, size: int, r: int) -> float:
    """The sum of the r largest of the first `size` numbers, which are moved."""
    if r > 0:
        nth_largest(numbers, size, r)
    total = 0.0
    for t in range(r):
        total += numbers[t]
    return total


@kernel
def rows_all(R: Any, diagonal: Any, r: int, need: Any, total: Any, last: Any, after: Any) -> None:
    """For rows in need: T_i with the r largest R_ij; the r-th largest (+inf if r = 0), the one after it (or -inf)."""
    n = len(R)
    row = np.empty(n)
    for i in range(n):
        if need[i]:
            size = 0
            for j in range(n):
                row[size] = R[i, j]
                size += j != i
            total[i] = diagonal[i] + top_sum(row, size, r)
            last[i] = np.inf
            for t in range(r):
                last[i] = min(last[i], row[t])
            after[i] = -np.inf
            for t in range(r, size):
                after[i] = max(after[i], row[t])


@kernel
def taken_one(R: Any, i: int, r: int, last: float, out: Any) -> None:
    """out = the columns of the r largest R_ij, j != i, in order of index; among equals the lowest index."""
    above = 0
    for j in range(len(R)):
        above += j != i and R[i, j] > last
    equal, size = r - above, 0
    for j in range(len(R)):
        if j != i and R[i, j] >= last and size < r:
            if R[i, j] == last:
                if equal == 0:
                    continue
                equal -= 1
            out[size] = j
            size += 1


@kernel
def split_steps(
    Q: Any,
    R: Any,
    diagonal: Any,
    k: int,
    lower: float,
    steps: int,
    rows: Any,
    touched: Any,
    dirty: Any,
    kept: Any,
    state: Any,
) -> bool:
    """Subgradient steps on R; rows = [T, last, after], `kept` the R of the best bound. True if all pairs are settled.

    state = [bound of `kept`, relax, steps without a better one]; `touched` rows are out of date, `dirty` ones differ
    from `kept`. Only touched rows are summed again, as a step reaches at most k rows and k - 1 partners of each.
    """
    n = len(R)
    total, last, after = rows[0], rows[1], rows[2]
    chosen, takes = np.zeros(n, np.bool_), np.zeros((n, n), np.bool_)
    partners = np.empty((k, max(k - 1, 1)), np.int64)
    for _ in range(steps):
        rows_all(R, diagonal, k - 1, touched, total, last, after)
        dirty |= touched
        touched[:] = False
        best = np.argsort(-total, kind="mergesort")[:k]
        bound = 0.0
        for i in best:
            bound += total[i]
        state[2] += 1.0
        if bound < state[0] - WORTH * max(state[0] - lower, 0.0):
            state[0], state[2] = bound, 0.0
            for i in range(n):
                if dirty[i]:
                    kept[i] = R[i]
            dirty[:] = False
        elif state[2] >= PATIENCE:
            state[1], state[2] = 0.5 * state[1], 0.0
        if not bound > lower:
            return False
        chosen[:] = False
        for t in range(k):
            chosen[best[t]] = True
            taken_one(R, best[t], k - 1, last[best[t]], partners[t])
            for j in partners[t, : k - 1]:
                takes[best[t], j] = True
        loose = 0
        for t in range(k):
            for j in partners[t, : k - 1]:
                loose += not (chosen[j] and takes[j, best[t]])
        move = state[1] * (bound - lower) / max(loose, 1)
        for t in range(k):
            i = best[t]
            for j in partners[t, : k - 1]:
                if not (chosen[j] and takes[j, i]):
                    R[i, j] -= move
                    R[j, i] = 2.0 * Q[i, j] - R[i, j]
                    touched[i] = touched[j] = True
        for t in range(k):
            for j in partners[t, : k - 1]:
                takes[best[t], j] = False
        if loose == 0:
            return True
    return False


@kernel
def force_all(R: Any, k: int, rows: Any, inside: Any, outside: Any) -> None:
    """The bound for sets with feature i (inside_i) and for sets without it (outside_i), for every i.

    With i, a row j that did not take i must, for the last that it took:  T_j - max(0, last_j - R_ji);  without i, a
    row that took it takes the next one:  T_j - (R_ji - after_j).  rows = [T, last, after] must be up to date.
    """
    n = len(R)
    total, last, after = rows[0], rows[1], rows[2]
    held, freed = np.empty(n), np.empty(n)
    for i in range(n):
        size = 0
        for j in range(n):
            if j != i:
                share = R[j, i]
                held[size] = total[j] - max(0.0, last[j] - share)
                freed[size] = total[j] - (share - after[j] if share >= last[j] else 0.0)
                size += 1
        inside[i] = total[i] + top_sum(held, size, k - 1)
        outside[i] = top_sum(freed, size, k)
