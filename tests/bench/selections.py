"""Whole selections, encoding included, beside the fastest libraries known."""

from __future__ import annotations

from functools import partial

from . import elsewhere, ours
from .timing import Timing, show, timed, times
from .worlds import SELECTIONS, World, in_form, make

CRITERIA = ("mrmr", "jmi", "cmim", "disr", "mim")
FORMS = (("int8", "C"), ("int8", "F"), ("int64", "C"), ("int64", "F"))


def run(quick: bool) -> None:
    """Every criterion on every data set with 1 and 2 threads; then other forms of the same numbers."""
    worlds = [_smaller(world) for world in SELECTIONS[:4]] if quick else list(SELECTIONS)
    rows = []
    for world in worlds:
        X, y = make(world)
        for criterion in CRITERIA:
            one, two = (
                timed(partial(ours.select, X, y, world.k, criterion, threads), repeats=2 if quick else 5)
                for threads in (1, 2)
            )
            rows.append([criterion, world, one, two, *_others(criterion, world, one, two)])
    show(
        "Whole selections: seconds, from int8 codes in C order, encoding included (best / median)",
        [
            "criterion",
            "data",
            "jifs 1",
            "jifs 2",
            *(f"{name}*" for name in elsewhere.LIBRARIES),
            "gain 1",
            "gain 2",
        ],
        rows,
        [elsewhere.ORIGIN],
    )
    _forms(worlds[:4], quick)


def _smaller(world: World) -> World:
    return world.with_(n=max(100, world.n // 10), m=world.m // 10, k=10)


def _others(criterion: str, world: World, one: Timing, two: Timing) -> list[str]:
    seconds = elsewhere.selection(criterion, world)
    listed = [str(seconds.get(library, "-")) for library in elsewhere.LIBRARIES]
    gains = [times(elsewhere.fastest(seconds, t), mine.best) for t, mine in ((1, one), (2, two))]
    return [*listed, *gains]


def _forms(worlds: list[World], quick: bool) -> None:
    """The same selection from the types and memory orders that users bring."""
    rows = []
    for world in worlds:
        X, y = make(world)
        row: list[object] = [world]
        for dtype, order in FORMS:
            given = in_form(X, dtype, order)
            row += [
                timed(partial(ours.select, given, y, world.k, "jmi", t), 2 if quick else 3) for t in (1, 2)
            ]
        rows.append(row)
    header = [f"{dtype} {order}, {t}" for dtype, order in FORMS for t in (1, 2)]
    show("jmi from other types and orders: seconds, threads 1 and 2 (best / median)", ["data", *header], rows)
