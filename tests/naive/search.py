"""Greedy search by the book: every candidate scored afresh at every step; the lowest index wins a tie.

A tie is a score within `tol` of the best one (relative to it beyond 1): the winner is the LOWEST index j with
s_j >= s_max - tol max(1, |s_max|).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

TOL = 1e-12


@dataclass
class Path:
    """What a search did: the features in order, their scores when taken, and the lead over the best other one."""

    indices: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)  # +inf when there was no other candidate


def winner(scores: dict[int, float], tol: float = TOL) -> int:
    """The lowest index within tol of the best score."""
    best = max(scores.values())
    return min(j for j, s in scores.items() if s >= best - tol * max(1.0, abs(best)))


def forward(
    score: Callable[[list[int], int], float],
    m: int,
    k: int,
    tol: float = TOL,
    include: Sequence[int] = (),
    exclude: Collection[int] = (),
) -> Path:
    """Take k of m features, each time the best `score(S, j)`; `include` comes first, scored as it is taken."""
    path = Path()
    for step in range(min(k, m - len(exclude))):
        S = list(path.indices)
        free = {j: score(S, j) for j in range(m) if j not in S and j not in exclude}
        j = include[step] if step < len(include) else winner(free, tol)
        others = [s for i, s in free.items() if i != j]
        path.indices.append(j)
        path.scores.append(free[j])
        path.margins.append(free[j] - max(others) if others else math.inf)
    return path


def rank(scores: Sequence[float], k: int, tol: float = TOL) -> list[int]:
    """The k best of fixed scores, best first, by the same rule of ties."""
    left = dict(enumerate(scores))
    order: list[int] = []
    while left and len(order) < k:
        order.append(winner(left, tol))
        del left[order[-1]]
    return order


@dataclass
class Lazy:
    """Partial scores ps[d], a minimum over the first m[d] terms of candidate d, and the terms asked for so far."""

    ps: list[float]
    m: list[int]
    asked: int = 0


def lazy_step(
    term: Callable[[int, int], float],
    state: Lazy,
    free: Iterable[int],
    taken: int,
    tol: float = TOL,
    look_into_ties: bool = False,
) -> tuple[int, float]:
    """One step of lazy CMIM: (winner, its score), with `state` brought up to date.

    term(d, l) is I(X_d;Y|X_S[l]), l < taken. A candidate whose partial score is not above the best is left
    alone, for its score can only fall. With `look_into_ties` a candidate level with the best is completed too.
    """
    best, arg = -math.inf, -1
    for d in free:
        while state.m[d] < taken:
            if not (state.ps[d] >= best if look_into_ties else state.ps[d] > best + tol):
                break
            state.ps[d] = min(state.ps[d], term(d, state.m[d]))
            state.m[d] += 1
            state.asked += 1
        if state.m[d] == taken and state.ps[d] > best + tol:
            best, arg = state.ps[d], d
    return arg, best


def _term(conditional: Callable[[int, int], float], S: list[int], d: int, i: int) -> float:
    return conditional(d, S[i])


def lazy_cmim(
    relevance: Sequence[float],
    conditional: Callable[[int, int], float],
    k: int,
    include_marginal: bool = False,
    tol: float = TOL,
) -> tuple[Path, Lazy]:
    """CMIM by partial scores: conditional(d, s) is I(X_d;Y|X_s). Equals `forward` with the full minimum."""
    m = len(relevance)
    state = Lazy(list(relevance) if include_marginal else [math.inf] * m, [0] * m)
    path = Path()
    for taken in range(min(k, m)):
        S = list(path.indices)
        if taken == 0:
            arg = winner(dict(enumerate(relevance)), tol)
            best = relevance[arg]
        else:
            free = [d for d in range(m) if d not in S]
            arg, best = lazy_step(partial(_term, conditional, S), state, free, taken, tol)
        path.indices.append(arg)
        path.scores.append(best)
    return path, state
