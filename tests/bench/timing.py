"""Timing a call, describing the machine, and printing a table."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Timing:
    """Seconds of several calls of the same thing. The best is what the code can do, the median what one meets."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        return f"{short(self.best)} / {short(self.median)}"


def timed(call: Callable[[], object], repeats: int = 3, warm_up: bool = True) -> Timing:
    """Call once unmeasured (compilation, caches, first touch of memory), then `repeats` times with the clock."""
    if warm_up:
        call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return Timing(tuple(seconds))


def short(number: float) -> str:
    """Three significant figures, without an exponent for the numbers one meets."""
    if 1 <= abs(number) < 1e9:
        return f"{number:,.{max(0, 3 - len(str(int(abs(number)))))}f}"
    return f"{number:.3g}"


def times(slow: float | None, fast: float) -> str:
    """How many times faster, or a dash when there is nothing to compare with."""
    return "-" if slow is None or not fast else f"{slow / fast:.1f}x"


def show(
    title: str, header: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str] = ()
) -> None:
    """Print a table in the form that Markdown reads, first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(header), *cells]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        padded = [
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    print(f"\n### {title}\n")
    print(line(header))
    print(
        "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    )
    for row in cells:
        print(line(row))
    for note in notes:
        print(f"\n{note}")
    sys.stdout.flush()


def machine() -> str:
    """Processor, cores granted and versions, in one line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ["jifs", "numpy", "numba", "scikit-learn", "mrmr-selection", "fast-select"]
    found = [f"{name} {_version(name)}" for name in packages if _version(name)]
    return f"{_processor()}, {cores} cores; Python {platform.python_version()}, {', '.join(found)}"


def cores_to_be_had(wanted: int = 2, seconds: float = 0.5) -> float:
    """How many cores that many busy processes really get now; a machine with other work gives fewer than it has."""
    spin = (
        "import time; start = time.perf_counter()\n"
        f"while time.perf_counter() - start < {seconds}: pass\n"
        "print(time.process_time() / (time.perf_counter() - start))"
    )
    command = [sys.executable, "-S", "-c", spin]
    busy = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(wanted)]
    return sum(min(1.0, float(process.communicate()[0])) for process in busy)


def quiet_or_not() -> str:
    """A line on whether times, above all those with two threads, can be trusted."""
    cores = cores_to_be_had()
    if cores > 1.8:
        return f"The machine is quiet: two busy processes get {cores:.1f} cores."
    return (
        f"NOT A QUIET MACHINE: two busy processes get {cores:.1f} cores between them. Times with 2 threads then say"
        " nothing about 2 threads, and all times are too long."
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
