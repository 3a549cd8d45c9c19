"""X in memory -> (n, m) block or list of columns, names (None: nameless), and the target if asked for.

Arrays, lists, mappings of columns, sparse matrices, and the frames of pandas, polars, pyarrow and others
through narwhals. Nothing is copied where the kind of X allows it; for a NumPy array nothing is imported.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from . import columns as cols
from .columns import Array, Data

Parts = tuple[Data, list[str] | None, Any]


def read_memory(X: Any, wanted: str | None) -> Parts:
    """The parts of X; a target asked for by name is taken out of a frame or mapping as it is there."""
    if isinstance(X, np.ndarray):
        return _from_array(X), None, None
    if X is None or isinstance(X, (str, bytes, os.PathLike)):
        raise InputError(f"X is {X!r}; pass an array or a data frame (jifs.readers.read_table reads files).")
    sparse = sys.modules.get("scipy.sparse")  # if X is sparse, its module has been imported by someone
    if sparse is not None and sparse.issparse(X):
        return _from_array(_dense(X)), None, None
    if isinstance(X, Mapping):
        return _from_columns(cols.check_names(X), list(X.values()), wanted)
    if isinstance(X, (list, tuple)):
        return _from_array(cols.from_list(X, "X")), None, None
    frame = _frame(X)
    return (_from_array(np.asarray(X)), None, None) if frame is None else _from_frame(frame, wanted)


def _frame(X: Any) -> Any:
    """X as an eager narwhals frame; None if narwhals does not know it (or it has one dimension)."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        cols.check_names(X.column_names if hasattr(X, "column_names") else X.columns)
        raise
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_frame(frame: Any, wanted: str | None) -> Parts:
    columns = frame.columns
    names = cols.check_names(columns)
    out = [c for c, name in zip(columns, names, strict=True) if name == wanted]
    rest = frame.drop(out) if out else frame
    kinds = set(rest.schema.values())
    if len(kinds) == 1:
        kind = next(iter(kinds))
        if (kind.is_integer() or kind.is_float() or str(kind) == "Boolean") and "128" not in str(kind):
            block = rest.to_numpy()
            if block.dtype.kind in cols.NUMBERS:
                taken = frame.get_column(out[0]) if out else None
                return cols.native(block), [name for name in names if name != wanted], taken
    return _from_columns(names, [frame.get_column(c) for c in columns], wanted)


def _from_columns(names: list[str], columns: list[Any], wanted: str | None) -> Parts:
    pairs = [(name, c) for name, c in zip(names, columns, strict=True) if name != wanted]
    taken = columns[names.index(wanted)] if wanted in names else None
    done = [cols.feature(c, f"column {name!r}") for name, c in pairs]
    for (name, _), c in zip(pairs, done, strict=True):
        if len(c) != len(done[0]):
            raise InputError(f"column {name!r} has {len(c)} rows, but {pairs[0][0]!r} has {len(done[0])}.")
    if not done:
        return np.empty((0 if taken is None else len(taken), 0)), [], taken
    return cols.settle(done, len(done[0])), [name for name, _ in pairs], taken


def _from_array(X: Array) -> Data:
    if X.dtype.names:
        few = ", ".join(map(repr, X.dtype.names[:3]))
        raise InputError(
            f"X is a structured array with fields {few}, ...; pass a mapping {{name: X[name], ...}}."
        )
    if X.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {X.ndim}D array instead (shape {X.shape}). Reshape your data: "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one sample."
        )
    kind = X.dtype.kind
    cols.refuse_masked(X, "X")
    if kind in cols.NUMBERS:
        return cols.native(np.asarray(X))
    if kind in "cmMV":
        cols.clean(X, "X")
    return cols.settle([cols.clean(X[:, j], f"column 'x{j}'") for j in range(X.shape[1])], len(X))


def _dense(X: Any) -> Array:
    need, free = int(np.prod(X.shape, dtype=object)) * X.dtype.itemsize, _available_bytes()
    if free is not None and need > free // 2:
        raise InputError(
            f"sparse X of shape {X.shape} would need {need / 1e9:.2f} GB when made dense, more than half of "
            f"the {free / 1e9:.2f} GB of memory available; pass fewer columns or rows."
        )
    array: Array = X.toarray(order="F") if X.ndim == 2 and X.format == "csc" else X.toarray()
    return array


def _available_bytes() -> int | None:
    """Memory that can still be had (within a container's limit), None where the system does not tell."""
    found = []
    with contextlib.suppress(OSError, StopIteration, ValueError), open("/proc/meminfo") as lines:
        found.append(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")))
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as limit:
        found.append(int(limit.read()))
    if not found:
        with contextlib.suppress(AttributeError, ValueError, OSError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)
