"""Distances are sums of squared differences, kernels are exponentials within 3 roundings, and counts are exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import distances as naive

from jifs import jit
from jifs.kernels import distances as fast

SEEDS = st.integers(0, 2**32 - 1)
UNIT = 2.0**-53


def rows(seed, n, m):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) * 10.0 ** rng.integers(-3, 4, m)


def gauss(d, scale):
    out = np.full(len(d), np.nan)
    fast.gauss_one(np.asarray(d, np.float64), scale, out, np.empty(len(d), np.int64))
    return out


def flat(x, first=0, last=None):
    n = x.shape[1]
    last = n if last is None else last
    out = np.full(fast.place(n, last) - fast.place(n, first), np.nan)
    fast.squared_pairs(-(-(last - first) // fast.GROUP), x, first, last, out)
    return out


@given(SEEDS, st.integers(1, 9), st.integers(0, 9), st.integers(1, 40))
def test_distances_to_points(seed, n, m, b):
    x, points = rows(seed, n, m), np.ascontiguousarray(rows(seed + 1, b, m).T)
    out = np.full((n, b), np.nan)
    fast.squared_all(n, x, points, out)
    slow = np.array([[naive.squared(x[i], points[:, c]) for c in range(b)] for i in range(n)])
    assert np.allclose(out, slow.reshape(n, b), rtol=(m + 3) * 2 * UNIT, atol=0)


def test_near_points_far_from_the_origin_stay_near():
    x = np.array([[1e8, 1.0], [1e8 + 2.0**-20, 1.0]])
    out = np.empty((1, 1))
    fast.squared_all(1, x[:1], np.ascontiguousarray(x[1:].T), out)
    assert out[0, 0] == 2.0**-40


@pytest.mark.parametrize("n", [1, 2, 3, 17, 33])
def test_pairs_are_row_after_row(n):
    x = rows(n, n, 3)
    slow = naive.squared_pairs(x)
    assert flat(np.ascontiguousarray(x.T)) == pytest.approx(slow, rel=1e-14)
    places = [fast.place(n, i) for i in range(n)]
    assert places == [sum(n - 1 - t for t in range(i)) for i in range(n)]


def test_a_block_of_rows_is_part_of_the_whole_and_threads_leave_no_trace():
    x = np.ascontiguousarray(rows(0, fast.TILE + 40, 6).T)
    n = x.shape[1]
    with jit.threads(1):
        whole = flat(x)
    with jit.threads(2):
        assert flat(x).tobytes() == whole.tobytes()
        part = flat(x, 5, 47)
    assert part.tobytes() == whole[fast.place(n, 5) : fast.place(n, 47)].tobytes()


# --------------------------------------------------------------------------------------------------------- exponentials


def test_kernels_are_exponentials():
    """The argument is rounded once, which costs |x| roundings of the result; the exponential itself 2."""
    d = np.concatenate([np.linspace(0, 708, 4001), 10.0 ** np.arange(-300, 3)])
    for value, got in zip(d.tolist(), gauss(d, 1.0).tolist(), strict=True):
        assert abs(got - math.exp(-value)) <= 3 * 2 * UNIT * math.exp(-value)


def test_the_product_with_the_scale_is_rounded_once():
    d, scale = np.random.default_rng(0).uniform(0, 30, 200), 1 / 3
    true = [math.exp(-float(Fraction(v) * Fraction(scale))) for v in d.tolist()]
    assert np.allclose(gauss(d, scale), true, rtol=(30 + 4) * 2 * UNIT, atol=0)


def test_far_is_nothing_and_near_is_all():
    assert gauss([0.0, 708.0, 708.1, 1e5, 1e300, math.inf], 1.0).tolist()[2:] == [0.0] * 4
    assert gauss([0.0], 1.0).tolist() == [1.0]
    assert gauss([5e-324, 1e-17], 1.0).tolist() == [1.0, 1.0]
    assert gauss([0.0, 1e300], 1e-300).tolist() == pytest.approx([1.0, math.exp(-1)], rel=1e-15)
    assert gauss([], 1.0).size == 0


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=20))
def test_kernels_fall_with_distance_and_stay_within_bounds(values):
    out = gauss(sorted(values), 1.0)
    assert (out >= 0).all()
    assert (out <= 1).all()
    assert (np.diff(out) <= 2 * UNIT).all()


@given(SEEDS, st.integers(0, 100))
def test_a_long_sum_in_lanes(seed, n):
    a, b = np.random.default_rng(seed).normal(size=(2, n))
    exact = float(sum(Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), b.tolist(), strict=True)))
    bound = (n + 2) * 2 * UNIT * float(np.abs(a * b).sum())
    assert abs(fast.dot_one(a, b, np.full(fast.LANES, np.nan)) - exact) <= bound


# -------------------------------------------------------------------------------------------------- a change, a count


@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
def test_a_feature_joins_or_leaves(sign):
    x = rows(3, 12, 4)
    base, column = np.ascontiguousarray(x.T), np.ascontiguousarray(x[:, 1])
    d, n = flat(base), len(x)
    least = 1e-14 if sign < 0 else 0.0
    others = {1.0: np.column_stack([x, x[:, 1]]), -1.0: np.delete(x, 1, axis=1), 0.0: x}[sign]
    slow = naive.squared_pairs(others)
    got = []
    for i in range(n):
        out = np.empty(n - 1 - i)
        start = fast.place(n, i)
        fast.changed_one(d[start : start + n - 1 - i], column, i, sign, least, out)
        got += out.tolist()
    assert got == pytest.approx(slow, rel=1e-9, abs=1e-14 * max(d))


def test_rows_equal_in_all_others_are_at_distance_0_when_a_feature_leaves():
    x = np.array([[0.1, 0.7, 0.3], [0.1, -1.3, 0.3], [0.1, 1e3 / 3, 0.3]])
    d, out = flat(np.ascontiguousarray(x.T)), np.empty(2)
    fast.changed_one(d[:2], np.ascontiguousarray(x[:, 1]), 0, -1.0, 1e-15, out)
    assert out.tolist() == [0.0, 0.0]


@given(SEEDS, st.integers(1, 14), st.integers(0, 30))
def test_counts_around_an_interval(seed, n, room):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (2, n)).astype(np.float64)
    low, high = sorted(rng.choice([-1.0, 0.0, 1.0, 2.0, 5.0, math.inf], 2).tolist())
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    counts, found = np.zeros(4, np.int64), np.full(room + 1, np.nan)
    d, base = flat(x), fast.place(n, first)
    fast.count_around(first, last, n, first, d[base:], np.zeros(n), 0.0, 0.0, low, high, counts, found)
    own = d[base : fast.place(n, last)]
    between = own[(own > low) & (own < high)]
    assert counts.tolist() == [(own < low).sum(), (own == low).sum(), between.size, (own == high).sum()]
    if between.size <= room:
        assert found[: between.size].tolist() == between.tolist()
