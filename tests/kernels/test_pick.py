"""The kernel of the tie rule against the rule as it is written."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive.pick import pick

from jifs.kernels.pick import best_one

TOLERANCE = 1e-12
near_ties = st.integers(-3, 3).map(lambda i: 0.25 + 0.6e-12 * i)
scores = st.one_of(st.floats(allow_nan=False), near_ties, st.sampled_from([0.0, -math.inf, math.inf]))


@given(st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=20))
def test_the_winner_and_the_best_of_the_rest(cases: list[tuple[float, bool]]) -> None:
    values, free = np.array([s for s, _ in cases]), np.array([f for _, f in cases])
    winner = pick(values.tolist(), free.tolist(), TOLERANCE)
    assert best_one(values, free, TOLERANCE, -1) == (-1 if winner is None else winner)
    if winner is not None:
        others = free.copy()
        others[winner] = False
        second = pick(values.tolist(), others.tolist(), TOLERANCE)
        assert best_one(values, free, TOLERANCE, winner) == (-1 if second is None else second)


def test_a_chain_of_near_ties_is_measured_from_the_best() -> None:
    values = np.array([0.0, 0.8e-12, 1.6e-12])
    assert best_one(values, np.ones(3, np.bool_), TOLERANCE, -1) == 1


def test_nan_of_a_free_feature_is_reported_and_of_another_ignored() -> None:
    values = np.array([1.0, math.nan, 2.0])
    assert best_one(values, np.array([True, True, True]), TOLERANCE, -1) == -3
    assert best_one(values, np.array([True, False, True]), TOLERANCE, -1) == 2
