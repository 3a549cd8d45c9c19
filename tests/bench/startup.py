"""Start-up: importing, asking for help, the very first call after installation, and the calls of later processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from .timing import show, timed

CALL = (
    "import numpy as np, jifs; r = np.random.default_rng(0);"
    "jifs.select(r.integers(3, size=(200, 20)), r.integers(2, size=200), k=5, criterion='jmi', bins='none')"
)


def _process(arguments: list[str], cache: str | None = None) -> None:
    env = dict(os.environ, **({"JIFS_CACHE_DIR": cache} if cache else {}))
    subprocess.run(arguments, env=env, check=True, stdout=subprocess.DEVNULL)


def run(quick: bool) -> None:
    """Seconds of whole processes."""
    repeats = 1 if quick else 5
    python = sys.executable
    command = str(Path(python).with_name("jifs"))
    rows: list[list[object]] = [
        [what, timed(partial(_process, arguments), repeats)]
        for what, arguments in (
            ("python -c pass, for comparison", [python, "-c", "pass"]),
            ("python -c 'import numpy', for comparison", [python, "-c", "import numpy"]),
            ("python -c 'import jifs'", [python, "-c", "import jifs"]),
            ("jifs --help", [command, "--help"]),
        )
    ]
    with tempfile.TemporaryDirectory() as cache:
        first = timed(partial(_process, [python, "-c", CALL], cache), repeats=1, warm_up=False)
        later = timed(partial(_process, [python, "-c", CALL], cache), repeats, warm_up=False)
    rows += [["first selection, nothing compiled yet", first], ["the same in a later process", later]]
    show("Start-up: seconds of a whole process (best / median)", ["what", "seconds"], rows)
