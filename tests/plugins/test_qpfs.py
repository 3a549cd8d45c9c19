"""QPFS and EQPFS: the forms by their definitions, Example 1, KKT, constants, copies, convexity, Pearson."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import spectral as naive
from naive.entropy import cmi, h, mi
from worlds import World, worlds

import jifs
from jifs import faces, registry
from jifs.errors import InputError, MismatchError

pytest.importorskip("cvxpy")


def example_1() -> World:
    """S uniform on 4 values, C = 1[S >= 3], P(G = C) = 0.95, as 80 rows."""
    rows = [(s, c if i else 1 - c, c) for s in range(4) for c in [int(s >= 2)] for i in range(20)]
    table = np.array(rows)
    return World(table[:, :2], table[:, 2])


def graded(seed: int = 0, m: int = 5) -> World:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 150)
    own = np.where(rng.random((150, m)) < np.linspace(0.1, 0.7, m), y[:, None], rng.integers(0, 5, (150, m)))
    return World(own, y)


def terms(world: World) -> tuple[np.ndarray, np.ndarray]:
    """H_ij = I(X_i;X_j), H_ii = H(X_i), f_i = I(X_i;Y)."""
    x, m = world.columns, world.m
    H = np.array([[h(x[i]) if i == j else mi(x[i], x[j]) for j in range(m)] for i in range(m)])
    return H, np.array([mi(x[i], world.y) for i in range(m)])


def pearson(world: World) -> tuple[np.ndarray, np.ndarray]:
    """|rho(X_i, X_j)|, and sum_c p_c |rho(X_i, 1[Y = c])|; 0 for a constant."""

    def rho(a: np.ndarray, b: np.ndarray) -> float:
        a, b = a - a.mean(), b - b.mean()
        size = np.sqrt((a @ a) * (b @ b))
        return abs(float(a @ b / size)) if size > 1e-12 else 0.0

    x = [c.astype(float) for c in world.columns]
    H = np.array([[rho(a, b) for b in x] for a in x])
    classes = [(world.y == c).astype(float) for c in np.unique(world.y)]
    return H, np.array([sum(c.mean() * rho(a, c) for c in classes) for a in x])


def form_of(
    world: World, criterion: str = "qpfs", **params: Any
) -> tuple[np.ndarray, np.ndarray, jifs.Stats]:
    stats = jifs.Stats(jifs.memory(world.X, world.y, bins="none", task="class"))
    q, Q = registry.find("criterion", criterion).make(**params).pairs(stats)
    return np.asarray(q), np.asarray(Q), stats


def choose(world: World, k: int | None = None, criterion: str = "qpfs", **more: Any) -> jifs.Result:
    return jifs.select(
        world.X, world.y, world.m if k is None else k, criterion, bins="none", task="class", **more
    )


def objective(world: World, x: np.ndarray) -> float:
    """(1-a)/2 x'Hx - a f'x."""
    H, f = terms(world)
    a = H.mean() / (H.mean() + f.mean())
    return float((1 - a) / 2 * x @ H @ x - a * f @ x)


# -------------------------------------------------------------------------------------------------------------- numbers


def test_example_1_of_the_paper() -> None:
    """Only the balanced form, a = 0.5637, gives the printed weights; nats instead of bits change nothing."""
    w = example_1()
    result = choose(w)
    assert result.weights == pytest.approx([0.42, 0.58], abs=5e-3)
    assert result.weights == pytest.approx([0.417, 0.583], abs=5e-4)
    assert result.facts["alpha"] == pytest.approx(0.5637, abs=5e-5)
    assert result.indices.tolist() == [1, 0]
    assert (result.strategy, result.criterion, result.info) == ("qp", "qpfs", "plugin")
    assert result.facts["kkt"]["gap"] < 1e-10


@given(worlds(max_features=4, max_rows=40), st.sampled_from(["balanced", "plain"]))
def test_a_set_has_the_objective_of_its_vector(world: World, form: str) -> None:
    q, Q, stats = form_of(world, form=form, drop_constant=False)
    H, f = terms(world)
    total = H.mean() + f.mean()
    a = H.mean() / total if total > 0 else 0.5
    value = faces.as_face(registry.find("criterion", "qpfs").make(form=form, drop_constant=False), "sets")
    for size in range(world.m + 1):
        for S in itertools.combinations(range(world.m), size):
            x = np.isin(np.arange(world.m), S).astype(float)
            quadratic, linear = x @ H @ x, f @ x
            expected = a * linear - (1 - a) / 2 * quadratic if form == "balanced" else linear - quadratic
            assert value(stats, list(S)) == pytest.approx(expected, abs=1e-9)
    assert q - Q.diagonal() == pytest.approx(a * f if form == "balanced" else f, abs=1e-10)


@settings(max_examples=15)
@given(worlds(min_features=2, max_features=5, max_rows=64))
def test_no_face_of_the_simplex_is_better(world: World) -> None:
    H, f = terms(world)
    use = H.diagonal() > 1e-9
    H, f = H[np.ix_(use, use)], f[use]
    if not use.any():
        return
    a = H.mean() / (H.mean() + f.mean())
    shift = max(0.0, -float(np.linalg.eigvalsh(H)[0]))
    P, c = (1 - a) * (H + shift * np.eye(len(H))), a * f
    result = choose_quietly(world, params={"convexify": True})
    x = result.weights
    assert x is not None
    assert x[~use].tolist() == [0] * int((~use).sum())
    x = x[use]
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1)
    assert x @ P @ x / 2 - c @ x == pytest.approx(naive.on_simplex(P, c), abs=1e-8)
    assert result.facts["kkt"]["gap"] < 1e-9


def choose_quietly(world: World, **more: Any) -> jifs.Result:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jifs.JifsWarning)
        return choose(world, **more)


def test_alpha() -> None:
    w = graded()
    H, f = terms(w)
    for alpha in (0.0, 0.3, 1.0):
        q, Q, stats = form_of(w, alpha=alpha)
        assert pytest.approx(-(1 - alpha) / 2 * H, abs=1e-12) == Q
        assert stats.facts["alpha"] == alpha
    q, Q, _ = form_of(w, form="plain", alpha=2.5)
    assert pytest.approx(-2.5 * H, abs=1e-12) == Q
    assert q == pytest.approx(f - 2.5 * H.diagonal(), abs=1e-12)
    relevance_alone = choose(w, params={"alpha": 1.0})
    assert relevance_alone.indices[0] == int(f.argmax())


# ----------------------------------------------------------------------------------------- constants, copies, exclusion


def test_constants_are_left_out() -> None:
    w = graded(1)
    X = np.column_stack([np.zeros(w.n, int), w.X, np.full(w.n, 7)])
    with_them, without = choose(w.with_(X=X), 7), choose(w, 5)
    assert with_them.weights is not None
    assert without.weights is not None
    assert with_them.weights.tolist() == pytest.approx([0, *without.weights, 0], abs=1e-10)
    assert with_them.indices.tolist() == [*(without.indices + 1).tolist(), 0, 6]
    assert with_them.facts["alpha"] == pytest.approx(without.facts["alpha"], abs=1e-12)


def test_the_literal_problem_prefers_a_constant() -> None:
    """It costs nothing, and its relevance is hardly missed."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([rng.integers(0, 8, (300, 3)), np.zeros(300, int)])
    literal = jifs.select(X, y, 4, "qpfs", params={"form": "plain", "drop_constant": False})
    assert literal.indices[0] == 3
    assert jifs.select(X, y, 4, "qpfs", params={"form": "plain"}).indices[-1] == 3


def test_nothing_but_constants() -> None:
    X = np.zeros((20, 3), int)
    y = np.arange(20) % 2
    result = jifs.select(X, y, 2, "qpfs")
    assert result.indices.tolist() == [0, 1]
    assert result.weights is not None
    assert result.weights.tolist() == [0, 0, 0]
    literal = jifs.select(X, y, 2, "qpfs", params={"drop_constant": False})
    assert literal.weights == pytest.approx([1 / 3] * 3)


def test_copies_share_their_weight() -> None:
    """Any division between them is optimal, so the objective is compared, not the weights."""
    w = graded(2)
    X = np.column_stack([w.X, w.X[:, 4]])
    both = w.with_(X=X)
    result = choose(both)
    assert result.facts["unique"] is False
    assert result.weights is not None
    assert result.weights[4] == pytest.approx(result.weights[5], abs=1e-9)
    H, f = terms(both)
    a = H.mean() / (H.mean() + f.mean())
    assert objective(both, result.weights) == pytest.approx(naive.on_simplex((1 - a) * H, a * f), abs=1e-10)
    order = result.indices.tolist()
    assert order.index(4) + 1 == order.index(5)


def test_excluded_features_do_not_weigh_in() -> None:
    w = graded(3)
    gone, cut = choose(w, 3, exclude=[1]), choose(w.with_(X=np.delete(w.X, 1, axis=1)), 3)
    assert gone.facts["alpha"] == pytest.approx(cut.facts["alpha"], abs=1e-12)
    assert gone.weights is not None
    assert cut.weights is not None
    assert np.delete(gone.weights, 1) == pytest.approx(cut.weights, abs=1e-10)
    first = choose(w, 3, include=[0])
    assert first.indices[0] == 0
    assert first.weights == pytest.approx(choose(w, 3).weights, abs=1e-10)


# ------------------------------------------------------------------------------------------------------------ convexity


def crooked() -> World:
    """Z = (A, B), A, B, A xor B: H has 2 bits on Z, 1 on the others, which know nothing of each other but all of Z."""
    a, b = np.repeat([0, 0, 1, 1], 15), np.repeat([0, 1, 0, 1], 15)
    w = World(np.column_stack([2 * a + b, a, b, a ^ b]), np.random.default_rng(5).integers(0, 3, 60))
    assert np.linalg.eigvalsh(terms(w)[0])[0] < -0.1
    return w


def test_an_indefinite_matrix() -> None:
    w = crooked()
    with pytest.raises(InputError, match=r"not convex.*convexify=True"):
        choose(w)
    for way in ({"params": {"convexify": True}}, {"strategy": {"name": "qp", "convexify": True}}):
        result = choose(w, **way)  # type: ignore[arg-type]
        H, f = terms(w)
        a = H.mean() / (H.mean() + f.mean())
        raised = (1 - a) * (H - float(np.linalg.eigvalsh(H)[0]) * np.eye(w.m))
        x = result.weights
        assert x is not None
        assert x @ raised @ x / 2 - a * f @ x == pytest.approx(naive.on_simplex(raised, a * f), abs=1e-8)
    assert len(choose(w, 3, strategy="forward").indices) == 3  # greedy search does not mind


def test_other_strategies_on_the_same_form() -> None:
    w = graded(4)
    best = choose(w, 2, strategy="exhaustive")
    value = faces.as_face(registry.find("criterion", "qpfs").make(), "sets")
    stats = jifs.Stats(jifs.memory(w.X, w.y, bins="none", task="class"))
    values = {S: value(stats, list(S)) for S in itertools.combinations(range(w.m), 2)}
    assert best.facts["value"] == pytest.approx(max(values.values()), abs=1e-12)
    sdp = choose(w, 2, strategy={"name": "sdp", "tight": True})
    assert sdp.facts["value"] <= max(values.values()) + 1e-12 <= sdp.facts["upper_bound"] + 1e-9
    with pytest.raises(MismatchError, match=r"'spectral' needs a form whose pairs are never negative.*'qp'"):
        choose(w, 2, strategy="spectral")


def test_constants_come_last_by_greedy_search_too() -> None:
    w = graded(5)
    X = np.column_stack([np.zeros(w.n, int), w.X])
    for strategy in ("forward", "sdp"):
        result = jifs.select(X, w.y, 6, "qpfs", strategy=strategy)
        assert result.indices[-1] == 0
        assert result.scores[-1] == -np.inf
        assert jifs.Result.from_json(result.to_json()).same_as(result)


# -------------------------------------------------------------------------------------------------------------- Pearson


@pytest.mark.parametrize("classes", [2, 3])
def test_pearson(classes: int) -> None:
    w = graded(6)
    w = w.with_(y=w.y % classes)
    H, f = pearson(w)
    q, Q, stats = form_of(w, similarity="pearson")
    a = H.mean() / (H.mean() + f.mean())
    assert stats.facts["alpha"] == pytest.approx(a, abs=1e-10)
    assert pytest.approx(-(1 - a) / 2 * H, abs=1e-10) == Q
    assert q - Q.diagonal() == pytest.approx(a * f, abs=1e-10)
    if classes == 2:
        label = w.y.astype(float)
        assert f == pytest.approx([abs(np.corrcoef(c, label)[0, 1]) for c in w.columns], abs=1e-10)
    result = choose(w, params={"similarity": "pearson", "convexify": True})
    assert result.facts["kkt"]["gap"] < 1e-10


def test_pearson_on_numbers() -> None:
    """Large means, small spreads, units and signs leave no trace; a constant counts as none."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 4)) + 0.5 * y[:, None]
    plain = jifs.select(X, y, 4, "qpfs", params={"similarity": "pearson", "convexify": True})
    moved = X * np.array([1e6, -1e-6, 1.0, 3.0]) + np.array([1e8, 1.0, -1e5, 0.0])
    again = jifs.select(moved, y, 4, "qpfs", params={"similarity": "pearson", "convexify": True})
    assert again.weights == pytest.approx(plain.weights, abs=1e-6)
    flat = np.column_stack([np.full(200, 0.1), X])
    with_constant = jifs.select(flat, y, 5, "qpfs", params={"similarity": "pearson", "convexify": True})
    assert with_constant.weights is not None
    assert with_constant.weights.tolist() == pytest.approx([0, *plain.weights], abs=1e-10)
    assert not with_constant.facts["warnings"]


def test_pearson_with_weights_of_rows() -> None:
    w = graded(8)
    times = np.random.default_rng(1).integers(1, 4, w.n)
    repeated = w.with_(X=np.repeat(w.X, times, axis=0), y=np.repeat(w.y, times))
    options: dict[str, Any] = {"params": {"similarity": "pearson", "convexify": True}}
    one, other = choose(repeated, **options), choose(w, sample_weight=times, **options)
    assert other.weights == pytest.approx(one.weights, abs=1e-9)


def test_pearson_needs_numbers() -> None:
    X = {"a": np.array(["x", "y"] * 10), "b": np.arange(20)}
    with pytest.raises(InputError, match="column 'a' holds text"):
        jifs.select(X, np.arange(20) % 2, 1, "qpfs", params={"similarity": "pearson"})


# ---------------------------------------------------------------------------------------------------------------- EQPFS


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_eqpfs(beta: float) -> None:
    w = graded(9)
    x, m = w.columns, w.m
    M = np.array(
        [
            [0.0 if i == j else mi(x[i], x[j]) - beta * cmi(x[i], x[j], w.y) for j in range(m)]
            for i in range(m)
        ]
    )
    f = terms(w)[1]
    lam = max(0.0, -float(np.linalg.eigvalsh(M)[0])) + 1e-10
    q, Q, stats = form_of(w, "eqpfs", beta=beta)
    assert stats.facts["lambda"] == pytest.approx(lam, abs=1e-9)
    assert pytest.approx(-(M + lam * np.eye(m)), abs=1e-9) == Q
    assert q == pytest.approx(f - lam, abs=1e-9)
    result = choose(w, criterion="eqpfs", params={"beta": beta})
    weights = result.weights
    assert weights is not None
    P = 2 * (M + lam * np.eye(m))
    assert weights @ P @ weights / 2 - f @ weights == pytest.approx(naive.on_simplex(P, f), abs=1e-8)
    assert result.facts["kkt"]["gap"] < 1e-9


def test_eqpfs_without_beta_is_not_qpfs() -> None:
    """The paper says that it is; the diagonals differ: lambda, not H(X_i)."""
    w = graded(10)
    eqpfs = choose(w, criterion="eqpfs", params={"beta": 0.0})
    plain = choose(w, params={"form": "plain"})
    assert np.abs(eqpfs.weights - plain.weights).max() > 0.01  # type: ignore[operator]


def test_eqpfs_takes_a_lambda() -> None:
    w = graded(11)
    assert form_of(w, "eqpfs", lam=0.7, alpha=2.0)[1].diagonal() == pytest.approx([-1.4] * w.m)
    even = choose(w, criterion="eqpfs", params={"lam": 1e6}).weights
    assert even == pytest.approx([1 / w.m] * w.m, abs=1e-5)
    with pytest.raises(InputError, match="not convex"):
        choose(w, criterion="eqpfs", params={"lam": 0.0})
    X = np.column_stack([w.X, np.zeros(w.n, int)])
    assert jifs.select(X, w.y, 6, "eqpfs").indices[-1] == 5


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("criterion", "given", "says"),
    [
        ("qpfs", {"form": "square"}, "parameter form must be 'balanced' or 'plain'"),
        ("qpfs", {"similarity": "mutual"}, "parameter similarity must be 'mi' or 'pearson'"),
        ("qpfs", {"drop_constant": 1}, "parameter drop_constant must be True or False"),
        ("qpfs", {"convexify": "yes"}, "parameter convexify must be True or False"),
        ("qpfs", {"alpha": 2.0}, "parameter alpha must be a number from 0 to 1"),
        ("qpfs", {"alpha": -2.0, "form": "plain"}, "parameter alpha must be a number from 0 on"),
        ("qpfs", {"alpha": True}, "parameter alpha"),
        ("qpfs", {"alpha": "half"}, "parameter alpha"),
        ("eqpfs", {"beta": np.nan}, "parameter beta must be a finite number"),
        ("eqpfs", {"lam": np.inf}, "parameter lam must be a finite number"),
        ("eqpfs", {"alpha": -1}, "parameter alpha must be a number from 0 on"),
        ("eqpfs", {"drop_constant": None}, "parameter drop_constant must be True or False"),
    ],
)
def test_bad_parameters(criterion: str, given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        registry.find("criterion", criterion).make(**given)


def test_negative_means_ask_for_alpha() -> None:
    """Miller-Madow estimates of independent features are below zero."""
    bits = np.array(list(itertools.product([0, 1], repeat=5)))
    w = World(bits[:, :4], bits[:, 4])
    relevance = [mi(c, w.y, info="miller_madow") for c in w.columns]
    assert np.mean(relevance) < 0
    with pytest.raises(InputError, match="parameter alpha must be given here"):
        choose(w, 2, info="miller_madow")
    assert len(choose(w, 2, info="miller_madow", params={"alpha": 0.5}).indices) == 2
