"""Every notebook runs, its two forms hold the same code, and the README's examples run as printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "notebooks").glob("[0-9]*.py"))
SETTINGS = dict(os.environ, MPLBACKEND="Agg", PYTHONWARNINGS="error::UserWarning")


def cells_of_script(text: str) -> list[str]:
    """Code cells of a file in percent form."""
    pieces = re.split(r"^# %%(.*)$", text, flags=re.MULTILINE)
    return [body.strip() for mark, body in zip(pieces[1::2], pieces[2::2], strict=True) if not mark.strip()]


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    return [c for c in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]


def run(program: str, folder: Path) -> None:
    """In a process of its own, so that nothing a reader is told to register stays behind."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=SETTINGS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_there_are_notebooks() -> None:
    assert SOURCES
    assert {p.stem for p in SOURCES} == {p.stem for p in (ROOT / "notebooks").glob("*.ipynb")}


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_both_forms_hold_the_same_code(source: Path) -> None:
    cells = code_cells(source.with_suffix(".ipynb"))
    assert ["".join(c["source"]) for c in cells] == cells_of_script(source.read_text(encoding="utf-8")), (
        "run: make notebooks"
    )


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_it_was_run_from_top_to_bottom_without_an_error(source: Path) -> None:
    cells = code_cells(source.with_suffix(".ipynb"))
    assert [c["execution_count"] for c in cells] == list(range(1, len(cells) + 1))
    assert not [o for c in cells for o in c["outputs"] if o["output_type"] == "error"]


@pytest.mark.fresh
@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_notebook_runs(source: Path, tmp_path: Path) -> None:
    cells = cells_of_script(source.read_text(encoding="utf-8"))
    assert cells
    run("\n\n".join(cells), tmp_path)


@pytest.mark.fresh
def test_readme_examples_run(tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S
    )
    assert len(blocks) >= 4
    run("\n\n".join(blocks), tmp_path)


def test_cells_are_told_from_prose() -> None:
    script = "# ---\n# head\n# ---\n\n# %% [markdown]\n# Prose\n\n# %%\na = 1\n\n\nb = 2\n\n# %%\nc = 3\n"
    assert cells_of_script(script) == ["a = 1\n\n\nb = 2", "c = 3"]
