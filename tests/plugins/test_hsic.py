"""HSIC as a criterion: its faces agree with one another and with the definition, and each strategy does its part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from naive import hsic as naive
from naive.search import forward

import jifs
from jifs import InputError, datasets, faces, registry

KINDS = pytest.mark.parametrize("kind", ["class", "real"])
MEMORY = pytest.mark.parametrize("memory", [1e9, 2000], ids=["kept", "blocks"])


def made(**params: Any) -> Any:
    return registry.find("criterion", "hsic").make(**params)


def world(kind: str, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A constant column, a binary one and a copy among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1], X[:, 2], X[:, 4] = 0.3, rng.integers(0, 2, n), X[:, 0]
    y = (X[:, 0] > 0) + X[:, 2].astype(int) if kind == "class" else X[:, 0] ** 2 + X[:, 2]
    return X, y


def desk(kind: str) -> jifs.Stats:
    return jifs.Stats(jifs.memory(*world(kind)))


def test_faces_and_tasks() -> None:
    assert faces.faces_of(made()) == ("steps", "sets", "weights")
    entry = registry.find("criterion", "hsic")
    assert entry.tasks == ("class", "real")
    assert entry.reads == "values"


@KINDS
@MEMORY
def test_faces_agree_with_the_definition(kind: str, memory: float) -> None:
    stats, rule = desk(kind), made(memory=memory)
    X, y = world(kind)

    def slow(S: list[int]) -> float:
        return naive.hsic(X[:, S], y, kind)

    S = [2, 4, 1]
    assert rule.value(stats, S) == pytest.approx(slow(S), abs=1e-14)
    assert rule.value(stats, []) == 0.0
    run = rule.open(stats)
    for j in S:
        run.take(j)
    gains = run.gains()
    assert gains[[0, 3]] == pytest.approx([slow([*S, j]) for j in (0, 3)], abs=1e-14)
    assert (gains[S] == -np.inf).all()
    left_out = [slow(S[:p] + S[p + 1 :]) for p in range(3)]
    assert rule.without(stats, S) == pytest.approx(left_out, abs=1e-14)
    assert rule.without(stats, [2]).tolist() == [0.0]
    f, w = rule.smooth(stats), np.zeros(5)
    w[S] = 1.0
    f.renew(w)
    value, gradient = f(w)
    assert value == pytest.approx(slow(S), abs=1e-14)
    assert gradient[[0, 3]].tolist() == [0.0, 0.0]
    assert bool(stats.warnings) == (memory < 1e9)


@KINDS
def test_forward_is_the_definition(kind: str) -> None:
    X, y = world(kind)
    path = forward(lambda S, j: naive.hsic(X[:, [*S, j]], y, kind), 5, 4)
    result = jifs.select(X, y, 4, "hsic", task=kind)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, abs=1e-14)


@KINDS
def test_backward_is_the_definition(kind: str) -> None:
    """The feature goes whose removal leaves the largest value, the highest index among equals."""
    X, y = world(kind, n=30, seed=1)
    left = list(range(5))
    gone = []
    while len(left) > 1:
        values = [naive.hsic(X[:, [i for i in left if i != j]], y, kind) for j in left]
        level = [j for j, v in zip(left, values, strict=True) if v >= max(values) - 1e-12]
        gone.append(max(level))
        left.remove(gone[-1])
    result = jifs.select(X, y, 2, "hsic", strategy="backward", task=kind)
    assert result.indices.tolist() == [left[0], gone[-1]]


def test_a_warning_when_pairs_do_not_fit() -> None:
    X, y = world("class")
    with pytest.warns(
        jifs.JifsWarning, match="the pairs of 40 rows do not fit into the memory of criterion 'hsic'"
    ):
        small = jifs.select(X, y, 3, "hsic", params={"memory": 2000})
    assert small.scores.tolist() == jifs.select(X, y, 3, "hsic").scores.tolist()


@pytest.mark.parametrize("strategy", ["forward", "backward"])
def test_threads_leave_no_trace(strategy: str) -> None:
    X, y = world("real", n=300)
    one, two = (jifs.select(X, y, 4, "hsic", strategy=strategy, n_jobs=jobs) for jobs in (1, 2))
    assert one.indices.tolist() == two.indices.tolist()
    assert one.scores.tobytes() == two.scores.tobytes()


def test_backward_sees_xor() -> None:
    for seed in range(3):
        data = datasets.make("xor", seed=seed)
        result = jifs.select(data, k=2, criterion="hsic", strategy="backward")
        assert sorted(result.indices.tolist()) == [0, 1]


def test_noisy_copies_of_the_target_come_first_on_and_or() -> None:
    """F = .25 in the paper for F-HSIC and B-HSIC, in every trial: X8, X9, X10 and one true feature."""
    for strategy in ("forward", "backward"):
        data = datasets.make("and_or", seed=1)
        result = jifs.select(data, k=4, criterion="hsic", strategy=strategy)
        assert {7, 8, 9} <= set(result.indices.tolist())


def test_weights_of_rows_are_refused() -> None:
    X, y = world("class")
    with pytest.raises(
        InputError, match="criterion 'hsic' takes no sample_weight; leave it out, or repeat the rows"
    ):
        jifs.select(X, y, 1, "hsic", sample_weight=np.arange(40) % 3)


@pytest.mark.parametrize("n", [2, 3, 6])
@KINDS
def test_few_rows(kind: str, n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 3))
    y = np.arange(n) % 2 if kind == "class" else X[:, 0] * 1.5
    result = jifs.select(X, y, 3, "hsic", task=kind)
    assert sorted(result.indices.tolist()) == [0, 1, 2]
    assert np.isfinite(result.scores).all()
