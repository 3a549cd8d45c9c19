"""What is asked of a selection, resolved and checked before any work: criterion, strategy, features, stop rule."""

from __future__ import annotations

import inspect
import math
import secrets
import warnings
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from jifs import faces, registry
from jifs.errors import InputError, JifsWarning, MismatchError, near
from jifs.search.base import Below, Exhausted, Stop, Task
from jifs.stats.base import Stats


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


def is_whole(value: Any) -> bool:
    """Whether this is an integer, and not a truth value."""
    return not isinstance(value, bool | np.bool_) and isinstance(value, Integral)


def is_number(value: Any) -> bool:
    """Whether this is a finite number, and not a truth value."""
    return not isinstance(value, bool | np.bool_) and isinstance(value, Real) and math.isfinite(float(value))


def checked_count(k: Any) -> int:
    """k as an int, or a refusal."""
    if not is_whole(k) or k < 0:
        raise InputError(f"k must be a positive whole number, not {k!r}")
    return int(k)


def checked_threads(n_jobs: Any) -> int | None:
    """The number of threads asked for, None for all, or a refusal."""
    if n_jobs is None or n_jobs == -1:
        return None
    if not is_whole(n_jobs) or n_jobs < 1:
        raise InputError(f"n_jobs must be a number of threads, or -1 or None for all, not {n_jobs!r}")
    return int(n_jobs)


def checked_seed(random_state: Any) -> int:
    """The seed asked for, or a refusal; for None one drawn by chance, so that the result can record it."""
    if random_state is not None and (not is_whole(random_state) or random_state < 0):
        raise InputError(f"random_state must be a whole number from 0 on, or None, not {random_state!r}")
    return secrets.randbits(32) if random_state is None else int(random_state)


def make_plan(criterion: Any, strategy: Any, info: str, params: dict[str, Any] | None) -> Plan:
    """Find the criterion, its information and the strategy by name, and see that they meet."""
    if params is not None and not (isinstance(params, dict) and all(isinstance(key, str) for key in params)):
        raise InputError(
            f"params must be a dict of the criterion's parameters, such as {{'beta': 0.5}}, not {params!r}"
        )
    params = dict(params or {})
    if isinstance(criterion, str):
        entry = registry.find("criterion", criterion)
        name, own = criterion, _instance(entry, info, params)
    else:
        if inspect.isclass(criterion) or not faces.faces_of(criterion):
            raise InputError(
                f"criterion must be a name or an object with a face of a criterion, not {criterion!r}"
            )
        entry, name, own = None, type(criterion).__name__.lower(), criterion
        if params:
            raise InputError("params go with the name of a criterion; an object already has its own")
    chosen = _strategy(strategy if strategy is not None else entry.default if entry else "forward")
    need = chosen.faces[0]
    if need not in faces.reachable(faces.faces_of(own)):
        raise _mismatch(name, own, chosen, need)
    own_info = getattr(own, "info", None)
    if info != "plugin" and (entry is None or "info" not in entry.params):
        why = (
            "does not use an information estimator"
            if own_info is None
            else "has its own information estimator"
        )
        raise InputError(f"criterion '{name}' {why}, so info={info!r} means nothing to it")
    return Plan(name, entry, own, chosen, getattr(own_info, "name", None), params)


def _strategy(given: Any) -> registry.Entry:
    """The strategy of this name, or of this dict with `name` and its parameters."""
    params = dict(given) if isinstance(given, dict) else {"name": given}
    entry = registry.find("strategy", params.pop("name", None))
    _check_names("strategy", entry.name, params, list(entry.params))
    made = entry.make(**params)
    return replace(entry, make=lambda: made, params={**entry.params, **params})


def _check_names(kind: str, owner: str, params: dict[str, Any], known: list[str]) -> None:
    for name in params:
        if name not in known:
            listed = f"It has: {', '.join(known)}" if known else "It has none"
            raise InputError(f"{kind} '{owner}' has no parameter {name!r}.{near(str(name), known)} {listed}")


def _instance(entry: registry.Entry, info: str, params: dict[str, Any]) -> Any:
    known = [name for name in entry.params if name != "info"]
    _check_names("criterion", entry.name, params, known)
    missing = [name for name in known if entry.params[name] is MISSING and name not in params]
    if missing:
        raise InputError(
            f"criterion '{entry.name}' needs its parameter {missing[0]!r}: params={{{missing[0]!r}: ...}}"
        )
    more = {"info": registry.info(info)} if "info" in entry.params else {}
    if not more:
        registry.find("info", info)
    return entry.make(**params, **more)


def _mismatch(name: str, own: Any, strategy: registry.Entry, need: str) -> MismatchError:
    mine = faces.reachable(faces.faces_of(own))
    works = [s.name for s in registry.entries("strategy") if s.faces[0] in mine]
    others = [c.name for c in registry.entries("criterion") if need in faces.reachable(c.faces)]
    return faces.mismatch(name, strategy.name, need, works, others)


def _features(which: Iterable[Any], source: Any, role: str) -> list[int]:
    """Indices of features given by index or name."""
    if isinstance(which, str):
        which = [which]
    if not isinstance(which, Iterable):
        raise InputError(f"{role} takes a list of features, by name or index, not {which!r}")
    names: dict[str, int] | None = None
    found: list[int] = []
    for item in which:
        if is_whole(item):
            if not 0 <= item < source.m:
                raise InputError(f"{role}: there is no feature {item}; features are 0 to {source.m - 1}")
            found.append(int(item))
            continue
        if names is None:
            names = {source.name_of(j): j for j in range(source.m)}
        if not isinstance(item, str) or item not in names:
            raise InputError(f"{role}: there is no feature {item!r}.{near(str(item), names)}")
        found.append(names[item])
    return list(dict.fromkeys(found))


def make_task(
    source: Any,
    stats: Stats,
    plan: Plan,
    k: int,
    include: Iterable[Any],
    exclude: Iterable[Any],
    stop: Any,
    seed: int,
    drop_constant: bool,
) -> Task:
    """The task for the strategy: which features are taken first, which are free, and when to stop."""
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
        those = "there are" if available == source.m else "that may be taken"
        plan.warn(f"k = {k} is more than the {available} features {those}; all are selected")
        k = available
    stats.free = free
    tolerance = getattr(plan.maker, "tolerance", 1e-12)
    return Task(
        k,
        plan.criterion,
        tolerance,
        tuple(first),
        free,
        _stop(stop, stats, seed, plan.criterion),
        seed=seed,
    )


def _stop(stop: Any, stats: Stats, seed: int, name: str) -> Stop | None:
    """The stop rule that is meant by a number, a name or a dict with `rule` and its parameters."""
    if stop is None:
        return None
    if is_number(stop):
        stop = {"rule": "threshold", "below": float(stop)}
    if isinstance(stop, str):
        stop = {"rule": stop}
    if not isinstance(stop, dict):
        raise InputError(
            f"stop must be a number, 'permutation', 'exhausted' or a dict with 'rule', not {stop!r}"
        )
    given = dict(stop)
    rule = given.pop("rule", None)
    known: dict[str, set[str]] = {
        "threshold": {"below"},
        "permutation": {"level", "permutations"},
        "exhausted": set(),
    }
    if not isinstance(rule, str) or rule not in known:
        raise InputError(f"unknown stop rule {rule!r}.{near(str(rule), known)} Known: {', '.join(known)}")
    unknown = set(given) - known[rule]
    if unknown:
        has = f"it has: {', '.join(sorted(known[rule]))}" if known[rule] else "it has none"
        raise InputError(f"stop rule '{rule}' has no parameter {sorted(unknown)[0]!r}; {has}")
    for name, value in given.items():
        if not is_number(value):
            raise InputError(f"stop: {name} must be a number, not {value!r}")
    if rule == "threshold":
        if "below" not in given:
            raise InputError("stop rule 'threshold' needs 'below', the least score that is taken")
        return Below(float(given["below"]))
    if rule == "exhausted":
        return Exhausted(name)
    from jifs.estimators.permutation import Permutation

    return Permutation(stats, seed=seed, **given)
