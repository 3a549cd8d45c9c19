"""Exhaustive search against its definition, on set functions given by tables: ties, limits, infinities, interrupts."""

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
from naive.search import TOL, best_set, exhaustive, least

import jifs
from jifs import registry
from jifs.errors import InputError, MismatchError
from jifs.search.base import Below, Outcome, Task
from jifs.search.exhaustive import TICKS, Exhaustive

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


def additive(*weights: float) -> Table:
    """f(S) = the sum of the weights in S."""
    m = len(weights)
    some = (s for size in range(m + 1) for s in combinations(range(m), size))
    return Table({frozenset(s): float(sum(weights[j] for j in s)) for s in some})


def search(face: Any, m: int, k: int, limit: int = 1000, **more: Any) -> Outcome:
    free = more.pop("free", np.ones(m, np.bool_))
    return Exhaustive(limit).run(face, None, Task(k, "toy", free=free, **more))


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
    some = draw(st.sampled_from([some_value, near]))
    worth = dict(zip(sets, draw(st.lists(some, min_size=len(sets), max_size=len(sets))), strict=True))
    mixed = draw(st.permutations(range(m)))
    first = draw(st.integers(0, min(2, m)))
    never = mixed[first : first + draw(st.integers(0, 2))]
    k = draw(st.integers(first, m - len(never)))
    return worth, m, k, mixed[:first], never


@given(asked())
def test_by_definition(world: Any) -> None:
    worth, m, k, include, exclude = world
    face = Table(worth)
    free = np.ones(m, np.bool_)
    free[exclude] = False
    before = free.copy()
    out = search(face, m, k, include=tuple(include), free=free)
    path = exhaustive(face.plain, m, k, TOL, include, exclude)
    assert order(out) == path.indices
    assert [s.score for s in out.steps] == path.scores
    assert [s.included for s in out.steps] == [i < len(include) for i in range(k)]
    assert (free == before).all()
    assert not any(set(S) & set(exclude) for S in face.asked)
    if k == len(include):
        assert out.facts == {}
        return
    second = best_set(face.plain, m, k, TOL, include, exclude, without=sorted(path.indices))
    assert out.facts["value"] == path.scores[-1]
    assert out.facts["sets_evaluated"] == math.comb(m - len(include) - len(exclude), k - len(include))
    assert out.facts["runner_up_set"] == second
    if second is None:
        assert (out.facts["margin"], out.facts["tie"]) == (None, False)
    else:
        own, other = path.scores[-1], face.plain(second)
        assert out.facts["margin"] == (own - other if own > other else 0.0)
        assert out.facts["tie"] == (other >= least(own, TOL))


@given(asked())
def test_the_trace_of_the_order(world: Any) -> None:
    """Runner-up, margin and tie are those of forward selection inside the set."""
    worth, m, k, include, exclude = world
    free = np.ones(m, np.bool_)
    free[exclude] = False
    out = search(Table(worth), m, k, include=tuple(include), free=free)
    for i, s in enumerate(out.steps):
        rest = order(out)[i + 1 :]
        if s.included or not rest:
            assert (s.runner_up, s.margin, s.tie) == (None, None, False)
            continue
        after = {j: worth[frozenset([*order(out)[:i], j])] for j in sorted(rest)}
        top = least(max(after.values()), TOL)
        assert s.runner_up == min(j for j, value in after.items() if value >= top)
        other = after[s.runner_up]
        assert s.margin == (s.score - other if s.score > other else 0.0)
        assert s.tie == (other >= least(s.score, TOL))


@given(st.permutations([0.5, 1.0, 2.0, 4.0, 8.0]), st.integers(0, 5))
def test_of_a_sum_the_largest_are_taken(weights: list[float], k: int) -> None:
    assert order(search(additive(*weights), 5, k)) == sorted(range(5), key=lambda j: -weights[j])[:k]


def test_by_hand() -> None:
    """Forward would take 2 and backward would drop it; both miss the best pair."""
    face = additive(1.0, 2.0, 4.0, 3.0)
    face.worth[frozenset({0, 3})] = 9.0
    out = search(face, 4, 2)
    assert [(s.feature, s.score, s.runner_up, s.margin) for s in out.steps] == [
        (3, 3.0, 0, 2.0),
        (0, 9.0, None, None),
    ]
    assert all(s.parts == {} for s in out.steps)
    assert out.facts == {
        "sets_evaluated": 6,
        "value": 9.0,
        "runner_up_set": [2, 3],
        "margin": 2.0,
        "tie": False,
    }


def test_of_equals_the_first_in_the_dictionary() -> None:
    out = search(additive(0.0, 1.0, 1.0, 1.0), 4, 2)
    assert order(out) == [1, 2]
    assert out.facts["runner_up_set"] == [1, 3]
    assert (out.facts["margin"], out.facts["tie"]) == (0.0, True)
    with_included = search(additive(0.0, 1.0, 1.0, 1.0), 4, 2, include=(3,))
    assert order(with_included) == [3, 1]
    assert with_included.facts["runner_up_set"] == [2, 3]


def test_a_better_set_seen_later_does_not_hide_one_that_is_level_with_it() -> None:
    """Each within the tolerance of the next: who wins is judged by the best of all, not by the best so far."""
    values = [1.0, 1.0 + 0.8 * TOL, 1.0 + 1.6 * TOL, 1.0 + 0.9 * TOL]
    out = search(Table({frozenset({j}): v for j, v in enumerate(values)}), 4, 1)
    assert order(out) == [1]
    assert out.facts["runner_up_set"] == [2]


def test_the_tolerance_is_the_tasks() -> None:
    assert order(search(additive(1.0, 1.05), 2, 1, tolerance=0.1)) == [0]
    assert order(search(additive(1.0, 1.05), 2, 1, tolerance=0.0)) == [1]


@pytest.mark.parametrize("worth", [math.inf, -math.inf])
def test_all_infinite_goes_by_index(worth: float) -> None:
    face = additive(1.0, 1.0, 1.0)
    face.worth = dict.fromkeys(face.worth, worth)
    out = search(face, 3, 2)
    assert order(out) == [0, 1]
    assert out.facts == {
        "sets_evaluated": 3,
        "value": worth,
        "runner_up_set": [0, 2],
        "margin": 0.0,
        "tie": True,
    }


def test_one_set_alone_has_no_second() -> None:
    out = search(additive(1.0, 3.0, 2.0), 3, 3)
    assert order(out) == [1, 2, 0]
    assert out.facts["sets_evaluated"] == 1
    assert (out.facts["runner_up_set"], out.facts["margin"]) == (None, None)
    few = search(additive(1.0, 3.0, 2.0), 3, 3, free=np.array([True, False, True]))
    assert order(few) == [2, 0]


@pytest.mark.parametrize(("k", "include"), [(0, ()), (2, (3, 1))])
def test_where_nothing_is_to_choose_nothing_is_tried(k: int, include: tuple[int, ...]) -> None:
    face = additive(3.0, 1.0, 7.0, 2.0)
    told: list[int] = []
    out = search(face, 4, k, include=include, advance=told.append)
    assert [(s.feature, s.included) for s in out.steps] == [(j, True) for j in include]
    assert face.asked == [list(include[: i + 1]) for i in range(len(include))]
    assert (out.facts, told) == ({}, [])


def test_nothing_free() -> None:
    assert search(additive(1.0, 2.0), 2, 2, free=np.zeros(2, np.bool_)).steps == []


def test_who_changes_the_list_changes_nothing() -> None:
    class Careless(Table):
        def __call__(self, stats: Any, S: Any) -> float:
            value = super().__call__(stats, S)
            S.clear()
            return value

    assert order(search(Careless(additive(3.0, 1.0, 7.0, 2.0).worth), 4, 2, include=(1,))) == [1, 2]


@pytest.mark.parametrize(("m", "k"), [(4, 2), (20, 3), (100, 1), (101, 1), (7, 7), (5, 0)])
def test_the_bar_moves_to_its_end(m: int, k: int) -> None:
    told: list[int] = []
    task = Task(k, "toy", free=np.ones(m, np.bool_), advance=told.append)
    Exhaustive().run(lambda stats, S: float(sum(S)), None, task)
    assert len(told) == Exhaustive().total(task) == (min(math.comb(m, k), TICKS) if k else 0)
    assert told == sorted(told)


# ---- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "k", "limit", "says"),
    [
        (
            10,
            5,
            251,
            r"would compare 252 sets of size 5, and its limit is 251; k = 4 or less, or 1 more feature in",
        ),
        (10, 5, 45, r"its limit is 45; k = 2 or less, or 3 more features in exclude would do\.$"),
        (10, 9, 9, r"10 sets of size 9, and its limit is 9; 1 more feature in exclude would do\.$"),
        (10, 5, 1, r"its limit is 1; 5 more features in exclude would do\.$"),
        (
            100,
            10,
            10**6,
            r"17,310,309,456,440 sets .* limit is 1,000,000; k = 3 or less, or 78 more features in",
        ),
        (
            1000,
            100,
            10**6,
            r"would compare about 10\^139 sets of size 100, .* k = 2 or less, or 897 more features",
        ),
        (20_000, 10_000, 10**6, r"about 10\^6018 sets .* k = 1 or less, or 9,999 more features"),
    ],
)
def test_too_many_sets_are_refused_before_any_work(m: int, k: int, limit: int, says: str) -> None:
    task = Task(k, "toy", free=np.ones(m, np.bool_))
    with pytest.raises(InputError, match=says):
        Exhaustive(limit).run(lambda stats, S: pytest.fail("asked"), None, task)
    assert Exhaustive(limit).total(task) <= TICKS  # a bar may be made before the refusal


@given(st.integers(2, 30), st.data())
def test_what_the_refusal_says_would_do(m: int, data: st.DataObject) -> None:
    """Both ways out are let by, and one step less would not be."""
    k = data.draw(st.integers(1, m - 1))
    limit = data.draw(st.integers(1, math.comb(m, k) - 1))
    with pytest.raises(InputError) as refusal:
        search(lambda stats, S: 0.0, m, k, limit)
    words = str(refusal.value).split("; ")[1].replace(",", "").split()
    more = int(words[words.index("more") - 1])
    assert math.comb(m - more, k) <= limit < math.comb(m - more + 1, k)
    fewer = int(words[2]) if words[0] == "k" else 0
    assert all(math.comb(m, s) <= limit for s in range(fewer + 1))
    assert math.comb(m, fewer + 1) > limit


def test_the_limit_counts_what_is_free() -> None:
    face, free = additive(1.0, 2.0, 3.0, 4.0, 5.0), np.array([True, True, True, True, False])
    assert order(search(face, 5, 3, limit=3, include=(0,), free=free)) == [0, 3, 2]
    with pytest.raises(InputError, match=r"3 sets of size 3, and its limit is 2; 1 more feature in exclude"):
        search(face, 5, 3, limit=2, include=(0,), free=free)
    with pytest.raises(InputError, match=r"6 sets of size 3, and its limit is 5; k = 2 or less, or 1 more"):
        search(face, 5, 3, limit=5, include=(0,))


@pytest.mark.parametrize("limit", [0, -1, 2.5, 1e6, True, "10", None, math.inf])
def test_a_limit_that_is_none(limit: Any) -> None:
    with pytest.raises(InputError, match="limit must be a whole number of sets, from 1 on, not "):
        Exhaustive(limit)


def test_limits_that_are_some() -> None:
    assert Exhaustive().limit == 1_000_000
    task = Task(2, "toy", free=np.ones(3, np.bool_))
    assert order(Exhaustive(np.int64(3)).run(additive(1.0, 2.0, 3.0), None, task)) == [2, 1]


@pytest.mark.parametrize(("flaw", "k"), [({0, 2}, 2), ({1, 2}, 2), ({2}, 2), ({1}, 1)])
def test_nan_is_refused_by_name(flaw: set[int], k: int) -> None:
    """Wherever it stands: among the sets, or on the way when the best set is put in order."""
    worth = additive(1.0, 0.5, 2.0).worth
    worth[frozenset(flaw)] = math.nan
    with pytest.raises(
        ArithmeticError, match=r"^criterion 'toy' gave the set \[.*\] the value NaN"
    ) as refusal:
        search(Table(worth), 3, k)
    assert str(sorted(flaw)) in str(refusal.value)


def test_a_long_set_is_named_in_short() -> None:
    with pytest.raises(ArithmeticError, match=r"the set \[0, 1, 2, 3, 4, 5, 6, 7, \.\.\.\] the value NaN"):
        search(lambda stats, S: math.nan, 30, 30)


def test_stop_rules_are_refused_before_any_work() -> None:
    face = additive(1.0, 2.0)
    with pytest.raises(MismatchError, match=r"'exhaustive' .* leave stop out, or use strategy 'forward'"):
        search(face, 2, 1, stop=Below(0.0))
    assert face.asked == []


# ---- interrupts ----------------------------------------------------------------------------------------------------


def interrupted(*at: int) -> Outcome | None:
    """The search for 3 of 5 when these questions are cut off; None if the interrupt went on."""
    count = 0

    class Cut(Table):
        def __call__(self, stats: Any, S: Sequence[int]) -> float:
            nonlocal count
            count += 1
            if count - 1 in at:
                raise KeyboardInterrupt
            return super().__call__(stats, S)

    try:
        return search(Cut(additive(3.0, 1.0, 7.0, 2.0, 5.0).worth), 5, 3)
    except KeyboardInterrupt:
        return None


SETS = list(combinations(range(5), 3))


@pytest.mark.parametrize("at", range(1, len(SETS)))
def test_an_interrupt_keeps_the_best_by_then(at: int) -> None:
    out = interrupted(at)
    assert out is not None
    worth = additive(3.0, 1.0, 7.0, 2.0, 5.0).worth
    best = max(SETS[:at], key=lambda S: worth[frozenset(S)])
    assert sorted(order(out)) == list(best)
    assert (
        order(out)
        == exhaustive(lambda S: worth[frozenset(S)], 5, 3, exclude=set(range(5)) - set(best)).indices
    )
    assert out.facts["stopped"] == f"interrupted after {at} of 10 sets"
    assert out.facts["sets_evaluated"] == at
    assert out.facts["value"] == out.steps[-1].score == worth[frozenset(best)]


def test_an_interrupt_with_nothing_to_keep_goes_on() -> None:
    assert interrupted(0) is None


@pytest.mark.parametrize(
    ("at", "kept", "scores"),
    [
        ((10,), [0, 2, 4], [15.0, 15.0, 15.0]),
        ((12,), [0, 2, 4], [15.0, 15.0, 15.0]),
        ((13,), [2, 0, 4], [7.0, 15.0, 15.0]),
        ((14,), [2, 0, 4], [7.0, 15.0, 15.0]),
    ],
)
def test_an_interrupt_while_the_best_set_is_put_in_order(
    at: tuple[int, ...], kept: list[int], scores: list[float]
) -> None:
    """The set is known; those without a place come by index, with the value of the set."""
    out = interrupted(*at)
    assert out is not None
    assert order(out) == kept
    assert [s.score for s in out.steps] == scores
    assert out.facts["stopped"] == "interrupted after 10 sets, before the best was in order"
    assert out.facts["sets_evaluated"] == 10


def test_two_interrupts() -> None:
    out = interrupted(4, 5)
    assert out is not None
    assert order(out) == [0, 2, 3]
    assert out.facts["stopped"] == "interrupted after 4 of 10 sets"


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
    result = jifs.select(X, Y, 2, "together", strategy="exhaustive")
    assert result.indices.tolist() == [0, 3]
    assert result.scores.tolist() == [0.0, 4.25]
    assert result.strategy == "exhaustive"
    assert result.facts["sets_evaluated"] == 10
    assert result.facts["runner_up_set"] == [0, 1]
    again = jifs.Result.from_json(result.to_json())
    assert again.same_as(result)
    assert again.facts["margin"] == result.facts["margin"] == 4.5
    assert jifs.select(X, Y, 1, "together", strategy="exhaustive").indices.tolist() == [0]
    assert jifs.select(X, Y, 0, "together", strategy="exhaustive").indices.size == 0


@pytest.mark.usefixtures("toy")
def test_include_and_exclude_in_a_selection() -> None:
    result = jifs.select(X, Y, 3, "together", strategy="exhaustive", include=["x4"], exclude=[1])
    assert result.indices.tolist() == [4, 0, 3]
    assert [step.included for step in result.trace] == [True, False, False]
    assert result.facts["runner_up_set"] == [0, 2, 4]


@pytest.mark.usefixtures("toy")
def test_too_many_in_a_selection() -> None:
    wide = np.tile(X, 20)
    with pytest.raises(
        InputError, match=r"75,287,520 sets of size 5, .* k = 3 or less, or 57 more features in"
    ):
        jifs.select(wide, Y, 5, "together", strategy="exhaustive")


@pytest.mark.usefixtures("toy")
def test_a_stop_rule_in_a_selection_is_refused() -> None:
    with pytest.raises(MismatchError, match=r"leave stop out"):
        jifs.select(X, Y, 2, "together", strategy="exhaustive", stop="exhausted")


def test_what_it_says_of_itself() -> None:
    assert (Exhaustive.name, Exhaustive.needs) == ("exhaustive", "sets")
    assert registry.find("strategy", "exhaustive").params == {"limit": 1_000_000}
