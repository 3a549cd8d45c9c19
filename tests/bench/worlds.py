"""Generated tables of the shapes that the benchmark uses."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class World:
    """Shape of a table: n rows, m features of r levels, classes, and how many features are to be selected."""

    n: int
    m: int
    r: int
    classes: int
    k: int = 50

    def __str__(self) -> str:
        return f"{self.n:,} x {self.m:,}, {self.r} levels, {self.classes} classes, k = {self.k}"

    def with_(self, **changes: int) -> World:
        """The same world with some numbers changed; k stays within m."""
        changed = replace(self, **changes)
        return replace(changed, k=min(changed.k, changed.m))


SELECTIONS = (
    World(10_000, 2_000, 2, 2),
    World(10_000, 1_000, 5, 5),
    World(50_000, 500, 10, 10),
    World(100, 10_000, 3, 4),
    World(100, 10_000, 3, 4, k=100),
)
COUNTING = (
    World(10_000, 2_000, 2, 2),
    World(10_000, 1_000, 5, 5),
    World(50_000, 500, 10, 10),
    World(50_000, 200, 16, 2),
    World(50_000, 200, 32, 2),
)


@functools.lru_cache(maxsize=1)
def make(world: World, seed: int = 0) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Codes int8[n, m] in C order and classes intp[n].

    Forty hidden columns know the class to different degrees; each feature is a noisy copy of one of them, so that
    features are relevant, redundant and neither in turn.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(world.classes, size=world.n)
    hidden = np.empty((world.n, 40), dtype=np.int8)
    for h, trust in enumerate(np.linspace(0.0, 0.4, hidden.shape[1])):
        knows = rng.random(world.n) < trust
        hidden[:, h] = np.where(knows, (y + h) % world.r, rng.integers(world.r, size=world.n))
    X = rng.integers(world.r, size=(world.n, world.m), dtype=np.int8)
    for j in range(world.m):
        follows = rng.random(world.n) < 0.5 * rng.random()
        X[follows, j] = hidden[follows, j % hidden.shape[1]]
    return X, y


def in_form(X: NDArray[Any], dtype: str, order: str) -> NDArray[Any]:
    """The same table as another type, in C or F order."""
    return np.array(X, dtype=dtype, order="F" if order == "F" else "C")
