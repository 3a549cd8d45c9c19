"""The full conditional information: the joint state, when information has run out, and Fano's bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from naive.entropy import fano, h, joint_mi
from worlds import World, by_definition

import jifs


def random_world(
    seed: int, n: int = 120, levels: tuple[int, ...] = (2, 3, 2, 5, 4), classes: int = 3
) -> World:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = np.column_stack([np.where(rng.random(n) < 0.3, y, rng.integers(0, 60, n)) % r for r in levels])
    return World(X, y)


def choose(world: World, k: int | None = None, **more: Any) -> jifs.Result:
    return jifs.select(world.X, world.y, world.m if k is None else k, "cmi", bins="none", **more)


@pytest.mark.parametrize("info", ["plugin", "miller_madow"])
@pytest.mark.parametrize("levels", [(2, 3, 2, 5, 4), (2,) * 9, (40, 2, 90, 3), (2, 300, 3)], ids=str)
def test_the_definition(levels: tuple[int, ...], info: str) -> None:
    for seed in range(3):
        w = random_world(seed, 150, levels)
        path = by_definition(w, "cmi", info=info)
        result = choose(w, info=info)
        assert result.scores == pytest.approx(path.scores, abs=1e-10)
        clear = next((t for t, lead in enumerate(path.margins) if 1e-13 < abs(lead) < 1e-9), w.m)
        assert result.indices[:clear].tolist() == path.indices[:clear]


def test_the_facts_are_about_everything_selected() -> None:
    w = random_world(1, classes=5)
    for k in range(w.m + 1):
        result = choose(w, k)
        chosen = [w.columns[j] for j in result.indices]
        facts = result.facts
        assert facts["joint_information"] == pytest.approx(joint_mi(chosen, w.y), abs=1e-10)
        assert facts["joint_information"] == pytest.approx(result.scores.sum(), abs=1e-10)
        assert facts["target_entropy"] == pytest.approx(h(w.y), abs=1e-10)
        assert facts["fano_error_floor"] == pytest.approx(fano(chosen, w.y), abs=1e-10)
        assert "optimistic" in facts["fano_note"]


def test_the_parts_follow_the_chain_rule() -> None:
    w = random_world(2)
    result = choose(w, include=[3])
    for t, step in enumerate(result.trace):
        chosen = [w.columns[j] for j in result.indices[: t + 1]]
        assert step.parts["joint"] == pytest.approx(joint_mi(chosen, w.y), abs=1e-10)
        assert step.parts["relevance"] == pytest.approx(joint_mi(chosen[-1:], w.y), abs=1e-10)


def test_fano_by_hand() -> None:
    """Sixteen even classes, H = 4 L; a feature that halves them: (4L - L - L) / 4L = 1/2; two: 1/4; three: 0."""
    y = np.arange(16)
    w = World(np.column_stack([y // 8, y // 4 % 2, y // 2 % 2]), y)
    floors = [choose(w, k).facts["fano_error_floor"] for k in (0, 1, 2, 3)]
    assert floors == pytest.approx([3 / 4, 1 / 2, 1 / 4, 0], abs=1e-12)


def test_fano_with_two_classes_is_no_bound() -> None:
    y = np.arange(20) % 2
    assert choose(World(np.zeros((20, 1), int), y)).facts["fano_error_floor"] == 0


def test_a_class_that_the_weights_leave_out_does_not_count() -> None:
    y = np.arange(32) % 4
    w = World((np.arange(32) // 16)[:, None], y)
    kept = World(w.X[y < 3], y[y < 3])
    weighted = choose(w, sample_weight=(y < 3).astype(int))
    assert weighted.facts["fano_error_floor"] == pytest.approx(
        choose(kept).facts["fano_error_floor"], abs=1e-12
    )
    assert weighted.facts["fano_error_floor"] > 0


# ---- when information has run out ----------------------------------------------------------------------------------


def test_the_class_is_known() -> None:
    w = random_world(3)
    X = np.column_stack([w.X[:, 0], w.y, w.X[:, 1]])
    result = choose(World(X, w.y))
    assert result.indices.tolist() == [1, 0, 2]
    assert result.facts["exhausted_at"] == 1
    assert result.scores[1:].tolist() == [0.0, 0.0]
    assert choose(World(X, w.y), stop="exhausted").indices.tolist() == [1]


@pytest.mark.filterwarnings("ignore:feature .* different values in:jifs.JifsWarning")
def test_every_state_holds_one_row() -> None:
    w = random_world(4, n=40)
    X = np.column_stack([np.arange(40), w.X])
    assert choose(World(X, w.y)).facts["exhausted_at"] == 1


def test_before_an_exclusive_or_nothing_is_exhausted() -> None:
    """All candidates score 0, but two of them together would know the class."""
    a, b = np.repeat([0, 0, 1, 1], 4), np.repeat([0, 1, 0, 1], 4)
    w = World(np.column_stack([a, b, np.zeros(16, int)]), a ^ b)
    assert choose(w, 1).facts["exhausted_at"] is None
    assert choose(w, 0).facts["exhausted_at"] is None
    assert choose(w).facts["exhausted_at"] == 2
    assert choose(w, stop="exhausted").indices.tolist() == [0, 1]


def test_features_that_divide_nothing_more() -> None:
    """The class is not known, but what is left is a copy, a coarser view and a constant."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 4, 100), rng.integers(0, 2, 100)
    w = World(np.column_stack([x, x * 7 - 3, x // 2, np.zeros(100, int)]), y)
    result = choose(w)
    assert result.indices.tolist() == [0, 1, 2, 3]
    assert result.facts["exhausted_at"] == 1
    assert choose(w, stop="exhausted").indices.tolist() == [0]


@pytest.mark.filterwarnings("ignore:the target has one class:jifs.JifsWarning")
def test_one_class_or_constants_only_are_exhausted_at_once() -> None:
    w = random_world(6)
    for world in (World(w.X, np.zeros(w.n, int)), World(np.zeros((w.n, 3), int), w.y)):
        assert choose(world, 2).facts["exhausted_at"] == 0
        assert choose(world, 2).indices.tolist() == [0, 1]
        assert choose(world, 2, stop="exhausted").indices.size == 0


def test_it_goes_on_by_index_unless_asked_to_stop() -> None:
    w = random_world(7)
    X = np.column_stack([w.X, w.y])
    result = choose(World(X, w.y))
    assert result.indices.tolist() == [5, 0, 1, 2, 3, 4]
    assert all(step.tie for step in result.trace[1:-1])


def test_exhaustion_looks_only_at_what_may_be_taken() -> None:
    """Excluded features may know more; they are no candidates."""
    w = random_world(8)
    X = np.column_stack([np.zeros(w.n, int), w.y, np.full(w.n, 2)])
    result = choose(World(X, w.y), 2, exclude=[1])
    assert result.scores.tolist() == [0.0, 0.0]
    assert result.facts["exhausted_at"] == 0


def test_real_weights() -> None:
    w = random_world(9)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.5], w.n)
    path = by_definition(w, "cmi", weights=weight)
    result = choose(w, sample_weight=weight)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, abs=1e-10)


def test_tables_are_counted_for_every_candidate_once_a_step() -> None:
    w = random_world(10)
    facts = choose(w, 3).facts
    assert facts["tables_counted"] == w.m * facts["passes"]
    assert facts["passes"] in (3, 4)  # the facts at the end may ask once more
