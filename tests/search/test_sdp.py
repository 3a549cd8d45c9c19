"""Strategy `sdp`: a set and its order, bounds in the facts, what is fixed, any signs, refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from naive import spectral as naive

import jifs
from jifs.errors import InputError, MismatchError
from jifs.relax import sdp
from jifs.search.base import Below, Outcome, Task
from jifs.search.sdp import Sdp

pytest.importorskip("cvxpy")


@dataclass
class Desk:
    """Stands for Stats."""

    warnings: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        self.warnings.append(text)


@dataclass(frozen=True)
class Form:
    """A criterion with this form."""

    Q: Any

    def pairs(self, stats: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.Q.diagonal().copy(), self.Q


def random_form(n: int, seed: int = 0) -> np.ndarray:
    A = np.random.default_rng(seed).random((n, n))
    return (A + A.T) / 2


def search(Q: np.ndarray, k: int, how: Sdp | None = None, exclude: Any = (), **more: Any) -> Outcome:
    free = np.ones(len(Q), np.bool_)
    free[list(exclude)] = False
    return (how or Sdp()).run(Form(Q).pairs, more.pop("desk", Desk()), Task(k, "toy", free=free, **more))


def order(out: Outcome) -> list[int]:
    return [s.feature for s in out.steps]


@pytest.mark.parametrize("how", [Sdp(), Sdp(tight=True), Sdp(rows="V", orient=True, solver="CLARABEL")])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_rounded_set_in_forward_order(how: Sdp, k: int) -> None:
    Q, desk = random_form(7, k), Desk()
    out = search(Q, k, how, seed=4, desk=desk)
    relaxed = sdp.solve(Q, k, how.tight, how.solver)
    S = sdp.round_off(Q, k, relaxed.Y, how.draws, 4, how.rows, how.orient).tolist()
    assert sorted(order(out)) == S
    taken: list[int] = []
    for step in out.steps:
        values = {j: naive.value(Q, [*taken, j]) for j in S if j not in taken}
        assert step.score == pytest.approx(max(values.values()))
        assert values[step.feature] == pytest.approx(step.score)
        taken.append(step.feature)
    assert out.facts["value"] == pytest.approx(naive.value(Q, S))
    assert out.facts["bound"] == pytest.approx(relaxed.bound, rel=1e-9)
    best = naive.best(Q, k)
    assert out.facts["value"] <= best + 1e-12
    assert out.facts["upper_bound"] >= best - 1e-9
    assert max(out.facts["residuals"].values()) < 1e-4
    assert desk.warnings == []
    assert out.weights is None


def test_tight_is_tighter() -> None:
    Q = random_form(9, 1)
    loose, tight = (search(Q, 2, Sdp(tight=t)).facts["upper_bound"] for t in (False, True))
    assert tight < 0.7 * loose


def test_the_edges() -> None:
    Q = random_form(5, 2)
    assert order(search(Q, 0)) == []
    everything = search(Q, 5)
    assert sorted(order(everything)) == [0, 1, 2, 3, 4]
    assert everything.facts["bound"] == pytest.approx(Q.sum())
    assert everything.facts["status"] == "read off"
    assert order(search(np.zeros((4, 4)), 2)) == [0, 1]
    assert order(search(np.array([[0.3]]), 1)) == [0]


@pytest.mark.parametrize("tight", [False, True])
def test_the_included_are_fixed_and_the_excluded_gone(tight: bool) -> None:
    Q = random_form(9, 3)
    out = search(Q, 4, Sdp(tight=tight), include=(6, 1), exclude=[0, 4])
    assert order(out)[:2] == [6, 1]
    assert not {0, 4} & set(order(out))
    assert [s.included for s in out.steps] == [True, True, False, False]
    sets = [[6, 1, i, j] for i in (2, 3, 5, 7, 8) for j in (2, 3, 5, 7, 8) if i < j]
    best = max(naive.value(Q, S) for S in sets)
    assert out.facts["value"] == pytest.approx(naive.value(Q, order(out)))
    assert out.facts["value"] <= best + 1e-12
    assert out.facts["upper_bound"] >= best - 1e-9
    assert out.steps[-1].score == pytest.approx(out.facts["value"])
    assert order(search(Q, 2, include=(6, 1))) == [6, 1]


def test_any_signs() -> None:
    Q = random_form(8, 4) - 0.6
    out = search(Q, 3, Sdp(tight=True))
    assert out.facts["value"] <= naive.best(Q, 3) + 1e-12 <= out.facts["upper_bound"] + 1e-9


def test_the_unwanted_come_last() -> None:
    Q = random_form(5, 5)

    class Picky(Form):
        def pairs(self, stats: Any) -> tuple[np.ndarray, np.ndarray]:
            q, form = super().pairs(stats)
            q[[0, 2]] = -np.inf
            return q, form

    task = Task(4, "toy", free=np.ones(5, np.bool_))
    out = Sdp().run(Picky(Q).pairs, Desk(), task)
    assert set(order(out)[:3]) == {1, 3, 4}
    assert (order(out)[3], out.steps[3].score) == (0, -np.inf)


def test_what_is_not_solved_is_said() -> None:
    desk = Desk()
    out = search(random_form(20, 6), 3, Sdp(solver="CLARABEL", seconds=1e-9), desk=desk)
    assert len(out.steps) == 3
    assert len(desk.warnings) == 1
    assert "is not solved" in desk.warnings[0]
    assert "upper_bound" in desk.warnings[0]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tight": 1}, "tight must be True or False"),
        ({"orient": "yes"}, "orient must be True or False"),
        ({"draws": 0}, "draws must be a whole number"),
        ({"limit": 2.5}, "limit must be a whole number"),
        ({"rows": "Z"}, "rows must be 'Y' or 'V'"),
        ({"solver": "SDPT3"}, "solver must be 'SCS' or 'CLARABEL'"),
        ({"seconds": -1}, "seconds must be"),
    ],
)
def test_bad_settings(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Sdp(**given)


def test_limits_and_stop_rules() -> None:
    with pytest.raises(InputError, match="9 features are more than limit = 8"):
        search(random_form(9), 3, Sdp(limit=8))
    assert len(search(random_form(9), 3, Sdp(limit=8), exclude=[2]).steps) == 3
    with pytest.raises(MismatchError, match="strategy 'sdp' ends at k features and takes no stop rule"):
        search(random_form(5), 3, stop=Below(1.0))


def test_from_the_front_door() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = np.where(rng.random((80, 6)) < 0.5, y[:, None], rng.integers(0, 3, (80, 6)))
    Q = random_form(6, 7)
    ticks: list[Any] = []
    result = jifs.select(
        *(X, y, 3, Form(Q)),
        strategy={"name": "sdp", "tight": True, "draws": 20},
        random_state=5,
        progress=lambda *tick: ticks.append(tick),
    )
    relaxed = sdp.solve(Q, 3, tight=True)
    assert sorted(result.indices.tolist()) == sdp.round_off(Q, 3, relaxed.Y, draws=20, seed=5).tolist()
    assert result.facts["settings"]["strategy"]["tight"] is True
    assert jifs.Result.from_json(result.to_json()).facts["bound"] == result.facts["bound"]
    assert ticks
