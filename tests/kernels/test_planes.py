"""Bit planes and margins equal their definitions: every bit, every count, every lane without a feature."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from naive import encode as naive_encode
from naive import planes as naive

from jifs.jit import COMPILED, threads
from jifs.kernels import planes
from jifs.stats.codes import Codes

LANES = 8
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.lists(st.sampled_from([0, 1, 2, 5, 63, 64, 65, 127, 130]), min_size=1, max_size=4).filter(any)
CARDS = st.lists(st.sampled_from([1, 2, 2, 3, 4, 5, 6, 7, 9, 17]), min_size=1, max_size=19)
EVERY_WIDTH = list(range(1, 65))
EDGES = [0, 1, 63, 64, 65, 0, 2]


def batch(seed, sizes, cards):
    columns, y = naive_encode.sample(seed, sizes, cards)
    return Codes(*naive_encode.laid_out(columns, y, len(sizes), cards)), columns, y


@given(st.integers(0, 2**64 - 1))
@example(0)
@example(2**64 - 1)
@example(2**63)
@example(0x0101010101010101)
def test_popcount_of_one_word(word):
    assert planes.popcount_one(np.uint64(word)) == bin(word).count("1")


def test_popcount_of_every_bit():
    for shift in range(64):
        assert planes.popcount_one(np.uint64(1 << shift)) == 1
        assert planes.popcount_one(np.uint64((2**64 - 1) >> shift)) == 64 - shift


@given(SEEDS, st.integers(0, 30), st.integers(1, 64), st.integers(0, 6))
def test_a_word_stops_at_its_count(seed, at, count, level):
    codes = np.random.default_rng(seed).integers(0, 5, 100).astype(np.uint8)
    expected = sum(1 << i for i in range(count) if codes[at + i] == level)
    assert int(planes.word_one(codes, at, count, level)) == expected


@given(SEEDS, SIZES, CARDS)
@example(0, EDGES, EVERY_WIDTH)
@example(1, [0, 70], [1])
@example(2, [1], [1, 1, 1])
def test_planes_of_every_feature(seed, sizes, cards):
    codes, columns, y = batch(seed, sizes, cards)
    words = naive.class_words(sizes)
    assert codes.words.tolist() == words
    expected = []
    for block in naive.blocks(cards):
        for level in range(max(cards[j] for j in block) - 1):
            lanes = np.zeros(
                (words[-1], LANES), np.uint64
            )  # a lane without a feature, or above its levels, is empty
            for lane, j in enumerate(block):
                lanes[:, lane] = naive.plane(columns[j], y, len(sizes), level)
            expected.extend(lanes.reshape(-1).tolist())
    assert codes.planes.tolist() == expected


@given(SEEDS, SIZES, CARDS)
@example(0, EDGES, EVERY_WIDTH)
def test_planes_of_a_chosen_column(seed, sizes, cards):
    codes, columns, y = batch(seed, sizes, cards)
    for k in range(0, len(cards), 3):
        column = codes.column(k)
        total, r = int(codes.words[-1]), cards[k]
        out = np.zeros(r * total, np.uint64)
        planes.chosen_planes_one(column.codes, r, codes.starts, codes.words, out)
        expected = [naive.plane(columns[k], y, len(sizes), level) for level in range(r - 1)]
        assert out.reshape(r, total)[:-1].tolist() == expected
        assert not out[(r - 1) * total :].any()  # the last level follows from the margins


@given(SEEDS, SIZES, CARDS)
@example(0, EDGES, EVERY_WIDTH)
@example(3, [0, 0, 5, 0], [3] * 8)
@example(4, [200], [64, 63, 1])
def test_margins(seed, sizes, cards):
    codes, columns, y = batch(seed, sizes, cards)
    for j, r in enumerate(cards):
        table = codes.layout.table_of(codes.margins, j, len(sizes), 1)[:, :, 0]
        expected = [np.bincount(columns[j][y == c], minlength=r).tolist() for c in range(len(sizes))]
        assert table.tolist() == expected
        assert codes.layout.table_of(codes.totals, j, 1, 1)[0, :, 0].tolist() == np.sum(expected, 0).tolist()
    assert codes.margins.sum() == len(cards) * sum(
        sizes
    )  # nothing in lanes without a feature, or above their levels
    assert codes.margins.dtype == np.int64


@given(SEEDS, SIZES, st.integers(1, 300))
def test_margins_of_a_chosen_column(seed, sizes, r):
    codes, columns, y = batch(seed, sizes, [r])
    out = np.full(len(sizes) * r * LANES, -7)
    planes.column_margins_one(codes.column(0).codes, r, codes.starts, out)
    by_class = out.reshape(len(sizes), r, LANES)
    assert (by_class == by_class[:, :, :1]).all()
    expected = [np.bincount(columns[0][y == c], minlength=r).tolist() for c in range(len(sizes))]
    assert by_class[:, :, 0].tolist() == expected


def test_other_levels_than_the_widest():
    codes, columns, _ = batch(5, [100, 30], [2, 3, 5])
    whole = codes.margins.reshape(2, 5, LANES)
    assert not whole[:, 2:, 0].any()
    assert not whole[:, 3:, 1].any()
    assert not whole[:, :, 3:].any()
    assert whole[:, :, 2].sum(axis=0).tolist() == np.bincount(columns[2], minlength=5).tolist()


def test_threads_leave_no_trace():
    many = 203 if COMPILED else 43
    cards = [1 + j % 7 for j in range(many)]
    answers = []
    for count in (1, 2, 5):
        codes, _, _ = batch(6, [65, 0, 130, 1], cards)
        with threads(count):
            answers.append((codes.planes.tobytes(), codes.margins.tobytes()))
    assert answers[0] == answers[1] == answers[2]
