"""Files -> Table: `read_table`, by the suffix of the file.

Each format is read by one small module, imported when a file of that kind is met.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, near

if TYPE_CHECKING:
    from ..table import Table
    from .raw import Raw

_FORMATS = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".arff": "arff",
    ".parquet": "arrow",
    ".pq": "arrow",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
}
_PACKABLE = ("delimited", "arff", "libsvm")
_USUAL_TARGETS = ("target", "class", "y", "label")


def read_table(
    path: str | os.PathLike[str], target: str | None = None, *, task: str | None = None, discrete: Any = None
) -> Table:
    """The Table in a file; the target is a column's name, or what the file or its column names suggest.

    A file with NaN, infinite or missing values is refused here, so a Table that was read is whole.
    """
    from ..table import as_table

    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"a file's path is needed, not {path!r}.")
    if target is not None and not isinstance(target, str):
        raise InputError(f"target={target!r} is not a name; say which column by its name.")
    file = Path(os.path.expanduser(path))
    form = _form_of(file)
    try:
        raw: Raw = importlib.import_module(f".{form}", __package__).read(file)
        name = _target_name(raw, target)
        if name is None:
            table = as_table(raw.X, raw.y, task=task or raw.task, discrete=discrete, names=raw.names)
            if table.target is not None:
                table = replace(table, target=replace(table.target, name=raw.y_name))
        else:
            table = as_table(raw.X, name, task=task, discrete=discrete, names=raw.names)
        _require_finite(table)
        return table
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from error.__cause__
    except MemoryError:
        raise InputError(f"{file.name}: there is not enough memory to read this file.") from None
    except OSError as error:
        raise InputError(f"{file.name}: the file cannot be read ({error.strerror or error}).") from None


def _form_of(file: Path) -> str:
    """Which module reads this file; refuses what is not there, a folder, and unknown suffixes."""
    if os.path.isdir(file):
        raise InputError(f"{str(file)!r} is a folder; give the name of a file in it.")
    if not os.path.exists(file):
        if not os.path.isdir(file.parent):
            raise InputError(f"there is no file {str(file)!r}: its folder does not exist.")
        raise InputError(f"there is no file {str(file)!r}.{near(file.name, os.listdir(file.parent))}")
    if not os.path.isfile(file):
        raise InputError(f"{str(file)!r} is not a regular file.")
    packed = file.suffix.lower() == ".gz"
    form = _FORMATS.get((file.with_suffix("") if packed else file).suffix.lower())
    if form is None or (packed and form not in _PACKABLE):
        known = ", ".join(_FORMATS)
        raise InputError(
            f"{file.name}: files of this kind are not read; known are {known} and .csv.gz, .tsv.gz."
        )
    return form


def _target_name(raw: Raw, target: str | None) -> str | None:
    """The column that is the target; None when the file holds the target apart from its columns."""
    names = raw.columns
    if target is not None:
        return None if raw.y is not None and target not in names and target in ("y", raw.y_name) else target
    if raw.y is not None:
        return None
    usual = [name for name in names if name.lower() in _USUAL_TARGETS]
    if len(usual) == 1:
        return usual[0]
    if raw.fallback is not None:
        return raw.fallback
    last = ", ".join(map(repr, usual or names[-3:]))
    raise InputError(
        f"which column is the target? Say --target NAME (y= in Python); "
        f"{'candidates' if usual else 'the last columns'} are {last}."
    )


def _require_finite(table: Table) -> None:
    from ..table import refuse_nonfinite
    from ..table.columns import count_bad

    if any(any(count_bad(c)) for c in (table.data if isinstance(table.data, list) else [table.data])):
        refuse_nonfinite(table)
