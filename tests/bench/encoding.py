"""What it costs to encode a table: validating, sorting by class, packing planes."""

from __future__ import annotations

from . import ours
from .timing import Timing, show
from .worlds import World, in_form, make

FORMS = tuple((dtype, order) for dtype in ("int8", "int64", "float64") for order in ("C", "F"))


def run(quick: bool) -> None:
    """Nanoseconds per value by type, memory order and number of threads."""
    worlds = (World(10_000, 2_000, 2, 2), World(10_000, 1_000, 5, 5), World(50_000, 500, 10, 10))
    rows = []
    for world in worlds:
        if quick:
            world = world.with_(n=world.n // 10, m=world.m // 10)
        X, y = make(world)
        size = f"{world.n:,} x {world.m:,}, {world.r} levels"
        for dtype, order in FORMS:
            given = in_form(X, dtype, order)
            row: list[object] = [size, f"{dtype} {order}"]
            for threads in (1, 2):
                ours.encoding_seconds(given, y, threads)
                timing = Timing(
                    tuple(ours.encoding_seconds(given, y, threads) for _ in range(3 if quick else 5))
                )
                one = 1e9 / (world.n * world.m)
                row.append(f"{timing.best * one:.2f} / {timing.median * one:.2f}")
            rows.append(row)
    show(
        "Encoding, planes packed: ns per value (best / median)",
        ["data", "given as", "1 thread", "2 threads"],
        rows,
    )
