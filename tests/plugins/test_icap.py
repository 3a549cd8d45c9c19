"""Interaction capping: redundancy is subtracted term by term, synergy is never rewarded."""

from __future__ import annotations

import numpy as np
import pytest
from naive.criteria import icap
from naive.entropy import cmi, mi
from worlds import World, by_definition

import jifs


def mixed(seed: int) -> World:
    """Some features redundant with each other, some synergetic, so that the cap matters in both directions."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 2, (3, 250))
    y = (a ^ b) + c * (rng.random(250) < 0.7)
    copy = np.where(rng.random(250) < 0.8, c, rng.integers(0, 2, 250))
    return World(np.column_stack([a, c, copy, b, rng.integers(0, 4, 250), c + copy]), y)


def choose(world: World, k: int | None = None, info: str = "plugin") -> jifs.Result:
    return jifs.select(world.X, world.y, k or world.m, "icap", info=info)


@pytest.mark.parametrize("info", ["plugin", "miller_madow"])
@pytest.mark.parametrize("seed", range(4))
def test_the_definition(seed: int, info: str) -> None:
    w = mixed(seed)
    path = by_definition(w, "icap", info=info)
    result = choose(w, info=info)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, abs=1e-10)


def test_the_cap_is_on_each_term_not_on_the_sum() -> None:
    found = 0
    for seed in range(6):
        w = mixed(seed)
        result = choose(w)
        for t, j in enumerate(result.indices.tolist()):
            S = result.indices[:t].tolist()
            terms = [mi(w.columns[j], w.columns[s]) - cmi(w.columns[j], w.columns[s], w.y) for s in S]
            by_term = mi(w.columns[j], w.y) - sum(max(0.0, term) for term in terms)
            by_sum = mi(w.columns[j], w.y) - max(0.0, sum(terms))
            assert result.scores[t] == pytest.approx(by_term, abs=1e-10)
            found += abs(by_term - by_sum) > 1e-3
    assert found  # the worlds tell the two apart


def test_synergy_is_not_rewarded() -> None:
    a, b = np.repeat([0, 0, 1, 1], 8), np.repeat([0, 1, 0, 1], 8)
    result = choose(World(np.column_stack([a, np.tile([0, 1], 16), b]), a ^ b))
    assert result.indices.tolist() == [0, 1, 2]
    assert result.scores.tolist() == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_copy_costs_what_it_gives() -> None:
    y = np.repeat([0, 1], 20)
    noisy = np.where(np.arange(40) % 5 == 0, 1 - y, y)
    result = choose(World(np.column_stack([noisy, noisy, np.zeros(40, int)]), y))
    relevance = mi(noisy, y)
    assert result.indices.tolist() == [0, 1, 2]
    capped = relevance - max(0.0, mi(noisy, noisy) - cmi(noisy, noisy, y))
    assert result.scores.tolist() == pytest.approx([relevance, capped, 0.0], abs=1e-12)
    assert capped == pytest.approx(0, abs=1e-12)


def test_the_parts_make_the_score() -> None:
    w = mixed(1)
    for step in choose(w).trace:
        assert step.score == pytest.approx(step.parts["relevance"] - step.parts["redundancy"], abs=1e-12)
        assert step.parts["redundancy"] >= 0
        assert step.parts["relevance"] == pytest.approx(icap(w.columns, w.y, [], step.feature), abs=1e-10)
