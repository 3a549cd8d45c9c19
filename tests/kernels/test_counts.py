"""Tables by planes, tables by histogram and tables by definition are the same integers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import counts as naive
from naive import encode as naive_encode

from jifs.jit import COMPILED
from jifs.kernels import counts, planes
from jifs.stats.codes import Codes

LANES = 8
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.lists(st.sampled_from([0, 1, 2, 5, 63, 64, 65, 130]), min_size=1, max_size=4).filter(any)
CARDS = st.lists(st.sampled_from([1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17]), min_size=1, max_size=19)
RAGGED = [1, 64, 2, 3, 33, 5, 1, 8, 9, 63, 2, 16, 17]


def world(seed, sizes, cards, weights=None):
    columns, y = naive_encode.sample(seed, sizes, cards)
    return Codes(*naive_encode.laid_out(columns, y, len(sizes), cards, weights)), columns, y


def lane_of(codes, flat, j, classes, rz, lo=0):
    """All of a feature's lane [class, level, level of Z], up to the width of its block; other lanes mean nothing."""
    block, lane = divmod(int(codes.layout.slot_of[j]), LANES)
    first, last = (
        int(codes.layout.before[b] - codes.layout.before[lo]) * classes * rz * LANES
        for b in (block, block + 1)
    )
    return flat[first:last].reshape(classes, -1, rz, LANES)[..., lane]


def same_tables(codes, columns, y, k, split, ways, weights=None, tolerance=0.0):
    """Every way gives the naive table of every feature with feature k."""
    classes = codes.classes if split else 1
    labels = y if split else np.zeros_like(y)
    column, blocks = codes.column(k), codes.layout.blocks
    tables = [codes.tables(column, 0, blocks, split, way=way) for way in ways]
    for j in range(len(columns)):
        lanes = [lane_of(codes, flat, j, classes, column.levels) for flat in tables]
        slow = naive.table(columns[j], columns[k], labels, lanes[0].shape, weights)
        for lane in lanes:
            assert lane.dtype == slow.dtype
            np.testing.assert_allclose(lane, slow, rtol=tolerance, atol=0.0)


@given(SEEDS, SIZES, CARDS, st.booleans())
@example(0, [65, 0, 1, 64], RAGGED, True)
@example(0, [65, 0, 1, 64], RAGGED, False)
@example(1, [1], [1], True)
@example(2, [0, 0, 3], [1, 1, 1], True)
def test_planes_histogram_and_definition(seed, sizes, cards, split):
    codes, columns, y = world(seed, sizes, cards)
    for k in {0, len(cards) // 2, len(cards) - 1}:
        same_tables(codes, columns, y, k, split, ["planes", "histogram", ""])


@settings(max_examples=8 if COMPILED else 2)
@given(SEEDS, st.sampled_from([[3, 65, 1], [0, 200], [40]]), st.booleans())
def test_every_width_of_a_tile(seed, sizes, split):
    """Columns of 1 to 20 levels are counted by every mix of tiles of eight, four, two and one."""
    codes, columns, y = world(seed, sizes, [3, 4, *range(1, 21)])
    for k in range(2, 22):
        same_tables(codes, columns, y, k, split, ["planes", "histogram"])


@pytest.mark.parametrize("split", [True, False])
def test_longer_than_one_segment_of_words(split):
    long = 64 * counts.SEGMENT
    codes, columns, y = world(7, [long + 70, 5, 2 * long + 1], [2, 7, 3])
    same_tables(codes, columns, y, 2, split, ["planes", "histogram"])


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("way", ["planes", "histogram", ""])
def test_a_part_of_the_blocks_is_that_part_of_the_whole(way, split):
    codes, columns, _ = world(8, [65, 30, 0], [2, 2, 5, 3, 1, 4, 9, 2, 6] * 3)
    blocks, column, classes = codes.layout.blocks, codes.column(6), codes.classes if split else 1
    whole = codes.tables(column, 0, blocks, split)
    for lo in range(blocks):
        for hi in range(lo + 1, blocks + 1):
            part = codes.tables(column, lo, hi, split, way=way)
            for j in range(len(columns)):
                if lo <= codes.layout.slot_of[j] // LANES < hi:
                    expected = lane_of(codes, whole, j, classes, column.levels)
                    assert lane_of(codes, part, j, classes, column.levels, lo).tolist() == expected.tolist()


def test_the_three_ways_meet_inside_one_call():
    """Narrow blocks by planes, the rest by histogram, features of over 256 levels among them."""
    cards = [2] * 9 + [40] * 3 + [200] * 2 + [300] * 9
    codes, columns, y = world(9, [90, 31], cards)
    column = codes.column(0)
    routes = codes.routes(column, split=True)
    assert 0 < routes.planes < codes.layout.blocks
    for k in (0, 10):
        same_tables(codes, columns, y, k, True, ["", "histogram"])
        same_tables(codes, columns, y, k, False, ["", "histogram"])


@given(SEEDS, SIZES, CARDS, st.booleans())
@example(3, [65, 0, 1, 64], [1, 300, 2, 256, 257, 3], True)
@example(
    4, [65, 0, 1, 64], [300, 2, 3], True
)  # bytes of a wide first column must not be read for an empty lane
def test_real_weights(seed, sizes, cards, split):
    n = sum(sizes)
    weights = np.random.default_rng(seed).choice([0.0, 0.25, 1.0, 1 / 3, 7e-5, 1e6], n)
    codes, columns, y = world(seed, sizes, cards, weights)
    same_tables(codes, columns, y, len(cards) // 2, split, [""], weights, 1e-12)


def test_real_weights_have_no_planes():
    codes, _, _ = world(0, [10], [2, 2], np.ones(10))
    assert codes.plane_blocks == 0
    assert codes.plane_view() is None


@given(SEEDS, SIZES, CARDS)
def test_a_joint_state_is_a_column_like_any_other(seed, sizes, cards):
    codes, columns, y = world(seed, sizes, cards)
    joint = columns[0] * cards[-1] + columns[-1]
    state = codes.state(joint[codes.order], cards[0] * cards[-1])
    for way in ("planes", "histogram") if state.levels <= 64 else ("histogram",):
        flat = codes.tables(state, 0, codes.layout.blocks, True, way=way)
        for j, r in enumerate(cards):
            found = codes.layout.table_of(flat, j, codes.classes, state.levels)
            assert (
                found.tolist() == naive.table(columns[j], joint, y, (codes.classes, r, state.levels)).tolist()
            )


def test_a_column_with_itself_is_a_diagonal():
    codes, columns, y = world(11, [70, 33], [6, 6])
    flat = codes.tables(codes.column(1), 0, 1, True, way="planes")
    table = codes.layout.table_of(flat, 1, 2, 6)
    for c in (0, 1):
        assert table[c].tolist() == np.diag(np.bincount(columns[1][y == c], minlength=6)).tolist()


def test_the_constant_column_gives_the_margins():
    codes, columns, _ = world(12, [70, 0, 33], [6, 2, 1, 40])
    tables = codes.tables(codes.constant, 0, codes.layout.blocks, True)
    for j in range(len(columns)):
        assert lane_of(codes, tables, j, 3, 1).tolist() == lane_of(codes, codes.margins, j, 3, 1).tolist()


@pytest.mark.parametrize("split", [True, False])
def test_nothing_that_was_in_the_table_before_stays(split):
    codes, columns, y = world(13, [70, 0, 33], [6, 2, 1, 4, 3])
    lay, column, blocks = codes.layout, codes.column(0), codes.layout.blocks
    z = column.codes[: codes.n].astype(np.uint32)
    starts = codes.starts if split else codes.one_class
    words = codes.words if split else codes.words[[0, -1]]
    labels, classes = (y, 3) if split else (np.zeros_like(y), 1)
    margins = codes.margins if split else codes.totals
    of_z = np.repeat([np.bincount(z[a:b], minlength=6) for a, b in pairwise(starts)], LANES)
    chosen = np.zeros(5 * int(codes.words[-1]), np.uint64)
    planes.chosen_planes_one(column.codes, 6, codes.starts, codes.words, chosen)
    tables = np.full((2, int(lay.before[-1]) * classes * 6 * LANES), -7)
    counts.tables_by_planes(
        *(0, blocks, codes.planes, codes.plane_at, lay.width, lay.before, words),
        *(chosen, margins, of_z, 6, tables[0]),
    )
    counts.tables_by_histogram(
        *(0, blocks, codes.narrow, codes.n, lay.slots, lay.width, lay.before, starts, z, 6),
        *(np.zeros(0), tables[1]),
    )
    for j in range(5):
        for flat in tables:
            lane = lane_of(codes, flat, j, classes, 6)
            assert lane.tolist() == naive.table(columns[j], columns[0], labels, lane.shape).tolist()


def test_many_rows_in_one_cell():
    """Counts far beyond a byte or sixteen bits."""
    n = 70_000 if COMPILED else 3_000
    codes = Codes(
        np.zeros(2 * n + 64, np.uint8),
        np.zeros(0, np.uint32),
        np.array([3, 3]),
        np.array([0, n]),
        np.arange(n),
    )
    for way in ("planes", "histogram"):
        flat = codes.tables(codes.column(0), 0, 1, True, way=way)
        assert codes.layout.table_of(flat, 1, 1, 3)[0].tolist() == [[n, 0, 0], [0, 0, 0], [0, 0, 0]]
