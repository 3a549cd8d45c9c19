"""One batch of rows of numbers, sorted by class and centred on the means of their class."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jifs import jit
from jifs.kernels.moments import CHUNK, product_blocks

BLOCK_ROWS = 2048
"""Rows summed at a time: the sums of blocks are then added in their order, whatever the number of threads."""
PANEL = 256
"""Columns of a covariance matrix that are made at a time."""


def by_class(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums of the values from starts[c] to starts[c + 1], 0 where there are none."""
    out = np.zeros((starts.size - 1, *values.shape[1:]))
    some = np.diff(starts) > 0
    if some.any():
        out[some] = np.add.reduceat(values, starts[:-1][some], axis=0)
    return out


_blas = threading.Lock()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Products of the library on one thread; its setting is the whole process's, so one at a time may change it."""
    from threadpoolctl import threadpool_limits

    with _blas, threadpool_limits(1, "blas"):
        yield


@dataclass(frozen=True, eq=False)
class Values:
    """Rows in order of class. data = x - (class mean), single precision if the user's numbers were.

    `left` is what rounding has left of the class means in `data`, and `squares` the sums of their squares, weighted.
    """

    data: np.ndarray
    starts: np.ndarray
    weights: np.ndarray | None
    mass: np.ndarray
    mean: np.ndarray
    left: np.ndarray
    squares: np.ndarray
    vote: np.ndarray
    """The value of each column that more than half of the rows hold, by weight; any, if there is none."""
    common: np.ndarray
    """The weight of these rows, 0 if there are none."""

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.starts.size - 1

    @property
    def offset(self) -> np.ndarray:
        """[class, m]: what the means lack."""
        offset: np.ndarray = self.left / self._divisor[:, None]
        return offset

    @property
    def _divisor(self) -> np.ndarray:
        return np.where(self.mass > 0, self.mass, 1.0)

    @cached_property
    def blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """First row of every block, and the end; and the first block of every class, and the end."""
        firsts: list[int] = []
        of_class: list[int] = []
        for lo, hi in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            of_class.append(len(firsts))
            firsts.extend(range(lo, hi, BLOCK_ROWS))
        return np.array([*firsts, int(self.starts[-1])], np.int64), np.array(
            [*of_class, len(firsts)], np.int64
        )

    def products(self, k: int) -> np.ndarray:
        """[class, m]: sum of w (x_j - mean_j)(x_k - mean_k) over the rows of each class."""
        z = self.data[:, k].astype(np.float64)
        if self.weights is not None:
            z *= self.weights
        firsts, of_class = self.blocks
        out = np.empty((firsts.size - 1, self.data.shape[1]))
        product_blocks(out.shape[0] * -(-out.shape[1] // CHUNK), self.data, firsts, z, out)
        products = by_class(out, of_class)
        products -= self.left * (self.left[:, k] / self._divisor)[:, None]
        return products

    def all_products(self) -> np.ndarray:
        """[class, m, m]: the same for every pair of columns, by panels of columns."""
        m = self.data.shape[1]
        out = np.zeros((self.classes, m, m))

        def task(lo: int, hi: int) -> None:
            for panel in range(lo * PANEL, min(hi * PANEL, m), PANEL):
                self._fill(out, panel, min(panel + PANEL, m))

        # one thread each for the library's products, which are then the same whatever our own number of threads
        with one_thread_each():
            jit.spread(-(-m // PANEL), task, most=1)
        for c in range(self.classes):
            out[c] -= np.outer(self.left[c], self.left[c] / self._divisor[c])
        return out

    def _fill(self, out: np.ndarray, first: int, last: int) -> None:
        """Columns first..last-1 of every class, from row `first` on, and their mirror image."""
        firsts, of_class = self.blocks
        for b in range(firsts.size - 1):
            rows = self.data[firsts[b] : firsts[b + 1], first:].astype(np.float64)
            own = rows[:, : last - first]
            if self.weights is not None:
                own = own * self.weights[firsts[b] : firsts[b + 1], None]
            c = int(np.searchsorted(of_class, b, "right")) - 1
            out[c, first:, first:last] += rows.T @ own
        out[:, first:last, last:] = np.swapaxes(out[:, last:, first:last], 1, 2)

    def fourth_moments(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per class, of the centred rows x in these units: ||Sigma||^2 (Frobenius) and the mean of (x'x)^2.

        Both are shares of the trace of Sigma, squared, which may not fit a double; 0 where that is 0. ||Sigma||^2 is a
        sum over pairs of columns or over pairs of rows, whichever are fewer.
        """
        squared, fourth = np.zeros(self.classes), np.zeros(self.classes)
        with one_thread_each():
            for c in range(self.classes):
                lo, hi = int(self.starts[c]), int(self.starts[c + 1])
                share = (
                    np.full(hi - lo, 1.0 / (hi - lo))
                    if self.weights is None
                    else self.weights[lo:hi] / self.mass[c]
                )
                x = (self.data[lo:hi] - self.left[c] / self.mass[c]) * scale
                sizes = np.einsum("ij,ij->i", x, x)
                trace = float(share @ sizes)
                if trace == 0.0:
                    continue
                fourth[c] = float(share @ (sizes / trace) ** 2)
                x *= np.sqrt(share / trace)[:, None]
                inner = x.T @ x if x.shape[1] <= x.shape[0] else x @ x.T
                squared[c] = float(np.einsum("ij,ij->", inner, inner))
        return squared, fourth
