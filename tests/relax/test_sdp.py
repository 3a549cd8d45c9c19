"""The SDP relaxation as published and in its tight form: identities, bounds in their order, residuals, rounding."""

from __future__ import annotations

import builtins
import itertools
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import spectral as naive

from jifs.errors import InputError
from jifs.relax import convex, sdp, spectral
from jifs.relax.certificate import Certificate, verify_certificate

pytest.importorskip("cvxpy")


def random_form(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) ** rng.integers(1, 4)
    return (A + A.T) / 2


def bits(x: np.ndarray) -> np.ndarray:
    """y = (1, 2x - 1)."""
    return np.append(1.0, 2 * x - 1)


# ------------------------------------------------------------------------------------------------------ the lifted form


@given(st.integers(1, 9), st.integers(0, 10**6))
def test_the_identities_of_the_lift(n: int, seed: int) -> None:
    """y'Q~y/4 = x'Qx, y'I~y/4 = k, y'(E 1 1'E')y/4 = k^2, for every 0/1 vector and both signs of y_0."""
    rng = np.random.default_rng(seed)
    Q, x = random_form(n, seed), rng.integers(0, 2, n).astype(float)
    E, k = naive.lift(n), x.sum()
    assert sdp.lift(n).tolist() == E.tolist()
    for y in (bits(x), -bits(x)):
        assert y @ E @ Q @ E.T @ y / 4 == pytest.approx(x @ Q @ x, abs=1e-10)
        assert y @ E @ E.T @ y / 4 == pytest.approx(k)
        assert y @ E @ np.ones((n, n)) @ E.T @ y / 4 == pytest.approx(k * k)
    off = sdp.residuals(np.outer(bits(x), bits(x)), int(k), tight=True)
    assert max(off.values()) < 1e-12


@pytest.mark.parametrize(("n", "k"), [(1, 0), (1, 1), (2, 1), (5, 2), (6, 5), (6, 6), (6, 0)])
def test_the_central_point_is_the_mean_of_all_sets(n: int, k: int) -> None:
    every = [bits(np.isin(np.arange(n), S).astype(float)) for S in itertools.combinations(range(n), k)]
    assert sdp.central(n, k) == pytest.approx(np.mean([np.outer(y, y) for y in every], axis=0))


def test_residuals_see_every_fault() -> None:
    x = np.array([1.0, 1, 0, 0, 0])
    good = np.outer(bits(x), bits(x))
    wrong = {"diagonal": good + 0.1 * np.eye(6), "size": sdp.central(5, 3), "psd": good - np.eye(6)}
    for name, Y in wrong.items():
        assert sdp.residuals(Y, 2, tight=True)[name] > 1e-3
    three = np.outer(bits(np.array([1.0, 1, 1, 0, 0])), bits(np.array([1.0, 1, 1, 0, 0])))
    one = np.outer(bits(np.array([1.0, 0, 0, 0, 0])), bits(np.array([1.0, 0, 0, 0, 0])))
    mixed = (three + one) / 2  # the right mean size, the wrong mean of its square
    assert sdp.residuals(mixed, 2)["size"] < 1e-12
    assert sdp.residuals(mixed, 2, tight=True)["square"] > 0.1


# ---------------------------------------------------------------------------------------------------------- the bounds


@settings(max_examples=15)
@given(st.integers(3, 8), st.integers(0, 10**6), st.data())
def test_everything_is_in_its_order(n: int, seed: int, data: Any) -> None:
    """SPEC, SDP <= optimum <= tight bound <= bound of eq. 26 <= k lambda_max."""
    Q, k = random_form(n, seed), data.draw(st.integers(1, n - 1))
    optimum, spec = naive.best(Q, k), spectral.weights(Q)
    order = np.argsort(-spec.weights, kind="stable")[:k]
    assert naive.value(Q, order) <= optimum + 1e-12
    published, tight = (sdp.solve(Q, k, tight=t) for t in (False, True))
    for found in (published, tight):
        assert found.accepted, found
        assert found.upper >= optimum - 1e-9
        assert found.bound >= optimum - 1e-4 * optimum
        assert found.bound == pytest.approx(found.upper, rel=1e-4)
        for rows in ("Y", "V"):
            S = sdp.round_off(Q, k, found.Y, rows=rows, seed=seed)
            assert len(set(S.tolist())) == k
            assert S.tolist() == sorted(S.tolist())
            assert naive.value(Q, S) <= optimum + 1e-12
    assert tight.bound <= published.bound * (1 + 1e-4)
    assert published.upper <= k * spec.eigenvalue * (1 + 1e-9)
    assert tight.upper <= k * spec.eigenvalue * (1 + 1e-9)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_any_signs_are_welcome(k: int) -> None:
    Q = random_form(8, 3) - 0.4
    for tight in (False, True):
        found = sdp.solve(Q, k, tight)
        assert found.accepted
        assert found.upper >= naive.best(Q, k) - 1e-9
        shifted = sdp.solve(Q + 0.7 * np.eye(8), k, tight)
        assert shifted.bound == pytest.approx(found.bound + 0.7 * k, abs=1e-4)
    constant = sdp.solve(Q + 0.4, k, tight=True)  # the tight form knows that (sum x)^2 = k^2
    assert constant.bound == pytest.approx(sdp.solve(Q, k, tight=True).bound + 0.4 * k * k, abs=1e-4)


@pytest.mark.parametrize("tight", [False, True])
def test_clarabel_and_scs_agree(tight: bool) -> None:
    Q = random_form(10, 5)
    one, other = (sdp.solve(Q, 4, tight, solver) for solver in ("SCS", "clarabel"))
    assert (one.solver, other.solver) == ("SCS", "CLARABEL")
    assert one.bound == pytest.approx(other.bound, rel=1e-5)
    assert one.upper == pytest.approx(other.upper, rel=1e-5)
    assert max(other.residuals.values()) < 1e-6


def test_the_multipliers_prove_the_bound() -> None:
    """Whoever has them can compute the bound again, from the formulas in the file."""
    n, k = 7, 3
    Q, E = random_form(n, 6), naive.lift(n)
    published = sdp.solve(Q, k)
    assert published.multipliers is not None
    t, u = published.multipliers[0], published.multipliers[1:]
    top = np.linalg.eigvalsh(E @ Q @ E.T - t * E @ E.T - np.diag(u))[-1]
    assert published.upper == pytest.approx((4 * k * t + u.sum() + (n + 1) * top) / 4, rel=1e-10)
    tight = sdp.solve(Q, k, tight=True)
    assert tight.multipliers is not None
    A = Q + k * np.diag(tight.multipliers) - np.add.outer(tight.multipliers, tight.multipliers) / 2
    assert tight.upper == pytest.approx(k * np.linalg.eigvalsh(A)[-1], rel=1e-10)


@pytest.mark.parametrize(("kind", "tight"), [("eq26", False), ("tight", True)])
def test_the_multipliers_make_a_certificate(kind: str, tight: bool) -> None:
    """In rational arithmetic: the bound holds with a hair's breadth to spare, and fails when it is lowered."""
    Q, k = random_form(8, 13), 3
    found = sdp.solve(Q, k, tight)
    assert found.multipliers is not None
    above, below = (Certificate(kind, k, found.upper * f, found.multipliers) for f in (1 + 1e-9, 1 - 1e-6))
    assert verify_certificate(Q, k, above)
    assert not verify_certificate(Q, k, below)


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-200])
@pytest.mark.parametrize("tight", [False, True])
def test_the_scale_does_not_matter(scale: float, tight: bool) -> None:
    Q = random_form(6, 7)
    one, other = sdp.solve(Q, 2, tight), sdp.solve(Q * scale, 2, tight)
    assert other.bound == pytest.approx(one.bound * scale, rel=1e-5)
    assert other.upper == pytest.approx(one.upper * scale, rel=1e-5)
    chosen = [sdp.round_off(M, 2, f.Y).tolist() for M, f in ((Q, one), (Q * scale, other))]
    assert chosen[0] == chosen[1]


def test_a_power_of_two_changes_nothing_at_all() -> None:
    Q = random_form(6, 8)
    one, other = sdp.solve(Q, 3), sdp.solve(Q * 2.0**40, 3)
    assert other.Y.tobytes() == one.Y.tobytes()
    assert other.bound == one.bound * 2.0**40


@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("k", [0, 4])
def test_what_can_be_read_off(k: int, tight: bool) -> None:
    Q = random_form(4, 9)
    found = sdp.solve(Q, k, tight)
    assert found.status == "read off"
    assert found.bound == found.upper == pytest.approx(Q.sum() if k else 0, abs=1e-12)
    assert found.accepted
    assert sdp.round_off(Q, k, found.Y).tolist() == list(range(k))


def test_nothing_and_one_feature() -> None:
    found = sdp.solve(np.zeros((5, 5)), 2)
    assert found.bound == found.upper == 0
    assert sdp.round_off(np.zeros((5, 5)), 2, found.Y, seed=9).tolist() == [0, 1]
    alone = sdp.solve([[0.7]], 1)
    assert alone.bound == pytest.approx(0.7)
    assert sdp.round_off([[0.7]], 1, alone.Y).tolist() == [0]


@pytest.mark.parametrize("tight", [False, True])
def test_copies_and_blocks(tight: bool) -> None:
    Q = np.zeros((8, 8))
    Q[:4, :4], Q[4:, 4:] = random_form(4, 1), random_form(4, 1)
    found = sdp.solve(Q, 3, tight)
    optimum = naive.best(Q, 3)
    assert found.accepted
    assert found.upper >= optimum - 1e-9
    assert naive.value(Q, sdp.round_off(Q, 3, found.Y)) <= optimum + 1e-12
    assert sdp.solve(np.eye(6), 2, tight).upper == pytest.approx(2, rel=1e-4)


def test_time_is_kept_and_the_bound_still_holds() -> None:
    Q = random_form(25, 2)
    for solver in sdp.SOLVERS:
        found = sdp.solve(Q, 3, solver=solver, seconds=1e-9)
        assert found.upper >= naive.best(Q, 3) - 1e-9
        assert found.upper <= 3 * np.linalg.eigvalsh(Q)[-1] * (1 + 1e-9)
        assert len(sdp.round_off(Q, 3, found.Y)) == 3
    assert not found.accepted  # Clarabel has not begun by then


def test_a_solver_that_fails_leaves_the_spectral_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdp, "run", lambda *given: "failed: SolverError: no luck")
    Q = random_form(6, 4)
    for tight in (False, True):
        found = sdp.solve(Q, 2, tight)
        assert not found.accepted
        assert found.upper == found.bound == pytest.approx(2 * np.linalg.eigvalsh(Q)[-1])
        assert "no luck" in found.status
        assert len(sdp.round_off(Q, 2, found.Y)) == 2


def test_clarabel_is_the_arbiter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SCS gives no acceptable solution and the problem is small, Clarabel decides."""
    real = sdp.run

    def run(program: Any, solver: str, *rest: Any) -> str:
        return "failed: out of patience" if solver == "SCS" else real(program, solver, *rest)

    monkeypatch.setattr(sdp, "run", run)
    found = sdp.solve(random_form(6, 4), 2)
    assert found.solver == "CLARABEL"
    assert found.accepted


# ------------------------------------------------------------------------------------------------------------ rounding


@pytest.mark.parametrize("rows", ["Y", "V"])
@pytest.mark.parametrize("orient", [False, True])
@pytest.mark.parametrize("k", [1, 4, 8])
def test_rounding_is_the_published_one(rows: str, orient: bool, k: int) -> None:
    Q = random_form(9, 10)
    Y = sdp.solve(Q, k, tight=True).Y
    for seed in range(4):
        directions = np.random.default_rng(seed).standard_normal((12, 10))
        S = sdp.round_off(Q, k, Y, draws=12, seed=seed, rows=rows, orient=orient)
        assert S.tolist() == naive.rounded(Q, k, Y, directions, rows, orient)


def test_more_draws_are_never_worse_and_a_seed_is_a_seed() -> None:
    Q = random_form(12, 11)
    Y = sdp.central(12, 4) + np.diag(np.linspace(0, 1, 13))
    few, many = (naive.value(Q, sdp.round_off(Q, 4, Y, draws=d)) for d in (3, 100))
    assert few <= many
    sets = {tuple(sdp.round_off(Q, 4, Y, draws=1, seed=s).tolist()) for s in range(20)}
    assert len(sets) > 1
    assert sdp.round_off(Q, 4, Y, seed=5).tolist() == sdp.round_off(Q, 4, Y, seed=5).tolist()


def test_a_certain_y_is_rounded_to_its_set() -> None:
    x = np.isin(np.arange(6), [1, 4]).astype(float)
    Y, Q = np.outer(bits(x), bits(x)), random_form(6, 12)
    for rows in ("Y", "V"):
        assert sdp.round_off(Q, 2, Y, rows=rows, orient=True).tolist() == [1, 4]


def test_the_dummy_is_never_chosen_and_the_first_best_set_stays() -> None:
    Q = np.eye(5)
    S = sdp.round_off(Q, 2, sdp.central(5, 2), draws=30, seed=1)
    first = naive.rounded(Q, 2, sdp.central(5, 2), np.random.default_rng(1).standard_normal((30, 6)))
    assert S.tolist() == first  # all sets have the value 2: the first draw's stays
    assert S.max() < 5


# ------------------------------------------------------------------------------------------------------------ refusals


def test_too_many_features() -> None:
    with pytest.raises(InputError, match=r"301 features are more than limit = 300.*raise limit"):
        sdp.solve(np.ones((301, 301)), 5)
    with pytest.raises(InputError, match="6 features are more than limit = 5"):
        sdp.solve(np.ones((6, 6)), 2, limit=5)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"k": -1}, "k must be"),
        ({"k": 7}, "between 0 and 6"),
        ({"k": 1.5}, "k must be"),
        ({"k": True}, "k must be"),
        ({"solver": "MOSEK"}, "solver must be 'SCS' or 'CLARABEL'"),
        ({"solver": None}, "solver must be"),
        ({"seconds": 0}, "seconds must be"),
        ({"seconds": "soon"}, "seconds must be"),
        ({"Q": np.ones((2, 3))}, "Q must be a square array"),
        ({"Q": [[np.inf]]}, r"Q\[0, 0\] is inf"),
        ({"Q": [[1.0, 2.0], [3.0, 1.0]]}, "Q must be symmetric"),
        ({"Q": "none"}, "Q must be a square array"),
        ({"Q": [[1e300]]}, "below 1e290"),
    ],
)
def test_bad_questions(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        sdp.solve(**{"Q": random_form(6), "k": 2, **given})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"draws": 0}, "draws"),
        ({"draws": 2.0}, "draws"),
        ({"rows": "X"}, "rows must be 'Y' or 'V'"),
        ({"Y": np.eye(6)}, "7 rows and columns"),
        ({"k": 9}, "k must be"),
    ],
)
def test_bad_roundings(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        sdp.round_off(**{"Q": random_form(6), "k": 2, "Y": np.eye(7), **given})


def test_without_cvxpy(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def lacking(name: str, *rest: Any) -> Any:
        if name == "cvxpy":
            raise ImportError(name)
        return real(name, *rest)

    for name in [name for name in sys.modules if name.split(".")[0] == "cvxpy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(InputError, match=r"cvxpy, which is not installed; try: pip install 'jifs\[sdp\]'"):
        sdp.solve(random_form(4), 2)
    assert sdp.solve(random_form(4), 4).status == "read off"  # no solver is needed for that


def test_without_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    import cvxpy

    monkeypatch.setattr(cvxpy, "installed_solvers", lambda: ["CLARABEL"])
    with pytest.raises(InputError, match=r"solver 'SCS' is not installed; try: pip install 'jifs\[sdp\]'"):
        convex.cvxpy_with("SCS")
