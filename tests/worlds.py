"""Small discrete worlds for Hypothesis: columns and classes with the trouble real tables have.

Constants, copies, relabelled copies, xor pairs, columns that know the class, a value of its own for every row; one
class, tiny classes, classes of one row; labels that are negative, far apart or in another order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from naive.criteria import CRITERIA
from naive.search import Path, forward
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Draw = Callable[[st.SearchStrategy[Any]], Any]

# around the edges of machine words and vector tiles, where counting by bits has its corners
EDGES = (63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 600)


@dataclass(frozen=True, eq=False)
class World:
    """X (n rows, m features) and y (n classes), whole numbers with arbitrary labels."""

    X: Codes
    y: Codes

    @property
    def m(self) -> int:
        return int(self.X.shape[1])

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def columns(self) -> list[Codes]:
        return list(self.X.T)

    def with_(self, **changes: Any) -> World:
        return replace(self, **changes)


def _codes(draw: Draw, n: int, r: int) -> Codes:
    """n codes below r: drawn byte by byte when small (they shrink well), from a drawn seed when large."""
    if n <= 40:
        return np.frombuffer(draw(st.binary(min_size=n, max_size=n)), dtype=np.uint8).astype(np.int64) % r
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(0, r, n)


def _relabel(draw: Draw, codes: Codes) -> Codes:
    """The same partition of the rows under other labels: shifted, stretched, turned round."""
    step, start = draw(st.sampled_from([(1, 0), (-1, 0), (7, -20), (-1000, 3), (1, 250), (100_003, -5)]))
    return codes * step + start


def _column(draw: Draw, n: int, known: Sequence[Codes]) -> Codes:
    """A fresh column, or one with a tie of blood to the columns already there (the class among them)."""
    kinds = ["fresh", "fresh", "fresh", "constant", "own"]
    kind = draw(st.sampled_from([*kinds, "copy", "xor", "noisy", "coarse"] if known else kinds))
    if kind == "constant":
        return np.zeros(n, dtype=np.int64)
    if kind == "own":  # a value for every row, or nearly
        return np.arange(n, dtype=np.int64) // draw(st.integers(1, 2))
    if kind == "fresh":
        return _codes(draw, n, draw(st.sampled_from([2, 2, 2, 3, 5, 17])))
    parent = known[draw(st.integers(0, len(known) - 1))]
    if kind == "copy":
        return parent
    if kind == "coarse":
        return parent // 2
    other = known[draw(st.integers(0, len(known) - 1))] if kind == "xor" else _codes(draw, n, 6) // 5
    return (parent + other) % (max(2, int(parent.max()) + 1))


def _target(draw: Draw, n: int, known: Sequence[Codes]) -> Codes:
    """Classes: fresh, a function of the columns, only one, or with a last class of a single row."""
    kind = draw(st.sampled_from(["fresh", "fresh", "xor", "and-or", "copy", "one class", "lonely", "own"]))
    a, b, c = (known[draw(st.integers(0, len(known) - 1))] for _ in range(3))
    if kind == "one class":
        return np.zeros(n, dtype=np.int64)
    if kind == "own":
        return np.arange(n, dtype=np.int64) // max(1, n // 8)
    if kind == "xor":
        return (a % 2) ^ (b % 2)
    if kind == "and-or":
        return ((a % 2) & (b % 2)) | (c % 2)
    if kind == "copy":
        return a
    y = _codes(draw, n, draw(st.integers(2, 4)))
    if kind == "lonely":
        y = y.copy()
        y[draw(st.integers(0, n - 1))] = 9
    return y


@st.composite
def worlds(
    draw: Draw, min_features: int = 1, max_features: int = 6, max_rows: int = 600, relabel: bool = True
) -> World:
    """Worlds of 2 to `max_rows` rows; `relabel=False` keeps codes small enough for one byte when rows are few."""
    few = st.integers(2, min(30, max_rows))
    edges = [e for e in EDGES if e <= max_rows]
    n = draw(st.one_of(few, few, st.sampled_from(edges)) if edges else few)
    m = draw(st.integers(min_features, max_features))
    columns: list[Codes] = [_column(draw, n, []) for _ in range(min(m, 2))]
    y = _target(draw, n, columns)
    while len(columns) < m:
        columns.append(_column(draw, n, [*columns, y]))
    order = draw(st.permutations(range(m)))
    columns = [columns[j] for j in order]
    if relabel:
        columns, y = [_relabel(draw, c) for c in columns], _relabel(draw, y)
    return World(np.stack(columns, axis=1), y)


@st.composite
def wide_worlds(draw: Draw) -> World:
    """9 to 40 features that know the class more or less, with copies: enough for a search to leave some unseen."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.sampled_from([20, 64, 100, 200])), draw(st.integers(9, 40))
    y = rng.integers(0, draw(st.integers(2, 4)), n)
    columns: list[Codes] = []
    for j in range(m):
        if j and rng.random() < 0.15:
            columns.append(columns[rng.integers(j)])
            continue
        levels = rng.choice([2, 2, 3, 5, 40])
        columns.append(np.where(rng.random(n) < rng.random(), y % levels, rng.integers(0, levels, n)))
    return World(np.stack(columns, axis=1), y)


def names(*without: str) -> st.SearchStrategy[str]:
    """A criterion's name."""
    return st.sampled_from([c for c in CRITERIA if c not in without])


def choose(world: World, criterion: str, k: int | None = None, **options: Any) -> Any:
    """`jifs.select` on a world as it is (no binning, classes), all features by default, its advice unheard."""
    import jifs

    given: dict[str, Any] = {"bins": "none", "task": "class", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jifs.JifsWarning)
        return jifs.select(world.X, world.y, k=world.m if k is None else k, criterion=criterion, **given)


def matrix(world: World, which: str, **options: Any) -> NDArray[np.float64]:
    """`jifs.pairs` on a world as it is."""
    import jifs

    given: dict[str, Any] = {"bins": "none", "task": "class", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jifs.JifsWarning)
        return np.asarray(jifs.pairs(world.X, world.y, which=which, **given))


def by_definition(world: World, criterion: str, k: int | None = None, **how: Any) -> Path:
    """The same selection by the naive definition and the naive search."""
    include, exclude = how.pop("include", ()), how.pop("exclude", ())
    x, score = world.columns, CRITERIA[criterion]
    return forward(
        lambda S, j: score(x, world.y, S, j, **how),
        world.m,
        world.m if k is None else k,
        include=include,
        exclude=exclude,
    )
