"""The secular equation gives the eigensystem of the grown matrix, as exactly as the docstring of the kernels says.

`arrow` cases are the hard ones: crowded and repeated lambda, q from nothing to large, orders of magnitude together.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import rankone as naive

from jifs.jit import COMPILED
from jifs.kernels import secular

EPS = 2.0**-52
SEEDS = st.integers(0, 2**32 - 1)
MOST = 40 if COMPILED else 20
SIZES = st.integers(0, MOST)
LONG = 60 if COMPILED else 24


def spread_out(rng, k):
    return rng.normal(size=k), rng.normal(size=k), rng.normal()


def tiny_q(rng, k):
    """q from 1 down to far below rounding, over eigenvalues of ten orders of magnitude."""
    return 10.0 ** rng.uniform(-10, 0, k), rng.normal(size=k) * 10.0 ** rng.uniform(-25, 0, k), rng.random()


def crowded(rng, k):
    """Gaps from 1e-17 to 1 above the same number."""
    return 1.0 + 10.0 ** rng.uniform(-17, 0, k), rng.normal(size=k), rng.normal()


def neighbours(rng, k):
    """Neighbouring floating-point numbers and some between which there is nothing."""
    return 1.0 + EPS * rng.integers(0, 20, k), rng.normal(size=k) * 10.0 ** rng.uniform(-18, 0, k), 1.0


def whole(rng, k):
    """Repeated eigenvalues, zeros in q, a corner that is one of the eigenvalues."""
    return rng.integers(0, 4, k), rng.integers(-2, 3, k), rng.integers(0, 4)


def dominated(rng, k):
    """A large corner or column over small eigenvalues."""
    return 1e-15 * rng.normal(size=k), rng.normal(size=k) * 10.0 ** rng.integers(-9, 1), rng.normal()


def specks(rng, k):
    """Eigenvalues and q so small that their squares are nothing, beside a corner that is not."""
    return 10.0 ** rng.uniform(-320, -150, k), rng.normal(size=k) * 10.0 ** rng.choice([-300.0, 0.0], k), 1.0


def nothing(rng, k):
    return np.zeros(k), np.zeros(k), 0.0


KINDS = [spread_out, tiny_q, crowded, neighbours, whole, dominated, specks, nothing]


def case(kind, seed, k):
    lam, q, corner = kind(np.random.default_rng(seed), k)
    return np.sort(lam).astype(float), np.asarray(q, float), float(corner)


def solve(lam, q, corner):
    k = lam.size
    values, vectors = np.full(k + 1, np.nan), np.full((k + 1, k + 1), np.nan)
    return secular.arrow_eigen(lam, q, corner, values, vectors), values, vectors


def hold_to_the_statement(A, values, vectors, orthogonality):
    """Values, residuals and orthogonality within what the module says, in units of eps and the largest value."""
    k = len(A)
    size = np.abs(values).max()
    kept = (8 + k / 4) * EPS * size
    assert (np.diff(values) >= 0).all()
    assert np.abs(values - naive.eigenvalues(A)).max() <= kept
    assert np.linalg.norm(A @ vectors - vectors * values, axis=0).max() <= kept
    assert np.abs(vectors.T @ vectors - np.eye(k)).max() <= orthogonality * EPS


# ---------------------------------------------------------------------------------------------------------- the arrow


@given(SEEDS, SIZES, st.sampled_from(KINDS))
@example(0, 0, spread_out)
@example(0, 1, spread_out)
@example(0, MOST, neighbours)
@example(0, MOST, crowded)
def test_eigensystem_of_an_arrow(seed, k, kind):
    lam, q, corner = case(kind, seed, k)
    given_lam, given_q = lam.tobytes(), q.tobytes()
    deflated, values, vectors = solve(lam, q, corner)
    assert 0 <= deflated <= k
    hold_to_the_statement(naive.arrow(lam, q, corner), values, vectors, 8 + (k + 1) / 4)
    assert (lam.tobytes(), q.tobytes()) == (given_lam, given_q)


@given(SEEDS, SIZES, st.sampled_from(KINDS))
def test_old_and_new_values_interlace(seed, k, kind):
    lam, q, corner = case(kind, seed, k)
    _, values, _ = solve(lam, q, corner)
    slack = 2 * EPS * np.abs(values).max()  # a turned pair of poles may move by this
    assert (values[:-1] <= lam + slack).all()
    assert (lam <= values[1:] + slack).all()
    assert values[0] <= corner + slack
    assert corner <= values[-1] + slack
    assert values.sum() == pytest.approx(lam.sum() + corner, abs=(8 + k / 4) * EPS * np.abs(values).sum())


@given(SEEDS, st.integers(1, 6), st.sampled_from([spread_out, tiny_q, crowded]))
def test_roots_solve_the_equation_to_rounding(seed, k, kind):
    """In fractions: |f(t)| is within rounding of the sizes of its terms, however near t is to a pole."""
    lam, q, corner = case(kind, seed, k)
    lam, keep = np.unique(lam, return_index=True)
    q = np.where(np.abs(q[keep]) < 1e-30, 1e-30, q[keep])
    k = lam.size
    origins, offsets = np.zeros(k + 1, np.int64), np.zeros(k + 1)
    secular.roots_all(lam, q**2, corner, origins, offsets)
    poles, squares = [Fraction(x) for x in lam.tolist()], [Fraction(x) for x in (q**2).tolist()]
    roots = [poles[o] + Fraction(x) for o, x in zip(origins.tolist(), offsets.tolist(), strict=True)]
    assert all(roots[j] < poles[j] < roots[j + 1] for j in range(k))
    for t, o in zip(roots, origins.tolist(), strict=True):
        terms = [squares[i] / (poles[i] - t) for i in range(k)]
        size = abs(Fraction(corner)) + abs(poles[o]) + abs(t - poles[o]) + sum(map(abs, terms))
        assert abs(Fraction(corner) - t - sum(terms)) <= (4 + k) * Fraction(EPS) * size
    again = np.zeros(k)
    secular.weights_again(lam, origins, offsets, again)
    size = max(abs(corner), float(np.abs(lam).max()), float(np.abs(q).max()))
    assert np.abs(np.sqrt(again) - np.abs(q)).max() <= (8 + k) * EPS * size


@given(st.floats(-10, 10), st.floats(-10, 10), st.floats(-10, 10))
@example(1.0, 1.0, 1.0)
@example(0.0, 1e-200, 0.0)
@example(0.0, 5e-324, 0.0)
def test_two_by_two_by_hand(a, b, c):
    _, values, vectors = solve(np.array([a]), np.array([b]), c)
    middle, half = (a + c) / 2, math.hypot((a - c) / 2, b)
    size = max(abs(middle - half), abs(middle + half))
    assert values == pytest.approx([middle - half, middle + half], abs=4 * EPS * size, rel=0)
    hold_to_the_statement(np.array([[a, b], [b, c]]), values, vectors, 8)


def test_the_naive_equation_changes_sign_at_every_root():
    lam, q, corner = np.array([0.0, 1.0, 4.0]), np.array([1.0, -2.0, 0.5]), 2.0
    _, values, _ = solve(lam, q, corner)
    for t in values:
        assert naive.secular(t - 1e-12, lam, q, corner) > 0 > naive.secular(t + 1e-12, lam, q, corner)


# ---------------------------------------------------------------------------------------------------------- deflation


@given(SEEDS, st.integers(0, MOST))
def test_an_uncorrelated_feature_adds_its_variance(seed, k):
    lam, _, corner = case(spread_out, seed, k)
    deflated, values, vectors = solve(lam, np.zeros(k), corner)
    assert deflated == k
    assert values.tolist() == sorted([*lam.tolist(), corner])
    assert (np.sort(vectors, axis=None)[-(k + 1) :] == 1.0).all()
    assert vectors.sum() == k + 1


@given(SEEDS, st.integers(1, MOST))
def test_repeated_values_keep_all_but_one(seed, k):
    """lambda = 3 for all: k - 1 stay exactly 3 and two come from the length of q."""
    _, q, corner = case(spread_out, seed, k)
    deflated, values, vectors = solve(np.full(k, 3.0), q, corner)
    assert deflated == k - 1
    assert (values == 3.0).sum() >= k - 1
    middle, half = (3.0 + corner) / 2, math.hypot((3.0 - corner) / 2, np.linalg.norm(q))
    ends = [middle - half, middle + half]
    assert values[[0, -1]] == pytest.approx(ends, abs=(8 + k / 4) * EPS * np.abs(ends).max(), rel=0)
    hold_to_the_statement(naive.arrow(np.full(k, 3.0), q, corner), values, vectors, 8 + (k + 1) / 4)


def test_what_is_not_zero_to_rounding_is_not_deflated():
    lam = np.array([0.0, 1.0, 2.0])
    assert solve(lam, np.array([5e-16, 1.0, 0.5]), 1.5)[0] == 0
    assert solve(lam, np.array([4e-16, 1.0, 0.5]), 1.5)[0] == 1  # eps times the largest number, 2


@given(SEEDS, SIZES, st.sampled_from(KINDS), st.sampled_from([-900, -500, 500, 900]))
def test_powers_of_two_leave_no_trace(seed, k, kind, power):
    lam, q, corner = case(kind, seed, k)
    q = np.where(np.abs(q) < 1e-18, 0.0, q)
    lam = np.where(np.abs(lam) < 1e-18, 0.0, lam)
    _, values, vectors = solve(lam, q, corner)
    _, large, same = solve(np.ldexp(lam, power), np.ldexp(q, power), math.ldexp(corner, power))
    assert (np.ldexp(values, power) == large).all()
    assert (vectors == same).all()


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e301])
@pytest.mark.parametrize("place", ["lam", "q", "corner"])
def test_numbers_that_make_no_matrix_are_reported(wrong, place):
    lam, q, corner = np.array([0.0, 1.0]), np.array([0.5, 0.5]), 2.0
    if place == "lam":
        lam[1] = wrong
    elif place == "q":
        q[0] = wrong
    else:
        corner = wrong
    deflated, values, vectors = solve(lam, q, corner)
    assert deflated == -1
    assert np.isnan(values).all()
    assert np.isnan(vectors).all()


# ----------------------------------------------------------------------------------------------------- growing chains


def covariance(kind, rng, k):
    if kind == "equal":
        return np.full((k, k), 0.5) + 0.5 * np.eye(k)
    if kind == "unit":
        return np.eye(k)
    if kind == "whole":
        x = rng.integers(-1, 2, (k, 4)).astype(float)
        return x @ x.T
    if kind in ("copies", "nearly copies"):
        x = rng.normal(size=(k, 3 * k + 3))[rng.integers(0, k // 3 + 1, k)]
        x = x + (1e-9 * rng.normal(size=x.shape) if kind == "nearly copies" else 0.0)
        return x @ x.T / x.shape[1]
    if kind == "units":
        x = rng.normal(size=(k, 3 * k + 3)) * 10.0 ** rng.uniform(-4, 4, (k, 1))
        return x @ x.T / x.shape[1]
    turn, _ = np.linalg.qr(rng.normal(size=(k, k)))
    A = (turn * np.geomspace(1.0, 1.0 / float(kind), k)) @ turn.T
    return (A + A.T) / 2


WORLDS = ["1e2", "1e6", "1e10", "equal", "unit", "whole", "copies", "nearly copies", "units"]


def grow(A):
    k = len(A)
    values, vectors = np.full(k + 2, np.nan), np.full((k + 2, k + 2), np.nan)
    for i in range(k):
        assert secular.eigen_add(A[i, :i], A[i, i], values, vectors, i) >= 0
        assert np.isnan(values[i + 1 :]).all()
    assert np.isnan(vectors[k:]).all()
    assert np.isnan(vectors[:, k:]).all()
    return values[:k], vectors[:k, :k]


@given(SEEDS, st.integers(1, 12 if COMPILED else 6), st.sampled_from(WORLDS))
def test_growing_from_nothing(seed, k, world):
    """Identity 11.7: the roots are the eigenvalues; E8: the corner is the variance, not 1."""
    A = covariance(world, np.random.default_rng(seed), k)
    hold_to_the_statement(A, *grow(A), 8 + k)


@pytest.mark.parametrize("world", WORLDS)
def test_a_long_chain(world):
    A = covariance(world, np.random.default_rng(7), LONG)
    hold_to_the_statement(A, *grow(A), 8 + LONG)


@pytest.mark.parametrize("world", WORLDS)
def test_one_step_from_an_eigensystem_of_numpy(world):
    k = LONG
    A = covariance(world, np.random.default_rng(8), k)
    values, vectors = np.zeros(k), np.zeros((k, k))
    values[:-1], vectors[:-1, :-1] = np.linalg.eigh(A[:-1, :-1])
    assert secular.eigen_add(A[-1, :-1], A[-1, -1], values, vectors, k - 1) >= 0
    hold_to_the_statement(A, values, vectors, 8 + k)


def test_a_column_that_is_no_number_changes_nothing():
    A = covariance("1e2", np.random.default_rng(1), 3)
    values, vectors = np.zeros(4), np.zeros((4, 4))
    for i in range(3):
        secular.eigen_add(A[i, :i], A[i, i], values, vectors, i)
    before = values.tobytes(), vectors.tobytes()
    with np.errstate(all="ignore"):
        assert secular.eigen_add(np.array([0.1, math.nan, 0.2]), 1.0, values, vectors, 3) == -1
        assert secular.eigen_add(np.array([0.1, 0.0, math.inf]), 1.0, values, vectors, 3) == -1
        assert secular.eigen_add(np.array([0.1, 0.0, 0.2]), math.nan, values, vectors, 3) == -1
    assert (values.tobytes(), vectors.tobytes()) == before
