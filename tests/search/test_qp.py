"""Strategy `qp`: weights on the simplex from the form and its diagonal, KKT in the facts, refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from naive import spectral as naive
from naive.search import rank

import jifs
from jifs.errors import InputError
from jifs.relax import qp
from jifs.search.base import Outcome, Task
from jifs.search.qp import Qp

pytest.importorskip("cvxpy")


@dataclass(frozen=True)
class Program:
    """max c'x - x'Px/2 as a criterion: q is the value of a feature alone, and -P_ii/2 of it goes with the square."""

    P: Any
    c: Any

    def pairs(self, stats: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.c - self.P.diagonal() / 2, -self.P / 2


def random_program(n: int, seed: int = 0) -> Program:
    rng = np.random.default_rng(seed)
    B = rng.random((n, n))
    return Program(B @ B.T / n + 0.1 * np.eye(n), rng.random(n))


def search(rule: Any, k: int, how: Qp | None = None, exclude: Any = (), **more: Any) -> Outcome:
    free = np.ones(len(rule.c), np.bool_)
    free[list(exclude)] = False
    return (how or Qp()).run(rule.pairs, None, Task(k, "toy", free=free, **more))


def order(out: Outcome) -> list[int]:
    return [s.feature for s in out.steps]


@pytest.mark.parametrize("how", [Qp(), Qp(solver="clarabel")])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_weights_of_the_program(how: Qp, n: int) -> None:
    rule = random_program(n, n)
    out = search(rule, n, how)
    lowest = naive.on_simplex(rule.P, rule.c)
    x = out.weights
    assert x is not None
    assert x @ rule.P @ x / 2 - rule.c @ x == pytest.approx(lowest, abs=1e-11)
    assert out.facts["value"] == pytest.approx(-lowest, abs=1e-11)
    assert out.facts["gap"] < 1e-11
    assert out.facts["kkt"]["gap"] < 1e-11
    assert out.facts["unique"] is True
    assert order(out) == rank(x.tolist(), n)
    assert [s.score for s in out.steps] == x[order(out)].tolist()


def test_the_ranking_does_not_depend_on_k() -> None:
    rule = random_program(7, 1)
    everything = order(search(rule, 7))
    for k in range(7):
        assert order(search(rule, k)) == everything[:k]


def test_a_form_that_is_not_symmetric_is_the_same_form() -> None:
    rule = random_program(5, 2)
    q, Q = rule.pairs(None)
    skew = np.triu(np.random.default_rng(0).random((5, 5)), 1)
    out = Qp().run(lambda stats: (q, Q + skew - skew.T), None, Task(5, "toy", free=np.ones(5, np.bool_)))
    assert out.weights == pytest.approx(search(rule, 5).weights, abs=1e-12)


def test_included_come_first_and_excluded_are_gone() -> None:
    rule = random_program(6, 3)
    plain = search(rule, 6)
    out = search(rule, 4, include=(2, 0))
    assert out.weights == pytest.approx(plain.weights, abs=1e-12)
    assert order(out)[:2] == [2, 0]
    assert order(out)[2:] == [j for j in order(plain) if j not in (2, 0)][:2]
    rest = [0, 1, 2, 5]
    small = search(Program(rule.P[np.ix_(rest, rest)], rule.c[rest]), 3)
    gone = search(rule, 3, exclude=[3, 4])
    assert order(gone) == [rest[i] for i in order(small)]
    assert gone.weights is not None
    assert gone.weights[[3, 4]].tolist() == [0, 0]


def test_the_unwanted_have_no_weight_and_come_last() -> None:
    rule = random_program(5, 4)

    class Picky(Program):
        def pairs(self, stats: Any) -> tuple[np.ndarray, np.ndarray]:
            q, form = super().pairs(stats)
            q[0] = -np.inf
            return q, form

    out = search(Picky(rule.P, rule.c), 5)
    small = search(Program(rule.P[1:, 1:], rule.c[1:]), 4)
    assert out.weights is not None
    assert small.weights is not None
    assert out.weights.tolist() == pytest.approx([0, *small.weights], abs=1e-12)
    assert order(out)[-1] == 0
    assert order(search(Picky(rule.P, rule.c), 3, include=(0,)))[0] == 0
    nobody = Qp().run(
        lambda stats: (np.full(2, -np.inf), np.zeros((2, 2))), None, Task(2, "toy", free=np.ones(2, np.bool_))
    )
    assert order(nobody) == [0, 1]


def test_a_form_that_is_not_concave() -> None:
    Q = np.array([[1.0, 0.5], [0.5, 1.0]])  # as of spec_cmi: the more the better
    rule = Program(-2 * Q, np.zeros(2))
    with pytest.raises(InputError, match=r"not convex.*convexify=True"):
        search(rule, 1)
    out = search(rule, 2, Qp(convexify=True))
    assert out.facts["shift"] == pytest.approx(3)
    assert out.facts["unique"] is False


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"solver": "SCS"}, "solver must be 'OSQP' or 'CLARABEL'"),
        ({"convexify": "no"}, "convexify must be True or False"),
        ({"seconds": 0}, "seconds must be"),
    ],
)
def test_bad_settings(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Qp(**given)


def test_from_the_front_door() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = np.where(rng.random((80, 6)) < 0.5, y[:, None], rng.integers(0, 3, (80, 6)))
    rule = random_program(6, 7)
    result = jifs.select(X, y, 3, rule, strategy={"name": "qp", "solver": "CLARABEL"})
    assert result.weights == pytest.approx(qp.on_simplex(rule.P, rule.c).x, abs=1e-9)
    assert jifs.Result.from_json(result.to_json()).facts["kkt"] == result.facts["kkt"]


def test_a_ranking_puts_all_weight_on_the_best() -> None:
    """Its form is linear, and so is the program."""

    class Ranked:
        def ranks(self, stats: Any) -> np.ndarray:
            return np.array([0.1, -0.3, 0.7, 0.2])

    X = np.random.default_rng(1).integers(0, 2, (30, 5))
    result = jifs.select(X[:, :4], X[:, 4], 4, Ranked(), strategy="qp")
    assert result.weights is not None
    assert result.weights.tolist() == [0, 0, 1, 0]
    assert result.indices.tolist() == [2, 0, 1, 3]
