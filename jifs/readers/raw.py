"""What a format's reader hands over, and what readers of text share: decoding, gaps, numbers in text."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError

GAPS = frozenset(("", "?", "na", "nan", "n/a", "#n/a", "<na>", "null"))


@dataclass(frozen=True)
class Raw:
    """Columns as read; the target apart if the file keeps it so; what the file suggests about the target."""

    X: Any
    columns: Sequence[str]  # names to choose a target from
    names: Sequence[str] | None = None  # given when X itself has none
    y: Any = None
    y_name: str = "target"
    task: str | None = None
    fallback: str | None = None


def read_text(file: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark, packed by gzip or not."""
    data = file.read_bytes()
    if file.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"this is not a whole gzip file ({error}).") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        kind = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else f"not UTF-8 (line {line})"
        raise InputError(f"the text is {kind}; save the file as UTF-8.") from None
    if "\0" in text:
        raise InputError("the file holds zero bytes, so it is not plain text; save it as UTF-8 text.")
    if not text.strip():
        raise InputError("the file is empty.")
    return text


def is_gap(cell: str) -> bool:
    """Empty, `?`, NA, NaN and their like: a value that is missing."""
    return cell.strip().lower() in GAPS


def number_in(cell: str) -> float | None:
    """The number a cell spells, NaN for a gap, None for text (Python's own 1_000 counts as text)."""
    if is_gap(cell):
        return math.nan
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
