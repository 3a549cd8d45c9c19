"""The depth-first search finds the best set, cuts off nothing that is better, and may be stopped at any time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import branch as naive
from naive.split import bound_with, bound_without
from naive.subset import KINDS, matrix

from jifs.kernels import branch

SEEDS = st.integers(0, 2**32 - 1)
WORLD = st.tuples(st.sampled_from(KINDS), st.integers(4, 10), SEEDS)


def shared_out(Q, seed, spread):
    rng = np.random.default_rng(seed)
    R = np.triu(Q + spread * rng.normal(size=Q.shape), 1)
    return R + np.tril(2 * Q - R.T, -1)


def search(Q, R, diagonal, k, known, slack=0.0, budget=1e18, each=None):
    """(value, largest bound met, set) of a search that is stopped after every `budget` comparisons."""
    n = len(Q)
    order = np.argsort(-R, axis=1, kind="stable")
    nodes, cands, hs = np.zeros((k + 2, 5)), np.zeros((k + 2, n), np.int64), np.zeros((k + 2, n))
    nodes[0] = [0.0, 1e300, 0, n, 0]
    cands[0], hs[0] = np.arange(n), diagonal
    path, branches, best = np.zeros(k + 2, np.int64), np.zeros(k + 2, np.int64), np.full(k, -1)
    value, sizes = np.array([known, -np.inf]), np.zeros(3)
    while not branch.dive(
        Q, R, order, k, slack, budget, nodes, cands, hs, path, branches, best, value, sizes
    ):
        if each is not None:
            each(value, float(nodes[: int(sizes[0]) + 1, 1].max()))
    assert sizes[0] == -1
    return float(value[0]), float(value[1]), best


@given(WORLD, st.data(), st.sampled_from([0.0, 0.1, 2.0]))
def test_the_best_set(world, data, spread):
    """From a start that is worse, from one that is just worse, and from the best itself; with any R and diagonal."""
    Q = matrix(*world)
    n, k = len(Q), data.draw(st.integers(1, len(Q)))
    R, diagonal = shared_out(Q, world[2], spread), Q.diagonal() - data.draw(st.sampled_from([0.0, 1.0]))
    true = naive.best(Q, diagonal, k, [], range(n))
    for known in (true - 10.0, true - 1e-6):
        value, top, S = search(Q, R, diagonal, k, known)
        assert value == pytest.approx(true, abs=1e-12)
        assert sorted(set(S.tolist())) == sorted(S.tolist())
        assert naive.value(Q, diagonal, S) == pytest.approx(true, abs=1e-12)
        assert top >= true - 1e-12
    value, top, S = search(Q, R, diagonal, k, true + 1e-9)
    assert value == true + 1e-9
    assert (S == -1).all()
    assert top <= value


@given(WORLD, st.data(), st.floats(0, 0.5))
def test_with_slack_the_bounds_that_were_cut_off_are_known(world, data, slack):
    """A search that overlooks what is better by less than the slack says how much better that may be."""
    Q = matrix(*world)
    n, k = len(Q), data.draw(st.integers(1, len(Q)))
    true = naive.best(Q, Q.diagonal(), k, [], range(n))
    value, top, _ = search(Q, shared_out(Q, world[2], 0.1), Q.diagonal(), k, 0.9 * true, slack)
    assert value <= true + 1e-12
    assert max(value, top) >= true - 1e-12
    assert top <= value + slack + 1e-12


@given(WORLD, st.data())
def test_stopped_at_every_node_it_goes_on_as_before(world, data):
    """And what is left has a bound: the best set is found already, cut off, or below it."""
    Q = matrix(*world)
    n, k = len(Q), data.draw(st.integers(1, len(Q)))
    R, true = shared_out(Q, world[2], 0.1), naive.best(Q, Q.diagonal(), k, [], range(n))

    def each(value, left):
        assert max(value[0], value[1], left) >= true - 1e-12

    whole = search(Q, R, Q.diagonal(), k, 0.5 * true)
    parts = search(Q, R, Q.diagonal(), k, 0.5 * true, budget=1.0, each=each)
    assert parts[:2] == whole[:2]
    assert (parts[2] == whole[2]).all()


@given(WORLD, st.data())
def test_a_node(world, data):
    """Rows along the sorted order, forced bounds and leaves are those of the definition on what is left."""
    Q = matrix(*world)
    n, rng = len(Q), np.random.default_rng(world[2])
    size = data.draw(st.integers(3, n))
    taken, r = n - size, data.draw(st.integers(2, size - 1))
    R, ids = shared_out(Q, world[2], 0.2), rng.permutation(n)
    P, C = ids[:taken], ids[taken:]
    h = np.array([Q[i, i] + 2 * Q[i, P].sum() for i in range(n)])
    alive = np.isin(np.arange(n), C)
    rows, inside, outside = np.full((3, n), np.nan), np.empty(n), np.empty(n)
    order = np.argsort(-R, axis=1, kind="stable")
    branch.node_rows(R, order, C, size, alive, h, r, rows[0], rows[1], rows[2])
    part = R[np.ix_(C, C)]
    f = naive.value(Q, Q.diagonal(), P)
    assert f + np.sort(rows[0, :size])[size - r :].sum() == pytest.approx(
        naive.node_bound(Q, R, Q.diagonal(), taken + r, P, C), abs=1e-11
    )
    branch.node_force(R, C, size, r, rows[0], rows[1], rows[2], inside, outside)
    assert inside[:size] == pytest.approx([bound_with(part, h[C], r, t) for t in range(size)], abs=1e-11)
    assert outside[:size] == pytest.approx([bound_without(part, h[C], r, t) for t in range(size)], abs=1e-11)
    for small in {0, 1, 2, size}:
        k = taken + small
        path, best, value = np.zeros(k + 2, np.int64), np.zeros(k, np.int64), np.array([-9.0, -9.0])
        path[:taken] = P
        branch.leaf(Q, C, size, h, f, small, path, taken, best, value)
        assert value == pytest.approx(naive.best(Q, Q.diagonal(), k, P, C), abs=1e-12)
        assert naive.value(Q, Q.diagonal(), best) == pytest.approx(value[0], abs=1e-12)
