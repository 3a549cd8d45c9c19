"""Backward elimination against its definition, on set functions given by tables: ties, infinities, interrupts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.search import TOL, Gone, backward, removals

import jifs
from jifs import registry
from jifs.errors import MismatchError
from jifs.search.backward import Backward
from jifs.search.base import Below, Outcome, Task

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass
class Table:
    """A set function by a table, which writes down what it is asked; `worth[S]` for each set of features."""

    worth: dict[frozenset[int], float]
    asked: list[list[int]] = field(default_factory=list)

    def __call__(self, stats: Any, S: Sequence[int]) -> float:
        assert len(set(S)) == len(S)
        self.asked.append(list(S))
        return self.worth[frozenset(S)]

    def plain(self, S: list[int]) -> float:
        return self.worth[frozenset(S)]


class Quick(Table):
    """With the quick way."""

    def without(self, stats: Any, S: Sequence[int]) -> np.ndarray:
        return np.array([self.worth[frozenset(S) - {j}] for j in S])


def additive(*weights: float) -> Table:
    """f(S) = the sum of the weights in S."""
    m = len(weights)
    some = (s for size in range(m + 1) for s in combinations(range(m), size))
    return Table({frozenset(s): float(sum(weights[j] for j in s)) for s in some})


def search(face: Any, m: int, k: int, **more: Any) -> Outcome:
    free = more.pop("free", np.ones(m, np.bool_))
    return Backward().run(face, None, Task(k, "toy", free=free, **more))


def order(out: Outcome) -> list[int]:
    return [s.feature for s in out.steps]


# values so near each other that the tolerance decides, far apart, large (where it is relative), and infinite
near = st.sampled_from([0.0, 0.4, 0.9, 1.1, 2.2, -0.4, -3.0]).map(lambda x: 1 + x * TOL)
large = st.sampled_from([0.0, 0.4, 1.1, -0.4]).map(lambda x: 1e6 * (1 + x * TOL))
some_value = st.one_of(
    near, near, large, st.integers(-2, 2).map(float), st.sampled_from([math.inf, -math.inf])
)


@st.composite
def asked(draw: Draw, most: int = 5) -> tuple[dict[frozenset[int], float], int, int, list[int], list[int]]:
    """A table, m, k, what is included (in any order) and what is excluded."""
    m = draw(st.integers(1, most))
    sets = [frozenset(s) for size in range(m + 1) for s in combinations(range(m), size)]
    worth = dict(zip(sets, draw(st.lists(some_value, min_size=len(sets), max_size=len(sets))), strict=True))
    mixed = draw(st.permutations(range(m)))
    first = draw(st.integers(0, min(2, m)))
    never = mixed[first : first + draw(st.integers(0, 2))]
    k = draw(st.integers(first, m - len(never)))
    return worth, m, k, mixed[:first], never


@given(asked(), st.booleans())
def test_by_definition(world: Any, quick: bool) -> None:
    worth, m, k, include, exclude = world
    face = (Quick if quick else Table)(worth)
    free = np.ones(m, np.bool_)
    free[exclude] = False
    before = free.copy()
    out = search(face, m, k, include=tuple(include), free=free)
    path = backward(face.plain, m, k, TOL, include, exclude)
    assert order(out) == path.indices
    assert [s.score for s in out.steps] == path.scores
    assert (free == before).all()
    assert not any(set(S) & set(exclude) for S in face.asked)
    gone = removals(face.plain, m, TOL, include, exclude)
    where = {g.feature: g for g in gone}
    for i, s in enumerate(out.steps):
        with_it, rest = worth[frozenset(order(out)[: i + 1])], worth[frozenset(order(out)[:i])]
        assert s.parts == {"loss": 0.0 if with_it == rest else with_it - rest}
        assert s.included == (i < len(include))
        g = Gone(s.feature) if s.included else where[s.feature]
        assert (s.runner_up, s.margin, s.tie) == (g.other, g.lead, g.tie)
    if k > len(include):
        cut = len(gone) - (k - len(include))
        assert out.facts["removed"] == [g.feature for g in gone[:cut]]
        assert out.facts["removed_by_tie"] == sum(g.tie for g in gone[:cut])
        assert out.facts["value_of_all"] == worth[frozenset(range(m)) - set(exclude)]
        assert ("cut" in out.facts) == (cut > 0)
        if cut:
            told, g = out.facts["cut"], gone[cut - 1]
            assert Gone(told["feature"], told["runner_up"], told["margin"], told["tie"]) == g
            assert told["rest"] == out.steps[-1].score


@given(asked())
def test_nothing_is_nan(world: Any) -> None:
    worth, m, k, include, exclude = world
    free = np.ones(m, np.bool_)
    free[exclude] = False
    out = search(Table(worth), m, k, include=tuple(include), free=free)
    numbers = [x for s in out.steps for x in (s.score, *s.parts.values(), s.margin) if x is not None]
    assert not any(math.isnan(x) for x in numbers)


@given(st.permutations([0.5, 1.0, 2.0, 4.0, 8.0]), st.integers(0, 5))
def test_of_a_sum_the_largest_stay(weights: list[float], k: int) -> None:
    out = search(additive(*weights), 5, k)
    assert order(out) == sorted(range(5), key=lambda j: -weights[j])[:k]
    assert [s.parts["loss"] for s in out.steps] == sorted(weights, reverse=True)[:k]


def test_by_hand() -> None:
    out = search(additive(3.0, 1.0, 7.0, 2.0), 4, 2)
    assert [(s.feature, s.score, s.parts["loss"]) for s in out.steps] == [(2, 7.0, 7.0), (0, 10.0, 3.0)]
    assert [(s.runner_up, s.margin, s.tie) for s in out.steps] == [(None, None, False), (2, 4.0, False)]
    assert out.facts == {
        "value_of_all": 13.0,
        "removed": [1, 3],
        "removed_by_tie": 0,
        "cut": {"feature": 3, "whole": 12.0, "rest": 10.0, "runner_up": 0, "margin": 1.0, "tie": False},
    }


def test_what_is_only_good_together_stays_together() -> None:
    """Where forward takes 2, the best alone, and can't see the pair."""
    face = additive(0.0, 0.0, 1.0)
    for S in face.worth:
        face.worth[S] = 5.0 + (2 in S) if {0, 1} <= S else float(2 in S)
    out = search(face, 3, 2)
    assert order(out) == [0, 1]
    assert [s.score for s in out.steps] == [0.0, 5.0]


def test_of_equals_the_lowest_stay() -> None:
    out = search(additive(1.0, 1.0, 1.0, 1.0), 4, 3)
    assert order(out) == [0, 1, 2]
    assert [s.tie for s in out.steps] == [False, True, True]
    assert [s.runner_up for s in out.steps] == [None, 0, 1]
    assert out.facts["removed_by_tie"] == 1
    assert out.facts["cut"]["runner_up"] == 2


@pytest.mark.parametrize(("apart", "kept"), [(0.5e-12, 0), (4e-12, 1)])
def test_equal_but_for_rounding_is_equal(apart: float, kept: int) -> None:
    """Feature 1 is better by a hair: within the tolerance the lower index stays, beyond it the better one."""
    out = search(additive(0.25, 0.25 + apart), 2, 1)
    assert order(out) == [kept]
    assert out.facts["cut"]["tie"] == (kept == 0)
    assert out.facts["cut"]["margin"] == pytest.approx(0.0 if kept == 0 else apart, rel=1e-3)


def test_the_tolerance_is_the_tasks() -> None:
    assert order(search(additive(1.0, 1.05), 2, 1, tolerance=0.1)) == [0]
    assert order(search(additive(1.0, 1.05), 2, 1, tolerance=0.0)) == [1]


@pytest.mark.parametrize("worth", [math.inf, -math.inf])
def test_all_infinite_goes_by_index(worth: float) -> None:
    face = additive(1.0, 1.0, 1.0, 1.0)
    face.worth = dict.fromkeys(face.worth, worth)
    out = search(face, 4, 2)
    assert order(out) == [0, 1]
    assert [s.score for s in out.steps] == [worth, worth]
    assert [s.parts["loss"] for s in out.steps] == [0.0, 0.0]
    assert out.facts["removed_by_tie"] == 2


@pytest.mark.parametrize(("whole", "empty", "loss"), [(1, -math.inf, math.inf), (-math.inf, 0, -math.inf)])
def test_a_loss_may_be_infinite(whole: float, empty: float, loss: float) -> None:
    out = search(Table({frozenset(): empty, frozenset({0}): whole}), 1, 1)
    assert [(s.score, s.parts["loss"]) for s in out.steps] == [(whole, loss)]


def test_included_features_never_go_and_keep_their_order() -> None:
    out = search(additive(3.0, 1.0, 7.0, 2.0), 4, 3, include=(3, 1))
    assert [(s.feature, s.score, s.included) for s in out.steps] == [
        (3, 2.0, True),
        (1, 3.0, True),
        (2, 10.0, False),
    ]
    assert [s.parts["loss"] for s in out.steps] == [2.0, 1.0, 7.0]
    assert out.steps[2].runner_up is None
    assert out.facts["removed"] == [0]


def test_excluded_features_are_never_there() -> None:
    face = additive(3.0, 1.0, 7.0, 2.0)
    out = search(face, 4, 4, free=np.array([True, True, False, True]))
    assert order(out) == [0, 3, 1]
    assert out.facts["removed"] == []
    assert out.facts["value_of_all"] == 6.0
    assert "cut" not in out.facts


@pytest.mark.parametrize(("k", "include"), [(0, ()), (2, (3, 1))])
def test_where_nothing_is_to_choose_nothing_is_tried(k: int, include: tuple[int, ...]) -> None:
    face = additive(3.0, 1.0, 7.0, 2.0)
    told: list[int] = []
    out = search(face, 4, k, include=include, advance=told.append)
    assert order(out) == list(include)
    assert len(face.asked) == (len(include) + 1 if include else 0)
    assert out.facts == {}
    assert told == []


def test_nothing_free() -> None:
    assert search(additive(1.0, 2.0), 2, 2, free=np.zeros(2, np.bool_)).steps == []
    one = search(additive(1.0, 2.0), 2, 2, free=np.array([True, False]), include=(0,))
    assert order(one) == [0]


def test_no_set_is_asked_for_twice() -> None:
    face = additive(3.0, 1.0, 7.0, 2.0, 5.0)
    search(face, 5, 2)
    assert len(face.asked) == 2 + 5 + 4 + 3 + 2
    assert len({frozenset(S) for S in face.asked}) == len(face.asked)


def test_every_removal_is_told() -> None:
    told: list[int] = []
    task = Task(2, "toy", free=np.ones(4, np.bool_), include=(1,), advance=told.append)
    out = Backward().run(additive(3.0, 1.0, 7.0, 2.0), None, task)
    assert told == [3, 0, 2]
    assert len(told) == Backward().total(task)
    assert order(out) == [1, 2]
    assert Backward().total(Task(1, "toy", free=np.ones(4, np.bool_), include=(1,))) == 0


def test_who_changes_the_list_changes_nothing() -> None:
    class Careless(Quick):
        def __call__(self, stats: Any, S: Any) -> float:
            value = super().__call__(stats, S)
            S.clear()
            return value

        def without(self, stats: Any, S: Any) -> np.ndarray:
            values = super().without(stats, S)
            S.clear()
            return values

    worth = additive(3.0, 1.0, 7.0, 2.0).worth
    assert order(search(Careless(worth), 4, 2, include=(1,))) == [1, 2]


# ---- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flaw", "says"),
    [
        ({0, 2}, r"^criterion 'toy' gave the set of 3 features without feature 1 the value NaN"),
        ({2}, r"gave the set of 2 features without feature 0 the value NaN"),
        ({0, 1, 2}, r"gave the set \[0, 1, 2\] the value NaN"),
        (set(), r"gave the set \[\] the value NaN"),
    ],
)
@pytest.mark.parametrize("kind", [Table, Quick])
def test_nan_is_refused_by_name(kind: Any, flaw: set[int], says: str) -> None:
    worth = additive(1.0, 0.5, 2.0).worth
    worth[frozenset(flaw)] = math.nan
    with pytest.raises(ArithmeticError, match=says):
        search(kind(worth), 3, 1)


def test_nan_where_nobody_looks() -> None:
    """Without an included feature: the quick way values that set too, and it means nothing."""
    worth = additive(1.0, 0.5, 2.0).worth
    for S in worth:
        worth[S] = worth[S] if 1 in S or not S else math.nan
    assert order(search(Quick(worth), 3, 2, include=(1,))) == [1, 2]


@pytest.mark.parametrize("given_", [np.zeros(2), np.zeros((3, 1)), 0.0])
def test_a_wrong_number_of_values_is_refused(given_: Any) -> None:
    class Wrong(Table):
        def without(self, stats: Any, S: Sequence[int]) -> Any:
            return given_

    with pytest.raises(MismatchError, match=r"criterion 'toy' gave \d values for 3 sets without one feature"):
        search(Wrong(additive(1.0, 2.0, 3.0).worth), 3, 1)


def test_stop_rules_are_refused_before_any_work() -> None:
    face = additive(1.0, 2.0)
    with pytest.raises(MismatchError, match=r"'backward' .* leave stop out, or use strategy 'forward'"):
        search(face, 2, 1, stop=Below(0.0))
    assert face.asked == []


# ---- interrupts ----------------------------------------------------------------------------------------------------


def interrupted(at: int, k: int, include: tuple[int, ...]) -> Outcome | None:
    """The search when its `at`-th question is cut off; None if the interrupt went on."""

    class Cut(Table):
        def __call__(self, stats: Any, S: Sequence[int]) -> float:
            if len(self.asked) == at:
                raise KeyboardInterrupt
            return super().__call__(stats, S)

    try:
        return search(Cut(additive(3.0, 1.0, 7.0, 2.0, 5.0).worth), 5, k, include=include)
    except KeyboardInterrupt:
        return None


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("include", [(), (1,)])
def test_an_interrupt_keeps_who_is_left(k: int, include: tuple[int, ...]) -> None:
    if k == len(include):
        return
    gone = [j for j in (1, 3, 0, 4, 2) if j not in include]  # the whole way
    asked_before = 2 + len(include)  # the empty set, the included ones, all
    questions = range(asked_before + sum(range(2, len(gone) + 1)))
    sizes = iter([size for size in range(len(gone), 1, -1) for _ in range(size)])
    for at in questions:
        out = interrupted(at, k, include)
        done = 0 if at < asked_before else len(gone) - next(sizes)
        if done == 0:
            assert out is None
            continue
        assert out is not None
        loose, count = sorted(gone[done:]), max(k, 5 - done)
        assert order(out) == [*include, *loose, *gone[:done][::-1]][:count]
        assert out.facts["stopped"].startswith(f"interrupted with {count} features left")
        assert out.facts["stopped"].endswith("order") == (5 - done <= k)
        assert out.facts["removed"] == [j for j in gone if j not in order(out)]
        worth = additive(3.0, 1.0, 7.0, 2.0, 5.0).worth
        left = worth[frozenset([*include, *loose])]
        for i, s in enumerate(out.steps):
            assert s.score == (left if s.feature in loose else worth[frozenset(order(out)[: i + 1])])
            assert bool(s.parts) == (s.feature not in loose)


def test_an_interrupt_between_two_removals() -> None:
    def advance(j: int) -> None:
        if j == 3:
            raise KeyboardInterrupt

    out = search(additive(3.0, 1.0, 7.0, 2.0), 4, 1, advance=advance)
    assert order(out) == [0, 2]
    assert out.facts["stopped"] == "interrupted with 2 features left"


def test_an_interrupt_after_the_last_removal() -> None:
    """All is done, and nothing is said of an order that would be missing."""

    def advance(j: int) -> None:
        if j == 2:
            raise KeyboardInterrupt

    out = search(additive(3.0, 1.0, 7.0, 2.0), 4, 2, advance=advance)
    assert order(out) == [2, 0]
    assert out.facts["stopped"] == "interrupted with 2 features left"


def test_an_error_goes_on() -> None:
    def face(stats: Any, S: Sequence[int]) -> float:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        search(face, 2, 1)


# ---- in a selection ------------------------------------------------------------------------------------------------


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The criterion `together`: features 0 and 3 are worth 5 together; each feature costs, the later the more."""
    for kind in registry.KINDS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))

    @jifs.criterion("together")
    @dataclass(frozen=True)
    class Together:
        bonus: float = 5.0

        def value(self, stats: Any, S: Sequence[int]) -> float:
            return self.bonus * ({0, 3} <= set(S)) - 0.25 * sum(S)


X, Y = np.random.default_rng(0).integers(0, 3, (30, 5)), np.arange(30) % 2


@pytest.mark.usefixtures("toy")
def test_in_a_selection() -> None:
    result = jifs.select(X, Y, 2, "together", strategy="backward")
    assert result.indices.tolist() == [0, 3]
    assert result.scores.tolist() == [0.0, 4.25]
    assert result.strategy == "backward"
    assert result.part_names() == ("loss",)
    assert result.facts["removed"] == [4, 2, 1]
    assert jifs.Result.from_json(result.to_json()).same_as(result)
    assert "loss" in str(result)
    none = jifs.select(X, Y, 2, "together", strategy="backward", params={"bonus": 0.0})
    assert none.indices.tolist() == [0, 1]


@pytest.mark.usefixtures("toy")
def test_include_and_exclude_in_a_selection() -> None:
    result = jifs.select(X, Y, 3, "together", strategy="backward", include=["x4"], exclude=[3])
    assert result.indices.tolist() == [4, 0, 1]
    assert [step.included for step in result.trace] == [True, False, False]
    every = jifs.select(X, Y, 5, "together", strategy="backward")
    assert sorted(every.indices.tolist()) == [0, 1, 2, 3, 4]
    assert jifs.select(X, Y, 0, "together", strategy="backward").indices.size == 0


@pytest.mark.usefixtures("toy")
def test_a_stop_rule_in_a_selection_is_refused() -> None:
    with pytest.raises(MismatchError, match=r"leave stop out"):
        jifs.select(X, Y, 2, "together", strategy="backward", stop=0.1)


def test_what_it_says_of_itself() -> None:
    assert (Backward.name, Backward.needs) == ("backward", "sets")
