"""Good sets for  max x'Qx, e'x = k:  greedy, best exchange of one feature until none helps (swap), and tabu search.

Nothing here is proven; `jifs.relax.exact` proves. All work on Q divided by a power of two that brings its largest entry
to [1/2, 1), which is exact, so that the scale of Q leaves no trace. Differences within 1e-12 of that (1e-14 k, if k is
above 100) are rounding: they are no improvement, and go to the lowest index.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.jit import spread
from jifs.kernels.pick import best_one
from jifs.kernels.subset import climb, gains_all, tabu_walk
from jifs.relax.problem import Problem, check, trivial, value

CHUNK = 64  # steps between two looks at the clock
HOLD = 20  # the longest wait of a feature that has just moved
SPECTRAL_STEPS = 30


@dataclass(frozen=True, eq=False)
class Found:
    """A set, its value, and why the search ended early: "", "time" or "interrupt"."""

    S: np.ndarray
    value: float
    stopped: str = ""


def greedy(Q: Any, k: int) -> np.ndarray:
    """k times the feature that brings most:  argmax_i  Q_ii + 2 sum of Q_ij over the taken j."""
    problem = check(Q, k)
    return _greedy(problem.scaled(), problem.k)


def swap(Q: Any, S: Any, steps: int | None = None) -> np.ndarray:
    """The best improving exchange of one feature for another, until none is left or `steps` are done."""
    problem, chosen = _checked(Q, S)
    left = math.inf if steps is None else whole("steps", steps, 0)
    scaled, inside = problem.scaled(), _mask(problem.n, chosen)
    gains, locked = np.empty(problem.n), np.zeros(problem.n, np.int64)
    try:
        while left > 0:
            done = climb(scaled, inside, gains, locked, int(min(CHUNK, left)), tie_of(problem.k))
            left -= done
            if done < CHUNK:
                break
    except KeyboardInterrupt:
        pass  # an exchange is whole or not begun: the set is the best so far
    return np.flatnonzero(inside)


def tabu(
    Q: Any,
    k: int,
    starts: int = 4,
    steps: int = 2000,
    seed: int = 0,
    seconds: float | None = None,
    first: Any = None,
) -> np.ndarray:
    """The best set met by `starts` tabu searches of `steps` exchanges each: see `tabu_search`."""
    return tabu_search(check(Q, k), starts, steps, seed, seconds, first).S


def tabu_search(
    problem: Problem,
    starts: int = 4,
    steps: int = 2000,
    seed: int = 0,
    seconds: float | None = None,
    first: Any = None,
) -> Found:
    """Always the best allowed exchange, also a bad one; who has moved waits a random time before moving back.

    The starts are `first` (a set, if given), greedy, the largest weights of the dominant eigenvector, greedy from the
    best pair, and random sets, each with random numbers of its own, so that threads leave no trace: without a time
    limit, the same seed gives the same set.
    """
    starts, steps, seed = whole("starts", starts, 1), whole("steps", steps, 1), whole("seed", seed, 0)
    deadline = deadline_of(seconds)
    if first is not None and len(_checked(problem.Q, first)[1]) != problem.k:
        raise InputError(f"first must hold k = {problem.k} features")
    known = trivial(problem)
    if known is not None:
        return Found(known, value(problem.Q, known))
    Q = problem.scaled()
    slots: list[tuple[float, np.ndarray] | None] = [None] * starts
    stop = threading.Event()
    late = threading.Event()

    def task(lo: int, hi: int) -> None:
        try:
            for number in range(lo, hi):
                rng = np.random.default_rng([seed, number])
                inside = _mask(problem.n, _start(Q, problem.k, number, first, rng))
                if _walk(Q, inside, rng, steps, slots, number, stop, deadline):
                    late.set()
        except KeyboardInterrupt:
            stop.set()

    try:
        spread(starts, task)
    except KeyboardInterrupt:  # it came while waiting for the other threads
        stop.set()
    found = [slot for slot in slots if slot is not None]
    if not found:
        raise KeyboardInterrupt
    top = max(score for score, _ in found)
    best = next(S for score, S in found if score >= top - tie_of(problem.k))
    return Found(
        best, value(problem.Q, best), "interrupt" if stop.is_set() else "time" if late.is_set() else ""
    )


def tie_of(k: int) -> float:
    """Differences of x'Qx up to this are rounding, where the largest entry of Q is about 1."""
    return 1e-14 * max(100, k)


def whole(name: str, number: Any, least: int) -> int:
    """A whole number from `least` on, or an InputError that names the parameter."""
    if isinstance(number, bool | np.bool_) or not isinstance(number, Integral) or number < least:
        raise InputError(f"{name} must be a whole number from {least} on, not {number!r}")
    return int(number)


def deadline_of(seconds: Any) -> float:
    """The moment of time.perf_counter() after which to stop."""
    if seconds is None:
        return math.inf
    if isinstance(seconds, bool | np.bool_) or not isinstance(seconds, Real) or not float(seconds) >= 0:
        raise InputError(f"seconds must be a time from 0 on, or None for no limit, not {seconds!r}")
    return time.perf_counter() + float(seconds)


def _walk(
    Q: np.ndarray,
    inside: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    slots: list[tuple[float, np.ndarray] | None],
    number: int,
    stop: threading.Event,
    deadline: float,
) -> bool:
    """One tabu search; its best set so far is always in its slot. True if time ran out."""
    n, k = len(Q), int(inside.sum())
    gains, locked, best = np.empty(n), np.zeros(n, np.int64), inside.copy()
    gains_all(Q, inside, gains)
    values = np.full(2, 0.5 * (Q.diagonal()[inside] + gains[inside]).sum())
    slots[number] = float(values[1]), np.flatnonzero(best)
    hold = np.array([min(HOLD, (count + 1) // 3) for count in (n - k, k)])
    for now in range(0, steps, CHUNK):
        if stop.is_set():
            return False
        if time.perf_counter() > deadline:
            return True
        waits = rng.integers(1 + hold // 2, 2 + hold, (min(CHUNK, steps - now), 2))
        tabu_walk(Q, inside, gains, locked, waits, now, values, best, tie_of(k))
        slots[number] = float(values[1]), np.flatnonzero(best)
    return False


def _start(Q: np.ndarray, k: int, number: int, first: Any, rng: np.random.Generator) -> np.ndarray:
    if first is not None:
        if number == 0:
            return np.asarray(first, dtype=np.int64)
        number -= 1
    if number == 0:
        return _greedy(Q, k)
    if number == 2:
        return _greedy(Q, k, _best_pair(Q))
    if number == 1:
        weights = np.ones(len(Q))
        for _ in range(SPECTRAL_STEPS):
            weights = np.einsum("ij,j->i", Q, weights)  # not BLAS, whose threads would leave their trace
            weights /= weights.max()
        return np.argsort(-weights, kind="stable")[:k]
    return np.asarray(rng.permutation(len(Q))[:k])


def _best_pair(Q: np.ndarray) -> tuple[int, ...]:
    """The two features with the largest Q_ii + Q_jj + 2 Q_ij: greedy may never meet them."""
    own = Q.diagonal()
    tops = [float((own + 2.0 * Q[i] + own[i])[i + 1 :].max(initial=-math.inf)) for i in range(len(Q))]
    i = int(np.argmax(tops))
    return i, i + 1 + int((own + 2.0 * Q[i])[i + 1 :].argmax())


def _greedy(Q: np.ndarray, k: int, first: tuple[int, ...] = ()) -> np.ndarray:
    gains, free = Q.diagonal().copy(), np.ones(len(Q), np.bool_)
    for step in range(k):
        i = first[step] if step < len(first) else best_one(gains, free, 1e-12, -1)
        free[i] = False
        gains += 2.0 * Q[i]
    return np.flatnonzero(~free)


def _mask(n: int, chosen: Any) -> np.ndarray:
    inside = np.zeros(n, np.bool_)
    inside[chosen] = True
    return inside


def _checked(Q: Any, S: Any) -> tuple[Problem, np.ndarray]:
    """The problem and the set as indices; refused unless S holds different features of Q."""
    chosen = np.asarray(S)
    if chosen.size and chosen.dtype.kind not in "iu":
        raise InputError("S must be a list of feature numbers")
    chosen = chosen.astype(np.int64).reshape(-1)
    problem = check(Q, min(len(chosen), len(Q)))
    value(problem.Q, chosen)
    return problem, chosen
