"""The split bound, its steps and its forced bounds against the definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import split as naive
from naive.subset import KINDS, matrix

from jifs.kernels import split

SEEDS = st.integers(0, 2**32 - 1)
WORLD = st.tuples(st.sampled_from(KINDS), st.integers(2, 9), SEEDS)
numbers = st.lists(
    st.sampled_from([0.0, -1.0, 0.5, 2.0, 2.0 + 2**-40, -7.5]) | st.floats(-5, 5), min_size=1, max_size=20
)


def shared_out(Q, seed, spread=1.0):
    """A random R with R_ij + R_ji = 2 Q_ij, also negative ones."""
    rng = np.random.default_rng(seed)
    R = np.triu(Q + spread * rng.normal(size=Q.shape), 1)
    return R + np.tril(2 * Q - R.T, -1)


def rows_of(R, diagonal, k):
    rows = np.full((3, len(R)), np.nan)
    split.rows_all(R, diagonal, k - 1, np.ones(len(R), np.bool_), rows[0], rows[1], rows[2])
    return rows


@given(numbers, st.data())
def test_the_largest_come_to_the_front(values, data):
    r = data.draw(st.integers(1, len(values)))
    array = np.array([*values, 1e9])  # one more, which is none of its business
    ordered = sorted(values, reverse=True)
    assert split.nth_largest(array, len(values), r) == ordered[r - 1]
    assert sorted(array[:r], reverse=True) == ordered[:r]
    assert sorted(array[r:-1], reverse=True) == ordered[r:]
    assert array[-1] == 1e9
    assert split.top_sum(np.array(values), len(values), r) == pytest.approx(sum(ordered[:r]), abs=1e-12)
    assert split.top_sum(np.array(values), len(values), 0) == 0


@given(WORLD, st.data())
def test_rows(world, data):
    """T_i, the last that a row takes and the one after it; only where asked for."""
    Q = matrix(*world)
    n, k = len(Q), data.draw(st.integers(1, len(Q)))
    R, diagonal = shared_out(Q, world[2]), Q.diagonal() - 1
    total, last, after = rows_of(R, diagonal, k)
    assert total == pytest.approx(list(naive.rows(R, diagonal, k, range(n)).values()), abs=1e-12)
    for i in range(n):
        row = sorted(np.delete(R[i], i), reverse=True)
        assert last[i] == ([np.inf, *row][k - 1])
        assert after[i] == ([*row, -np.inf][k - 1])
    need, out = np.arange(n) == 1, np.full((3, n), -9.0)
    split.rows_all(R, diagonal, k - 1, need, out[0], out[1], out[2])
    assert out[:, 1].tolist() == [total[1], last[1], after[1]]
    assert (np.delete(out, 1, axis=1) == -9).all()


@given(WORLD, st.data())
def test_who_is_taken_among_equals(world, data):
    Q = np.round(2 * matrix(*world)) / 2
    n, k = len(Q), data.draw(st.integers(2, len(Q)))
    R, i = shared_out(Q, 0, 0.0), data.draw(st.integers(0, n - 1))
    out = np.full(k - 1, -1)
    split.taken_one(R, i, k - 1, rows_of(R, Q.diagonal(), k)[1, i], out)
    wanted = sorted((j for j in range(n) if j != i), key=lambda j: (-R[i, j], j))[: k - 1]
    assert out.tolist() == sorted(wanted)


def start(R, k):
    n = len(R)
    touched, dirty = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    return np.empty((3, n)), touched, dirty, R.copy(), np.array([1e300, 1.0, 0.0])


@given(WORLD, st.data(), st.floats(0.1, 1.5))
def test_steps(world, data, relax):
    """Each step is the step of the definition, and the best R of them is kept."""
    Q = matrix(*world)
    k = data.draw(st.integers(2, max(len(Q) - 1, 2)))
    R, diagonal = shared_out(Q, world[2], 0.3), Q.diagonal() - 0.2
    lower = naive.best(Q, diagonal, k)[0]
    rows, touched, dirty, kept, state = start(R, k)
    state[1] = relax
    slow, best = R.tolist(), np.inf
    for _ in range(6):
        before, slow, settled = naive.step(Q, slow, diagonal, k, lower, relax)
        gap_closed = not before > lower
        done = split.split_steps(Q, R, diagonal, k, lower, 1, rows, touched, dirty, kept, state)
        best = min(best, before)
        assert state[0] >= best - 1e-12
        assert state[0] <= best + 1e-4 * (state[0] - lower) + 1e-12
        assert naive.bound(kept, diagonal, k) == pytest.approx(state[0], abs=1e-12)
        if settled or gap_closed or abs(before - lower) < 1e-9:
            break
        assert not done
        # equal entries may be told apart by rounding in one of the two: then the steps part
        if not np.allclose(
            R[~np.eye(len(R), dtype=bool)], np.array(slow)[~np.eye(len(R), dtype=bool)], atol=1e-9
        ):
            assert len({round(float(r), 9) for r in R.ravel()}) < R.size
            break


@given(WORLD, st.data())
def test_every_r_is_a_proof(world, data):
    """In rational numbers the kept R is above the best set, and R_ij + R_ji is 2 Q_ij up to the last bit."""
    Q = matrix(*world)
    n, k = len(Q), data.draw(st.integers(2, max(len(Q) - 1, 2)))
    R = shared_out(Q, world[2], 0.0)
    best, _ = naive.best(Q, Q.diagonal(), k)
    rows, touched, dirty, kept, state = start(R, k)
    split.split_steps(Q, R, Q.diagonal(), k, best, 200, rows, touched, dirty, kept, state)
    exact = [[Fraction(float(r)) for r in row] for row in kept]
    for i in range(n):
        for j in range(i):
            apart = abs(exact[i][j] + exact[j][i] - 2 * Fraction(float(Q[i, j])))
            assert apart <= Fraction(2) ** -53 * max(abs(exact[i][j]), abs(exact[j][i]))
            exact[i][j] = 2 * Fraction(float(Q[i, j])) - exact[j][i]
    diagonal = [Fraction(float(d)) for d in Q.diagonal()]
    true = naive.best([[Fraction(float(q)) for q in row] for row in Q], diagonal, k)[0]
    assert naive.bound(exact, diagonal, k) >= true
    assert state[0] == pytest.approx(float(naive.bound(exact, diagonal, k)), rel=1e-13, abs=1e-13)


@given(WORLD, st.data())
def test_forced_features(world, data):
    """The bounds of the sets with and without a feature, from one number of each row."""
    Q = matrix(*world)
    n = len(Q)
    k = data.draw(st.integers(2, max(n - 1, 2)))
    R, diagonal = shared_out(Q, world[2], data.draw(st.sampled_from([0.0, 0.2, 3.0]))), Q.diagonal() - 0.3
    inside, outside = np.empty(n), np.empty(n)
    if k == n:
        return
    split.force_all(R, k, rows_of(R, diagonal, k), inside, outside)
    assert inside == pytest.approx([naive.bound_with(R, diagonal, k, i) for i in range(n)], abs=1e-11)
    assert outside == pytest.approx([naive.bound_without(R, diagonal, k, i) for i in range(n)], abs=1e-11)


def test_a_settled_r_is_the_best_set():
    """Two features that belong together: no pair of their rows is loose, so the bound is their value."""
    Q = np.full((5, 5), 0.1)
    Q[1, 3] = Q[3, 1] = 5.0
    rows, touched, dirty, kept, state = start(Q, 2)
    assert split.split_steps(Q, Q.copy(), Q.diagonal(), 2, 0.0, 1, rows, touched, dirty, kept, state)
    assert state[0] == pytest.approx(10.2, abs=1e-14)
