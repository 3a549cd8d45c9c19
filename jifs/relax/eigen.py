"""The largest eigenvalues of  A(u) = Q + k Diag(u) - (u e' + e u')/2,  for many u that differ little.

Up to DENSE features all of them, by LAPACK. Beyond, Ritz values, from a space [K, PK, PPK] with

    P = (d - (1 + SHIFT) theta)^-1 (A - theta),      d = diag A(u),  theta = the largest eigenvalue so far,

[Davidson 1975]: a Krylov space whose directions are weighted by the diagonal, because near the best u many
eigenvectors live on a few features. The block K holds the Ritz vectors of the u before and the unit vectors where d is
largest. A Ritz value is never above lambda_max and may be below: nothing is proved here.
"""

from __future__ import annotations

import math
import time

import numpy as np

from jifs.relax.blas import alone, product

__all__ = ["Eigen", "alone"]

DENSE = 250
NARROWEST, WIDEST, SPARE = 16, 48, 8
"""Vectors in the block: at least, at most, and beyond those that matter."""
CORNERS = 8
"""Unit vectors that are added to the block."""
DEPTH = 3
SHIFT = 0.1
SWEEPS, MOST_SWEEPS = 6, 40
"""Rayleigh-Ritz steps for one u, at most: while searching, and before a proof."""


class Eigen:
    """The top of the spectrum of A(u); what was found for one u is where the next one starts."""

    def __init__(self, Q: np.ndarray, k: int) -> None:
        self.Q, self.k, self.n = Q, k, len(Q)
        self.dense = self.n <= DENSE
        self.width, self.theta = NARROWEST, 0.0
        self.V = np.zeros((self.n, 0))
        if not self.dense:
            self.V = np.random.default_rng(0).standard_normal((self.n, NARROWEST))
            self.V[:, 0] = Q.sum(axis=1)  # near the vector of the largest eigenvalue of Q

    def diagonal(self, u: np.ndarray) -> np.ndarray:
        """That of A(u)."""
        return np.asarray(self.Q.diagonal() + (self.k - 1) * u)

    def matrix(self, u: np.ndarray) -> np.ndarray:
        """A(u)."""
        half = u / 2
        A = self.Q - (half[:, None] + half)
        A[np.diag_indices(self.n)] = self.diagonal(u)
        return A

    def apply(self, u: np.ndarray, X: np.ndarray) -> np.ndarray:
        """A(u) X."""
        out = product(self.Q, X)
        out += (self.k * u)[:, None] * X
        out -= (u / 2)[:, None] * X.sum(axis=0)
        out -= (u / 2) @ X
        return out

    def add(self, vector: np.ndarray) -> None:
        """Let the search look into this direction, too."""
        self.V = np.column_stack([vector, self.V])

    def top(self, u: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues from the largest down and their vectors, as many as matter in a softmax at mu."""
        if self.dense:
            from scipy.linalg import eigh

            values, vectors = eigh(self.matrix(u), overwrite_a=True, check_finite=False, driver="evd")
            first = int(np.searchsorted(values, values[-1] - 30 * mu))
            return values[first:][::-1], vectors[:, first:][:, ::-1]
        for _ in range(SWEEPS):
            values, error = self._sweep(u)
            if error <= 0.01 * mu:
                break
        matter = int((values > values[0] - 7 * mu).sum())
        vectors = self.V
        self.width = min(max(matter + SPARE, NARROWEST, self.width - 2), WIDEST)
        return values, vectors

    def largest(self, u: np.ndarray, near: float, deadline: float = math.inf) -> float:
        """lambda_max, as well as this can tell: to `near`, relatively, unless time or sweeps end before."""
        if self.dense:
            return float(np.linalg.eigvalsh(self.matrix(u))[-1])
        best = -math.inf
        for _ in range(MOST_SWEEPS):
            values, error = self._sweep(u)
            rise, best = float(values[0]) - best, max(best, float(values[0]))
            settled = error <= near * abs(best) or rise <= 0.01 * near * abs(best)
            if settled or time.perf_counter() > deadline:
                break
        return best

    def _sweep(self, u: np.ndarray) -> tuple[np.ndarray, float]:
        """One Rayleigh-Ritz step; the Ritz values, and how far the first may be from an eigenvalue."""
        d = self.diagonal(u)
        corners = np.zeros((self.n, CORNERS))
        corners[np.argsort(-d, kind="stable")[:CORNERS], np.arange(CORNERS)] = 1.0
        theta = max(self.theta, float(d.max()))  # no diagonal entry is above lambda_max
        weights = (d - (1 + SHIFT) * theta - 1e-300)[:, None]
        space = _orthonormal(np.column_stack([self.V, corners]), np.zeros((self.n, 0)))
        block, image = space, self.apply(u, space)
        latest = image
        for _ in range(DEPTH - 1):
            block = _orthonormal((latest - theta * block) / weights, space)
            if not block.shape[1]:
                break
            latest = self.apply(u, block)
            space, image = np.column_stack([space, block]), np.column_stack([image, latest])
        inner = space.T @ image
        values, mix = np.linalg.eigh((inner + inner.T) / 2)
        values, mix = values[::-1][: self.width], mix[:, ::-1][:, : self.width]
        self.V, self.theta = space @ mix, float(values[0])
        rest = float(np.linalg.norm(image @ mix[:, 0] - values[0] * self.V[:, 0]))
        gap = float(values[0] - values[-1])
        return values, min(rest, rest * rest / gap) if gap > 0 else rest


def _orthonormal(block: np.ndarray, known: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what the block adds to the known space; fewer columns where it adds little.

    By the eigenvectors of the Gram matrix, twice [Stathopoulos & Wu 2002]: made of matrix products, and directions that
    are rounding alone are left out, where Householder vectors would put some of their own into their place.
    """
    before = float(np.linalg.norm(block, axis=0).max(initial=0.0))
    for _ in range(2):
        block = block - known @ (known.T @ block)
        lengths = np.linalg.norm(block, axis=0)
        real = lengths > 1e-12 * before
        block = block[:, real] / lengths[real]
        values, mix = np.linalg.eigh(block.T @ block)
        real = values > 1e-10
        block = block @ (mix[:, real] / np.sqrt(values[real]))
        before = 1.0
    return np.asarray(block)
