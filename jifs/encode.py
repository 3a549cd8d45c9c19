"""From a Table to codes: which columns are discrete, how the others are cut, and every row in its class's place.

A numeric column is discrete when its values are whole numbers and at most 32 different ones occur, or when it has no
more different values than it would have bins; text, categories and truth values are always discrete. The rest is
continuous and is cut by the rule in `bins` (equal frequency, equal width, Fayyad-Irani). What is learned here (levels
and cuts) can be applied to new data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jifs import jit
from jifs.discretise import BinRule, Levels, Rule, learn_cuts, learn_levels, parse_bins
from jifs.kernels import encode as kernels
from jifs.rows import Rows, rows_to_count
from jifs.stats.codes import SLACK, Codes
from jifs.stats.layout import NARROW
from jifs.table import Table, refuse_nonfinite

DISCRETE_LEVELS = 32
"""Most levels of a numeric column that is taken for discrete."""
STRIP_COLUMNS, STRIP_BYTES = 512, 1 << 19
"""Columns coded at a time by a thread: at least so many, more while they fit the cache."""


class Encoding:
    """What was learned: a rule per column, and which columns are discrete."""

    def __init__(
        self, bins: BinRule, quick: tuple[np.ndarray, np.ndarray] | None, present: np.ndarray
    ) -> None:
        self.bins = bins
        self.present = present
        self.rules: dict[int, Rule] = {}
        self.lost: list[int] = []
        """Columns that are not constant, but have all their values in one bin."""
        self._quick = quick

    def rule(self, j: int) -> Rule:
        """The rule of column j; for columns coded the quick way it is written down when first asked for."""
        if j not in self.rules:
            assert self._quick is not None
            low, seen = self._quick
            bits = np.flatnonzero([(int(seen[j]) >> b) & 1 for b in range(64)])
            self.rules[j] = Levels(tuple((low[j] + bits.astype(low.dtype)).tolist()))
        return self.rules[j]

    def is_discrete(self, j: int) -> bool:
        """Whether column j was taken as it is, not cut into bins."""
        return isinstance(self.rule(j), Levels)

    def cut_columns(self) -> int:
        """How many columns were cut into bins."""
        return sum(not isinstance(rule, Levels) for rule in self.rules.values())

    def apply(self, table: Table) -> np.ndarray:
        """Codes [m, n] of new data with the same columns, by the rules learned here."""
        return np.stack([np.asarray(self.rule(j).apply(table.column(j))) for j in range(table.m)])


def encode(table: Table, bins: Any = 5, rows: Rows | None = None) -> tuple[Codes, Encoding]:
    """Encode a table: dense codes of every column, rows sorted by class."""
    rule = parse_bins(bins)
    rows = rows or rows_to_count(table)
    n, m = rows.order.size, table.m
    narrow = np.empty(m * n + SLACK, np.uint8)
    narrow[m * n :] = 0
    cards = np.zeros(m, np.int64)
    quick = None
    if isinstance(table.data, np.ndarray):
        quick = _quick_codes(table, rule, rows, narrow, cards)
    encoding = Encoding(rule, quick, rows.present)
    wide = _ruled_codes(table, encoding, rows, narrow, cards, np.flatnonzero(cards == 0))
    return Codes(narrow, wide, cards, rows.starts, rows.order, rows.weights, rows.size), encoding


def _quick_codes(
    table: Table, rule: BinRule, rows: Rows, narrow: np.ndarray, cards: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Code every column of whole numbers that spans at most 64 values; cards of the others stay 0.

    Returns the least value of each column and the set of codes seen, as bits.
    """
    x = table.data
    assert isinstance(x, np.ndarray)
    if x.dtype == np.bool_:
        x = x.view(np.uint8)
    elif x.dtype.kind == "f" and x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    by_columns = x.flags.f_contiguous and not x.flags.c_contiguous
    if not by_columns:
        x = np.ascontiguousarray(x)
    m, n = table.m, rows.order.size
    low, high = np.empty(m, x.dtype), np.empty(m, x.dtype)
    flaw, part = (np.zeros(m, x.dtype), np.zeros(m, x.dtype)) if x.dtype.kind == "f" else (None, None)
    seen, span = np.zeros(m, np.uint64), np.zeros(m, np.int64)
    wanted = np.ones(m, np.bool_) if table.discrete is None or rule.kind == "none" else table.discrete
    used = np.unique(rows.order) if table.weights is not None else None
    strip = max(STRIP_COLUMNS, STRIP_BYTES // max(n * x.itemsize, 1) // 64 * 64)
    strip = min(strip, max(64, -(-m // (2 * jit.thread_count() * 64)) * 64))

    def task(first: int, last: int) -> None:
        for lo in range(first * strip, min(last * strip, m), strip):
            hi = min(lo + strip, m)
            _profile(x, by_columns, used, lo, hi, low, high, flaw, part)
            fits = wanted[lo:hi]
            if flaw is not None and part is not None:
                fits = fits & (flaw[lo:hi] == 0) & (part[lo:hi] == 0)
            span[lo:hi][fits] = _span(low[lo:hi][fits], high[lo:hi][fits])
            if not span[lo:hi].any():
                continue
            if by_columns:
                kernels.codes_from_columns(x.T, rows.order, lo, hi, low, span, narrow, n, seen)
            else:
                kernels.codes_from_rows(x, rows.order, lo, hi, low, span, narrow, n, seen)

    jit.spread(-(-m // strip), task, most=1)
    if flaw is not None and not (flaw == 0).all():
        refuse_nonfinite(table)
    _close_gaps(rule, table, span, seen, narrow, n, cards)
    return low, seen


def _profile(
    x: np.ndarray,
    by_columns: bool,
    used: np.ndarray | None,
    lo: int,
    hi: int,
    low: Any,
    high: Any,
    flaw: Any,
    part: Any,
) -> None:
    """Least and greatest values of a strip of columns over the rows in use; every row must be finite all the same."""
    if x.dtype.kind == "f":
        if by_columns:
            kernels.profile_real_columns(x.T, lo, hi, low, high, flaw, part)
        else:
            kernels.profile_real(x, lo, hi, low, high, flaw, part)
    elif by_columns:
        low[lo:hi], high[lo:hi] = x.T[lo:hi].min(axis=1), x.T[lo:hi].max(axis=1)
    else:
        kernels.profile_whole(x, lo, hi, low, high)
    if used is not None and used.size < x.shape[0]:
        some = x[used, lo:hi]
        low[lo:hi], high[lo:hi] = some.min(axis=0), some.max(axis=0)


def _span(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Number of values from low to high where that is at most 64, else 0; without overflow in narrow types."""
    with np.errstate(over="ignore"):
        near = (high.astype(np.float64) - low.astype(np.float64)) < 4 * kernels.SPAN
    if low.dtype.kind in "iu" and low.dtype.itemsize < 8:
        low, high = low.astype(np.int64), high.astype(np.int64)
    span = np.zeros(low.size, np.int64)
    span[near] = (high[near] - low[near]).astype(np.int64) + 1
    span[span > kernels.SPAN] = 0
    return span


def _close_gaps(
    rule: BinRule,
    table: Table,
    span: np.ndarray,
    seen: np.ndarray,
    narrow: np.ndarray,
    n: int,
    cards: np.ndarray,
) -> None:
    """Cardinalities of the columns coded so far, and dense codes where some value between did not occur."""
    coded = np.flatnonzero(span)
    levels = np.bitwise_count(seen[coded]).astype(np.int64)
    if rule.kind != "none" and table.discrete is None:
        few = levels <= DISCRETE_LEVELS
        coded, levels = coded[few], levels[few]
    cards[coded] = levels
    for j in coded[levels != span[coded]]:
        bits = np.array([(int(seen[j]) >> b) & 1 for b in range(kernels.SPAN)])
        kernels.recode_one(narrow, j * n, n, (np.cumsum(bits) - bits).astype(np.uint8))


def _ruled_codes(
    table: Table, encoding: Encoding, rows: Rows, narrow: np.ndarray, cards: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Learn and apply a rule for each of these columns; returns the codes of those with over 256 levels."""
    wide: list[np.ndarray] = []
    n = rows.order.size
    for some in np.array_split(columns, max(1, -(-columns.size * n // (1 << 24)))):
        continuous: list[int] = []
        values: list[np.ndarray] = []
        for j in some.tolist():
            own: Any = table.column(j)[rows.order]
            levels = _levels(table, encoding.bins, j, own)
            if levels is None:
                continuous.append(j)
                values.append(own)
            else:
                encoding.rules[j] = levels
        if continuous:
            learned = _cuts(values, encoding.bins, rows)
            encoding.rules.update(zip(continuous, learned, strict=True))
            if encoding.bins.kind != "mdl":
                lost = [
                    j for j, own, cut in zip(continuous, values, learned, strict=True) if _is_lost(own, cut)
                ]
                encoding.lost.extend(lost)
        for j in some.tolist():
            codes = np.asarray(encoding.rules[j].apply(table.column(j)))[rows.order]
            cards[j] = encoding.rules[j].n_levels
            if cards[j] <= NARROW:
                narrow[j * n : (j + 1) * n] = codes
            else:
                wide.append(codes.astype(np.uint32))
    return np.concatenate(wide) if wide else np.zeros(0, np.uint32)


def _is_lost(own: np.ndarray, cut: Rule) -> bool:
    """Whether all values of a column that is not constant fall into one bin."""
    return cut.n_levels == 1 and bool(own.min() < own.max())


def _cuts(values: Sequence[np.ndarray], rule: BinRule, rows: Rows) -> Sequence[Rule]:
    columns = np.empty((len(values), rows.order.size))
    for i, own in enumerate(values):
        columns[i] = own
    labels = rows.labels if rows.by_class else None
    return learn_cuts(columns, rule, labels, rows.starts.size - 1, rows.weights)


def _levels(table: Table, rule: BinRule, j: int, own: np.ndarray) -> Levels | None:
    """The levels of a column that is discrete, None for one to be cut."""
    text = own.dtype.kind in "OUS"
    if not text and own.dtype.kind == "f" and not np.isfinite(table.column(j)).all():
        refuse_nonfinite(table)
    if rule.kind == "none" or text or own.dtype.kind == "b":
        return learn_levels(own)
    if table.discrete is not None:
        return learn_levels(own) if table.discrete[j] else None
    most = DISCRETE_LEVELS
    if own.dtype.kind == "f" and not (own == np.floor(own)).all():
        most = 0 if rule.kind == "mdl" else rule.count
    if np.unique(own[: 4 * DISCRETE_LEVELS]).size > most:
        return None  # seen on the first rows already
    levels = learn_levels(own)
    return levels if levels.n_levels <= most else None
