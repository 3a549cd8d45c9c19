"""Double input symmetrical relevance: the sum of shares, and terms without entropy."""

from __future__ import annotations

import numpy as np
import pytest
from naive.criteria import symmetric_relevance
from worlds import World, by_definition

import jifs


def graded(seed: int) -> World:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 200)
    own = np.where(rng.random((200, 7)) < np.linspace(0.1, 0.7, 7), y[:, None], rng.integers(0, 5, (200, 7)))
    return World(own % rng.choice([2, 3, 5], 7), y)


def choose(world: World, k: int | None = None, info: str = "plugin") -> jifs.Result:
    return jifs.select(world.X, world.y, k or world.m, "disr", info=info, bins="none")


@pytest.mark.parametrize("info", ["plugin", "miller_madow"])
@pytest.mark.parametrize("seed", range(4))
def test_the_definition(seed: int, info: str) -> None:
    w = graded(seed)
    path = by_definition(w, "disr", info=info)
    result = choose(w, info=info)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, abs=1e-10)


def test_the_sum_grows_by_a_share_between_0_and_1() -> None:
    w = graded(5)
    result = choose(w)
    for t in range(1, w.m):
        j, S = int(result.indices[t]), result.indices[:t].tolist()
        shares = [symmetric_relevance(w.columns, w.y, s, j) for s in S]
        assert all(0 <= share <= 1 for share in shares)
        assert result.scores[t] == pytest.approx(sum(shares), abs=1e-10)


@pytest.mark.filterwarnings("ignore:the target has one class:jifs.JifsWarning")
def test_no_entropy_is_no_share() -> None:
    """One class and constants: H = 0, and 0 / 0 is 0, not NaN."""
    X = np.column_stack([np.zeros(20, int), np.full(20, 3), np.arange(20) % 2])
    result = choose(World(X, np.zeros(20, int)))
    assert result.scores.tolist() == [0.0, 0.0, 0.0]
    assert result.indices.tolist() == [0, 1, 2]


def test_little_entropy_is_entropy() -> None:
    """One row in 3000 is of the other class, and a feature tells which: a share of 1, however little there is."""
    y = (np.arange(3000) == 7).astype(int)
    result = choose(World(np.column_stack([y, np.zeros(3000, int), y]), y))
    assert result.scores[1:] == pytest.approx([1.0, 2.0], abs=1e-9)


def test_a_constant_in_good_company() -> None:
    """With the class itself the pair (constant, class) is all there is to know: its share is 1."""
    y = np.arange(30) % 3
    result = choose(World(np.column_stack([y, np.zeros(30, int), np.arange(30) % 2]), y))
    assert result.indices.tolist() == [0, 1, 2]
    assert result.scores[1] == pytest.approx(1.0, abs=1e-12)


def test_copies_go_by_index() -> None:
    w = graded(6)
    result = choose(World(np.column_stack([w.X[:, 0], w.X[:, 5], w.X[:, 5], w.X[:, 3]]), w.y))
    order = result.indices.tolist()
    assert order.index(1) < order.index(2)


def test_xor_is_found() -> None:
    a, b = np.repeat([0, 0, 1, 1], 8), np.repeat([0, 1, 0, 1], 8)
    result = choose(World(np.column_stack([a, np.tile([0, 1], 16), b]), a ^ b))
    assert result.indices.tolist() == [0, 2, 1]
    assert result.scores[1] == pytest.approx(0.5, abs=1e-12)


def test_one_pass_a_step() -> None:
    assert choose(graded(7), 4).facts["passes"] == 4
