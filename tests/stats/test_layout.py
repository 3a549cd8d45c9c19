"""Where each feature lives: every feature in one slot, blocks of features that are alike, the same for every batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import planes as naive

from jifs.stats.layout import LANES, NARROW, Layout

CARDS = st.lists(
    st.one_of(st.integers(1, 12), st.sampled_from([1, 2, 64, 65, 255, 256, 257, 5000])),
    min_size=1,
    max_size=40,
)


@given(CARDS)
@example([2] * 16)
@example([300] * 9)
@example([256, 257])
def test_blocks_are_those_of_the_definition(cards):
    layout = Layout(np.array(cards))
    slots = layout.slots.reshape(-1, LANES).tolist()
    assert [[j for j in block if j >= 0] for block in slots] == naive.blocks(cards)
    assert all(block == sorted(block, key=lambda j: j < 0) for block in slots)  # empty lanes come last
    assert layout.width.tolist() == [max(cards[j] for j in block if j >= 0) for block in slots]
    assert layout.before.tolist() == [0, *np.cumsum(layout.width).tolist()]


@given(CARDS)
def test_every_feature_has_one_slot(cards):
    layout = Layout(np.array(cards))
    assert layout.slots[layout.slot_of].tolist() == list(range(len(cards)))
    assert np.count_nonzero(layout.slots >= 0) == len(cards)
    assert layout.by_feature(layout.slots).tolist() == list(range(len(cards)))


@given(CARDS)
def test_wide_features_have_blocks_of_their_own(cards):
    layout = Layout(np.array(cards))
    for b, block in enumerate(layout.slots.reshape(-1, LANES)):
        wide = {cards[j] > NARROW for j in block if j >= 0}
        assert wide == {b >= layout.narrow_blocks}
    assert (np.diff(layout.width[: layout.narrow_blocks]) >= 0).all()
    assert (np.diff(layout.width[layout.narrow_blocks :]) >= 0).all()


@given(CARDS, st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_a_feature_finds_its_table(cards, classes, rz, seed):
    """Numbers written cell by cell in the documented order are read back as [class, level, level of Z]."""
    cards = [min(c, 70) for c in cards]
    layout = Layout(np.array(cards))
    flat, tables = [], {}
    rng = np.random.default_rng(seed)
    for block, r in zip(layout.slots.reshape(-1, LANES), layout.width.tolist(), strict=True):
        cube = rng.integers(0, 1000, (classes, r, rz, LANES))
        flat.extend(cube.reshape(-1).tolist())
        tables.update(
            {int(j): cube[:, : cards[j], :, lane].tolist() for lane, j in enumerate(block) if j >= 0}
        )
    whole = np.array(flat)
    for j in range(len(cards)):
        assert layout.table_of(whole, j, classes, rz).tolist() == tables[j]
        lo = int(layout.slot_of[j]) // LANES
        part = whole[int(layout.before[lo]) * classes * rz * LANES :]
        assert layout.table_of(part, j, classes, rz, lo).tolist() == tables[j]


@pytest.mark.parametrize("m", [1, 7, 8, 9, 16])
def test_alike_features_keep_their_order(m):
    layout = Layout(np.full(m, 3))
    assert layout.slots[:m].tolist() == list(range(m))
    assert layout.blocks == -(-m // LANES)
    assert (layout.slots[m:] == -1).all()


@given(st.lists(st.integers(1, 400), min_size=1, max_size=90), st.integers(0, 2000), st.data())
def test_pieces_follow_one_another_and_are_no_larger_than_asked(cards, most, data):
    layout = Layout(np.array(cards))
    lo = data.draw(st.integers(0, layout.blocks))
    hi = data.draw(st.integers(lo, layout.blocks))
    pieces = list(layout.pieces(lo, hi, most))
    assert [b for a, e in pieces for b in range(a, e)] == list(range(lo, hi))
    assert all(e - a == 1 or layout.before[e] - layout.before[a] <= most for a, e in pieces)
