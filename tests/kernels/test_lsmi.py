"""Moments, held-out losses and gradients of LSMI against the double sums of the definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lsmi as naive
from naive.distances import gauss

from jifs import jit
from jifs.kernels import lsmi as fast

LAMBDAS = np.array([1e-3, 1e-1])
KINDS = pytest.mark.parametrize("kind", ["class", "real"])


class Case:
    """Rows in the order of three folds, centres sorted by class, and what the kernels are told of them."""

    def __init__(self, kind, seed=0, n=14, b=5, m=2, folds=3):
        rng = np.random.default_rng(seed)
        self.x, self.kind, self.b = rng.normal(size=(n, m)), kind, b
        self.y = rng.integers(0, 3, n) if kind == "class" else rng.normal(size=n)
        self.at = rng.permutation(n)[:b]
        if kind == "class":
            self.at = self.at[np.argsort(self.y[self.at], kind="stable")]
        self.folds = np.linspace(0, n, folds + 1).astype(np.int64)
        own = self.y[self.at]
        known, sizes = np.unique(own, return_counts=True) if kind == "class" else (own[:1], [b])
        self.blocks = np.cumsum([0, *sizes])
        where = {v: g for g, v in enumerate(known.tolist())}
        self.block_of = np.array([where.get(v, -1) if kind == "class" else 0 for v in self.y.tolist()])
        self.counts = np.array(
            [[(self.block_of[a:e] == g).sum() for g in range(len(known))] for a, e in self.spans()],
            np.float64,
        )
        self.d = ((self.x[:, None] - self.x[self.at]) ** 2).sum(axis=2)
        self.e = (self.y[:, None] - own) ** 2 if kind == "real" else np.empty((0, b))

    def spans(self):
        return list(pairwise(self.folds.tolist()))

    def kernels(self, sigma, w=1.0):
        K = gauss(self.x * w, (self.x * w)[self.at], sigma)
        return K, naive.target_kernel(self.y, self.y[self.at], self.kind, sigma)

    def grid(self, sigmas, lambdas=LAMBDAS):
        losses, values = np.zeros((2, len(sigmas), len(lambdas)))
        data = (self.d, self.e, self.block_of, self.blocks, self.folds, self.counts)
        fast.grid_all(len(sigmas), *data, np.array(sigmas), lambdas, losses, values)
        return losses, values


@given(st.integers(0, 2**32 - 1), st.integers(0, 11), st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_gram(seed, rows, sizes):
    """Rows four at a time and what is left of them, blocks of even and odd sizes."""
    blocks = np.cumsum([0, *sizes])
    K = np.random.default_rng(seed).normal(size=(rows + 2, blocks[-1]))
    gram = np.ones((blocks[-1], blocks[-1]))
    fast.add_gram(K, rows, blocks, gram)
    for lo, hi in pairwise(blocks.tolist()):
        own = 1 + K[:rows, lo:hi].T @ K[:rows, lo:hi]
        assert np.allclose(np.triu(gram[lo:hi, lo:hi]), np.triu(own), rtol=0, atol=1e-13)


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_losses_and_values_are_the_double_sums(kind, seed):
    case, sigmas = Case(kind, seed), [0.3, 1.5]
    losses, values = case.grid(sigmas)
    for s, sigma in enumerate(sigmas):
        K, Q = case.kernels(sigma)
        for t, lam in enumerate(LAMBDAS.tolist()):
            folds = [list(range(a, e)) for a, e in case.spans()]
            assert losses[s, t] == pytest.approx(naive.held_out(K, Q, folds, lam), abs=1e-11)
            assert values[s, t] == pytest.approx(naive.information(K, Q, lam), abs=1e-11)


@KINDS
def test_one_fold_has_no_loss_and_threads_leave_no_trace(kind):
    case = Case(kind, folds=1)
    losses, values = case.grid([1.0])
    assert not losses.any()
    assert values[0, 0] == pytest.approx(naive.information(*case.kernels(1.0), 1e-3), abs=1e-11)
    case = Case(kind, 5, n=80, b=30)
    with jit.threads(1):
        one = case.grid([0.2, 0.5, 1.0, 2.0])
    with jit.threads(2):
        two = case.grid([0.2, 0.5, 1.0, 2.0])
    assert [a.tobytes() for a in one] == [a.tobytes() for a in two]


def slope(case, sigma, w, lam=1e-2):
    """The gradient at weights w by the kernels, from K, Q and alpha."""
    n, b = len(case.x), case.b
    centres = np.ascontiguousarray(case.x[case.at].T)
    K = np.empty((n, b))
    fast.basis_all(n, case.x * w, centres * w[:, None], 1 / (2 * sigma**2), K)
    slow, Q = case.kernels(sigma, w)
    assert np.allclose(K, slow, rtol=1e-14, atol=0)
    alpha = naive.solve(slow, Q, lam)
    real = case.kind == "real"
    q, gram = (Q, np.ascontiguousarray(Q.T @ Q)) if real else (np.empty((0, b)), np.empty((0, b)))
    out = np.full((-(-n // fast.STRIP), len(w)), np.nan)
    own = (case.block_of, case.blocks, case.counts.sum(axis=0), alpha, gram)
    fast.slope_all(len(out), case.x, centres, K, q, *own, out)
    return -(w / sigma**2) * out.sum(axis=0)


@KINDS
@pytest.mark.parametrize("n", [5, 8, 30, fast.STRIP + 7])
def test_the_gradient_is_the_derivative_of_the_definition(kind, n):
    """dIs = dh^T alpha - 1/2 alpha^T dH alpha with dH and dh by the product rule, from full matrices."""
    case, sigma, lam = Case(kind, n, n=n), 1.3, 1e-2
    w = np.array([0.7, 1.6])
    K, Q = case.kernels(sigma, w)
    alpha, G = naive.solve(K, Q, lam), Q.T @ Q
    slow = []
    for f in range(2):
        apart = (case.x[:, [f]] - case.x[case.at, f]) ** 2
        dK = -(w[f] / sigma**2) * apart * K
        dH = (dK.T @ K + K.T @ dK) * G / n**2
        slow.append((dK * Q).mean(axis=0) @ alpha - alpha @ dH @ alpha / 2)
    assert slope(case, sigma, w, lam) == pytest.approx(slow, rel=1e-10, abs=1e-13)


@KINDS
def test_moments_in_parts_add_up(kind):
    case = Case(kind, 2, n=23)
    K, Q = case.kernels(1.0)
    cuts = np.array([0, 3, 11, 23])
    grams, h = np.zeros((3, case.b, case.b)), np.zeros((3, case.b))
    q = Q if kind == "real" else np.empty((0, case.b))
    fast.gram_all(3, cuts, K, q, case.block_of, case.blocks, grams, h)
    assert h.sum(axis=0) == pytest.approx((K * Q).sum(axis=0), abs=1e-13)
    gram_y = np.ascontiguousarray(Q.T @ Q) if kind == "real" else q
    H = np.zeros((case.b, case.b))
    fast.assemble(grams.sum(axis=0), gram_y, case.counts.sum(axis=0), 23.0, case.blocks, H)
    assert pytest.approx(naive.moments(K, Q)[0], abs=1e-14) == H
