"""Floating search against its definition, on set functions given by tables: ties, infinities, interrupts."""

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
from naive.search import TOL, floating, forward, least

import jifs
from jifs import registry
from jifs.errors import InputError, MismatchError
from jifs.search.base import Below, Outcome, Task
from jifs.search.floating import Floating

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


def subsets(m: int) -> list[frozenset[int]]:
    return [frozenset(s) for size in range(m + 1) for s in combinations(range(m), size)]


def additive(*weights: float) -> Table:
    """f(S) = the sum of the weights in S."""
    return Table({S: float(sum(weights[j] for j in S)) for S in subsets(len(weights))})


def looking_back() -> Table:
    """Feature 0 is the best alone, but 1, 2 and 3 are better together, and best of all with 4."""
    worth = {S: float(len(S)) for S in subsets(5)}
    worth[frozenset({0})] = 5.0
    worth |= {frozenset({0, 1}): 6.0, frozenset({0, 1, 2}): 7.0, frozenset({1, 2}): 6.5}
    worth |= {frozenset({1, 2, 3}): 8.0, frozenset({1, 2, 3, 4}): 9.0, frozenset({0, 1, 2, 3}): 7.5}
    return Table(worth)


def search(face: Any, m: int, k: int, beyond: int = 0, **more: Any) -> Outcome:
    free = more.pop("free", np.ones(m, np.bool_))
    return Floating(beyond).run(face, None, Task(k, "toy", free=free, **more))


def order(out: Outcome) -> list[int]:
    return [s.feature for s in out.steps]


# values so near each other that the tolerance decides, far apart, large (where it is relative), and infinite
near = st.sampled_from([0.0, 0.4, 0.9, 1.1, 2.2, -0.4, -3.0]).map(lambda x: 1 + x * TOL)
large = st.sampled_from([0.0, 0.4, 1.1, -0.4]).map(lambda x: 1e6 * (1 + x * TOL))
apart = st.integers(-20, 20).map(float)
some_value = st.one_of(near, large, apart, st.sampled_from([math.inf, -math.inf]))


@st.composite
def asked(draw: Draw, most: int = 6) -> tuple[dict[frozenset[int], float], int, int, list[int], list[int]]:
    """A table, m, k, what is included (in any order) and what is excluded."""
    m = draw(st.integers(1, most))
    some = draw(st.sampled_from([some_value, near, apart]))
    size = 2**m
    worth = dict(zip(subsets(m), draw(st.lists(some, min_size=size, max_size=size)), strict=True))
    mixed = draw(st.permutations(range(m)))
    first = draw(st.integers(0, min(2, m)))
    never = mixed[first : first + draw(st.integers(0, 2))]
    k = draw(st.integers(first, m - len(never)))
    return worth, m, k, mixed[:first], never


@given(asked(), st.booleans(), st.integers(0, 2))
def test_by_definition(world: Any, quick: bool, beyond: int) -> None:
    worth, m, k, include, exclude = world
    face = (Quick if quick else Table)(worth)
    free = np.ones(m, np.bool_)
    free[exclude] = False
    before = free.copy()
    out = search(face, m, k, beyond, include=tuple(include), free=free)
    if k == len(include):
        assert (order(out), out.facts) == (include, {})
        return
    slow = floating(face.plain, m, k + beyond, TOL, include, exclude)
    assert order(out) == slow.best[k]
    assert [s.score for s in out.steps] == [worth[frozenset(slow.best[k][: i + 1])] for i in range(k)]
    assert [s.included for s in out.steps] == [i < len(include) for i in range(k)]
    moved = [
        (p["feature"] + 1) * (1 if p["move"] == "join" else -1)
        for p in out.facts["path"]
        if p["feature"] is not None
    ]
    assert moved == slow.moves
    assert out.facts["removed"] == [-1 - move for move in slow.moves if move < 0]
    sizes = range(len(include) + 1, min(k + beyond, m - len(exclude)) + 1)
    assert out.facts["values"] == [worth[frozenset(slow.best[size])] for size in sizes]
    assert out.facts["value"] == out.steps[-1].score
    assert (free == before).all()
    assert not any(set(S) & set(exclude) for S in face.asked)
    if not quick:
        assert out.facts["sets_evaluated"] == len(face.asked) - len(include)


@given(asked(), st.integers(0, 2))
def test_laws(world: Any, beyond: int) -> None:
    """Nothing is NaN; every step down beats all that was met of its size before; the bar moves to its end."""
    worth, m, k, include, exclude = world
    free = np.ones(m, np.bool_)
    free[exclude] = False
    told: list[int] = []
    task = Task(k, "toy", free=free, include=tuple(include), advance=told.append)
    out = Floating(beyond).run(Table(worth), None, task)
    assert len(told) == Floating(beyond).total(task)
    numbers = [x for s in out.steps for x in (s.score, s.margin) if x is not None]
    assert not any(math.isnan(x) for x in numbers)
    best: dict[int, float] = {}
    for move in out.facts.get("path", []):
        value, size = move["value"], move["size"]
        if move["move"] == "return":
            assert best[size] == value
        else:
            assert size not in best or least(value, TOL) > best[size]
            best[size] = value


@pytest.mark.parametrize("jitter", [0.0, 0.4, 0.9])
def test_many_ways_down(jitter: float) -> None:
    """A hundred tables with few levels, jittered around the tolerance: features leave, some sets come back."""
    rng, seen = np.random.default_rng(0), {"leave": 0, "return": 0}
    for _ in range(100):
        values = rng.integers(0, 6, 64) + jitter * TOL * rng.integers(-3, 4, 64)
        face, told = Table(dict(zip(subsets(6), values.tolist(), strict=True))), list[int]()
        task = Task(5, "toy", free=np.ones(6, np.bool_), advance=told.append)
        out, slow = Floating().run(face, None, task), floating(face.plain, 6, 5)
        assert order(out) == slow.best[5]
        assert out.facts["removed"] == [-1 - move for move in slow.moves if move < 0]
        assert len(told) == 5
        for move in out.facts["path"]:
            seen[move["move"]] = seen.get(move["move"], 0) + 1
    assert min(seen.values()) > 10


@given(st.permutations([0.5, 1.0, 2.0, 4.0, 8.0]), st.integers(0, 5), st.integers(0, 3))
def test_of_a_sum_the_largest_are_taken(weights: list[float], k: int, beyond: int) -> None:
    """And nobody leaves, so that it is forward selection, with its runners-up and margins."""
    face = additive(*weights)
    out = search(face, 5, k, beyond)
    path = forward(lambda S, j: face.plain([*S, j]), 5, k)
    assert order(out) == path.indices == sorted(range(5), key=lambda j: -weights[j])[:k]
    assert [s.score for s in out.steps] == path.scores
    margins = [math.inf if s.margin is None else s.margin for s in out.steps]
    assert margins == path.margins
    assert out.facts.get("removed", []) == []


def test_by_hand() -> None:
    """0, 1, 2, then 0 leaves, 3 and 4 join: the set of 4 that forward selection misses."""
    out = search(looking_back(), 5, 4)
    assert [(s.feature, s.score) for s in out.steps] == [(1, 1.0), (2, 6.5), (3, 8.0), (4, 9.0)]
    assert [(s.runner_up, s.margin, s.tie) for s in out.steps] == [
        (2, 4.0, False),
        (3, 4.0, False),
        (0, 1.0, False),
        (0, 1.5, False),
    ]
    moves = [(p["move"], p["feature"], p["size"], p["value"]) for p in out.facts.pop("path")]
    assert moves == [
        ("join", 0, 1, 5.0),
        ("join", 1, 2, 6.0),
        ("join", 2, 3, 7.0),
        ("leave", 0, 2, 6.5),
        ("join", 3, 3, 8.0),
        ("join", 4, 4, 9.0),
    ]
    # 5 + 4 + 3 to join, 3 to leave, 3 to join, 3 to leave, 2 to join, 4 to leave; then 1 alone
    assert out.facts == {
        "values": [5.0, 6.5, 8.0, 9.0],
        "removed": [0],
        "sets_evaluated": 28,
        "value": 9.0,
    }
    assert order(search(looking_back(), 5, 3, beyond=1)) == [1, 2, 3]


def test_beyond_finds_what_is_seen_from_above() -> None:
    """The pair of 1 and 2 is seen when 0 leaves the three; the search for two alone ends before."""
    assert order(search(looking_back(), 5, 2)) == [0, 1]
    out = search(looking_back(), 5, 2, beyond=1)
    assert [(s.feature, s.score) for s in out.steps] == [(1, 1.0), (2, 6.5)]
    assert out.facts["values"] == [5.0, 6.5, 8.0]
    assert order(search(looking_back(), 5, 5, beyond=7)) == [1, 2, 3, 4, 0]


def test_a_step_up_to_less_than_is_known_returns() -> None:
    """{0, 1} gives way to {1, 2}, from which no feature leads back to 7: the search goes on from {0, 1, 2}."""
    face = looking_back()
    face.worth[frozenset({1, 2, 3})] = 6.75
    out = search(face, 5, 4)
    moves = [(p["move"], p["feature"], p["value"]) for p in out.facts["path"]]
    assert moves[3:] == [("leave", 0, 6.5), ("return", None, 7.0), ("join", 3, 7.5)]
    assert [(s.feature, s.score) for s in out.steps] == [(0, 5.0), (1, 6.0), (2, 7.0), (3, 7.5)]


def test_of_equals_the_lowest_join() -> None:
    out = search(additive(1.0, 1.0, 1.0, 1.0), 4, 3)
    assert order(out) == [0, 1, 2]
    assert [s.tie for s in out.steps] == [True, True, True]
    assert [s.runner_up for s in out.steps] == [1, 2, 3]


@pytest.mark.parametrize(("more", "left"), [(0.5e-12, []), (4e-12, [4])])
def test_who_is_better_by_rounding_changes_nothing(more: float, left: list[int]) -> None:
    """Within the tolerance of the set that is kept, a set does not beat it, even if it would be the one to go to."""
    face = looking_back()
    face.worth = {frozenset(4 - j for j in S): v / 16 for S, v in face.worth.items()}
    face.worth[frozenset({3, 2})] = face.worth[frozenset({4, 3})] + more
    assert search(face, 5, 3).facts["removed"] == left


def test_the_tolerance_is_the_tasks() -> None:
    assert order(search(additive(1.0, 1.05), 2, 1, tolerance=0.1)) == [0]
    assert order(search(additive(1.0, 1.05), 2, 1, tolerance=0.0)) == [1]


@pytest.mark.parametrize("worth", [math.inf, -math.inf])
def test_all_infinite_goes_by_index(worth: float) -> None:
    face = additive(1.0, 1.0, 1.0, 1.0)
    face.worth = dict.fromkeys(face.worth, worth)
    out = search(face, 4, 3)
    assert order(out) == [0, 1, 2]
    assert [(s.score, s.margin) for s in out.steps] == [(worth, 0.0)] * 3
    assert out.facts["removed"] == []


def test_included_features_never_leave_and_keep_their_order() -> None:
    out = search(looking_back(), 5, 4, include=(4, 0))
    assert order(out)[:2] == [4, 0]
    assert [s.included for s in out.steps] == [True, True, False, False]
    held = search(looking_back(), 5, 4, include=(0,))
    assert order(held) == [0, 1, 2, 3]
    assert held.facts["removed"] == []


def test_excluded_features_are_never_there() -> None:
    out = search(looking_back(), 5, 5, free=np.array([True, True, True, False, True]))
    assert sorted(order(out)) == [0, 1, 2, 4]


@pytest.mark.parametrize(("k", "include"), [(0, ()), (2, (3, 1))])
def test_where_nothing_is_to_choose_nothing_is_tried(k: int, include: tuple[int, ...]) -> None:
    face = additive(3.0, 1.0, 7.0, 2.0)
    told: list[int] = []
    out = search(face, 4, k, beyond=2, include=include, advance=told.append)
    assert [(s.feature, s.included) for s in out.steps] == [(j, True) for j in include]
    assert face.asked == [list(include[: i + 1]) for i in range(len(include))]
    assert (out.facts, told) == ({}, [])
    assert Floating(2).total(Task(k, "toy", include=include, free=np.ones(4, np.bool_))) == 0


def test_nothing_free() -> None:
    assert search(additive(1.0, 2.0), 2, 2, free=np.zeros(2, np.bool_)).steps == []


def test_one_feature() -> None:
    out = search(additive(-3.0), 1, 1)
    assert [(s.feature, s.score, s.runner_up, s.margin) for s in out.steps] == [(0, -3.0, None, None)]


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

    assert order(search(Careless(looking_back().worth), 5, 4)) == [1, 2, 3, 4]


# ---- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flaw", "says"),
    [
        ({2}, r"^criterion 'toy' gave the set \[2\] the value NaN"),
        ({0, 3}, r"^criterion 'toy' gave the set \[0, 3\] the value NaN"),
        ({1, 2}, r"gave the set of 3 features without feature 0 the value NaN"),
    ],
)
@pytest.mark.parametrize("kind", [Table, Quick])
def test_nan_is_refused_by_name(kind: Any, flaw: set[int], says: str) -> None:
    worth = looking_back().worth
    worth[frozenset(flaw)] = math.nan
    with pytest.raises(ArithmeticError, match=says):
        search(kind(worth), 5, 4)


def test_stop_rules_are_refused_before_any_work() -> None:
    face = additive(1.0, 2.0)
    with pytest.raises(MismatchError, match=r"'floating' .* leave stop out, or use strategy 'forward'"):
        search(face, 2, 1, stop=Below(0.0))
    assert face.asked == []


@pytest.mark.parametrize("beyond", [-1, 2.5, 1e6, True, "10", None, math.inf])
def test_a_beyond_that_is_none(beyond: Any) -> None:
    with pytest.raises(InputError, match="beyond must be a whole number of features, from 0 on, not "):
        Floating(beyond)


def test_a_beyond_of_numpy() -> None:
    beyond: Any = np.int64(1)
    task = Task(2, "toy", free=np.ones(5, np.bool_))
    assert order(Floating(beyond).run(looking_back(), None, task)) == [1, 2]


# ---- interrupts ----------------------------------------------------------------------------------------------------


def interrupted(at: int, beyond: int = 0) -> tuple[Outcome | None, Table]:
    """The search for 4 of 5 when its `at`-th question is cut off; None if the interrupt went on."""

    class Cut(Table):
        def __call__(self, stats: Any, S: Sequence[int]) -> float:
            if len(self.asked) == at:
                self.asked.append([])
                raise KeyboardInterrupt
            return super().__call__(stats, S)

    face = Cut(looking_back().worth)
    try:
        return search(face, 5, 4, beyond), face
    except KeyboardInterrupt:
        return None, face


@pytest.mark.parametrize("at", range(28))
def test_an_interrupt_keeps_the_best_of_the_size_reached(at: int) -> None:
    out, face = interrupted(at)
    # what is kept after so many questions: size by size, as in test_by_hand
    ends = [(0, None), (5, [0]), (9, [0, 1]), (12, [0, 1, 2]), (18, [1, 2, 3]), (23, [1, 2, 3, 4])]
    expected = [kept for start, kept in ends if at >= start][-1]
    if expected is None:
        assert out is None
        return
    assert out is not None
    assert order(out) == expected
    assert out.facts["value"] == face.plain(expected)
    assert out.facts["stopped"].startswith(f"interrupted after {len(expected)} features")
    assert out.facts["stopped"].endswith("was over") == (23 <= at < 27)
    assert out.facts["stopped"].endswith("scores") == (at == 27)
    lost = len(expected) >= 3 and 0 not in expected
    for i, s in enumerate(out.steps):
        known = not (lost and i == 0)
        assert s.score == (face.plain(expected[: i + 1]) if known else out.facts["value"])


def test_an_interrupt_beyond() -> None:
    out, face = interrupted(29, beyond=1)
    assert out is not None
    assert order(out) == [1, 2, 3, 4]
    assert out.facts["stopped"] == "interrupted after 4 features, before the search was over"
    assert len(face.asked) == 30


def test_an_error_goes_on() -> None:
    def face(stats: Any, S: Sequence[int]) -> float:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        search(face, 2, 1)


# ---- in a selection ------------------------------------------------------------------------------------------------


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The criterion `back`: the table of `looking_back`."""
    for kind in registry.KINDS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    table = looking_back().worth

    @jifs.criterion("back")
    @dataclass(frozen=True)
    class Back:
        less: float = 0.0

        def value(self, stats: Any, S: Sequence[int]) -> float:
            return table[frozenset(S)] - self.less


X, Y = np.random.default_rng(0).integers(0, 3, (30, 5)), np.arange(30) % 2


@pytest.mark.usefixtures("toy")
def test_in_a_selection() -> None:
    result = jifs.select(X, Y, 4, "back", strategy="floating")
    assert result.indices.tolist() == [1, 2, 3, 4]
    assert result.scores.tolist() == [1.0, 6.5, 8.0, 9.0]
    assert result.strategy == "floating"
    again = jifs.Result.from_json(result.to_json())
    assert again.same_as(result)
    assert again.facts["path"] == result.facts["path"]
    assert jifs.select(X, Y, 4, "back", strategy="forward").indices.tolist() == [0, 1, 2, 3]
    wide = jifs.select(X, Y, 2, "back", strategy={"name": "floating", "beyond": 1}, params={"less": 1.0})
    assert wide.indices.tolist() == [1, 2]
    assert wide.scores.tolist() == [0.0, 5.5]
    assert jifs.select(X, Y, 0, "back", strategy="floating").indices.size == 0


@pytest.mark.usefixtures("toy")
def test_include_and_exclude_in_a_selection() -> None:
    result = jifs.select(X, Y, 3, "back", strategy="floating", include=["x4"], exclude=[3])
    assert result.indices[0] == 4
    assert 3 not in result.indices
    assert [step.included for step in result.trace] == [True, False, False]
    with pytest.raises(MismatchError, match="leave stop out"):
        jifs.select(X, Y, 2, "back", strategy="floating", stop=0.1)


def test_with_criteria_of_the_house() -> None:
    """On normal data of a known form: the pair that cancels the noise is found, which forward selection misses."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    noise, signal = rng.standard_normal((2, 400))
    signal = signal + 3.0 * y
    x = np.column_stack([signal + 0.5 * rng.standard_normal(400), signal + 20 * noise, noise])
    forward_ = jifs.select(x, y, 2, "gc_mi", strategy="forward")
    result = jifs.select(x, y, 2, "gc_mi", strategy={"name": "floating", "beyond": 1})
    best = jifs.select(x, y, 2, "gc_mi", strategy="exhaustive")
    assert forward_.indices[0] == 0
    assert sorted(result.indices.tolist()) == sorted(best.indices.tolist()) == [1, 2]
    assert result.facts["value"] == pytest.approx(best.facts["value"], abs=1e-9)


def test_what_it_says_of_itself() -> None:
    assert (Floating.name, Floating.needs) == ("floating", "sets")
