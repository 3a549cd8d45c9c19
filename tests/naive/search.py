"""Greedy search by the book: every candidate scored afresh at every step; the lowest index wins a tie.

A tie is a score within `tol` of the best one (relative to it beyond 1): the winner is the LOWEST index j with
s_j >= s_max - tol max(1, |s_max|).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TypeVar

TOL = 1e-12
Key = TypeVar("Key")


@dataclass
class Path:
    """What a search did: the features in order, their scores when taken, and the lead over the best other one."""

    indices: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)  # +inf when there was no other candidate


def least(best: float, tol: float = TOL) -> float:
    """The least value that is level with the best; an infinite one has only its equals."""
    return best - tol * max(1.0, abs(best)) if math.isfinite(best) else best


def level(values: dict[Key, float], tol: float = TOL) -> list[Key]:
    """All that are level with the best value."""
    lowest = least(max(values.values()), tol)
    return [key for key, value in values.items() if value >= lowest]


def winner(scores: dict[int, float], tol: float = TOL) -> int:
    """The lowest index within tol of the best score."""
    return min(level(scores, tol))


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
class Gone:
    """A feature that went, who would have gone instead, how far that would have been worse, and whether it is a tie."""

    feature: int
    other: int | None = None
    lead: float | None = None
    tie: bool = False


def removals(
    value: Callable[[list[int]], float],
    m: int,
    tol: float = TOL,
    include: Sequence[int] = (),
    exclude: Collection[int] = (),
) -> list[Gone]:
    """Who goes, until `include` is left: each time who leaves the best value behind, of equals the HIGHEST index."""
    S = [j for j in range(m) if j not in exclude]
    out: list[Gone] = []
    while len(S) > len(include):
        left = {j: value([i for i in S if i != j]) for j in S if j not in include}
        j = max(level(left, tol))
        S.remove(j)
        own = left.pop(j)
        out.append(Gone(j))
        if left:
            other = max(level(left, tol))
            lead = own - left[other] if own > left[other] else 0.0
            out[-1] = Gone(j, other, lead, left[other] >= least(own, tol))
    return out


def backward(
    value: Callable[[list[int]], float],
    m: int,
    k: int,
    tol: float = TOL,
    include: Sequence[int] = (),
    exclude: Collection[int] = (),
) -> Path:
    """The k features that stay longest, `include` first, then the last to go first; score: value of those so far."""
    order = [*include, *(g.feature for g in reversed(removals(value, m, tol, include, exclude)))][:k]
    return Path(order, [value(order[: i + 1]) for i in range(len(order))])


def best_set(
    value: Callable[[list[int]], float],
    m: int,
    k: int,
    tol: float = TOL,
    include: Sequence[int] = (),
    exclude: Collection[int] = (),
    without: list[int] | None = None,
) -> list[int] | None:
    """The best set of k features that holds `include`, other than `without`; of equals the first in the dictionary."""
    sets = (S for S in combinations(range(m), k) if set(include) <= set(S) and not set(exclude) & set(S))
    values = {S: value(list(S)) for S in sets if list(S) != without}
    return list(min(level(values, tol))) if values else None


def exhaustive(
    value: Callable[[list[int]], float],
    m: int,
    k: int,
    tol: float = TOL,
    include: Sequence[int] = (),
    exclude: Collection[int] = (),
) -> Path:
    """The best set of k features in the order in which forward selection inside it takes them, `include` first."""
    path, best = Path(), best_set(value, m, k, tol, include, exclude) or []
    while len(path.indices) < len(best):
        S = path.indices
        after = {j: value([*S, j]) for j in best if j not in S}
        j = include[len(S)] if len(S) < len(include) else min(level(after, tol))
        path.indices.append(j)
        path.scores.append(after[j])
    return path


@dataclass
class Floated:
    """Floating search: the best set of each size (in order of joining), and its moves: +1 + j joins, -1 - j leaves."""

    best: dict[int, list[int]] = field(default_factory=dict)
    moves: list[int] = field(default_factory=list)


def floating(
    value: Callable[[list[int]], float],
    m: int,
    k: int,
    tol: float = TOL,
    include: Sequence[int] = (),
    exclude: Collection[int] = (),
) -> Floated:
    """Up by the best feature to k, and after each step down again while that beats the best set of the size so far.

    A set beats another that it is not level with. Where a step up does not beat the best set of its size, the search
    goes on from that one. Of equals the LOWEST index joins and the HIGHEST leaves; `include` stays.
    """
    out = Floated({len(include): list(include)})
    S = list(include)

    def beats(new: list[int]) -> bool:
        old = out.best.get(len(new))
        return old is None or value(old) < least(value(new), tol)

    while len(S) < min(k, m - len(exclude)):
        j = winner({j: value([*S, j]) for j in range(m) if j not in S and j not in exclude}, tol)
        S = [*S, j]
        out.moves += [1 + j] if beats(S) else []
        S = out.best[len(S)] = S if beats(S) else out.best[len(S)]
        while len(S) > len(include) + 1:
            i = max(level({i: value([j for j in S if j != i]) for i in S if i not in include}, tol))
            without = [j for j in S if j != i]
            if not beats(without):
                break
            out.moves.append(-1 - i)
            S = out.best[len(without)] = without
    return out


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
