"""Statistics of counts: batches in any cut and any order, added one by one or merged, are the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import counts as naive
from naive import encode as naive_encode

from jifs.stats.codes import Codes
from jifs.stats.counts import ClassCounts, PairCounts

SEEDS = st.integers(0, 2**32 - 1)
CARDS = st.lists(st.sampled_from([1, 2, 2, 3, 5, 17, 70, 300]), min_size=1, max_size=11)
SIZES = [70, 0, 33, 1]


@st.composite
def worlds(draw, weighted=st.booleans()):
    """Columns, classes, cards, weights or None, and the rows dealt to one to five batches."""
    seed, cards = draw(SEEDS), draw(CARDS)
    rng = np.random.default_rng(seed)
    columns, y = naive_encode.sample(seed, SIZES, cards)
    weights = rng.choice([0.0, 0.5, 3.0, 1 / 3], len(y)) if draw(weighted) else None
    deal = rng.integers(0, draw(st.integers(1, 5)), len(y))
    parts = [np.flatnonzero(deal == d) for d in sorted(set(deal.tolist()))]
    return columns, y, cards, weights, parts


def batch(columns, y, cards, weights, rows):
    """A batch of some rows, with the layout of the whole: levels and classes that do not occur keep their place."""
    some = None if weights is None else weights[rows]
    return Codes(*naive_encode.laid_out(columns[:, rows], y[rows], len(SIZES), cards, some))


def tables(statistic, layout, cards, rz, classes, lo=0, hi=None):
    """Tables of the features in blocks lo..hi-1."""
    inside = [j for j in range(len(cards)) if lo <= layout.slot_of[j] // 8 < (hi or layout.blocks)]
    return {j: layout.table_of(statistic.cells, j, classes, rz, lo) for j in inside}


def same(found, expected, weights):
    for j, table in found.items():
        np.testing.assert_allclose(table, expected(j), rtol=0 if weights is None else 1e-12, atol=0)
        assert table.dtype == (np.int64 if weights is None else np.float64)


@given(worlds())
def test_target_counts_of_batches(world):
    columns, y, cards, weights, parts = world
    nothing = np.zeros_like(y)
    batches = [batch(columns, y, cards, weights, rows) for rows in parts]
    one_by_one, classes = PairCounts(None, 0, batches[0].layout.blocks), ClassCounts()
    for some in batches:
        one_by_one.update(some)
        classes.update(some)
    of_class = np.bincount(y, weights, len(SIZES))
    np.testing.assert_allclose(classes.cells, of_class, rtol=0 if weights is None else 1e-12)
    found = tables(one_by_one, batches[0].layout, cards, 1, len(SIZES))
    same(found, lambda j: naive.table(columns[j], nothing, y, (len(SIZES), cards[j], 1), weights), weights)


@given(worlds(), st.booleans(), st.data())
@example(
    (*naive_encode.sample(0, SIZES, [2, 300, 3]), [2, 300, 3], None, [np.arange(50), np.arange(50, 104)]),
    True,
    None,
)
def test_pair_counts_of_batches(world, split, data):
    columns, y, cards, weights, parts = world
    batches = [batch(columns, y, cards, weights, rows) for rows in parts]
    layout, classes = batches[0].layout, len(SIZES) if split else 1
    k = 0 if data is None else data.draw(st.integers(0, len(cards) - 1))
    lo = 0 if data is None else data.draw(st.integers(0, layout.blocks - 1))
    statistic = PairCounts(k, lo, layout.blocks, split)
    for some in batches:
        statistic.update(some)
    labels = y if split else np.zeros_like(y)
    found = tables(statistic, layout, cards, cards[k], classes, lo)
    same(
        found,
        lambda j: naive.table(columns[j], columns[k], labels, (classes, cards[j], cards[k]), weights),
        weights,
    )


@given(worlds(weighted=st.just(False)), st.booleans(), SEEDS)
def test_merging_in_any_order_and_any_tree(world, split, seed):
    columns, y, cards, weights, parts = world
    rng = np.random.default_rng(seed)
    batches = [batch(columns, y, cards, weights, rows) for rows in parts]
    layout, k = batches[0].layout, len(cards) - 1
    for make, rz, classes in (
        (lambda: PairCounts(None, 0, layout.blocks), 1, len(SIZES)),
        (lambda: PairCounts(k, 0, layout.blocks, split), cards[k], len(SIZES) if split else 1),
    ):
        whole = make()
        for some in batches:
            whole.update(some)
        expected = {j: t.tolist() for j, t in tables(whole, layout, cards, rz, classes).items()}
        pile = [make()]  # one that has seen nothing
        for some in batches:
            leaf = make()
            leaf.update(some)
            pile.append(leaf)
        while len(pile) > 1:
            a, b = (pile.pop(rng.integers(len(pile))) for _ in range(2))
            a.merge(b)
            pile.append(a)
        assert {j: t.tolist() for j, t in tables(pile[0], layout, cards, rz, classes).items()} == expected


def test_merging_changes_neither_the_other_nor_the_batch():
    columns, y = naive_encode.sample(1, SIZES, [2, 3, 5])
    first, second = (batch(columns, y, [2, 3, 5], None, rows) for rows in (np.arange(50), np.arange(50, 104)))
    before = [some.tables(some.constant, 0, 1, True).copy() for some in (first, second)]
    kept = [some.margins.tolist() for some in (first, second)]
    a, b = PairCounts(None, 0, 1), PairCounts(None, 0, 1)
    a.update(first)
    b.update(second)
    a.merge(b)
    a.update(second)
    assert a.cells is not None
    assert b.cells is not None
    assert b.cells.tolist() == before[1].tolist()
    assert [some.margins.tolist() for some in (first, second)] == kept
    assert a.cells.tolist() == (before[0] + 2 * before[1]).tolist()


def test_lent_memory_changes_no_count():
    """Of any size and with anything in it; a second batch must not overwrite the first."""
    columns, y = naive_encode.sample(3, SIZES, [2, 3, 5])
    first, second = (batch(columns, y, [2, 3, 5], None, rows) for rows in (np.arange(50), np.arange(50, 104)))
    for room in (np.full(10_000, -7), np.full(3, -7), np.full(10_000, -7.0)):
        statistic = PairCounts(1, 0, 1, room=room)
        statistic.update(first)
        statistic.update(second)
        for j, r in enumerate([2, 3, 5]):
            found = first.layout.table_of(statistic.cells, j, len(SIZES), 3)
            assert found.tolist() == naive.table(columns[j], columns[1], y, (len(SIZES), r, 3)).tolist()


def test_nothing_seen_is_nothing_counted():
    a, b = ClassCounts(), ClassCounts()
    a.merge(b)
    assert a.cells is None
    pair = PairCounts(0, 0, 1)
    pair.merge(PairCounts(0, 0, 1))
    assert pair.cells is None


@pytest.mark.parametrize("split", [True, False])
def test_a_joint_state_as_the_column(split):
    columns, y = naive_encode.sample(2, SIZES, [2, 3, 5])
    whole = batch(columns, y, [2, 3, 5], None, np.arange(len(y)))
    joint = columns[0] * 5 + columns[2]
    statistic = PairCounts(whole.state(joint[whole.order], 10), 0, 1, split)
    statistic.update(whole)
    labels, classes = (y, 4) if split else (np.zeros_like(y), 1)
    found = whole.layout.table_of(statistic.cells, 1, classes, 10)
    assert found.tolist() == naive.table(columns[1], joint, labels, (classes, 3, 10)).tolist()
