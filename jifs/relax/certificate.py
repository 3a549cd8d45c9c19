"""Certificates:  x'Qx <= bound for every set of k features, with the numbers that prove it.

    kind       multipliers          x'Qx is at most
    spectral   (none)               k (t + delta),  t I - Q psd up to delta
    tight      u[n]                 k (t + delta),  t I - Q - k Diag(u) + (u e' + e u')/2 psd up to delta
    eq26       (s, d_0, ..., d_n)   (4ks + sum d + (n + 1)(t + delta)) / 4,  t I + Diag(d) + s I~ - Q~ psd up to delta
    split      R[n, n]              sum of the k largest over i of Q_ii + the k - 1 largest R_ij;  R_ij + R_ji = 2 Q_ij
    exact      S[k]                 the value of S, the best set of a complete search

Any multipliers prove something, so that nobody needs to know how they were found: `verify_certificate` looks at Q, k
and the certificate alone. Up to 40 features it computes in rational numbers; beyond, by a Cholesky factorisation with
the error bound of jifs/relax/proof.py (the first three) or by sums that are rounded up (split). What an exact search
has left out is only proved again where that is easy; the verdict says which.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from jifs.errors import InputError, near
from jifs.relax import proof
from jifs.relax.blas import alone
from jifs.relax.problem import Problem, check, value

KINDS = ("spectral", "tight", "eq26", "split", "exact")
RATIONAL = 40
"""Up to this many features a certificate is checked in rational numbers."""
ENUMERATED = 18
"""Up to this many features the value of an exact search is compared with that of every set."""
SPLIT = 1e-9
"""How far R_ij + R_ji may be from 2 Q_ij, relative to the largest |R|: more than rounding is another matrix."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """x'Qx <= bound for all sets of k features; `multipliers`, `shift` (t) and `delta` prove it, in the units of Q."""

    kind: str
    k: int
    bound: float
    multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    shift: float = 0.0
    delta: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Numbers, lists and text only, for JSON; `from_dict` gives the same certificate back, to the last bit."""
        return {
            "kind": self.kind,
            "k": int(self.k),
            "bound": float(self.bound),
            "shift": float(self.shift),
            "delta": float(self.delta),
            "multipliers": np.asarray(self.multipliers).tolist(),
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Certificate:
        """The certificate of a dictionary that `to_dict` made."""
        try:
            kind, k, numbers = (
                str(given["kind"]),
                given["k"],
                (given["bound"], given["shift"], given["delta"]),
            )
            bound, shift, delta = (float(number) for number in numbers)
            array = np.asarray(given["multipliers"], np.int64 if kind == "exact" else np.float64)
            if isinstance(k, bool) or int(k) != k:
                raise ValueError
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                "a certificate needs kind, k, bound, shift, delta and multipliers, as Certificate.to_dict writes them"
            ) from error
        return cls(kind, int(k), bound, array, shift, delta)


@dataclass(frozen=True)
class Verdict:
    """Whether a certificate holds, why (not), and whether it was proved anew: true in an `if` when it holds."""

    ok: bool
    reason: str
    proved: bool = False

    def __bool__(self) -> bool:
        return self.ok


def verify_certificate(Q: Any, k: int, certificate: Certificate | dict[str, Any]) -> Verdict:
    """Check, from Q, k and the certificate alone, that no set of k features has a value above the bound.

    A certificate that proves its bound for this Q holds, whichever Q it was made for; a bound that is larger than what
    is proved holds too. Q and k themselves are checked as everywhere, and refused by an InputError.
    """
    problem = check(Q, k)
    if isinstance(certificate, dict):
        certificate = Certificate.from_dict(certificate)
    fault = _fault(problem, certificate)
    if fault:
        return Verdict(False, fault)
    if certificate.kind == "exact":
        return _exact(problem, certificate)
    if problem.k == 0:
        return Verdict(True, "no features, no value", True)
    if certificate.kind == "split":
        return _split(problem, certificate)
    if problem.n <= RATIONAL:
        return _rational(problem, certificate)
    with (
        alone(),
        np.errstate(over="ignore", invalid="ignore"),
    ):  # of senseless multipliers: their delta is infinite
        return _cholesky(problem, certificate)


def _fault(problem: Problem, given: Certificate) -> str:
    """What is wrong with the form of a certificate, or nothing."""
    n, k = problem.n, problem.k
    if given.kind not in KINDS:
        return f"the kind {given.kind!r} is unknown.{near(str(given.kind), KINDS)}"
    if given.k != k:
        return f"the certificate is for sets of {given.k} features, not of {k}."
    if not math.isfinite(given.bound) or given.bound < 0:
        return f"the bound {given.bound} is not a finite number from 0 on."
    if not (math.isfinite(given.shift) and math.isfinite(given.delta)):
        return "shift and delta must be finite numbers."
    try:
        array = np.asarray(given.multipliers, np.float64)
    except (TypeError, ValueError):
        return "the multipliers are not numbers."
    shape = {"spectral": (0,), "tight": (n,), "eq26": (n + 2,), "split": (n, n), "exact": (k,)}[given.kind]
    if array.shape != shape:
        return f"the multipliers have the shape {array.shape}, which for this Q must be {shape}."
    if not np.isfinite(array).all():
        return "the multipliers have an entry that is not a finite number."
    return ""


def _multipliers(given: Certificate, n: int) -> np.ndarray:
    """As float64; u of the spectral bound is 0."""
    return np.zeros(n) if given.kind == "spectral" else np.asarray(given.multipliers, np.float64)


# ------------------------------------------------------------------------------ semidefinite: spectral, tight, eq. 26


def _rational(problem: Problem, given: Certificate) -> Verdict:
    """The largest shift that the bound allows makes the matrix positive semidefinite, in rational numbers."""
    n, k, bound = problem.n, problem.k, Fraction(given.bound)
    Q = [[Fraction(entry) for entry in row] for row in problem.Q.tolist()]
    if given.kind == "eq26":
        s, *d = (Fraction(entry) for entry in _multipliers(given, n).tolist())
        t = (4 * bound - 4 * k * s - sum(d)) / (n + 1)
        sums = [sum(row) for row in Q]
        rows = [[n * s - sum(sums), *(s - own for own in sums)]]
        rows += [[s - sums[i], *(-entry for entry in Q[i])] for i in range(n)]
        for i in range(n + 1):
            rows[i][i] += t + d[i] + (s if i else 0)
        what = "t I + Diag(d) + s I~ - Q~"
    else:
        u = [Fraction(entry) for entry in _multipliers(given, n).tolist()]
        t = bound / k
        rows = [[(u[i] + u[j]) / 2 - Q[i][j] for j in range(n)] for i in range(n)]
        for i in range(n):
            rows[i][i] += t - k * u[i]
        what = "t I - A(u)"
    if proof.positive_semidefinite(rows):
        return Verdict(True, f"{what} is positive semidefinite, in rational arithmetic.", True)
    return Verdict(
        False, f"{what} is not positive semidefinite for the t of the bound, in rational arithmetic."
    )


def _cholesky(problem: Problem, given: Certificate) -> Verdict:
    """The Cholesky factorisation at the stored shift runs through, and the bound is not below what that proves."""
    n, k, power = problem.n, problem.k, problem.power
    numbers = _multipliers(given, n) / power
    if not problem.Q.any() and not numbers.any():
        return Verdict(True, "Q is zero.", True)
    Q, t = problem.scaled(), given.shift / power
    if given.kind == "eq26":
        s, d = float(numbers[0]), numbers[1:]
        H, far = proof.slack_eq26(Q, s, d, t)
        delta = proof.delta_of(H, far)
        least = proof.bound_eq26(k, s, d, t, delta) if math.isfinite(delta) else None
    else:
        H, far = proof.slack_tight(Q, k, numbers, t)
        delta = proof.delta_of(H, far)
        least = proof.bound_tight(k, t, delta) if math.isfinite(delta) else None
    if least is None:
        return Verdict(False, "the multipliers are too large for the error bound of the factorisation.")
    if Fraction(given.bound) < least * Fraction(power):
        return Verdict(
            False,
            f"the bound {given.bound!r} is below {float(least) * power!r}, which shift and multipliers give.",
        )
    rows = proof.cholesky(H)
    if rows < len(H):
        return Verdict(
            False, f"the Cholesky factorisation stops at row {rows}: the matrix is not positive definite."
        )
    return Verdict(
        True, f"the Cholesky factorisation runs through; rounding is within {delta * power:.3g}.", True
    )


# ---------------------------------------------------------------------------------------------------------------- split


def split_sums(Q: np.ndarray, k: int, R: np.ndarray) -> float:
    """Sum of the k largest over i of [Q_ii + sum of the k - 1 largest R_ij, j != i], rounded up; 1 <= k <= n.

    Of R only the part above the diagonal is used; R_ji = 2 Q_ij - R_ij is rounded up, which only makes it larger.
    A sum of k numbers errs by at most 2k 2^-53 times the sum of their absolute values, in any order; 2 (k + 4) 2^-53
    covers the sum of the absolute values, too, and the product. The last sum is rounded once, then up.
    """
    n = len(Q)
    rows = np.triu(R, 1)
    rows += np.tril(np.nextafter(2 * Q - R.T, np.inf), -1)
    np.fill_diagonal(rows, -np.inf)
    terms = -np.partition(-rows, k - 2, axis=1)[:, : k - 1] if k > 1 else np.zeros((n, 0))
    own = Q.diagonal()
    size = np.abs(terms).sum(axis=1) + own
    sums = np.nextafter(terms.sum(axis=1) + own + 2 * (k + 4) * proof.UNIT * size, np.inf)
    return math.nextafter(math.fsum(np.sort(sums)[n - k :].tolist()), math.inf)


def _split(problem: Problem, given: Certificate) -> Verdict:
    n, k, Q, R = problem.n, problem.k, problem.Q, _multipliers(given, problem.n)
    apart = np.abs(R / 2 + R.T / 2 - Q)
    np.fill_diagonal(apart, 0.0)
    if apart.max() > SPLIT * max(float(np.abs(R).max()), problem.scale):
        i, j = divmod(int(apart.argmax()), n)
        return Verdict(False, f"R[{i}, {j}] + R[{j}, {i}] is not 2 Q[{i}, {j}].")
    if n > RATIONAL:
        proved, how = Fraction(split_sums(Q, k, R)), "sums that are rounded up"
    else:
        rows = [[Fraction(entry) for entry in row] for row in R.tolist()]
        exact = [[Fraction(entry) for entry in row] for row in Q.tolist()]
        sums = []
        for i in range(n):
            own = [rows[i][j] if i < j else 2 * exact[i][j] - rows[j][i] for j in range(n) if j != i]
            sums.append(exact[i][i] + sum(sorted(own)[n - k :]))
        proved, how = sum(sorted(sums)[n - k :], Fraction(0)), "rational arithmetic"
    if Fraction(given.bound) < proved:
        return Verdict(
            False, f"the bound {given.bound!r} is below {float(proved)!r}, which R gives, in {how}."
        )
    return Verdict(True, f"R gives {float(proved)!r}, in {how}.", True)


# ---------------------------------------------------------------------------------------------------------------- exact


def _exact(problem: Problem, given: Certificate) -> Verdict:
    """S has the value of the bound, up to rounding; that it is the best is proved again for k = 0, 1, n and small n."""
    n, k, Q, S = problem.n, problem.k, problem.Q, _multipliers(given, problem.n)
    if (np.floor(S) != S).any() or (k and (S.min() < 0 or S.max() >= n)) or len(np.unique(S)) < k:
        return Verdict(False, f"S must hold {k} different features out of 0..{n - 1}.")
    own = value(Q, S.astype(np.int64))
    room = 4 * (k * k + 4) * proof.UNIT * own + 1e-300
    if given.bound < own - room:
        return Verdict(False, f"the bound {given.bound!r} is below {own!r}, the value of S.")
    if given.bound > own * (1 + 1e-9) + room:
        return Verdict(False, f"the bound {given.bound!r} is not {own!r}, the value of S.")
    if k == 0 or not Q.any() or k == n:
        return Verdict(True, f"there is no other value than {own!r}.", True)
    if k == 1:
        best = float(Q.diagonal().max())
    elif n <= ENUMERATED:
        best = _best(Q, k)
    else:
        return Verdict(True, f"S has the value {own!r}; that no other set is better was not proved again.")
    if given.bound < best - room:
        return Verdict(False, f"the bound {given.bound!r} is below {best!r}, the value of another set.")
    return Verdict(True, f"no set is better than {best!r}, all sets compared.", True)


def _best(Q: np.ndarray, k: int) -> float:
    """The best value of k features, from all 2^n sets by doubling: f(S + i) = f(S) + Q_ii + 2 sum_{j in S} Q_ij."""
    values, sizes = np.zeros(1), np.zeros(1, np.int64)
    for i in range(len(Q)):
        links = np.zeros(1)
        for j in range(i):
            links = np.concatenate([links, links + Q[i, j]])
        values = np.concatenate([values, values + Q[i, i] + 2 * links])
        sizes = np.concatenate([sizes, sizes + 1])
    return float(values[sizes == k].max())
