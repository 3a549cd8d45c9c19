"""The median distance is exact, whatever the sample, the blocks and the threads; and never 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.distances import median_width

from jifs import jit
from jifs.measures import widths
from jifs.measures.widths import Pairs, pairs_of, row_blocks

ALL = 10**9


def rows(seed, n, m, levels=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, m)).astype(np.float64) if levels else rng.normal(size=(n, m))
    return np.ascontiguousarray(X.T)


def by_sorting(x):
    n = x.shape[1]
    d = np.sqrt(((x[:, :, None] - x[:, None]) ** 2).sum(axis=0))[np.triu_indices(n, 1)]
    return float(np.median(d)) or float(np.median(d[d > 0]))


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(0, 3), st.sampled_from([0, 1, 2, 4]))
def test_it_is_the_definition(seed, n, m, levels):
    x = rows(seed, n, m, levels)
    assert Pairs(x, ALL).median() == pytest.approx(median_width(x.T), rel=1e-14)


@pytest.mark.parametrize("levels", [0, 2, 3])
@pytest.mark.parametrize("m", [1, 4])
def test_many_pairs_by_a_sample(m, levels):
    """More pairs than are collected; with two levels and one column half of the distances are 0."""
    x = rows(m, 400, m, levels)
    assert Pairs(x, ALL).median() == pytest.approx(by_sorting(x), rel=1e-14)


@pytest.mark.parametrize("levels", [0, 2])
def test_a_poor_sample_costs_time_only(monkeypatch, levels):
    x = rows(3, 300, 2, levels)
    for poor in (np.zeros(50), np.full(50, 1e9), np.linspace(0.9, 0.91, 50), np.arange(50.0) ** 3):
        monkeypatch.setattr(Pairs, "_sample", lambda self, column, sign, poor=poor: poor)
        assert Pairs(x, ALL).median() == pytest.approx(by_sorting(x), rel=1e-14)


def test_room_that_is_too_small_is_made_larger(monkeypatch):
    x = rows(4, 300, 2)
    whole = Pairs(x, ALL)
    below = np.zeros(300)
    counts, found = whole._around(-1.0, np.inf, below, 0.0, 0.0)
    assert counts.tolist() == [0, 0, 300 * 299 // 2, 0]
    assert found.size == counts[2]


@pytest.mark.parametrize("levels", [0, 2])
@pytest.mark.parametrize("most", [1, 1000, 30_000])
def test_blocks_and_threads_leave_no_trace(levels, most, monkeypatch):
    x = rows(5, 300, 3, levels)
    monkeypatch.setattr(widths, "GRAIN", 1000)
    with jit.threads(1):
        one = Pairs(x, ALL).median()
    with jit.threads(2):
        blocks = Pairs(x, most)
        assert not blocks.kept
        assert blocks.median() == one
        assert Pairs(x, ALL).median() == one


@pytest.mark.parametrize("levels", [0, 2, 3])
def test_a_feature_joins_or_leaves(levels):
    x = rows(6, 250, 4, levels) / 3 - 0.1  # thirds: sums that do not come out even
    pairs = Pairs(x, ALL)
    for j in range(4):
        left = Pairs(np.delete(x, j, axis=0), ALL).median()
        joined = Pairs(np.vstack([x, x[j]]), ALL).median()
        assert pairs.median(x[j], -1.0) == pytest.approx(left, rel=1e-13)
        assert pairs.median(x[j], 1.0) == pytest.approx(joined, rel=1e-13)


def test_distances_left_by_rounding_are_0():
    """Rows that differ in one feature alone: without it they coincide, and only the positive distances count."""
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(size=60) * 1e3, np.repeat([0.1, 0.7], [55, 5]), np.full(60, 1 / 3)])
    assert Pairs(x, ALL).median(x[0], -1.0) == pytest.approx(0.6, rel=1e-9)


def test_no_rows_apart():
    assert Pairs(np.zeros((2, 5)), ALL).median() == 1.0
    assert Pairs(np.zeros((0, 5)), ALL).median() == 1.0
    assert Pairs(np.ones((2, 1)), ALL).median() == 1.0


@given(st.integers(1, 200), st.integers(1, 5000))
def test_blocks_cover_all_rows_and_fit(n, most):
    bounds = row_blocks(n, most)
    assert [b[0] for b in bounds] + [n] == [0] + [b[1] for b in bounds]
    for first, last in bounds:
        assert last - first == 1 or pairs_of(n, first, last) <= most
