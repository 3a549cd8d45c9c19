"""What `bins` asks for, and the rules that are learned from it.

A learned rule keeps its raw formula and `kept`, the raw codes that the training column has; `apply` numbers those
0, 1, 2, ... without gaps. New data can fall into a raw code that training left empty: it takes the code of the
nearest kept one below, or of the lowest. Equal values are never parted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from jifs.errors import InputError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

DEFAULT_BINS = 5
MOST_BINS = 1_000_000

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
        raw = width_codes(values, np.asarray(self.low), np.asarray(self.high), self.count)
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


def width_codes(x: Floats, low: Floats, high: Floats, count: int) -> Codes:
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
