"""`select`: from data to a Result. It finds names at the door, encodes, runs the strategy, reports; it solves nothing.

`memory` encodes a table once, for several selections on the same data.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from jifs import faces, jit, registry
from jifs.errors import InputError
from jifs.plan import Plan, checked_count, checked_seed, checked_threads, make_plan, make_task
from jifs.progress import as_progress
from jifs.result import Result, Step
from jifs.search.base import Outcome, Task
from jifs.sources.memory import MemorySource
from jifs.stats.base import Stats
from jifs.table import Table, as_table

MANY_LEVELS = 32
"""A feature with more levels than this, and than half the rows, is suspected to name the rows."""


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
    """Encode a table once; give the source to any number of selections: `select(source, k=10, criterion=...)`.

    The source keeps X itself, not a copy, for criteria that read numbers: do not change X while it is in use.
    """
    with jit.threads(checked_threads(n_jobs)):
        start = time.perf_counter()
        table = _table(X, y, task, discrete, sample_weight)
        source = MemorySource(table, bins, time.perf_counter() - start)
        _ = source.batch
        return source


def select(
    X: Any,
    y: Any = None,
    k: int = 10,
    criterion: Any = "jmi",
    *,
    strategy: Any = None,
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

    X: a NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix, a mapping of columns, a file, a source
       made by `jifs.memory`. y: an array, or the name of a column of X or of the file.
    criterion, strategy, info: names from `jifs.criteria()`, `jifs.strategies()`, `jifs.infos()`; strategy None is the
       criterion's own, and one with settings is a dict: {"name": "exhaustive", "limit": 10**7}.
    params: the criterion's parameters, such as {"beta": 0.5}.
    bins: how continuous columns are cut: 5 or "frequency:5", "width:10", "mdl", or "none" to take all as they are.
    discrete: which columns are discrete (names, indices or a mask); inferred if None: text, whole numbers with at most
       32 different values, and columns with no more values than bins. task: "class" or "real", inferred from y.
    sample_weight: 2 is the row twice, 0 the row absent. include, exclude: features taken first, and never.
    stop: ends the search before k: a number (best score below it), "exhausted" (cmi), "permutation" (a test that no
       remaining feature tells anything about y beyond those selected, whatever the criterion), or a dict such as
       {"rule": "permutation", "level": 0.01, "permutations": 500}.
    drop_constant: leave constant columns out. n_jobs: threads, None for all; the result does not depend on them.
    random_state: the seed of what is random. progress: True for a bar, or a function of (done, total, note).
    """
    start = time.perf_counter()
    k, seed = checked_count(k), checked_seed(random_state)
    plan = make_plan(criterion, strategy, info, params)
    with jit.threads(checked_threads(n_jobs)) as team, as_progress(progress) as bar:
        source = _source(X, y, plan, bins, task, discrete, sample_weight)
        _check_target(source, plan)
        stats = Stats(source, seed)
        before = source.seconds if source is X else 0.0  # what was done before is not this selection's
        job = make_task(source, stats, plan, k, include, exclude, stop, seed, drop_constant)
        searcher = plan.strategy.make()
        bar.start(searcher.total(job) if hasattr(searcher, "total") else job.k, plan.criterion)
        job = replace(job, advance=lambda j: bar.advance(1, source.name_of(j)))
        method = faces.as_face(plan.maker, plan.strategy.faces[0])
        outcome = searcher.run(method, stats, job)
    for text in stats.warnings:
        plan.warn(text)
    _look_back(source, plan, outcome)
    stats.forget()
    stats.clock["encoding"] = source.seconds - before
    facts = _facts(stats, plan, job, outcome, team, time.perf_counter() - start)
    facts["settings"] = {
        **source.settings(),
        "k": k,
        "strategy": dict(plan.strategy.params),
        "include": list(job.include),
        "exclude": np.flatnonzero(~job.free).tolist(),
        "stop": stop,
        "drop_constant": drop_constant,
    }
    return _report(source, plan, outcome, facts, seed, time.perf_counter() - start)


# ------------------------------------------------------------------------------------------------------- the data


def _table(X: Any, y: Any, task: str | None, discrete: Any, sample_weight: Any) -> Table:
    if isinstance(X, str | os.PathLike):
        from jifs.readers import read_table

        if y is not None and not isinstance(y, str):
            raise InputError("with a file, y is the name of its target column")
        table = read_table(os.fspath(X), y, task=task, discrete=discrete)
        return table if sample_weight is None else as_table(table, sample_weight=sample_weight)
    return as_table(X, y, task=task, discrete=discrete, sample_weight=sample_weight)


def is_source(X: Any, **given: Any) -> bool:
    """Whether X is a source; then nothing may be said of its encoding again."""
    if not (callable(getattr(X, "reduce", None)) and hasattr(X, "target_kind")):
        return False
    for name, value in given.items():
        if value is not None and not (name == "bins" and value == 5):
            raise InputError(f"a source is already encoded: {name} belongs to jifs.memory(...)")
    return True


def _source(
    X: Any, y: Any, plan: Plan, bins: Any, task: str | None, discrete: Any, sample_weight: Any
) -> Any:
    if is_source(X, y=y, bins=bins, task=task, discrete=discrete, sample_weight=sample_weight):
        return X
    start = time.perf_counter()
    table = _table(X, y, task, discrete, sample_weight)
    if table.target is None:
        raise InputError(
            "a selection requires y to be passed, but the target y is None; give an array or the name of a column of X"
        )
    _check_target_kind(table.target.kind, table.target.name, plan)
    return MemorySource(table, bins, time.perf_counter() - start)


def _check_target_kind(kind: str, name: str, plan: Plan) -> None:
    tasks = plan.entry.tasks if plan.entry is not None else ("class", "real")
    who = f"criterion '{plan.criterion}'"
    if kind in tasks and plan.info is not None:
        tasks, who = plan.maker.info.tasks, f"info '{plan.info}'"
    if kind not in tasks:
        have, want = ("real numbers", "classes") if kind == "real" else ("classes", "real numbers")
        cut = "cut it into classes first, or pass task='class' to take every value as a class"
        remedy = cut if kind == "real" else "pass task='real' if the classes are numbers"
        raise InputError(f"the target '{name}' holds {have}, but {who} needs {want}; {remedy}")


def _check_target(source: Any, plan: Plan) -> None:
    if source.target_kind == "none":
        raise InputError("the source has no target: give y to jifs.memory(X, y)")
    _check_target_kind(source.target_kind, "y", plan)
    if source.n < 2:
        raise InputError("sample_weight leaves 1 sample (row) only; a selection needs 2 or more")
    if source.target_kind == "class" and source.classes < 2:
        plan.warn("the target has one class only: every relevance is 0 and features come by lowest index")


# ------------------------------------------------------------------------------------------------------ the result


def _look_back(source: Any, plan: Plan, outcome: Outcome) -> None:
    """What the user should be told of a selection that is not what it seems."""
    lost = source.lost_columns()
    if lost:
        first, more = source.name_of(lost[0]), f" and {len(lost) - 1} others" if len(lost) > 1 else ""
        plan.warn(
            f"column '{first}'{more} is not constant, but all its values fall into one bin and tell nothing;"
            " use bins='mdl', or name it in discrete"
        )
    taken = np.array([s.feature for s in outcome.steps], np.intp)
    cards = source.cards if source.encoded else np.zeros(source.m, np.int64)
    names = taken[cards[taken] > max(MANY_LEVELS, source.n / 2)]
    if names.size:
        plan.warn(
            f"feature '{source.name_of(names[0])}' has {cards[names[0]]} different values in {source.n} rows: it"
            " may only name the rows, and its information is overestimated; leave it out with exclude if so"
        )
    if str(outcome.facts.get("stopped", "")).startswith("interrupted"):
        plan.warn(f"{outcome.facts['stopped']} of {plan.criterion}: the result is what was found by then")


def _facts(
    stats: Stats, plan: Plan, job: Task, outcome: Outcome, team: int, seconds: float
) -> dict[str, Any]:
    facts = {**stats.facts, **outcome.facts}
    facts["seconds"] = {**stats.clock, "total": seconds}
    facts["threads"] = team
    facts["classes"] = stats.classes
    facts["columns"] = stats.source.about_columns()
    if job.stop is not None:
        facts.update(job.stop.facts())
    facts["warnings"] = list(plan.warnings)
    return facts


def _report(
    source: Any, plan: Plan, outcome: Outcome, facts: dict[str, Any], seed: int, seconds: float
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
        for i, s in enumerate(outcome.steps, start=1)
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
