"""mRMR as a function of a set: Phi by its definition, and its greedy ascent step by step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from naive.entropy import mi
from naive.search import forward
from worlds import World

import jifs
from jifs import faces, registry


def phi(world: World, S: list[int], info: str = "plugin") -> float:
    """(1/|S|) sum I(X_d;Y) - (1/|S|^2) sum over all d, l in S of I(X_d;X_l), the diagonal included."""
    x = world.columns
    relevance = np.mean([mi(x[d], world.y, info=info) for d in S])
    return float(relevance - np.mean([[mi(x[d], x[s], info=info) for s in S] for d in S]))


def graded(seed: int, m: int = 6) -> World:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 200)
    own = np.where(rng.random((200, m)) < np.linspace(0.1, 0.7, m), y[:, None], rng.integers(0, 5, (200, m)))
    return World(own % rng.choice([2, 3, 5], m), y)


@pytest.mark.parametrize("info", ["plugin", "miller_madow"])
def test_the_value_of_every_set(info: str) -> None:
    w = graded(0)
    rule = registry.find("criterion", "mrmr_phi").make(info=jifs.info(info))
    stats = jifs.Stats(jifs.memory(w.X, w.y))
    assert rule.value(stats, []) == 0
    for size in range(1, w.m + 1):
        for S in itertools.combinations(range(w.m), size):
            assert rule.value(stats, S) == pytest.approx(phi(w, list(S), info), abs=1e-10)


@pytest.mark.parametrize("info", ["plugin", "miller_madow"])
@pytest.mark.parametrize("seed", range(3))
def test_the_greedy_ascent(seed: int, info: str) -> None:
    w = graded(seed)
    path = forward(lambda S, j: phi(w, [*S, j], info), w.m, w.m)
    result = jifs.select(w.X, w.y, w.m, "mrmr_phi", info=info)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, abs=1e-10)


def test_the_running_sums_are_the_set_function() -> None:
    """The steps of its own, and those made from its value the slow obvious way."""
    w = graded(4)
    rule = registry.find("criterion", "mrmr_phi").make()
    stats = jifs.Stats(jifs.memory(w.X, w.y))
    fast, slow = rule.open(stats), faces._SetsRun(rule.value, stats)
    for j in (3, 0, 5, 1):
        free = [i for i in range(w.m) if i not in slow.taken]
        assert fast.gains()[free] == pytest.approx(slow.gains()[free], abs=1e-12)
        fast.take(j)
        slow.take(j)


def test_it_is_not_the_incremental_criterion() -> None:
    orders = [
        [jifs.select(w.X, w.y, w.m, name).indices.tolist() for name in ("mrmr", "mrmr_phi")]
        for w in map(graded, range(6))
    ]
    assert any(a != b for a, b in orders)


def test_given_features_count() -> None:
    w = graded(5)
    result = jifs.select(w.X, w.y, 4, "mrmr_phi", include=[0, 2])
    scores = [phi(w, result.indices[: t + 1].tolist()) for t in range(4)]
    assert result.scores == pytest.approx(scores, abs=1e-10)


def test_copies_and_constants() -> None:
    """A constant has Phi = 0 and beats a feature whose entropy is more than its relevance; ties go by index."""
    w = graded(6)
    X = np.column_stack([w.X[:, 0], np.zeros(w.n, int), w.X[:, 5], w.X[:, 5], np.full(w.n, 3)])
    result = jifs.select(X, w.y, 5, "mrmr_phi")
    order = result.indices.tolist()
    assert order[0] == 1
    assert result.scores[0] == 0
    assert order.index(2) < order.index(3)
    assert order.index(1) < order.index(4)


def test_the_parts() -> None:
    w = graded(7)
    for t, step in enumerate(jifs.select(w.X, w.y, 4, "mrmr_phi").trace):
        assert step.parts["relevance"] == pytest.approx(mi(w.columns[step.feature], w.y), abs=1e-10)
        assert (step.parts["redundancy"] > 0) == (t > 0)
