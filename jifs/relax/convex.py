"""What the convex programs share: a symmetric matrix of any sign, A = A', its scale, and cvxpy with one of its solvers.

cvxpy is no requirement of jifs; whoever asks for it where it is missing is told how to get it.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from jifs.errors import InputError

ROUNDING = 1e-12
"""How far from symmetric a matrix may be, relative to its largest entry."""
LARGEST = 1e290
"""Entries above this would overflow when they are summed."""
TIME_LIMIT = {"SCS": "time_limit_secs", "CLARABEL": "time_limit", "OSQP": "time_limit"}


def symmetric(matrix: Any, name: str) -> np.ndarray:
    """The matrix as exactly symmetric float64, or an InputError that says what is wrong with it.

    Entries that differ from their mirror image by rounding are replaced by the mean of the two, which leaves x'Ax.
    """
    try:
        given = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a square array of real numbers") from error
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.size == 0:
        raise InputError(
            f"{name} must be a square array, one row and one column a feature, not of shape {given.shape}"
        )
    finite = np.isfinite(given)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise InputError(f"{name}[{i}, {j}] is {given[i, j]}: every entry must be a finite number")
    largest = float(np.abs(given).max())
    if largest > LARGEST:
        raise InputError(
            f"the largest entry of {name} is {largest:.3g}: divide {name} to bring it below 1e290"
        )
    apart = np.abs(given - given.T)
    if apart.max() > ROUNDING * largest:
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise InputError(
            f"{name}[{i}, {j}] = {given[i, j]:.9g} but {name}[{j}, {i}] = {given[j, i]:.9g}: {name} must be symmetric"
        )
    return np.asarray(given / 2 + given.T / 2)


def power_of(*arrays: np.ndarray) -> float:
    """The power of two just above every |entry|, by which division is exact; 1 where all are zero."""
    largest = max((float(np.abs(a).max()) for a in arrays if a.size), default=0.0)
    return math.ldexp(1.0, min(max(math.frexp(largest)[1], -1022), 1023)) if largest else 1.0


def checked_seconds(seconds: Any) -> float | None:
    """A time limit, or a refusal."""
    if seconds is None:
        return None
    number = isinstance(seconds, int | float | np.integer | np.floating) and not isinstance(seconds, bool)
    if not number or not float(seconds) > 0:
        raise InputError(f"seconds must be a number above 0, or None for no limit, not {seconds!r}")
    return float(seconds) if math.isfinite(seconds) else None


def checked_solver(solver: Any, known: tuple[str, ...]) -> str:
    """The name of a solver in capitals, or a refusal."""
    if not isinstance(solver, str) or solver.upper() not in known:
        raise InputError(f"solver must be {' or '.join(map(repr, known))}, not {solver!r}")
    return solver.upper()


def cvxpy_with(solver: str) -> Any:
    """cvxpy, if it and the solver are installed; else an InputError that says how to install them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import cvxpy
    except ImportError as error:
        raise InputError(
            f"solver '{solver}' is reached through cvxpy, which is not installed; try: pip install 'jifs[sdp]'"
        ) from error
    known: Any = cvxpy
    if solver not in known.installed_solvers():
        raise InputError(f"solver '{solver}' is not installed; try: pip install 'jifs[sdp]'")
    return known


def run(program: Any, solver: str, seconds: float | None, options: dict[str, float]) -> str:
    """Solve a cvxpy program, its warnings left to whoever looks at the residuals; returns its status in a few words."""
    limit = {} if seconds is None else {TIME_LIMIT[solver]: seconds}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program.solve(solver=solver, warm_start=False, **options, **limit)
        except Exception as error:  # of a solver's own making; there is one class for each
            return f"failed: {type(error).__name__}: {error}".splitlines()[0]
    return str(program.status).replace("_", " ")
