"""A batch: its columns, its margins, the ways it counts, and that what it keeps does not change an answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import counts as naive
from naive import encode as naive_encode

from jifs.errors import MismatchError
from jifs.stats import codes as module
from jifs.stats.codes import Codes

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.lists(st.sampled_from([0, 1, 3, 64, 70]), min_size=1, max_size=3).filter(any)
CARDS = st.lists(st.sampled_from([1, 2, 3, 5, 9, 64, 65, 256, 257, 400]), min_size=1, max_size=12)


def world(seed, sizes, cards, weights=None):
    columns, y = naive_encode.sample(seed, sizes, cards)
    return Codes(*naive_encode.laid_out(columns, y, len(sizes), cards, weights)), columns, y


def table(codes, flat, j, rz, split=True):
    return codes.layout.table_of(flat, j, codes.classes if split else 1, rz).tolist()


@given(SEEDS, SIZES, CARDS)
def test_columns_are_the_features_in_order_of_class(seed, sizes, cards):
    codes, columns, y = world(seed, sizes, cards)
    assert codes.n == len(y)
    assert codes.classes == len(sizes)
    assert codes.size == len(y)
    for j, r in enumerate(cards):
        column = codes.column(j)
        assert column.levels == r
        assert column.codes[: codes.n].tolist() == columns[j][codes.order].tolist()
        assert codes.column(j) is column


@given(SEEDS, SIZES, CARDS, st.booleans())
@example(0, [70, 0, 3], [2, 300, 5, 64, 65], True)
def test_margins_and_totals(seed, sizes, cards, weighted):
    """Tables without Z: of the narrow features also kept, for the planes."""
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 3.0], sum(sizes)) if weighted else None
    codes, columns, y = world(seed, sizes, cards, weights)
    nothing, lay = np.zeros_like(y), codes.layout
    by_class, whole = (codes.tables(codes.constant, 0, lay.blocks, split) for split in (True, False))
    for j, r in enumerate(cards):
        slow = naive.table(columns[j], nothing, y, (len(sizes), r, 1), weights)
        np.testing.assert_allclose(lay.table_of(by_class, j, len(sizes), 1), slow, rtol=1e-12)
        np.testing.assert_allclose(lay.table_of(whole, j, 1, 1)[0], slow.sum(axis=0), rtol=1e-12)
        if lay.slot_of[j] // 8 < codes.plane_blocks:
            assert lay.table_of(codes.margins, j, len(sizes), 1).tolist() == slow.tolist()
            assert lay.table_of(codes.totals, j, 1, 1)[0].tolist() == slow.sum(axis=0).tolist()
    assert codes.margins.dtype == codes.totals.dtype == np.int64
    assert weights is None or codes.plane_blocks == 0


@given(SEEDS, SIZES, CARDS, st.booleans())
@example(0, [70, 64], [2, 3, 400, 300, 64, 65], True)
def test_ways_follow_one_another(seed, sizes, cards, split):
    """Planes first, then tables, then groups; and only where each is possible."""
    codes, _, _ = world(seed, sizes, cards)
    for k in range(len(cards)):
        column = codes.column(k)
        routes = codes.routes(column, split)
        assert 0 <= routes.planes <= routes.histogram <= codes.layout.blocks
        assert (codes.layout.width[: routes.planes] <= module.PLANE_LEVELS).all()
        assert routes.planes == 0 or column.levels <= module.PLANE_LEVELS
        assert codes.prepare(column, split) == routes


def test_a_narrow_column_of_many_rows_goes_by_planes():
    codes, _, _ = world(0, [3000, 3000], [2, 3, 5])
    assert codes.routes(codes.column(0), True).planes == codes.layout.blocks
    assert codes.plane_view() is not None


def test_a_huge_table_is_never_made():
    codes, _, _ = world(0, [300, 300], [600] * 3)
    assert codes.routes(codes.column(0), True) == (0, 0)


@given(SEEDS, SIZES, CARDS)
def test_every_feature_has_planes_or_there_is_no_view(seed, sizes, cards):
    codes, _, _ = world(seed, sizes, cards)
    blocks = codes.layout.blocks
    by_planes = all(codes.routes(codes.column(k), True).planes == blocks for k in range(len(cards)))
    assert (codes.plane_view() is not None) == by_planes
    assert not (by_planes and max(cards) > module.PLANE_LEVELS)
    if max(cards) > module.PLANE_LEVELS:
        with pytest.raises(MismatchError, match=f"has {max(cards)} levels"):
            codes.chosen_view(int(np.argmax(cards)))


def test_planes_are_for_few_levels_and_few_classes():
    assert world(0, [500, 500], [2, 9, 5])[0].plane_view() is not None
    assert world(0, [500, 500], [2, 65, 5])[0].plane_view() is None
    assert world(0, [500, 500], [2, 60, 60])[0].plane_view() is None  # a histogram is quicker
    assert world(0, [3] * 400, [9, 5])[0].plane_blocks == 0  # more cells than rows


@given(SEEDS, SIZES, st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=1, max_size=12), st.booleans())
def test_unsplit_tables_are_the_sum_over_classes(seed, sizes, cards, forced):
    codes, _, _ = world(seed, sizes, cards)
    column, blocks = codes.column(len(cards) - 1), codes.layout.blocks
    way = "planes" if forced else "histogram"
    split, whole = (codes.tables(column, 0, blocks, by_class, way=way) for by_class in (True, False))
    for j in range(len(cards)):
        by_class = np.array(table(codes, split, j, column.levels))
        assert by_class.sum(axis=0).tolist() == table(codes, whole, j, column.levels, split=False)[0]


def test_columns_are_forgotten_and_made_again():
    m = module.KEPT_COLUMNS + 40
    codes, _, _ = world(1, [40, 25], [2, 3] * (m // 2))
    first = [codes.tables(codes.column(k), 0, codes.layout.blocks, True)[:80].tolist() for k in range(m)]
    assert len(codes._columns) <= module.KEPT_COLUMNS
    again = [codes.tables(codes.column(k), 0, codes.layout.blocks, True)[:80].tolist() for k in range(m)]
    assert again == first


@pytest.mark.parametrize("levels", [1, 5, 64, 65, 256, 257, 1000])
def test_a_state_of_any_number_of_levels(levels):
    codes, columns, y = world(2, [300, 0, 77], [2, 5, 300])
    z = np.random.default_rng(levels).integers(0, levels, codes.n)
    state = codes.state(z[codes.order], levels)
    flat = codes.tables(state, 0, codes.layout.blocks, True)
    for j, r in enumerate([2, 5, 300]):
        assert table(codes, flat, j, levels) == naive.table(columns[j], z, y, (3, r, levels)).tolist()


def test_what_a_kernel_of_ones_own_is_given():
    codes, columns, y = world(3, [70, 0, 65], [3, 2, 5])
    planes, margins, levels = codes.chosen_view(2)
    assert levels == 5
    assert planes.size == 4 * codes.words[-1]
    own = margins.reshape(3, 5, 8)
    assert (own == own[:, :, :1]).all()
    expected = [np.bincount(columns[2][y == c], minlength=5).tolist() for c in range(3)]
    assert own[:, :, 0].tolist() == expected
    view = codes.plane_view()
    assert view is not None
    assert view.words.tolist() == [0, 2, 2, 4]
    assert view.slots.tolist() == [1, 0, 2, -1, -1, -1, -1, -1]


def test_several_threads_share_a_batch():
    """Planes, margins and columns are made when first asked for: whoever asks first."""
    cards = [2, 3, 5, 9] * 6
    calm, _, _ = world(4, [130, 70], cards)
    expected = [calm.tables(calm.column(k), 0, calm.layout.blocks, True) for k in range(24)]
    for _ in range(5):
        codes, _, _ = world(4, [130, 70], cards)

        def ask(k, codes=codes):
            return codes.tables(codes.column(k), 0, codes.layout.blocks, True)

        with ThreadPoolExecutor(6) as team:
            answers = list(team.map(ask, range(24)))
        for k, (found, slow) in enumerate(zip(answers, expected, strict=True)):
            for j in range(24):
                assert table(codes, found, j, cards[k]) == table(codes, slow, j, cards[k])
