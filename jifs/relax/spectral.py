"""SPEC [Vinh et al. 2014]:  w = argmax w'Qw  over |w| = 1, w >= 0: the non-negative dominant eigenvector of Q >= 0.

|x| of a dominant eigenvector x is dominant again, for x'Qx <= |x|'Q|x|. It is unique where the largest eigenvalue is
simple. It can be multiple: Q falls into blocks that no positive entry joins, each block has a positive dominant
eigenvector of its own, and two blocks may be level. Then the weights are the projection of (1, ..., 1) on the dominant
eigenvectors: equal ones for Q = I, and for Q = 0.

Nystrom: from p columns C = Q[:, R] alone, with A = C[R], the same for Q^ = C A^+ C'. Where its dominant eigenvector is
of mixed sign, features are ranked by that of E Q^ E', E = (1 ... 1) above the identity, with the first entry positive.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from jifs.errors import InputError
from jifs.relax.problem import check

LEVEL = 1e-10
"""Eigenvalues nearer to the largest than this, relative to it, are the same as far as rounding lets us tell."""
SMALL = 200
"""Up to this size all eigenvectors are computed; beyond, Lanczos looks for the dominant ones."""
CUT = 1e-10
"""Eigenvalues of A below this share of the largest are zero for its pseudo-inverse."""
MIXED = 1e-12
STEPS, RESTARTS, PROBE_STEPS = 100, 60, 24
"""Vectors kept by Lanczos, how often it starts again from the best, and its steps to look for a second eigenvalue."""
EXACT, ROUGH, CLOSE = 1e-14, 1e-3, 0.99
"""Residuals that end a search, relative to the eigenvalue; and what is too near to tell by a rough one."""

Multiply = Callable[[np.ndarray], np.ndarray]


class Weights(NamedTuple):
    """A weight for each feature, the eigenvalue, and whether it is multiple, so that other weights are as good."""

    weights: np.ndarray
    eigenvalue: float
    multiple: bool


def weights(Q: Any, nystrom: Any = None, seed: int = 0) -> Weights:
    """The weights of SPEC, of norm 1 and >= 0 (those of a Nystrom approximation of mixed sign may be negative).

    nystrom: None for the eigenvector of Q itself; the share of rows to go by, drawn with the seed; or a list of rows.
    """
    problem = check(Q, 0)
    if nystrom is not None:
        rows = nystrom_rows(nystrom, problem.n, seed)
        found = nystrom_weights(problem.Q[:, rows] / problem.power, rows, seed)
        return found._replace(eigenvalue=found.eigenvalue * problem.power)
    if not problem.Q.any():
        return Weights(np.full(problem.n, problem.n**-0.5), 0.0, problem.n > 1)
    values: list[float] = []
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for block in blocks(problem.Q):
        own = problem.Q if block.size == problem.n else problem.Q[np.ix_(block, block)]
        for value, vector in zip(*_top(own, problem.power, seed), strict=True):
            values.append(value)
            parts.append((block, vector))
    top = max(values)
    w, count = np.zeros(problem.n), 0
    for value, (block, vector) in zip(values, parts, strict=True):
        if value >= top * (1 - LEVEL):
            w[block] += vector.sum() * vector
            count += 1
    return Weights(np.abs(w) / np.linalg.norm(w), top * problem.power, count > 1)


def blocks(Q: np.ndarray) -> list[np.ndarray]:
    """The irreducible blocks of Q: sets of features joined by chains of positive entries, by their first feature."""
    unseen, found = np.ones(len(Q), np.bool_), []
    for first in range(len(Q)):
        if not unseen[first]:
            continue
        unseen[first] = False
        members, at = [first], 0
        while at < len(members) and unseen.any():
            more = np.flatnonzero(unseen & (Q[members[at]] > 0))
            unseen[more] = False
            members.extend(more.tolist())
            at += 1
        found.append(np.array(sorted(members)))
    return found


def _top(Q: np.ndarray, power: float, seed: int) -> tuple[list[float], list[np.ndarray]]:
    """The largest eigenvalue of Q / power and those level with it, with their eigenvectors."""
    if len(Q) <= SMALL:
        return dominant(Q / power, seed)
    return dominant(lambda v: (Q @ v) / power, seed, len(Q))


def dominant(
    matrix: np.ndarray | Multiply, seed: int = 0, n: int = 0
) -> tuple[list[float], list[np.ndarray]]:
    """The largest eigenvalues of a symmetric matrix, or of a product with one of size n: one and all level with it.

    By Lanczos at most two are found, the second by a search among the vectors at right angles to the first.
    """
    if isinstance(matrix, np.ndarray):
        values, vectors = np.linalg.eigh(matrix)
        level = np.flatnonzero(values >= values[-1] - LEVEL * max(abs(values[0]), abs(values[-1])))[::-1]
        return values[level].tolist(), list(vectors[:, level].T)
    rng, multiply = np.random.default_rng(seed), matrix
    value, x, residual = _climb(multiply, 1.0 + rng.random(n), EXACT, RESTARTS)

    def rest(v: np.ndarray) -> np.ndarray:
        product: np.ndarray = multiply(v) - (value * float(x @ v)) * x
        return product

    start = rng.standard_normal(n)
    start -= float(x @ start) * x
    second, y, off = _climb(rest, start, ROUGH, 1, PROBE_STEPS)
    if second + off >= CLOSE * value:
        second, y, off = _climb(rest, y, LEVEL / 10, RESTARTS)
    if second >= value * (1 - LEVEL) or residual > LEVEL * abs(value):
        return [value, value], [x, y]  # as good as level, or not to be told apart in so many steps
    return [value], [x]


def _climb(
    multiply: Multiply, start: np.ndarray, accuracy: float, restarts: int, most: int = STEPS
) -> tuple[float, np.ndarray, float]:
    """Lanczos from a start, every vector kept at right angles to all before it: eigenvalue, eigenvector, residual.

    It ends when |Ax - value x| <= accuracy |A|, or after so many steps that it gives the best it has.
    """
    from scipy.linalg import eigh_tridiagonal

    x = start / np.linalg.norm(start)
    value, residual = 0.0, np.inf
    for _ in range(restarts):
        basis = np.empty((min(most, x.size), x.size))
        diagonal: list[float] = []
        beside: list[float] = []
        v = x
        for step in range(len(basis)):
            basis[step] = v
            kept = basis[: step + 1]
            w = multiply(v)
            diagonal.append(float(v @ w))
            largest = max(map(abs, (*diagonal, *beside)))
            for _ in range(2):  # once leaves what rounding brings back
                w = w - kept.T @ (kept @ w)
            size = float(np.linalg.norm(w))
            ended = step + 1 == len(basis) or size <= 1e-15 * largest
            if ended or step % 4 == 3:
                values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside))
                value, last = float(values[-1]), vectors[:, -1]
                residual = size * abs(float(last[-1]))
                if ended or residual <= accuracy * np.abs(values).max():
                    x = last @ kept
                    x /= np.linalg.norm(x)
                    if residual <= accuracy * np.abs(values).max():
                        return value, x, residual
                    break
            beside.append(size)
            v = w / size
    return value, x, residual


# ------------------------------------------------------------------------------------------------------------- Nystrom


def checked_nystrom(nystrom: Any) -> float | list[int] | None:
    """None, a share of the rows, or a list of different rows; anything else is refused."""
    if nystrom is None:
        return None
    if _is(nystrom, Real):
        if not 0 < float(nystrom) <= 1:
            raise InputError(f"nystrom must be a share of the rows above 0 and up to 1, not {nystrom!r}")
        return float(nystrom)
    given = nystrom.tolist() if isinstance(nystrom, np.ndarray) else nystrom
    listed = isinstance(given, list | tuple | range) and all(_is(i, Integral) and i >= 0 for i in given)
    if not listed or not len(given) or len(set(given)) < len(given):
        raise InputError(
            f"nystrom must be None, a share of the rows or a list of different rows, not {nystrom!r}"
        )
    return [int(i) for i in given]


def nystrom_rows(nystrom: Any, n: int, seed: int) -> np.ndarray:
    """The rows to go by: max(1, round(share n)) drawn without replacement, or those given."""
    given = checked_nystrom(nystrom)
    if isinstance(given, list):
        if max(given) >= n:
            raise InputError(f"nystrom: there is no row {max(given)}; rows are 0 to {n - 1}")
        return np.array(given, np.int64)
    count = n if given is None else max(1, round(given * n))
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False))


def _is(value: Any, kind: type) -> bool:
    return not isinstance(value, bool | np.bool_) and isinstance(value, kind)


def nystrom_weights(columns: np.ndarray, rows: np.ndarray, seed: int = 0) -> Weights:
    """The weights by the columns Q[:, rows] alone, in the order of the features; the eigenvalue is that of Q^."""
    n, own = len(columns), columns[rows]
    values, vectors = np.linalg.eigh((own + own.T) / 2)
    kept = np.abs(values) > CUT * np.abs(values).max()
    if not kept.any():
        return Weights(np.full(n, n**-0.5), 0.0, n > 1)
    thin, scale = columns @ vectors[:, kept], values[kept]
    tops, found = _top_of_product(thin, scale, seed)
    x = (
        np.sum([v.sum() * v for v in found], axis=0)
        if len(found) > 1
        else found[0] * np.sign(found[0].sum() or 1)
    )
    x = x / (np.linalg.norm(x) or 1.0)
    if x.min() >= -MIXED:
        return Weights(np.abs(x), tops[0], len(found) > 1)
    # E Q^ E' has the columns of Q^ beneath their sums
    _, lifted = _top_of_product(np.vstack([thin.sum(axis=0), thin]), scale, seed)
    z = lifted[0] * np.sign(lifted[0][0] or lifted[0].sum() or 1)
    return Weights(z[1:], tops[0], len(lifted) > 1)


def _top_of_product(thin: np.ndarray, scale: np.ndarray, seed: int) -> tuple[list[float], list[np.ndarray]]:
    """The largest eigenvalues of T diag(1/scale) T'."""
    if len(thin) <= SMALL:
        whole = (thin / scale) @ thin.T
        return dominant((whole + whole.T) / 2, seed)
    return dominant(lambda v: thin @ ((thin.T @ v) / scale), seed, len(thin))
