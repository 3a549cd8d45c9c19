"""`select`: from data to a Result. It reads the door's names, encodes, runs the strategy and reports; it solves nothing.

`memory` encodes a table once, for several selections on the same data.
"""

from __future__ import annotations

import inspect
import os
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from jifs import faces, jit, registry
from jifs.encode import encode
from jifs.errors import InputError, JifsWarning, MismatchError, near
from jifs.progress import as_progress
from jifs.result import Result, Step
from jifs.search.base import Below, Exhausted, Outcome, Stop, Task
from jifs.sources.memory import MemorySource
from jifs.stats.base import Stats
from jifs.table import Table, as_table


@dataclass
class Plan:
    """The choices of one selection, resolved: who scores, who searches, and what the user should be told."""

    criterion: str
    entry: registry.Entry | None
    maker: Any
    strategy: registry.Entry
    info: str | None
    params: dict[str, Any]
    warnings: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        """Tell the user, now and in the result."""
        self.warnings.append(text)
        warnings.warn(text, JifsWarning, stacklevel=4)


def criteria() -> list[registry.Entry]:
    """What criteria are registered."""
    return registry.entries("criterion")


def strategies() -> list[registry.Entry]:
    """What strategies are registered."""
    return registry.entries("strategy")


def infos() -> list[registry.Entry]:
    """What information estimators are registered."""
    return registry.entries("info")


def memory(
    X: Any,
    y: Any = None,
    *,
    bins: Any = 5,
    task: str | None = None,
    discrete: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> MemorySource:
    """Encode a table once; give the source to any number of selections: `select(source, k=10, criterion=...)`."""
    with jit.threads(_threads(n_jobs)):
        start = time.perf_counter()
        table = _table(X, y, task, discrete, sample_weight)
        batch, encoding = encode(table, bins)
        return MemorySource(table, batch, encoding, time.perf_counter() - start)


def select(
    X: Any,
    y: Any = None,
    k: int = 10,
    criterion: Any = "jmi",
    *,
    strategy: str | None = None,
    info: str = "plugin",
    bins: Any = 5,
    task: str | None = None,
    discrete: Any = None,
    sample_weight: Any = None,
    include: Iterable[Any] = (),
    exclude: Iterable[Any] = (),
    stop: Any = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Any = False,
    drop_constant: bool = False,
    params: dict[str, Any] | None = None,
) -> Result:
    """Select k features of X for the target y, and say why.

    X is an array, a data frame, a file, or a source made by `jifs.memory`; `criterion`, `strategy` and `info` are names
    from `jifs.criteria()`, `jifs.strategies()` and `jifs.infos()`. `stop` ends the search before k: a number (best score
    below it), "permutation", "exhausted", or a dict such as {"rule": "permutation", "level": 0.01}.
    """
    start = time.perf_counter()
    k = _count(k)
    plan = _plan(criterion, strategy, info, params)
    with jit.threads(_threads(n_jobs)) as team, as_progress(progress) as bar:
        source = _source(X, y, plan, bins, task, discrete, sample_weight)
        _check_target(source, plan)
        stats = Stats(source)
        job = _task(source, stats, plan, k, include, exclude, stop, random_state, drop_constant)
        bar.start(job.k, plan.criterion)
        object.__setattr__(job, "advance", lambda j: bar.advance(1, source.name_of(j)))
        method = faces.as_face(plan.maker, plan.strategy.faces[0])
        outcome = plan.strategy.make().run(method, stats, job)
    facts = _facts(stats, plan, job, outcome, team, time.perf_counter() - start)
    return _report(source, plan, outcome, facts, random_state, time.perf_counter() - start)


# --------------------------------------------------------------------------------------------------- what was asked


def _count(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 0:
        raise InputError(f"k must be a positive whole number, not {k!r}")
    return int(k)


def _threads(n_jobs: Any) -> int | None:
    if n_jobs is None or n_jobs == -1:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
        raise InputError(f"n_jobs must be a number of threads, or -1 or None for all, not {n_jobs!r}")
    return int(n_jobs)


def _plan(criterion: Any, strategy: str | None, info: str, params: dict[str, Any] | None) -> Plan:
    params = dict(params or {})
    if isinstance(criterion, str):
        entry = registry.find("criterion", criterion)
        name, own = criterion, _instance(entry, info, params)
    else:
        if inspect.isclass(criterion) or not faces.faces_of(criterion):
            raise InputError(f"criterion must be a name or an object with a face of a criterion, not {criterion!r}")
        entry, name, own = None, type(criterion).__name__.lower(), criterion
    chosen = registry.find("strategy", strategy or (entry.default if entry else "forward"))
    need = chosen.faces[0]
    if need not in faces.reachable(faces.faces_of(own)):
        raise _mismatch(name, own, chosen, need)
    uses_info = isinstance(getattr(own, "info", None), object) and hasattr(own, "info")
    if not uses_info and info != "plugin":
        raise InputError(f"criterion '{name}' does not use an information estimator, so info={info!r} means nothing to it")
    return Plan(name, entry, own, chosen, getattr(own.info, "name", None) if uses_info else None, params)


def _instance(entry: registry.Entry, info: str, params: dict[str, Any]) -> Any:
    known = [name for name in entry.params if name != "info"]
    for name in params:
        if name not in known:
            listed = f"It has: {', '.join(known)}" if known else "It has none"
            raise InputError(f"criterion '{entry.name}' has no parameter {name!r}.{near(name, known)} {listed}")
    more = {"info": registry.info(info)} if "info" in entry.params else {}
    if not more:
        registry.find("info", info)
    return entry.make(**params, **more)


def _mismatch(name: str, own: Any, strategy: registry.Entry, need: str) -> MismatchError:
    mine = faces.reachable(faces.faces_of(own))
    works = [s.name for s in strategies() if s.faces[0] in mine]
    others = [c.name for c in criteria() if need in faces.reachable(c.faces)]
    return faces.mismatch(name, strategy.name, need, works, others)


# ------------------------------------------------------------------------------------------------------- the data


def _table(X: Any, y: Any, task: str | None, discrete: Any, sample_weight: Any) -> Table:
    if isinstance(X, str | os.PathLike):
        from jifs.readers import read_table

        if y is not None and not isinstance(y, str):
            raise InputError("with a file, y is the name of its target column")
        table = read_table(os.fspath(X), y, task=task, discrete=discrete)
        return table if sample_weight is None else as_table(table, sample_weight=sample_weight)
    return as_table(X, y, task=task, discrete=discrete, sample_weight=sample_weight)


def _source(X: Any, y: Any, plan: Plan, bins: Any, task: str | None, discrete: Any, sample_weight: Any) -> Any:
    if callable(getattr(X, "reduce", None)) and hasattr(X, "layout"):
        if y is not None or sample_weight is not None or task is not None or discrete is not None:
            raise InputError("a source is already encoded: y, task, discrete and sample_weight belong to jifs.memory(...)")
        return X
    start = time.perf_counter()
    table = _table(X, y, task, discrete, sample_weight)
    if table.target is None:
        raise InputError("y is missing: give the target as an array, or the name of a column of X")
    _check_target_kind(table.target.kind, table.target.name, plan)
    batch, encoding = encode(table, bins)
    return MemorySource(table, batch, encoding, time.perf_counter() - start)


def _check_target_kind(kind: str, name: str, plan: Plan) -> None:
    tasks = plan.entry.tasks if plan.entry is not None else ("class", "real")
    who = f"criterion '{plan.criterion}'"
    if kind in tasks and plan.info is not None:
        tasks, who = registry.find("info", plan.info).tasks, f"info '{plan.info}'"
    if kind not in tasks:
        have, want = ("real numbers", "classes") if kind == "real" else ("classes", "real numbers")
        remedy = "cut it into classes first, or pass task='class' to take every value as a class"
        raise InputError(
            f"the target '{name}' holds {have}, but {who} needs {want}; {remedy if kind == 'real' else 'pass task=real'}"
        )


def _check_target(source: Any, plan: Plan) -> None:
    if source.target_kind == "none":
        raise InputError("the source has no target: give y to jifs.memory(X, y)")
    _check_target_kind(source.target_kind, "y", plan)
    if source.classes < 2:
        plan.warn("the target has one class only: every relevance is 0 and features come by lowest index")


# -------------------------------------------------------------------------------------------------------- the task


def _features(which: Iterable[Any], source: Any, role: str) -> list[int]:
    """Indices of features given by index or name."""
    if isinstance(which, str):
        which = [which]
    if not isinstance(which, Iterable):
        raise InputError(f"{role} takes a list of features, by name or index, not {which!r}")
    names: dict[str, int] | None = None
    found: list[int] = []
    for item in which:
        if isinstance(item, Integral) and not isinstance(item, bool):
            if not 0 <= item < source.m:
                raise InputError(f"{role}: there is no feature {item}; features are 0 to {source.m - 1}")
            found.append(int(item))
            continue
        if names is None:
            names = {source.name_of(j): j for j in range(source.m)}
        if item not in names:
            raise InputError(f"{role}: there is no feature {item!r}.{near(str(item), names)}")
        found.append(names[item])
    return list(dict.fromkeys(found))


def _task(
    source: Any,
    stats: Stats,
    plan: Plan,
    k: int,
    include: Iterable[Any],
    exclude: Iterable[Any],
    stop: Any,
    seed: int | None,
    drop_constant: bool,
) -> Task:
    first, never = _features(include, source, "include"), _features(exclude, source, "exclude")
    both = sorted(set(first) & set(never))
    if both:
        raise InputError(f"feature '{source.name_of(both[0])}' is both in include and in exclude")
    free = np.ones(source.m, np.bool_)
    free[never] = False
    if drop_constant:
        free &= source.cards > 1
        free[first] = True
    if len(first) > k:
        raise InputError(f"include names {len(first)} features, but k is {k}; k counts them too")
    available = int(free.sum())
    if k > available:
        plan.warn(f"k = {k} is more than the {available} features there are; all are selected")
        k = available
    tolerance = getattr(plan.maker, "tolerance", 1e-12)
    return Task(source.m, k, plan.criterion, tolerance, tuple(first), free, _stop(stop, stats, seed), seed=seed)


def _stop(stop: Any, stats: Stats, seed: int | None) -> Stop | None:
    """The stop rule that is meant by a number, a name or a dict with `rule` and its parameters."""
    if stop is None:
        return None
    if isinstance(stop, Real) and not isinstance(stop, bool):
        stop = {"rule": "threshold", "below": float(stop)}
    if isinstance(stop, str):
        stop = {"rule": stop}
    if not isinstance(stop, dict):
        raise InputError(f"stop must be a number, 'permutation', 'exhausted' or a dict with 'rule', not {stop!r}")
    given = dict(stop)
    rule = given.pop("rule", None)
    known = {"threshold": {"below"}, "permutation": {"level", "permutations"}, "exhausted": set[str]()}
    if rule not in known:
        raise InputError(f"unknown stop rule {rule!r}.{near(str(rule), known)} Known: {', '.join(known)}")
    unknown = set(given) - known[rule]
    if unknown:
        raise InputError(f"stop rule '{rule}' has no parameter {sorted(unknown)[0]!r}")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(value):
            raise InputError(f"stop: {name} must be a number, not {value!r}")
    if rule == "threshold":
        if "below" not in given:
            raise InputError("stop rule 'threshold' needs 'below', the least score that is taken")
        return Below(float(given["below"]))
    if rule == "exhausted":
        return Exhausted()
    from jifs.estimators.permutation import Permutation

    return Permutation(stats, seed=seed or 0, **given)


# ------------------------------------------------------------------------------------------------------ the result


def _facts(stats: Stats, plan: Plan, job: Task, outcome: Outcome, team: int, seconds: float) -> dict[str, Any]:
    facts = {**stats.facts, **outcome.facts}
    facts["seconds"] = {**stats.clock, "total": seconds}
    facts["threads"] = team
    facts["classes"] = stats.classes
    if hasattr(job.stop, "p_values"):
        facts["permutation_p_values"] = list(job.stop.p_values)
    facts["warnings"] = list(plan.warnings)
    return facts


def _report(
    source: Any, plan: Plan, outcome: Outcome, facts: dict[str, Any], seed: int | None, seconds: float
) -> Result:
    steps = tuple(
        Step(
            step=i,
            feature=s.feature,
            name=source.name_of(s.feature),
            score=s.score,
            parts=s.parts,
            runner_up=s.runner_up,
            runner_up_name=None if s.runner_up is None else source.name_of(s.runner_up),
            margin=s.margin,
            tie=s.tie,
            included=s.included,
        )
        for i, s in enumerate(outcome.steps)
    )
    return Result(
        indices=np.array([s.feature for s in steps], np.intp),
        names=tuple(s.name for s in steps),
        scores=np.array([s.score for s in steps], np.float64),
        trace=steps,
        weights=outcome.weights,
        facts=facts,
        seconds=seconds,
        criterion=plan.criterion,
        strategy=plan.strategy.name,
        info=plan.info,
        params=plan.params,
        seed=seed,
        n_rows=source.n,
        n_features=source.m,
    )
