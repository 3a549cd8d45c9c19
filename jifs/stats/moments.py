"""Moments as statistics: class counts, means and sums of products about the means, updated and merged.

    W_c = sum w        mean_c = sum w x / W_c        P_c,jk = sum w (x_j - mean_cj)(x_k - mean_ck)

    merging:  P = P_a + P_b + W_a W_b / (W_a + W_b) d_j d_k,    d = mean_b - mean_a          [Chan, Golub, LeVeque 1983]

Products are taken about means, never as E[xy] - E[x]E[y], so a large mean cancels nothing. For the same reason a mean
is kept as a number nearby and a small `offset` from it: the distance of two means then has all its digits.
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
    offset: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    squares: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    vote: np.ndarray = field(default_factory=lambda: np.zeros(0))
    common: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def update(self, batch: Values) -> None:
        """Add a batch."""
        rows, squares = np.diff(batch.starts), batch.squares
        self.merge(Moments(rows, batch.mass, batch.mean, batch.offset, squares, batch.vote, batch.common))

    def merge(self, other: Moments) -> None:
        """Add what another has seen."""
        if other.mass.size == 0:
            return
        if self.mass.size == 0:
            self.rows, self.mass, self.mean, self.offset = other.rows, other.mass, other.mean, other.offset
            self.squares, self.vote, self.common = other.squares, other.vote, other.common
            return
        both, apart = _meet(self, other)
        self.squares = self.squares + other.squares + both * apart * apart
        self.rows = self.rows + other.rows
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
    offset: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def update(self, batch: Values) -> None:
        """Add a batch."""
        cells = batch.all_products() if self.k is None else batch.products(self.k)
        self.merge(Products(self.k, cells, batch.mass, batch.mean, batch.offset))

    def merge(self, other: Products) -> None:
        """Add what another has seen."""
        if other.cells is None:
            return
        if self.cells is None:
            self.cells, self.mass, self.mean, self.offset = other.cells, other.mass, other.mean, other.offset
            return
        both, apart = _meet(self, other)
        if self.k is None:
            cross = both[:, :, None] * apart[:, :, None] * apart[:, None, :]
        else:
            cross = both * apart * apart[:, self.k][:, None]
        self.cells = self.cells + other.cells + cross


def _meet(a: Moments | Products, b: Moments | Products) -> tuple[np.ndarray, np.ndarray]:
    """Give a the weight and mean of both; W_a W_b / (W_a + W_b) and the distance d of their means, 0 without rows."""
    if a.mean.shape != b.mean.shape:
        raise InputError(
            "moments can be merged if they are of the same classes and features, not of shapes"
            f" {a.mean.shape} and {b.mean.shape}"
        )
    mean, offset = (np.where((a.mass > 0)[:, None], *two) for two in ((a.mean, b.mean), (a.offset, b.offset)))
    apart = np.where((b.mass > 0)[:, None], (b.mean - mean) + (b.offset - offset), 0.0)
    total = a.mass + b.mass
    share = np.divide(b.mass, total, out=np.zeros_like(total), where=total > 0)
    both = (share * a.mass)[:, None]
    a.mass, a.mean, a.offset = total, mean, offset + share[:, None] * apart
    return both, apart
