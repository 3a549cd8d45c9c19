"""Gains, exchanges and walks: kept up to date equals counted anew, and the best exchange is the best of all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import subset as naive

from jifs.kernels import subset

TIE = 1e-12
SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(naive.KINDS)


def some_set(n, k, seed):
    inside = np.zeros(n, np.bool_)
    inside[np.random.default_rng(seed).permutation(n)[:k]] = True
    return inside


def gains_of(Q, inside):
    out = np.full(len(Q), np.nan)
    subset.gains_all(Q, inside, out)
    return out


def members(inside):
    return set(np.flatnonzero(inside).tolist())


@given(KINDS, st.integers(1, 9), st.data(), SEEDS)
def test_gains_and_exchanges(kind, n, data, seed):
    """g is what a feature brings; d(i, o) = g_i - g_o - 2 Q_io is what an exchange changes; both follow an exchange."""
    k = data.draw(st.integers(0, n))
    Q, inside = naive.matrix(kind, n, seed), some_set(n, k, seed)
    gains = gains_of(Q, inside)
    assert gains == pytest.approx([naive.gain(Q, members(inside), i) for i in range(n)], rel=1e-12, abs=1e-12)
    for (i, o), change in naive.exchanges(Q, members(inside)).items():
        assert gains[i] - gains[o] - 2 * Q[i, o] == pytest.approx(change, rel=1e-12, abs=1e-12)
        after, followed = inside.copy(), gains.copy()
        subset.exchange_one(Q, after, followed, o, i)
        assert members(after) == members(inside) - {o} | {i}
        assert followed == pytest.approx(gains_of(Q, after), rel=1e-12, abs=1e-12)


@given(KINDS, st.integers(1, 9), st.data(), SEEDS)
def test_the_best_exchange(kind, n, data, seed):
    """Best of all that are free to move and above the floor; the lowest (i, o) among equals."""
    k = data.draw(st.integers(0, n))
    now, floor = 5, data.draw(st.sampled_from([-np.inf, 0.0, 0.3]))
    rng = np.random.default_rng(seed)
    Q, inside, locked = naive.matrix(kind, n, seed), some_set(n, k, seed), rng.integers(0, 8, n)
    d, o, i = subset.best_exchange(Q, inside, gains_of(Q, inside), locked, now, floor, TIE)
    allowed = {
        pair: change
        for pair, change in naive.exchanges(Q, members(inside)).items()
        if all(locked[j] <= now for j in pair) and change > floor + 1e-14
    }
    if not allowed:
        assert (d, o, i) == (floor, -1, -1) or d <= floor + 2e-14
        return
    top = max(allowed.values())
    assert d == pytest.approx(top, rel=1e-11, abs=1e-11)
    assert (i, o) == min(pair for pair, change in allowed.items() if change >= top - TIE / 2) or (
        any(abs(top - TIE - change) < TIE for change in allowed.values())
    )


def test_equal_exchanges_go_to_the_lowest_index():
    Q = np.full((6, 6), 0.1)
    inside = np.array([False, False, True, True, False, False])
    Q[4, 4], Q[5, 5] = 0.7, 0.7 + 1e-15
    assert subset.best_exchange(Q, inside, gains_of(Q, inside), np.zeros(6, np.int64), 0, 0.0, TIE)[1:] == (
        2,
        4,
    )


@given(KINDS, st.integers(2, 10), st.data(), SEEDS)
def test_a_climb_ends_where_no_exchange_helps(kind, n, data, seed):
    k = data.draw(st.integers(1, n - 1))
    Q, inside = naive.matrix(kind, n, seed), some_set(n, k, seed)
    before = naive.value(Q, members(inside))
    steps = subset.climb(Q, inside, np.empty(n), np.zeros(n, np.int64), 10_000, TIE)
    after = naive.value(Q, members(inside))
    assert inside.sum() == k
    assert steps < 10_000
    assert after >= before
    assert (after > before) == (steps > 0)
    assert max(naive.exchanges(Q, members(inside)).values()) <= 1e-11


def test_a_climb_counts_its_steps():
    Q = np.diag(np.arange(8.0))
    inside = np.arange(8) < 4
    assert subset.climb(Q, inside, np.empty(8), np.zeros(8, np.int64), 2, TIE) == 2
    assert members(inside) == {2, 3, 6, 7}


@given(KINDS, st.integers(2, 10), st.data(), SEEDS)
def test_a_walk_knows_its_values(kind, n, data, seed):
    """Its set has k features and the value it says; the best is the best it met, and never less than the start."""
    k = data.draw(st.integers(1, n - 1))
    rng = np.random.default_rng(seed)
    Q, inside = naive.matrix(kind, n, seed), some_set(n, k, seed)
    start = naive.value(Q, members(inside))
    best, values, gains, locked = inside.copy(), np.full(2, start), np.empty(n), np.zeros(n, np.int64)
    met = [start]
    for now in range(12):
        subset.tabu_walk(Q, inside, gains, locked, rng.integers(1, 4, (1, 2)), now, values, best, TIE)
        assert inside.sum() == best.sum() == k
        met.append(naive.value(Q, members(inside)))
        assert values[0] == pytest.approx(met[-1], rel=1e-12, abs=1e-12)
        assert values[1] == pytest.approx(max(met), rel=1e-12, abs=1e-11)
        assert values[1] == pytest.approx(naive.value(Q, members(best)), rel=1e-12, abs=1e-11)


def test_who_has_moved_waits_unless_it_leads_to_the_best():
    """Three features, k = 1: from 0 the walk goes to 1 and 2, and back to 0 only when its wait is over."""
    Q = np.diag([3.0, 2.0, 1.0])
    inside, best = np.array([True, False, False]), np.array([True, False, False])
    gains, locked, values = np.empty(3), np.zeros(3, np.int64), np.array([3.0, 3.0])
    seen = []
    for now in range(5):
        subset.tabu_walk(Q, inside, gains, locked, np.array([[3, 1]]), now, values, best, TIE)
        seen.append(int(np.flatnonzero(inside)[0]))
    assert seen == [1, 2, 2, 0, 1]
    values[:], inside[:], locked[:] = (
        2.0,
        [False, True, False],
        100,
    )  # everybody waits, but 0 is better than all before
    subset.tabu_walk(Q, inside, gains, locked, np.array([[3, 3]]), 5, values, best, TIE)
    assert inside.tolist() == best.tolist() == [True, False, False]
    assert values.tolist() == [3.0, 3.0]


def test_long_walks_do_not_drift():
    Q = naive.matrix("random", 60, 0) * 1e3
    Q[0, 0] = 1e-9
    inside, gains, locked = some_set(60, 20, 1), np.empty(60), np.zeros(60, np.int64)
    best, values = inside.copy(), np.full(2, naive.value(Q, members(inside)))
    waits = np.random.default_rng(0).integers(1, 10, (2000, 2))
    subset.tabu_walk(Q, inside, gains, locked, waits, 0, values, best, 1e-9)
    assert values[0] == pytest.approx(naive.value(Q, members(inside)), rel=1e-13)
    assert gains == pytest.approx(gains_of(Q, inside), rel=1e-12)
