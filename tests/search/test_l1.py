"""l1 search on functions of weights with known optima: the radius, restarts, what is taken where k is not met."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import l1 as slow

import jifs
from jifs import registry
from jifs.errors import InputError, JifsWarning, MismatchError
from jifs.search import l1
from jifs.search.base import Below, Outcome, Task
from jifs.search.l1 import FIRST, L1, LEAST, MOST, Solved, radius_search

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass
class Desk:
    """All that the strategy wants of the desk."""

    told: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        self.told.append(text)


def separable(*slopes: float) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """f = sum of b_j w_j - w_j^2 / 2: at every radius the features with the largest b_j are left."""
    b = np.array(slopes)
    return lambda w: (float(b @ w - w @ w / 2), b - w)


def squares(*worth: float) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """f = sum of a_j w_j^2: only single features are left, whichever the start leads to."""
    a = np.array(worth)
    return lambda w: (float(a @ (w * w)), 2 * a * w)


class Pairs:
    """f = sum over some pairs of worth x 4 w_i w_j / (sum w)^2: each pair is a summit, whatever the radius."""

    def __init__(self, m: int, **worth: float) -> None:
        self.Q = np.zeros((m, m))
        for pair, value in worth.items():
            i, j = int(pair[1]), int(pair[2])
            self.Q[i, j] = self.Q[j, i] = 2 * value

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        total = w.sum()
        if total == 0:
            return 0.0, np.zeros_like(w)
        u = w / total
        value = float(u @ self.Q @ u)
        return value, 2 * (self.Q @ u - value) / total


def search(f: Any, m: int, k: int, desk: Desk | None = None, how: L1 | None = None, **more: Any) -> Outcome:
    free = more.pop("free", np.ones(m, np.bool_))
    how = how or L1(restarts=3, iterations=300)
    return how.run(lambda stats: f, desk or Desk(), Task(k, "toy", free=free, **more))


def order(out: Outcome) -> list[int]:
    return [s.feature for s in out.steps]


# ---- the search for the radius -------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 6), min_size=25, max_size=25), st.integers(1, 5), st.integers(1, 25))
def test_the_radii_are_those_of_the_algorithm(counts: list[int], k: int, budget: int) -> None:
    """Whatever the counts, also such as no function of the radius would have."""
    here, there = iter(counts), iter(counts)
    radii: list[float] = []

    def solve(r: float) -> int:
        radii.append(r)
        return next(here)

    radius_search(solve, k, budget)
    assert radii == slow.algorithm_1(lambda r: next(there), k, budget)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6, unique=True), st.integers(1, 5))
def test_where_counts_rise_with_the_radius_k_is_met(enters: list[float], k: int) -> None:
    """A feature is there from its own radius on; two that are not too close together are told apart."""
    enters = sorted(enters)
    k = min(k, len(enters) - 1)
    if enters[k] / enters[k - 1] < 1 + 1e-6:
        return
    counts: list[int] = []

    def solve(r: float) -> int:
        counts.append(sum(r >= own for own in enters))
        return counts[-1]

    radius_search(solve, k, 60)
    assert counts[-1] == k


@pytest.mark.parametrize(("counted", "last", "most"), [(0, MOST, 1000), (9, LEAST, 105)])
def test_radii_stay_within_reason(counted: int, last: float, most: int) -> None:
    """Too few whatever the radius: it grows to its largest; too many: it is halved to its smallest, and that is all."""
    radii: list[float] = []
    radius_search(lambda r: radii.append(r) or counted, 3, 1000)  # type: ignore[func-returns-value]
    assert radii[0] == FIRST
    assert len(radii) <= most
    assert 0.25 < radii[-1] / last < 2


def test_a_range_that_has_closed_is_left() -> None:
    radii: list[float] = []
    radius_search(lambda r: radii.append(r) or (9 if r > 0.33 else 0), 3, 1000)  # type: ignore[func-returns-value]
    assert radii[-1] == pytest.approx(0.33, rel=1e-8)
    assert len(radii) < 40


def test_late_ends_the_search() -> None:
    radii: list[float] = []
    radius_search(
        lambda r: radii.append(r) or 0,  # type: ignore[func-returns-value]
        3,
        1000,
        lambda: len(radii) == 4,
    )
    assert radii == [0.2, 0.4, 0.8, 1.6]


# ---- known optima --------------------------------------------------------------------------------------------------


@given(st.permutations([1.0, 2.0, 3.0, 4.5, 6.0]), st.integers(1, 4), st.integers(0, 50))
def test_the_largest_slopes_are_taken(slopes: list[float], k: int, seed: int) -> None:
    """At the radius that is told the optimum is known: w_j = max(b_j - t, 0), or b_j where the ball is wide."""
    out = search(separable(*slopes), 5, k, seed=seed)
    assert order(out) == sorted(range(5), key=lambda j: -slopes[j])[:k]
    best = slow.best_in_ball(np.eye(5), np.array(slopes), out.facts["radius"])
    assert out.weights == pytest.approx(best, abs=1e-4 * out.facts["radius"])
    assert [s.score for s in out.steps] == [out.weights[j] for j in order(out)]  # type: ignore[index]
    assert out.facts["exact"]


@given(st.integers(0, 10_000), st.integers(3, 6), st.data())
def test_of_a_concave_form_the_support_of_the_optimum(seed: int, m: int, data: st.DataObject) -> None:
    """The set is that of the quadratic program at the radius told, but for weights too small to be sure of."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((m, m)))[0]
    A, b = turn @ np.diag(np.geomspace(1, 10, m)) @ turn.T, rng.standard_normal(m)
    k = data.draw(st.integers(1, m - 1))

    def f(w: np.ndarray) -> tuple[float, np.ndarray]:
        return float(b @ w - w @ A @ w / 2), b - A @ w

    out = search(f, m, k, how=L1(restarts=1, iterations=2000), seed=seed)
    r = out.facts["radius"]
    best = slow.best_in_ball(A, b, r)
    assert (
        np.flatnonzero(best > 1e-3 * r).tolist()
        == np.flatnonzero(np.asarray(out.weights) > 1e-3 * r).tolist()
    )
    assert out.facts["objective"] == pytest.approx(b @ best - best @ A @ best / 2, abs=1e-6 * (1 + r))
    assert out.facts["exact"] == (len(out.steps) == k)


def test_by_hand() -> None:
    """Slopes 4, 3, 1: one feature up to radius 1, two up to 5 (4 - t, 3 - t with t >= 1), then all three."""
    desk = Desk()
    out = search(separable(1.0, 4.0, 3.0), 3, 2, desk, L1(restarts=1, iterations=300))
    assert out.facts["radius"] == 1.6
    assert [(s.feature, s.runner_up, s.tie) for s in out.steps] == [(1, 2, False), (2, None, False)]
    assert [s.score for s in out.steps] == pytest.approx([1.3, 0.3], abs=1e-5)
    assert out.steps[0].margin == pytest.approx(1.0, abs=1e-5)
    assert out.steps[1].margin is None
    assert out.facts["objective"] == pytest.approx(4 * 1.3 + 3 * 0.3 - (1.3**2 + 0.3**2) / 2, abs=1e-8)
    assert out.facts["value"] == 4 + 3 - 1
    assert out.facts["sizes"] == [[1, 3], [2, 1]]
    assert (out.facts["solves"], out.facts["restarts"]) == (4, 1)
    assert out.facts["iterations"] >= 4
    assert out.facts["evaluations"] >= out.facts["iterations"]
    assert (out.facts["runner_up_set"], out.facts["margin"], out.facts["tie"]) == (None, None, False)
    assert "stopped" not in out.facts
    assert desk.told == []


def test_what_is_only_good_together_is_found() -> None:
    """No single feature is worth anything; of the pairs that are, restarts find the best."""
    f = Pairs(6, p03=1.0, p15=3.0, p24=2.0)
    out = search(f, 6, 2, how=L1(restarts=20))
    assert sorted(order(out)) == [1, 5]
    assert out.facts["value"] == pytest.approx(3.0)
    assert out.facts["runner_up_set"] == [2, 4]
    assert out.facts["margin"] == pytest.approx(1.0)


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 5))
def test_the_best_of_all_solves_by_the_fallback_order(seed: int, k: int, restarts: int) -> None:
    """The sets of all solves are written down as they are found; the one listed is the first of them in that order."""
    rng = np.random.default_rng(seed)
    Q = rng.integers(-2, 3, (5, 5)).astype(float)
    Q += Q.T

    def f(w: np.ndarray) -> tuple[float, np.ndarray]:
        u = w / max(w.sum(), 1e-300)
        value = float(u @ Q @ u)
        return value, 2 * (Q @ u - value) / max(w.sum(), 1e-300)

    found: list[tuple[int, ...]] = []

    class Written(Solved):
        def __new__(cls, *args: Any) -> Any:
            found.append(args[0])
            return Solved(*args)

    how = L1(restarts=restarts, solves=4, iterations=100)
    desk = Desk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(l1, "Solved", Written)
        out = search(f, 5, k, desk, how, seed=seed)

    def value(S: tuple[int, ...]) -> float:
        w = np.zeros(5)
        w[list(S)] = 1.0
        return f(w)[0]

    assert tuple(sorted(order(out))) == slow.fallback(found, k, value, 1e-12)
    assert out.facts["solves"] == len(found)
    assert out.facts["restarts"] == restarts
    assert sum(times for _, times in out.facts["sizes"]) == len(found)
    assert out.facts["exact"] == (len(out.steps) == k) == (not desk.told)


# ---- where k is not met --------------------------------------------------------------------------------------------


def test_a_k_that_no_radius_gives() -> None:
    """Two equal features come and go together."""
    desk = Desk()
    out = search(separable(3.0, 1.0, 3.0), 3, 1, desk, L1(restarts=2, solves=8, iterations=300))
    assert sorted(order(out)) == [0, 2]
    assert not out.facts["exact"]
    assert out.facts["sizes"] == [[2, 16]]
    text = "strategy 'l1' met no set of 1 features in 16 solves, and the nearest has 2; more restarts may find one, and"
    assert desk.told == [text + " strategies on sets such as 'backward' do"]


def test_rather_fewer_than_more() -> None:
    """Two equal features come together after the first: 1 and 3 are as far from 2."""
    f = separable(5.0, 1.0, 1.0, 0.0)
    desk = Desk()
    out = search(f, 4, 2, desk, L1(restarts=2, iterations=300))
    assert order(out) == [0]
    assert {size for size, _ in out.facts["sizes"]} == {1, 3}
    assert len(desk.told) == 1


def test_nothing_is_worth_a_weight() -> None:
    desk = Desk()
    out = search(separable(-1.0, -2.0, -3.0), 3, 2, desk, L1(restarts=1, solves=3))
    assert order(out) == []
    assert out.weights is not None
    assert out.weights.tolist() == [0.0, 0.0, 0.0]
    assert out.facts["value"] == 0.0
    assert out.facts["sizes"] == [[0, 3]]
    assert len(desk.told) == 1


def test_a_flat_function_leaves_all() -> None:
    out = search(lambda w: (0.0, np.zeros(4)), 4, 2, how=L1(restarts=2, solves=5, least=0.0))
    assert sorted(order(out)) == [0, 1, 2, 3]
    assert out.facts["sizes"] == [[4, 10]]
    assert not out.facts["exact"]


def test_who_counts_as_left() -> None:
    """Weights above a share of the radius; those below it are 0 in the result."""
    flat = (lambda w: (0.0, np.zeros(4)), 4, 3)
    out = search(*flat, how=L1(restarts=1, solves=1, least=0.25))
    every = search(*flat, how=L1(restarts=1, solves=1, least=0.0))
    assert out.weights is not None
    assert every.weights is not None
    assert out.weights.tolist() == [w if w > 0.25 * FIRST else 0.0 for w in every.weights.tolist()]
    assert sorted(order(out)) == np.flatnonzero(out.weights).tolist()
    assert 0 < len(out.steps) < len(every.steps) == 4


def test_weights_are_told_apart_at_any_radius() -> None:
    w = 2.0**-100 * np.array([0.3, 0.0, 0.5, 0.2])
    steps = l1._listed(Solved((0, 2, 3), w, 2.0**-100, 0.0), Task(3, "toy"))
    assert [(s.feature, s.runner_up, s.tie) for s in steps] == [
        (2, 0, False),
        (0, 3, False),
        (3, None, False),
    ]
    assert steps[0].margin == w[2] - w[0]


def test_of_equal_sets_the_first_in_the_dictionary() -> None:
    """Four single features of equal worth, each found by some start."""
    out = search(squares(1.0, 1.0, 1.0, 1.0), 4, 1, how=L1(restarts=20))
    assert order(out) == [0]
    assert out.facts["tie"]
    assert out.facts["margin"] == 0.0
    assert out.facts["runner_up_set"] == [1]
    ahead = search(squares(1.0, 1.0, 1.0 + 1e-9, 1.0), 4, 1, how=L1(restarts=20))
    assert order(ahead) == [2]


def test_the_tolerance_is_the_tasks() -> None:
    f = squares(1.0, 1.05, 1.0, 1.0)
    assert order(search(f, 4, 1, how=L1(restarts=20), tolerance=0.1)) == [0]
    assert order(search(f, 4, 1, how=L1(restarts=20), tolerance=0.0)) == [1]


def test_equal_weights_are_listed_by_index() -> None:
    out = search(separable(1.0, 3.0, 3.0, 3.0), 4, 3, how=L1(restarts=1, iterations=500), tolerance=1e-4)
    assert order(out) == [1, 2, 3]
    assert [s.tie for s in out.steps] == [True, True, False]


def test_infinite_values() -> None:
    def up(w: np.ndarray) -> tuple[float, np.ndarray]:
        return math.inf, np.array([1.0, 2.0, 3.0])

    out = search(up, 3, 1, how=L1(restarts=2, solves=3))
    assert order(out) == [2]
    assert out.facts["value"] == out.facts["objective"] == math.inf

    def down(w: np.ndarray) -> tuple[float, np.ndarray]:
        return -math.inf, np.array([1.0, 2.0, 3.0])

    assert order(search(down, 3, 1, how=L1(restarts=2, solves=3))) == [2]


# ---- chance --------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same() -> None:
    f = Pairs(8, p03=1.0, p15=1.1, p24=1.2, p67=1.3)
    one, two = (search(f, 8, 2, how=L1(restarts=3), seed=7) for _ in range(2))
    assert order(one) == order(two)
    assert one.weights is not None
    assert two.weights is not None
    assert one.weights.tobytes() == two.weights.tobytes()
    assert one.facts == two.facts
    others = [search(f, 8, 2, how=L1(restarts=1), seed=seed) for seed in range(10)]
    assert len({tuple(sorted(order(out))) for out in others}) > 1


@given(st.integers(0, 500), st.integers(1, 6))
def test_more_restarts_are_never_worse(seed: int, restarts: int) -> None:
    """Each has random numbers of its own: the first of many are the few."""
    f = Pairs(6, p03=1.0, p15=3.0, p24=2.0)
    few, many = (search(f, 6, 2, how=L1(restarts=n), seed=seed).facts for n in (restarts, restarts + 3))
    assert few["solves"] < many["solves"]
    assert few["value"] <= many["value"]


def test_each_solve_starts_in_the_ball_with_weights_above_0() -> None:
    starts: list[np.ndarray] = []

    class Watched:
        def renew(self, w: np.ndarray) -> None:
            starts.append(w.copy())

        def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
            return 0.0, np.zeros_like(w)

    how = L1(restarts=2, solves=4, least=0.0)
    search(Watched(), 5, 2, how=how, free=np.array([True, True, False, True, True]))
    assert len(starts) == 2 * 4 + 1  # and the set that is valued
    for w, r in zip(starts[:8], [0.2, 0.1, 0.05, 0.025] * 2, strict=True):
        assert w.sum() == pytest.approx(r)
        assert (w > 0).tolist() == [True, True, False, True, True]
    assert len({w.tobytes() for w in starts}) == len(starts)
    assert starts[8].tolist() == [1.0, 1.0, 0.0, 1.0, 1.0]


def test_what_is_left_open_is_chosen_for_the_set_too() -> None:
    """The value of a set is that of its own choice, and not of the last ascent's."""

    class Open:
        own = math.nan

        def renew(self, w: np.ndarray) -> None:
            self.own = float(np.count_nonzero(w == 1.0))

        def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = separable(4.0, 2.0, 1.0)(w)
            return value + 100 * self.own, slope

    out = search(Open(), 3, 2)
    assert out.facts["value"] == 4 + 2 - 1 + 200
    assert out.facts["objective"] < 100


# ---- who may be taken ----------------------------------------------------------------------------------------------


def test_excluded_features_have_no_weight() -> None:
    asked: list[np.ndarray] = []

    def f(w: np.ndarray) -> tuple[float, np.ndarray]:
        asked.append(w)
        return separable(5.0, 4.0, 3.0, 2.0)(w)

    free = np.array([False, True, True, True])
    before = free.copy()
    out = search(f, 4, 2, free=free)
    assert order(out) == [1, 2]
    assert all(w[0] == 0 for w in asked)
    assert (free == before).all()


def test_include_is_refused_by_name() -> None:
    with pytest.raises(
        MismatchError, match=r"'l1' can't hold features in.* leave include out, or use .*'floating'"
    ):
        search(lambda w: pytest.fail("asked"), 3, 2, include=(1,))


def test_no_feature_is_asked_for() -> None:
    strategy = L1()
    for k, free in ((0, np.ones(3, np.bool_)), (2, np.zeros(3, np.bool_))):
        task = Task(k, "toy", free=free)
        assert strategy.run(lambda stats: pytest.fail("asked"), Desk(), task).steps == []
        assert strategy.total(task) == 0


@pytest.mark.parametrize(("m", "k"), [(1, 1), (3, 3), (3, 7)])
def test_all_that_there_are(m: int, k: int) -> None:
    """Nothing is to be chosen: all, with weights of 1, by index."""
    told: list[int] = []
    out = search(separable(*range(m)), m, k, advance=told.append)
    assert [(s.feature, s.score) for s in out.steps] == [(j, 1.0) for j in range(m)]
    assert out.weights is not None
    assert out.weights.tolist() == [1.0] * m
    assert out.facts["value"] == out.facts["objective"] == sum(range(m)) - m / 2
    assert (out.facts["exact"], out.facts["solves"], out.facts["radius"]) == (True, 0, float(m))
    assert told == []
    some = search(separable(1.0, 2.0, 3.0), 3, 2, free=np.array([True, False, True]))
    assert order(some) == [0, 2]
    assert some.weights is not None
    assert some.weights.tolist() == [1.0, 0.0, 1.0]


def test_one_of_many() -> None:
    out = search(separable(*np.linspace(1, 2, 200)), 200, 1, how=L1(restarts=1))
    assert order(out) == [199]


# ---- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["restarts", "solves", "iterations", "every"])
@pytest.mark.parametrize("given_", [0, -1, 2.0, True, "3", None, math.inf])
def test_counts_that_are_none(name: str, given_: Any) -> None:
    with pytest.raises(InputError, match=rf"^{name} must be a whole number from 1 on, not "):
        L1(**{name: given_})


@pytest.mark.parametrize(
    ("name", "given_", "says"),
    [
        *(
            ("step", bad, "step must be a share of the radius, above 0 and up to 1")
            for bad in (0, -1, 1.5, "1", None)
        ),
        *(
            ("least", bad, "least must be a share of the radius, from 0 to below 1")
            for bad in (1, -1e-9, math.nan, None)
        ),
        *(
            ("seconds", bad, "seconds must be a number above 0, or None")
            for bad in (0, -1.0, math.inf, "1", True)
        ),
    ],
)
def test_numbers_that_are_none(name: str, given_: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        L1(**{name: given_})


def test_numbers_of_numpy() -> None:
    three: Any = np.int64(3)
    how = L1(three, three, three, np.float64(0.5), three, np.float64(0.0), np.float32(60.0))
    assert order(search(separable(1.0, 4.0, 3.0), 3, 1, how=how)) == [1]


def test_stop_rules_are_refused_before_any_work() -> None:
    with pytest.raises(MismatchError, match=r"'l1' .* leave stop out, or use strategy 'forward'"):
        search(lambda w: pytest.fail("asked"), 2, 1, stop=Below(0.0))


def test_no_numbers_are_refused_by_name() -> None:
    with pytest.raises(ArithmeticError, match=r"^criterion 'toy' gave weights of sum 0\.2 the value NaN"):
        search(lambda w: (math.nan, w), 3, 1)
    with pytest.raises(ArithmeticError, match=r"^criterion 'toy' gave weights of sum 3 the value NaN"):
        search(lambda w: (math.nan, w), 3, 3)
    with pytest.raises(MismatchError, match=r"gave a gradient of shape \(2,\) for 3 weights"):
        search(lambda w: (0.0, w[:2]), 3, 1)


def test_an_error_goes_on() -> None:
    def f(w: np.ndarray) -> tuple[float, np.ndarray]:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        search(f, 3, 1)


# ---- progress, interrupts, time ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("f", [separable(1.0, 4.0, 3.0, 2.0), squares(1.0, 2.0, 3.0, 4.0)])
def test_the_bar_moves_to_its_end(f: Any, k: int) -> None:
    told: list[int] = []
    how = L1(restarts=3, solves=6)
    task = Task(k, "toy", free=np.ones(4, np.bool_), advance=told.append)
    how.run(lambda stats: f, Desk(), task)
    assert len(told) == how.total(task) == 18
    assert set(told) <= {0, 1, 2, 3}


class Cut:
    """Cuts off the `at`-th question."""

    def __init__(self, f: Any, at: int) -> None:
        self.f, self.at, self.asked = f, at, 0

    def __call__(self, w: np.ndarray) -> Any:
        self.asked += 1
        if self.asked - 1 == self.at:
            raise KeyboardInterrupt
        return self.f(w)


def test_an_interrupt_keeps_the_best_by_then() -> None:
    """Wherever it comes: before the first solve is over it goes on; then what was found so far is compared."""
    f, how = Pairs(6, p03=1.0, p15=3.0, p24=2.0), L1(restarts=4)
    whole = search(f, 6, 2, how=how)
    values: list[float] = []
    for at in count():
        cut = Cut(f, at)
        try:
            out = search(cut, 6, 2, how=how)
        except KeyboardInterrupt:
            assert not values, "nothing was found yet"
            continue
        if "stopped" not in out.facts:
            break
        solves = out.facts["solves"]
        compared = out.facts["stopped"] == f"interrupted after {solves} solves, before all sets were compared"
        assert compared or out.facts["stopped"] == f"interrupted after {solves} solves"
        if compared:
            assert solves == whole.facts["solves"]
        else:
            assert solves < whole.facts["solves"] or out.facts["evaluations"] < whole.facts["evaluations"]
            values.append(out.facts["value"])
        assert out.facts["exact"]
    assert at == whole.facts["evaluations"]
    assert values == sorted(values)
    assert values[-1] <= whole.facts["value"]
    assert out.facts == whole.facts


@pytest.mark.parametrize(("left", "expected"), [(3, [1, 5]), (2, [0, 3]), (1, [1, 5])])
def test_an_interrupt_while_sets_are_compared(left: int, expected: list[int]) -> None:
    """The last three questions are for {0, 3}, {1, 5}, {2, 4}: those that have a value by then are compared.

    If none has, the objectives are that their own weights have reached.
    """
    f, how = Pairs(6, p03=1.0, p15=1.2, p24=1.1), L1(restarts=20)
    whole = search(f, 6, 2, how=how)
    assert (sorted(order(whole)), whole.facts["runner_up_set"]) == ([1, 5], [2, 4])
    out = search(Cut(f, whole.facts["evaluations"] - left), 6, 2, how=how)
    assert sorted(order(out)) == expected
    assert (
        out.facts["stopped"]
        == f"interrupted after {whole.facts['solves']} solves, before all sets were compared"
    )
    assert out.facts["value"] == pytest.approx(1.0 if left == 2 else 1.2, abs=1e-6)


def test_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes on a second with each look: the result is what was found, and one ascent is cut short."""
    ticks = count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    out = search(separable(1.0, 4.0, 3.0), 3, 2, how=L1(restarts=50, seconds=40, iterations=300))
    assert out.facts["stopped"] == f"out of time after {out.facts['solves']} solves"
    assert 1 < out.facts["solves"] < 50
    assert order(out) == [1, 2]
    desk = Desk()
    short = search(separable(1.0, 4.0, 3.0), 3, 2, desk, L1(seconds=1e-9))
    assert (short.facts["solves"], short.facts["iterations"]) == (1, 1)
    assert short.facts["stopped"] == "out of time after 1 solves"


def test_enough_time_changes_nothing() -> None:
    f = Pairs(6, p03=1.0, p15=3.0, p24=2.0)
    free, limited = (search(f, 6, 2, how=L1(restarts=2, seconds=s)) for s in (None, 1e6))
    assert free.facts == limited.facts


# ---- in a selection ------------------------------------------------------------------------------------------------


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The criterion `company`: features 0 and 3 are worth 3 together, 1 and 2 are worth 1."""
    for kind in registry.KINDS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))

    @jifs.criterion("company")
    @dataclass(frozen=True)
    class Company:
        more: float = 3.0

        def smooth(self, stats: Any) -> Pairs:
            return Pairs(stats.m, p03=self.more, p12=1.0)


X, Y = np.random.default_rng(0).integers(0, 3, (30, 5)), np.arange(30) % 2


@pytest.mark.usefixtures("toy")
def test_in_a_selection() -> None:
    result = jifs.select(X, Y, 2, "company", strategy={"name": "l1", "restarts": 6})
    assert sorted(result.indices.tolist()) == [0, 3]
    assert result.strategy == "l1"
    assert result.facts["settings"]["strategy"]["restarts"] == 6
    assert result.facts["restarts"] == 6
    assert result.weights is not None
    assert np.array_equal(result.weights > 0, result.mask())
    again = jifs.Result.from_json(result.to_json())
    assert again.same_as(result)
    assert again.facts["sizes"] == result.facts["sizes"]
    other = jifs.select(X, Y, 2, "company", strategy="l1", exclude=["x3"], params={"more": 9.0})
    assert sorted(other.indices.tolist()) == [1, 2]
    assert jifs.select(X, Y, 0, "company", strategy="l1").indices.size == 0
    assert jifs.select(X, Y, 5, "company", strategy="l1").indices.tolist() == [0, 1, 2, 3, 4]
    seeds = [
        jifs.select(X, Y, 2, "company", strategy={"name": "l1", "restarts": 1}, random_state=s)
        for s in range(8)
    ]
    assert len({tuple(sorted(r.indices.tolist())) for r in seeds}) == 2


@pytest.mark.usefixtures("toy")
def test_a_selection_of_more_than_there_is_warns() -> None:
    with pytest.warns(
        JifsWarning, match=r"'l1' met no set of 4 features in 6 solves, and the nearest has 2; more"
    ):
        result = jifs.select(X, Y, 4, "company", strategy={"name": "l1", "restarts": 2, "solves": 3})
    assert result.indices.size == 2
    assert result.facts["exact"] is False
    assert len(result.facts["warnings"]) == 1


@pytest.mark.usefixtures("toy")
def test_what_does_not_meet_is_said() -> None:
    with pytest.raises(
        MismatchError, match=r"'jmi' has no `smooth`, which strategy 'l1' needs; it works .* company"
    ):
        jifs.select(X, Y, 2, "jmi", strategy="l1")
    with pytest.raises(MismatchError, match=r"'l1' can't hold features in"):
        jifs.select(X, Y, 2, "company", strategy="l1", include=[1])
    with pytest.raises(
        InputError, match=r"strategy 'l1' has no parameter 'restart'\. Did you mean 'restarts'"
    ):
        jifs.select(X, Y, 2, "company", strategy={"name": "l1", "restart": 3})
    with pytest.raises(MismatchError, match="leave stop out"):
        jifs.select(X, Y, 2, "company", strategy="l1", stop=0.1)


def test_what_it_says_of_itself() -> None:
    assert (L1.name, L1.needs) == ("l1", "weights")
    assert registry.find("strategy", "l1").params["restarts"] == 20
