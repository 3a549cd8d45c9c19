"""The kernel tests once more, in the two modes this machine would not choose: plain Python, and no wide vectors.

Each mode is a setting of the compiler that must be known before it is imported, so each is a process of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLAIN, NARROW = {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}

pytestmark = pytest.mark.fresh


def in_mode(mode: dict[str, str], *arguments: str) -> str:
    """What Python prints in this mode; it must end well."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=usual | mode, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


# only tests/kernels runs inside, so the modes are not entered again from there
@pytest.mark.slow
@pytest.mark.parametrize("mode", [PLAIN, NARROW], ids=["plain Python", "no wide vectors"])
def test_kernels_in_another_mode(mode: dict[str, str]) -> None:
    said = in_mode(mode, "-m", "pytest", "tests/kernels", "-q", "-x", "-p", "no:cacheprovider")
    passed = re.search(r"(\d+) passed", said)
    files = list((ROOT / "tests" / "kernels").glob("test_*.py"))
    assert passed is not None
    assert int(passed[1]) > 10 * len(files) > 0
    assert "skipped" not in said


# a kernel that is in no file is compiled here and now, so its machine code can be read
INSPECT = """
from jifs.jit import COMPILED, kernel
from jifs.kernels.popcount import count_tile4
import numpy as np

@kernel
def tile(planes, chosen, out):
    count_tile4(planes, 0, chosen, 0, 1, 1, 1, out, 0)

out = np.zeros(32, np.int64)
tile(np.full(8, 7, np.uint64), np.full(4, 6, np.uint64), out)
code = " ".join(tile.inspect_asm().values()) if COMPILED else ""
print(COMPILED, (out == 2).all(), *(name for name in ("xmm", "ymm", "zmm") if name in code))
"""


def test_plain_python_is_heard() -> None:
    assert in_mode(PLAIN, "-c", INSPECT).split() == ["False", "True"]


def test_no_wide_vectors_is_heard() -> None:
    compiled, right, *registers = in_mode(NARROW, "-c", INSPECT).split()
    assert (compiled, right) == ("True", "True")
    assert not {"ymm", "zmm"} & set(registers)
