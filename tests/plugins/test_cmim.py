"""CMIM: the lazy run is the eager run, to the last bit and in fewer tables; with and without the marginal term."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from naive.entropy import cmi, mi
from naive.search import winner
from worlds import World, by_definition

import jifs
from jifs import registry


def graded(seed: int, n: int = 300, m: int = 40, levels: tuple[int, ...] = (2, 2, 3, 5)) -> World:
    """Features that know the class more or less, with some copies: enough for laziness to leave some unseen."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.where(rng.random((n, m)) < rng.random(m), y[:, None], rng.integers(0, 64, (n, m)))
    X %= rng.choice(levels, m)
    X[:, m // 2] = X[:, m // 3]
    X[:, m - 1] = 0
    return World(X, y)


def choose(world: World, k: int, lazy: bool = True, marginal: bool = False, **more: Any) -> jifs.Result:
    params = {"lazy": lazy, "include_marginal": marginal}
    return jifs.select(world.X, world.y, k, "cmim", params=params, bins="none", **more)


def desk(world: World, **more: Any) -> jifs.Stats:
    return jifs.Stats(jifs.memory(world.X, world.y, bins="none", **more))


def runs(world: World, marginal: bool = False) -> tuple[Any, Any]:
    make = registry.find("criterion", "cmim").make
    lazy, eager = (make(lazy=lazy, include_marginal=marginal).open(desk(world)) for lazy in (True, False))
    assert hasattr(lazy, "best")
    assert not hasattr(eager, "best")
    return lazy, eager


both_minima = pytest.mark.parametrize("marginal", [False, True], ids=["over S", "with the marginal"])

# ---- lazy and eager ------------------------------------------------------------------------------------------------

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "include": {"include": [3, 17]},
    "exclude": {"exclude": [1, 2, 20, 39]},
    "both": {"include": [39, 5], "exclude": list(range(10, 25))},
    "threshold": {"stop": 0.01},
    "permutation": {"stop": {"rule": "permutation", "permutations": 19}},
}


@both_minima
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("levels", [(2,), (2, 3, 5), (2, 10, 33, 64)], ids=["two", "few", "many"])
def test_lazy_is_eager(levels: tuple[int, ...], setting: str, marginal: bool) -> None:
    for seed in range(3):
        w = graded(seed, levels=levels)
        lazy, eager = (choose(w, 12, lazy, marginal, **SETTINGS[setting]) for lazy in (True, False))
        assert lazy.same_as(eager)
        assert lazy.trace == eager.trace  # the runner-up, the margin and the tie as well
        assert lazy.facts["tables_counted"] <= eager.facts["tables_counted"]
        assert lazy.facts.get("stopped") == eager.facts.get("stopped")


@pytest.mark.parametrize("n", [63, 64, 65, 513])
@pytest.mark.parametrize("m", [1, 7, 8, 9, 17])
def test_lazy_is_eager_at_the_edges_of_words_and_blocks(n: int, m: int) -> None:
    w = graded(n + m, n=n, m=max(m, 3))
    w = World(w.X[:, :m], w.y)
    lazy, eager = (choose(w, m, lazy) for lazy in (True, False))
    assert lazy.same_as(eager)
    assert lazy.trace == eager.trace


@both_minima
def test_the_definition(marginal: bool) -> None:
    for seed in range(3):
        w = graded(seed, m=10)
        path = by_definition(w, "cmim", 8, include_marginal=marginal)
        result = choose(w, 8, marginal=marginal)
        assert result.indices.tolist() == path.indices
        assert result.scores == pytest.approx(path.scores, abs=1e-10)


@both_minima
def test_what_is_complete_is_exact_and_what_is_left_cannot_win(marginal: bool) -> None:
    w = graded(4)
    lazy, eager = runs(w, marginal)
    free = np.ones(w.m, np.bool_)
    free[[0, 30]] = False
    left_out = 0
    for _ in range(10):
        partial, full = lazy.best(free.copy()), eager.gains()
        known = np.isfinite(partial)
        assert np.array_equal(partial[known & free], full[known & free])
        left = {j: float(full[j]) for j in np.flatnonzero(free)}
        first = winner(left)
        second = winner({j: s for j, s in left.items() if j != first})
        assert known[[first, second]].all()
        unknown = free & ~known
        left_out += int(unknown.sum())
        assert (full[unknown] <= full[second] + 1e-12).all()
        lazy.take(first)
        eager.take(first)
        free[first] = False
    assert left_out > 0


def test_all_gains_may_be_asked_for_at_any_time() -> None:
    w = graded(5)
    lazy, eager = runs(w)
    free = np.ones(w.m, np.bool_)
    for step, j in enumerate([4, 39, 11, 25, 2, 30]):
        if step % 2:
            lazy.best(free)
        if step % 3 == 0:
            assert np.array_equal(lazy.gains(), eager.gains())
        lazy.take(j)
        eager.take(j)
        free[j] = False
    assert np.array_equal(lazy.gains(), eager.gains())
    assert np.array_equal(lazy.gains(), eager.gains())  # and again, with nothing new to count


def test_asking_again_counts_nothing() -> None:
    w = graded(6)
    lazy, _ = runs(w)
    lazy.take(3)
    lazy.gains()
    counted = lazy.facts()["lazy_tables"]
    lazy.gains()
    lazy.best(np.ones(w.m, np.bool_))
    assert lazy.facts()["lazy_tables"] == counted == w.m


def test_the_tables_are_reported() -> None:
    w = graded(7, m=64)
    k = 12
    lazy, eager = (choose(w, k, lazy) for lazy in (True, False))
    facts = lazy.facts
    assert 0 < facts["lazy_tables"] < facts["eager_tables"]
    assert facts["tables_counted"] == w.m + facts["lazy_tables"]
    assert eager.facts["tables_counted"] == k * w.m
    # what the eager run would have counted: it does not prepare for a feature after the last
    assert facts["eager_tables"] == eager.facts["tables_counted"] - w.m


@pytest.mark.parametrize("case", ["miller_madow", "real weights", "wide column"])
def test_where_laziness_has_no_planes_the_eager_run_serves(case: str) -> None:
    w, more = graded(8, m=12), {}
    if case == "miller_madow":
        more = {"info": "miller_madow"}
    elif case == "real weights":
        more = {"sample_weight": np.linspace(0.2, 1, w.n)}
    else:
        w = World(np.column_stack([w.X, np.arange(w.n) % 100]), w.y)
    lazy, eager = (choose(w, 5, lazy, **more) for lazy in (True, False))
    assert lazy.same_as(eager)
    assert "lazy_tables" not in lazy.facts
    how = (
        {"weights": more["sample_weight"]} if case == "real weights" else {"info": more.get("info", "plugin")}
    )
    path = by_definition(w, "cmim", 5, **how)
    assert lazy.indices.tolist() == path.indices
    assert lazy.scores == pytest.approx(path.scores, abs=1e-10)


def test_threads_change_nothing() -> None:
    w = graded(9, m=64)
    one, two = (choose(w, 15, n_jobs=jobs) for jobs in (1, 2))
    assert one.same_as(two)
    assert one.facts["lazy_tables"] == two.facts["lazy_tables"]


# ---- the marginal term ---------------------------------------------------------------------------------------------


def test_the_marginal_term_only_lowers() -> None:
    w = graded(10)
    rows = [registry.find("criterion", "cmim").make(include_marginal=m).open(desk(w)) for m in (False, True)]
    relevance = np.array([mi(x, w.y) for x in w.columns])
    for j in (3, 8):
        for run in rows:
            run.take(j)
    over_s, with_marginal = (run.gains() for run in rows)
    assert with_marginal == pytest.approx(np.minimum(over_s, relevance), abs=1e-12)
    assert (with_marginal < over_s - 1e-6).any()


def test_xor_needs_the_minimum_over_s_only() -> None:
    a, b = np.repeat([0, 0, 1, 1], 8), np.repeat([0, 1, 0, 1], 8)
    w = World(np.column_stack([a, np.tile([0, 1], 16), b]), a ^ b)
    assert choose(w, 3).indices.tolist() == [0, 2, 1]
    assert choose(w, 3).scores.tolist() == pytest.approx([0, np.log(2), 0], abs=1e-12)
    assert choose(w, 3, marginal=True).indices.tolist() == [0, 1, 2]


def test_copies_and_constants_add_nothing_and_go_by_index() -> None:
    w = graded(11, m=6)
    X = np.column_stack([np.zeros(w.n, int), w.X[:, 1], w.X[:, 1], np.zeros(w.n, int)])
    for lazy in (True, False):
        result = choose(World(X, w.y), 4, lazy)
        assert result.indices.tolist() == [1, 0, 2, 3]
        assert result.scores[1:] == pytest.approx([0, 0, 0], abs=1e-12)
        assert [step.tie for step in result.trace] == [True, True, True, False]


def test_the_first_score_is_the_relevance_and_the_parts_keep_it() -> None:
    w = graded(12, m=10)
    result = choose(w, 5)
    for step in result.trace:
        assert step.parts == {"relevance": pytest.approx(mi(w.columns[step.feature], w.y), abs=1e-10)}
    first, second = result.indices[:2]
    assert result.scores[0] == pytest.approx(mi(w.columns[first], w.y), abs=1e-10)
    assert result.scores[1] == pytest.approx(cmi(w.columns[second], w.y, w.columns[first]), abs=1e-10)
