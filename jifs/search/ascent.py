"""Projected gradient ascent:  w <- P(w + t grad f(w)),  P(w) the nearest point of  v >= 0, sum v <= r.

The first step moves the weights by a fixed share of r, later ones have the spectral length [Birgin, Martinez & Raydan
2000] if that is shorter; each is shortened until f rises enough (Armijo). Where the slope of f vanishes with a weight,
a weight at 0 stays there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from jifs.errors import MismatchError

STILL = 1e-6
"""A step shorter than this share of the radius is none."""
RISE = 1e-4
"""The share of the rise promised by the gradient that a step must bring."""
STRETCH = 1e6
"""How much longer than the move that it leaves a step may be; beyond that, the move is rounding."""


class Point(NamedTuple):
    """Weights, and the objective and its gradient there."""

    weights: np.ndarray
    value: float
    gradient: np.ndarray


class Pace(Protocol):
    """The most steps, the longest one as a share of the radius, and the steps between two renewals."""

    @property
    def iterations(self) -> int: ...
    @property
    def step(self) -> float: ...
    @property
    def every(self) -> int: ...


@dataclass
class Objective:
    """A criterion's function of weights, checked: numbers only, one slope for each weight, 0 where none is free.

    f(w) -> (value, gradient). If f has `renew(w)`, it chooses there what it leaves open (widths of kernels, penalties)
    for these weights, and stays the same function until it is asked again.
    """

    f: Any
    name: str
    free: np.ndarray
    evaluations: int = 0
    renew: Callable[[np.ndarray], object] | None = field(init=False)

    def __post_init__(self) -> None:
        self.renew = getattr(self.f, "renew", None)

    def at(self, w: np.ndarray) -> Point:
        """Value and gradient; NaN, endless slopes and a wrong number of them are refused."""
        self.evaluations += 1
        w.flags.writeable = False  # the caller still needs it
        given, slopes = self.f(w)
        value, gradient = float(given), np.array(slopes, np.float64)
        if gradient.shape != w.shape:
            raise MismatchError(
                f"criterion '{self.name}' gave a gradient of shape {gradient.shape} for {w.size} weights"
            )
        gradient[~self.free] = 0.0
        if math.isnan(value) or not np.isfinite(gradient).all():
            what = "the value NaN" if math.isnan(value) else "a gradient that is not finite"
            raise ArithmeticError(f"criterion '{self.name}' gave weights of sum {w.sum():.6g} {what}")
        return Point(w, value, gradient)

    def renewed(self, w: np.ndarray) -> Point:
        """The same, after a new choice of what f leaves open."""
        w.flags.writeable = False
        if self.renew is not None:
            self.renew(w)
        return self.at(w)


def project(w: np.ndarray, r: float) -> np.ndarray:
    """The nearest v to w with v >= 0, sum v <= r:  max(w - t, 0), t >= 0 the least that brings the sum down to r."""
    out: np.ndarray = np.maximum(w, 0.0)
    top = out.max()
    if top <= r and out.sum() <= r:
        return out
    v = out - top  # what is far above r would swallow small differences
    above = (out > 0) & (v > -r)  # nobody else can be left
    falling = np.sort(v[above])[::-1]
    t = (np.cumsum(falling) - r) / np.arange(1, falling.size + 1)
    last = int(np.flatnonzero(falling > t)[-1])
    return np.where(above, np.maximum(v - t[last], 0.0), 0.0)


def ascend(
    f: Objective, start: np.ndarray, r: float, pace: Pace, late: Callable[[], bool] = lambda: False
) -> tuple[Point, int]:
    """Climb from weights in the ball of radius r until no step helps, the steps are used up or it is late.

    What f leaves open is chosen at the start, after every few steps, and where none helps any more, unless it has just
    been. Returns the last point and the number of steps tried.
    """
    here, before, taken = f.renewed(start), None, 0
    for tried in range(1, int(pace.iterations) + 1):
        there = _climb(f, here, before, r, pace.step)
        stuck = there is None
        if there is not None:
            before, here, taken = here, there, taken + 1
        if late() or (stuck and (f.renew is None or taken == 0)):
            return here, tried
        if f.renew is not None and (stuck or taken == pace.every) and tried < pace.iterations:
            here, before, taken = f.renewed(here.weights), None, 0
    return here, int(pace.iterations)


def _climb(f: Objective, here: Point, before: Point | None, r: float, step: float) -> Point | None:
    """The first of ever shorter steps that brings enough; None if none does.

    The first try has the spectral length, by the curvature along the last step, or the longest where f is not concave.
    """
    scale = float(np.abs(here.gradient).max())
    if scale == 0:
        return None
    direction = here.gradient / scale
    length = min(_longest(here, direction, r, step), _spectral(here, before, scale))
    while True:
        weights = project(here.weights + length * direction, r)
        move = weights - here.weights
        if np.abs(move).max() < STILL * r:
            return None
        there, promised = f.at(weights), float(here.gradient @ move)
        if there.value >= here.value + RISE * promised:
            return there
        missed = here.value + promised - there.value
        length *= min(max(promised / (2 * missed), 0.1), 0.5)  # to the top of a parabola


def _longest(here: Point, direction: np.ndarray, r: float, step: float) -> float:
    """How far to go along a direction for the weights to move by `step` r, or less.

    At the edge of the ball most of a step may be lost in the projection. The share of it that is left never rises with
    its length, so what a short step leaves tells how much longer it may be.
    """
    length = step * r / float(np.linalg.norm(direction))
    left = float(np.linalg.norm(project(here.weights + length * direction, r) - here.weights))
    return length * min(step * r / left, STRETCH) if left > 0 else length


def _spectral(here: Point, before: Point | None, scale: float) -> float:
    """|move|^2 / (move . bend) of the last step, for a gradient divided by `scale`."""
    if before is None:
        return math.inf
    move = here.weights - before.weights
    bend = float(move @ ((before.gradient - here.gradient) / scale))
    return float(move @ move) / bend if bend > 0 else math.inf
