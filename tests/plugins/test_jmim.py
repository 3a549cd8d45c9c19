"""Joint mutual information maximisation, plain and normalised: a minimum over what is selected."""

from __future__ import annotations

import numpy as np
import pytest
from naive.criteria import CRITERIA, symmetric_relevance
from naive.entropy import joint_mi
from worlds import World, by_definition

import jifs
from jifs import registry

BOTH = pytest.mark.parametrize("criterion", ["jmim", "njmim"])


def graded(seed: int) -> World:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 200)
    own = np.where(rng.random((200, 7)) < np.linspace(0.1, 0.7, 7), y[:, None], rng.integers(0, 5, (200, 7)))
    return World(own % rng.choice([2, 3, 5], 7), y)


def choose(world: World, criterion: str, k: int | None = None, info: str = "plugin") -> jifs.Result:
    return jifs.select(world.X, world.y, k or world.m, criterion, info=info, bins="none")


@BOTH
@pytest.mark.parametrize("info", ["plugin", "miller_madow"])
@pytest.mark.parametrize("seed", range(4))
def test_the_definition(criterion: str, seed: int, info: str) -> None:
    w = graded(seed)
    path = by_definition(w, criterion, info=info)
    result = choose(w, criterion, info=info)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, abs=1e-10)


@BOTH
def test_the_score_is_the_least_over_the_selected(criterion: str) -> None:
    w = graded(5)
    result = choose(w, criterion)
    for t in range(1, w.m):
        j, S = int(result.indices[t]), result.indices[:t].tolist()
        if criterion == "jmim":
            terms = [joint_mi([w.columns[j], w.columns[s]], w.y) for s in S]
        else:
            terms = [symmetric_relevance(w.columns, w.y, s, j) for s in S]
        assert result.scores[t] == pytest.approx(min(terms), abs=1e-10)


def test_the_two_are_not_one() -> None:
    orders = [
        (choose(graded(s), "jmim").indices.tolist(), choose(graded(s), "njmim").indices.tolist())
        for s in range(6)
    ]
    assert any(a != b for a, b in orders)


def test_what_is_normalised_is_not_a_parameter() -> None:
    for name, normalised in (("jmim", False), ("njmim", True)):
        entry = registry.find("criterion", name)
        assert set(entry.params) == {"info"}
        assert entry.make().normalised is normalised


@pytest.mark.filterwarnings("ignore:the target has one class:jifs.JifsWarning")
def test_no_entropy_is_no_share() -> None:
    X = np.column_stack([np.zeros(20, int), np.full(20, 3), np.arange(20) % 2])
    result = choose(World(X, np.zeros(20, int)), "njmim")
    assert result.scores.tolist() == [0.0, 0.0, 0.0]
    assert result.indices.tolist() == [0, 1, 2]


def test_little_entropy_is_entropy() -> None:
    """One row in 3000 is of the other class, and a feature tells which: a share of 1, however little there is."""
    y = (np.arange(3000) == 7).astype(int)
    result = choose(World(np.column_stack([y, np.zeros(3000, int), y]), y), "njmim")
    assert result.scores[1:] == pytest.approx([1.0, 1.0], abs=1e-9)


@BOTH
def test_copies_and_constants_go_by_index(criterion: str) -> None:
    w = graded(6)
    X = np.column_stack([np.zeros(w.n, int), w.X[:, 5], w.X[:, 2], w.X[:, 5], np.full(w.n, 2)])
    order = choose(World(X, w.y), criterion).indices.tolist()
    assert order.index(1) < order.index(3)
    assert order.index(0) < order.index(4)


@BOTH
def test_xor_is_found(criterion: str) -> None:
    a, b = np.repeat([0, 0, 1, 1], 8), np.repeat([0, 1, 0, 1], 8)
    result = choose(World(np.column_stack([a, np.tile([0, 1], 16), b]), a ^ b), criterion)
    assert result.indices.tolist() == [0, 2, 1]
    assert result.scores[1] == pytest.approx(np.log(2) if criterion == "jmim" else 0.5, abs=1e-12)


@BOTH
def test_given_features_count_in_the_minimum(criterion: str) -> None:
    w = graded(8)
    result = jifs.select(w.X, w.y, 4, criterion, include=[0, 3], exclude=[6])
    for t, (j, score) in enumerate(zip(result.indices.tolist(), result.scores.tolist(), strict=True)):
        assert score == pytest.approx(
            CRITERIA[criterion](w.columns, w.y, result.indices[:t].tolist(), j), abs=1e-10
        )
