"""From continuous columns to codes: bins are learned on one table and applied, by the same rule, to any other.

    equal frequency   cuts = distinct quantiles i/b, i = 1..b-1, linear;  code = number of cuts strictly below x
    equal width       code = min(b-1, floor(b (x - low) / (high - low)))
    mdl               cuts by minimum description length [Fayyad and Irani 1993], see jifs/kernels/mdl.py
    none              every distinct value is a level of its own

A learned rule keeps its raw formula and `kept`, the raw codes that the training column has; `apply` numbers those
0, 1, 2, ... without gaps. New data can fall into a raw code that training left empty: it takes the code of the
nearest kept one below, or of the lowest. Equal values are never parted.

Real weights: rows of weight 0 are absent; quantile q is the least x whose cumulative weight reaches q times the total;
mdl counts weight in place of rows, so weights that sum to 1 are the evidence of one row and yield no cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from jifs.errors import InputError
from jifs.jit import spread
from jifs.kernels.mdl import mdl_all, xlogx_table

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Columns = npt.NDArray[Any] | Sequence[npt.NDArray[Any]]

DEFAULT_BINS = 5
MOST_BINS = 1_000_000
BLOCK_VALUES = 1 << 17
"""Columns are learned in blocks of about this many values: a block and its sorted copy stay in the cache."""

# ---------------------------------------------------------------------------------------------------- what `bins` says


@dataclass(frozen=True)
class BinRule:
    """What `bins` asks for: kind "frequency", "width", "mdl" or "none", and the number of bins for the first two."""

    kind: str
    count: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.count}" if self.count else self.kind


def parse_bins(bins: object) -> BinRule:
    """5 -> equal frequency with 5 bins; "frequency:10", "width:10", "mdl", "none"; a BinRule is returned as it is."""
    if isinstance(bins, BinRule):
        return bins
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        return BinRule("frequency", _count_of_bins(int(bins), bins))
    text = bins.strip().lower() if isinstance(bins, str) else ""
    if text in ("mdl", "none"):
        return BinRule(text)
    match = re.fullmatch(r"(?:(frequency|width)(?:\s*:\s*|$))?(-?[0-9]+)?", text)
    if not text or match is None or text.endswith(":"):
        raise InputError(
            f"bins={_shown(bins)} is not understood; use a number of bins such as 5 (equal frequency), "
            "'frequency:10', 'width:10', 'mdl', or 'none' for columns that are discrete already."
        )
    kind, digits = match.groups()
    count = int(digits or DEFAULT_BINS) if len(digits or "") < 20 else MOST_BINS + 1
    return BinRule(kind or "frequency", _count_of_bins(count, bins))


def _count_of_bins(count: int, bins: object) -> int:
    if not 2 <= count <= MOST_BINS:
        raise InputError(
            f"bins={_shown(bins)} asks for an impossible number of bins; use 2 to {MOST_BINS}, "
            "or 'mdl' to let the classes decide."
        )
    return count


def _shown(bins: object) -> str:
    text = repr(bins.item() if isinstance(bins, np.generic) else bins)
    return text if len(text) <= 60 else text[:57] + "..."


# ------------------------------------------------------------------------------------------------------- learned rules


class _Stored:
    """To a dictionary that JSON can hold, and back."""

    def to_dict(self) -> dict[str, Any]:
        """The fields, and which rule they belong to."""
        return {"rule": type(self).__name__.lower(), **vars(self)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """The rule again; JSON has made lists of the tuples."""
        fields = {name: facts[name] for name in cls.__annotations__}
        return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()})


@dataclass(frozen=True)
class Cuts(_Stored):
    """Raw code = number of cuts strictly below x: bins are closed on the right."""

    cuts: tuple[float, ...]
    kept: tuple[int, ...]

    @property
    def n_levels(self) -> int:
        """Codes that training has."""
        return len(self.kept)

    @property
    def edges(self) -> tuple[float, ...]:
        """The cuts that matter: the one below each kept bin but the lowest. The code is the number of edges below x."""
        return tuple(self.cuts[k - 1] for k in self.kept[1:])

    def apply(self, x: npt.ArrayLike) -> Codes:
        """Codes 0..n_levels-1 of the values."""
        values, edges = np.asarray(x, dtype=np.float64), self.edges
        if len(edges) > 24 or values.size < 500:
            return np.searchsorted(np.array(edges), values, side="left").astype(np.int32)
        codes = np.zeros(values.shape, dtype=np.uint8)  # a few comparisons are faster than as many searches
        for edge in edges:
            codes += values > edge
        return codes.astype(np.int32)


@dataclass(frozen=True)
class Width(_Stored):
    """Raw code = min(b-1, floor(b (x - low) / (high - low))); beyond the range the nearest end, and 0 if low = high."""

    low: float
    high: float
    count: int
    kept: tuple[int, ...]

    @property
    def n_levels(self) -> int:
        """Codes that training has."""
        return len(self.kept)

    def apply(self, x: npt.ArrayLike) -> Codes:
        """Codes 0..n_levels-1 of the values."""
        values = np.asarray(x, dtype=np.float64)
        raw = _width_codes(values, np.asarray(self.low), np.asarray(self.high), self.count)
        if len(self.kept) == self.count:
            return raw
        dense = np.searchsorted(np.array(self.kept), np.arange(self.count), side="right") - 1
        return np.maximum(dense, 0).astype(np.int32)[raw]


@dataclass(frozen=True)
class Levels(_Stored):
    """Code = place of x among the sorted distinct values (numbers or strings) of training."""

    values: tuple[Any, ...]

    @property
    def n_levels(self) -> int:
        """Codes that training has; a value it has not gets one more, n_levels."""
        return len(self.values)

    def apply(self, x: npt.ArrayLike) -> Codes:
        """Codes 0..n_levels-1 of the values, n_levels for those never seen."""
        distinct, place = np.unique(np.asarray(x), return_inverse=True)
        code = {value: i for i, value in enumerate(self.values)}
        found = [code.get(value, self.n_levels) for value in distinct.tolist()]
        return np.array(found, dtype=np.int32)[place]


Rule = Cuts | Width | Levels


def rule_from_dict(facts: Mapping[str, Any]) -> Rule:
    """The rule that `to_dict` described."""
    kinds: dict[Any, type[Cuts] | type[Width] | type[Levels]] = {
        "cuts": Cuts,
        "width": Width,
        "levels": Levels,
    }
    if facts.get("rule") not in kinds:
        raise InputError(
            f"rule {facts.get('rule')!r} is not known; a stored rule is 'cuts', 'width' or 'levels'."
        )
    return kinds[facts["rule"]].from_dict(facts)


# ------------------------------------------------------------------------------------------------------------ learning


def learn_levels(column: npt.ArrayLike) -> Levels:
    """Every distinct value of the column is a level."""
    return Levels(tuple(np.unique(np.asarray(column)).tolist()))


def learn_cuts(
    columns: Columns,
    rule: BinRule,
    y_codes: npt.NDArray[np.integer[Any]] | None = None,
    n_classes: int = 0,
    weights: Floats | None = None,
) -> list[Rule]:
    """One learned rule per column; columns are rows of an array [m, n] or m arrays of n finite numbers.

    "mdl" needs the class codes 0..n_classes-1 of the rows; the other rules look at the columns only.
    """
    rows = None
    if weights is not None:
        rows = np.flatnonzero(weights > 0)
        weights = weights[rows]
        y_codes = None if y_codes is None else y_codes[rows]
    learn = _learner(rule, y_codes, n_classes, weights)
    rules: list[Rule] = [Levels(())] * len(columns)
    size = max(8, BLOCK_VALUES // max(len(columns[0]), rule.count)) if rules else 1

    def task(lo: int, hi: int) -> None:
        for start in range(lo, hi, size):
            stop = min(start + size, hi)
            rules[start:stop] = learn(_block(columns, start, stop, rows))

    spread(len(columns), task, grain=size)
    return rules


Learner = Callable[[Floats], list[Rule]]


def _block(columns: Columns, start: int, stop: int, rows: npt.NDArray[np.intp] | None) -> Floats:
    """Columns start..stop-1 as a float64 array [columns, rows], each contiguous."""
    part = np.asarray(columns[start:stop])
    return np.ascontiguousarray(part if rows is None else part[:, rows], dtype=np.float64)


def _learner(
    rule: BinRule, y: npt.NDArray[np.integer[Any]] | None, n_classes: int, weights: Floats | None
) -> Learner:
    """The function that learns a block of columns."""
    if rule.kind == "frequency":
        if weights is None:
            return lambda block: _frequency(block, rule.count)
        return lambda block: _weighted_frequency(block, rule.count, weights)
    if rule.kind == "width":
        return lambda block: _width(block, rule.count)
    if rule.kind == "mdl":
        if y is None:
            raise InputError(
                "bins='mdl' needs a target of classes; use bins=5 or 'width:5' for a real target or none."
            )
        return _mdl_learner(y, n_classes, weights)
    return lambda block: [learn_levels(column) for column in block]


def _frequency(block: Floats, count: int) -> list[Rule]:
    """Cuts at the quantiles i/b of each column, linear between neighbours."""
    n = block.shape[1]
    ordered = np.sort(block, axis=1)
    position = (n - 1) * (np.arange(1, count) / count)
    below = position.astype(np.intp)
    t = position - below
    a, b = ordered[:, below], ordered[:, np.minimum(below + 1, n - 1)]
    with np.errstate(over="ignore", invalid="ignore"):
        cuts = np.where(t < 0.5, a + (b - a) * t, b - (b - a) * (1 - t))  # stays in [a, b] also when rounded
        cuts = np.where(np.isfinite(b - a), cuts, a * (1 - t) + b * t)
    return _cut_rules(cuts, np.where(cuts == b, b, a), ordered[:, -1])


def _weighted_frequency(block: Floats, count: int, weights: Floats) -> list[Rule]:
    """Cuts at the least values whose cumulative weight reaches i/b of the total, rounding of the sum set aside."""
    order = np.argsort(block, axis=1)
    ordered = np.take_along_axis(block, order, axis=1)
    reached = np.cumsum((weights / weights.max())[order], axis=1)
    wanted = np.arange(1, count) / count * (1 - 1e-10)
    at = np.stack([np.searchsorted(sums, wanted * sums[-1], side="left") for sums in reached])
    cuts = np.take_along_axis(ordered, at, axis=1)
    return _cut_rules(cuts, cuts, ordered[:, -1])


def _cut_rules(cuts: Floats, reached: Floats, largest: Floats) -> list[Rule]:
    """Rules from ascending cuts, equal ones merged; `reached` is the largest training value up to each cut.

    The bin between two cuts is occupied when the value reached at its upper end lies above its lower end.
    """
    fresh = np.ones((len(cuts), cuts.shape[1] + 1), dtype=bool)
    fresh[:, 1:-1] = cuts[:, 1:] > cuts[:, :-1]
    occupied = np.ones_like(fresh)
    occupied[:, 1:-1] = reached[:, 1:] > cuts[:, :-1]
    occupied[:, -1] = largest > cuts[:, -1]
    return [
        Cuts(tuple(c[f[:-1]].tolist()), tuple(np.flatnonzero(o[f]).tolist()))
        for c, f, o in zip(cuts, fresh, occupied, strict=True)
    ]


def _width_codes(x: Floats, low: Floats, high: Floats, count: int) -> Codes:
    """min(b-1, floor(b (x - low) / (high - low))) with x moved into the range, and 0 where low = high.

    Where b (high - low) overflows, all three are first divided by a power of two, which is exact.
    """
    with np.errstate(over="ignore"):
        fits = np.isfinite(count * (high - low))
    if not np.all(fits):
        scale = np.where(fits, 1.0, 0.5 ** (count.bit_length() + 2))
        x, low, high = x * scale, low * scale, high * scale
    width = np.where(high > low, high - low, 1.0)
    part = count * (np.clip(x, low, high) - low) / width
    return np.minimum(part.astype(np.int32), count - 1)


def _width(block: Floats, count: int) -> list[Rule]:
    """Equal parts of the range of each column."""
    low, high = block.min(axis=1), block.max(axis=1)
    raw = _width_codes(block, low[:, None], high[:, None], count)
    return [
        Width(a, b, count, tuple(np.flatnonzero(np.bincount(codes, minlength=count)).tolist()))
        for a, b, codes in zip(low.tolist(), high.tolist(), raw, strict=True)
    ]


def _mdl_learner(y: npt.NDArray[np.integer[Any]], n_classes: int, weights: Floats | None) -> Learner:
    """Minimum description length cuts of each column of a block."""
    y = np.ascontiguousarray(y, dtype=np.int64)
    if weights is None:
        w, scale = np.ones(len(y)), 1.0
        table, unit = xlogx_table(len(y))
    else:
        # a power of two near the largest weight: exact, and keeps w log w and N far from the ends of the number range
        power = int(np.frexp(weights.max())[1])
        w, scale = np.ldexp(weights, -power), 2.0 ** min(power, 900)
        table, unit = np.zeros(0, dtype=np.int64), 1.0

    def learn(block: Floats) -> list[Rule]:
        order = np.argsort(block, axis=1)
        out, found = np.empty_like(block), np.zeros(len(block), dtype=np.int64)
        mdl_all(len(block), block, order, y, w, n_classes, table, unit, scale, out, found)
        return [
            Cuts(tuple(cuts[:size].tolist()), tuple(range(size + 1)))
            for cuts, size in zip(out, found.tolist(), strict=True)
        ]

    return learn
