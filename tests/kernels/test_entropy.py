"""Sums of x log x and numbers of occupied cells, from tables and from rows in groups, equal the sums over raw cells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import counts as naive
from naive import encode as naive_encode
from naive.entropy import cmi, h, mi

from jifs.jit import COMPILED, threads
from jifs.kernels import entropy
from jifs.stats.codes import Codes

LANES = 8
CLOSE = 1e-12
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.lists(st.sampled_from([0, 1, 2, 5, 63, 64, 65, 130]), min_size=1, max_size=4).filter(any)
CARDS = st.lists(st.sampled_from([1, 2, 2, 3, 4, 5, 9, 17]), min_size=1, max_size=12)
WEIGHTS = st.sampled_from(["none", "whole", "real", "zeros"])


def weights_of(kind, seed, n):
    rng = np.random.default_rng(seed)
    if kind == "none":
        return None
    if kind == "whole":
        return rng.integers(1, 4, n).astype(float)
    some = rng.choice([0.25, 1 / 3, 1.0, 7e-5, 900.0], n)
    return some if kind == "real" else np.where(rng.random(n) < 0.4, 0.0, some)


def world(seed, sizes, cards, weights=None):
    columns, y = naive_encode.sample(seed, sizes, cards)
    return Codes(*naive_encode.laid_out(columns, y, len(sizes), cards, weights)), columns, y


def log_table(n):
    out = np.full(n + 1, np.nan)
    entropy.xlogx_table(n + 1, out)
    return out


def sums_by_lookup(codes, lo, hi, tables, classes, rz, pair, triple):
    lay = codes.layout
    together = np.full(int(lay.width[lo:hi].max()) * rz * LANES, -7)
    entropy.table_sums_lookup(
        lo, hi, tables, lay.width, lay.before, classes, rz, log_table(codes.n), together, pair, triple
    )


def sums_of(codes, k, how):
    """(pair, triple) per feature by one of the kernels over tables."""
    column, lay = codes.column(k), codes.layout
    tables = codes.tables(column, 0, lay.blocks, True)
    kind = np.int64 if how == "occupied" else np.float64
    pair, triple = np.zeros(lay.slots.size, kind), np.zeros(lay.slots.size, kind)
    where = (0, lay.blocks, tables, lay.width, lay.before, codes.classes, column.levels)
    if how == "lookup":
        sums_by_lookup(codes, 0, lay.blocks, tables, codes.classes, column.levels, pair, triple)
    else:
        {"direct": entropy.table_sums_direct, "occupied": entropy.table_occupied}[how](*where, pair, triple)
    return lay.by_feature(pair), lay.by_feature(triple)


def slow_sums(columns, y, k, weights=None):
    pair = [naive.sum_xlogx(x, columns[k], weights=weights) for x in columns]
    triple = [naive.sum_xlogx(x, columns[k], y, weights=weights) for x in columns]
    return np.array(pair), np.array(triple)


def slow_cells(columns, y, k, weights=None):
    pair = [naive.occupied(x, columns[k], weights=weights) for x in columns]
    return pair, [naive.occupied(x, columns[k], y, weights=weights) for x in columns]


# ---------------------------------------------------------------------------------------------------- x log x


@given(st.floats(0, 1e300))
@example(0.0)
@example(5e-324)
@example(1.0)
def test_x_log_x(x):
    assert entropy.xlogx_one(x) == pytest.approx(x * math.log(x) if x else 0.0, rel=1e-15)


def test_x_log_x_of_nothing_is_nothing():
    assert entropy.xlogx_one(0.0) == 0.0
    assert entropy.xlogx_one(-0.0) == 0.0
    assert entropy.xlogx_one(1.0) == 0.0


@pytest.mark.parametrize("n", [0, 1, 2, 63, 5000 if COMPILED else 500])
@pytest.mark.parametrize("team", [1, 2, 3])
def test_the_table_of_x_log_x(n, team):
    with threads(team):
        found = log_table(n)
    assert found.tolist() == [entropy.xlogx_one(float(x)) for x in range(n + 1)]


# -------------------------------------------------------------------------------------------------- from tables


@given(SEEDS, SIZES, CARDS)
@example(0, [65, 0, 1, 64], [1, 40, 2, 300, 3])
def test_sums_by_lookup_by_logarithm_and_by_definition(seed, sizes, cards):
    codes, columns, y = world(seed, sizes, cards)
    for k in {0, len(cards) - 1}:
        slow = slow_sums(columns, y, k)
        for how in ("lookup", "direct"):
            found = sums_of(codes, k, how)
            np.testing.assert_allclose(found, slow, rtol=CLOSE, atol=CLOSE)
        assert [part.tolist() for part in sums_of(codes, k, "occupied")] == list(slow_cells(columns, y, k))


@given(SEEDS, SIZES, CARDS, WEIGHTS)
@example(0, [65, 0, 1, 64], [1, 40, 3, 300, 2], "zeros")
def test_sums_of_weights(seed, sizes, cards, kind):
    weights = weights_of(kind, seed, sum(sizes))
    codes, columns, y = world(seed, sizes, cards, weights)
    k = len(cards) // 2
    np.testing.assert_allclose(
        sums_of(codes, k, "direct"), slow_sums(columns, y, k, weights), rtol=1e-11, atol=1e-12
    )
    cells = [part.tolist() for part in sums_of(codes, k, "occupied")]
    assert cells == list(slow_cells(columns, y, k, weights))


def test_a_part_of_the_blocks_leaves_the_others_alone():
    codes, columns, y = world(3, [70, 20], [2, 3, 4] * 9)
    lay, column = codes.layout, codes.column(4)
    slow = slow_sums(columns, y, 4)
    for lo, hi in [(0, 1), (1, 3), (2, 4), (3, 4)]:
        tables = codes.tables(column, lo, hi, True)
        where = (lo, hi, tables, lay.width, lay.before, 2, column.levels)
        for how in ("lookup", "direct"):
            pair, triple = np.full(lay.slots.size, -1.0), np.full(lay.slots.size, -1.0)
            if how == "lookup":
                sums_by_lookup(codes, lo, hi, tables, 2, column.levels, pair, triple)
            else:
                entropy.table_sums_direct(*where, pair, triple)
            for found, expected in ((pair, slow[0]), (triple, slow[1])):
                inside = (lay.slot_of // LANES >= lo) & (lay.slot_of // LANES < hi)
                by_feature = lay.by_feature(found)
                np.testing.assert_allclose(by_feature[inside], expected[inside], rtol=CLOSE)
                assert (by_feature[~inside] == -1.0).all()


@given(SEEDS, SIZES, CARDS)
def test_both_ways_of_counting_give_the_same_bits(seed, sizes, cards):
    codes, _, _ = world(seed, sizes, cards)
    lay, column = codes.layout, codes.column(0)
    answers = []
    for way in ("planes", "histogram"):
        tables = codes.tables(column, 0, lay.blocks, True, way=way)
        pair, triple = np.zeros(lay.slots.size), np.zeros(lay.slots.size)
        sums_by_lookup(codes, 0, lay.blocks, tables, codes.classes, column.levels, pair, triple)
        answers.append((lay.by_feature(pair).tobytes(), lay.by_feature(triple).tobytes()))
    assert answers[0] == answers[1]


# --------------------------------------------------------------------------------------------- from rows in groups


@given(SEEDS, SIZES, CARDS, WEIGHTS, st.booleans())
@example(0, [65, 0, 1, 64], [300, 2, 1, 5000, 257, 256, 3], "none", True)
@example(1, [65, 0, 1, 64], [300, 2, 1, 5000, 257, 256, 3], "zeros", True)
@example(2, [3], [1000], "none", True)
@example(3, [3, 1], [2, 1000], "zeros", False)
def test_grouped_sums_need_no_table(seed, sizes, cards, kind, split):
    """Also for more levels than a byte holds, and more than there are rows."""
    weights = weights_of(kind, seed, sum(sizes))
    codes, columns, y = world(seed, sizes, cards, weights)
    features = np.random.default_rng(seed).permutation(len(cards))
    for k in {0, len(cards) - 1}:
        groups = codes.grouping(codes.column(k), split)
        found = codes.grouped_features(features, groups)
        labels = y if split else np.zeros_like(y)
        slow = np.array(slow_sums(columns, labels, k, weights))[:, features].T
        np.testing.assert_allclose(found[:, :2], slow, rtol=1e-11, atol=1e-12)
        cells = np.array(slow_cells(columns, labels, k, weights))[:, features].T
        assert found[:, 2:].tolist() == cells.tolist()


@given(SEEDS, SIZES, CARDS)
def test_groups_and_tables_agree(seed, sizes, cards):
    codes, _, _ = world(seed, sizes, cards)
    k = len(cards) // 2
    grouped = codes.grouped_features(np.arange(len(cards)), codes.grouping(codes.column(k)))
    np.testing.assert_allclose(grouped[:, :2].T, sums_of(codes, k, "lookup"), rtol=CLOSE, atol=CLOSE)
    assert grouped[:, 2:].T.tolist() == [part.tolist() for part in sums_of(codes, k, "occupied")]


def test_closing_a_group_clears_it():
    own, touched = np.array([0.0, 3.0, 0.0, 0.5, 2.0]), np.array([3, 1, 99, 99])
    total = entropy.group_close(own, touched, 2)
    assert total == pytest.approx(3 * math.log(3) + 0.5 * math.log(0.5), rel=1e-15)
    assert own.tolist() == [0.0, 0.0, 0.0, 0.0, 2.0]


def test_threads_leave_no_trace():
    codes, _, _ = world(4, [300, 90, 211] if COMPILED else [30, 9, 21], [2, 3, 500, 17, 1] * 12)
    groups = codes.grouping(codes.column(2))
    answers = []
    for team in (1, 2, 5):
        with threads(team):
            answers.append(codes.grouped_features(np.arange(60), groups).tobytes())
    assert answers[0] == answers[1] == answers[2]


# ------------------------------------------------------------------------------------------------- what it is for


@given(SEEDS, st.integers(0, 20))
def test_information_is_floored_at_nothing(seed, m):
    rng = np.random.default_rng(seed)
    joint, own = rng.normal(size=m).round(1), rng.normal(size=m).round(1)
    out = np.full(m, np.nan)
    wrong = entropy.information_all(joint, own, 0.5, 4.0, out)
    values = [((a - b) - 0.5) / 4.0 for a, b in zip(joint.tolist(), own.tolist(), strict=True)]
    assert out.tolist() == [max(value, 0.0) for value in values]
    assert wrong == sum(value < -1e-11 for value in values)


def test_rounding_below_nothing_is_not_wrong():
    out = np.full(3, np.nan)
    assert entropy.information_all(np.array([1.0, 1.0, 1.0 - 1e-12]), np.ones(3), 0.0, 1.0, out) == 0
    assert out.tolist() == [0.0, 0.0, 0.0]
    assert entropy.information_all(np.array([1.0, 1.0 - 1e-9]), np.ones(2), 0.0, 1.0, out[:2]) == 1


@given(SEEDS, SIZES, CARDS)
def test_sums_make_entropies_and_informations(seed, sizes, cards):
    codes, columns, y = world(seed, sizes, cards)
    n, k = codes.n, len(cards) - 1
    pair, triple = sums_of(codes, k, "lookup")
    z, zy = naive.sum_xlogx(columns[k]), naive.sum_xlogx(columns[k], y)
    for j, x in enumerate(columns):
        assert math.log(n) - pair[j] / n == pytest.approx(h(x, columns[k]), abs=1e-12)
        alone = naive.sum_xlogx(x)
        assert (pair[j] - alone - z + n * math.log(n)) / n == pytest.approx(mi(x, columns[k]), abs=1e-12)
        assert (triple[j] - pair[j] - zy + z) / n == pytest.approx(cmi(x, y, columns[k]), abs=1e-12)
