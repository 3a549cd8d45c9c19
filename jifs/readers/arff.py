"""ARFF: declared attributes (numeric, nominal, string), then rows, dense `1,a,?` or sparse `{0 1, 4 b}`.

Nominal values stay the text that was declared, so that levels spelled as numbers are not taken for numbers; a
sparse row leaves out zeros, and for a nominal attribute its first level. `?` is a gap.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, near
from ..table.columns import Array, check_names, objects
from .raw import Raw, number_in, read_text

# Possessive (*+, ++), so that a spoilt line cannot make the search slow.
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{'\"]+)\s*(.*)", re.IGNORECASE)
_LEVELS = re.compile(rf"\{{((?:{_QUOTED}|[^}}'\"])*+)\}}")
_CELL = re.compile(rf"\s*+({_QUOTED}|[^,'\"]*+)\s*+(,|$)")
_PAIR = re.compile(rf"\s*+([0-9]{{1,9}})\s++({_QUOTED}|[^,'\"]++)\s*+(,|$)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}

Cells = list[str | None]


@dataclass(frozen=True)
class Attribute:
    """One declared column; `levels` only for a nominal one."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()

    @property
    def unsaid(self) -> str | None:
        """The value that a sparse row leaves out."""
        return {"nominal": self.levels[0] if self.levels else None, "string": None}.get(self.kind, "0")


def read(file: Path) -> Raw:
    """The columns as declared; the last one is the target unless another has a usual name."""
    lines = read_text(file).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    attributes, start = _declared(lines)
    names = check_names((a.name for a in attributes), "the header")
    rows: list[Cells] = []
    places: list[int] = []
    for place in range(start, len(lines)):
        line = lines[place].strip()
        if line and line[0] != "%":
            rows.append(_row(line, attributes, place + 1))
            places.append(place + 1)
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    X = {a.name: _column(a, list(cells), places) for a, cells in zip(attributes, columns, strict=True)}
    return Raw(X, names, fallback=names[-1])


def _declared(lines: list[str]) -> tuple[list[Attribute], int]:
    """The attributes, and the index of the first line of data."""
    found: list[Attribute] = []
    for place, line in enumerate(lines):
        text = line.strip()
        word = text.lower()
        if word.startswith("@attribute"):
            found.append(_attribute(text, place + 1))
        elif word.startswith("@data"):
            if not found:
                raise InputError("no @attribute is declared before @data.")
            return found, place + 1
        elif text and text[0] != "%" and not word.startswith("@relation"):
            raise InputError(f"line {place + 1} is not ARFF: {text[:40]!r}; @attribute or @data is expected.")
    raise InputError("there is no @data line, so this is not a whole ARFF file.")


def _attribute(text: str, line: int) -> Attribute:
    match = _ATTRIBUTE.match(text)
    if match is None or not match[2]:
        raise InputError(f"line {line} is not '@attribute NAME TYPE': {text[:60]!r}.")
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind[0] == "{":
        inner = _LEVELS.match(kind)
        cells = _cells(inner[1]) if inner else None
        if not cells or None in cells or cells == [""]:
            raise InputError(f"line {line}: the levels of attribute {name!r} are not a list {{a, b, ...}}.")
        return Attribute(name, "nominal", tuple(str(cell) for cell in cells))
    word = kind.split()[0].lower()
    if word in ("numeric", "real", "integer", "string"):
        return Attribute(name, word)
    advice = (
        "dates: make numbers of them first" if word == "date" else "known are numeric, nominal {..}, string"
    )
    raise InputError(
        f"line {line}: attribute {name!r} has type {kind.split()[0]!r}, which is not read ({advice})."
    )


def _row(line: str, attributes: list[Attribute], place: int) -> Cells:
    cells = _sparse(line, attributes, place) if line[0] == "{" else _cells(line)
    if cells is None:
        raise InputError(f"line {place} cannot be read as a row: {line[:60]!r}; check its quotes.")
    if len(cells) != len(attributes):
        raise InputError(
            f"line {place} has {len(cells)} values, but {len(attributes)} attributes are declared."
        )
    return cells


def _cells(text: str) -> Cells | None:
    """Values between commas, None for a bare `?`; None for all if the quotes are wrong."""
    if "'" not in text and '"' not in text:
        return [None if cell.strip() == "?" else cell.strip() for cell in text.split(",")]
    return _scan(_CELL, text, lambda match: _value(match[1]))


def _sparse(line: str, attributes: list[Attribute], place: int) -> Cells | None:
    if line[-1] != "}":
        return None
    row: Cells = [a.unsaid for a in attributes]
    inner = line[1:-1].strip()
    pairs = _scan(_PAIR, inner, lambda match: (int(match[1]), _value(match[2]))) if inner else []
    if pairs is None:
        return None
    for j, value in pairs:
        if j >= len(row):
            raise InputError(f"line {place} gives attribute {j}, but they are numbered 0 to {len(row) - 1}.")
        row[j] = value
    return row


def _scan(pattern: re.Pattern[str], text: str, take: Callable[[re.Match[str]], Any]) -> list[Any] | None:
    """What the pattern finds from comma to comma; None if something is left over."""
    found: list[Any] = []
    at, more = 0, True
    while more:
        match = pattern.match(text, at)
        if match is None:
            return None
        found.append(take(match))
        at, more = match.end(), match[match.re.groups] == ","
    return found


def _value(token: str) -> str | None:
    token = token.strip()
    return None if token == "?" else _unquoted(token)


def _unquoted(token: str) -> str:
    if token[:1] not in ("'", '"') or len(token) < 2:
        return token
    return re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), token[1:-1])


def _column(attribute: Attribute, cells: Cells, places: list[int]) -> Array:
    if attribute.kind == "string":
        return objects(cells)
    if attribute.kind == "nominal":
        return _nominal(attribute, cells, places)
    value = {c: math.nan if c is None else number_in(c) for c in set(cells)}
    wrong = {c for c, v in value.items() if v is None}
    if wrong:
        i = next(i for i, c in enumerate(cells) if c in wrong)
        raise InputError(
            f"attribute {attribute.name!r} is declared {attribute.kind}, but line {places[i]} has the text "
            f"{cells[i]!r}; correct that cell."
        )
    numbers = np.array([value[c] for c in cells], dtype=np.float64)
    whole = attribute.kind != "real" and bool((np.abs(numbers) < 2**53).all()) and not np.any(numbers % 1)
    return numbers.astype(np.int64) if whole else numbers


def _nominal(attribute: Attribute, cells: Cells, places: list[int]) -> Array:
    unknown = set(cells) - set(attribute.levels) - {None}
    if unknown:
        i = next(i for i, c in enumerate(cells) if c in unknown)
        raise InputError(
            f"attribute {attribute.name!r} has no level {cells[i]!r} (line {places[i]}); "
            f"its levels are {', '.join(attribute.levels[:6])}.{near(str(cells[i]), attribute.levels)}"
        )
    return objects(cells)
