"""One tridiagonal form serves all lambdas: solutions satisfy their equations to a few roundings of its terms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.ridge import ridge

from jifs.kernels.ridge import dot, ridge_path, take_out, times

SEEDS = st.integers(0, 2**32 - 1)
LAMBDAS = np.array([1e-4, 1e-3, 1e-2, 1e-1])
UNIT = 2.0**-53


def problem(seed, size, rank=None, falling=1.0):
    """A Gram matrix of this rank with eigenvalues that fall, and a vector in its range."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(size, size if rank is None else rank)) * falling ** np.arange(
        size if rank is None else rank
    )
    H = A @ A.T / size
    return (H + H.T) / 2, A @ rng.normal(size=A.shape[1])


def path(H, h, lambdas=LAMBDAS, lo=0, hi=None):
    out = np.full((len(lambdas), len(h)), np.nan)
    steps = ridge_path(np.ascontiguousarray(H), h, lo, len(h) if hi is None else hi, np.asarray(lambdas), out)
    return out, steps


def left_over(H, h, lam, alpha):
    """What is left of the equation, in roundings of its terms."""
    rest = np.linalg.norm(H @ alpha + lam * alpha - h)
    return rest / (np.linalg.norm(H, 2) * np.linalg.norm(alpha) + np.linalg.norm(h)) / UNIT


@given(SEEDS, st.integers(1, 30), st.floats(0.3, 1.0))
def test_every_lambda_is_solved(seed, size, falling):
    H, h = problem(seed, size, falling=falling)
    alphas, steps = path(H, h)
    assert 1 <= steps <= size
    for lam, alpha in zip(LAMBDAS, alphas, strict=True):
        assert left_over(H, h, lam, alpha) <= 20 * size + 50
    condition = (np.linalg.norm(H, 2) + 1e-4) / 1e-4
    assert np.allclose(
        alphas, ridge(H, h, LAMBDAS), rtol=0, atol=100 * size * UNIT * condition * np.abs(alphas).max()
    )


def test_few_steps_for_a_matrix_of_low_rank():
    H, h = problem(1, 25, rank=3)
    alphas, steps = path(H, h)
    assert steps == 3
    assert np.allclose(alphas, ridge(H, h, LAMBDAS), rtol=1e-9, atol=1e-9 * np.abs(alphas).max())


def test_a_constant_matrix_takes_one_step():
    """Basis functions that are all the same, as of a constant feature."""
    H, h = np.full((40, 40), 0.3), np.full(40, 0.3)
    alphas, steps = path(H, h)
    assert steps == 1
    assert alphas == pytest.approx(np.repeat(0.3 / (0.3 * 40 + LAMBDAS), 40).reshape(4, 40), rel=1e-13)


def test_a_vector_outside_the_range():
    H = np.diag([2.0, 1.0, 0.0, 0.0])
    h = np.array([1.0, 1.0, 1.0, 0.0])
    assert path(H, h)[0] == pytest.approx(ridge(H, h, LAMBDAS), rel=8 * UNIT * 2e4)  # 2e4 is the condition


def test_nothing_to_explain():
    H, _ = problem(2, 6)
    alphas, steps = path(H, np.zeros(6))
    assert steps == 0
    assert not alphas.any()


def test_only_the_block_is_read_and_written():
    H, h = problem(3, 9)
    spoiled = np.full((9, 9), np.nan)
    spoiled[2:7, 2:7] = H[2:7, 2:7]
    alphas, _ = path(spoiled, h, lo=2, hi=7)
    assert np.isnan(alphas[:, [0, 1, 7, 8]]).all()
    assert np.allclose(alphas[:, 2:7], ridge(H[2:7, 2:7], h[2:7], LAMBDAS), rtol=1e-9)


def test_size_one_and_extreme_lambdas():
    alphas, _ = path(np.array([[0.5]]), np.array([2.0]), [1e-300, 1.0, 1e100])
    assert alphas[:, 0] == pytest.approx([4.0, 2 / 1.5, 2e-100], rel=1e-15)


def test_the_order_of_lambdas_does_not_matter():
    H, h = problem(4, 20, falling=0.6)
    assert path(H, h, LAMBDAS[::-1].copy())[0][::-1].tobytes() == path(H, h)[0].tobytes()


@given(SEEDS, st.integers(1, 11))
def test_products(seed, size):
    H, h = problem(seed, size)
    out = np.full(size, np.nan)
    times(H, 0, size, h, out)
    assert np.allclose(out, H @ h, rtol=0, atol=(size + 2) * 2 * UNIT * (np.abs(H) @ np.abs(h)).max())
    assert dot(h, out) == pytest.approx(float(h @ out), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("size", "steps"), [(1, 1), (7, 3), (9, 4), (13, 6)])
def test_what_is_taken_out_is_gone(size, steps):
    V = np.linalg.qr(np.random.default_rng(size).normal(size=(size, size)))[0]
    z = np.random.default_rng(0).normal(size=size)
    whole, shares = z.copy(), np.empty(size)
    last = take_out(V, np.ascontiguousarray(V.T), steps, z, shares)
    assert np.abs(V[:steps] @ z).max() <= 1e-14
    assert last == pytest.approx(float(V[steps - 1] @ whole), abs=1e-14)
    assert z == pytest.approx(whole - V[:steps].T @ (V[:steps] @ whole), abs=1e-14)
