"""CSV and TSV: a header line, then one row per line; a column is whole numbers, numbers or text.

A first line of numbers only means that there is no header: the columns are then x0, x1, ... In a file whose
cells are parted by semicolons a comma in a number is its decimal point.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..table.columns import Array, check_names, objects
from .raw import Raw, is_gap, number_in, read_text

_STYLE: Any = {"skipinitialspace": True, "strict": True}


def read(file: Path) -> Raw:
    """The columns, each made numbers if its cells are numbers."""
    text = read_text(file)
    delimiter = _delimiter(file, text)
    rows = _rows(text, delimiter)
    headless = all(number_in(cell) is not None for cell in rows[0])
    names = [f"x{j}" for j in range(len(rows[0]))] if headless else _header(rows.pop(0))
    columns: list[Sequence[str]] = list(zip(*rows, strict=True)) or [()] * len(names)
    del rows
    X = {}
    for j, name in enumerate(names):
        column = _column(columns[j], decimal_comma=delimiter == ";")
        if isinstance(column, int):
            line = next(islice(_numbered_rows(text, delimiter), column + (not headless), None))[0]
            raise InputError(
                f"column {name!r} holds mostly numbers, but line {line} has the text {columns[j][column]!r}; "
                "correct that cell or leave the column out."
            )
        X[name] = column
        columns[j] = ()  # the text is no longer needed
    return Raw(X, names)


def _delimiter(file: Path, text: str) -> str:
    if file.name.lower().endswith((".tsv", ".tsv.gz")):
        return "\t"
    first = text.lstrip().split("\n", 1)[0]
    return max((",", ";", "\t"), key=first.count)


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """All rows that are not blank, each as long as the first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **_STYLE)
    try:
        rows = [row for row in reader if len(row) > 1 or not _is_blank(row)]
    except csv.Error as error:
        raise InputError(f"line {reader.line_num} is not well formed ({error}); check its quotes.") from None
    if len(set(map(len, rows))) > 1:
        width = len(rows[0])
        line, row = next(found for found in _numbered_rows(text, delimiter) if len(found[1]) != width)
        raise InputError(f"line {line} has {len(row)} fields, but {width} are expected as in the first line.")
    return rows


def _numbered_rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows again, each with the number of its first line: a second reading, for messages only."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **_STYLE)
    line = 1
    for row in reader:
        if not _is_blank(row):
            yield line, row
        line = reader.line_num + 1


def _header(row: list[str]) -> list[str]:
    names = check_names((name.strip() for name in row), "the header")
    if "" in names:
        raise InputError(
            f"column {names.index('') + 1} has no name in the header; name it, or leave it out if it only "
            "numbers the rows (pandas: to_csv(..., index=False))."
        )
    return names


def _column(cells: Sequence[str], decimal_comma: bool) -> Array | int:
    """Numbers, or text with None for gaps; or the row of the first text among what are mostly numbers."""
    plain = "_" not in "".join(cells)  # Python would read 1_000 as a number
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        try:
            if plain:
                return np.array(list(map(kind, cells)), dtype=dtype)
        except (ValueError, OverflowError):
            continue
    counts = Counter(cells)
    value = {c: number_in(c.replace(",", ".") if decimal_comma else c) for c in counts}
    text = {c for c, v in value.items() if v is None}
    if not text:
        return np.array([value[c] for c in cells], dtype=np.float64)
    strays = sum(counts[c] for c in text)
    gaps = sum(count for c, count in counts.items() if is_gap(c))
    if len(cells) - gaps > 2 * strays:
        return next(i for i, c in enumerate(cells) if c in text)
    level = {c: None if is_gap(c) else c for c in counts}
    return objects([level[c] for c in cells])
