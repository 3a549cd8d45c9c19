"""Worlds of numbers for the Gaussian criteria, with the trouble real tables have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import jifs
from jifs import registry


@dataclass(frozen=True, eq=False)
class Numbers:
    """X (n rows, m features, real) and y (classes)."""

    X: np.ndarray
    y: np.ndarray

    @property
    def m(self) -> int:
        return int(self.X.shape[1])


def correlated(seed: int, n: int = 300, m: int = 8, classes: int = 3, apart: float = 0.6) -> Numbers:
    """Correlated features whose means and spreads differ from class to class, in units of their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    mix = rng.normal(size=(m, m))
    X = (rng.normal(size=(n, m)) * (1 + 0.3 * y[:, None])) @ mix + apart * y[:, None] * rng.normal(size=m)
    return Numbers(X * 10.0 ** rng.integers(-2, 3, m) + rng.normal(size=m), y)


def choose(
    w: Numbers, k: int, criterion: str, params: dict[str, Any] | None = None, **more: Any
) -> jifs.Result:
    return jifs.select(w.X, w.y, k, criterion, params=params, **more)


def desk(w: Numbers, **more: Any) -> jifs.Stats:
    return jifs.Stats(jifs.memory(w.X, w.y, **more))


def made(criterion: str, **params: Any) -> Any:
    return registry.find("criterion", criterion).make(**params)
