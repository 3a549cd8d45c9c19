"""The Table: what the user gave, checked once and named, without a copy wherever that can be avoided.

A block of numbers stays the user's own array; columns of mixed kind become a list of 1-D arrays. Whether the
numbers are finite is asked by the encoder, which passes over them anyway, and answered by `refuse_nonfinite`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, overload

import numpy as np

from ..errors import InputError, near
from . import columns as cols
from .memory import read_memory

Array = cols.Array
Data = cols.Data


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be foretold: class codes 0..C-1 with their labels, or real numbers."""

    values: Array
    kind: str
    labels: tuple[Any, ...]
    name: str


class Numbered(Sequence[str]):
    """x0, x1, ... x(m-1): names of nameless columns, made only when asked for."""

    def __init__(self, m: int) -> None:
        self._js = range(m)

    def __len__(self) -> int:
        return len(self._js)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        return [f"x{j}" for j in self._js[at]] if isinstance(at, slice) else f"x{self._js[at]}"

    def __repr__(self) -> str:
        return f"Numbered({len(self)})"


@dataclass(frozen=True, eq=False)
class Table:
    """n rows and m named columns, a target, row weights, and the user's word on which columns are discrete.

    `data` is an (n, m) array of numbers, or a list of m columns: numbers of any dtype, or text (str or object
    arrays without gaps).
    """

    data: Data
    names: Sequence[str]
    named: bool = False
    target: Target | None = None
    weights: Array | None = None
    discrete: Array | None = None

    @property
    def n(self) -> int:
        return len(self.data[0]) if isinstance(self.data, list) else int(self.data.shape[0])

    @property
    def m(self) -> int:
        return len(self.data) if isinstance(self.data, list) else int(self.data.shape[1])

    def name_of(self, j: int) -> str:
        return self.names[j]

    def column(self, j: int) -> Array:
        return self.data[j] if isinstance(self.data, list) else self.data[:, j]

    def __repr__(self) -> str:
        goal = "" if self.target is None else f", target {self.target.name!r} ({self.target.kind})"
        return f"Table({self.n} rows, {self.m} columns{goal})"


def as_table(
    X: Any,
    y: Any = None,
    *,
    task: str | None = None,
    discrete: Any = None,
    sample_weight: Any = None,
    names: Iterable[Any] | None = None,
    min_rows: int = 2,
) -> Table:
    """A Table of anything with rows and columns; y is an array or the name of a column of X.

    `discrete` (mask, names or indices) counts the features, so without a target that is taken out of X.
    """
    wanted = str(y) if isinstance(y, str) else None
    if isinstance(X, Table):
        table, taken = X, None
    else:
        data, found, taken = read_memory(X, wanted)
        table = Table(data, Numbered(_width(data))) if found is None else Table(data, found, named=True)
    if names is not None:
        table = _renamed(table, names)
    if wanted is not None and taken is None:
        table, taken = _take_out(table, wanted)
    if not isinstance(X, Table):
        _require_usable(table, min_rows)
    if y is not None or task is not None:
        table = _with_target(table, y if wanted is None else taken, task, wanted)
    if sample_weight is not None:
        table = replace(table, weights=_weights(sample_weight, table.n))
    return table if discrete is None else replace(table, discrete=_discrete_mask(discrete, table))


def make_target(y: Any, task: str | None = None, name: str = "y") -> Target:
    """Text, booleans, categories and whole numbers are classes, other numbers are real; `task` overrules."""
    if task not in (None, "class", "real"):
        raise InputError(f"task={task!r} is not known; use 'class', 'real' or None (inferred from y).")
    if y is None:
        raise InputError("a supervised selection requires y to be passed, but the target y is None.")
    where = f"the target {name!r}"
    values, category = cols.flat(y, where)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if values.ndim != 1:
        raise InputError(f"{where}: y should be a 1d array, got shape {values.shape} instead.")
    values = cols.clean(values, where)
    if not len(values):
        raise InputError(f"{where} is empty: 0 sample(s) given.")
    cols.require_whole(values, where, "remove those rows first")
    number = values.dtype.kind in cols.NUMBERS
    if task == "real":
        if category or not number:
            raise InputError(f"{where} holds text or categories, so task='real' cannot be; use task='class'.")
        return Target(values.astype(np.float64), "real", (), name)
    if values.dtype.kind != "f":
        codes, labels = _codes_of_ints(values) if number else _codes_of_text(values)
        return Target(codes, "class", labels, name)
    if task is None and not category and not np.array_equal(values, np.floor(values)):
        return Target(values.astype(np.float64), "real", (), name)
    codes, labels = _codes_of_floats(values)
    return Target(codes, "class", labels, name)


def refuse_nonfinite(table: Table) -> NoReturn:
    """Raise, naming the first column with NaN, infinite or missing values and how many columns have such."""
    bad = [j for j in range(table.m) if any(cols.count_bad(table.column(j)))]
    if not bad:
        raise InputError("X holds NaN or infinite values; remove or fill them first.")
    others = f" ({len(bad)} columns are affected)" if len(bad) > 1 else ""
    where = f"column {table.name_of(bad[0])!r}"
    cols.require_whole(table.column(bad[0]), where, "remove or fill them first", others)
    raise AssertionError("unreachable: a bad column has bad values")


def unknown_column(name: str, names: Sequence[str], role: str) -> InputError:
    """The refusal of a column name that is not there, with near names and a few that are."""
    few = ", ".join(repr(n) for n in names[:5]) + (f", ... ({len(names)} in all)" if len(names) > 5 else "")
    return InputError(f"{role} {name!r} is not a column; the columns are {few}.{near(name, names)}")


# The parts of a Table.


def _width(data: Data) -> int:
    return len(data) if isinstance(data, list) else int(data.shape[1])


def _renamed(table: Table, names: Iterable[Any]) -> Table:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"names must be a list with one name per column, not {names!r}.")
    texts = cols.check_names(names, "names")
    if len(texts) != table.m:
        raise InputError(f"names has {len(texts)} entries, but X has {table.m} columns.")
    return replace(table, names=texts, named=True)


def _take_out(table: Table, wanted: str) -> tuple[Table, Array]:
    """The table without the named column, and that column."""
    if wanted not in table.names:
        raise unknown_column(wanted, table.names, "the target")
    at = table.names.index(wanted)
    data = table.data
    rest = data[:at] + data[at + 1 :] if isinstance(data, list) else np.delete(data, at, axis=1)
    mask = None if table.discrete is None else np.delete(table.discrete, at)
    left = [name for name in table.names if name != wanted]
    return replace(table, data=rest, names=left, discrete=mask), table.column(at)


def _require_usable(table: Table, min_rows: int) -> None:
    """Enough rows, at least one feature, and no gaps in columns of text."""
    if table.m == 0:
        rows = 0 if isinstance(table.data, list) else table.n
        raise InputError(f"X has 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required.")
    if table.n < min_rows:
        count = "1 sample" if table.n == 1 else f"{table.n} sample(s)"
        raise InputError(
            f"X has {count} (shape=({table.n}, {table.m})) while a minimum of {min_rows} is required."
        )
    if isinstance(table.data, list) and any(
        c.dtype.kind == "O" and any(cols.count_bad(c)) for c in table.data
    ):
        refuse_nonfinite(table)


def _with_target(table: Table, y: Any, task: str | None, name: str | None) -> Table:
    old = table.target
    if y is None:
        if old is None or task == old.kind:
            return table
        y, name = (np.array(old.labels)[old.values] if old.labels else old.values), old.name
    if name is None:
        name = getattr(y, "name", None)
    target = make_target(y, task, name if name and isinstance(name, str) else "y")
    if len(target.values) != table.n:
        raise InputError(f"X has {table.n} rows but y has {len(target.values)} values; they must match.")
    return replace(table, target=target)


def _weights(sample_weight: Any, n: int) -> Array:
    values = cols.clean(cols.flat(sample_weight, "sample_weight")[0], "sample_weight")
    if values.shape != (n,):
        raise InputError(
            f"sample_weight has shape {values.shape}, but one weight for each of {n} rows is needed."
        )
    if values.dtype.kind not in cols.NUMBERS:
        raise InputError("sample_weight holds text; weights must be numbers.")
    cols.require_whole(values, "sample_weight", "every weight must be finite")
    if values.min() < 0:
        count = int(np.count_nonzero(values < 0))
        raise InputError(f"sample_weight has {count} negative value(s); weights must be zero or more.")
    if values.max() == 0:
        raise InputError("sample_weight: every weight is zero, so no row is left; some must be above 0.")
    return values.astype(np.float64 if values.dtype.kind == "f" or int(values.max()) >= 2**63 else np.int64)


def _discrete_mask(discrete: Any, table: Table) -> Array:
    """A bool per column; text is discrete whatever the user says of it."""
    listed = [discrete] if isinstance(discrete, str) else discrete
    given = (
        cols.from_list(list(listed), "discrete") if isinstance(listed, (set, list)) else np.asarray(listed)
    )
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "biuUO"):
        raise InputError("discrete must be a mask, a list of column names or a list of column indices.")
    mask = np.zeros(table.m, dtype=np.bool_)
    if given.dtype.kind == "b":
        if len(given) != table.m:
            raise InputError(f"discrete is a mask of {len(given)} entries, but X has {table.m} features.")
        mask |= given
    elif given.dtype.kind in "iu":
        outside = given[(given < 0) | (given >= table.m)]
        if len(outside):
            raise InputError(f"discrete: there is no column {outside[0]}; features are 0 to {table.m - 1}.")
        mask[given] = True
    elif len(given):
        place = {name: j for j, name in enumerate(table.names)}
        for name in map(str, given):
            if name not in place:
                raise unknown_column(name, table.names, "discrete:")
            mask[place[name]] = True
    if isinstance(table.data, list):
        mask |= [c.dtype.kind not in cols.NUMBERS for c in table.data]
    return mask


def _codes_of_ints(values: Array) -> tuple[Array, tuple[Any, ...]]:
    """Dense codes by counting; by sorting only when the numbers are spread too wide for that."""
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * len(values) + 1024:
        return _codes_by_sorting(values)
    wide = values if values.dtype.itemsize == 8 else values.astype(np.intp)
    shifted = (wide - wide.dtype.type(low)).astype(np.intp, copy=False)
    there = np.bincount(shifted) > 0
    labels = [low + int(step) for step in np.flatnonzero(there)]
    codes = shifted if there.all() else (np.cumsum(there) - 1)[shifted]
    return codes, tuple(map(bool, labels)) if values.dtype.kind == "b" else tuple(labels)


def _codes_of_floats(values: Array) -> tuple[Array, tuple[Any, ...]]:
    if np.abs(values).max() < 2**53 and np.array_equal(values, np.floor(values)):
        codes, labels = _codes_of_ints(values.astype(np.int64))
        return codes, tuple(map(float, labels))
    return _codes_by_sorting(values)


def _codes_by_sorting(values: Array) -> tuple[Array, tuple[Any, ...]]:
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.intp, copy=False), tuple(distinct.tolist())


def _codes_of_text(values: Array) -> tuple[Array, tuple[str, ...]]:
    cells = list(map(str, values.tolist()))
    labels = sorted(set(cells))
    place = {label: code for code, label in enumerate(labels)}
    return np.fromiter(map(place.__getitem__, cells), dtype=np.intp, count=len(cells)), tuple(labels)
