"""The permutation test: its statistic, its shuffles, its p-values, and the rate at which it is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from naive.entropy import cmi, joint
from worlds import World

import jifs
from jifs.errors import InputError, MismatchError
from jifs.estimators.permutation import Left, Permutation


def desk(world: World, **more: Any) -> jifs.Stats:
    return jifs.Stats(jifs.memory(world.X, world.y, bins="none", task="class", **more))


def random_world(
    seed: int, n: int = 60, levels: tuple[int, ...] = (2, 3, 2, 5, 4), classes: int = 3
) -> World:
    rng = np.random.default_rng(seed)
    return World(np.column_stack([rng.integers(0, r, n) for r in levels]), rng.integers(0, classes, n))


def statistic(X: np.ndarray, y: np.ndarray, S: list[int], free: np.ndarray) -> float:
    """max over free j of I(X_j;Y|X_S), by definition."""
    given = joint(*(X[:, s] for s in S)) if S else np.zeros(len(y), int)
    return max(cmi(X[:, j], y, given) for j in np.flatnonzero(free))


@dataclass
class Watch:
    """Every set of rows the test looked at, and the largest information it found there."""

    rows: list[np.ndarray] = field(default_factory=list)
    answers: list[np.ndarray] = field(default_factory=list)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    seen, real = Watch(), Left.information

    def information(self: Left, rows: np.ndarray) -> np.ndarray:
        answer = real(self, rows)
        seen.rows.append(rows.copy())
        seen.answers.append(answer.copy())
        return answer

    monkeypatch.setattr(Left, "information", information)
    return seen


def run(world: World, S: list[int], seed: int = 0, level: float = 0.9, permutations: int = 25) -> Permutation:
    rule = Permutation(desk(world), level, permutations, seed)
    free = np.ones(world.m, np.bool_)
    free[S] = False
    rule.reason(S, free, 0.0, None)
    return rule


@pytest.mark.parametrize("S", [[], [0], [1, 2], [3, 0, 2]], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_p_value_is_that_of_the_definition(S: list[int], seed: int, watch: Watch) -> None:
    """Each shuffle is replayed on the raw columns and its statistic computed from the formula."""
    w = random_world(seed)
    rule = run(w, S, seed)
    order = np.argsort(w.y, kind="stable")  # the engine keeps rows by class
    X, y = w.X[order], w.y[order]
    free = np.isin(np.arange(w.m), S, invert=True)
    observed = statistic(X, y, S, free)
    assert watch.answers[0].max() == pytest.approx(observed, abs=1e-10)
    reached = 0
    for rows, answer in zip(watch.rows[1:], watch.answers[1:], strict=True):
        moved = X.copy()
        moved[watch.rows[0]] = X[rows]
        expected = statistic(moved, y, S, free)
        assert answer.max() == pytest.approx(expected, abs=1e-10)
        reached += expected >= observed - 1e-12
    assert rule.p_values == [pytest.approx((1 + reached) / (1 + len(watch.rows) - 1))]
    assert rule.facts() == {"permutation_p_values": rule.p_values}


@pytest.mark.parametrize("S", [[], [0], [3, 2]], ids=str)
def test_planes_and_a_walk_over_the_rows_agree(S: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    w = random_world(4, n=300)
    answers = []
    for most in (64, 0):
        monkeypatch.setattr("jifs.estimators.permutation.PLANE_LEVELS", most)
        stats, state = desk(w), None
        for j in S:
            state = stats.join(state, j)
        left = Left(stats, state, np.array([j for j in range(w.m) if j not in S]))
        assert left.by_planes == (most > 0)
        random = np.random.default_rng(1)
        answers.append(
            [left.information(left.rows), *(left.information(left.shuffled(random)) for _ in range(5))]
        )
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-13)


@pytest.mark.parametrize("S", [[0], [1, 2], [3, 0, 2]], ids=str)
def test_shuffles_stay_among_rows_that_agree_in_S(S: list[int], watch: Watch) -> None:
    w = random_world(5, n=90)
    run(w, S)
    order = np.argsort(w.y, kind="stable")
    state = joint(*(w.X[order, s] for s in S))
    first = watch.rows[0]
    assert len(watch.rows) > 5
    for rows in watch.rows[1:]:
        assert np.array_equal(state[rows], state[first])
        assert np.array_equal(np.sort(rows), np.sort(first))
        assert not np.array_equal(rows, first)
    assert len({rows.tobytes() for rows in watch.rows}) == len(watch.rows)


def test_everything_known_from_S_is_nothing_new() -> None:
    """y depends on s alone, and every other feature is a noisy copy of s: only shuffles within s can see that."""
    p_values = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        s = rng.integers(0, 3, 200)
        y = np.where(rng.random(200) < 0.7, s, rng.integers(0, 3, 200))
        copies = [np.where(rng.random(200) < 0.8, s, rng.integers(0, 3, 200)) for _ in range(4)]
        w = World(np.column_stack([s, *copies]), y)
        assert run(w, [], seed, level=0.05, permutations=19).p_values == [1 / 20]
        p_values += run(w, [0], seed, level=0.05, permutations=19).p_values
    assert sum(p <= 0.05 for p in p_values) <= 5  # 1.5 are expected
    assert np.median(p_values) > 0.2


def test_something_new_beside_S_is_found() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 200))
    w = World(np.column_stack([a, b, rng.integers(0, 2, 200)]), a ^ b)
    assert run(w, [0], level=0.05, permutations=99).p_values == [1 / 100]


@pytest.mark.parametrize(
    "y", [np.zeros(6, int), np.array([0, 0, 1, 1, 2, 2])], ids=["one class", "decided by S"]
)
def test_nothing_to_shuffle_is_no_information(y: np.ndarray) -> None:
    X = np.column_stack([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]])
    rule = run(World(X, y), [0])
    assert rule.p_values == [1.0]


def test_a_value_for_every_row_leaves_nothing_to_shuffle() -> None:
    w = random_world(1, n=30)
    assert run(World(np.column_stack([np.arange(30), w.X]), w.y), [0]).p_values == [1.0]


def test_only_free_candidates_count() -> None:
    w = random_world(2, n=200)
    X = w.X.copy()
    X[:, 4] = w.y
    rule = Permutation(desk(World(X, w.y)), 0.05, 39)
    free = np.array([True, True, True, True, False])
    assert rule.p_value(free) > 0.05
    free[4] = True
    assert rule.p_value(free) == 1 / 40


def test_what_is_not_free_is_not_shuffled_against() -> None:
    """A column of row numbers has much information by chance; excluded, it must not stand in the way."""
    w = random_world(2, n=200)
    X = np.column_stack([w.X, np.where(np.arange(200) % 3 == 0, 0, w.y), np.arange(200)])
    rule = Permutation(desk(World(X, w.y)), 0.05, 39)
    assert rule.p_value(np.ones(7, np.bool_)) == 1.0
    assert rule.p_value(np.arange(7) < 6) == 1 / 40


def test_the_search_is_told_when_to_stop() -> None:
    w = random_world(3, n=200)
    X = w.X.copy()
    X[:, 4] = w.y
    rule = Permutation(desk(World(X, w.y)), 0.05, 39)
    free = np.ones(5, np.bool_)
    assert rule.reason([], free, 1.0, None) is None
    free[4] = False
    reason = rule.reason([4], free, 0.0, None)
    assert reason is not None
    assert "permutation p = 1 > 0.05" in reason  # feature 4 is the class: nothing is left
    assert rule.p_values == [1 / 40, 1.0]


def test_giving_up_early_changes_no_decision() -> None:
    """Shuffling ends when the level is out of reach; the p-value is then above the level, as it would have been."""
    for seed in range(25):
        w = random_world(seed, n=40)
        stats = desk(w)
        early = Permutation(stats, 0.2, 49, seed)
        patient = Permutation(stats, 0.999, 49, seed)  # never gives up before nearly all are drawn
        free = np.ones(w.m, np.bool_)
        assert (early.p_value(free) <= 0.2) == (patient.p_value(free) <= 0.2)


@pytest.mark.parametrize("S", [[], [0]], ids=["marginal", "given a feature"])
def test_the_level_is_kept(S: list[int]) -> None:
    """Under the null hypothesis the test is wrong as often as its level says: 200 worlds, within binomial limits."""
    worlds, level, wrong = 200, 0.1, 0
    for seed in range(worlds):
        w = random_world(1000 + seed, n=80)
        wrong += run(w, S, seed, level, 19).p_values[0] <= level
    spread = np.sqrt(worlds * level * (1 - level))
    assert abs(wrong - worlds * level) <= 3 * spread


def test_the_number_of_candidates_is_allowed_for() -> None:
    """The best of forty is compared with the best of forty."""
    wrong = sum(
        run(random_world(seed, 60, (2,) * 40, 2), [], seed, 0.1, 19).p_values[0] <= 0.1 for seed in range(60)
    )
    assert wrong <= 13  # 6 expected, 2.3 the deviation


def test_the_seed_and_the_step_decide_the_shuffles() -> None:
    w = random_world(7)
    one, same = (run(w, [0], seed=3).p_values for _ in range(2))
    assert one == same
    assert len({tuple(run(w, [0], seed=s).p_values) for s in range(6)}) > 1


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5])
def test_levels_refused(level: float) -> None:
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        Permutation(desk(random_world(0)), level)


@pytest.mark.parametrize(("permutations", "level"), [(18, 0.05), (0, 0.5), (8, 0.1), (30.5, 0.05)])
def test_permutations_refused(permutations: Any, level: float) -> None:
    with pytest.raises(InputError, match="permutations"):
        Permutation(desk(random_world(0)), level, permutations)


def test_real_weights_are_refused() -> None:
    w = random_world(0)
    with pytest.raises(InputError, match="cannot honour real sample weights"):
        Permutation(desk(w, sample_weight=np.linspace(0.1, 1, w.n)))


def test_rows_must_be_at_hand() -> None:
    stats = desk(random_world(0))
    stats.source.batch = None
    with pytest.raises(MismatchError, match=r"stop='permutation' needs the rows in memory"):
        Permutation(stats)
