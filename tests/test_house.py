"""The rules of the house, as tests: who may import whom, what is loaded when, and the form of a file.

Every rule is a small function from one source file to its faults. The tables below say what each rule allows,
so a new folder is one line in MAY_IMPORT. BREAKS holds, for every rule, a file that breaks it: a rule that
can't fail would protect nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import jifs

ROOT = Path(__file__).resolve().parent.parent

# ------------------------------------------------------------------------------------------- what is allowed

ENGINE = {
    "jit",
    "kernels",
    "table",
    "readers",
    "datasets",
    "discretise",
    "rows",
    "encode",
    "numbers",
    "stats",
    "sources",
    "estimators",
    "relax",
    "measures",
}
CORE = ENGINE | {"faces", "search", "registry", "result", "report", "files", "progress"}

# Part of jifs -> the other parts it may import. `errors` is free for all; a part may always import itself.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "jit": set(),
    "kernels": {"jit"},
    "table": set(),
    "readers": {"table"},
    "datasets": {"table"},
    "discretise": {"jit", "kernels", "table"},
    "stats": {"jit", "kernels"},
    "rows": {"table"},
    "encode": {"jit", "kernels", "table", "rows", "discretise", "stats"},
    "numbers": {"kernels", "table", "rows", "stats"},
    "sources": {"jit", "kernels", "stats", "table", "rows", "discretise", "encode", "numbers"},
    "faces": set(),
    "registry": {"faces"},
    "estimators": {"jit", "kernels", "stats", "registry"},
    "relax": {"jit", "kernels"},
    "measures": {"jit", "kernels"},
    "search": {"faces", "kernels", "registry", "relax", "result", "progress"},
    "progress": set(),
    "files": set(),
    "result": {"files", "report"},
    "report": {"result"},
    "plan": {"faces", "registry", "search", "stats", "estimators"},
    "selector": CORE | {"plan"},
    "pairwise": CORE | {"plan", "selector"},
    "sklearn": CORE | {"selector"},
    "testing": CORE | {"selector", "pairwise", "sklearn"},
    "study": CORE | {"plan", "selector", "pairwise", "sklearn"},
    "jifs": CORE | {"selector", "pairwise", "sklearn", "testing", "study"},  # jifs/__init__.py
    "console": set(),
    "cli_input": CORE | {"console"},
    "cli_gap": {"cli_input", "files", "jifs"},
    "cli": CORE | {"console", "cli_gap", "cli_input", "selector", "pairwise", "study", "testing", "jifs"},
}

# Two files that are one noun, and may look at each other.
TWO_SIDES = [{"result", "report"}]

# Third parties that may be imported at the top of a file; all others go inside the function that needs them.
ANYWHERE = {"numpy"}
AT_THE_TOP: dict[str, set[str]] = {
    "jifs/jit.py": {"numba", "llvmlite"},
    "jifs/sklearn.py": {"sklearn"},
    "jifs/cli.py": {"typer"},
    "jifs/cli_gap.py": {"typer"},
    "jifs/console.py": {"typer"},
    "jifs/testing/": {"hypothesis", "pytest"},
}
ONLY_IN: dict[str, str] = {"numba": "jifs/jit.py", "llvmlite": "jifs/jit.py"}
PLUGINS_MAY_IMPORT = {"numpy", "cvxpy", "scs", "clarabel"}
NOT_LOADED_BY_IMPORT = {
    *("numba", "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "rich", "typer"),
    *("dask", "distributed", "cvxpy", "scs"),
}
DISTRIBUTION = {"sklearn": "scikit-learn", "llvmlite": "numba"}  # where the import has another name

MOST_LINES_OF_A_FILE, MOST_LINES_OF_A_FUNCTION = 350, 70

# Kernel file -> the file of tests/naive with its definition, or why it has none.
TWIN = {"entropy": "entropy.py", "mdl": "discretise.py", "secular": "rankone.py"}
NO_TWIN = {"popcount": "its plain Python forms stand beside the vector ones"}

# -------------------------------------------------------------------------------------------- reading a file


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root of the project, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def part(self) -> str:
        """`jifs/stats/base.py` is in part "stats", `jifs/jit.py` is "jit", `jifs/__init__.py` is "jifs"."""
        below = Path(self.path).with_suffix("").parts[1:]
        return "jifs" if below == ("__init__",) else below[0]

    @property
    def package(self) -> list[str]:
        return list(Path(self.path).parent.parts)


@dataclass(frozen=True)
class Import:
    """One imported name: `from jifs.stats import base` is module "jifs.stats", name "base"."""

    module: str
    name: str | None
    line: int
    at_top: bool

    @property
    def top(self) -> str:
        return self.module.split(".")[0]


def imports(source: Source) -> Iterator[Import]:
    """Every import that can happen when the program runs; those for type checkers alone are left out."""

    def walk(node: ast.AST, at_top: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, None, child.lineno, at_top)
            elif isinstance(child, ast.ImportFrom):
                above = source.package[: len(source.package) - child.level + 1] if child.level else []
                module = ".".join([*above, *([child.module] if child.module else [])])
                for alias in child.names:
                    yield Import(module, alias.name, child.lineno, at_top)
            else:
                inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, at_top and not inside)

    return walk(source.tree, True)


def third_parties(source: Source) -> Iterator[Import]:
    own = {"jifs", "jifs_plugins", "plugins", "naive", "__future__"}
    return (i for i in imports(source) if i.top not in sys.stdlib_module_names | own)


def part_imported(i: Import) -> str:
    """Part of jifs behind an import: "stats" for `from jifs import stats` and `import jifs.stats.base`."""
    below = [*i.module.split(".")[1:], *([i.name] if i.name else [])]
    return below[0] if below and below[0] in MAY_IMPORT else "jifs"


# ----------------------------------------------------------------------------------------------------- rules


def direction_of_imports(source: Source) -> Iterator[str]:
    allowed = MAY_IMPORT.get(source.part)
    if allowed is None:
        yield f"{source.part!r} is a new part of the house: give it a line in MAY_IMPORT"
        return
    for i in imports(source):
        if i.top == "jifs" and part_imported(i) not in allowed | {source.part, "errors"}:
            yield f"line {i.line}: {source.part} may not import {part_imported(i)}"


def nothing_imports_plugins(source: Source) -> Iterator[str]:
    for i in imports(source):
        if i.top in {"plugins", "jifs_plugins"}:
            yield f"line {i.line}: plug-ins come in by their entry points, never by an import of {i.module}"


def one_home_for_the_compiler(source: Source) -> Iterator[str]:
    for i in imports(source):
        if i.top in ONLY_IN and source.path != ONLY_IN[i.top]:
            yield f"line {i.line}: only {ONLY_IN[i.top]} imports {i.top}"


def heavy_packages_inside_functions(source: Source) -> Iterator[str]:
    allowed = ANYWHERE.union(*(names for place, names in AT_THE_TOP.items() if source.path.startswith(place)))
    for i in third_parties(source):
        if i.at_top and i.top not in allowed:
            yield f"line {i.line}: import {i.top} inside the function that needs it"


def third_parties_are_declared(source: Source) -> Iterator[str]:
    for i in third_parties(source):
        if DISTRIBUTION.get(i.top, i.top) not in declared_distributions():
            yield f"line {i.line}: {i.top} is not in pyproject.toml"


def plugins_use_the_front_door(source: Source) -> Iterator[str]:
    for i in imports(source):
        if i.top == "jifs":
            kernels = part_imported(i) in ("kernels", "measures")
            public = i.module == "jifs" and (i.name is None or i.name in public_names())
            if not (kernels or public):
                yield f"line {i.line}: {i.module} {i.name or ''} is not a public name of jifs, nor a kernel or measure"
        elif i.top not in sys.stdlib_module_names | PLUGINS_MAY_IMPORT:
            yield f"line {i.line}: a plug-in may not import {i.top}"


def docstrings(source: Source) -> Iterator[str]:
    if not ast.get_docstring(source.tree):
        yield "the file has no docstring"
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            overload = any("overload" in ast.unparse(d) for d in node.decorator_list)
            if not (node.name.startswith("_") or overload or ast.get_docstring(node)):
                yield f"line {node.lineno}: {node.name} has no docstring"


def opens_with_formula_and_citation(source: Source) -> Iterator[str]:
    text = ast.get_docstring(source.tree) or ""
    if source.path.endswith("__init__.py"):
        return
    if "=" not in text:
        yield "the docstring has no formula"
    if not re.search(r"\[[^\]]*\b(19|20)\d\d[^\]]*\]", text):
        yield "the docstring has no citation such as [Fleuret 2004]"


def one_sitting(source: Source) -> Iterator[str]:
    length = len(source.text.splitlines())
    if length > MOST_LINES_OF_A_FILE:
        yield f"{length} lines: give the second idea its own file"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MOST_LINES_OF_A_FUNCTION:
                yield f"line {node.lineno}: {node.name} has {length} lines"


def twin_and_test(source: Source) -> Iterator[str]:
    stem = Path(source.path).stem
    if stem == "__init__":
        return
    twin = TWIN.get(stem, f"{stem}.py")
    if stem not in NO_TWIN and not (ROOT / "tests" / "naive" / twin).exists():
        yield f"no slow twin tests/naive/{twin}"
    if not (ROOT / "tests" / "kernels" / f"test_{stem}.py").exists():
        yield f"no test tests/kernels/test_{stem}.py"


def definitions_stand_alone(source: Source) -> Iterator[str]:
    for i in imports(source):
        if i.top not in sys.stdlib_module_names | {"numpy", "naive"}:
            yield f"line {i.line}: a definition is written with NumPy alone, not with {i.top}"


Rule = Callable[[Source], Iterator[str]]
RULES: dict[Rule, tuple[str, ...]] = {
    direction_of_imports: ("jifs",),
    nothing_imports_plugins: ("jifs",),
    one_home_for_the_compiler: ("jifs", "plugins"),
    heavy_packages_inside_functions: ("jifs", "plugins"),
    third_parties_are_declared: ("jifs", "plugins"),
    plugins_use_the_front_door: ("plugins",),
    docstrings: ("jifs", "plugins"),
    opens_with_formula_and_citation: ("plugins",),
    one_sitting: ("jifs", "plugins", "tests/naive", "tests/bench"),
    twin_and_test: ("jifs/kernels",),
    definitions_stand_alone: ("tests/naive",),
}

# -------------------------------------------------------------------------------------- facts the rules need


def declared_distributions() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        *project["dependencies"],
        *(line for e in project["optional-dependencies"].values() for line in e),
    ]
    return {re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0].lower() for line in lines}


def public_names() -> set[str]:
    return set(jifs.__all__)


def files(folder: str) -> list[Source]:
    paths = sorted((ROOT / folder).rglob("*.py"))
    return [Source(p.relative_to(ROOT).as_posix(), p.read_text(encoding="utf-8")) for p in paths]


def faults(rule: Rule, source: Source) -> list[str]:
    return [f"{source.path}: {fault}" for fault in rule(source)]


# ----------------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps(rule: Rule) -> None:
    sources = [source for folder in RULES[rule] for source in files(folder)]
    assert sources, f"no files in {RULES[rule]}: has a folder moved?"
    found = [fault for source in sources for fault in faults(rule, source)]
    assert not found, "\n".join(found)


def test_the_picture_has_no_circle() -> None:
    name = {part: "+".join(sorted(pair)) for pair in TWO_SIDES for part in pair}
    graph: dict[str, set[str]] = {}
    for part, others in MAY_IMPORT.items():
        own = name.get(part, part)
        graph.setdefault(own, set()).update(name.get(other, other) for other in others)
        graph[own].discard(own)
    assert list(TopologicalSorter(graph).static_order())


def test_a_kernel_is_excused_only_while_it_has_no_twin() -> None:
    assert not [stem for stem in NO_TWIN if (ROOT / "tests" / "naive" / f"{stem}.py").exists()]
    assert not [
        stem for stem in {**TWIN, **NO_TWIN} if not (ROOT / "jifs" / "kernels" / f"{stem}.py").exists()
    ]


BREAKS: list[tuple[Rule, str, str]] = [
    (direction_of_imports, "jifs/kernels/entropy.py", "from jifs.stats.base import Stats"),
    (direction_of_imports, "jifs/kernels/entropy.py", "def f():\n    from ..search import forward"),
    (direction_of_imports, "jifs/search/forward.py", "from jifs import estimators"),
    (direction_of_imports, "jifs/stats/base.py", "import jifs"),
    (direction_of_imports, "jifs/attic.py", ""),
    (nothing_imports_plugins, "jifs/registry.py", "def f():\n    import jifs_plugins.linear"),
    (nothing_imports_plugins, "jifs/registry.py", "from plugins import linear"),
    (one_home_for_the_compiler, "jifs/kernels/entropy.py", "from numba import njit"),
    (one_home_for_the_compiler, "plugins/cmim.py", "def f():\n    import numba.typed"),
    (heavy_packages_inside_functions, "jifs/table.py", "import pandas as pd"),
    (heavy_packages_inside_functions, "jifs/selector.py", "from sklearn.base import BaseEstimator"),
    (
        heavy_packages_inside_functions,
        "jifs/table.py",
        "try:\n    import polars\nexcept ImportError:\n    pass",
    ),
    (third_parties_are_declared, "jifs/readers.py", "def f():\n    import requests"),
    (plugins_use_the_front_door, "plugins/cmim.py", "from jifs.stats.base import Stats"),
    (plugins_use_the_front_door, "plugins/cmim.py", "from jifs import no_such_public_name"),
    (plugins_use_the_front_door, "plugins/cmim.py", "import sklearn"),
    (plugins_use_the_front_door, "plugins/cmim.py", "from .linear import Linear"),
    (docstrings, "jifs/table.py", "x = 1"),
    (docstrings, "jifs/table.py", '"""Said."""\nclass Table:\n    pass'),
    (docstrings, "jifs/table.py", '"""Said."""\ndef as_table(x):\n    return x'),
    (opens_with_formula_and_citation, "plugins/mine.py", '"""Mine [Who 1999]: the best features first."""'),
    (opens_with_formula_and_citation, "plugins/mine.py", '"""Mine: J(j) = I(X_j;Y), see list[0]."""'),
    (one_sitting, "jifs/table.py", "x = 1\n" * 351),
    (one_sitting, "jifs/table.py", "class A:\n    def f(self):\n" + "        x = 1\n" * 70),
    (twin_and_test, "jifs/kernels/nobody_wrote_its_twin.py", ""),
    (definitions_stand_alone, "tests/naive/entropy.py", "from jifs.kernels import entropy"),
]


@pytest.mark.parametrize(("rule", "path", "text"), BREAKS)
def test_the_rule_can_fail(rule: Rule, path: str, text: str) -> None:
    assert faults(rule, Source(path, text))


def test_every_rule_is_shown_to_fail() -> None:
    assert {rule for rule, _, _ in BREAKS} == set(RULES)


KEEPS: list[tuple[Rule, str, str]] = [
    (direction_of_imports, "jifs/stats/base.py", "from . import counts\nfrom ..kernels import entropy"),
    (
        direction_of_imports,
        "jifs/kernels/entropy.py",
        "from jifs.errors import InputError\nfrom jifs.jit import kernel",
    ),
    (direction_of_imports, "jifs/faces.py", "if TYPE_CHECKING:\n    from jifs.stats.base import Stats"),
    (one_home_for_the_compiler, "jifs/jit.py", "import numba"),
    (heavy_packages_inside_functions, "jifs/table.py", "import numpy as np\ndef f():\n    import pandas"),
    (heavy_packages_inside_functions, "jifs/testing/worlds.py", "import hypothesis"),
    (third_parties_are_declared, "jifs/table.py", "import sklearn, json\nfrom jifs.errors import near"),
    (
        plugins_use_the_front_door,
        "plugins/cmim.py",
        "from jifs.kernels.entropy import cmi_all\nimport numpy as np",
    ),
    (docstrings, "jifs/table.py", '"""Said."""\ndef _private(x):\n    return x'),
    (opens_with_formula_and_citation, "plugins/mine.py", '"""Mine [Who & Other 1999]: J(j) = I(X_j;Y)."""'),
    (definitions_stand_alone, "tests/naive/criteria.py", "import math\nfrom naive.entropy import mi"),
]


@pytest.mark.parametrize(("rule", "path", "text"), KEEPS)
def test_the_rule_lets_good_work_pass(rule: Rule, path: str, text: str) -> None:
    assert not faults(rule, Source(path, text))


@pytest.mark.fresh
def test_import_is_light() -> None:
    program = "import sys, jifs; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(run.stdout.split())
    assert "jifs" in loaded
    assert not loaded & NOT_LOADED_BY_IMPORT
