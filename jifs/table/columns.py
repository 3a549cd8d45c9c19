"""One column from whatever holds values: numbers of any kind, or text; gaps and wrong cells are named.

Used by the Table for what is in memory and by the readers of files. `where` in these functions is how a
message calls the column, for example "column 'age'" or "the target 'y'".
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any, NoReturn

import numpy as np

from ..errors import InputError

Array = np.ndarray[Any, Any]
Data = Array | list[Array]

NUMBERS = "biuf"
_DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


class CellError(InputError, TypeError):
    """A cell that is neither text nor number; also a TypeError, which scikit-learn's checks expect here."""


def check_names(names: Iterable[Any], what: str = "X") -> list[str]:
    """Names as text, each once."""
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        seen: set[str] = set()
        twice = next(t for t in texts if t in seen or seen.add(t))  # type: ignore[func-returns-value]
        raise InputError(f"{what} has more than one column named {twice!r}; give each column its own name.")
    return texts


def flat(values: Any, where: str) -> tuple[Array, bool]:
    """The values as an array (not yet cleaned), and whether they were categories."""
    if isinstance(values, np.ndarray):
        refuse_masked(values, where)
        return np.asarray(values), False
    if isinstance(values, (list, tuple)):
        return from_list(values, where), False
    if isinstance(values, (str, bytes)) or np.isscalar(values):
        raise InputError(
            f"{where} is the single value {values!r}; a 1-D array with one value per row is needed."
        )
    import narwhals as nw

    series = nw.from_native(values, pass_through=True, allow_series=True)
    if not isinstance(series, nw.Series):
        if hasattr(values, "categories"):  # a bare pandas Categorical
            return _categories(list(values)), True
        if hasattr(values, "__array__"):
            return np.asarray(values), False
        if not hasattr(values, "__iter__") or isinstance(values, (Set, Mapping)):
            raise InputError(
                f"{where} is a {type(values).__name__}; an array with one value per row is needed."
            )
        return from_list(list(values), where), False
    if series.dtype in (nw.Categorical, nw.Enum):
        return _categories(series.to_list()), True
    try:
        return series.to_numpy(), False
    except Exception as error:  # each frame library refuses in its own way
        raise InputError(
            f"{where} of type {series.dtype} cannot become a NumPy array; cast it first."
        ) from error


def feature(values: Any, where: str) -> Array:
    """One column of X. Categories become text, so that numbers used as names stay names."""
    array, category = flat(values, where)
    if array.ndim != 1:
        raise InputError(f"{where} has shape {array.shape}; each column must be one-dimensional.")
    if category:
        cells = array.tolist()
        text = {v: None if _is_gap(v) else str(v) for v in set(cells)}
        array = objects([text[v] for v in cells])
    return clean(array, where)


def clean(values: Array, where: str) -> Array:
    """The column as numbers of a native dtype, or as text (str array, or object array with None for gaps)."""
    kind = values.dtype.kind
    if kind in NUMBERS:
        return native(values)
    if kind == "U":
        return values
    if kind in "OT":
        return _from_objects(values.astype(object), where)
    if kind == "S":
        return _decoded(values.tolist(), where)
    if kind in "mM":
        _refuse_dates(where)
    if kind == "c":
        raise InputError(f"Complex data not supported: {where} holds complex numbers.")
    raise InputError(f"{where} has type {values.dtype}; each column must hold numbers or text.")


def native(values: Array) -> Array:
    """The same array, unless kernels cannot read its dtype (half, long double, foreign byte order)."""
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if dtype.itemsize == 2 else np.float64)
    return values if dtype.isnative else values.astype(dtype.newbyteorder("="))


def settle(columns: list[Array], n: int) -> Data:
    """One (n, m) block, columns contiguous, if all are numbers of one dtype; else the columns as they are."""
    dtypes = {c.dtype for c in columns}
    if len(dtypes) > 1 or any(d.kind not in NUMBERS for d in dtypes):
        return columns
    block = np.empty((len(columns), n), dtype=dtypes.pop() if dtypes else np.float64)
    for j, c in enumerate(columns):
        block[j] = c
    return block.T


def from_list(values: Sequence[Any], where: str) -> Array:
    """An array of nested lists, in which numbers beside text stay numbers."""
    try:
        array = np.asarray(values)
        return np.array(values, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in values]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None:
            raise InputError(
                f"{where} is nested too deep or unevenly; pass a plain table of values."
            ) from None
        raise InputError(
            f"{where} is ragged: row {odd} has {lengths[odd]} values, row 0 has {lengths[0]}."
        ) from None


def count_bad(column: Array) -> tuple[int, int]:
    """How many values are NaN (or missing text), and how many infinite."""
    if column.dtype.kind == "f":
        if np.isfinite(column).all():
            return 0, 0
        nan = int(np.count_nonzero(np.isnan(column)))
        return nan, int(np.count_nonzero(~np.isfinite(column))) - nan
    return (sum(v is None for v in column), 0) if column.dtype.kind == "O" else (0, 0)


def require_whole(column: Array, where: str, remedy: str, aside: str = "") -> None:
    """Refuse NaN, missing and infinite values with their number."""
    nan, inf = count_bad(column)
    if not nan and not inf:
        return
    word = "missing (NaN)" if column.dtype.kind == "O" else "NaN"
    parts = [f"{nan} {word}"] * (nan > 0) + [f"{inf} infinite"] * (inf > 0)
    noun = "value" if (inf or nan) == 1 else "values"
    raise InputError(f"{where} has {' and '.join(parts)} {noun} in {len(column)} rows{aside}; {remedy}.")


def refuse_masked(values: Any, where: str) -> None:
    """A mask hides values; NumPy would quietly show them again."""
    if type(values) is np.ndarray:
        return
    count = int(np.count_nonzero(np.ma.getmaskarray(values)))
    if count:
        raise InputError(
            f"{where} is a masked array with {count} masked (NaN) cells; remove or fill them first."
        )


def _refuse_dates(where: str) -> NoReturn:
    raise InputError(f"{where} holds dates or times; make numbers of them first, e.g. days since a start.")


def _is_gap(value: Any) -> bool:
    """None, NaN, pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and value != value


def objects(values: list[Any]) -> Array:
    """A 1-D object array, also of values that NumPy would take apart."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _categories(values: list[Any]) -> Array:
    """The categories of each row as they are if text or numbers, else (intervals, dates) as text."""
    plain = all(isinstance(v, (str, Real)) or _is_gap(v) for v in set(values))
    return objects(values if plain else [v if _is_gap(v) else str(v) for v in values])


def _from_objects(values: Array, where: str) -> Array:
    cells = values.tolist()
    kinds = set(map(type, cells))
    gap_kinds = {t for t in kinds if t is type(None) or t.__name__ in ("NAType", "NaTType")}
    kinds -= gap_kinds
    if all(issubclass(t, (Real, np.bool_, Decimal)) for t in kinds):
        return _from_numbers(cells, kinds, bool(gap_kinds), where)
    if all(issubclass(t, str) for t in kinds):
        return objects([v if isinstance(v, str) else None for v in cells]) if gap_kinds else values
    if all(issubclass(t, bytes) for t in kinds):
        return _decoded([None if _is_gap(v) else v for v in cells], where)
    if any(issubclass(t, _DATES) for t in kinds):
        _refuse_dates(where)
    gone = [_is_gap(v) for v in cells]
    if all(gap or isinstance(v, str) for v, gap in zip(cells, gone, strict=True)):
        return objects([None if gap else v for v, gap in zip(cells, gone, strict=True)])
    raise _mixture(cells, where)


def _from_numbers(cells: list[Any], kinds: set[type], gaps: bool, where: str) -> Array:
    try:
        if kinds and not gaps:
            if all(issubclass(t, (bool, np.bool_)) for t in kinds):
                return np.array(cells, dtype=np.bool_)
            if (
                all(issubclass(t, (Integral, np.bool_)) for t in kinds)
                and max(map(abs, map(int, cells))) < 2**63
            ):
                return np.array(cells, dtype=np.int64)
        return np.array([np.nan if _is_gap(v) else v for v in cells] if gaps else cells, dtype=np.float64)
    except OverflowError:
        raise InputError(f"{where} holds a number too large for a 64-bit float; rescale it first.") from None


def _mixture(cells: list[Any], where: str) -> InputError:
    """What to say of cells that are neither all numbers nor all text."""
    texts = [i for i, v in enumerate(cells) if isinstance(v, str)]
    for i, v in enumerate(cells):
        if isinstance(v, Complex) and not isinstance(v, Real):
            return InputError(f"Complex data not supported: {where} holds a complex number in row {i}.")
        if not isinstance(v, (str, Real, np.bool_, Decimal)) and not _is_gap(v):
            kind = type(v).__name__
            return CellError(
                f"{where} holds a {kind} in row {i}; each cell argument must be a string or a number."
            )
    return InputError(
        f"{where} mixes numbers and text (row {texts[0]} holds {cells[texts[0]]!r}); make it all one kind."
    )


def _decoded(cells: list[Any], where: str) -> Array:
    try:
        return objects([None if v is None else v.decode("utf-8") for v in cells])
    except UnicodeDecodeError:
        raise InputError(f"{where} holds bytes that are not UTF-8 text; decode it first.") from None
