"""What the options of the command line say: values, settings, tables and files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError

if TYPE_CHECKING:
    from .table import Table


def value_of(text: str) -> Any:
    """int, float, bool, None or, failing these, the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def pairs_of(texts: list[str], option: str) -> dict[str, Any]:
    """{"beta": 0.5} of ["beta=0.5"]."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{option} takes NAME=VALUE, for example beta=0.5, not {text!r}.")
        if name.strip() in values:
            raise InputError(f"{option} gives {name.strip()!r} twice.")
        values[name.strip()] = value_of(value.strip())
    return values


def stop_of(text: str) -> Any:
    """A threshold, a rule's name, or a rule with settings: permutation,level=0.01,permutations=500."""
    rule, *settings = (part.strip() for part in text.split(","))
    return {"rule": rule, **pairs_of(settings, "--stop")} if settings else value_of(rule)


def strategy_of(text: str) -> Any:
    """A strategy's name, or one with settings: exhaustive,limit=10000000."""
    name, *settings = (part.strip() for part in text.split(","))
    return {"name": name, **pairs_of(settings, "--strategy")} if settings else name


def table_of(
    data: str, target: str | None, weights: str | None, task: str | None, discrete: list[str] | None
) -> Table:
    """The Table of a file, or of a bundled data set where no file has that name."""
    from . import datasets
    from .readers import read_table
    from .table import as_table

    if Path(data).is_file() or Path(data).suffix:
        table = read_table(data, target, task=task, discrete=discrete)
    elif target is not None and data in datasets.names():
        raise InputError(f"the data set {data!r} has its own target; leave --target out.")
    else:
        table = as_table(datasets.load(data), task=task, discrete=discrete)
    if table.target is None:
        listed = ", ".join(map(repr, table.names[:5])) + (", ..." if table.m > 5 else "")
        raise InputError(f"--target is missing: which of the columns {listed} is to be predicted?")
    return table if weights is None else datasets.weighted(table, weights)


def outputs_of(data: str, asked: dict[str, str | Path | None]) -> dict[str, Path]:
    """The files to write, by option; refused now rather than after the work where that cannot be."""
    from .files import check_writable

    taken = {os.path.realpath(data): "the data"}
    outputs = {option: Path(path) for option, path in asked.items() if path is not None}
    for option, path in outputs.items():
        if str(path) == "-":
            raise InputError(f"{option} needs a file name; only --json takes -.")
        check_writable(path)
        place = os.path.realpath(path)
        if place in taken and Path("/dev") not in Path(place).parents:
            raise InputError(f"{option} {str(path)!r} would overwrite {taken[place]}; choose another name.")
        taken[place] = f"the file of {option}"
    return outputs
