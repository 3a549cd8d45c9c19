"""Libraries that pip installs, run here beside ours on the same data.

A peer that would need more than the budget gets fewer features, and so do we: the table names the size. What it
costs is foretold from a small run and the way its work grows with the number of features.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import ours
from .timing import short, show, timed, times
from .worlds import SELECTIONS, World, make

Call = Callable[[], Iterable[int]]
Prepare = Callable[[NDArray[Any], NDArray[Any], int], Call]


@dataclass(frozen=True)
class Peer:
    """A library's selector, ours that answers the same question, and the power of m that its work grows with."""

    name: str
    criterion: str
    power: int
    load: Callable[[int], Prepare]
    note: str = ""


def _mrmr_selection(jobs: int) -> Prepare:
    import pandas as pd
    from mrmr import mrmr_classif

    def prepare(X: NDArray[Any], y: NDArray[Any], k: int) -> Call:
        frame, target = pd.DataFrame(X).astype(float), pd.Series(y)
        return lambda: mrmr_classif(frame, target, K=k, show_progress=False, n_jobs=jobs)

    return prepare


def _fast_select(jobs: int) -> Prepare:
    import numba
    from fast_select import mRMR

    numba.set_num_threads(min(jobs, os.cpu_count() or 1))

    def prepare(X: NDArray[Any], y: NDArray[Any], k: int) -> Call:
        return lambda: mRMR(n_features_to_select=k, method="MID", backend="cpu").fit(X, y).top_features_

    return prepare


def _scikit_learn(jobs: int) -> Prepare:
    from sklearn.feature_selection import mutual_info_classif

    def prepare(X: NDArray[Any], y: NDArray[Any], k: int) -> Call:
        return lambda: np.argsort(-mutual_info_classif(X, y, discrete_features=True, n_jobs=jobs))[:k]

    return prepare


PEERS = (
    Peer(
        "mrmr-selection mrmr_classif",
        "mrmr",
        1,
        _mrmr_selection,
        "mrmr-selection scores by F-statistic and correlation, not by mutual information: another question.",
    ),
    Peer(
        "fast-select mRMR",
        "mrmr",
        2,
        _fast_select,
        "fast-select fills the whole matrix of pairwise information first; it has mRMR (MID, MIQ) and no JMI, CMIM"
        " or DISR.",
    ),
    Peer("scikit-learn mutual_info_classif", "mim", 1, _scikit_learn),
)


def run(quick: bool) -> None:
    """Each peer on each data set, as far as the budget allows."""
    small = [world.with_(n=world.n // 10, m=world.m // 10, k=10) for world in SELECTIONS[:2]]
    worlds = small if quick else list(SELECTIONS[:4])
    rows: list[list[object]] = []
    notes: list[str] = []
    for peer in PEERS:
        try:
            peer.load(2)
        except ImportError as problem:
            notes.append(f"{peer.name} is left out: {problem}.")
            continue
        rows += [_beside(peer, world, 0.1 if quick else 20.0) for world in worlds]
        notes += [peer.note] if peer.note else []
    header = [
        "peer",
        "data set",
        "features used",
        "jobs",
        "seconds",
        "jifs",
        "seconds (best / median)",
        "gain",
    ]
    notes.append("A peer runs with the number of jobs, 1 or 2, that is faster; jifs with 2 threads.")
    show("Peers in this run, their data prepared beforehand", [*header, "in common"], rows, notes)


def _beside(peer: Peer, world: World, budget: float) -> list[object]:
    X, y = make(world)
    m = _affordable(peer, X, y, world, budget)
    k = min(world.k, m)
    chosen: set[int] = set()
    seconds = {}
    for jobs in (1, 2):
        call = _on(peer, jobs, X, y, m, k)
        seconds[jobs] = timed(lambda: chosen.update(int(j) for j in call()), 1, warm_up=False).best  # noqa: B023
    jobs = min(seconds, key=seconds.__getitem__)
    part = np.ascontiguousarray(X[:, :m])
    mine = timed(partial(ours.select, part, y, k, peer.criterion, 2), repeats=3)
    common = chosen & set(ours.select(part, y, k, peer.criterion, 2).indices.tolist())
    used = f"{m:,}" + ("" if m == world.m else f" of {world.m:,}")
    theirs, gain = short(seconds[jobs]), times(seconds[jobs], mine.best)
    return [peer.name, world, used, jobs, theirs, peer.criterion, mine, gain, f"{len(common)} of {k}"]


def _affordable(peer: Peer, X: NDArray[Any], y: NDArray[Any], world: World, budget: float) -> int:
    """The most features, by halving, whose foretold cost is within the budget. The trials also warm up."""
    small = min(world.m, max(world.k, 64))
    trial = min(timed(_on(peer, jobs, X, y, small, world.k), repeats=1).best for jobs in (1, 2))
    m = world.m
    while m > small and trial * (m / small) ** peer.power > budget:
        m //= 2
    return max(m, small)


def _on(peer: Peer, jobs: int, X: NDArray[Any], y: NDArray[Any], m: int, k: int) -> Call:
    """The peer's call on the first m features, its data prepared."""
    return peer.load(jobs)(np.ascontiguousarray(X[:, :m]), y, min(k, m))
