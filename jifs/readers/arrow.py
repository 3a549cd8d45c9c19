"""Parquet, Feather and Arrow IPC files, read by pyarrow (the extra `data`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InputError
from ..table.columns import check_names
from .raw import Raw


def read(file: Path) -> Raw:
    """The columns of a Parquet, Feather or Arrow file, without the row labels of pandas."""
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError("reading this kind of file needs pyarrow; run pip install 'jifs[data]'.") from None
    try:
        table = _parquet(file) if file.suffix.lower() in (".parquet", ".pq") else _ipc(file, pa)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, PermissionError):
            raise
        reason = str(error).split("\n")[0].rstrip(".")
        raise InputError(f"this is not a whole {file.suffix} file ({reason}).") from None
    check_names(table.column_names)
    table = table.drop_columns(_row_labels(table))
    return Raw(table, table.column_names)


def _parquet(file: Path) -> Any:
    from pyarrow import parquet

    # ParquetFile and not read_table, which would make columns of folder names such as year=2020
    with parquet.ParquetFile(file) as source:
        return source.read()


def _ipc(file: Path, pa: Any) -> Any:
    if file.suffix.lower() == ".feather":
        from pyarrow import feather

        return feather.read_table(file)
    with pa.OSFile(str(file)) as source:
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()


def _row_labels(table: Any) -> list[str]:
    """Columns that pandas wrote for a frame's index: they name rows and are no features."""
    labels = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in labels if isinstance(name, str) and name in table.column_names]
