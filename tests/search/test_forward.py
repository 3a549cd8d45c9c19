"""Forward selection over a run made by hand: the order of its questions, and what each optional method changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from jifs.search.base import Below, Task
from jifs.search.forward import Forward

M = 6
# GAINS[t] are the scores when t features have been taken
GAINS = np.array(
    [
        [0.1, 0.9, 0.5, 0.3, 0.2, 0.0],
        [0.4, 9.0, 0.2, 0.4, 0.1, 0.0],
        [-1.0, 9.0, -2.0, -0.5, -3.0, -9.0],
        [-1.0, 9.0, -2.0, 9.0, -1.0, -9.0],
        [1.0, 9.0, 0.0, 9.0, 2.0, 1.0],
        [0.0, 9.0, 0.0, 9.0, 9.0, 7.0],
    ]
)


@dataclass
class Bare:
    """gains and take, no more; every question is written down."""

    asked: list[str] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)

    def gains(self) -> np.ndarray:
        self.asked.append("gains")
        return GAINS[len(self.taken)].copy()

    def take(self, j: int) -> None:
        self.asked.append(f"take {j}")
        self.taken.append(j)


class Full(Bare):
    """With everything that is optional."""

    def best(self, free: np.ndarray) -> np.ndarray:
        self.asked.append("best " + "".join(str(int(f)) for f in free))
        scores = GAINS[len(self.taken)].copy()
        rank = np.argsort(-np.where(free, scores, -np.inf), kind="stable")
        scores[rank[2:]] = -np.inf  # neither first nor second
        return scores

    def parts(self, j: int) -> dict[str, float]:
        return {"index": float(j), "size": float(len(self.taken))}

    def facts(self) -> dict[str, Any]:
        return {"seen": list(self.taken)}


def search(run: Any, k: int = M, **more: Any) -> Any:
    free = more.pop("free", np.ones(M, np.bool_))
    return Forward().run(lambda stats: run, None, Task(k, "toy", free=free, **more))


def search_that_is_interrupted(run: Any) -> Any:
    """As `search`; an interrupt that gets out is a failure, not the end of the tests."""
    try:
        return search(run)
    except KeyboardInterrupt:
        pytest.fail("the interrupt was not held")


def test_by_hand() -> None:
    out = search(Bare())
    assert [s.feature for s in out.steps] == [1, 0, 3, 4, 5, 2]
    assert [s.score for s in out.steps] == [0.9, 0.4, -0.5, -1.0, 1.0, 0.0]
    assert [s.runner_up for s in out.steps] == [2, 3, 2, 2, 2, None]
    assert [s.tie for s in out.steps] == [False, True, False, False, False, False]
    assert [s.margin for s in out.steps] == pytest.approx([0.4, 0.0, 1.5, 1.0, 1.0, None])
    assert not any(s.included for s in out.steps)
    assert all(s.parts == {} for s in out.steps)
    assert out.weights is None
    assert out.facts == {}


@pytest.mark.parametrize("k", range(M + 1))
def test_the_optional_methods_change_no_choice(k: int) -> None:
    bare, full = search(Bare(), k), search(Full(), k)
    for a, b in zip(bare.steps, full.steps, strict=True):
        assert (a.feature, a.score, a.runner_up, a.margin, a.tie) == (
            b.feature,
            b.score,
            b.runner_up,
            b.margin,
            b.tie,
        )


def test_the_last_feature_is_not_prepared_for_unless_somebody_reports() -> None:
    bare, full = Bare(), Full()
    search(bare, 2)
    assert bare.asked == ["gains", "take 1", "gains"]
    out = search(full, 2)
    assert full.asked == ["best 111111", "take 1", "best 101111", "take 0"]
    assert out.facts == {"seen": [1, 0]}


def test_parts_are_asked_for_before_the_feature_is_taken() -> None:
    out = search(Full(), 3, include=(5,))
    assert [s.parts for s in out.steps] == [
        {"index": float(s.feature), "size": float(t)} for t, s in enumerate(out.steps)
    ]


def test_included_features_are_taken_in_their_order_with_their_scores() -> None:
    run = Full()
    out = search(run, 4, include=(5, 2))
    assert [(s.feature, s.included) for s in out.steps] == [(5, True), (2, True), (1, False), (3, False)]
    assert [s.score for s in out.steps] == [0.0, 0.2, 9.0, 9.0]
    assert all(s.runner_up is None and s.margin is None and not s.tie for s in out.steps[:2])
    assert run.asked[-4:] == ["best 110110", "take 1", "best 100110", "take 3"]


def test_included_features_alone() -> None:
    run = Bare()
    out = search(run, 2, include=(4, 0))
    assert [s.feature for s in out.steps] == [4, 0]
    assert run.asked.count("gains") == 2


def test_excluded_features_are_never_taken_nor_second() -> None:
    free = np.array([False, False, True, True, True, True])
    out = search(Full(), M, free=free)
    assert sorted(s.feature for s in out.steps) == [2, 3, 4, 5]
    assert {s.runner_up for s in out.steps} <= {2, 3, 4, 5, None}
    assert free.tolist() == [False, False, True, True, True, True]  # the task stays as it was


def test_a_run_cannot_change_what_is_free() -> None:
    """It gets a copy, or may not write; either way nothing is chosen that is not there."""

    class Careless(Full):
        def best(self, free: np.ndarray) -> np.ndarray:
            scores = super().best(free)
            if free.flags.writeable:
                free[:] = False
            return scores

    careless, careful = search(Careless(), 3), search(Full(), 3)
    assert [s.feature for s in careless.steps] == [s.feature for s in careful.steps]


def test_nothing_free_is_nothing_taken() -> None:
    run = Full()
    assert search(run, 3, free=np.zeros(M, np.bool_)).steps == []
    assert search(Bare(), 0).steps == []


def test_every_step_is_told() -> None:
    told: list[int] = []
    out = search(Bare(), 4, include=(2,), advance=told.append)
    assert told == [s.feature for s in out.steps]


def test_a_stop_rule_is_asked_before_each_choice_and_ends_the_search() -> None:
    asked: list[Any] = []

    class Rule:
        def reason(self, taken: list[int], free: np.ndarray, score: float, run: Any) -> str | None:
            asked.append((list(taken), free.copy().tolist(), score, run))
            return "enough" if len(taken) == 3 else None

        def facts(self) -> dict[str, Any]:
            return {}

    run = Full()
    out = search(run, M, include=(5,), stop=Rule())
    assert [s.feature for s in out.steps] == [5, 1, 3]
    assert out.facts["stopped"] == "enough"
    assert out.facts["seen"] == [5, 1, 3]
    assert [a[0] for a in asked] == [[5], [5, 1], [5, 1, 3]]
    assert asked[0][1] == [True, True, True, True, True, False]
    assert [a[2] for a in asked] == [9.0, -0.5, -1.0]
    assert all(a[3] is run for a in asked)


def test_a_threshold_ends_the_search() -> None:
    out = search(Bare(), M, stop=Below(0.0))
    assert [s.feature for s in out.steps] == [1, 0]
    assert "below 0" in out.facts["stopped"]


@pytest.mark.parametrize(("where", "kept"), [("gains", 2), ("take 3", 3), ("take 0", 2)])
def test_an_interrupt_keeps_what_there_is(where: str, kept: int) -> None:
    class Interrupted(Bare):
        def gains(self) -> np.ndarray:
            if where == "gains" and len(self.taken) == 2:
                raise KeyboardInterrupt
            return super().gains()

        def take(self, j: int) -> None:
            if where == f"take {j}":
                raise KeyboardInterrupt
            super().take(j)

    out = search_that_is_interrupted(Interrupted())
    assert [s.feature for s in out.steps] == [1, 0, 3][:kept]
    assert out.facts["stopped"] == f"interrupted after {kept} features"


def test_an_interrupt_in_a_run_that_reports_still_reports() -> None:
    class Interrupted(Full):
        def best(self, free: np.ndarray) -> np.ndarray:
            if len(self.taken) == 2:
                raise KeyboardInterrupt
            return super().best(free)

    assert search_that_is_interrupted(Interrupted()).facts == {
        "stopped": "interrupted after 2 features",
        "seen": [1, 0],
    }


def test_an_interrupt_with_nothing_to_keep_goes_on() -> None:
    class Interrupted(Bare):
        def gains(self) -> np.ndarray:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(Interrupted())


def test_an_error_goes_on() -> None:
    class Faulty(Bare):
        def take(self, j: int) -> None:
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        search(Faulty())


def test_all_scores_minus_infinity_go_by_index() -> None:
    class Empty(Bare):
        def gains(self) -> np.ndarray:
            return np.full(M, -np.inf)

    out = search(Empty(), 3)
    assert [s.feature for s in out.steps] == [0, 1, 2]
    assert all(s.tie and s.margin == 0 for s in out.steps)


def test_what_it_says_of_itself() -> None:
    assert (Forward.name, Forward.needs) == ("forward", "steps")
