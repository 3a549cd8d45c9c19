"""A quadratic form made ready for a relaxation: what is included is fixed, what is excluded is gone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jifs.errors import MismatchError
from jifs.search.base import Task
from jifs.search.form import by_weight, first_steps, in_order, read_form, read_pairs


def form(m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """q and a Q that is not symmetric and has a diagonal of its own: only sum_{i != j} Q_ij counts."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=m), rng.normal(size=(m, m))


def worth(q: np.ndarray, Q: np.ndarray, S: Any) -> float:
    return float(sum(q[i] for i in S) + sum(Q[i, j] for i in S for j in S if i != j))


def task(m: int, k: int, include: Any = (), exclude: Any = ()) -> Task:
    free = np.ones(m, np.bool_)
    free[list(exclude)] = False
    return Task(k, "toy", include=tuple(include), free=free)


@given(st.integers(1, 6), st.integers(0, 10**6), st.data())
def test_every_set_keeps_its_value(m: int, seed: int, data: Any) -> None:
    q, Q = form(m, seed)
    mixed = data.draw(st.permutations(range(m)))
    fixed = data.draw(st.integers(0, m))
    include, exclude = mixed[:fixed], mixed[fixed : fixed + data.draw(st.integers(0, 2))]
    k = data.draw(st.integers(fixed, m - len(exclude)))
    ready = read_form(lambda stats: (q, Q), None, task(m, k, include, exclude))
    assert ready.members == sorted(set(range(m)) - set(include) - set(exclude))
    assert ready.size == k - fixed
    assert ready.unwanted == []
    for places in itertools.combinations(range(len(ready.members)), ready.size):
        S = [*include, *(ready.members[p] for p in places)]
        assert ready.value(places) == pytest.approx(worth(q, Q, S), abs=1e-10)


def test_the_included_are_listed_with_the_value_so_far() -> None:
    q, Q = form(6, 3)
    steps = first_steps(q, Q, task(6, 4, include=[4, 0, 2]))
    assert [s.feature for s in steps] == [4, 0, 2]
    assert all(s.included for s in steps)
    expected = [worth(q, Q, [4]), worth(q, Q, [4, 0]), worth(q, Q, [4, 0, 2])]
    assert [s.score for s in steps] == pytest.approx(expected)


def test_a_set_in_order() -> None:
    q, Q = form(7, 4)
    asked = task(7, 6, include=[1], exclude=[5])
    ready = read_form(lambda stats: (q, Q), None, asked)
    steps = first_steps(q, Q, asked)
    chosen = [ready.members.index(j) for j in (6, 0, 3, 4)]
    in_order(ready, chosen, asked, steps)
    S = [1]
    for step in steps[1:]:
        options = {j: worth(q, Q, [*S, j]) for j in (6, 0, 3, 4) if j not in S}
        assert step.feature == max(options, key=lambda j: options[j])
        assert step.score == pytest.approx(options[step.feature])
        behind = sorted(options.values())[-2] if len(options) > 1 else None
        assert step.margin == (None if behind is None else pytest.approx(step.score - behind))
        S.append(step.feature)
    assert sorted(S) == [0, 1, 3, 4, 6]


def test_the_unwanted_come_last() -> None:
    q, Q = form(5, 5)
    q[[1, 3]] = -np.inf
    ready = read_form(lambda stats: (q, Q), None, task(5, 4, exclude=[3]))
    assert (ready.members, ready.unwanted, ready.size) == ([0, 2, 4], [1], 3)
    out = by_weight(np.array([0.2, 0.0, 0.0, 0.0, 0.7]), [1], None, task(5, 4, exclude=[3]))
    assert [s.feature for s in out.steps] == [4, 0, 2, 1]
    assert [s.score for s in out.steps] == [0.7, 0.2, 0.0, 0.0]
    assert out.weights is not None
    assert out.weights.tolist() == [0.2, 0.0, 0.0, 0.0, 0.7]


def test_flaws_are_said() -> None:
    good = task(3, 2)
    with pytest.raises(
        MismatchError, match=r"'toy' gave q and Q of shapes \(2,\) and \(3, 3\) for 3 features"
    ):
        read_pairs(lambda stats: (np.zeros(2), np.zeros((3, 3))), None, good)
    for q, Q in (
        (np.array([0.0, np.nan, 0.0]), np.zeros((3, 3))),
        (np.array([0.0, np.inf, 0.0]), np.zeros((3, 3))),
        (np.zeros(3), np.full((3, 3), -np.inf)),
    ):
        with pytest.raises(
            ArithmeticError, match="'toy' gave a form with entries that are no finite numbers"
        ):
            read_pairs(lambda stats, q=q, Q=Q: (q, Q), None, good)
