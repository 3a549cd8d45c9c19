"""Full matrices of pairwise information.

mi           M_ij = I(X_i;X_j),      diagonal H(X_i)
cmi          M_ij = I(X_i;X_j|Y),    diagonal H(X_i|Y)
cmi_target   M_ij = I(X_i;Y|X_j),    diagonal 0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs import jit, registry
from jifs.errors import InputError, near
from jifs.plan import checked_threads
from jifs.progress import as_progress
from jifs.selector import is_source, memory
from jifs.stats.base import Stats

WHICH = ("mi", "cmi", "cmi_target")


def pairs(
    X: Any,
    y: Any = None,
    which: str = "mi",
    *,
    info: str = "plugin",
    bins: Any = 5,
    task: str | None = None,
    discrete: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: Any = False,
) -> np.ndarray:
    """The m x m matrix of information between features: "mi", "cmi" (given Y) or "cmi_target" (with Y, given X_j)."""
    if which not in WHICH:
        raise InputError(f"unknown matrix {which!r}.{near(str(which), WHICH)} Known: {', '.join(WHICH)}")
    estimator = registry.info(info)
    source = X
    if not is_source(X, y=y, bins=bins, task=task, discrete=discrete, sample_weight=sample_weight):
        source = memory(
            X, y, bins=bins, task=task, discrete=discrete, sample_weight=sample_weight, n_jobs=n_jobs
        )
    if which != "mi" and source.target_kind != "class":
        raise InputError(f"which='{which}' needs a target of classes: give y")
    with jit.threads(checked_threads(n_jobs)), as_progress(progress) as bar:
        bar.start(source.m, f"pairs ({which})")
        out: np.ndarray = estimator.matrix(Stats(source), which, bar.advance)
    return out
