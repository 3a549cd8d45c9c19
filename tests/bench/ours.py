"""What the benchmark calls of jifs: one small adapter per question, so that a change of interface is felt here only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jifs
from jifs import jit
from jifs.stats.columns import Column


def select(X: NDArray[Any], y: NDArray[Any], k: int, criterion: str, threads: int) -> jifs.Result:
    """A whole selection from already discrete codes, encoding included."""
    return jifs.select(X, y, k=k, criterion=criterion, bins="none", n_jobs=threads)


def matrix(X: NDArray[Any], y: NDArray[Any], which: str, threads: int) -> NDArray[np.float64]:
    """The full matrix of pairwise information, encoding included."""
    return np.asarray(jifs.pairs(X, y, which=which, bins="none", n_jobs=threads))


def encoding_seconds(X: NDArray[Any], y: NDArray[Any], threads: int) -> float:
    """Seconds until counting can begin: validating, sorting by class, coding, packing planes, margins.

    Planes are packed when first asked for, so `facts["seconds"]["encoding"]` alone would be too kind.
    """
    with jit.threads(threads):
        start = time.perf_counter()
        batch = jifs.memory(X, y, bins="none", n_jobs=threads).batch
        _ = batch.planes, batch.margins
        return time.perf_counter() - start


def counter(X: NDArray[np.int8], y: NDArray[np.intp]) -> Callable[[int], NDArray[Any]]:
    """A function of k that counts the tables (class, X_j, X_k) of every feature j, on one thread.

    Making the planes of column k is part of each call; encoding the data, done once for a whole selection, is not.
    """
    batch = jifs.memory(X, y, bins="none").batch

    def count(k: int) -> NDArray[Any]:
        column = batch.column(k)
        return batch.tables(Column(column.codes, column.levels), 0, batch.layout.blocks, split=True)

    return count
