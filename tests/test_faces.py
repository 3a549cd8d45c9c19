"""The five faces: every conversion against direct computation, the shortest way, and the words when there is none."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from naive.entropy import mi
from worlds import World

import jifs
from jifs import faces, registry
from jifs.errors import InputError, MismatchError
from jifs.search.base import Outcome, Taken

RNG = np.random.default_rng(11)
M = 5
SCORES = np.array([0.5, -1.0, 2.0, 2.0, 0.0])
Q = RNG.integers(-4, 5, M).astype(float)
FORM = RNG.integers(-4, 5, (M, M)).astype(float)  # not symmetric, and with a diagonal that must not count


@dataclass
class Desk:
    """What a conversion asks of the stats: how many features there are."""

    m: int = M


@dataclass
class Ranked:
    """Shows ranks."""

    scores: np.ndarray = field(default_factory=SCORES.copy)

    def ranks(self, stats: Any) -> np.ndarray:
        return self.scores[: stats.m]


class Form:
    """Shows pairs."""

    def pairs(self, stats: Any) -> tuple[np.ndarray, np.ndarray]:
        return Q[: stats.m], FORM[: stats.m, : stats.m]


class Valued:
    """Shows sets: a function that is no sum."""

    def value(self, stats: Any, S: Sequence[int]) -> float:
        return float(np.prod([SCORES[j] + 3 for j in S])) if len(S) else 0.0


@dataclass
class Walk:
    """A run whose gains fall by one with each feature taken."""

    base: np.ndarray
    taken: list[int] = field(default_factory=list)

    def gains(self) -> np.ndarray:
        return self.base - len(self.taken)

    def take(self, j: int) -> None:
        self.taken.append(j)


class Stepped:
    """Shows steps."""

    def open(self, stats: Any) -> Walk:
        return Walk(SCORES[: stats.m])


class Smooth:
    """Shows weights."""

    def smooth(self, stats: Any) -> Any:
        return lambda w: (float(w @ w), 2 * w)


def quadratic(S: Sequence[int]) -> float:
    """sum_S q + sum over ordered pairs i != j in S of Q_ij, one by one."""
    return sum(Q[i] for i in S) + sum(FORM[i, j] for i in S for j in S if i != j)


subsets = [list(s) for r in range(M + 1) for s in itertools.combinations(range(M), r)]

# ---- what a criterion shows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "own"),
    [(Ranked, "ranks"), (Stepped, "steps"), (Valued, "sets"), (Form, "pairs"), (Smooth, "weights")],
)
def test_a_face_is_a_method(criterion: Any, own: str) -> None:
    assert faces.faces_of(criterion) == faces.faces_of(criterion()) == (own,)


def test_faces_come_in_the_order_of_the_contract() -> None:
    class All(Smooth, Form, Valued, Stepped, Ranked): ...

    assert faces.faces_of(All) == ("ranks", "steps", "sets", "pairs", "weights")


def test_an_attribute_that_cannot_be_called_is_no_face() -> None:
    class Fake:
        ranks = 3
        value = None

    assert faces.faces_of(Fake()) == ()


def test_a_run_is_a_run() -> None:
    assert isinstance(Walk(SCORES), faces.Run)
    assert not isinstance(object(), faces.Run)


# ---- each conversion -----------------------------------------------------------------------------------------------


def test_steps_to_ranks_is_the_first_step() -> None:
    ranks = faces.as_face(Stepped(), "ranks")
    assert ranks(Desk()).tolist() == SCORES.tolist()
    assert ranks(Desk()).tolist() == SCORES.tolist()  # a run of its own each time


def test_ranks_to_pairs_has_no_company() -> None:
    q, form = faces.as_face(Ranked(), "pairs")(Desk())
    assert q.tolist() == SCORES.tolist()
    assert form.shape == (M, M)
    assert not form.any()


@pytest.mark.parametrize("S", subsets, ids=str)
def test_pairs_to_sets(S: list[int]) -> None:
    value = faces.as_face(Form(), "sets")(Desk(), S)
    assert isinstance(value, float)
    assert value == pytest.approx(quadratic(S), abs=1e-12)


@pytest.mark.parametrize("order", list(itertools.permutations(range(M)))[::17], ids=str)
def test_pairs_to_steps_is_what_each_feature_adds(order: tuple[int, ...]) -> None:
    run = faces.as_face(Form(), "steps")(Desk())
    S: list[int] = []
    for taken in order:
        gains = run.gains()
        for j in set(range(M)) - set(S):
            added = quadratic([*S, j]) - quadratic(S)
            assert gains[j] == pytest.approx(added, abs=1e-12)
            assert sum(run.parts(j).values()) == pytest.approx(added, abs=1e-12)
        run.take(taken)
        S.append(taken)


def test_sets_to_steps_tries_every_feature() -> None:
    run = faces.as_face(Valued(), "steps")(Desk())
    S: list[int] = []
    for taken in (3, 0, 4):
        expected = [-np.inf if j in S else Valued().value(Desk(), [*S, j]) for j in range(M)]
        assert run.gains().tolist() == expected
        run.take(taken)
        S.append(taken)


def test_ranks_to_sets_is_a_sum() -> None:
    value = faces.as_face(Ranked(), "sets")
    for S in subsets:
        assert value(Desk(), S) == pytest.approx(SCORES[S].sum(), abs=1e-12)


def test_ranks_to_steps_never_changes() -> None:
    run = faces.as_face(Ranked(), "steps")(Desk())
    for j in (2, 0, 4):
        assert run.gains().tolist() == SCORES.tolist()
        run.take(j)


def test_two_runs_of_one_criterion_do_not_meet() -> None:
    for criterion in (Form(), Valued(), Ranked()):
        start = faces.as_face(criterion, "steps")
        one, other = start(Desk()), start(Desk())
        before = other.gains().tolist()
        one.take(2)
        assert other.gains().tolist() == before


def test_the_fast_and_the_slow_way_to_steps_choose_alike() -> None:
    """A quadratic form by running sums, and as a set function tried feature by feature."""
    value = faces.as_face(Form(), "sets")

    class Slow:
        def value(self, stats: Any, S: Sequence[int]) -> float:
            return float(value(stats, S))

    fast, slow = (faces.as_face(c, "steps")(Desk()) for c in (Form(), Slow()))
    S: list[int] = []
    for _ in range(M):
        free = [j for j in range(M) if j not in S]
        there = slow.gains()[free] - quadratic(S)
        assert fast.gains()[free] == pytest.approx(there, abs=1e-12)
        j = free[int(np.argmax(there))]
        fast.take(j)
        slow.take(j)
        S.append(j)


# ---- the shortest way ----------------------------------------------------------------------------------------------

WAYS = {
    "ranks": ["steps", "pairs"],
    "steps": ["ranks"],
    "sets": ["steps"],
    "pairs": ["sets", "steps"],
    "weights": [],
}


def steps_between(start: str, goal: str) -> float:
    """How many conversions lead from one face to another, by trying all chains."""
    if start == goal:
        return 0
    chains = (p for r in range(4) for p in itertools.permutations(set(WAYS) - {start, goal}, r))
    lengths = [
        len(chain) + 1
        for chain in chains
        if all(b in WAYS[a] for a, b in itertools.pairwise((start, *chain, goal)))
    ]
    return min(lengths, default=np.inf)


class Witness:
    """Shows the faces it is told to, and remembers which of them was asked."""

    def __init__(self, shown: Sequence[str]) -> None:
        self.asked: list[str] = []
        parts = {
            "ranks": Ranked(),
            "steps": Stepped(),
            "sets": Valued(),
            "pairs": Form(),
            "weights": Smooth(),
        }
        for face in shown:
            method = faces.METHODS[face]
            setattr(self, method, self._noting(face, getattr(parts[face], method)))

    def _noting(self, face: str, method: Any) -> Any:
        def noting(*args: Any) -> Any:
            self.asked.append(face)
            return method(*args)

        return noting


@pytest.mark.parametrize(
    "shown", [s for r in (1, 2, 3) for s in itertools.combinations(faces.METHODS, r)], ids="+".join
)
def test_the_nearest_face_is_asked(shown: tuple[str, ...]) -> None:
    for goal in ("ranks", "steps", "sets", "pairs"):
        if goal not in faces.reachable(shown):
            continue
        witness = Witness(shown)
        seen = faces.as_face(witness, goal)
        answer = seen(Desk(), [0, 1]) if goal == "sets" else seen(Desk())
        if goal == "steps":
            answer.gains()
        assert set(witness.asked) <= set(shown)
        nearest = min(steps_between(face, goal) for face in shown)
        assert {steps_between(face, goal) for face in witness.asked} == {nearest}, goal
        if (
            "ranks" in witness.asked and goal != "ranks"
        ):  # it knows the least, and is asked when nobody else is near
            assert all(steps_between(face, goal) > nearest for face in shown if face != "ranks")


def test_an_own_face_is_used_as_it_is() -> None:
    class Both(Stepped, Form):
        """Steps of its own, and a form that would give others."""

    own = Both()
    assert faces.as_face(own, "steps").__func__ is Stepped.open  # type: ignore[attr-defined]
    assert isinstance(faces.as_face(own, "steps")(Desk()), Walk)


@pytest.mark.parametrize(
    ("own", "all_"),
    [
        (("ranks",), {"ranks", "pairs", "sets", "steps"}),
        (("pairs",), {"ranks", "pairs", "sets", "steps"}),
        (("weights",), {"weights"}),
        ((), set()),
    ],
)
def test_what_can_be_had(own: tuple[str, ...], all_: set[str]) -> None:
    assert set(faces.reachable(own)) == all_
    assert list(faces.reachable(own)) == [face for face in faces.METHODS if face in all_]


@pytest.mark.parametrize("own", [("steps",), ("sets",), ("sets", "steps")], ids="+".join)
def test_a_first_step_does_not_become_a_form(own: tuple[str, ...]) -> None:
    """The first step ranks features; a quadratic form or a set function made of it would be another criterion."""
    assert set(faces.reachable(own)) == {*own, "steps", "ranks"}


def test_no_way_is_said() -> None:
    with pytest.raises(MismatchError, match=r"Ranked has no `smooth`"):
        faces.as_face(Ranked(), "weights")


# ---- the words when criterion and strategy do not meet -------------------------------------------------------------


def test_the_message_names_who_lacks_what_and_what_would_work() -> None:
    text = str(faces.mismatch("jmi", "exhaustive", "sets", ["forward", "rank"], ["cfs", "hsic"]))
    assert text == (
        "criterion 'jmi' has no `value`, which strategy 'exhaustive' needs; it works with strategy forward or rank; "
        "criteria with `value`: cfs, hsic."
    )
    assert str(faces.mismatch("odd", "l1", "weights", [], [])) == (
        "criterion 'odd' has no `smooth`, which strategy 'l1' needs."
    )


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    for kind in registry.KINDS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


WORLD = World(RNG.integers(0, 3, (60, M)), RNG.integers(0, 2, 60))


def choose(criterion: Any, k: int = 3, **more: Any) -> jifs.Result:
    return jifs.select(WORLD.X, WORLD.y, k, criterion, bins="none", **more)


def searching(need: str) -> None:
    """A strategy that needs a face, and takes feature 0 with whatever it is given."""

    @dataclass(frozen=True)
    class Strategy:
        needs = need

        def run(self, face: Any, stats: Any, task: Any) -> Outcome:
            return Outcome([Taken(0, 0.0, {})], facts={"face": face})

    jifs.strategy(f"by_{need}")(Strategy)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(("need", "method"), [("weights", "smooth"), ("sets", "value"), ("pairs", "pairs")])
def test_a_search_refuses_what_it_cannot_use(need: str, method: str) -> None:
    searching(need)
    jifs.criterion("toy_smooth")(Smooth)
    jifs.criterion("toy_form")(Form)
    with pytest.raises(MismatchError) as caught:
        choose("jmi", strategy=f"by_{need}")
    text = str(caught.value)
    assert f"'jmi' has no `{method}`, which strategy 'by_{need}' needs" in text
    works, _, others = text.partition("it works with strategy ")[2].partition("; ")
    assert {"forward", "rank"} <= set(works.replace(" or ", " ").split())
    assert f"by_{need}" not in works
    toy = "toy_smooth" if need == "weights" else "toy_form"
    assert f"`{method}`" in others
    assert toy in others
    assert "jmi" not in others
    assert "\n" not in text


@pytest.mark.usefixtures("door")
def test_a_criterion_without_any_face_is_refused() -> None:
    @jifs.criterion("blank")
    class Blank: ...

    with pytest.raises(MismatchError, match=r"'blank' has no `open`, which strategy 'forward' needs.*jmi"):
        choose("blank")


@pytest.mark.usefixtures("door")
def test_a_search_gets_the_face_it_needs() -> None:
    searching("sets")
    value = choose(Form(), strategy="by_sets").facts["face"]
    assert value(Desk(), [1, 3]) == pytest.approx(quadratic([1, 3]), abs=1e-12)


# ---- a criterion that is an object ---------------------------------------------------------------------------------


def test_an_object_with_ranks() -> None:
    result = choose(Ranked(), 4, strategy="rank")
    assert result.indices.tolist() == [2, 3, 0, 4]
    assert result.scores.tolist() == [2.0, 2.0, 0.5, 0.0]
    assert result.criterion == "ranked"
    assert result.info is None
    assert [step.tie for step in result.trace] == [True, False, False, False]


def test_an_object_with_a_form_goes_forward() -> None:
    result = choose(Form(), M)
    S: list[int] = []
    for j, score in zip(result.indices.tolist(), result.scores.tolist(), strict=True):
        added = {i: quadratic([*S, i]) - quadratic(S) for i in range(M) if i not in S}
        assert score == pytest.approx(max(added.values()), abs=1e-12)
        assert j == min(i for i, a in added.items() if a == max(added.values()))
        S.append(j)
    assert result.trace[-1].parts.keys() == {"alone", "in_company"}


def test_an_object_with_a_value_goes_forward() -> None:
    result = choose(Valued())
    assert result.indices.tolist() == [2, 3, 0]
    assert result.scores.tolist() == [5.0, 25.0, 25.0 * 3.5]


def test_an_object_with_steps_goes_forward_and_can_be_ranked() -> None:
    assert choose(Stepped(), 3).scores.tolist() == [2.0, 1.0, -1.5]
    assert choose(Stepped(), 3, strategy="rank").scores.tolist() == [2.0, 2.0, 0.5]


def test_an_object_of_a_registered_class() -> None:
    made = registry.find("criterion", "mifs").make(beta=0.5)
    named = choose("mifs", params={"beta": 0.5})
    assert choose(made).same_as(named)
    assert named.scores[0] == pytest.approx(max(mi(x, WORLD.y) for x in WORLD.columns), abs=1e-12)


def test_parameters_do_not_go_with_an_object() -> None:
    """They would be written into the result and used by nobody."""
    with pytest.raises(InputError, match="params"):
        choose(Ranked(), params={"beta": 2.0})


def test_an_info_does_not_go_with_an_object_that_has_its_own() -> None:
    made = registry.find("criterion", "jmi").make()
    assert choose(made).info == "plugin"
    with pytest.raises(InputError, match="info"):
        choose(made, info="miller_madow")


def test_an_object_may_have_an_info_that_is_not_registered() -> None:
    class Twice(jifs.Info):
        def relevance(self, stats: Any) -> np.ndarray:
            return 2 * np.asarray(jifs.info("plugin").relevance(stats))

    made = registry.find("criterion", "mim").make(info=Twice())
    assert choose(made, strategy="rank").scores == pytest.approx(2 * choose("mim").scores, abs=1e-12)


@pytest.mark.parametrize("thing", [Ranked, 7, None, object(), ["jmi"]], ids=repr)
def test_what_is_no_criterion_is_refused(thing: Any) -> None:
    with pytest.raises(InputError, match="criterion must be a name or an object"):
        choose(thing)
