"""Quadratic programming over the simplex: the paper's numbers, all faces, KKT, singular and indefinite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import spectral as naive

from jifs.errors import InputError
from jifs.relax import qp

pytest.importorskip("cvxpy")

H1 = np.array([[2.0, 0.7136], [0.7136, 1.0]])
F1 = np.array([1.0, 0.7136])


def random_program(n: int, seed: int = 0, rank: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    B = rng.random((n, n if rank is None else rank))
    return B @ B.T / n, rng.random(n)


def is_solved(found: qp.Minimum, P: np.ndarray, c: np.ndarray) -> None:
    """x is on the simplex, and its gradient is least wherever x > 0, by our own reckoning."""
    x = found.x
    g = P @ x - c
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1, abs=1e-14)
    assert g[x > 1e-12] == pytest.approx(g.min(), abs=1e-11 * max(1, np.abs(P).max(), np.abs(c).max()))
    assert found.gap == pytest.approx(float(x @ g - g.min()), abs=1e-14 * max(1, np.abs(P).max()))
    assert max(found.residuals.values()) < 1e-11


# --------------------------------------------------------------------------------------------------- published numbers


@pytest.mark.parametrize("solver", qp.SOLVERS)
def test_example_1_of_the_paper(solver: str) -> None:
    """The printed .42/.58 come from the balanced form; the displayed problem gives .273/.727."""
    assert qp.balance(H1, F1) == pytest.approx(0.5637, abs=5e-5)
    balanced = qp.minimise(H1, F1, solver=solver)
    assert balanced.x == pytest.approx([0.42, 0.58], abs=5e-3)
    assert balanced.x == pytest.approx([0.417, 0.583], abs=5e-4)
    assert qp.minimise(H1, F1, "plain", solver=solver).x == pytest.approx([0.273, 0.727], abs=5e-4)
    half = qp.minimise(H1, F1, "plain", alpha=0.5, solver=solver)
    assert half.x == pytest.approx([0.364, 0.636], abs=5e-4)
    assert balanced.unique
    assert balanced.shift == 0


def test_the_two_forms_are_one_program() -> None:
    H, f = random_program(5, 1)
    a = qp.balance(H, f)
    balanced = qp.minimise(H, f)
    assert balanced.x == pytest.approx(qp.on_simplex((1 - a) * H, a * f).x, abs=1e-12)
    assert balanced.x == pytest.approx(qp.minimise(H, f, alpha=a).x, abs=1e-12)
    assert balanced.x == pytest.approx(qp.minimise(H, f, "plain", alpha=(1 - a) / 2 / a).x, abs=1e-9)
    x = balanced.x
    assert balanced.value == pytest.approx((1 - a) / 2 * x @ H @ x - a * f @ x, abs=1e-14)


# ----------------------------------------------------------------------------------------------------------- all faces


@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([None, 1, 2]), st.sampled_from(qp.SOLVERS))
def test_no_face_has_a_lower_minimum(n: int, seed: int, rank: int | None, solver: str) -> None:
    P, c = random_program(n, seed, rank)
    found = qp.on_simplex(P, c, solver=solver)
    is_solved(found, P, c)
    assert found.value == pytest.approx(naive.on_simplex(P, c), abs=1e-10)


@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("spread", [False, True])
def test_larger_programs(n: int, spread: bool) -> None:
    P, c = random_program(n, 3)
    if spread:  # nearly all weights are positive
        P, c = 0.01 * P + np.eye(n), 0.01 * c
    found = [qp.on_simplex(P, c, solver=solver) for solver in qp.SOLVERS]
    for one in found:
        is_solved(one, P, c)
    assert found[0].x == pytest.approx(found[1].x, abs=1e-9)
    assert (np.count_nonzero(found[0].x) > 0.8 * n) == spread


def test_weights_of_zero_are_zero() -> None:
    P, c = random_program(60, 4)
    for solver in qp.SOLVERS:
        x = qp.on_simplex(P, c, solver=solver).x
        assert 0 < np.count_nonzero(x) < 20
        assert x[x > 0].min() > 1e-6


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-200, 1e200])
def test_the_scale_does_not_matter(scale: float) -> None:
    P, c = random_program(8, 5)
    one, other = qp.on_simplex(P, c), qp.on_simplex(P * scale, c * scale)
    assert other.x == pytest.approx(one.x, abs=1e-10)
    assert other.value == pytest.approx(one.value * scale, rel=1e-10)
    assert max(other.residuals.values()) < 1e-11


def test_parts_of_very_different_size() -> None:
    P, c = random_program(6, 6)
    assert qp.on_simplex(P * 1e-9, c).x == pytest.approx(np.eye(6)[c.argmax()], abs=1e-9)
    alone = qp.on_simplex(P, c * 1e-9)
    assert alone.x == pytest.approx(qp.on_simplex(P, 0 * c).x, abs=1e-6)


# --------------------------------------------------------------------------------------------------- edges, degeneracy


def test_one_feature_and_nothing() -> None:
    assert qp.minimise([[1.0]], [0.3]).x.tolist() == [1.0]
    assert qp.minimise([[0.0]], [0.0]).unique
    nothing = qp.minimise(np.zeros((3, 3)), np.zeros(3))
    assert nothing.x.tolist() == [1 / 3] * 3
    assert nothing.value == nothing.gap == 0
    assert not nothing.unique
    linear = qp.on_simplex(np.zeros((3, 3)), [0.1, 0.5, 0.2])
    assert linear.x.tolist() == [0, 1, 0]


@pytest.mark.parametrize("solver", qp.SOLVERS)
def test_copies_share_their_weight(solver: str) -> None:
    """Any division between copies is optimal; the program says that it is not unique and divides equally."""
    P, c = random_program(4, 7)
    both = np.append(np.arange(4), [0, 2])
    once, twice = qp.on_simplex(P, c), qp.on_simplex(P[np.ix_(both, both)], c[both], solver=solver)
    assert once.unique
    assert not twice.unique
    assert twice.value == pytest.approx(once.value, abs=1e-12)
    joined = twice.x[:4] + np.array([twice.x[4], 0, twice.x[5], 0])
    assert joined == pytest.approx(once.x, abs=1e-9)
    assert twice.x[[0, 2]] == pytest.approx(twice.x[[4, 5]], abs=1e-9)


def test_a_constant_feature_takes_all_the_weight() -> None:
    """It costs nothing: the reason why qpfs leaves constants out."""
    H = np.array([[2.0, 0.7136, 0.0], [0.7136, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert qp.minimise(H, [0.05, 0.05, 0.0], "plain").x.argmax() == 2


@pytest.mark.parametrize("solver", qp.SOLVERS)
def test_an_indefinite_matrix_is_refused_or_raised(solver: str) -> None:
    P = np.array([[1.0, 2.0, 0.1], [2.0, 1.0, 0.0], [0.1, 0.0, 0.5]])
    c = np.array([0.3, 0.1, 0.2])
    least = float(np.linalg.eigvalsh(P)[0])
    with pytest.raises(InputError, match=r"not convex: its matrix has the eigenvalue -1.*convexify=True"):
        qp.on_simplex(P, c, solver=solver)
    found = qp.on_simplex(P, c, convexify=True, solver=solver)
    assert found.shift == pytest.approx(-least, rel=1e-12)
    is_solved(found, P - least * np.eye(3), c)
    assert not found.unique
    convex = qp.on_simplex(P + 2 * np.eye(3), c, convexify=True)
    assert convex.shift == 0


def test_rounding_below_zero_is_no_indefiniteness() -> None:
    v = np.array([0.3, 0.5, 0.7])
    P = np.outer(v, v) - 1e-13 * np.eye(3)
    found = qp.on_simplex(P, [0.1, 0.2, 0.3])
    assert found.shift == 0
    assert found.gap < 1e-10


def test_time_is_kept() -> None:
    P, c = random_program(30, 8)
    for solver in qp.SOLVERS:
        found = qp.on_simplex(P, c, solver=solver, seconds=1e-9)
        assert found.x.sum() == pytest.approx(1)
        assert found.residuals["gap"] < 1e-9  # the active-set search finds it from anywhere, at this size


def test_a_solver_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qp, "run", lambda *given: "failed: SolverError: no luck")
    P, c = random_program(12, 9)
    found = qp.on_simplex(P, c)
    assert "no luck" in found.status
    assert found.gap == pytest.approx(float(found.x @ (P @ found.x - c) - (P @ found.x - c).min()), abs=1e-14)


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"form": "square"}, "form must be 'balanced' or 'plain'"),
        ({"alpha": 1.5}, "alpha must be a number from 0 to 1"),
        ({"alpha": -1, "form": "plain"}, "alpha must be a number from 0 on"),
        ({"alpha": "much"}, "alpha must be"),
        ({"alpha": True}, "alpha must be"),
        ({"solver": "SCS"}, "solver must be 'OSQP' or 'CLARABEL'"),
        ({"seconds": -1}, "seconds must be"),
        ({"f": [1.0]}, "f must be 2 finite numbers"),
        ({"f": [1.0, np.nan]}, "f must be 2 finite numbers"),
        ({"f": "ab"}, "f must be 2 real numbers"),
        ({"H": [[1.0, 0.0]]}, "H must be a square array"),
        ({"H": [[1.0, 0.5], [0.1, 1.0]]}, "H must be symmetric"),
        ({"H": -H1}, "give alpha, or use form='plain'"),
        ({"f": [-1.0, -2.0]}, "give alpha, or use form='plain'"),
    ],
)
def test_bad_programs(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        qp.minimise(**{"H": H1, "f": F1, **given})
