"""Fayyad and Irani's cuts: the kernel equals the definition that tries every cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import discretise as naive

from jifs.jit import COMPILED, threads
from jifs.kernels import mdl

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
TIED = st.integers(-4, 4).map(float)
NEIGHBOURS = st.sampled_from(
    [1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 0.0, 5e-324, 1e-323, -5e-324]
)


def cuts(x, y, w=None):
    """The kernel on one column, by the same door as the library."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=np.int64)
    order = np.argsort(x)[None, :]
    out, found = np.empty((1, len(x))), np.zeros(1, dtype=np.int64)
    table, unit = mdl.xlogx_table(len(x)) if w is None else (np.zeros(0, dtype=np.int64), 1.0)
    w = np.ones(len(x)) if w is None else w
    mdl.mdl_all(1, x[None, :], order, y, w, int(y.max()) + 1, table, unit, 1.0, out, found)
    return out[0, : found[0]].tolist()


def separated(seed, rows, classes, noise):
    """A column that tells the classes apart up to the noise, with ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    return np.round(y * 4 + noise * rng.normal(size=rows)), y


@st.composite
def columns(draw, values=TIED, most_rows=40):
    rows = draw(st.integers(1, most_rows))
    x = draw(st.lists(values, min_size=rows, max_size=rows))
    y = draw(st.lists(st.integers(0, draw(st.integers(0, 6))), min_size=rows, max_size=rows))
    return np.array(x), np.array(y)


# --------------------------------------------------------------------------------------------- the small parts


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 100_000])
def test_the_table_is_x_log_x(n):
    table, unit = mdl.xlogx_table(n)
    x = np.arange(n + 1)
    assert math.frexp(unit)[0] == 0.5  # a power of two, so that multiplying by it is exact
    assert table[0] == 0
    np.testing.assert_allclose(table * unit, x * np.log2(np.maximum(x, 1)), rtol=1e-15, atol=unit)
    assert unit <= 2.0**-58 * max(x[-1] * np.log2(x[-1]), 1.0)
    assert table[-1] < 2**61


@pytest.mark.parametrize("c", [1, 2, 3, 20, 33, 34, 35, 100, 646, 647, 5000])
def test_the_number_of_models_does_not_overflow(c):
    assert mdl.models_one(c) == pytest.approx(math.log2(3**c - 2), rel=1e-15, abs=1e-15)


@given(FINITE | NEIGHBOURS, FINITE | NEIGHBOURS)
@example(1.0, np.nextafter(1.0, 2.0))
@example(-1e308, 1.7e308)
@example(1.6e308, 1.7e308)
@example(5e-324, 1e-323)
@example(-5e-324, 0.0)
@example(1.5e-323, 2e-323)
def test_the_middle_parts_its_neighbours(a, b):
    if a == b:
        return
    a, b = min(a, b), max(a, b)
    middle = mdl.middle_one(a, b)
    assert a <= middle < b


def test_the_middle_is_the_middle():
    assert mdl.middle_one(1.0, 2.0) == 1.5
    assert mdl.middle_one(-1.7e308, 1.7e308) == 0.0
    assert mdl.middle_one(1e308, 1.5e308) == pytest.approx(1.25e308)


@given(columns(), st.booleans(), st.integers(0, 2**32 - 1))
def test_bits_of_every_cut(column, weighted, seed):
    x, y = column
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order].astype(np.int64)
    n, out = len(x), np.full(len(x), np.nan)
    w = np.random.default_rng(seed).uniform(0.1, 3.0, n) if weighted else np.ones(n)
    if weighted:
        scratch = np.zeros((2, 7))
        mdl.bits_by_weights(x, y, w, 0, n, scratch[0], scratch[1], out)
    else:
        scratch = np.zeros((2, 7), dtype=np.int64)
        table, unit = mdl.xlogx_table(n)
        mdl.bits_by_counts(x, y, 0, n, table, unit, scratch[0], scratch[1], out)
    assert not scratch.any()
    for p in range(1, n):
        if x[p - 1] == x[p]:
            assert out[p] == np.inf
        else:
            slow = naive.class_entropy(x, y, w, x[p - 1]) * w.sum()
            assert out[p] == pytest.approx(slow, abs=1e-12 * n)


def test_moving_many_rows_leaves_no_drift():
    rng = np.random.default_rng(3)
    n = 100_000 if COMPILED else 2000
    y = rng.integers(7, size=n)
    y = np.concatenate([y, y[::-1]])  # a mirror: cut p and cut 2n - p have the same entropy
    x, out = np.arange(2.0 * n), np.empty(2 * n)
    table, unit = mdl.xlogx_table(2 * n)
    scratch = np.zeros((2, 7), dtype=np.int64)
    mdl.bits_by_counts(x, y, 0, 2 * n, table, unit, scratch[0], scratch[1], out)
    np.testing.assert_array_equal(out[1:], out[1:][::-1])
    real = np.zeros((2, 7))
    weighted = np.empty(2 * n)
    mdl.bits_by_weights(x, y, np.full(2 * n, 0.25), 0, 2 * n, real[0], real[1], weighted)
    np.testing.assert_allclose(weighted[1:] / (0.5 * n), out[1:] / (2 * n), rtol=0, atol=1e-13)


# --------------------------------------------------------------------------------------------------- the whole


@given(columns())
def test_ties_and_small_columns(column):
    assert cuts(*column) == naive.mdl_cuts(*column)


@given(columns(NEIGHBOURS))
def test_neighbouring_floats(column):
    x, y = column
    found = cuts(x, y)
    assert found == naive.mdl_cuts(x, y)
    assert len(np.unique(naive.codes_of_cuts(x, found))) == len(found) + 1


@given(columns(FINITE, most_rows=12))
def test_any_floats(column):
    assert cuts(*column) == naive.mdl_cuts(*column)


@given(st.integers(0, 2**32 - 1), st.integers(1, 120), st.integers(1, 12), st.floats(0, 6))
def test_columns_that_tell_the_classes_apart(seed, rows, classes, noise):
    x, y = separated(seed, rows, classes, noise)
    assert cuts(x, y) == naive.mdl_cuts(x, y)


@given(st.integers(0, 2**32 - 1), st.integers(2, 80), st.integers(1, 8), st.floats(0, 6))
def test_real_weights(seed, rows, classes, noise):
    x, y = separated(seed, rows, classes, noise)
    w = np.random.default_rng(seed).integers(1, 64, rows) / 8.0  # sums are exact, so ties are ties
    assert cuts(x, y, w) == naive.mdl_cuts(x, y, w)


@pytest.mark.parametrize("classes", [60, 150])
def test_many_classes(classes):
    x, y = separated(1, 300, classes, 3.0)
    found = cuts(x, y)
    assert found == naive.mdl_cuts(x, y)
    assert found


def test_two_rows_by_hand():
    # gain 1 bit > [log2(1) + log2(7) - 2] / 2 = 0.404
    assert cuts([3.0, 1.0], [0, 1]) == [2.0]


def test_four_rows_by_hand():
    # aabb: gain 1 > [log2(3) + log2(7) - 2] / 4 = 0.598; abba: best gain 0.311 (cut 1.5) is too little
    assert cuts([1, 2, 3, 4], [0, 0, 1, 1]) == [2.5]
    assert cuts([1, 2, 3, 4], [0, 1, 1, 0]) == []


def test_the_lowest_of_equal_cuts_comes_first():
    y = np.repeat([0, 1, 0], [30, 60, 30])
    x = np.arange(120.0)
    assert cuts(x, y) == [29.5, 89.5]
    bits = np.array([np.nan, 3.0, 1.0 + 1e-13, 2.0, 1.0, np.inf])
    assert mdl.lowest_one(bits, 0, 6, 1e-12) == 2
    assert mdl.lowest_one(bits, 0, 6, 1e-14) == 4
    assert mdl.lowest_one(bits, 4, 6, 1e-12) == -1


def test_rounded_weights_leave_a_tie_a_tie():
    for seed in range(20):
        w = np.random.default_rng(seed).uniform(0.1, 1.0, 60)
        w = np.concatenate([w, w[::-1]])  # a mirror: the two best cuts, 30 and 90, are equal but for rounding
        y, x = np.repeat([0, 1, 0], [30, 60, 30]), np.arange(120.0)
        bits, scratch = np.empty(120), np.zeros((2, 2))
        mdl.bits_by_weights(x, y, w, 0, 120, scratch[0], scratch[1], bits)
        assert mdl.lowest_one(bits, 0, 120, mdl.TIE * w.sum()) == 30


def test_one_value_one_class_one_row():
    assert cuts([7.0] * 9, [0, 1, 2] * 3) == []
    assert cuts(np.arange(50.0), [0] * 50) == []
    assert cuts([1.0], [0]) == []


def test_a_long_staircase_needs_no_recursion():
    rows, step = (100_000, 50) if COMPILED else (4000, 50)
    y = np.arange(rows) // step  # one class a step: every edge is cut
    found = cuts(np.arange(rows, dtype=float), y)
    assert found == (np.arange(step, rows, step) - 0.5).tolist()


def test_the_order_of_rows_does_not_matter():
    x, y = separated(5, 400, 6, 2.0)
    shuffled = np.random.default_rng(0).permutation(400)
    assert cuts(x, y) == cuts(x[shuffled], y[shuffled])
    assert cuts(x, y)


def test_names_of_classes_do_not_matter():
    x, y = separated(6, 400, 6, 2.0)
    assert cuts(x, y) == cuts(x, np.array([4, 9, 0, 2, 30, 1])[y])


def test_threads_leave_no_trace():
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=200)
    x = rng.normal(size=(37, 200)) + y * rng.integers(0, 3, size=(37, 1))
    order, (table, unit) = np.argsort(x, axis=1), mdl.xlogx_table(200)
    answers = []
    for count in (1, 2, 5):
        out, found = np.zeros_like(x), np.zeros(37, dtype=np.int64)
        with threads(count):
            mdl.mdl_all(37, x, order, y, np.ones(200), 3, table, unit, 1.0, out, found)
        answers.append((out.tolist(), found.tolist()))
    assert answers[0] == answers[1] == answers[2]
    assert max(answers[0][1]) > 1
