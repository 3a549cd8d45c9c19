"""A node of the search by its definition: the sets that hold P, and others out of C only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from naive.split import top


def value(Q: Any, diagonal: Any, S: Sequence[int]) -> Any:
    """f(S), with this diagonal in the place of Q's."""
    return sum(diagonal[i] for i in S) + sum(Q[i][j] for i in S for j in S if i != j)


def node_bound(Q: Any, R: Any, diagonal: Any, k: int, P: Sequence[int], C: Sequence[int]) -> Any:
    """f(P) + the r largest T_i,  T_i = h_i + the r - 1 largest R_ij over C,  h_i = Q_ii + 2 sum over P of Q_ij."""
    r = k - len(P)
    h = {i: diagonal[i] + 2 * sum(Q[i][j] for j in P) for i in C}
    return value(Q, diagonal, P) + top([h[i] + top([R[i][j] for j in C if j != i], r - 1) for i in C], r)


def best(Q: Any, diagonal: Any, k: int, P: Sequence[int], C: Sequence[int]) -> Any:
    """The best f of the node."""
    return max(value(Q, diagonal, [*P, *rest]) for rest in combinations(C, k - len(P)))
