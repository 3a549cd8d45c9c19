"""QPFS, quadratic programming over the simplex [Rodriguez-Lujan et al. 2010]: weights x >= 0, sum x = 1.

    balanced   min (1-a)/2 x'Hx - a f'x,   a = qbar / (qbar + fbar), the means of all H_ij and of f
    plain      min alpha x'Hx - f'x

Both are min x'Px/2 - c'x. A convex one is solved by OSQP or Clarabel through cvxpy; then an active-set search of our
own starts at what they found and ends where rounding does. The proof is short: with the gradient g = Px - c, no point
of the simplex is lower than x by more than

    gap = x'g - min g    (0 at the optimum: g_i is least wherever x_i > 0)

P with a negative eigenvalue is refused, or its diagonal raised by the least that makes it convex. Where P is singular,
as with a feature and its copy, several x may be optimal and one of them is given.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.relax.convex import checked_seconds, checked_solver, cvxpy_with, power_of, run, symmetric

SOLVERS = ("OSQP", "CLARABEL")
FORMS = ("balanced", "plain")
INDEFINITE = 1e-10
"""An eigenvalue below zero by more than this share of the largest entry is no rounding."""
ENOUGH = 1e-13
"""A gap below this, with entries of size 1, is rounding: the active-set search is then preferred, for its zeros."""
SUPPORT = 1e-4
"""A weight above this share of the largest is taken for positive at the start of the active-set search."""
OPTIONS: dict[str, dict[str, float]] = {
    "OSQP": {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iter": 20_000},
    "CLARABEL": {},
}


@dataclass(frozen=True, eq=False)
class Minimum:
    """Weights, the value of the objective there, and the residuals of the conditions for an optimum (KKT).

    residuals: "gap" as above, relative to the largest entry of P and c; "negative" -min x; "sum" |sum x - 1|.
    shift: what was added to the diagonal of P; unique: whether P is positive definite, so that no other x is optimal.
    """

    x: np.ndarray
    value: float
    gap: float
    residuals: dict[str, float]
    shift: float
    unique: bool
    status: str
    seconds: float


def balance(H: np.ndarray, f: np.ndarray) -> float:
    """a = qbar / (qbar + fbar); 1/2 where both are 0."""
    redundancy, relevance = float(np.mean(H)), float(np.mean(f))
    if redundancy < 0 or relevance < 0:
        raise InputError(
            f"form='balanced' weighs by the means of H and f, and one is below 0 ({redundancy:.3g}, {relevance:.3g});"
            " give alpha, or use form='plain'"
        )
    total = redundancy + relevance
    return redundancy / total if total > 0 else 0.5


def minimise(
    H: Any,
    f: Any,
    form: str = "balanced",
    alpha: float | None = None,
    convexify: bool = False,
    solver: str = "OSQP",
    seconds: float | None = None,
) -> Minimum:
    """Weights of QPFS. alpha: a of the balanced form (None: by the means), or the factor of the plain one (None: 1)."""
    matrix = symmetric(H, "H")
    linear = _vector(f, len(matrix), "f")
    if form not in FORMS:
        raise InputError(f"form must be 'balanced' or 'plain', not {form!r}")
    if alpha is None:
        alpha = balance(matrix, linear) if form == "balanced" else 1.0
    most = 1.0 if form == "balanced" else math.inf
    if not isinstance(alpha, int | float | np.number) or isinstance(alpha, bool) or not 0 <= alpha <= most:
        raise InputError(f"alpha must be a number from 0 {'to 1' if most == 1 else 'on'}, not {alpha!r}")
    if form == "balanced":
        return on_simplex((1 - alpha) * matrix, alpha * linear, convexify, solver, seconds)
    return on_simplex(2 * alpha * matrix, linear, convexify, solver, seconds)


def on_simplex(
    P: Any, c: Any, convexify: bool = False, solver: str = "OSQP", seconds: float | None = None
) -> Minimum:
    """min x'Px/2 - c'x over x >= 0, sum x = 1."""
    name, clock = checked_solver(solver, SOLVERS), checked_seconds(seconds)
    matrix = symmetric(P, "P")
    linear = _vector(c, len(matrix), "c")
    start = time.perf_counter()
    power = power_of(matrix, linear)
    matrix, linear = matrix / power, linear / power
    least = _least_eigenvalue(matrix)
    shift = 0.0
    if least < -INDEFINITE * float(np.abs(matrix).max()):
        if not convexify:
            raise InputError(
                f"the quadratic program is not convex: its matrix has the eigenvalue {least * power:.3g};"
                " convexify=True raises the diagonal by the least that makes it so"
            )
        shift = -least
        matrix = matrix + shift * np.eye(len(matrix))
    x, status = np.full(len(linear), 1.0 / len(linear)), "read off"
    if matrix.any() or np.ptp(linear) > 0:
        x, status = _solved(matrix, linear, name, clock)
        own = _active_set(matrix, linear, x)
        if _gap(matrix, linear, own) <= max(_gap(matrix, linear, x), ENOUGH):
            x = own
    gap = _gap(matrix, linear, x)
    off = {"gap": gap, "negative": float(max(0.0, -x.min())), "sum": abs(float(x.sum()) - 1)}
    value = float(x @ matrix @ x) / 2 - float(linear @ x)
    return Minimum(
        *(x, value * power, gap * power, off, shift * power),
        unique=least > INDEFINITE * float(np.abs(matrix).max()) or len(x) == 1,
        status=status,
        seconds=time.perf_counter() - start,
    )


def _vector(values: Any, n: int, name: str) -> np.ndarray:
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be {n} real numbers") from error
    if vector.shape != (n,) or not np.isfinite(vector).all():
        raise InputError(f"{name} must be {n} finite numbers, one a feature")
    return vector


def _least_eigenvalue(matrix: np.ndarray) -> float:
    """The least eigenvalue; where the matrix is safely positive definite, a bound below it that is cheaper to have."""
    safe = 2 * INDEFINITE * float(np.abs(matrix).max())
    try:
        np.linalg.cholesky(matrix - safe * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return float(np.linalg.eigvalsh(matrix)[0])
    return safe


def _gap(P: np.ndarray, c: np.ndarray, x: np.ndarray) -> float:
    g = P @ x - c
    return float(x @ g - g.min())


def _solved(P: np.ndarray, c: np.ndarray, solver: str, seconds: float | None) -> tuple[np.ndarray, str]:
    """The solver's answer, brought onto the simplex; equal weights where it has none."""
    cp = cvxpy_with(solver)
    x = cp.Variable(len(c))
    objective = cp.Minimize(cp.quad_form(x, cp.psd_wrap(P)) / 2 - c @ x)
    status = run(cp.Problem(objective, [x >= 0, cp.sum(x) == 1]), solver, seconds, OPTIONS[solver])
    found = (
        np.full(len(c), 1.0) if x.value is None or not np.isfinite(x.value).all() else np.maximum(x.value, 0)
    )
    weights: np.ndarray = found / found.sum() if found.any() else np.full(len(c), 1.0 / len(c))
    return weights, status


def _active_set(P: np.ndarray, c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """From a point of the simplex to the minimum, a face at a time; as far as rounding and 10 + n/4 faces let it.

    On the face of the positive weights the minimum solves Px = c + mu, sum x = 1. If it lies beyond the face, go as far
    as a weight becomes 0 and leave that feature out; if it lies inside, let in the feature whose gradient is least.
    """
    free = x > SUPPORT * x.max()
    x = np.where(free, x, 0.0) / x[free].sum()
    for _ in range(10 + len(x) // 4):
        face = np.flatnonzero(free)
        goal = _lowest(P[np.ix_(face, face)], c[face])
        step = goal - x[face]
        down = step < 0
        ratio = np.full(face.size, np.inf)
        ratio[down] = -x[face][down] / step[down]
        far = float(min(1.0, ratio.min()))
        x = x.copy()
        x[face] = np.maximum(x[face] + far * step, 0.0)
        if far < 1:
            x[face[int(ratio.argmin())]] = 0.0
            free[face[int(ratio.argmin())]] = False
            continue
        x /= x.sum()
        g = P @ x - c
        least = int(g.argmin())
        if free[least] or x @ g - g[least] <= 1e-15 * max(1.0, float(np.abs(g).max())):
            break
        free[least] = True
    weights: np.ndarray = x / x.sum()
    return weights


def _lowest(P: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Px = c + mu, sum x = 1, the shortest x where there are many; each row and column in units of its own."""
    own = P.diagonal()
    unit = np.where(own > 0, 1.0 / np.sqrt(np.where(own > 0, own, 1.0)), 1.0)
    size = float(np.linalg.norm(unit))
    system = np.zeros((len(c) + 1, len(c) + 1))
    system[:-1, :-1] = P * unit[:, None] * unit
    system[:-1, -1] = system[-1, :-1] = unit / size
    solution: np.ndarray = np.linalg.lstsq(system, np.append(c * unit, 1.0 / size), rcond=1e-13)[0]
    return solution[:-1] * unit
