"""The split bound by its definition, with rational or floating-point numbers; and steps on R, one pair at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any


def top(numbers: Sequence[Any], count: int) -> Any:
    """The sum of the largest ones."""
    return sum(sorted(numbers, reverse=True)[:count])


def rows(R: Any, diagonal: Any, k: int, allowed: Sequence[int]) -> dict[int, Any]:
    """T_i = Q_ii + the k - 1 largest R_ij over the other allowed j."""
    return {i: diagonal[i] + top([R[i][j] for j in allowed if j != i], k - 1) for i in allowed}


def bound(R: Any, diagonal: Any, k: int) -> Any:
    """The sum of the k largest T_i."""
    return top(list(rows(R, diagonal, k, range(len(R))).values()), k)


def bound_with(R: Any, diagonal: Any, k: int, i: int) -> Any:
    """The bound for sets with i: row i counts, and every other row that counts takes i and k - 2 more."""
    others = [j for j in range(len(R)) if j != i]
    own = diagonal[i] + top([R[i][j] for j in others], k - 1)
    rest = [diagonal[j] + R[j][i] + top([R[j][m] for m in others if m != j], k - 2) for j in others]
    return own + top(rest, k - 1)


def bound_without(R: Any, diagonal: Any, k: int, i: int) -> Any:
    """The bound for sets without i."""
    others = [j for j in range(len(R)) if j != i]
    return top(list(rows(R, diagonal, k, others).values()), k)


def step(Q: Any, R: Any, diagonal: Any, k: int, lower: float, relax: float) -> tuple[float, Any, bool]:
    """(bound before, R after, all pairs settled) of one subgradient step; among equals the lowest index is taken."""
    n = len(R)
    T = rows(R, diagonal, k, range(n))
    chosen = sorted(range(n), key=lambda i: (-T[i], i))[:k]
    takes = {i: sorted((j for j in range(n) if j != i), key=lambda j: (-R[i][j], j))[: k - 1] for i in chosen}
    pairs = [(i, j) for i in chosen for j in takes[i] if not (j in chosen and i in takes[j])]
    before = sum(T[i] for i in chosen)
    new = [list(row) for row in R]
    for i, j in pairs:
        new[i][j] = R[i][j] - relax * (before - lower) / len(pairs)
        new[j][i] = 2 * Q[i][j] - new[i][j]
    return before, new, not pairs


def best(Q: Any, diagonal: Any, k: int) -> tuple[Any, tuple[int, ...]]:
    """The best set of k features, by trying all, with this diagonal in the place of Q's."""

    def value(S: tuple[int, ...]) -> Any:
        return sum(diagonal[i] for i in S) + sum(Q[i][j] for i in S for j in S if i != j)

    return max((value(S), S) for S in combinations(range(len(Q)), k))
