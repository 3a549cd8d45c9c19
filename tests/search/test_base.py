"""What strategies share: the rule of ties, the runner-up, and the stop rules that need no data."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.search import TOL, winner

from jifs.errors import MismatchError
from jifs.search.base import Below, Exhausted, Task, pick


def task(m: int, tolerance: float = TOL) -> Task:
    return Task(m, "toy", tolerance)


def everybody(scores: list[float]) -> np.ndarray:
    return np.ones(len(scores), np.bool_)


# Levels so near each other that the tolerance decides, and far apart; some of them no finite number.
near = st.sampled_from([0.0, 0.4, 0.9, 1.1, 1.6, 2.2, -0.4, -3.0, 1e9, -1e9]).map(lambda x: x * TOL)
anything = st.one_of(near, near, st.floats(allow_nan=False, width=32), st.just(-math.inf))


@given(st.lists(st.tuples(anything, st.booleans()), min_size=1, max_size=20))
def test_pick_is_the_rule_of_ties(marked: list[tuple[float, bool]]) -> None:
    scores, free = (np.array(part) for part in zip(*marked, strict=True))
    if not free.any():
        free[0] = True
    found = pick(scores.astype(np.float64), free, task(len(marked)))
    left = {j: float(scores[j]) for j in np.flatnonzero(free).tolist()}
    assert found.winner == winner(left)
    score = left.pop(found.winner)
    if not left:
        assert (found.runner_up, found.margin, found.tie) == (-1, None, False)
        return
    assert found.runner_up == winner(left)
    other = left[found.runner_up]
    assert found.margin == (0.0 if score == other else max(score - other, 0.0))
    assert found.tie == (score == other or score - other <= TOL)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=12))
def test_picking_changes_nothing(scores: list[float]) -> None:
    given_, free = np.array(scores), everybody(scores)
    pick(given_, free, task(len(scores)))
    assert given_.tolist() == scores
    assert free.all()


@pytest.mark.parametrize(
    ("scores", "first", "second", "margin", "tie"),
    [
        ([1.0, 3.0, 2.0], 1, 2, 1.0, False),
        ([-5.0, -2.0, -9.0], 1, 0, 3.0, False),  # negative scores are scores
        ([2.0, 2.0, 2.0], 0, 1, 0.0, True),
        (
            [1.0, 2.0, 2.0 + 0.5e-12],
            1,
            2,
            0.0,
            True,
        ),  # equal but for rounding: the lower index, no negative margin
        ([1.0, 2.0, 2.0 + 4e-12], 2, 1, 4e-12, False),
        ([2.0 + 0.5e-12, 2.0], 0, 1, 0.5e-12, True),
        ([-math.inf, -math.inf], 0, 1, 0.0, True),
        ([-math.inf, 1.0], 1, 0, math.inf, False),
        ([math.inf, 1.0], 0, 1, math.inf, False),
        ([1.0, math.inf, math.inf], 1, 2, 0.0, True),
        ([-math.inf, math.inf], 1, 0, math.inf, False),
    ],
)
def test_pick_by_hand(scores: list[float], first: int, second: int, margin: float, tie: bool) -> None:
    found = pick(np.array(scores), everybody(scores), task(len(scores)))
    assert (found.winner, found.runner_up, found.tie) == (first, second, tie)
    assert found.margin == pytest.approx(margin, rel=1e-3, abs=1e-15)


def test_those_who_are_not_free_do_not_count() -> None:
    scores, free = np.array([9.0, 1.0, 8.0, 1.0]), np.array([False, True, False, True])
    found = pick(scores, free, task(4))
    assert (found.winner, found.runner_up, found.margin, found.tie) == (1, 3, 0.0, True)
    alone = pick(scores, np.array([False, False, False, True]), task(4))
    assert (alone.winner, alone.runner_up, alone.margin, alone.tie) == (3, -1, None, False)


@pytest.mark.parametrize("tolerance", [0.0, 1e-10, 0.1])
def test_the_tolerance_is_the_tasks(tolerance: float) -> None:
    for unit in (1.0, 1e6):  # beyond 1 the tolerance is relative
        scores = unit * np.array([1.0, 1.0 + tolerance / 2, 1.0 + 4 * tolerance, 0.0])
        found = pick(scores, everybody(scores.tolist()), task(4, tolerance))
        assert found.winner == (2 if tolerance else 0)
        scores[2] = 0.0
        assert pick(scores, everybody(scores.tolist()), task(4, tolerance)).winner == 0
    small = 1e-3 + np.array([0.0, tolerance / 2, 2 * tolerance])  # and below 1 it is not
    assert pick(small, everybody(small.tolist()), task(3, tolerance)).winner == (2 if tolerance else 0)


@pytest.mark.parametrize("at", [0, 2, 4])
def test_nan_is_refused_by_name(at: int) -> None:
    scores = np.arange(5.0)
    scores[at] = np.nan
    with pytest.raises(ArithmeticError, match=rf"criterion 'toy' gave feature {at} the score NaN"):
        pick(scores, everybody(scores.tolist()), task(5))
    free = np.arange(5) != at
    assert pick(scores, free, task(5)).winner == (3 if at == 4 else 4)


@pytest.mark.parametrize(
    ("score", "stops"), [(0.5, False), (0.1, False), (0.1 - 1e-9, True), (-1.0, True), (-math.inf, True)]
)
def test_below_a_threshold(score: float, stops: bool) -> None:
    reason = Below(0.1).reason([], np.ones(3, np.bool_), score, None)
    assert (reason is not None) == stops
    if reason is not None:
        assert "below 0.1" in reason
    assert Below(0.1).facts() == {}


def test_exhausted_asks_the_run() -> None:
    free = np.ones(3, np.bool_)
    rule = Exhausted("toy")
    assert rule.reason([], free, 0.0, SimpleNamespace(exhausted=True)) == "information is exhausted"
    assert rule.reason([], free, 0.0, SimpleNamespace(exhausted=False)) is None
    assert rule.facts() == {}
    with pytest.raises(MismatchError, match="'toy' does not"):
        rule.reason([], free, 0.0, SimpleNamespace())
