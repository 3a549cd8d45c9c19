"""Matrix products that are the same for any number of threads:  A B  by fixed blocks of rows of A.

Each block is made by one of our threads, and by BLAS with one thread of its own (`alone`): the threads of BLAS would
change the last digits with their number, and on a busy machine they wait for each other at every small product.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

ROWS = 512
SMALL = 2**22
"""Up to this many multiplications a product is made in one piece."""


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
    """A B, the blocks of rows spread over our threads."""
    rows, columns = len(A), B.shape[1]
    if rows * A.shape[1] * columns <= SMALL:
        return np.asarray(A @ B)
    from jifs.jit import spread

    out = np.empty((rows, columns))

    def task(lo: int, hi: int) -> None:
        for first in range(lo * ROWS, min(hi * ROWS, rows), ROWS):
            np.matmul(A[first : first + ROWS], B, out=out[first : first + ROWS])

    spread(-(-rows // ROWS), task)
    return out
