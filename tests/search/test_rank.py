"""Ranking: the k best by their own scores, with the same rule of ties and the same trace as a search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.search import TOL, rank, winner

from jifs.search.base import Below, Task
from jifs.search.rank import Rank


def search(scores: Any, k: int, **more: Any) -> Any:
    m = len(scores)
    free = more.pop("free", np.ones(m, np.bool_))
    return Rank().run(lambda stats: scores, None, Task(k, "toy", free=free, **more))


# chains of scores each within the tolerance of the next: the cut at k must not lose one that a tie would choose
level = st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 3.0]).map(lambda x: 1 + x * TOL)
some_scores = st.lists(st.one_of(level, level, st.integers(-3, 3).map(float)), min_size=1, max_size=25)


@given(some_scores, st.data())
def test_by_definition(scores: list[float], data: st.DataObject) -> None:
    m = len(scores)
    order = data.draw(st.permutations(range(m)))
    include = order[: data.draw(st.integers(0, min(2, m)))]
    exclude = [j for j in order[::-1][: data.draw(st.integers(0, 3))] if j not in include]
    k = data.draw(st.integers(len(include), m))
    free = np.ones(m, np.bool_)
    free[exclude] = False
    out = search(np.array(scores), k, include=tuple(include), free=free)
    left = {j: s for j, s in enumerate(scores) if free[j] and j not in include}
    assert [s.feature for s in out.steps[: len(include)]] == include
    for step in out.steps[len(include) :]:
        assert step.feature == winner(left, TOL)
        assert step.score == left.pop(step.feature)
        if left:
            assert step.runner_up == winner(left, TOL)
            assert step.margin == max(step.score - left[step.runner_up], 0.0)
            assert step.tie == (step.margin <= TOL)
        else:
            assert (step.runner_up, step.margin, step.tie) == (None, None, False)
    assert len(out.steps) == min(k, m - len(exclude))


@given(some_scores, st.integers(0, 25))
def test_the_order_is_that_of_the_definition(scores: list[float], k: int) -> None:
    assert [s.feature for s in search(np.array(scores), k).steps] == rank(scores, k)


def test_by_hand() -> None:
    out = search(np.array([0.5, -1.0, 2.0, 2.0, 0.0]), 4)
    assert [s.feature for s in out.steps] == [2, 3, 0, 4]
    assert [s.tie for s in out.steps] == [True, False, False, False]
    assert [s.margin for s in out.steps] == [0.0, 1.5, 0.5, 1.0]
    assert [s.runner_up for s in out.steps] == [3, 0, 4, 1]
    assert out.weights.tolist() == [0.5, -1.0, 2.0, 2.0, 0.0]


def test_weights_are_the_scores_of_all() -> None:
    out = search([3, 1, 2], 1, free=np.array([False, True, True]))
    assert out.weights.dtype == np.float64
    assert out.weights.tolist() == [3.0, 1.0, 2.0]
    assert [(s.feature, s.score) for s in out.steps] == [(2, 2.0)]


def test_included_features_keep_their_scores() -> None:
    out = search(np.array([0.0, 5.0, 3.0, 4.0]), 3, include=(0, 2))
    assert [(s.feature, s.score, s.included) for s in out.steps] == [
        (0, 0.0, True),
        (2, 3.0, True),
        (1, 5.0, False),
    ]
    assert out.steps[2].runner_up == 3


def test_a_threshold_ends_the_ranking() -> None:
    asked: list[Any] = []

    class Rule(Below):
        def reason(self, taken: list[int], free: np.ndarray, score: float, run: Any) -> str | None:
            asked.append((list(taken), np.flatnonzero(free).tolist(), score))
            return super().reason(taken, free, score, run)

    out = search(np.array([1.0, 5.0, 3.0, 4.0]), 4, include=(0,), stop=Rule(3.5))
    assert [s.feature for s in out.steps] == [0, 1, 3]
    assert out.facts["stopped"] == "best score 3 is below 3.5"
    assert asked == [([0], [1, 2, 3], 5.0), ([0, 1], [2, 3], 4.0), ([0, 1, 3], [2], 3.0)]


def test_every_step_is_told() -> None:
    told: list[int] = []
    search(np.array([1.0, 5.0, 3.0]), 3, include=(2,), advance=told.append)
    assert told == [2, 1, 0]


def test_nothing_free_is_nothing_taken() -> None:
    assert search(np.ones(3), 2, free=np.zeros(3, np.bool_)).steps == []
    assert search(np.ones(3), 0).steps == []


@pytest.mark.parametrize("k", [1, 3, 5])
def test_nan_is_refused_by_name_wherever_it_would_stand(k: int) -> None:
    scores = np.array([5.0, np.nan, 3.0, 2.0, 1.0])
    with pytest.raises(ArithmeticError, match=r"criterion 'toy' gave feature 1 the score NaN"):
        search(scores, k)


def test_what_it_says_of_itself() -> None:
    assert (Rank.name, Rank.needs) == ("rank", "ranks")
