"""The door: criteria, strategies and information estimators by name, ours and everybody's.

Three ways in, all equal: an entry point of group `jifs.plugins` (listed without being imported; a criterion under
its own name, an information estimator as `info.NAME`, a strategy as `strategy.NAME`), a single file (`load_plugin`),
or a decorator in a notebook cell, which replaces what the cell registered before.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import traceback
import warnings
import zlib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from jifs.errors import InputError, JifsWarning, near
from jifs.faces import faces_of

GROUP = "jifs.plugins"
KINDS = ("criterion", "info", "strategy")
C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class Entry:
    """What is known of a registered thing."""

    name: str
    kind: str
    summary: str
    faces: tuple[str, ...]
    tasks: tuple[str, ...]
    cite: str
    default: str
    params: dict[str, Any]
    module: str
    make: Any
    reads: str = "codes"
    about: str = ""


_registered: dict[tuple[str, str], Entry] = {}
_passed_over: dict[tuple[str, str], Entry] = {}
"""Entries of installed packages whose names a file or a cell had taken before they were imported."""
_broken: set[str] = set()


# --------------------------------------------------------------------------------------------------- registering


def _parameters(cls: type) -> dict[str, Any]:
    if not is_dataclass(cls):
        return {}
    out = {}
    for item in fields(cls):
        if not item.init:
            continue
        if item.default is not MISSING:
            out[item.name] = item.default
        elif item.default_factory is not MISSING:
            out[item.name] = item.default_factory()
        else:
            out[item.name] = MISSING
    return out


def _check_name(kind: str, name: Any) -> None:
    if not isinstance(name, str) or not name.replace("_", "").isalnum() or not name.islower():
        raise InputError(
            f'a {kind} is registered as @jifs.{kind}("name"), with small letters, digits and underscores, not {name!r}'
        )


def _register(
    kind: str,
    name: str,
    cls: Any,
    *,
    tasks: tuple[str, ...],
    cite: str,
    default: str,
    reads: str,
    summary: str = "",
    **fixed: Any,
) -> None:
    doc = inspect.getdoc(cls) or ""
    if doc.startswith(f"{cls.__name__}("):
        doc = ""  # what a dataclass writes about itself
    module = sys.modules.get(cls.__module__)
    about = (getattr(module, "__doc__", None) or "").strip()
    known = _parameters(cls)
    for key in fixed:
        if key not in known:
            raise InputError(
                f"{kind} '{name}' fixes {key!r}, which is no parameter of {cls.__name__}.{near(key, known)}"
            )
    params = {key: value for key, value in known.items() if key not in fixed}
    make = functools.partial(cls, **fixed) if fixed else cls
    entry = Entry(
        name,
        kind,
        summary or (doc or about).split("\n", 1)[0].rstrip(".:") or name,
        faces_of(cls) if kind == "criterion" else (getattr(cls, "needs", ""),) if kind == "strategy" else (),
        tasks,
        cite,
        default,
        params,
        cls.__module__,
        make,
        reads,
        "\n\n".join(part for part in (summary, doc, about) if part),
    )
    (_registered if _may_take(kind, name, cls.__module__) else _passed_over)[kind, name] = entry


def _may_take(kind: str, name: str, module: str) -> bool:
    """Whether a module may register this name; one that takes another's name is warned of.

    Who declares the name by an entry point does not take it back from a cell or a file that has replaced it.
    """
    known = _registered.get((kind, name))
    point = _declared().get((kind, name))
    owner = known.module if known is not None else point.module if point is not None else module
    if owner == module:
        return True
    if point is not None and point.module == module:
        return False
    text = f"{kind} '{name}' of {owner} is replaced by the one of {module}"
    warnings.warn(text, JifsWarning, stacklevel=4)
    return True


def criterion(
    name: str,
    *,
    default: str = "forward",
    tasks: tuple[str, ...] = ("class",),
    cite: str = "",
    reads: str = "codes",
    summary: str = "",
    **fixed: Any,
) -> Callable[[C], C]:
    """Register a criterion class under a name; `fixed` parameters and a `summary` let one class serve several names."""

    _check_name("criterion", name)

    def wrap(cls: C) -> C:
        _register(
            "criterion",
            name,
            cls,
            tasks=tasks,
            cite=cite,
            default=default,
            reads=reads,
            summary=summary,
            **fixed,
        )
        return cls

    return wrap


def estimator(
    name: str, *, tasks: tuple[str, ...] = ("class",), cite: str = "", reads: str = "codes"
) -> Callable[[C], C]:
    """Register an information estimator class under a name."""

    _check_name("estimator", name)

    def wrap(cls: C) -> C:
        cls.name, cls.tasks, cls.reads = name, tasks, reads  # type: ignore[attr-defined]
        _register("info", name, cls, tasks=tasks, cite=cite, default="", reads=reads)
        return cls

    return wrap


def strategy(name: str, *, cite: str = "") -> Callable[[C], C]:
    """Register a strategy class under a name; its attribute `needs` is the face it asks for."""

    _check_name("strategy", name)

    def wrap(cls: C) -> C:
        cls.name = name  # type: ignore[attr-defined]
        _register("strategy", name, cls, tasks=("class", "real"), cite=cite, default="", reads="")
        return cls

    return wrap


# ------------------------------------------------------------------------------------------------------- finding


@functools.cache
def _declared() -> dict[tuple[str, str], EntryPoint]:
    """Entry points by (kind, name), read from the metadata of installed packages; nothing is imported."""
    found: dict[tuple[str, str], EntryPoint] = {}
    for point in entry_points(group=GROUP):
        prefix, _, rest = point.name.rpartition(".")
        kind = prefix if prefix in KINDS else "criterion"
        key = (kind, rest if prefix in KINDS else point.name)
        if key in found and found[key].value != point.value:
            warnings.warn(
                f"{kind} '{key[1]}' is offered by {found[key].value} and by {point.value}; the first is used",
                JifsWarning,
                stacklevel=2,
            )
            continue
        found[key] = point
    return found


def names(kind: str) -> list[str]:
    """Names on offer, without importing anything."""
    declared = {name for k, name in _declared() if k == kind and f"{k}.{name}" not in _broken}
    return sorted(declared | {name for k, name in _registered if k == kind})


def _load(point: EntryPoint, kind: str, name: str) -> bool:
    """Import an entry point; a broken one warns by name and is skipped."""
    before = dict(_registered)
    try:
        point.load()
    except (Exception, SystemExit) as error:
        if point.module not in sys.modules:  # else it is whole, and only what was asked of it is missing
            _take_back(point.module, before)
        _broken.add(f"{kind}.{name}")
        warnings.warn(
            f"plug-in '{name}' ({point.value}) could not be loaded and is skipped: {type(error).__name__}: {error}",
            JifsWarning,
            stacklevel=3,
        )
        return False
    if (kind, name) not in _registered:
        _broken.add(f"{kind}.{name}")
        warnings.warn(
            f"plug-in '{name}' ({point.value}) was loaded but registered no {kind} of that name; it is skipped",
            JifsWarning,
            stacklevel=3,
        )
        return False
    return True


def _take_back(module: str, before: dict[tuple[str, str], Entry]) -> None:
    """Undo what a module registered before it failed; what it made others register stays."""
    for key in [key for key, entry in _registered.items() if entry.module == module]:
        del _registered[key]
        for older in (before, _passed_over):
            if key in older:
                _registered[key] = older[key]
                break


def find(kind: str, name: str) -> Entry:
    """The entry of a name, imported now if need be; an unknown name is refused with the nearest ones."""
    if isinstance(name, str):
        key = (kind, name)
        if key not in _registered and key in _declared():
            _load(_declared()[key], kind, name)
        if key in _registered:
            return _registered[key]
    known = names(kind)
    label = "information estimator" if kind == "info" else kind
    raise InputError(f"unknown {label} {name!r}.{near(str(name), known)} Known: {', '.join(known)}")


def entries(kind: str) -> list[Entry]:
    """All entries of a kind, imported; those that cannot be are warned of and left out."""
    for k, name in list(_declared()):
        if k == kind and (k, name) not in _registered and f"{k}.{name}" not in _broken:
            _load(_declared()[k, name], k, name)
    return [_registered[kind, name] for name in names(kind) if (kind, name) in _registered]


def describe(name: str) -> tuple[str, Entry, str]:
    """Kind, entry and full text of whatever has this name."""
    for kind in KINDS:
        if name in names(kind):
            entry = find(kind, name)
            return kind, entry, entry.about
    everything = [n for kind in KINDS for n in names(kind)]
    raise InputError(f"nothing is registered as {name!r}.{near(name, everything)}")


def info(name: str, **params: Any) -> Any:
    """An information estimator by name, ready to be asked."""
    return find("info", name).make(**params)


def load_plugin(path: str | Path) -> list[str]:
    """Run one plug-in file and return the names it registered."""
    path = Path(path).absolute()
    if not path.is_file():
        raise InputError(f"plug-in file '{path}' does not exist")
    if path.suffix != ".py":
        raise InputError(f"plug-in file '{path}' is not a Python file (.py)")
    before = dict(_registered)
    module_name = f"jifs_plugin_{path.stem}_{zlib.crc32(str(path).encode()):08x}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(module_name, None)
        _take_back(module_name, before)
        if not isinstance(error, Exception | SystemExit):
            raise
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
        ]
        where = f", line {lines[-1]}" if lines else ""
        raise InputError(f"plug-in file '{path}'{where}: {type(error).__name__}: {error}") from error
    new = [name for (_, name), entry in _registered.items() if entry.module == module_name]
    if not new:
        raise InputError(
            f"plug-in file '{path}' registers nothing; decorate a class with @jifs.criterion(\"name\")"
        )
    return new
