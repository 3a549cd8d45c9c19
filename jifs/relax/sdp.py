"""SDP relaxation and random-projection rounding [Vinh et al. 2014, eq. 26]. With x = (1 + y)/2 and a dummy y_0 = 1,

    maximise Q~ . Y / 4    s.t.  I~ . Y = 4k,  diag Y = 1,  Y psd;    Q~ = E Q E',  I~ = E E',  E = (1 ... 1) above I

bounds x'Qx from above, for any symmetric Q. tight=True adds (E 1 1' E') . Y = 4k^2, the square of sum x = k. That
leaves Y no interior, so the same problem is solved in X = E'YE/4, which has one:

    maximise Q . X    s.t.  tr X = k,  X 1 = k diag X,  X psd
    Y_0i = 2 X_ii - 1,  Y_ij = 4 X_ij - 2 X_ii - 2 X_jj + 1

`bound` is Q~ . Y / 4 of the solver's Y, right to its accuracy. `upper` is a bound whatever multipliers the solver gave:

    eq. 26   (4k t + sum u + (n+1) lambda_max(Q~ - t I~ - Diag u)) / 4             since tr Y = n + 1
    tight    k lambda_max(Q + k Diag(u) - (u 1' + 1 u')/2)                         since tr X = k
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.relax.convex import checked_seconds, checked_solver, cvxpy_with, power_of, run, symmetric
from jifs.relax.problem import value

SOLVERS = ("SCS", "CLARABEL")
LIMIT = 300
"""Most features by default; time grows like n^4.5."""
ACCEPTED = 1e-4
"""A solution is accepted when no constraint is missed by more than this, whatever the solver's own word for it."""
ARBITER = 60
"""Up to this size Clarabel, slower and more exact, is asked when a solution of SCS is not accepted."""


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What the relaxation gave: Y, with y_0 first, Q~.Y/4, the bound by its multipliers, and how good a solution Y is.

    `multipliers` is (t, u_0, ..., u_n) of eq. 26, or u of the tight form; None where there was nothing to solve.
    """

    Y: np.ndarray
    bound: float
    upper: float
    multipliers: np.ndarray | None
    status: str
    residuals: dict[str, float]
    solver: str
    seconds: float

    @property
    def accepted(self) -> bool:
        """Whether Y keeps every constraint, and its value is as near to `upper`, as ACCEPTED asks."""
        return max(self.residuals.values()) <= ACCEPTED


def lift(n: int) -> np.ndarray:
    """E: a first row of ones above the identity."""
    return np.vstack([np.ones(n), np.eye(n)])


def residuals(Y: np.ndarray, k: int, tight: bool = False) -> dict[str, float]:
    """How far Y is from each constraint: |diag Y - 1|; as shares |tr X - k|, -lambda_min of Y, (tight) |1'X1 - k^2|."""
    X, spectrum = _inner(Y), np.linalg.eigvalsh(Y)
    out = {
        "diagonal": float(np.abs(Y.diagonal() - 1).max()),
        "size": float(abs(np.trace(X) - k) / max(k, 1)),
        "psd": float(max(0.0, -spectrum[0]) / np.abs(spectrum).max()),
    }
    if tight:
        out["square"] = float(abs(X.sum() - k * k) / max(k * k, 1))
    return out


def solve(
    Q: Any,
    k: int,
    tight: bool = False,
    solver: str = "SCS",
    accuracy: float = 1e-6,
    limit: int = LIMIT,
    seconds: float | None = None,
) -> Relaxed:
    """Solve eq. 26, or the tight form, for any symmetric Q and 0 <= k <= n, with SCS or Clarabel.

    More than `limit` features are refused. With `seconds` the solver ends in time with what it has; `accepted` tells
    whether that is a solution, and `upper` is a bound in any case.
    """
    form, name, clock = symmetric(Q, "Q"), checked_solver(solver, SOLVERS), checked_seconds(seconds)
    n, size = len(form), _size(k, len(form))
    if n > limit:
        raise InputError(
            f"{n} features are more than limit = {limit} for the semidefinite program, whose time grows like n^4.5;"
            " raise limit, exclude some, or use the spectral relaxation"
        )
    start = time.perf_counter()
    power = power_of(form)
    form = form / power
    if size in (0, n) or not form.any():
        Y = central(n, size)
        exact = float(np.sum(form * _inner(Y))) * power
        return Relaxed(Y, exact, exact, None, "read off", residuals(Y, size, tight), "none", 0.0)
    found = _solved(form, size, tight, name, accuracy, clock)
    if not found.accepted and name == "SCS" and n <= ARBITER and clock is None:
        other = _solved(form, size, tight, "CLARABEL", accuracy, clock)
        found = min(found, other, key=lambda r: max(r.residuals.values()))
    return Relaxed(
        found.Y,
        found.bound * power,
        found.upper * power,
        None if found.multipliers is None else found.multipliers * power,
        found.status,
        found.residuals,
        found.solver,
        time.perf_counter() - start,
    )


def central(n: int, k: int) -> np.ndarray:
    """The mean of yy' over all sets of k features: feasible for both forms, best where all sets are worth the same."""
    X = np.full((n, n), k * (k - 1) / (n * (n - 1)) if n > 1 else 0.0)
    np.fill_diagonal(X, k / n)
    return _lifted(X)


def _size(k: Any, n: int) -> int:
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 0 <= k <= n:
        raise InputError(f"k must be a whole number between 0 and {n}, not {k!r}")
    return int(k)


def _inner(Y: np.ndarray) -> np.ndarray:
    """X = E'YE/4."""
    inner: np.ndarray = (Y[1:, 1:] + Y[1:, :1] + Y[:1, 1:] + Y[0, 0]) / 4
    return inner


def _lifted(X: np.ndarray) -> np.ndarray:
    """Y of X, with y_0 = 1 and y = 2x - 1."""
    x = X.diagonal()
    Y = np.ones((len(X) + 1, len(X) + 1))
    Y[0, 1:] = Y[1:, 0] = 2 * x - 1
    Y[1:, 1:] = 4 * X - 2 * x[:, None] - 2 * x[None, :] + 1
    return Y


def _solved(
    Q: np.ndarray, k: int, tight: bool, solver: str, accuracy: float, seconds: float | None
) -> Relaxed:
    cp = cvxpy_with(solver)
    n, E = len(Q), lift(len(Q))
    if tight:
        X = cp.Variable((n, n), PSD=True)
        rules = [cp.sum(X, axis=1) - k * cp.diag(X) == 0, cp.trace(X) == k]
        program = cp.Problem(cp.Maximize(cp.sum(cp.multiply(Q, X))), rules)
    else:
        X = cp.Variable((n + 1, n + 1), PSD=True)
        rules = [cp.diag(X) == 1, cp.sum(cp.multiply(E @ E.T, X)) == 4 * k]
        program = cp.Problem(cp.Maximize(cp.sum(cp.multiply(E @ Q @ E.T, X))), rules)
    start = time.perf_counter()
    exactly = {"eps_abs": accuracy, "eps_rel": accuracy, "max_iters": 100_000} if solver == "SCS" else {}
    status = run(program, solver, seconds, exactly)
    spent = time.perf_counter() - start
    multipliers = [
        np.zeros(n) if tight else np.append(np.linalg.eigvalsh(Q)[-1], np.zeros(n + 1))
    ]  # k lambda_max
    duals = [rule.dual_value for rule in rules]
    if all(dual is not None for dual in duals):
        u = np.ravel(duals[0]) if tight else np.append(duals[1], duals[0])
        multipliers += [u, -u]  # solvers differ in the sign
    uppers = [_upper(Q, k, tight, u) for u in multipliers]
    at = int(np.argmin(uppers))
    if X.value is None or not np.isfinite(X.value).all():
        nothing = {"solution": float("inf")}
        return Relaxed(central(n, k), uppers[at], uppers[at], multipliers[at], status, nothing, solver, spent)
    Y = (X.value + X.value.T) / 2
    Y = _lifted(Y) if tight else Y
    bound = float(np.sum(Q * _inner(Y)))
    off = residuals(Y, k, tight)
    off["gap"] = max(0.0, uppers[at] - bound) / max(abs(uppers[at]), 1e-12)
    return Relaxed(Y, bound, uppers[at], multipliers[at], status, off, solver, spent)


def _upper(Q: np.ndarray, k: int, tight: bool, u: np.ndarray) -> float:
    """The bound by these multipliers, whatever they are."""
    if not np.isfinite(u).all():
        return float("inf")
    if tight:
        A = Q + k * np.diag(u) - (u[:, None] + u[None, :]) / 2
        return k * float(np.linalg.eigvalsh(A)[-1])
    E = lift(len(Q))
    slack = E @ (Q - u[0] * np.eye(len(Q))) @ E.T - np.diag(u[1:])
    top = float(np.linalg.eigvalsh((slack + slack.T) / 2)[-1])
    return (4 * k * float(u[0]) + float(u[1:].sum()) + len(slack) * top) / 4


# ------------------------------------------------------------------------------------------------------------ rounding


def round_off(
    Q: Any, k: int, Y: np.ndarray, draws: int = 100, seed: int = 0, rows: str = "Y", orient: bool = False
) -> np.ndarray:
    """The best of `draws` sets: the k features whose rows are most alike, by cosine, to a random direction.

    rows="Y": rows of Y itself, as published; "V": those of V with Y = VV'. orient=True turns each direction to the side
    of y_0. Among equal sets the first drawn stays, among equal features the lowest index; where every set of k features
    has the same value because Q is zero, the set is the first k features.
    """
    form = symmetric(Q, "Q")
    n, size = len(form), _size(k, len(form))
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise InputError(f"draws must be a whole number from 1 on, not {draws!r}")
    if rows not in ("Y", "V"):
        raise InputError(f"rows must be 'Y' or 'V', not {rows!r}")
    if np.shape(Y) != (n + 1, n + 1):
        raise InputError(
            f"Y must have {n + 1} rows and columns, one more than Q, not the shape {np.shape(Y)}"
        )
    if size in (0, n) or not form.any():
        return np.arange(size, dtype=np.int64)
    directions = np.random.default_rng(seed).standard_normal((int(draws), n + 1))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    table = np.asarray(Y, np.float64) if rows == "Y" else _root(np.asarray(Y, np.float64))
    lengths = np.linalg.norm(table, axis=1)
    alike = (directions @ table.T) / np.where(lengths > 0, lengths, 1.0)
    if orient:
        alike *= np.where(alike[:, :1] < 0, -1.0, 1.0)
    best, worth = np.arange(size, dtype=np.int64), -np.inf
    for likeness in alike[:, 1:]:
        chosen = np.sort(np.argsort(-likeness, kind="stable")[:size])
        own = value(form, chosen)
        if own > worth + 1e-12 * abs(own):
            best, worth = chosen, own
    return best


def _root(Y: np.ndarray) -> np.ndarray:
    """V with VV' = Y, what is below zero left out."""
    values, vectors = np.linalg.eigh((Y + Y.T) / 2)
    root: np.ndarray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
