"""Batches updated one by one, or merged in any tree, are the whole: whatever the deal, the weights and the means.

The error is held to 4 roundings for each row and merge, as a share of the variances: 1e-13 for the tables here, also
with a mean of 1e8 and a spread of 1.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive.moments import UNIT, covariance, exact_covariance, exact_mean, majority, worst_error

from jifs.errors import InputError
from jifs.numbers import centre
from jifs.rows import Rows
from jifs.stats.moments import Moments, Products
from jifs.stats.values import Values
from jifs.table import as_table

SEEDS = st.integers(0, 2**32 - 1)
CLASSES = 3


def batch(X, y, some, weights=None) -> Values:
    """Some of the rows, in classes 0 to 2, of which any may be absent."""
    some = np.asarray(some)
    order = some[np.argsort(y[some], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(y[some], minlength=CLASSES))])
    own = None if weights is None else weights[order].astype(float)
    rows = Rows(order, starts, own, float(some.size), np.arange(CLASSES), True)
    return centre(as_table(X, y, min_rows=1), rows, None if weights is None else float(weights.max()))


def statistics(m):
    return [Moments(), Products(None), *(Products(k) for k in range(m))]


def by_updates(batches, m):
    made = statistics(m)
    for one in batches:
        for statistic in made:
            statistic.update(one)
    return made


def by_tree(batches, m, rng):
    """Any two are merged, until there is one; some have seen nothing."""
    piles = [by_updates([one], m) for one in batches] + [statistics(m)]
    while len(piles) > 1:
        a, b = (piles.pop(rng.integers(len(piles))) for _ in range(2))
        for one, other in zip(a, b, strict=True):
            one.merge(other)
        piles.append(a)
    return piles[0]


def covariances(made):
    """[class, m, m] three times: the variances in a diagonal, the whole, the columns; 0 for a class without rows."""
    moments, full, *columns = made
    mass = np.where(moments.mass > 0, moments.mass, 1.0)
    diagonal = np.stack([np.diag(row) for row in moments.squares / mass[:, None]])
    return (
        diagonal,
        full.cells / mass[:, None, None],
        np.stack([c.cells / mass[:, None] for c in columns], axis=2),
    )


def agree(made, X, y, batches, weights=None):
    moments, full, first, *_ = made
    diagonal, whole, columns = covariances(made)
    for c in range(CLASSES):
        own = y == c
        w = None if weights is None else weights[own]
        assert moments.rows[c] == own.sum()
        assert moments.mass[c] == pytest.approx(
            own.sum() if w is None else w.sum() / weights.max(), rel=100 * UNIT
        )
        if not own.any():
            assert not diagonal[c].any()
            assert not whole[c].any()
            continue
        exact, error = exact_covariance(X[own], w), 4 * (own.sum() + batches) * UNIT
        assert worst_error(whole[c], exact) <= error
        assert worst_error(columns[c], exact) <= error
        on_diagonal = [[v if j == k else 0 * v for k, v in enumerate(row)] for j, row in enumerate(exact)]
        assert worst_error(diagonal[c], on_diagonal) <= error
        spread, middle = np.sqrt(np.diag(covariance(X[own], w))), exact_mean(X[own], w)
        for statistic in (moments, full, first):
            for j, mu in enumerate(
                middle
            ):  # a mean has a rounding of its own size, and its two parts have not
                assert abs(float(mu - exact_sum(statistic.mean[c, j], statistic.offset[c, j]))) <= (
                    error * spread[j] + UNIT**2 * abs(float(mu))
                )


def exact_sum(*numbers):
    return sum(exact_mean([[v] for v in numbers])) * len(numbers)


def deal(rng, n, batches):
    """Every row to one of the batches; those that got none are no batches."""
    hand = rng.integers(0, batches, n)
    return [np.flatnonzero(hand == b) for b in range(batches) if (hand == b).any()]


@given(
    SEEDS,
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([0.0, 1e8]),
)
@example(0, 3, 1, 3, False, 1e8)
@example(1, 40, 3, 40, True, 1e8)  # about a row in each
@example(2, 40, 2, 1, False, 0.0)
def test_any_deal_in_any_order(seed, n, m, batches, weighted, middle):
    rng = np.random.default_rng(seed)
    X, y = middle + rng.normal(size=(n, m)), rng.integers(0, CLASSES, n)
    w = rng.integers(1, 5, n).astype(float) if weighted else None
    hands = [batch(X, y, some, w) for some in deal(rng, n, batches)]
    agree(by_updates(hands, m), X, y, len(hands), w)
    agree(by_tree(hands, m, rng), X, y, len(hands), w)


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_sorted_batches_in_any_unit(unit):
    """The hardest deal: batches far from each other, each with next to no spread."""
    rng = np.random.default_rng(3)
    X, y = np.sort(rng.normal(size=(60, 2)), axis=0) * unit, rng.integers(0, CLASSES, 60)
    hands = [batch(X, y, np.arange(b, b + 5)) for b in range(0, 60, 5)]
    agree(by_updates(hands, 2), X, y, 12)
    agree(by_tree(hands, 2, rng), X, y, 12)


def test_far_apart_batches_of_a_class_that_was_absent():
    """A class first seen late takes its mean as it is, not by way of a number that stood in for it."""
    X = np.array([[1e30], [1e30], [0.1], [0.3]])
    y = np.array([0, 0, 1, 1])
    for order in ([0, 1], [1, 0]):
        hands = [batch(X, y, [0, 1]), batch(X, y, [2, 3])]
        moments = by_updates([hands[i] for i in order], 1)[0]
        assert moments.rows.tolist() == [2, 2, 0]
        assert (moments.mean + moments.offset)[:2, 0].tolist() == [1e30, 0.2]
        assert moments.squares[:2, 0] == pytest.approx([0.0, 0.02], rel=8 * UNIT)


def test_merging_nothing_changes_nothing():
    X, y = np.random.default_rng(4).normal(size=(20, 2)), np.arange(20) % CLASSES
    made, untouched = by_updates([batch(X, y, range(20))], 2), by_updates([batch(X, y, range(20))], 2)
    for one, empty in zip(made, statistics(2), strict=True):
        one.merge(empty)
        empty.merge(one)
        assert_same(empty, one)
    for one, other in zip(made, untouched, strict=True):
        assert_same(one, other)


def assert_same(a, b):
    for name, value in vars(a).items():
        other = getattr(b, name)
        assert value.tobytes() == other.tobytes() if isinstance(value, np.ndarray) else value == other, name


def test_what_is_merged_is_left_as_it_was():
    X, y = np.random.default_rng(5).normal(size=(20, 2)), np.arange(20) % CLASSES
    first, second = batch(X, y, range(10)), batch(X, y, range(10, 20))
    before = [getattr(first, name).copy() for name in ("mass", "mean", "left", "squares", "vote", "common")]
    made = by_updates([first, second], 2)
    other, again = by_updates([second], 2), by_updates([second], 2)
    for one, two in zip(made, other, strict=True):
        one.merge(two)
    for one, two in zip(other, again, strict=True):
        assert_same(one, two)
    for name, old in zip(("mass", "mean", "left", "squares", "vote", "common"), before, strict=True):
        assert getattr(first, name).tobytes() == old.tobytes()


def test_the_same_batch_twice_is_every_row_twice():
    X, y = np.random.default_rng(6).normal(size=(20, 2)), np.arange(20) % CLASSES
    made = by_updates([batch(X, y, range(20))] * 2, 2)
    agree(made, np.vstack([X, X]), np.concatenate([y, y]), 2)
    for one in made:
        one.merge(one)
    agree(made, np.vstack([X] * 4), np.concatenate([y] * 4), 4)


def test_other_classes_or_features_are_refused():
    """One class would otherwise be added to each of the others."""
    X, y = np.random.default_rng(7).normal(size=(20, 2)), np.arange(20) % CLASSES
    one_class, narrow = centre(as_table(X)), batch(X[:, :1], y, range(20))
    for make in (Moments, lambda: Products(0), lambda: Products(None)):
        for other in (one_class, narrow):
            statistic = make()
            statistic.update(batch(X, y, range(20)))
            with pytest.raises(InputError, match="same classes and features"):
                statistic.update(other)


# ---------------------------------------------------------------------------------------------------- common values


@given(SEEDS, st.integers(1, 60), st.integers(1, 4), st.booleans())
def test_a_common_value_of_all_batches_is_never_overstated(seed, n, batches, weighted):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random(n) < p for p in (0.5, 0.9, 1.0)] + [np.arange(n) < n // 2]).astype(float)
    y, w = rng.integers(0, CLASSES, n), 2.0 ** rng.integers(0, 3, n) if weighted else None
    hands = deal(rng, n, batches)
    made = by_tree([batch(X, y, some, w) for some in hands], 1, rng)[0]
    for j in range(4):
        weight = (np.ones(n) if w is None else w / w.max())[X[:, j] == made.vote[j]].sum()
        assert made.common[j] <= weight
        winners = [majority(X[some, j], None if w is None else w[some]) for some in hands]
        if len({winner and winner[0] for winner in winners}) == 1 and winners[0] is not None:
            assert made.common[j] == weight


def test_two_constant_batches_have_no_common_value_between_them():
    X, y = np.repeat([[1.0], [2.0]], 10, axis=0), np.arange(20) % CLASSES
    made = by_updates([batch(X, y, range(8)), batch(X, y, range(10, 20))], 1)[0]
    assert (made.vote.tolist(), made.common.tolist()) == ([2.0], [10.0])
