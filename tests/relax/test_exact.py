"""Branch and bound against all sets: every kind of matrix, every k, every stage left out, bad starts, every scale.

A proof is only as good as its bounds, so they are compared with the best set also where a search is cut short.
"""

from __future__ import annotations

import signal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import branch as naive
from naive.subset import KINDS, best_values, matrix

from jifs import jit
from jifs.errors import InputError
from jifs.relax import exact, tree
from jifs.relax.certificate import Certificate, verify_certificate
from jifs.relax.exact import STAGES, solve
from jifs.relax.problem import value

TIGHT = 1e-9
SEEDS = st.integers(0, 2**32 - 1)
PARTS = [
    (),
    ("tabu",),
    ("split",),
    ("dive",),
    ("dual",),
    ("split", "dual"),
    ("dive", "dual"),
    ("split", "dive"),
    ("tabu", "split", "dual"),
    ("tabu", "dive", "dual"),
]


def check(found, Q, k, best):
    """A set of k features, proven, the best to 1e-9, with a bound that is above the best."""
    S = found.S
    assert S.dtype == np.int64
    assert len(S) == k
    assert (np.diff(S) > 0).all()
    assert found.proven
    assert found.stopped == ""
    assert found.value == pytest.approx(value(Q, S), rel=1e-13)
    assert best * (1 - TIGHT) <= found.value <= best * (1 + 1e-13)
    assert best * (1 - 1e-13) <= found.bound <= found.value * (1 + TIGHT)


@pytest.mark.parametrize("kind", KINDS)
def test_every_k_of_every_kind(kind):
    """Over a thousand problems of up to 16 features in all, with the whole search."""
    for n, seed in [(1, 0), (2, 0), (3, 0), (4, 1), (6, 2), (9, 3), (11, 4), (13, 5), (16, 6)]:
        Q = matrix(kind, n, seed)
        best = best_values(Q)
        for k in range(n + 1):
            check(solve(Q, k), Q, k, best[k])


@pytest.mark.parametrize("stages", PARTS, ids="+".join)
def test_without_some_stages_from_a_bad_start(stages):
    """The worst set to begin with; without a depth-first search everything goes through the tree."""
    for kind in KINDS:
        Q = matrix(kind, 11, 7)
        best, worst = best_values(Q), np.argsort(Q.sum(axis=1))
        for k in (2, 3, 5, 8, 9):
            check(solve(Q, k, first=worst[:k], stages=stages), Q, k, best[k])


@given(st.sampled_from(KINDS), st.integers(1, 10), SEEDS, st.data(), st.sampled_from(PARTS))
def test_any_matrix_any_stages(kind, n, seed, data, stages):
    """The bound holds in rational numbers."""
    Q = matrix(kind, n, seed)
    k = data.draw(st.integers(0, n))
    found = solve(Q, k, seed=seed % 1000, stages=stages)
    check(found, Q, k, best_values(Q)[k])
    true = [[Fraction(float(q)) for q in row] for row in Q]
    assert Fraction(found.bound) >= naive.best(true, [true[i][i] for i in range(n)], k, [], range(n))


@pytest.mark.parametrize("scale", [1e-12, 1e12, 2.0**-1000, 2.0**900])
@pytest.mark.parametrize("kind", KINDS)
def test_the_scale_changes_nothing(kind, scale):
    Q = matrix(kind, 12, 1)
    best = best_values(Q)
    for k in range(13):
        found, usual = solve(Q * scale, k), solve(Q, k)
        check(found, Q * scale, k, best[k] * scale)
        assert found.value == pytest.approx(usual.value * scale, rel=1e-12)
        if scale in (2.0**-1000, 2.0**900):
            assert (found.S == usual.S).all()
            assert found.nodes == usual.nodes


def test_small_differences_beside_large_entries():
    """All sets have one large pair; which other features are best is decided at 1e-6 of the value."""
    Q = 1e-6 * matrix("random", 14, 0)
    Q[0, 1] = Q[1, 0] = 1.0
    best = best_values(Q)
    for stages in (STAGES, ("split", "dive"), ("dual",)):
        for k in (2, 5, 9):
            check(solve(Q, k, stages=stages), Q, k, best[k])


def milp(Q, k):
    """The linear form with z_ij <= x_i, z_ij <= x_j, sum_j z_ij = (k - 1) x_i, by HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    n = len(Q)
    first, second = np.triu_indices(n, 1)
    pairs, z = len(first), n + np.arange(len(first))
    rows = np.tile(np.arange(pairs), 2)
    limits = [
        coo_array(
            (np.repeat([1.0, -1.0], pairs), (rows, np.concatenate([z, x]))), shape=(pairs, n + pairs)
        ).tocsr()
        for x in (first, second)
    ]
    sums = coo_array(
        (
            np.concatenate([np.ones(2 * pairs), np.full(n, 1.0 - k)]),
            (np.concatenate([first, second, np.arange(n)]), np.concatenate([z, z, np.arange(n)])),
        ),
        shape=(n, n + pairs),
    ).tocsr()
    count = np.concatenate([np.ones(n), np.zeros(pairs)])[None]
    solved = milp(
        -np.concatenate([Q.diagonal(), 2 * Q[first, second]]),
        constraints=[
            *(LinearConstraint(limit, -np.inf, 0) for limit in limits),
            LinearConstraint(sums, 0, 0),
            LinearConstraint(count, k, k),
        ],
        integrality=np.concatenate([np.ones(n), np.zeros(pairs)]),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    assert solved.status == 0
    return -solved.fun


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n", "k"),
    [
        ("cmi", 20, 4),
        ("cmi", 24, 20),
        ("cmi", 30, 3),
        ("sparse", 26, 8),
        ("blocks", 28, 10),
        ("random", 20, 5),
        ("random", 20, 16),
        ("low_rank", 30, 9),
        ("duplicates", 25, 7),
        ("steep", 30, 12),
        ("trap", 30, 6),
    ],
)
def test_another_solver_agrees(kind, n, k):
    Q = matrix(kind, n, 5)
    for stages in (STAGES, ("tabu", "split", "dual")):
        found = solve(Q, k, stages=stages)
        assert found.proven
        assert found.value == pytest.approx(milp(Q, k), rel=1e-6)


def test_the_certificate_of_the_search_holds():
    Q = matrix("cmi", 12, 0)
    for k in range(13):
        found = solve(Q, k)
        assert verify_certificate(Q, k, Certificate("exact", k, found.bound, found.S))


@pytest.mark.parametrize("kind", ["random", "duplicates", "equal", "whole"])
def test_the_same_for_any_number_of_threads(kind):
    Q = matrix(kind, 24, 0)
    with jit.threads(1):
        alone = solve(Q, 9)
    for count in (2, 3):
        with jit.threads(count):
            other = solve(Q, 9)
        assert (other.S == alone.S).all()
        assert (other.value, other.bound, other.nodes) == (alone.value, alone.bound, alone.nodes)


# ---------------------------------------------------------------------------------------- searches that are cut short


def open_end(found, Q, k, best, why):
    assert len(found.S) == k
    assert found.value == pytest.approx(value(Q, found.S), rel=1e-13)
    assert found.value <= best * (1 + 1e-13)
    assert found.bound >= best * (1 - 1e-13)
    assert np.isfinite(found.bound)
    assert found.stopped == ("" if found.proven else why)


class After:
    """A function that is called as usual a number of times; then something else happens first or afterwards."""

    def __init__(self, function, calls, event, afterwards):
        self.function, self.calls, self.event, self.afterwards = function, calls, event, afterwards

    def __call__(self, *arguments, **names):
        self.calls -= 1
        if self.calls < 0 and not self.afterwards:
            self.event()
        answer = self.function(*arguments, **names)
        if self.calls < 0 and self.afterwards:
            self.event()
        return answer


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("k", [5, 11])
@pytest.mark.parametrize("afterwards", [False, True])
@pytest.mark.parametrize("name", ["dive", "tight_bound", "forced_bounds"])
def test_an_interrupt_anywhere_leaves_a_bound(monkeypatch, name, k, afterwards):
    """Bad start, so that sets are still found on the way; also in the middle of a depth-first search."""
    Q = matrix("random", 15, 3)
    best = best_values(Q)[k]
    monkeypatch.setattr(tree, "CALL", 500.0)
    monkeypatch.setattr(tree, "ROOT_WORK", 2000.0)
    monkeypatch.setattr(tree, "NODE_WORK", 2.0)
    function, ends = getattr(tree, name), []
    for calls in [*range(12), 20, 40]:
        with monkeypatch.context() as patch:
            patch.setattr(tree, name, After(function, calls, interrupt, afterwards))
            found = solve(Q, k, first=np.argsort(Q.sum(axis=1))[:k], stages=("split", "dive", "dual"))
        open_end(found, Q, k, best, "interrupt")
        ends.append(found.proven)
    assert not ends[0]


@pytest.mark.parametrize("stages", [("split",), ("split", "dual"), ()])
def test_an_interrupt_in_the_steps_of_the_split_bound(monkeypatch, stages):
    Q = matrix("random", 14, 3)
    best = best_values(Q)[6]
    function = tree.Core.improve
    for calls in [0, 1, 2, 3, 5, 9, 17, 40]:
        left = [calls]

        def improve(self, *arguments, left=left):
            left[0] -= 1
            if left[0] == -1:
                raise KeyboardInterrupt
            return function(self, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(tree.Core, "improve", improve)
            open_end(solve(Q, 6, stages=stages), Q, 6, best, "interrupt")


def test_an_interrupt_that_the_dual_answers_ends_the_search_too(monkeypatch):
    """The dual returns its best bound when interrupted: the search must not go on as if nothing had been."""
    Q = matrix("random", 15, 3)

    def answered(*arguments, function=tree.tight_bound, **names):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return function(*arguments, **names)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background has none
    monkeypatch.setattr(tree, "tight_bound", answered)
    try:
        found = solve(Q, 7, stages=("split", "dual"))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped == "interrupt"
    open_end(found, Q, 7, best_values(Q)[7], "interrupt")


def test_an_interrupt_in_the_first_search(monkeypatch):
    Q = matrix("random", 15, 3)
    from jifs.relax import local

    monkeypatch.setattr(local, "tabu_walk", After(local.tabu_walk, 3, interrupt, True))
    with jit.threads(1):
        found = solve(Q, 7)
    assert found.stopped == "interrupt"
    open_end(found, Q, 7, best_values(Q)[7], "interrupt")


@pytest.mark.parametrize("stages", [STAGES, ("split",), ("dual", "split"), ("dive",), ()])
def test_time(monkeypatch, stages):
    """The clock is looked at inside: after each call of a clock that runs away, there is a set and a bound."""
    Q = matrix("random", 16, 0)
    best = best_values(Q)
    for k in (4, 8, 13):
        open_end(solve(Q, k, seconds=0, stages=stages), Q, k, best[k], "time")
        check(solve(Q, k, seconds=1e6, stages=stages), Q, k, best[k])
    monkeypatch.setattr(tree, "CALL", 100.0)
    for ticks in range(1, 60, 4):
        clock = iter(range(10**9))
        monkeypatch.setattr(tree.time, "perf_counter", lambda clock=clock: float(next(clock)))
        open_end(solve(Q, 8, seconds=ticks, stages=stages), Q, 8, best[8], "time")
        monkeypatch.undo()


def test_nodes_that_wait_without_their_r(monkeypatch):
    """A full memory makes it slower, not wrong."""
    monkeypatch.setattr(tree, "PACKED", 0)
    for kind in KINDS:
        Q = matrix(kind, 12, 3)
        best = best_values(Q)
        for k in (3, 6, 9):
            check(solve(Q, k, stages=("split",)), Q, k, best[k])


def test_what_is_refused():
    Q = matrix("random", 5, 0)
    for call, words in [
        (lambda: solve(Q, 6), "k must be a whole number"),
        (lambda: solve(-Q, 2), "must be >= 0"),
        (lambda: solve(Q, 2, seconds=-1), "seconds must be a time"),
        (lambda: solve(Q, 2, seed=-1), "seed must be a whole number"),
        (lambda: solve(Q, 2, first=[1, 2, 3]), "first must hold k = 2"),
        (lambda: solve(Q, 2, stages=("magic",)), "stages may be tabu, split, dive, dual"),
    ]:
        with pytest.raises(InputError, match=words):
            call()


def test_nothing_is_written_to():
    Q = matrix("random", 14, 0)
    Q.flags.writeable = False
    before = Q.copy()
    for stages in (STAGES, ("split", "dual")):
        solve(Q, 5, stages=stages)
        solve(Q, 10, stages=stages)
    assert (before == Q).all()
    assert exact.TOLERANCE == TIGHT
