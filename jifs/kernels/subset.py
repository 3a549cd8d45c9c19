"""Sets of k features under x'Qx: what each feature would bring, and the best exchange of one for another.

    f(S)     = sum of Q_ij over i, j in S
    g_i      = Q_ii + 2 sum of Q_ij over j in S, j != i       f(S + i) = f(S) + g_i,   f(S - o) = f(S) - g_o
    d(i, o)  = g_i - g_o - 2 Q_io                             f(S - o + i) = f(S) + d(i, o)   for i outside, o inside

The last line: f(S - o) = f(S) - g_o, and to S - o the feature i brings g_i without its term of o, which is 2 Q_io.
After an exchange g_j grows by 2 Q_ij - 2 Q_jo, for j = i and j = o without their own terms: O(n).

Where Q_io >= 0, d(i, o) <= g_i - (least g_o), so that a feature i with a small g_i is passed over in one comparison.
The difference is monotone in rounding too, so nothing is lost. Q with entries of both signs is not for these kernels.
Equal to within `tie` goes to the lowest i, then to the lowest o.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel

FRESH = 32
"""Gains are summed anew at least every FRESH exchanges (or k, if more): rounding can't pile up, at no cost in order."""


@kernel
def gains_all(Q: Any, inside: Any, out: Any) -> None:
    """out_i = g_i = Q_ii + 2 sum of Q_ij over the j inside, j != i."""
    n = inside.size
    for i in range(n):
        out[i] = 0.0
    for j in range(n):
        if inside[j]:
            for i in range(n):
                out[i] += Q[j, i]
    for i in range(n):
        if inside[i]:
            out[i] -= Q[i, i]
        out[i] = Q[i, i] + 2.0 * out[i]


@kernel
def exchange_one(Q: Any, inside: Any, gains: Any, o: int, i: int) -> None:
    """Takes o out and i in: the gains of all features follow in O(n)."""
    gain_o, gain_i = gains[o] + 2.0 * Q[i, o], gains[i] - 2.0 * Q[i, o]
    for j in range(gains.size):
        gains[j] += 2.0 * (Q[i, j] - Q[o, j])
    gains[o], gains[i] = gain_o, gain_i
    inside[o], inside[i] = False, True


@kernel
def best_exchange(Q: Any, inside: Any, gains: Any, locked: Any, now: int, floor: float, tie: float) -> Any:
    """(d, o, i) of the best exchange above `floor` among features with locked <= now; (floor, -1, -1) if none is."""
    n = inside.size
    least, first, top_gain = np.inf, -1, -np.inf
    for j in range(n):
        if locked[j] <= now:
            if inside[j]:
                least = min(least, gains[j])
            elif gains[j] > top_gain:
                first, top_gain = j, gains[j]
    top = floor
    if first < 0 or not top_gain - least > floor:
        return floor, -1, -1
    members = np.flatnonzero(inside)
    for turn in range(-1, n):  # the likeliest first: it raises the bar for all others
        i = first if turn < 0 else turn
        if not inside[i] and locked[i] <= now and gains[i] - least > top:
            for o in members:
                if locked[o] <= now:
                    top = max(top, gains[i] - gains[o] - 2.0 * Q[i, o])
    if not top > floor:
        return floor, -1, -1
    enough = max(top - tie, np.nextafter(floor, np.inf))
    for i in range(n):
        if not inside[i] and locked[i] <= now and gains[i] - least >= enough:
            for o in members:
                if locked[o] <= now:
                    d = gains[i] - gains[o] - 2.0 * Q[i, o]
                    if d >= enough:
                        return d, o, i
    return floor, -1, -1


@kernel
def climb(Q: Any, inside: Any, gains: Any, locked: Any, steps: int, tie: float) -> int:
    """At most `steps` best improving exchanges (by more than `tie`); returns how many there were."""
    refresh = max(FRESH, inside.sum())
    for step in range(steps):
        if step % refresh == 0:
            gains_all(Q, inside, gains)
        _, o, i = best_exchange(Q, inside, gains, locked, 0, tie, tie)
        if i < 0:
            return step
        exchange_one(Q, inside, gains, o, i)
    return steps


@kernel
def tabu_walk(
    Q: Any, inside: Any, gains: Any, locked: Any, waits: Any, now: int, values: Any, best: Any, tie: float
) -> None:
    """One best exchange for each row of `waits`, improving or not; values = [f(S), best f] and `best` its set.

    At step t the feature put out may not return before t + waits[., 0], the one taken in may not leave before
    t + waits[., 1], unless the exchange leads to a better set than any before.
    """
    anyone = np.zeros_like(locked)
    refresh = max(FRESH, inside.sum())
    for step in range(len(waits)):
        if step % refresh == 0:
            gains_all(Q, inside, gains)
            values[0] = 0.0  # x'Qx = sum over S of (Q_ii + g_i) / 2
            for j in range(inside.size):
                if inside[j]:
                    values[0] += 0.5 * (Q[j, j] + gains[j])
        d, o, i = best_exchange(Q, inside, gains, anyone, 0, values[1] - values[0] + tie, tie)
        if i < 0:
            d, o, i = best_exchange(Q, inside, gains, locked, now + step, -np.inf, tie)
        if i < 0:
            continue  # everybody waits: a step without a move
        exchange_one(Q, inside, gains, o, i)
        values[0] += d
        locked[o], locked[i] = now + step + waits[step, 0], now + step + waits[step, 1]
        if values[0] > values[1] + tie:
            values[1] = values[0]
            best[:] = inside
