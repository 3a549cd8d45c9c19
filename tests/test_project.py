"""The project around the code: what is installed, declared and promised agrees."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
DECLARED: dict[str, str] = PROJECT["entry-points"]["jifs.plugins"]
CRITERIA = sorted(name for name in DECLARED if "." not in name)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def installed(group: str) -> dict[str, str]:
    return {e.name: e.value for e in metadata.distribution("jifs").entry_points if e.group == group}


def source_of(module: str) -> Path:
    """File of a module of ours: jifs_plugins lives in plugins/."""
    first, *rest = module.split(".")
    path = ROOT.joinpath({"jifs_plugins": "plugins"}.get(first, first), *rest)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", text("Makefile"), flags=re.MULTILINE))


# ---------------------------------------------------------------------------------------------------- installed


def test_entry_points_are_those_declared() -> None:
    assert installed("jifs.plugins") == DECLARED, "run: pip install -e '.[test]'"


@pytest.mark.parametrize("name", DECLARED)
def test_entry_point_leads_to_a_file_that_names_it(name: str) -> None:
    path = source_of(DECLARED[name])
    assert path.exists(), f"{name} = {DECLARED[name]}: no {path.relative_to(ROOT)}"
    assert re.search(rf"""["']{name.split(".")[-1]}["']""", path.read_text(encoding="utf-8"))


def test_every_plugin_file_has_an_entry_point() -> None:
    written = {p.stem for p in (ROOT / "plugins").glob("*.py")} - {"__init__"}
    assert written == {
        value.split(".")[-1] for value in DECLARED.values() if value.startswith("jifs_plugins.")
    }


@pytest.mark.fresh
def test_console_script_runs() -> None:
    assert installed("console_scripts") == PROJECT["scripts"] == {"jifs": "jifs.cli:main"}
    script = Path(sys.executable).with_name("jifs")
    run = subprocess.run([script, "--help"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for command in ("demo", "list", "show", "select"):
        assert command in run.stdout


def test_installed_version_is_the_declared_one() -> None:
    assert metadata.version("jifs") == PROJECT["version"], "run: pip install -e '.[test]'"


# ----------------------------------------------------------------------------------------------------- packaged


def test_packages_are_the_folders() -> None:
    folders = [p.parent for p in (ROOT / "jifs").rglob("__init__.py")]
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    setup = PYPROJECT["tool"]["setuptools"]
    assert set(setup["packages"]) == names | {"jifs_plugins"}
    assert setup["package-dir"]["jifs_plugins"] == "plugins"


def test_no_folder_of_code_is_left_out_for_want_of_an_init() -> None:
    bare = {p.parent for p in (ROOT / "jifs").rglob("*.py") if not (p.parent / "__init__.py").exists()}
    assert not bare


def test_type_information_is_shipped() -> None:
    assert (ROOT / "jifs" / "py.typed").exists()
    assert "py.typed" in PYPROJECT["tool"]["setuptools"]["package-data"]["jifs"]
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_data_files_are_shipped() -> None:
    """Whatever is not Python inside a package matches one of its package-data patterns."""
    patterns: dict[str, list[str]] = PYPROJECT["tool"]["setuptools"]["package-data"]
    folders = {"jifs": ROOT / "jifs", "jifs_plugins": ROOT / "plugins"}
    shipped = {p for package, globs in patterns.items() for g in globs for p in folders[package].glob(g)}
    others = {p for folder in folders.values() for p in folder.rglob("*") if p.is_file()}
    left_out = {p for p in others - shipped if p.suffix not in {".py", ".pyc", ".nbi", ".nbc"}}
    assert not left_out


def test_licence() -> None:
    assert PROJECT["license"] == "BSD-3-Clause"
    assert text("LICENSE").startswith("BSD 3-Clause License")


def test_extras() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras) == {"sdp", "dask", "plot", "data", "notebooks", "bench", "test", "all"}


# ----------------------------------------------------------------------------------------------------- promised


def test_changelog_opens_with_this_version() -> None:
    versions = re.findall(r"^## ([\d.]+)", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert versions[0] == PROJECT["version"]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", ".ci/run"])
def test_make_targets_that_are_named_exist(page: str) -> None:
    named = set(re.findall(r"(?:^|`|=\w+ )make ([a-z][a-z-]*)", text(page), flags=re.MULTILINE))
    assert named
    assert named <= make_targets()


def test_readme_lists_the_criteria_that_are_registered() -> None:
    listed = re.findall(r"^\| `([a-z_0-9]+)`", text("README.md"), flags=re.MULTILINE)
    assert sorted(listed) == CRITERIA


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_between_files_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text(page))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def test_ci_runs_lint_and_test() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert re.findall(r"^make (\w+)$", text(".ci/run"), flags=re.MULTILINE) == ["lint", "test"]
