"""Moments as statistics: class counts, means and sums of products about the means, updated and merged.

    W_c = sum w        mean_c = sum w x / W_c        P_c,jk = sum w (x_j - mean_cj)(x_k - mean_ck)

    merging:  P = P_a + P_b + W_a W_b / (W_a + W_b) d_j d_k,    d = mean_b - mean_a          [Chan, Golub, LeVeque 1983]

Products are taken about means, never as E[xy] - E[x]E[y], so a large mean cancels nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jifs.errors import InputError
from jifs.stats.values import Values


@dataclass(eq=False)
class Moments:
    """Per class: rows, weight, means, and sums of squares about the means; of all rows, the weight of a common value.

    After merging, `common` may be less than the value's weight: batches where it is no majority are not counted.
    """

    reads = "values"
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    mass: np.ndarray = field(default_factory=lambda: np.zeros(0))
    mean: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    squares: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    vote: np.ndarray = field(default_factory=lambda: np.zeros(0))
    common: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def update(self, batch: Values) -> None:
        """Add a batch."""
        rows = np.diff(batch.starts)
        self.merge(Moments(rows, batch.mass, batch.true_mean, batch.squares, batch.vote, batch.common))

    def merge(self, other: Moments) -> None:
        """Add what another has seen."""
        if other.mass.size == 0:
            return
        if self.mass.size == 0:
            self.rows, self.mass, self.mean = other.rows, other.mass, other.mean
            self.squares, self.vote, self.common = other.squares, other.vote, other.common
            return
        mean, both, apart = _meeting(self, other)
        self.squares = self.squares + other.squares + both * apart * apart
        self.mass, self.mean, self.rows = self.mass + other.mass, mean, self.rows + other.rows
        most = np.maximum(self.common, other.common)
        agreed = np.where(self.vote == other.vote, self.common + other.common, most)
        self.vote = np.where(self.common >= other.common, self.vote, other.vote)
        self.common = agreed


@dataclass(eq=False)
class Products:
    """Per class: sums of products about the means of every feature with feature k, or with all features (k None)."""

    k: int | None
    reads = "values"
    cells: np.ndarray | None = None
    mass: np.ndarray = field(default_factory=lambda: np.zeros(0))
    mean: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def update(self, batch: Values) -> None:
        """Add a batch."""
        cells = batch.all_products() if self.k is None else batch.products(self.k)
        self.merge(Products(self.k, cells, batch.mass, batch.true_mean))

    def merge(self, other: Products) -> None:
        """Add what another has seen."""
        if other.cells is None:
            return
        if self.cells is None:
            self.cells, self.mass, self.mean = other.cells, other.mass, other.mean
            return
        mean, both, apart = _meeting(self, other)
        if self.k is None:
            cross = both[:, :, None] * apart[:, :, None] * apart[:, None, :]
        else:
            cross = both * apart * apart[:, self.k][:, None]
        self.cells = self.cells + other.cells + cross
        self.mass, self.mean = self.mass + other.mass, mean


def _meeting(a: Moments | Products, b: Moments | Products) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The common mean, W_a W_b / (W_a + W_b), and the distance d of the means, 0 where a side has no rows."""
    if a.mean.shape != b.mean.shape:
        raise InputError(
            "moments can be merged if they are of the same classes and features, not of shapes"
            f" {a.mean.shape} and {b.mean.shape}"
        )
    mean = np.where((a.mass > 0)[:, None], a.mean, b.mean)
    apart = np.where((b.mass > 0)[:, None], b.mean - mean, 0.0)
    total = a.mass + b.mass
    share = np.divide(b.mass, total, out=np.zeros_like(total), where=total > 0)
    return mean + share[:, None] * apart, (share * a.mass)[:, None], apart
