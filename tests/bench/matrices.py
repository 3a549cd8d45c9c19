"""The full matrices of pairwise information."""

from __future__ import annotations

from functools import partial

from . import elsewhere, ours
from .timing import show, timed, times
from .worlds import World, make


def run(quick: bool) -> None:
    """I(Xi;Xj) and I(Xi;Xj|Y) for all pairs, 1 and 2 threads."""
    world = World(1_000, 200, 5, 5) if quick else World(10_000, 1_000, 5, 5)
    X, y = make(world)
    rows = []
    for which, meaning in (("mi", "I(Xi;Xj)"), ("cmi", "I(Xi;Xj given Y)")):
        one, two = (timed(partial(ours.matrix, X, y, which, threads), repeats=3) for threads in (1, 2))
        known = {} if quick else elsewhere.MATRICES[which]
        listed = [known.get(library, "-") for library in ("praznik 1", "praznik 2")]
        gains = [times(elsewhere.fastest(known, t), mine.best) for t, mine in ((1, one), (2, two))]
        rows.append([meaning, one, two, *listed, *gains])
    size = f"{world.n:,} x {world.m:,}, {world.r} levels, {world.classes} classes"
    show(
        f"Full matrices: seconds for {size}, encoding included (best / median)",
        ["matrix", "jifs 1", "jifs 2", "praznik 1*", "praznik 2*", "gain 1", "gain 2"],
        rows,
        [elsewhere.ORIGIN],
    )
