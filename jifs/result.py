"""A Result reports: which features, in which order, with which scores, and what happened on the way."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Whole = np.ndarray[Any, np.dtype[np.intp]]
Real = np.ndarray[Any, np.dtype[np.float64]]

FORMAT = "jifs-result"
VERSION = 1


@dataclass(frozen=True)
class Step:
    """One step of a selection: the feature taken, its score and the score's parts, and how close it was."""

    step: int
    feature: int
    name: str
    score: float
    parts: dict[str, float] = field(default_factory=dict)
    runner_up: int | None = None
    runner_up_name: str | None = None
    margin: float | None = None
    tie: bool = False
    included: bool = False


@dataclass(frozen=True, eq=False)
class Result:
    """The selected features in order, their scores, the trace of the search and the settings it ran with.

    `X[:, result.indices]` is the reduced table. `print(result)` shows the steps; `to_json`, `to_frame` and
    `plot` carry them elsewhere.
    """

    indices: Whole
    names: tuple[str, ...]
    scores: Real
    trace: tuple[Step, ...]
    weights: Real | None
    facts: dict[str, Any]
    seconds: float
    criterion: str
    strategy: str
    info: str | None
    params: dict[str, Any]
    seed: int | None
    n_rows: int
    n_features: int

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "indices", np.asarray(self.indices, dtype=np.intp))
        put(self, "scores", np.asarray(self.scores, dtype=np.float64))
        put(self, "names", tuple(self.names))
        put(self, "trace", tuple(self.trace))
        if self.weights is not None:
            put(self, "weights", np.asarray(self.weights, dtype=np.float64))

    def mask(self) -> np.ndarray:
        """One bool per feature of the table: was it selected?"""
        chosen = np.zeros(self.n_features, dtype=bool)
        chosen[self.indices] = True
        return chosen

    def same_as(self, other: Result) -> bool:
        """Do both hold the same features in the same order with the same scores, bit for bit?"""
        return (
            self.indices.tobytes() == other.indices.tobytes()
            and self.scores.tobytes() == other.scores.tobytes()
        )

    def steps(self) -> tuple[Step, ...]:
        """The trace; where a method keeps none, one bare step per selected feature."""
        if self.trace:
            return self.trace
        rows = zip(self.indices.tolist(), self.names, self.scores.tolist(), strict=True)
        return tuple(Step(i, feature, name, score) for i, (feature, name, score) in enumerate(rows, 1))

    def part_names(self) -> tuple[str, ...]:
        """The names of the scores' parts, in the order in which they first appear."""
        return tuple(dict.fromkeys(part for step in self.steps() for part in step.parts))

    def records(self) -> list[dict[str, Any]]:
        """The steps as flat rows: the parts become columns of their own; absent values are None."""
        fixed = [f.name for f in fields(Step) if f.name != "parts"]
        columns = {part: part if part not in fixed else f"part_{part}" for part in self.part_names()}
        rows = []
        for step in self.steps():
            row = {name: getattr(step, name) for name in fixed[:4]}
            row |= {column: step.parts.get(part) for part, column in columns.items()}
            rows.append(row | {name: getattr(step, name) for name in fixed[4:]})
        return rows

    def to_frame(self) -> Any:
        """The steps as a pandas data frame, or a polars one where pandas is not installed."""
        rows = self.records()
        names = list(rows[0]) if rows else [f.name for f in fields(Step) if f.name != "parts"]
        columns = {name: [row[name] for row in rows] for name in names}
        with contextlib.suppress(ImportError):
            import pandas as pd

            return pd.DataFrame(columns).astype({"runner_up": "Int64"})
        try:
            import polars as pl
        except ImportError:
            raise InputError(
                "to_frame needs pandas or polars, and neither is installed; try: pip install pandas."
            ) from None
        return pl.DataFrame(columns, strict=False)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The whole result as JSON text, every float exact; also written to `path`, whole or not at all."""
        text = _laid_out(self)
        if path is not None:
            from .files import save_texts

            save_texts({path: text})
        return text

    @classmethod
    def from_json(cls, text_or_path: str | os.PathLike[str]) -> Result:
        """The result that `to_json` wrote, from its text or its file."""
        text, where = _text_of(text_or_path)
        try:
            return _parsed(text)
        except json.JSONDecodeError as problem:
            raise InputError(f"{where} is not JSON: {problem}.") from None
        except KeyError as problem:
            raise InputError(f"{where} is not a whole JIFS result: it has no {problem}.") from None
        except (TypeError, ValueError, OverflowError, RecursionError) as problem:
            raise InputError(f"{where} is not a JIFS result: {problem}.") from None

    def table(self, width: int | None = None) -> str:
        """The steps as a text table no wider than `width` columns; None: the terminal's width, or wide."""
        from .report import text_table

        return text_table(self, width)

    def plot(self) -> Figure:
        """A matplotlib figure: the score at each step beside the runner-up's, and the parts of the scores."""
        from .report import figure

        return figure(self)

    def __str__(self) -> str:
        from .report import headline

        return f"{headline(self)}\n\n{self.table()}"

    def __repr__(self) -> str:
        from .report import shown

        first = ", ".join([shown(name, 16) for name in self.names[:3]] + ["..."] * (len(self.names) > 3))
        how = f"{self.criterion}/{self.strategy}"
        return f"<Result {how}: {len(self.names)} of {self.n_features} features: {first}>"

    def _repr_html_(self) -> str:
        from .report import html_fragment

        return html_fragment(self)


# ---- JSON: floats by repr; "inf", "-inf", "nan" as strings; {"$tuple": [...]} and the like for the rest

_NOT_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class Kind(NamedTuple):
    """How a field goes into JSON and comes back; `read` refuses what `write` could not have written."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _plain(kind: type) -> Kind:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"is no {kind.__name__}")
        return value

    return Kind(kind, read)


def _maybe(kind: Kind) -> Kind:
    return Kind(*(lambda value, do=do: None if value is None else do(value) for do in kind))


def _many(kind: Kind) -> Kind:
    return Kind(
        lambda values: [kind.write(value) for value in values],
        lambda values: [kind.read(value) for value in LIST.read(values)],
    )


def _object(cls: type) -> Kind:
    """A dataclass: each field's annotation, as written, says its kind."""
    kinds = {field.name: KINDS[str(field.type)] for field in fields(cls)}

    def read(doc: Any) -> Any:
        values = {}
        for name, kind in kinds.items():
            try:
                values[name] = kind.read(DICT.read(doc)[name])
            except (TypeError, ValueError, OverflowError) as problem:
                raise ValueError(f"{name!r} {problem}") from None
        return cls(**values)

    return Kind(lambda value: {name: kind.write(getattr(value, name)) for name, kind in kinds.items()}, read)


def _write_float(value: Any) -> float | str:
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _read_float(value: Any) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if type(value) not in (int, float):
        raise TypeError("is no number")
    return float(value)


def _packed(value: Any) -> Any:
    """`value` in JSON's own kinds, without loss; what is neither plain data nor an array becomes its repr."""
    if isinstance(value, np.generic) and not isinstance(value.item(), np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _write_float(value)
    if isinstance(value, str):
        return {"$str": str(value)} if value in _NOT_FINITE else str(value)
    if isinstance(value, list):
        return [_packed(item) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_packed(item) for item in value]}
    if isinstance(value, np.ndarray) and (value.dtype.kind in "biuUO" or value.dtype.char in "efd"):
        dtype = value.dtype.kind if value.dtype.kind in "UO" else value.dtype.str
        return {"$array": [dtype, list(value.shape), [_packed(item) for item in value.ravel().tolist()]]}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {str(key): _packed(item) for key, item in value.items()}
        return {"$dict": [[_packed(key), _packed(item)] for key, item in value.items()]}
    return repr(value)


def _unpacked(value: Any) -> Any:
    """What `_packed` was given."""
    if isinstance(value, str):
        return _NOT_FINITE.get(value, value)
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: _unpacked(item) for key, item in value.items()}
    ((kind, body),) = value.items()
    if kind == "$str":
        return TEXT.read(body)
    if kind == "$tuple":
        return tuple(_unpacked(LIST.read(body)))
    if kind == "$dict":
        return {_unpacked(key): _unpacked(item) for key, item in body}
    if kind == "$array":
        return _unpacked_array(*LIST.read(body))
    raise ValueError(f"holds a {kind!r}, which is not known here")


def _unpacked_array(dtype: Any, shape: Any, data: Any) -> np.ndarray:
    flat = np.empty(len(LIST.read(data)), dtype=object)
    flat[:] = _unpacked(data)
    kind = np.dtype(TEXT.read(dtype))
    if kind.kind not in "biufUO" or kind.itemsize > 8:
        raise ValueError(f"holds an array of {kind}")
    if min(_many(WHOLE).read(shape), default=0) < 0:
        raise ValueError(f"holds an array of shape {shape}")
    return (flat if kind.kind == "O" else flat.astype(kind)).reshape(shape)


TEXT, WHOLE, TRUTH, LIST, DICT = (_plain(kind) for kind in (str, int, bool, list, dict))
REAL = Kind(_write_float, _read_float)
PARTS = Kind(
    lambda parts: {str(name): _write_float(value) for name, value in parts.items()},
    lambda parts: {name: _read_float(value) for name, value in DICT.read(parts).items()},
)
KINDS = {"int": WHOLE, "str": TEXT, "float": REAL, "bool": TRUTH, "Whole": _many(WHOLE), "Real": _many(REAL)}
KINDS |= {f"{name} | None": _maybe(kind) for name, kind in KINDS.items()}
KINDS |= {"tuple[str, ...]": _many(TEXT), "dict[str, float]": PARTS}
KINDS |= {"dict[str, Any]": Kind(_packed, lambda value: DICT.read(_unpacked(value)))}
KINDS |= {"tuple[Step, ...]": _many(_object(Step))}
RESULT = _object(Result)


def _laid_out(result: Result) -> str:
    """JSON with one line per key and per step: short enough to read, and two results compare line by line."""
    doc = {"format": FORMAT, "version": VERSION} | RESULT.write(result)
    lines = {key: json.dumps(value, allow_nan=False) for key, value in doc.items()}
    steps = ",\n  ".join(json.dumps(step, allow_nan=False) for step in doc["trace"])
    lines["trace"] = f"[\n  {steps}\n ]" if steps else "[]"
    return "{\n" + ",\n".join(f' "{key}": {value}' for key, value in lines.items()) + "\n}\n"


def _parsed(text: str) -> Result:
    """The Result that `_laid_out` was given; KeyError, TypeError or ValueError where there is none."""
    doc = json.loads(text)
    if not isinstance(doc, dict) or doc.get("format") != FORMAT:
        raise ValueError(f"it has no format {FORMAT!r}")
    if WHOLE.read(doc["version"]) != VERSION:
        raise ValueError(f"it is of version {doc['version']}, and this jifs reads version {VERSION}")
    result: Result = RESULT.read(doc)
    chosen = set(result.indices.tolist())
    if not len(chosen) == len(result.indices) == len(result.names) == len(result.scores):
        raise ValueError("its indices, names and scores are not one each per selected feature")
    if not all(0 <= feature < result.n_features for feature in chosen):
        raise ValueError(f"its indices go beyond {result.n_features} features")
    return result


def _text_of(text_or_path: str | os.PathLike[str]) -> tuple[str, str]:
    """The JSON text, and a name for it in messages."""
    if isinstance(text_or_path, str) and text_or_path.lstrip()[:1] in ("{", "["):
        return text_or_path, "the text"
    where = repr(os.fspath(text_or_path)[:200])
    try:
        return Path(text_or_path).read_text(encoding="utf-8"), where
    except UnicodeDecodeError:
        raise InputError(f"{where} is not JSON text.") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"cannot read a result from {where}: {reason}.") from None
