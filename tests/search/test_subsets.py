"""Swap, tabu and exact on the quadratic form of a criterion: what they reach, what is fixed, and forms of any sign."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import jifs
from jifs import registry


@dataclass(frozen=True)
class Given:
    """A criterion that shows a form."""

    q: np.ndarray
    Q: np.ndarray

    def pairs(self, stats: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.q, self.Q


def form(seed: int, m: int = 9, sign: float = 1.0) -> Given:
    rng = np.random.default_rng(seed)
    Q = sign * rng.random((m, m)) - (0.5 if sign < 0 else 0.0)
    return Given(rng.normal(size=m) if sign < 0 else rng.random(m), (Q + Q.T) / 2)


def value(given: Given, S: Any) -> float:
    S = list(S)
    inner = given.Q[np.ix_(S, S)]
    return float(given.q[S].sum() + inner.sum() - np.trace(inner))


def run(given: Given, k: int, strategy: str, **more: Any) -> jifs.Result:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, given.q.size)), np.arange(30) % 2
    return jifs.select(X, y, k, given, strategy=strategy, **more)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("k", [1, 3, 8, 9])
@pytest.mark.parametrize("seed", range(3))
def test_exact_is_the_best_of_all(seed: int, k: int, sign: float) -> None:
    given = form(seed, sign=sign)
    best = max(value(given, S) for S in itertools.combinations(range(9), k))
    result = run(given, k, "exact")
    assert result.facts["proven"]
    assert value(given, result.indices) == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert result.facts["value"] == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert result.facts["bound"] >= best - 1e-9
    assert result.scores[-1] == pytest.approx(best, rel=1e-9, abs=1e-12)
    for name in ("swap", "tabu"):
        found = run(given, k, name)
        assert len(set(found.indices.tolist())) == k
        assert value(given, found.indices) <= best + 1e-9


def test_a_swap_can_not_improve_what_swap_found() -> None:
    given = form(5, m=14)
    chosen = set(run(given, 5, "swap").indices.tolist())
    reached = value(given, chosen)
    for out, new in itertools.product(chosen, set(range(14)) - chosen):
        assert value(given, chosen - {out} | {new}) <= reached + 1e-12


@pytest.mark.parametrize("strategy", ["swap", "tabu", "exact"])
def test_include_and_exclude(strategy: str) -> None:
    given = form(3)
    result = run(given, 4, strategy, include=[7, 2], exclude=[0])
    assert result.indices[:2].tolist() == [7, 2]
    assert 0 not in result.indices
    if strategy == "exact":
        others = [j for j in range(9) if j not in (0, 2, 7)]
        best = max(value(given, [7, 2, *S]) for S in itertools.combinations(others, 2))
        assert result.facts["value"] == pytest.approx(best, rel=1e-9)


def test_they_are_registered_with_what_they_need() -> None:
    for name in ("swap", "tabu", "exact"):
        assert registry.find("strategy", name).faces == ("pairs",)


def test_settings_of_a_strategy() -> None:
    result = run(form(1), 3, {"name": "tabu", "starts": 1, "steps": 5})  # type: ignore[arg-type]
    assert result.facts["settings"]["strategy"]["steps"] == 5
    with pytest.raises(jifs.InputError, match="strategy 'tabu' has no parameter 'start'"):
        run(form(1), 3, {"name": "tabu", "start": 1})  # type: ignore[arg-type]
