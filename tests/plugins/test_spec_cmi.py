"""SPEC_CMI and SDP_CMI: the form by its definition, Example 1, constants, copies, and every way to search it."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from naive import spectral as naive
from naive.search import rank
from worlds import World, worlds

import jifs
from jifs import registry
from jifs.errors import JifsWarning, MismatchError


def example_1() -> World:
    """S uniform on 4 values, C = 1[S >= 3], P(G = C) = 0.95, as 80 rows."""
    rows = [(s, c if i else 1 - c, c) for s in range(4) for c in [int(s >= 2)] for i in range(20)]
    table = np.array(rows)
    return World(table[:, :2], table[:, 2])


def graded(seed: int = 0, m: int = 7) -> World:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 150)
    own = np.where(rng.random((150, m)) < np.linspace(0.1, 0.7, m), y[:, None], rng.integers(0, 5, (150, m)))
    return World(own, y)


def form_of(world: World, info: str = "plugin") -> tuple[np.ndarray, np.ndarray]:
    rule = registry.find("criterion", "spec_cmi").make(info=jifs.info(info))
    q, Q = rule.pairs(jifs.Stats(jifs.memory(world.X, world.y, bins="none", task="class")))
    return np.asarray(q), np.asarray(Q)


def choose(world: World, k: int, criterion: str = "spec_cmi", **more: Any) -> jifs.Result:
    return jifs.select(world.X, world.y, k, criterion, bins="none", task="class", **more)


@given(worlds(max_features=4, max_rows=40))
def test_the_form_by_its_definition(world: World) -> None:
    q, Q = form_of(world)
    expected = naive.conditional_form(world.columns, world.y)
    assert pytest.approx(expected, abs=1e-10) == Q
    assert q.tolist() == Q.diagonal().tolist()
    assert Q.tolist() == Q.T.tolist()
    assert Q.min() >= 0


def test_the_form_by_another_estimator() -> None:
    w = graded(1, 4)
    expected = naive.conditional_form(w.columns, w.y, info="miller_madow")
    assert form_of(w, "miller_madow")[1] == pytest.approx(expected, abs=1e-10)


def test_example_1_of_the_paper() -> None:
    """I(S;C) = 1, I(G;C) = .7136, I(G;C|S) = 0, I(S;C|G) = .2864 bits; weights cos and sin of 22.5 degrees."""
    w = example_1()
    Q = form_of(w)[1] / np.log(2)
    assert pytest.approx(np.array([[1, 0.1432], [0.1432, 0.7136]]), abs=5e-5) == Q
    result = choose(w, 2)
    assert result.indices.tolist() == [0, 1]
    assert result.weights == pytest.approx([0.92, 0.38], abs=5e-3)
    assert result.weights == pytest.approx([np.cos(np.pi / 8), np.sin(np.pi / 8)], abs=1e-10)


def test_its_own_strategies() -> None:
    w = graded()
    Q = naive.conditional_form(w.columns, w.y)
    spec = choose(w, 3)
    assert (spec.criterion, spec.strategy, spec.info) == ("spec_cmi", "spectral", "plugin")
    assert spec.indices.tolist() == rank(naive.dominant(Q)[0].tolist(), 3)
    pytest.importorskip("cvxpy")
    sdp = choose(w, 3, "sdp_cmi")
    assert (sdp.criterion, sdp.strategy) == ("sdp_cmi", "sdp")
    assert sdp.facts["value"] == pytest.approx(naive.value(Q, sdp.indices.tolist()), abs=1e-10)
    best = naive.best(Q, 3)
    assert sdp.facts["value"] <= best + 1e-10
    assert sdp.facts["upper_bound"] >= best - 1e-9
    tight = choose(w, 3, "sdp_cmi", strategy={"name": "sdp", "tight": True})
    assert best - 1e-9 <= tight.facts["upper_bound"] < sdp.facts["upper_bound"]


def test_greedy_and_exhaustive_search_of_the_same_form() -> None:
    w = graded(2, 6)
    Q = naive.conditional_form(w.columns, w.y)
    best = choose(w, 3, strategy="exhaustive")
    assert best.facts["value"] == pytest.approx(naive.best(Q, 3), abs=1e-10)
    greedy = choose(w, 4, strategy="forward").indices.tolist()
    for t, j in enumerate(greedy):
        values = [naive.value(Q, [*greedy[:t], i]) for i in range(6) if i not in greedy[:t]]
        assert naive.value(Q, [*greedy[:t], j]) == pytest.approx(max(values), abs=1e-10)
    assert len(choose(w, 3, strategy="backward").indices) == 3


def test_a_constant_feature_has_company() -> None:
    """Q_ii = 0, but Q_ij = I(X_j;Y)/2: it is not dropped unless asked."""
    w = graded(3, 4)
    X = np.column_stack([np.zeros(w.n, int), w.X])
    Q = form_of(World(X, w.y))[1]
    relevance = naive.conditional_form(w.columns, w.y).diagonal()
    assert Q[0, 0] == pytest.approx(0, abs=1e-12)
    assert Q[0, 1:] == pytest.approx(relevance / 2, abs=1e-10)
    result = jifs.select(X, w.y, 4, "spec_cmi", drop_constant=True)
    assert sorted(result.indices.tolist()) == [1, 2, 3, 4]
    assert result.weights is not None
    assert result.weights[1:] == pytest.approx(jifs.select(w.X, w.y, 4, "spec_cmi").weights, abs=1e-12)


def test_copies_say_nothing_to_each_other() -> None:
    w = graded(4, 4)
    X = np.column_stack([w.X, w.X[:, 1]])
    Q = form_of(World(X, w.y))[1]
    assert Q[1, 4] == pytest.approx(0, abs=1e-10)
    order = jifs.select(X, w.y, 5, "spec_cmi").indices.tolist()
    assert order.index(1) < order.index(4)


def test_one_class_has_no_ranking() -> None:
    X = np.random.default_rng(0).integers(0, 3, (40, 4))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = jifs.select(X, np.zeros(40, int), 3, "spec_cmi")
    assert result.indices.tolist() == [0, 1, 2]
    assert result.weights == pytest.approx([0.5] * 4)
    assert any("multiple" in str(w.message) for w in heard if issubclass(w.category, JifsWarning))


def test_estimates_below_zero() -> None:
    """Miller-Madow estimates may be negative: the spectral relaxation refuses them, the semidefinite one does not."""
    bits = np.array(list(itertools.product([0, 1], repeat=6)))
    w = World(bits[:, :5], bits[:, 5])
    assert form_of(w, "miller_madow")[1].max() < 0
    with pytest.raises(MismatchError, match=r"'spectral' needs a form whose pairs are never negative"):
        choose(w, 2, info="miller_madow")
    pytest.importorskip("cvxpy")
    sdp = choose(w, 2, "sdp_cmi", info="miller_madow")
    Q = naive.conditional_form(w.columns, w.y, info="miller_madow")
    assert sdp.facts["upper_bound"] >= naive.best(Q, 2) - 1e-9


def test_include_exclude_and_order_of_columns() -> None:
    w = graded(5, 6)
    result = choose(w, 4, include=[2], exclude=[5])
    assert result.indices[0] == 2
    assert 5 not in result.indices
    turn = [3, 0, 5, 1, 4, 2]
    turned = choose(w.with_(X=w.X[:, turn]), 6)
    assert [turn[j] for j in turned.indices] == choose(w, 6).indices.tolist()


def test_threads_leave_no_trace() -> None:
    w = graded(6, 7)
    one, two = (choose(w, 4, n_jobs=n) for n in (1, 2))
    assert one.same_as(two)


def test_sums_of_joint_information() -> None:
    """Q_ij = I(X_i X_j;Y) - [I(X_i;Y) + I(X_j;Y)] / 2, another way to write it."""
    from naive.entropy import joint_mi, mi

    w = graded(7, 4)
    Q = form_of(w)[1]
    for i, j in itertools.combinations(range(4), 2):
        x, y = w.columns, w.y
        expected = joint_mi([x[i], x[j]], y) - (mi(x[i], y) + mi(x[j], y)) / 2
        assert Q[i, j] == pytest.approx(expected, abs=1e-10)
