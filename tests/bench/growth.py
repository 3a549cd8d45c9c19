"""How the time of a selection grows: rows, features and k doubled one at a time. Linear growth is a ratio of 2."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from . import ours
from .timing import Timing, show, timed
from .worlds import World, make


def run(quick: bool) -> None:
    """jmi on 2 threads, doubled twice in each direction."""
    base = World(2_000, 200, 5, 5, k=10) if quick else World(20_000, 1_000, 5, 5, k=25)
    rows = []
    for letter, meaning in (("n", "rows"), ("m", "features"), ("k", "selected")):
        start = getattr(base, letter)
        seconds = [_seconds(base.with_(**{letter: start * factor})) for factor in (1, 2, 4)]
        ratios = [f"{after.best / before.best:.2f}" for before, after in pairwise(seconds)]
        rows.append([f"{meaning} {start:,}, {2 * start:,}, {4 * start:,}", *seconds, *ratios])
    show(
        f"Growth of jmi from {base}, 2 threads: seconds (best / median) and ratios",
        ["doubled", "once", "twice", "four times", "2 : 1", "4 : 2"],
        rows,
    )


def _seconds(world: World) -> Timing:
    X, y = make(world)
    return timed(partial(ours.select, X, y, world.k, "jmi", 2), repeats=3)
