"""JIFS: jointly informative feature selection. Every criterion is a plug-in; every selection comes with its reasons."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from jifs import datasets as datasets
    from jifs.errors import InputError as InputError
    from jifs.errors import JifsWarning as JifsWarning
    from jifs.errors import MismatchError as MismatchError
    from jifs.estimators.base import Info as Info
    from jifs.jit import kernel as kernel
    from jifs.jit import pkernel as pkernel
    from jifs.measures.hsic import hsic as hsic
    from jifs.measures.lsmi import lsmi as lsmi
    from jifs.pairwise import pairs as pairs
    from jifs.registry import Entry as Entry
    from jifs.registry import criterion as criterion
    from jifs.registry import estimator as estimator
    from jifs.registry import info as info
    from jifs.registry import load_plugin as load_plugin
    from jifs.registry import strategy as strategy
    from jifs.relax.certificate import verify_certificate as verify_certificate
    from jifs.result import Result as Result
    from jifs.selector import criteria as criteria
    from jifs.selector import infos as infos
    from jifs.selector import memory as memory
    from jifs.selector import select as select
    from jifs.selector import strategies as strategies
    from jifs.sklearn import Selector as Selector
    from jifs.sources.base import Source as Source
    from jifs.stats.base import Stats as Stats
    from jifs.study.bounds import entropy_bounds as entropy_bounds
    from jifs.study.gap import gap as gap
    from jifs.study.sample_size import sample_size_study as sample_size_study
    from jifs.table import Table as Table

_HOME = {
    "Entry": "registry",
    "Info": "estimators.base",
    "InputError": "errors",
    "JifsWarning": "errors",
    "MismatchError": "errors",
    "Result": "result",
    "Selector": "sklearn",
    "Source": "sources.base",
    "Stats": "stats.base",
    "Table": "table",
    "criteria": "selector",
    "criterion": "registry",
    "entropy_bounds": "study.bounds",
    "estimator": "registry",
    "gap": "study.gap",
    "hsic": "measures.hsic",
    "info": "registry",
    "infos": "selector",
    "kernel": "jit",
    "load_plugin": "registry",
    "lsmi": "measures.lsmi",
    "memory": "selector",
    "pairs": "pairwise",
    "pkernel": "jit",
    "sample_size_study": "study.sample_size",
    "select": "selector",
    "strategies": "selector",
    "strategy": "registry",
    "verify_certificate": "relax.certificate",
}
_MODULES = ("datasets",)

__all__ = ["__version__", *sorted(_HOME), *_MODULES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import jifs` is quick."""
    if name in _HOME:
        value = getattr(importlib.import_module(f"jifs.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"jifs.{name}")
    else:
        raise AttributeError(f"module 'jifs' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
