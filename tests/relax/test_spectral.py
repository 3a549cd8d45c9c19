"""SPEC weights and their Nystrom approximation, against eigh and the formulas; reducible and degenerate matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import spectral as naive

from jifs.errors import InputError
from jifs.relax import spectral


def random_form(n: int, seed: int = 0, low_rank: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.random((n, 2 if low_rank else n))
    return A @ A.T / n if low_rank else (A + A.T) / 2


def residual(Q: np.ndarray, found: spectral.Weights) -> float:
    w = found.weights
    return float(np.linalg.norm(Q @ w - found.eigenvalue * w) / max(found.eigenvalue, 1e-300))


@pytest.mark.parametrize("n", [1, 2, 3, 12, 60, spectral.SMALL, spectral.SMALL + 1, 500])
def test_the_dominant_eigenvector(n: int) -> None:
    Q = random_form(n, n)
    found = spectral.weights(Q)
    x, value = naive.dominant(Q)
    assert found.weights == pytest.approx(x, abs=1e-12)
    assert found.eigenvalue == pytest.approx(value, rel=1e-13)
    assert not found.multiple
    assert np.linalg.norm(found.weights) == pytest.approx(1, abs=1e-14)
    assert residual(Q, found) < 1e-13


def test_example_1_of_the_paper() -> None:
    """I(S;C) = 1, I(G;C) = .7136, I(G;C|S) = 0, I(S;C|G) = .2864 bits: cos and sin of 22.5 degrees."""
    Q = np.array([[1, 0.2864 / 2], [0.2864 / 2, 0.7136]])
    w = spectral.weights(Q).weights
    assert w == pytest.approx([0.92, 0.38], abs=5e-3)
    exact = np.array(
        [[1, 1 - 0.7136], [1 - 0.7136, 2 * 0.7136 - 1 + (1 - 0.7136)]]
    )  # any matrix of that direction
    assert exact.shape == (2, 2)
    assert w == pytest.approx([np.cos(np.pi / 8), np.sin(np.pi / 8)], abs=1e-12)


entries = st.sampled_from([0.0, 0.0, 0.0, 1.0, 0.5, 0.25, 2.0, 1e-9])


@st.composite
def patchy(draw: Any) -> np.ndarray:
    """Matrices with many zeros, so that they often fall into blocks."""
    n = draw(st.integers(1, 7))
    A = np.array(draw(st.lists(entries, min_size=n * n, max_size=n * n))).reshape(n, n)
    return np.triu(A) + np.triu(A, 1).T


@given(patchy(), st.integers(-40, 40))
def test_weights_reach_the_largest_eigenvalue_whatever_the_blocks(Q: np.ndarray, power: int) -> None:
    found = spectral.weights(Q)
    w, top = found.weights, float(np.linalg.eigvalsh(Q)[-1])
    assert (w >= 0).all()
    assert np.linalg.norm(w) == pytest.approx(1, abs=1e-13)
    assert found.eigenvalue == pytest.approx(top, abs=1e-13)
    assert w @ Q @ w == pytest.approx(top, abs=1e-12)
    values = np.linalg.eigvalsh(Q)
    gap = values[-1] - values[-2] if len(Q) > 1 else np.inf
    if gap > 1e-8 * max(top, 1e-300):
        assert not found.multiple
    if len(Q) > 1 and gap < 1e-12 * top:
        assert found.multiple
    scaled = spectral.weights(Q * 2.0**power)
    assert scaled.weights.tolist() == w.tolist()
    assert scaled.multiple == found.multiple


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-290, 1e280])
@pytest.mark.parametrize("n", [9, 300])
def test_the_scale_does_not_matter(n: int, scale: float) -> None:
    Q = random_form(n, 5)
    one, other = spectral.weights(Q), spectral.weights(Q * scale)
    assert other.weights == pytest.approx(one.weights, abs=1e-13)
    assert other.eigenvalue == pytest.approx(one.eigenvalue * scale, rel=1e-13)


@pytest.mark.parametrize("n", [1, 5, 400])
def test_nothing_gives_equal_weights(n: int) -> None:
    found = spectral.weights(np.zeros((n, n)))
    assert found.weights.tolist() == [n**-0.5] * n
    assert found.eigenvalue == 0
    assert found.multiple == (n > 1)


@pytest.mark.parametrize("n", [2, 7, 400])
def test_the_identity_is_multiple(n: int) -> None:
    """(1, -1)/sqrt 2 is dominant too: a theorem that forbids it is not true for reducible matrices."""
    found = spectral.weights(np.eye(n))
    assert found.multiple
    assert found.weights == pytest.approx(np.full(n, n**-0.5), abs=1e-14)
    assert found.eigenvalue == 1


@pytest.mark.parametrize("n", [10, 250])
def test_two_level_blocks_and_one_below(n: int) -> None:
    own = random_form(n, 1)
    Q = np.zeros((3 * n, 3 * n))
    for part, factor in enumerate((1.0, 0.9, 1.0)):
        Q[part * n : (part + 1) * n, part * n : (part + 1) * n] = factor * own
    found = spectral.weights(Q)
    x, _ = naive.dominant(own)
    assert found.multiple
    assert found.weights == pytest.approx(np.concatenate([x, 0 * x, x]) / np.sqrt(2), abs=1e-12)
    mixed = np.random.default_rng(0).permutation(3 * n)
    again = spectral.weights(Q[np.ix_(mixed, mixed)])
    assert again.weights == pytest.approx(found.weights[mixed], abs=1e-12)


@pytest.mark.parametrize("n", [30, 300])
def test_blocks_joined_by_a_thread_are_as_good_as_apart(n: int) -> None:
    """The eigenvalues differ by less than can be told, though the matrix is irreducible."""
    own = random_form(n, 2)
    Q = np.kron(np.eye(2), own)
    Q[0, n] = Q[n, 0] = 1e-14
    found = spectral.weights(Q)
    assert found.multiple
    assert residual(Q, found) < 1e-12


@pytest.mark.parametrize("n", [8, 260])
def test_copies_have_equal_weights(n: int) -> None:
    Q = random_form(n, 3)
    Q[:, 5], Q[5] = Q[:, 1], Q[1]
    Q[5, 5] = Q[1, 1]
    Q[1, 5] = Q[5, 1] = 0.0
    w = spectral.weights(Q).weights
    assert w[1] == pytest.approx(w[5], abs=1e-13)


def test_a_path_that_lanczos_finds_hard() -> None:
    """Eigenvalues 2 cos(pi j / (n+1)) crowd at the top: 4e-5 apart."""
    n = 500
    Q = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    found = spectral.weights(Q)
    assert found.eigenvalue == pytest.approx(2 * np.cos(np.pi / (n + 1)), rel=1e-12)
    assert not found.multiple
    exact = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    assert found.weights == pytest.approx(exact / np.linalg.norm(exact), abs=1e-9)


def test_the_seed_of_the_start_is_not_seen() -> None:
    Q = random_form(400, 6)
    one, other = (spectral.weights(Q, seed=s).weights for s in (0, 1))
    assert one == pytest.approx(other, abs=1e-13)


def test_blocks() -> None:
    Q = np.zeros((6, 6))
    Q[0, 3] = Q[3, 0] = Q[3, 5] = Q[5, 3] = Q[1, 1] = 1.0
    assert [b.tolist() for b in spectral.blocks(Q)] == [[0, 3, 5], [1], [2], [4]]


# ------------------------------------------------------------------------------------------------------------- Nystrom


@pytest.mark.parametrize("n", [3, 10, 250])
@pytest.mark.parametrize("low_rank", [False, True])
def test_all_rows_are_the_matrix_itself(n: int, low_rank: bool) -> None:
    Q = random_form(n, 7, low_rank)
    for everything in (1.0, list(range(n)), np.arange(n)):
        found = spectral.weights(Q, nystrom=everything)
        exact = spectral.weights(Q)
        assert found.weights == pytest.approx(exact.weights, abs=1e-9)
        assert found.eigenvalue == pytest.approx(exact.eigenvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [12, 230])
def test_the_formula_for_a_positive_definite_corner(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.random((n, n))
    Q = A @ A.T + np.diag(rng.random(n))
    rows = sorted(rng.choice(n, n // 4, replace=False).tolist())
    x = naive.nystrom(Q, rows)
    found = spectral.weights(Q, nystrom=rows)
    assert x.min() > 0
    assert found.weights == pytest.approx(x, abs=1e-10)
    whole = naive.nystrom_matrix(Q, rows)
    assert found.eigenvalue == pytest.approx(float(np.linalg.eigvalsh(whole)[-1]), rel=1e-10)


@pytest.mark.parametrize("n", [15, 220])
def test_an_indefinite_corner(n: int) -> None:
    """A need not be positive definite: then C A^+ C' is used."""
    for seed in range(6):
        Q = random_form(n, seed)
        rows = list(range(0, n, 3))
        assert np.linalg.eigvalsh(Q[np.ix_(rows, rows)])[0] < 0
        whole = naive.nystrom_matrix(Q, rows)
        x = np.linalg.eigh((whole + whole.T) / 2)[1][:, -1]
        x = x * np.sign(x.sum())
        found = spectral.weights(Q, nystrom=rows)
        if x.min() >= 0:
            assert found.weights == pytest.approx(x, abs=1e-8)
        else:
            E = naive.lift(n)
            z = np.linalg.eigh(E @ (whole + whole.T) @ E.T / 2)[1][:, -1]
            assert found.weights == pytest.approx(z[1:] * np.sign(z[0]), abs=1e-8)


def test_mixed_signs_go_by_the_lifted_matrix() -> None:
    """The eigenvector of Q^ has both signs here, so features are ranked by that of E Q^ E', no sign taken away."""
    Q, rows = random_form(8, 0), [0, 3, 6]
    whole = naive.nystrom_matrix(Q, rows)
    x = np.linalg.eigh((whole + whole.T) / 2)[1][:, -1]
    assert (x * np.sign(x.sum())).min() < -1e-3
    E = naive.lift(8)
    z = np.linalg.eigh(E @ (whole + whole.T) @ E.T / 2)[1][:, -1]
    w = spectral.weights(Q, nystrom=rows).weights
    assert w == pytest.approx(z[1:] * np.sign(z[0]), abs=1e-10)


def test_rows_are_drawn_with_the_seed() -> None:
    Q = random_form(40, 8)
    one, same, other = (spectral.weights(Q, nystrom=0.3, seed=s).weights for s in (0, 0, 1))
    assert one.tolist() == same.tolist()
    assert one.tolist() != other.tolist()
    assert len(spectral.nystrom_rows(0.3, 40, 0)) == 12
    assert len(spectral.nystrom_rows(1e-9, 40, 0)) == 1


def test_rows_that_know_nothing() -> None:
    Q = np.zeros((4, 4))
    Q[2, 3] = Q[3, 2] = 1.0
    found = spectral.weights(Q, nystrom=[0])
    assert found.weights.tolist() == [0.5] * 4
    assert found.multiple


def test_columns_alone_are_enough() -> None:
    Q, rows = random_form(30, 9, low_rank=True), np.array([3, 8, 20])
    assert spectral.nystrom_weights(Q[:, rows], rows).weights.tolist() == pytest.approx(
        spectral.weights(Q, nystrom=rows).weights.tolist(), abs=1e-12
    )
    assert spectral.nystrom_weights(Q[:, rows], rows).weights == pytest.approx(naive.dominant(Q)[0], abs=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_nystrom_at_any_scale(scale: float) -> None:
    Q = random_form(20, 10)
    one, other = (spectral.weights(M, nystrom=0.4, seed=3) for M in (Q, Q * scale))
    assert other.weights == pytest.approx(one.weights, abs=1e-10)
    assert other.eigenvalue == pytest.approx(one.eigenvalue * scale, rel=1e-10)


@pytest.mark.parametrize("wrong", [0, 0.0, -0.1, 1.5, 2, True, [], [1, 1], [9], [-1], [0.5], "all", np.nan])
def test_no_such_rows(wrong: Any) -> None:
    with pytest.raises(InputError, match="nystrom"):
        spectral.weights(random_form(5), nystrom=wrong)


@pytest.mark.parametrize(
    "wrong", [[[1.0, 2.0]], [[np.nan]], [[1.0, 2.0], [0.0, 1.0]], [[1.0, -1.0], [-1.0, 1.0]]]
)
def test_no_such_matrix(wrong: Any) -> None:
    with pytest.raises(InputError, match="Q"):
        spectral.weights(np.array(wrong))
