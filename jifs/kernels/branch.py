"""Depth-first search for the best set, with the split bound at every node.

A node has taken the set P and may still take r = k - |P| of its candidates C:

    f(S) = f(P) + sum over i in S - P of [ h_i + sum of R_ij over j in S - P, j != i ]
         <= f(P) + sum of the r largest T_i
    h_i  = Q_ii + 2 sum of Q_ij over j in P,      T_i = h_i + sum of the r - 1 largest R_ij over j in C, j != i

with the R of the root. A candidate is dropped when no set with it can beat the cut, and taken when none without it can
(`force_all` of kernels/split.py); then one is taken first and left out afterwards. A level of the stack is a node whose
candidate `branch` is being tried above it, so what is left to do below is the node without that candidate.

What is asked for is in arrays, and the search stops and goes on as the caller likes:

    best    the best set so far, k numbers         value   [its f, the largest bound that was cut off]
    sizes   [level, nodes, work]                   work counts comparisons, so a pause does not depend on the clock
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel
from jifs.kernels.split import top_sum


@kernel
def take_one(Q: Any, cand: Any, size: int, h: Any, path: Any, taken: int, i: int) -> int:
    """Moves candidate i to the path: h of the others grows by 2 Q_ij. Returns how many candidates are left."""
    path[taken] = i
    left = 0
    for t in range(size):
        j = cand[t]
        if j != i:
            cand[left] = j
            h[j] += 2.0 * Q[i, j]
            left += 1
    return left


@kernel
def node_rows(
    R: Any, order: Any, cand: Any, size: int, alive: Any, h: Any, r: int, total: Any, last: Any, after: Any
) -> int:
    """T_i, the (r - 1)-th largest of its row and the one after it, along the sorted row; returns the comparisons."""
    work = 0
    for t in range(size):
        i = cand[t]
        found, at = 0, 0
        sum_, low = 0.0, np.inf
        while found < r - 1:
            j = order[i, at]
            at += 1
            if alive[j] and j != i:
                low = R[i, j]
                sum_ += low
                found += 1
        total[t], last[t], after[t] = h[i] + sum_, low, -np.inf
        if found < size - 1:
            while not alive[order[i, at]] or order[i, at] == i:
                at += 1
            after[t] = R[i, order[i, at]]
        work += at + 1
    return work


@kernel
def node_force(
    R: Any, cand: Any, size: int, r: int, total: Any, last: Any, after: Any, inside: Any, outside: Any
) -> None:
    """Bounds with and without each candidate, over the bound of P alone: `force_all` of kernels/split.py on a node."""
    held, freed = np.empty(size), np.empty(size)
    for t in range(size):
        i, count = cand[t], 0
        for s in range(size):
            if s != t:
                share = R[cand[s], i]
                held[count] = total[s] - max(0.0, last[s] - share)
                freed[count] = total[s] - (share - after[s] if share >= last[s] else 0.0)
                count += 1
        inside[t] = total[t] + top_sum(held, count, r - 1)
        outside[t] = top_sum(freed, count, r)


@kernel
def leaf(
    Q: Any, cand: Any, size: int, h: Any, f: float, r: int, path: Any, taken: int, best: Any, value: Any
) -> None:
    """The best set of a node whose rest can be read off: r <= 2, or all candidates needed."""
    if r == size:
        for t in range(size):
            path[taken + t] = cand[t]
            f += h[cand[t]]
            for s in range(t):
                f += 2.0 * Q[cand[s], cand[t]]
    elif r == 1:
        top = 0
        for t in range(size):
            if h[cand[t]] > h[cand[top]]:
                top = t
        path[taken] = cand[top]
        f += h[cand[top]]
    elif r == 2:
        most, one, two = -np.inf, 0, 0
        for t in range(size):
            for s in range(t):
                pair = h[cand[s]] + h[cand[t]] + 2.0 * Q[cand[s], cand[t]]
                if pair > most:
                    most, one, two = pair, cand[s], cand[t]
        path[taken], path[taken + 1] = one, two
        f += most
    if f > value[0]:
        value[0] = f
        best[:] = path[: best.size]
    value[1] = max(value[1], f)


@kernel
def sort_out(
    cand: Any, size: int, alive: Any, f: float, cut: float, inside: Any, outside: Any, out: Any, value: Any
) -> Any:
    """Drops the candidates that can't beat the cut, lists in `out` those that must be taken.

    Returns (candidates left, how many must be taken, the one to branch on: the one whose loss costs most). A candidate
    that can be neither in nor out makes the number of musts larger than any r.
    """
    left, must, branch, least = 0, 0, -1, np.inf
    for t in range(size):
        i = cand[t]
        with_i, without_i = f + inside[t], f + outside[t]
        if without_i <= cut:
            value[1] = max(value[1], without_i)
        if with_i <= cut:
            value[1] = max(value[1], with_i)
            alive[i] = False
            if without_i <= cut:
                return left, size + 1, -1
            continue
        if without_i <= cut:
            out[must] = i
            must += 1
        elif without_i < least:
            least, branch = without_i, i
        cand[left] = i
        left += 1
    return left, must, branch


@kernel
def settle(
    Q: Any,
    R: Any,
    order: Any,
    k: int,
    slack: float,
    node: Any,
    cand: Any,
    h: Any,
    path: Any,
    best: Any,
    value: Any,
) -> int:
    """Drops and takes what is certain in a node, node = [f(P), bound, |P|, |C|, work]; the candidate to branch on.

    -1 if nothing is left to do: the node was read off, or its bound is no more than the best value plus `slack`.
    """
    n = len(Q)
    alive, must_take, work = np.zeros(n, np.bool_), np.empty(n, np.int64), np.empty((6, n))
    total, last, after, inside, outside, copy = work[0], work[1], work[2], work[3], work[4], work[5]
    size, taken = int(node[3]), int(node[2])
    for t in range(size):
        alive[cand[t]] = True
    while size >= k - taken:
        r, cut = k - taken, value[0] + slack
        node[4] += 8 * size
        if r <= 2 or size == r:
            node[4] += size * size
            leaf(Q, cand, size, h, node[0], r, path, taken, best, value)
            return -1
        node[4] += node_rows(R, order, cand, size, alive, h, r, total, last, after)
        copy[:size] = total[:size]
        bound = node[0] + top_sum(copy, size, r)
        node[1] = min(node[1], bound)
        if bound <= cut:
            value[1] = max(value[1], bound)
            return -1
        node[4] += 8 * size * size
        node_force(R, cand, size, r, total, last, after, inside, outside)
        left, must, branch = sort_out(cand, size, alive, node[0], cut, inside, outside, must_take, value)
        if must > r:
            return -1
        if left == size and must == 0:
            return int(branch)
        size = left
        for t in range(must):
            i = must_take[t]
            alive[i] = False
            node[0] += h[i]
            size = take_one(Q, cand, size, h, path, taken, i)
            taken += 1
        node[2], node[3] = taken, size
    return -1


@kernel
def dive(
    Q: Any,
    R: Any,
    order: Any,
    k: int,
    slack: float,
    budget: float,
    nodes: Any,
    cands: Any,
    hs: Any,
    path: Any,
    branches: Any,
    best: Any,
    value: Any,
    sizes: Any,
) -> bool:
    """Goes on from the stack until it is empty (True) or `budget` comparisons have been made (False).

    Level d of the stack: nodes[d] = [f(P), bound, |P|, |C|, work], cands[d], hs[d], branches[d]; `path` holds P. At the
    start: level 0 with every candidate. After a pause the bounds of levels 0..sizes[0] are those of what is left.
    """
    level = int(sizes[0])
    limit = sizes[2] + budget
    while level >= 0 and sizes[2] < limit:
        sizes[1] += 1.0
        node, cand, h = nodes[level], cands[level], hs[level]
        node[4] = 0.0
        i = settle(Q, R, order, k, slack, node, cand, h, path, best, value)
        sizes[2] += node[4]
        if i >= 0:
            size, taken = int(node[3]), int(node[2])
            cands[level + 1, :size] = cand[:size]
            for t in range(size):
                hs[level + 1, cand[t]] = h[cand[t]]
            branches[level] = i
            level += 1
            nodes[level, 0], nodes[level, 1], nodes[level, 2] = node[0] + h[i], node[1], taken + 1
            nodes[level, 3] = take_one(Q, cands[level], size, hs[level], path, taken, i)
        else:
            level -= 1
            if level >= 0:
                left = 0
                for t in range(int(nodes[level, 3])):
                    cands[level, left] = cands[level, t]
                    left += cands[level, t] != branches[level]
                nodes[level, 3] = left
    sizes[0] = level
    return level < 0
