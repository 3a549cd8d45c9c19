"""The largest eigenvalues of  A(u) = Q + k Diag(u) - (u e' + e u')/2,  for many u that differ little.

Up to DENSE features all of them, by LAPACK. Beyond, Ritz values of a block Krylov space [K, AK, A^2 K], whose block K
holds the Ritz vectors of the u before and the unit vectors where the diagonal of A(u) is largest: eigenvectors that
live on one or two features are what a Krylov space is slow to find. A Ritz value is never above lambda_max and may be
below; nothing is proved here.

Products with Q are made by blocks of rows, each by one thread of ours and BLAS with one thread of its own: BLAS threads
would change the last digits with their number, and on a busy machine wait for each other at every small product.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

DENSE = 250
BLOCK, GROWTH, WIDEST = 16, 8, 48
"""Vectors in the block: at first, more at a time, and at most."""
CORNERS = 8
"""Unit vectors that are added to the block."""
DEPTH, SWEEPS = 3, 40
ROWS = 512
TOPS=6
ERR=0.01
CUT=7.0
PREC=0.1


@functools.cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401 - brings a BLAS of its own, which the controller must know
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def alone() -> Iterator[None]:
    """BLAS with one thread."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B, by blocks of rows of A that are spread over our threads; the blocks do not depend on their number."""
    rows = len(A)
    if rows * A.shape[1] * B.shape[1] < 2**22:
        return np.asarray(A @ B)
    from jifs.jit import spread

    out = np.empty((rows, B.shape[1]))

    def task(lo: int, hi: int) -> None:
        for block in range(lo, hi):
            part = slice(block * ROWS, min((block + 1) * ROWS, rows))
            np.matmul(A[part], B, out=out[part])

    spread(-(-rows // ROWS), task)
    return out


class Eigen:
    """The top of the spectrum of A(u); what was found for one u is where the next one starts."""

    def __init__(self, Q: np.ndarray, k: int) -> None:
        self.Q, self.k, self.n = Q, k, len(Q)
        self.dense = self.n <= DENSE
        self.diagonal = Q.diagonal().copy()
        self.width = BLOCK
        self.theta=0.0
        if not self.dense:
            noise = np.random.default_rng(0).standard_normal((self.n, BLOCK))
            noise[:, 0] = Q.sum(axis=1)  # near the Perron vector
            self.V = noise

    def matrix(self, u: np.ndarray) -> np.ndarray:
        """A(u)."""
        half = u / 2
        A = self.Q - half[:, None] - half
        A[np.diag_indices(self.n)] += self.k * u
        return A

    def apply(self, u: np.ndarray, X: np.ndarray) -> np.ndarray:
        """A(u) X."""
        out = product(self.Q, X)
        out += (self.k * u)[:, None] * X
        out -= (u / 2)[:, None] * X.sum(axis=0)
        out -= (u / 2) @ X
        return out

    def add(self, vectors: np.ndarray) -> None:
        """Let the search look into these directions, too."""
        if not self.dense:
            self.V = np.column_stack([vectors, self.V])

    def top(self, u: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues from the largest down and their vectors, as many as matter in a softmax at mu."""
        if self.dense:
            from scipy.linalg import eigh

            values, vectors = eigh(self.matrix(u), overwrite_a=True, check_finite=False, driver="evd")
            first = int(np.searchsorted(values, values[-1] - 30 * mu))
            return values[first:][::-1], vectors[:, first:][:, ::-1]
        for _ in range(TOPS):
            values, error = self._sweep(u)
            if error <= ERR * mu:
                break
        count = int((values > values[0] - CUT * mu).sum())
        self.width = min(max(count + GROWTH, BLOCK, self.width-2), WIDEST)
        return values, self.V

    def largest(self, u: np.ndarray, near: float, deadline: float = math.inf) -> float:
        """lambda_max, as well as this can tell: to `near`, relatively, unless time or sweeps end before."""
        if self.dense:
            return float(np.linalg.eigvalsh(self.matrix(u))[-1])
        best = -math.inf
        for _ in range(SWEEPS):
            values, error = self._sweep(u)
            rise = float(values[0]) - best
            best = max(best, float(values[0]))
            settled = error <= near * abs(best) or rise <= 0.01 * near * abs(best)
            if settled or time.perf_counter() > deadline:
                break
        return best

    def _sweep(self, u: np.ndarray) -> tuple[np.ndarray, float]:
        """One Rayleigh-Ritz step; the Ritz values and how far the first may be from an eigenvalue."""
        corners = np.zeros((self.n, CORNERS))
        most = np.argpartition(self.diagonal + (self.k - 1) * u, self.n - CORNERS)[self.n - CORNERS :]
        corners[np.sort(most), np.arange(CORNERS)] = 1.0
        block, _ = np.linalg.qr(np.column_stack([self.V, corners]))
        basis, images = [block], [self.apply(u, block)]
        for _ in range(DEPTH - 1):
            block = images[-1]
            known = np.column_stack(basis)
            if PREC>0:
                d = self.diagonal+(self.k-1)*u
                th = max(float(self.theta),float(d.max()))
                block = (block - th*basis[-1])/(th*(1+PREC)-d)[:,None]
            for _ in range(2):
                block = block - known @ (known.T @ block)
                block, _ = np.linalg.qr(block)
            basis.append(block)
            images.append(self.apply(u, block))
        space, image = np.column_stack(basis), np.column_stack(images)
        inner = space.T @ image
        values, mix = np.linalg.eigh((inner + inner.T) / 2)
        values, mix = values[::-1][: self.width], mix[:, ::-1][:, : self.width]
        self.V = space @ mix
        self.theta=values[0]
        rest = float(np.linalg.norm(image @ mix[:, 0] - values[0] * self.V[:, 0]))
        gap = float(values[0] - values[-1])
        return values, min(rest, rest * rest / gap) if gap > 0 else rest
