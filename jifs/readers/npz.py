"""NPZ: arrays `X`, `y`, optional `feature_names` (or `names`), `target_names`; pickles are refused."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..table import Numbered
from ..table.columns import Array, clean
from .raw import Raw


def read(file: Path) -> Raw:
    """X, y and their names."""
    parts = _arrays(file)
    if "X" not in parts:
        raise InputError(
            f"there is no array 'X' in this file; it holds {', '.join(sorted(parts)) or 'nothing'}."
        )
    X, y, labels = parts["X"], parts.get("y"), parts.get("target_names")
    given = parts.get("feature_names", parts.get("names"))
    names = None if given is None else [str(name) for name in clean(np.atleast_1d(given), "feature_names")]
    columns = names or Numbered(X.shape[1] if X.ndim == 2 else 0)
    raw = Raw(X, columns, names, y=y)
    return raw if y is None or labels is None else _with_labels(raw, y, np.atleast_1d(labels))


def _with_labels(raw: Raw, y: Array, labels: Array) -> Raw:
    """`target_names` are the labels of codes 0..C-1; a single one beside floats is the target's name."""
    if labels.ndim != 1:
        raise InputError(f"target_names has shape {labels.shape}; it must be one-dimensional.")
    labels = clean(labels, "target_names")
    if len(labels) == 1 and y.dtype.kind == "f":
        return Raw(raw.X, raw.columns, raw.names, y=y, y_name=str(labels[0]), task="real")
    if y.dtype.kind not in "biu" or not y.size:
        return raw
    if y.min() < 0 or y.max() >= len(labels):
        raise InputError(f"y holds codes {y.min()} to {y.max()}, but target_names has {len(labels)} labels.")
    return Raw(raw.X, raw.columns, raw.names, y=labels[y.astype(np.intp)])


def _arrays(file: Path) -> dict[str, Any]:
    if not zipfile.is_zipfile(file):
        with file.open("rb") as opened:
            pickled = opened.read(1) == b"\x80"
        kind = "pickled Python objects, which are never loaded" if pickled else "not a whole NPZ file"
        raise InputError(f"this is {kind}; save plain arrays with numpy.savez.")
    known = ("X", "y", "feature_names", "names", "target_names")
    try:
        with np.load(file, allow_pickle=False) as archive:
            parts = {key: archive[key] if key in known else None for key in archive.files}
    except MemoryError:
        raise
    except Exception as error:  # a damaged archive can fail in many ways, deep inside zip, zlib or NumPy
        if "allow_pickle" in str(error):
            raise InputError(
                "the file holds pickled Python objects, which are never loaded; save plain arrays."
            ) from None
        reason = str(error).split("\n")[0].rstrip(".")
        raise InputError(f"this is not a whole NPZ file ({reason}).") from None
    for key, part in parts.items():
        if part is not None and not isinstance(part, np.ndarray):
            raise InputError(f"{key!r} in this file is not an array; save plain arrays with numpy.savez.")
    return parts
