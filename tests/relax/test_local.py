"""Greedy, swap and tabu against the obvious versions; scale, seeds, threads, time and interrupts leave no trace."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import subset as naive

from jifs import jit
from jifs.errors import InputError
from jifs.relax import local
from jifs.relax.problem import check, value

SEEDS = st.integers(0, 2**32 - 1)
WORLD = st.tuples(st.sampled_from(naive.KINDS), st.integers(1, 9), SEEDS)
SCALES = [1e-12, 1e12, 2.0**-700, 2.0**700]


def whole_set(S, n, k):
    """A sorted int64 array of k different features."""
    assert S.dtype == np.int64
    assert len(S) == k
    assert (np.diff(S) > 0).all()
    assert k == 0 or (S[0] >= 0 and S[-1] < n)
    return True


@given(WORLD, st.data())
def test_greedy(world, data):
    Q = naive.matrix(*world)
    k = data.draw(st.integers(0, len(Q)))
    S = local.greedy(Q, k)
    assert whole_set(S, len(Q), k)
    assert set(S.tolist()) == naive.greedy(Q, k)


@given(WORLD, st.data(), SEEDS)
def test_swap_ends_where_no_exchange_helps(world, data, seed):
    Q = naive.matrix(*world)
    n, k = len(Q), data.draw(st.integers(0, len(Q)))
    first = np.random.default_rng(seed).permutation(n)[:k]
    S = local.swap(Q, first)
    assert whole_set(S, n, k)
    assert value(Q, S) >= value(Q, first) * (1 - 1e-13)
    changes = naive.exchanges(Q, set(S.tolist())).values()
    assert max(changes, default=0.0) <= 1e-11 * Q.max()


def test_swap_takes_the_best_exchange_first():
    Q = np.diag(np.arange(8.0))
    assert local.swap(Q, [0, 1, 2, 3], steps=0).tolist() == [0, 1, 2, 3]
    assert local.swap(Q, [0, 1, 2, 3], steps=1).tolist() == [1, 2, 3, 7]
    assert local.swap(Q, [3, 1, 2, 0], steps=2).tolist() == [2, 3, 6, 7]
    assert local.swap(Q, [0, 1, 2, 3]).tolist() == [4, 5, 6, 7]
    assert local.swap(Q, []).tolist() == []


@pytest.mark.parametrize("kind", naive.KINDS)
def test_tabu_finds_the_best_set_of_small_problems(kind):
    """Every k of n up to 14."""
    for n in (2, 3, 5, 8, 11, 14):
        for seed in range(3):
            Q = naive.matrix(kind, n, seed)
            best = naive.best_values(Q)
            for k in range(n + 1):
                S = local.tabu(Q, k, seed=seed)
                assert whole_set(S, n, k)
                assert value(Q, S) == pytest.approx(best[k], rel=1e-12), (n, seed, k)


def test_tabu_leaves_the_trap_in_which_swap_stays():
    """Pairs that are worth much together and nothing alone: exchanges of one that must help go from few to the best."""
    Q = naive.matrix("trap", 12, 0)
    best = naive.best_values(Q)[2]
    starts = [[i, i + 1] for i in range(0, 12, 2)]
    assert sum(value(Q, local.swap(Q, start)) < best - 0.01 for start in starts) == 5
    for start in starts:
        assert value(Q, local.tabu(Q, 2, starts=1, first=start)) == pytest.approx(best, rel=1e-12)


def test_tabu_finds_a_pair_that_nothing_points_to():
    """Two features that are worth nothing alone and nothing with others."""
    Q = naive.matrix("random", 40, 0)
    Q[[7, 30]] = Q[:, [7, 30]] = 0
    Q[7, 30] = Q[30, 7] = 60.0
    for k in (2, 3, 10):
        assert {7, 30} <= set(local.tabu(Q, k).tolist())
        assert not {7, 30} & set(local.tabu(Q, k, starts=1).tolist())


@given(WORLD, st.data(), st.sampled_from(SCALES))
def test_the_scale_changes_nothing(world, data, scale):
    """A power of two changes no bit; another scale changes the value by its rounding, at most."""
    Q = naive.matrix(*world)
    k = data.draw(st.integers(0, len(Q)))
    for method in (
        local.greedy,
        lambda M, k: local.swap(M, np.arange(k)),
        lambda M, k: local.tabu(M, k, steps=64),
    ):
        S, T = method(Q, k), method(Q * scale, k)
        if math.frexp(scale)[0] == 0.5:
            assert S.tolist() == T.tolist()
        assert value(Q, S) == pytest.approx(value(Q, T), rel=1e-11)


@pytest.mark.parametrize("scale", SCALES)
def test_the_scale_changes_no_set_without_ties(scale):
    Q = naive.matrix("random", 40, 0)
    for k in (3, 17, 38):
        assert local.greedy(Q, k).tolist() == local.greedy(Q * scale, k).tolist()
        assert local.swap(Q, np.arange(k)).tolist() == local.swap(Q * scale, np.arange(k)).tolist()
        assert local.tabu(Q, k).tolist() == local.tabu(Q * scale, k).tolist()


@pytest.mark.parametrize("kind", ["random", "duplicates", "equal"])
def test_seeds_and_threads(kind):
    """The seed decides, the number of threads does not."""
    Q = naive.matrix(kind, 50, 1)
    with jit.threads(1):
        alone = [local.tabu(Q, 20, starts=7, steps=40, seed=seed).tolist() for seed in range(5)]
    for count in (2, 5):
        with jit.threads(count):
            assert [local.tabu(Q, 20, starts=7, steps=40, seed=seed).tolist() for seed in range(5)] == alone


def test_different_seeds_are_different_walks():
    """Starts beyond the third are random sets: with one step each, the seeds do not all meet the same best set."""
    Q = naive.matrix("trap", 40, 1)
    Q[np.diag_indices(40)] = 0.0
    rng = np.random.default_rng
    met = {
        tuple(local._start(Q, 9, number, None, rng([seed, number]))) for seed in (0, 1) for number in (3, 4)
    }
    assert len(met) == 4
    assert tuple(local._start(Q, 9, 2, [1, 2], rng(0))) == tuple(local._start(Q, 9, 1, None, rng(5)))


def test_first_is_a_start():
    """With a single start the walk begins there, and its best is never worse."""
    Q = naive.matrix("random", 30, 3)
    best = local.tabu(Q, 10)
    assert local.tabu(Q, 10, starts=1, steps=1, first=best[::-1]).tolist() == best.tolist()


def test_time():
    """No time at all still gives a set; enough time changes nothing."""
    Q = naive.matrix("random", 60, 0)
    found = local.tabu_search(check(Q, 20), steps=100_000, seconds=0)
    assert whole_set(found.S, 60, 20)
    assert found.stopped == "time"
    assert found.value == pytest.approx(value(Q, found.S), rel=1e-15)
    assert local.tabu_search(check(Q, 20), seconds=1000).stopped == ""
    assert local.tabu(Q, 20, seconds=1000).tolist() == local.tabu(Q, 20).tolist()


@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_gives_the_best_so_far(monkeypatch, count):
    Q = naive.matrix("random", 60, 0)
    calls, walk = [], local.tabu_walk

    def interrupted(*arguments):
        walk(*arguments)
        calls.append(1)
        if threading.current_thread() is threading.main_thread() and len(calls) > 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(local, "tabu_walk", interrupted)
    with jit.threads(count):
        found = local.tabu_search(check(Q, 20), steps=10**9)
    assert found.stopped == "interrupt"
    assert whole_set(found.S, 60, 20)
    assert found.value == pytest.approx(value(Q, found.S), rel=1e-15)
    assert found.value >= value(Q, local.greedy(Q, 20)) * (1 - 1e-12)


def test_an_interrupt_while_waiting_for_the_other_threads(monkeypatch):
    Q = naive.matrix("random", 30, 0)

    def interrupted(count, task):
        task(0, count)
        raise KeyboardInterrupt

    monkeypatch.setattr(local, "spread", interrupted)
    assert local.tabu_search(check(Q, 7), steps=64).stopped == "interrupt"


def test_an_interrupted_swap_is_a_set(monkeypatch):
    Q, climb = np.diag(np.arange(400.0)), local.climb

    def interrupted(*arguments):
        climb(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(local, "climb", interrupted)
    S = local.swap(Q, np.arange(200))
    assert whole_set(S, 400, 200)
    assert value(Q, S) > value(Q, np.arange(200))


def test_what_is_refused():
    Q = naive.matrix("random", 5, 0)
    for call, words in [
        (lambda: local.greedy(Q, 6), "k must be a whole number between 0 and 5"),
        (lambda: local.greedy(-Q, 2), "must be >= 0"),
        (lambda: local.swap(Q, [1, 1]), "different features"),
        (lambda: local.swap(Q, [0, 5]), "different features"),
        (lambda: local.swap(Q, [-1, 2]), "different features"),
        (lambda: local.swap(Q, [0.5, 2]), "S must be a list of feature numbers"),
        (lambda: local.swap(Q, range(9)), "different features"),
        (lambda: local.swap(Q, [0, 1], steps=-1), "steps must be a whole number"),
        (lambda: local.swap(Q, [0, 1], steps=1.5), "steps must be a whole number"),
        (lambda: local.tabu(Q, 2, starts=0), "starts must be a whole number from 1 on"),
        (lambda: local.tabu(Q, 2, steps=True), "steps must be a whole number from 1 on"),
        (lambda: local.tabu(Q, 2, seed=-1), "seed must be a whole number from 0 on"),
        (lambda: local.tabu(Q, 2, seconds=-1), "seconds must be a time"),
        (lambda: local.tabu(Q, 2, seconds=math.nan), "seconds must be a time"),
        (lambda: local.tabu(Q, 2, seconds="1"), "seconds must be a time"),
        (lambda: local.tabu(Q, 2, first=[1]), "first must hold k = 2 features"),
        (lambda: local.tabu(Q, 2, first=[1, 7]), "different features"),
    ]:
        with pytest.raises(InputError, match=words) as error:
            call()
        assert str(error.value).count(".") >= 1


def test_nothing_is_written_to():
    Q = naive.matrix("random", 12, 0)
    Q.flags.writeable = False
    before, first = Q.copy(), np.array([5, 1, 7])
    first.flags.writeable = False
    local.greedy(Q, 3), local.swap(Q, first), local.tabu(Q, 3, first=first)
    assert (before == Q).all()


def test_the_deadline():
    assert local.deadline_of(None) == math.inf
    assert local.deadline_of(np.float64(0)) <= time.perf_counter()
