"""The projection on the positive l1-ball against a quadratic program, and the ascent against known optima."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import l1 as slow

from jifs.errors import MismatchError
from jifs.search.ascent import STILL, Objective, ascend, project

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class Pace:
    iterations: int = 2000
    step: float = 0.3
    every: int = 5


# ---- the projection ------------------------------------------------------------------------------------------------

radii = st.sampled_from([1e-3, 0.2, 1.0, 7.5, 1e3])
levels = st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0, -0.3, -1.0, 3.0])


@st.composite
def points(draw: Draw, most: int = 7) -> np.ndarray:
    """Ties, zeros, negative ones; large and small beside the radius."""
    own = st.one_of(levels, st.floats(-4, 4))
    return np.array(draw(st.lists(own, min_size=1, max_size=most))) * draw(st.sampled_from([1e-3, 1.0, 50.0]))


@given(points(), radii)
def test_projection_is_a_quadratic_program(w: np.ndarray, r: float) -> None:
    """To 1e-12 of the larger of the radius and the point."""
    before = w.copy()
    v = project(w, r)
    assert np.array_equal(w, before)
    assert v == pytest.approx(slow.project(w, r), abs=1e-12 * max(r, np.abs(w).max()))


@given(st.integers(0, 10_000), st.integers(2, 40), radii)
def test_projection_is_what_a_solver_finds(seed: int, m: int, r: float) -> None:
    """To the solver's accuracy, in units of the radius."""
    from scipy.optimize import minimize

    u = np.random.default_rng(seed).standard_normal(m)
    found = minimize(
        lambda v: 0.5 * (v - u) @ (v - u),
        np.full(m, 0.5 / m),
        jac=lambda v: v - u,
        bounds=[(0, None)] * m,
        constraints={"type": "ineq", "fun": lambda v: 1 - v.sum(), "jac": lambda v: np.full(m, -1.0)},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert project(r * u, r) / r == pytest.approx(found.x, abs=1e-5)


@given(st.integers(0, 10_000), st.integers(1, 300), st.integers(-100, 100), st.integers(-100, 100))
def test_laws_of_the_projection(seed: int, m: int, size: int, scale: int) -> None:
    """Inside the ball; twice is once; no larger weight comes out smaller; powers of two change nothing."""
    rng = np.random.default_rng(seed)
    w, r = 2.0**size * rng.standard_normal(m), 1.0
    v = project(w, r)
    assert v.min() >= 0
    assert v.sum() <= r * (1 + 1e-13)
    assert project(v, r) == pytest.approx(v, abs=1e-14)
    assert (v[w <= 0] == 0).all()
    assert (np.diff(v[np.argsort(w)]) >= 0).all()
    assert np.array_equal(project(2.0**scale * w, 2.0**scale * r), 2.0**scale * v)
    other = 2.0**size * rng.standard_normal(m)
    apart = np.linalg.norm(project(other, r) - v)
    assert apart <= np.linalg.norm(other - w) * (1 + 1e-12)


def test_projection_by_hand() -> None:
    assert project(np.array([0.5, -1.0, 0.25]), 1.0).tolist() == [0.5, 0.0, 0.25]
    assert project(np.array([2.0, 1.0, -3.0]), 1.0).tolist() == [1.0, 0.0, 0.0]
    assert project(np.array([1.0, 1.0, 0.25]), 1.0).tolist() == [0.5, 0.5, 0.0]
    assert project(np.array([1.0, 0.5, 0.0]), 1.0).tolist() == [0.75, 0.25, 0.0]
    assert project(np.array([-1.0, -2.0]), 1.0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("far", [1e16, 1e150, 1.7e308])
def test_projection_of_what_is_far_away(far: float) -> None:
    """The sum of the entries may not fit a double, and their differences are all that counts."""
    assert project(np.array([far, far, far, -far, 0.0, 1.0]), 1.0) == pytest.approx([1 / 3] * 3 + [0, 0, 0])
    assert project(np.array([far, 1.0, far / 2]), 1.0).tolist() == [1.0, 0.0, 0.0]


def test_zeros_stay_zero_at_the_edge() -> None:
    """Where hardly anything is taken away, rounding may not give a weight to who had none."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        w = np.concatenate([rng.dirichlet(np.ones(rng.integers(2, 12))), np.zeros(3)])
        assert (project(w * (1 + 2.0**-52 * rng.integers(0, 4)), 1.0)[-3:] == 0).all()


# ---- the ascent ----------------------------------------------------------------------------------------------------


@dataclass
class Quadratic:
    """f(w) = b'w - w'Aw / 2, which writes down where it is asked."""

    A: np.ndarray
    b: np.ndarray
    asked: list[np.ndarray] = field(default_factory=list)

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        self.asked.append(w.copy())
        return float(self.b @ w - w @ self.A @ w / 2), self.b - self.A @ w


@dataclass
class Renewed(Quadratic):
    """The same, with something left open: `factor`, set by `renew`."""

    factor: float = math.nan
    renewals: list[tuple[int, np.ndarray]] = field(default_factory=list)

    def renew(self, w: np.ndarray) -> None:
        self.renewals.append((len(self.asked), w.copy()))
        self.factor = 1.0

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = super().__call__(w)
        return self.factor * value, self.factor * gradient


def climb(f: Any, start: np.ndarray, r: float, pace: Pace = Pace(), **more: Any) -> tuple[Any, int]:
    free = more.pop("free", np.ones(start.size, np.bool_))
    return ascend(Objective(f, "toy", free), start, r, pace, **more)


def concave(rng: np.random.Generator, m: int, condition: float) -> Quadratic:
    turn = np.linalg.qr(rng.standard_normal((m, m)))[0]
    return Quadratic(turn @ np.diag(np.geomspace(1.0, condition, m)) @ turn.T, rng.standard_normal(m))


@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([1.0, 10.0, 100.0]), radii)
def test_of_a_concave_form_the_best_is_found(seed: int, m: int, condition: float, r: float) -> None:
    """Steps end at 1e-6 of the radius: the value is then within 1e-9 of the best, relative to what a ball can hold."""
    rng = np.random.default_rng(seed)
    f = concave(rng, m, condition)
    best = slow.best_in_ball(f.A, f.b, r)
    end, _ = climb(f, r * rng.dirichlet(np.ones(m)), r)
    top, most = f(best)[0], r * np.abs(f.b).max() + r * r * condition
    assert end.value <= top + 1e-12 * most
    assert end.value >= top - 1e-9 * most


@given(st.integers(0, 10_000), st.integers(2, 40), radii)
def test_laws_of_the_ascent(seed: int, m: int, r: float) -> None:
    """Every point is in the ball; the end is never worse than the start; its value and slope are its own."""
    rng = np.random.default_rng(seed)
    f = Quadratic(rng.standard_normal((m, m)), rng.standard_normal(m))
    f.A = f.A + f.A.T  # neither concave nor convex
    start = r * rng.dirichlet(np.ones(m))
    begin = f(start)[0]
    end, tried = climb(f, start, r, Pace(60))
    assert 1 <= tried <= 60
    assert all(w.min() >= 0 and w.sum() <= r * (1 + 1e-12) for w in f.asked)
    assert end.value >= begin
    assert (end.value, end.gradient.tolist()) == (f(end.weights)[0], f(end.weights)[1].tolist())


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1.0, 1e30, 1e150])
def test_the_scale_of_the_objective_changes_nothing(scale: float) -> None:
    rng = np.random.default_rng(5)
    f = concave(rng, 5, 10.0)
    start = rng.dirichlet(np.ones(5))
    plain, _ = climb(f, start, 1.0)
    large, _ = climb(Quadratic(scale * f.A, scale * f.b), start, 1.0)
    assert large.weights == pytest.approx(plain.weights, abs=1e-5)


def test_a_weight_without_slope_stays() -> None:
    """f = sum of b w^2: the slope vanishes with the weight, so nothing leaves 0, and one weight wins."""

    def f(w: np.ndarray) -> tuple[float, np.ndarray]:
        b = np.array([1.0, 2.0, 3.0, 9.0])
        return float(b @ w**2), 2 * b * w

    end, _ = climb(f, np.array([0.3, 0.4, 0.3, 0.0]), 1.0)
    assert end.weights.tolist() == [0.0, 0.0, 1.0, 0.0]
    still, tried = climb(f, np.zeros(4), 1.0)
    assert (still.weights.tolist(), tried) == ([0.0] * 4, 1)


def test_who_is_not_free_is_not_moved() -> None:
    f = Quadratic(np.eye(3), np.array([1.0, 5.0, 2.0]))
    end, _ = climb(f, np.array([0.1, 0.0, 0.1]), 10.0, free=np.array([True, False, True]))
    assert end.weights == pytest.approx([1.0, 0.0, 2.0], abs=1e-5)
    assert all(w[1] == 0 for w in f.asked)


def test_what_is_left_open_is_chosen_now_and_then() -> None:
    """At the start, after every 3 steps, and where none helps any more; the end is where that did not help."""
    rng = np.random.default_rng(1)
    own = concave(rng, 6, 30.0)
    f = Renewed(own.A, own.b)
    start = rng.dirichlet(np.ones(6))
    end, _ = climb(f, start, 1.0, Pace(200, every=3))
    assert f.renewals[0][0] == 0
    assert np.array_equal(f.renewals[0][1], start)
    for count, w in f.renewals:  # each is followed by a look at the same weights
        assert np.array_equal(f.asked[count], w)
    assert np.array_equal(f.renewals[-1][1], end.weights)
    plain, _ = climb(own, start, 1.0, Pace(200))
    assert end.weights == pytest.approx(plain.weights, abs=1e-4)


def test_the_steps_are_counted() -> None:
    rng = np.random.default_rng(1)
    own = concave(rng, 6, 1000.0)
    for steps in (1, 2, 5, 10):
        f = Renewed(own.A, own.b)
        _, tried = climb(f, rng.dirichlet(np.ones(6)), 1.0, Pace(steps, every=2))
        assert tried == steps
        assert len(f.renewals) == (steps + 1) // 2


def test_late_is_late() -> None:
    clock = iter([False, False, True])
    f = concave(np.random.default_rng(1), 6, 1000.0)
    _, tried = climb(f, np.full(6, 1 / 6), 1.0, late=lambda: next(clock))
    assert tried == 3


def test_short_steps_are_none() -> None:
    """A slope that vanishes on the ball's edge: the start is already the best."""
    f = Quadratic(np.zeros((2, 2)), np.array([1.0, 1.0]))
    end, tried = climb(f, np.array([0.25, 0.75]), 1.0)
    assert (end.weights.tolist(), tried) == ([0.25, 0.75], 1)
    assert len(f.asked) == 1
    assert STILL == 1e-6


def test_a_step_must_bring_what_it_promises() -> None:
    """The slope promises 1 for a unit: a fall, however small, is never taken; a ten-thousandth of it is enough."""

    def f(w: np.ndarray, gain: float) -> tuple[float, np.ndarray]:
        return (0.0 if w[0] == 0.1 else gain), np.ones(1)

    end, tried = climb(lambda w: f(w, -1e-9), np.array([0.1]), 1.0)
    assert (end.weights.tolist(), end.value, tried) == ([0.1], 0.0, 1)
    short, _ = climb(lambda w: f(w, 2e-5), np.array([0.1]), 1.0, Pace(1))
    assert 0.1 < short.weights[0] <= 0.3
    whole, _ = climb(lambda w: f(w, 3.1e-5), np.array([0.1]), 1.0, Pace(1))
    assert whole.weights[0] == pytest.approx(0.4)


def test_a_step_moves_by_its_share_of_the_radius() -> None:
    """Also at the edge of the ball, where slopes that are all alike push outwards, and only their differences count."""
    f = Quadratic(np.zeros((3, 3)), 1000 + np.array([0.0, 1.0, 2.0]))
    end, _ = climb(f, np.full(3, 1 / 3), 1.0, Pace(1))
    move = end.weights - 1 / 3
    assert np.linalg.norm(move) == pytest.approx(0.3)
    assert move == pytest.approx(0.3 * np.array([-1, 0, 1]) / math.sqrt(2))


def test_a_fall_to_minus_infinity_is_stepped_back_from() -> None:
    """f = 4 w + log(1/2 - w), minus infinity from 1/2 on, where the first step goes."""

    def f(w: np.ndarray) -> tuple[float, np.ndarray]:
        room = 0.5 - w[0]
        return (4 * w[0] + math.log(room) if room > 0 else -math.inf), np.array([4 - 1 / max(room, 1e-9)])

    end, _ = climb(f, np.array([0.01]), 10.0)
    assert end.weights[0] == pytest.approx(0.25, abs=1e-4)


# ---- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "gradient", "says"),
    [
        (math.nan, [1.0, 1.0], r"^criterion 'toy' gave weights of sum 0\.5 the value NaN$"),
        (1.0, [1.0, math.nan], r"criterion 'toy' gave weights of sum 0\.5 a gradient that is not finite"),
        (1.0, [math.inf, 1.0], r"a gradient that is not finite"),
    ],
)
def test_no_numbers_are_refused_by_name(value: float, gradient: list[float], says: str) -> None:
    with pytest.raises(ArithmeticError, match=says):
        climb(lambda w: (value, np.array(gradient)), np.array([0.25, 0.25]), 1.0)


def test_a_slope_where_nobody_looks_may_be_anything() -> None:
    free = np.array([True, False])
    end, _ = climb(lambda w: (w[0], np.array([1.0, math.nan])), np.array([0.25, 0.0]), 1.0, free=free)
    assert end.weights.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("gradient", [np.zeros(3), np.zeros((2, 1)), 0.0])
def test_a_gradient_of_another_size_is_refused(gradient: Any) -> None:
    with pytest.raises(MismatchError, match=r"criterion 'toy' gave a gradient of shape \(.*\) for 2 weights"):
        climb(lambda w: (0.0, gradient), np.array([0.25, 0.25]), 1.0)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_weights_are_lent_and_not_given(at: int) -> None:
    own, asked = concave(np.random.default_rng(2), 4, 10.0), list[int]()

    def greedy(w: np.ndarray) -> tuple[float, np.ndarray]:
        if len(asked) == at:
            w[0] = 7.0
        asked.append(0)
        return own(w)

    with pytest.raises(ValueError, match="read-only"):
        climb(greedy, np.full(4, 0.25), 1.0)


def test_one_array_for_every_gradient_does_no_harm() -> None:
    own = concave(np.random.default_rng(2), 4, 10.0)
    room = np.zeros(4)

    def f(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, room[:] = own(w)
        return value, room

    start = np.full(4, 0.25)
    assert np.array_equal(climb(f, start, 1.0)[0].weights, climb(own, start, 1.0)[0].weights)
