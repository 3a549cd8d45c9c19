"""The Gaussian criteria: beside bare passes over the data, as |S| grows, beside a quadratic version, and wide data."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import jifs
from jifs import kernel, registry

from .timing import Timing, short, show, timed, times

CRITERIA = ("gc_mi", "gc_e", "gkl_mi", "gkl_e")
PUBLISHED = {"gc_mi": 20, "gc_e": 79, "gkl_mi": 483, "gkl_e": 486}
"""Seconds of the authors' C++ of 2014 for this shape (Table 2, CIFAR)."""


def correlated(n: int, m: int, classes: int, kind: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Features that share 64 factors, with noise of their own and means that differ a little from class to class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    shift = (0.4 * rng.normal(size=(classes, m))).astype(np.float32)
    mix = rng.normal(size=(64, m)).astype(np.float32)
    X = np.empty((n, m), kind)
    for lo in range(0, n, 4096):
        some = slice(lo, min(lo + 4096, n))
        size = some.stop - lo
        own = rng.standard_normal((size, 64), dtype=np.float32) @ mix
        X[some] = own + 3 * rng.standard_normal((size, m), dtype=np.float32) + shift[y[some]]
    return X, y


def passes(X: np.ndarray, count: int) -> None:
    """Bare products X'x, as many as there are features to take."""
    for j in range(count):
        _ = X.T @ np.ascontiguousarray(X[:, j])


def beside_passes(quick: bool) -> None:
    """The shape of the paper's CIFAR: selections beside as many bare passes over the same array."""
    n, m, k = (2_000, 200, 20) if quick else (50_000, 2_048, 100)
    rows = []
    for kind in (np.float64, np.float32):
        X, y = correlated(n, m, 10, kind)
        bare = timed(partial(passes, X, k), repeats=2)
        for criterion in CRITERIA:
            own = timed(partial(jifs.select, X, y, k, criterion), repeats=2)
            ratio, published = f"{own.best / bare.best:.2f}", "-" if quick else PUBLISHED[criterion]
            rows.append((criterion, np.dtype(kind).name, own, short(bare.best), ratio, published))
        del X
    note = (
        "* the authors' C++ of 2014 on their machine and their data of this shape (Table 2), NOT in this run."
    )
    header = ("criterion", "numbers", "seconds, best / median", f"{k} passes X'x", "ratio", "published*")
    show(f"{n:,} x {m:,}, 10 classes, k = {k}", header, rows, [note])
    memory(n, m, k)


def memory(n: int, m: int, k: int) -> None:
    """Most memory a process needs for a selection, beside the data it was given; where the system tells."""
    if not Path("/proc/self/status").exists():
        return
    rows = []
    for criterion in ("gc_mi", "gkl_mi"):
        for kind in ("float64", "float32"):
            command = [sys.executable, "-m", "tests.bench.gaussian", str(n), str(m), str(k), criterion, kind]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            data, most = int(said[0]), int(said[1])
            rows.append((criterion, kind, short(data / 1e6), short(most / 1e6), f"{most / data:.2f}"))
    header = ("criterion", "numbers", "data, MB", "peak with data, MB", "ratio")
    show(f"memory of a selection: {n:,} x {m:,}, k = {k}", header, rows)


def growth(quick: bool) -> None:
    """Time of a step as |S| grows, without the pass over the data."""
    n, m, ks = (1_000, 100, (10, 20, 40)) if quick else (5_000, 1_000, (50, 100, 200))
    X, y = correlated(n, m, 5)
    rows = []
    for criterion in CRITERIA:
        last = [run_of(X, y, criterion, k)[1] for k in ks]
        ratios = [f"{after / before:.1f}x" for before, after in pairwise(last)]
        rows.append((criterion, *(f"{1e6 * t:.0f}" for t in last), *ratios))
    header = ("criterion", *(f"{k} taken" for k in ks), *("doubled" for _ in ks[1:]))
    show(f"microseconds of a step at |S|, {m:,} candidates, covariances at hand", header, rows)


def run_of(X: np.ndarray, y: np.ndarray, criterion: str, k: int) -> tuple[float, float]:
    """Seconds of all k steps with the covariances at hand, and of one of the last ten."""
    stats = jifs.Stats(jifs.memory(X, y, bins=2))
    rule = registry.find("criterion", criterion).make()
    model = rule.model(stats)
    model._make_whole()
    run = rule.open(stats)
    free = np.ones(stats.m, np.bool_)
    spent = []
    for _ in range(k):
        start = time.perf_counter()
        j = int(np.where(free, run.gains(), -np.inf).argmax())
        run.take(j)
        free[j] = False
        spent.append(time.perf_counter() - start)
    return sum(spent), statistics.median(spent[-10:])


@kernel
def quadratic_form(a: Any, c: Any) -> float:
    """c' a c, as the published form has it for each candidate and each covariance."""
    total = 0.0
    for i in range(c.size):
        inner = 0.0
        for j in range(c.size):
            inner += a[i, j] * c[j]
        total += c[i] * inner
    return total


@kernel
def quadratic_steps(sigma: Any, priors: Any, k: int, taken: Any) -> None:
    """gc_mi without clipping, O(|S|^2) for each candidate: v_j = s_jj - c' Sigma_S^-1 c, with the inverse kept."""
    count, m = sigma.shape[0], sigma.shape[1]
    free = np.ones(m, np.bool_)
    for size in range(k):
        chosen = taken[:size]
        inverses = np.zeros((count, size, size))
        for p in range(count):
            if size:
                block = np.empty((size, size))
                for i in range(size):
                    for j in range(size):
                        block[i, j] = sigma[p, chosen[i], chosen[j]]
                inverses[p] = np.linalg.inv(block)
        best, winner = -np.inf, -1
        for j in range(m):
            if not free[j]:
                continue
            score = 0.0
            for p in range(count):
                c = sigma[p, j][chosen]
                left = sigma[p, j, j] - quadratic_form(inverses[p], c)
                score += np.log(left) * (1.0 if p == 0 else -priors[p - 1])
            if score > best:
                best, winner = score, j
        taken[size] = winner
        free[winner] = False


def beside_quadratic(quick: bool) -> None:
    """Ours and the published cost, both compiled, both with the covariances at hand."""
    n, m, k = (500, 60, 10) if quick else (5_000, 1_000, 100)
    X, y = correlated(n, m, 5)
    stats = jifs.Stats(jifs.memory(X, y, bins=2))
    model = stats.normals()
    sigma = np.stack([model.column(j) for j in range(m)], axis=2)
    taken = np.zeros(k, np.int64)
    quadratic_steps(sigma[:, :20, :20].copy(), model.priors, 3, taken[:3])
    slow = timed(partial(quadratic_steps, sigma, model.priors, k, taken), repeats=1, warm_up=False)
    run_of(X, y, "gc_mi", 3)
    fast = Timing((run_of(X, y, "gc_mi", k)[0],))
    same = jifs.select(X, y, k, "gc_mi", params={"clip": None}).indices.tolist() == taken.tolist()
    row = ("gc_mi", short(fast.best), short(slow.best), times(slow.best, fast.best), "yes" if same else "NO")
    show(f"beside O(|S|^2): {m:,} candidates, 5 classes, k = {k}, covariances at hand", (
        "criterion", "linear, s", "quadratic, s", "gain", "same features"), [row])  # fmt: skip


def pruning(quick: bool) -> None:
    """What the O(1) bound saves, in evaluations and in time."""
    n, m, k = (1_000, 100, 10) if quick else (20_000, 1_000, 50)
    X, y = correlated(n, m, 5)
    rows = []
    for criterion in ("gc_mi", "gc_e"):
        plain, pruned = (
            timed(partial(jifs.select, X, y, k, criterion, params={"prune": on}), repeats=2)
            for on in (False, True)
        )
        facts = jifs.select(X, y, k, criterion, params={"prune": True}).facts
        saved = facts["evaluations_saved"] / facts["evaluations_asked"]
        rows.append((criterion, plain, pruned, f"{saved:.0%}"))
    show(
        f"pruning: {n:,} x {m:,}, k = {k}", ("criterion", "without, s", "with, s", "evaluations saved"), rows
    )


def wide(quick: bool) -> None:
    """More features than a full covariance allows."""
    n, m, k = (200, 500, 10) if quick else (2_000, 20_000, 100)
    X, y = correlated(n, m, 4)
    rows = [(c, timed(partial(jifs.select, X, y, k, c), repeats=1)) for c in CRITERIA]
    show(f"{n:,} x {m:,}, 4 classes, k = {k}", ("criterion", "seconds, best / median"), rows)
    memory(n, m, k)


def run(quick: bool) -> None:
    """All of it."""
    for part in (beside_passes, growth, beside_quadratic, pruning, wide):
        part(quick)


def main(arguments: list[str]) -> None:
    """One selection in a process of its own: bytes of the data, and the most the process held."""
    n, m, k = map(int, arguments[:3])
    small = correlated(200, 20, 4)
    jifs.select(*small, 3, arguments[3])
    X, y = correlated(n, m, 10, np.dtype(arguments[4]))
    jifs.select(X, y, k, arguments[3])
    # not getrusage: there a child begins with what its parent held
    lines = Path("/proc/self/status").read_text().splitlines()
    most = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    print(X.nbytes, most * 1024)


if __name__ == "__main__":
    main(sys.argv[1:])
