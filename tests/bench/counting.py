"""Nanoseconds per (sample x pair): our count beside a plain compiled histogram, one thread each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from . import ours
from .timing import show, timed, times
from .worlds import COUNTING, make


@njit(nogil=True)
def plain_histogram(codes: NDArray[Any], starts: NDArray[Any], k: int, out: NDArray[Any]) -> None:
    """out[j, c, a, b] = #{rows of class c with X_k = a, X_j = b}; rows are sorted by class, features are rows."""
    out[:] = 0
    for j in range(codes.shape[0]):
        for c in range(starts.size - 1):
            for i in range(starts[c], starts[c + 1]):
                out[j, c, codes[k, i], codes[j, i]] += 1


def run(quick: bool) -> None:
    """For 2, 5, 10, 16 and 32 levels."""
    rows = []
    for world in COUNTING:
        if quick:
            world = world.with_(n=world.n // 10, m=world.m // 10)
        X, y = make(world)
        order = np.argsort(y, kind="stable")
        codes = np.ascontiguousarray(X[order].T.astype(np.uint8))
        starts = np.concatenate(([0], np.cumsum(np.bincount(y, minlength=world.classes))))
        out = np.empty((world.m, world.classes, world.r, world.r), dtype=np.int64)
        one = 1e9 / (world.n * world.m)
        plain = timed(lambda: plain_histogram(codes, starts, 1, out), repeats=3)  # noqa: B023
        count = ours.counter(X, y)
        mine = timed(lambda: count(1), repeats=7)  # noqa: B023
        rows.append(
            [
                f"{world.n:,} x {world.m:,}, {world.r} levels, {world.classes} classes",
                *(f"{t.best * one:.4f} / {t.median * one:.4f}" for t in (plain, mine)),
                times(plain.best, mine.best),
            ]
        )
    show(
        "Counting: ns per (sample x pair), class-conditional tables included, one thread (best / median)",
        ["data", "plain njit histogram", "jifs", "gain"],
        rows,
    )
