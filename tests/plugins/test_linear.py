"""The linear family: every rule against its definition, the free parameters, and where two rules are one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from naive.criteria import CRITERIA
from worlds import World, by_definition

import jifs
from jifs import registry
from jifs.errors import InputError

RULES = ["mim", "mifs", "mrmr", "miq", "jmi", "cife", "condred", "betagamma"]
INFOS = ["plugin", "miller_madow"]


def graded(seed: int, m: int = 7) -> World:
    """Features of 2 to 5 levels that know the class more and more, without ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 200)
    own = np.where(rng.random((200, m)) < np.linspace(0.1, 0.7, m), y[:, None], rng.integers(0, 5, (200, m)))
    return World(own % rng.choice([2, 3, 5], m), y)


def choose(world: World, criterion: str, k: int | None = None, **more: Any) -> jifs.Result:
    return jifs.select(world.X, world.y, world.m if k is None else k, criterion, bins="none", **more)


def assert_path(result: jifs.Result, world: World, criterion: str, **how: Any) -> None:
    path = by_definition(world, criterion, len(result.indices), **how)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("info", INFOS)
@pytest.mark.parametrize("criterion", RULES)
def test_the_definition(criterion: str, info: str) -> None:
    for seed in range(3):
        w = graded(seed)
        assert_path(choose(w, criterion, info=info), w, criterion, info=info)


@pytest.mark.parametrize("beta", [0, 0.5, 1, 2.5, -1])
def test_mifs_with_any_beta(beta: float) -> None:
    w = graded(3)
    assert_path(choose(w, "mifs", params={"beta": beta}), w, "mifs", beta=beta)


@pytest.mark.parametrize("beta", [0, 0.3, -0.5])
@pytest.mark.parametrize("gamma", [0, 0.7, -1.5])
def test_betagamma_with_any_of_both(beta: float, gamma: float) -> None:
    w = graded(4)
    both = {"beta": beta, "gamma": gamma}
    assert_path(choose(w, "betagamma", params=both), w, "betagamma", **both)


@pytest.mark.parametrize("info", INFOS)
@pytest.mark.parametrize(
    ("special", "params", "beta", "gamma"),
    [
        ("mim", {}, 0, 0),
        ("mifs", {}, 1, 0),
        ("mifs", {"beta": 0.4}, 0.4, 0),
        ("cife", {}, 1, 1),
        ("condred", {}, 0, 1),
    ],
)
def test_special_cases(special: str, params: dict[str, Any], beta: float, gamma: float, info: str) -> None:
    w = graded(5)
    general = choose(w, "betagamma", params={"beta": beta, "gamma": gamma}, info=info)
    own = choose(w, special, params=params, info=info, strategy="forward")
    assert general.same_as(own)


def test_the_defaults_are_one() -> None:
    w = graded(6)
    assert choose(w, "betagamma").same_as(choose(w, "cife"))
    assert choose(w, "mifs").same_as(choose(w, "mifs", params={"beta": 1.0}))


def test_jmi_is_the_sum_and_orders_like_the_mean() -> None:
    w = graded(7)
    sums = choose(w, "jmi")
    assert_path(sums, w, "jmi")
    for t in range(1, w.m):
        S, j = sums.indices[:t].tolist(), int(sums.indices[t])
        mean = CRITERIA["betagamma"](w.columns, w.y, S, j, beta=1 / t, gamma=1 / t)
        rest = sum(CRITERIA["mim"](w.columns, w.y, [], s) for s in S)
        assert sums.scores[t] == pytest.approx(t * mean + rest, abs=1e-10)


def test_the_first_is_the_most_relevant_in_its_own_units() -> None:
    w = graded(8)
    first = {name: choose(w, name, 1) for name in RULES}
    assert len({int(r.indices[0]) for r in first.values()}) == 1
    assert len({float(r.scores[0]) for r in first.values()}) == 1


@pytest.mark.parametrize("criterion", RULES)
def test_copies_and_constants(criterion: str) -> None:
    """Columns 1 and 3 are copies, 0 and 4 constants: equal scores go to the lower index."""
    w = graded(9, m=4)
    X = np.column_stack([np.zeros(w.n, int), w.X[:, 3], w.X[:, 1], w.X[:, 3], np.full(w.n, 5), w.X[:, 2]])
    result = choose(World(X, w.y), criterion)
    order = result.indices.tolist()
    assert order.index(1) < order.index(3)
    assert order.index(0) < order.index(4)
    assert_path(result, World(X, w.y), criterion)


@pytest.mark.parametrize("criterion", RULES)
def test_xor(criterion: str) -> None:
    """Only a rule that rewards redundancy within the classes sees the second half of an exclusive or."""
    a, b = np.repeat([0, 0, 1, 1], 8), np.repeat([0, 1, 0, 1], 8)
    c = np.tile([0, 1], 16)
    result = choose(World(np.column_stack([a, c, b]), a ^ b), criterion)
    sees = criterion in {"jmi", "cife", "condred", "betagamma"}
    assert result.indices.tolist() == ([0, 2, 1] if sees else [0, 1, 2])


def test_one_pass_a_step_and_none_that_is_not_used() -> None:
    w = graded(10)
    passes = {name: choose(w, name, 4).facts["passes"] for name in RULES}
    assert passes.pop("mim") == 1
    assert set(passes.values()) == {4}
    assert choose(w, "mim", 4, strategy="forward").facts["passes"] == 1
    assert choose(w, "betagamma", 4, params={"beta": 0, "gamma": 0}).facts["passes"] == 1


def test_the_parts_are_the_terms() -> None:
    w = graded(11)
    both = {"beta": 0.5, "gamma": 0.25}
    for t, step in enumerate(choose(w, "betagamma", params=both).trace):
        p = step.parts
        assert step.score == pytest.approx(
            p["relevance"] - t * both["beta"] * p["redundancy"] + t * both["gamma"] * p["conditional"],
            abs=1e-10,
        )
    assert set(choose(w, "condred").trace[2].parts) == {"relevance", "conditional"}
    assert set(choose(w, "mifs").trace[2].parts) == {"relevance", "redundancy"}


def test_the_quotient_is_guarded() -> None:
    """Nothing redundant: the divisor is 1e-12, not 0."""
    a, b = np.repeat([0, 0, 1, 1], 8), np.repeat([0, 1, 0, 1], 8)
    result = choose(World(np.column_stack([a, b, np.zeros(32, int)]), a | b), "miq")
    assert result.scores[1] == pytest.approx(result.scores[0] * 1e12, rel=1e-3)
    assert result.scores[2] == 0
    assert np.isfinite(result.scores).all()


@pytest.mark.parametrize("wrong", ["1", None, [1.0], np.inf, np.nan, True, 1j])
@pytest.mark.parametrize(
    ("criterion", "name"), [("mifs", "beta"), ("betagamma", "beta"), ("betagamma", "gamma")]
)
def test_parameters_are_numbers(criterion: str, name: str, wrong: Any) -> None:
    with pytest.raises(InputError, match=rf"{name} must be a finite number"):
        registry.find("criterion", criterion).make(**{name: wrong})


def test_a_criterion_is_a_value() -> None:
    make = registry.find("criterion", "mifs").make
    assert make(beta=0.5) == make(beta=0.5)
    assert make(beta=0.5) != make(beta=0.6)
    with pytest.raises(AttributeError):
        make().beta = 3
