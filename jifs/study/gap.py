"""How far from the best possible set each method is, with proof: values found, upper bounds, and the gap between them.

    value  x'Qx of the set a method chose      bound  a number no set of k features can exceed      gap  bound/value - 1

The form Q is a criterion's (spec_cmi, unless another is named) or given. For every k the sets of SPEC, greedy JMI,
greedy, SPEC with exchanges (swap), tabu search and SDP with rounding are valued, the spectral, eq. (26), tight and
split bounds computed, and branch and bound tries to prove the optimum in what is left of the time.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from jifs import faces, jit, registry
from jifs.errors import InputError
from jifs.plan import checked_seed, checked_threads
from jifs.progress import as_progress
from jifs.relax import dual, exact, local, sdp, spectral, split
from jifs.relax.certificate import Certificate
from jifs.relax.problem import Problem, check, value
from jifs.selector import is_source, memory
from jifs.stats.base import Stats

METHODS = ("spec", "jmi", "greedy", "swap", "tabu", "sdp", "exact")
BOUNDS = ("spectral", "eq26", "split", "tight", "exact")
SDP_FEATURES = 100
"""Beyond this the published program is left out unless it is asked for: it takes minutes and its bound is weak."""


@dataclass
class Gap:
    """Records of every method and bound for every k, and the best of both."""

    n: int
    names: tuple[str, ...]
    seed: int
    seconds: float | None
    records: list[dict[str, Any]] = field(default_factory=list)
    best: dict[int, dict[str, Any]] = field(default_factory=dict)
    stopped: str = ""

    def to_frame(self) -> Any:
        """The records as a pandas table."""
        import pandas as pd

        return pd.DataFrame(self.records)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        best = {
            str(k): {**own, "certificate": own["certificate"].to_dict() if own["certificate"] else None}
            for k, own in self.best.items()
        }
        return {
            "features": self.n,
            "names": list(self.names),
            "seed": self.seed,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "records": self.records,
            "best": best,
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1)

    def table(self) -> str:
        """One line for each k: the best value, the best bound, the gap, and how far behind each method is."""
        from jifs.study.gap_report import table

        return table(self)

    def plot(self, ax: Any = None) -> Any:
        """Bounds and values against k, as shares of the best bound."""
        from jifs.study.gap_report import plot

        return plot(self, ax)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.table())}</pre>"


def gap(
    X: Any = None,
    y: Any = None,
    k: Any = 10,
    *,
    Q: Any = None,
    criterion: Any = "spec_cmi",
    info: str = "plugin",
    bins: Any = 5,
    sample_weight: Any = None,
    seconds: float | None = 20.0,
    methods: Iterable[str] | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Any = False,
) -> Gap:
    """Values, bounds and certified gaps of the global problem, for one k or a list of them.

    X, y: data, as for `jifs.select`; or Q: the symmetric matrix of the form, entries >= 0. criterion: any with a
    quadratic form. seconds: for each k, respected inside the solvers; None for no limit. methods: of spec, jmi, greedy,
    swap, tabu, sdp, exact, spectral, eq26, split, tight; None for all that are reasonable at this size. An interrupted
    run returns what it has.
    """
    seed = checked_seed(random_state)
    if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
        raise InputError(f"seconds must be a number above 0, or None, not {seconds!r}")
    with jit.threads(checked_threads(n_jobs)), as_progress(progress) as bar:
        matrix, names = _form(X, y, Q, criterion, info, bins, sample_weight)
        sizes = _sizes(k, len(matrix))
        out = Gap(len(matrix), names, seed, seconds)
        wanted = _wanted(methods, len(matrix))
        bar.start(len(sizes), "gap")
        try:
            for size in sizes:
                _Study(check(matrix, size), wanted, seed, seconds, out).run()
                bar.advance(1, f"k = {size}")
        except KeyboardInterrupt:
            out.stopped = f"interrupted at k = {size}"
    return out


# ----------------------------------------------------------------------------------------------------------- the input


def _form(
    X: Any, y: Any, Q: Any, criterion: Any, info: str, bins: Any, sample_weight: Any
) -> tuple[np.ndarray, tuple[str, ...]]:
    if (X is None) == (Q is None):
        raise InputError("give data, gap(X, y, k), or a matrix, gap(Q=Q, k=k), and not both")
    if Q is not None:
        matrix = check(Q, 0).Q
        return matrix, tuple(f"x{j}" for j in range(len(matrix)))
    source = X
    if not is_source(X, y=y, bins=bins, sample_weight=sample_weight):
        source = memory(X, y, bins=bins, sample_weight=sample_weight)
    if source.target_kind != "class":
        raise InputError("gap needs a target of classes: give y")
    rule = criterion
    if isinstance(criterion, str):
        entry = registry.find("criterion", criterion)
        rule = entry.make(**({"info": registry.info(info)} if "info" in entry.params else {}))
    if "pairs" not in faces.reachable(faces.faces_of(rule)):
        others = [c.name for c in registry.entries("criterion") if "pairs" in faces.reachable(c.faces)]
        raise InputError(
            f"criterion {criterion!r} has no quadratic form; those that have: {', '.join(others)}"
        )
    q, pairs = faces.as_face(rule, "pairs")(Stats(source))
    matrix = (pairs + pairs.T) / 2
    np.fill_diagonal(matrix, q)
    return matrix, tuple(source.name_of(j) for j in range(source.m))


def _sizes(k: Any, n: int) -> list[int]:
    many = (
        [k]
        if isinstance(k, Integral)
        else list(k)
        if isinstance(k, Iterable) and not isinstance(k, str)
        else [k]
    )
    for size in many:
        if isinstance(size, bool) or not isinstance(size, Integral) or not 1 <= int(size) <= n:
            raise InputError(f"k must be a whole number from 1 to {n}, or a list of such, not {size!r}")
    return [int(size) for size in many]


def _wanted(methods: Iterable[str] | None, n: int) -> set[str]:
    known = set(METHODS) | set(BOUNDS)
    if methods is None:
        solvers = (
            importlib.util.find_spec("cvxpy") is not None and importlib.util.find_spec("scs") is not None
        )
        return known if solvers and n <= SDP_FEATURES else known - {"sdp", "eq26"}
    wanted = {methods} if isinstance(methods, str) else set(methods)
    if wanted - known:
        raise InputError(f"methods has no {sorted(wanted - known)[0]!r}; known: {', '.join(sorted(known))}")
    return wanted


# -------------------------------------------------------------------------------------------------------- one size


@dataclass
class _Study:
    """All methods and bounds for one k."""

    problem: Problem
    wanted: set[str]
    seed: int
    seconds: float | None
    out: Gap
    value: float = -np.inf
    chosen: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    bound: float = np.inf
    certificate: Certificate | None = None
    proven: bool = False

    def run(self) -> None:
        """Values first: every bound can stop when it comes near the best of them."""
        self.start = time.perf_counter()
        self.first = len(self.out.records)
        try:
            self._values()
            self._bounds()
        finally:
            if self.chosen.size:
                self._conclude()

    def left(self, share: float = 1.0) -> float | None:
        """Seconds that may still be spent on one part."""
        if self.seconds is None:
            return None
        return max(share * (self.seconds - (time.perf_counter() - self.start)), 0.01)

    def _values(self) -> None:
        Q, k = self.problem.Q, self.problem.k
        spec = self._value("spec", lambda: _top(spectral.weights(Q, seed=self.seed).weights, k))
        self._value("jmi", lambda: jmi_order(Q)[:k])
        self._value("greedy", lambda: local.greedy(Q, k))
        start = spec if spec is not None else local.greedy(Q, k)
        self._value("swap", lambda: local.swap(Q, start))
        self._value("tabu", lambda: local.tabu(Q, k, seed=self.seed, seconds=self.left(0.2)))
        if self.wanted & {"sdp", "eq26"} and 1 < k < self.problem.n:
            self._published()

    def _published(self) -> None:
        """Eq. (26) with SCS, its bound, and the best of 100 roundings."""
        start = time.perf_counter()
        found = sdp.solve(self.problem.Q, self.problem.k, seconds=self.left(0.4), limit=10**6)
        spent = time.perf_counter() - start
        if "eq26" in self.wanted:
            self._note_bound("eq26", found.upper, spent, None)
        if "sdp" in self.wanted:
            chosen = sdp.round_off(self.problem.Q, self.problem.k, found.Y, seed=self.seed)
            self._note_value("sdp", chosen, time.perf_counter() - start)

    def _bounds(self) -> None:
        Q, k = self.problem.Q, self.problem.k
        self._bound("spectral", lambda: dual.spectral_bound(Q, k))
        self._bound("split", lambda: split.split_bound(Q, k, self.value, seconds=self.left(0.2)))
        self._bound(
            "tight", lambda: dual.tight_bound(Q, k, self.value, tolerance=1e-6, seconds=self.left(0.4))
        )
        if "exact" in self.wanted:
            start = time.perf_counter()
            found = exact.solve(Q, k, seconds=self.left(), seed=self.seed)
            spent = time.perf_counter() - start
            self._note_value("exact", found.S, spent, proven=found.proven)
            self._note_bound("exact", found.bound, spent, None, proven=found.proven)
            self.proven = self.proven or found.proven

    def _value(self, name: str, find: Callable[[], np.ndarray]) -> np.ndarray | None:
        if name not in self.wanted:
            return None
        start = time.perf_counter()
        chosen = find()
        self._note_value(name, chosen, time.perf_counter() - start)
        return chosen

    def _note_value(self, name: str, chosen: np.ndarray, seconds: float, proven: bool = False) -> None:
        chosen = np.sort(np.asarray(chosen, np.int64))
        reached = value(self.problem.Q, chosen)
        if reached > self.value:
            self.value, self.chosen = reached, chosen
        self._note(name, "value", reached, seconds, chosen.tolist(), proven)

    def _bound(self, name: str, find: Callable[[], Certificate]) -> None:
        if name in self.wanted:
            start = time.perf_counter()
            found = find()
            self._note_bound(name, found.bound, time.perf_counter() - start, found)

    def _note_bound(
        self, name: str, bound: float, seconds: float, certificate: Certificate | None, proven: bool = False
    ) -> None:
        if bound < self.bound:
            self.bound = bound
        if certificate is not None and (self.certificate is None or bound < self.certificate.bound):
            self.certificate = certificate
        self._note(name, "bound", bound, seconds, None, proven)

    def _note(
        self, name: str, kind: str, number: float, seconds: float, features: list[int] | None, proven: bool
    ) -> None:
        self.out.records.append(
            {"k": self.problem.k, "method": name, "kind": kind, "value": float(number), "gap": None,
             "seconds": seconds, "features": features, "proven": bool(proven)}
        )  # fmt: skip

    def _conclude(self) -> None:
        """Gaps of all, against the best bound for values and the best value for bounds."""
        self.bound = max(self.bound, self.value) if self.proven else self.bound
        for record in self.out.records[self.first :]:
            low, high = (
                (record["value"], self.bound) if record["kind"] == "value" else (self.value, record["value"])
            )
            record["gap"] = _share(low, high)
            if record["kind"] == "value":
                record["best"] = record["features"] == self.chosen.tolist() or record["value"] >= self.value
        share = _share(self.value, self.bound)
        self.out.best[self.problem.k] = {
            "value": self.value,
            "bound": self.bound,
            "gap": share,
            "proven": self.proven or (share is not None and share <= 1e-9),
            "features": self.chosen.tolist(),
            "certificate": self.certificate,
        }


def _share(low: float, high: float) -> float | None:
    """high / low - 1; 0 when both are 0, None when there is no bound."""
    if not np.isfinite(high):
        return None
    return 0.0 if high <= low else float("inf") if low <= 0 else float(high / low - 1)


def _top(weights: np.ndarray, k: int) -> np.ndarray:
    order: np.ndarray = np.argsort(-weights, kind="stable")[:k]
    return order


def jmi_order(Q: np.ndarray) -> np.ndarray:
    """Greedy JMI from the form: I(X_i X_j;Y) = Q_ij + (Q_ii + Q_jj)/2, and i scores sum_j Q_ij + |S| Q_ii/2."""
    n, relevance = len(Q), Q.diagonal()
    order, company, free = [int(relevance.argmax())], np.zeros(n), np.ones(n, np.bool_)
    free[order[0]] = False
    while len(order) < n:
        company += Q[order[-1]]
        scores = np.where(free, company + len(order) * relevance / 2, -np.inf)
        order.append(int(scores.argmax()))
        free[order[-1]] = False
    return np.array(order)
