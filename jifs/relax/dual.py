"""The tight semidefinite bound through its dual, an eigenvalue to be minimised [Helmberg & Rendl 2000; Nesterov 2007]:

    x'Qx <= f(u) = k lambda_max(A(u)),      A(u) = Q + k Diag(u) - (u e' + e u')/2,      for ANY u in R^n

(proof in jifs/relax/proof.py). u = 0 is the spectral bound; the least f(u) is the value of the relaxation  max Q.X,
X psd, tr X = k, Xe = k diag X, which is eq. 26 of [Vinh et al. 2014] with the missing e'Xe = k^2. f is smoothed,

    f_mu(u) = k mu log sum_i exp(lambda_i / mu),      f <= f_mu <= f + k mu log n,
    gradient = k sum_i p_i (k v_i^2 - (e'v_i) v_i),   p = softmax(lambda / mu),

and minimised by L-BFGS for a falling mu. Nothing of this need be exact: the u that is found is proved to give its bound
by one Cholesky factorisation. Where that stops it shows a direction in which the eigenvalue is larger than was thought,
and the search for the eigenvalue goes on from there.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from jifs.errors import InputError
from jifs.relax import proof
from jifs.relax.blas import alone
from jifs.relax.certificate import Certificate
from jifs.relax.eigen import Eigen
from jifs.relax.problem import Problem, check

FIRST, FALL, LEAST = 1e-2, 10.0, 1e-6
"""mu as a share of lambda_max: the first one, by how much it falls, and the last one whatever the tolerance."""
THOROUGH: dict[str, Any] = {"maxcor": 60, "maxfun": 400, "ftol": 1e-5}
QUICK: dict[str, Any] = {"maxcor": 20, "maxfun": 200, "ftol": 1e-3}
"""L-BFGS for each mu, where all eigenvalues are known and where they are estimates: pairs that are kept, evaluations at
most, and the decrease (as a share of mu) that ends it."""
SENSIBLE = 2.0**40
"""A start with larger entries, beside those of Q, is no help."""
NEAR = 1e-9
"""How near to lambda_max, relatively, a proved t should be, where rounding allows."""
FLOPS = 4e9
"""What a factorisation is supposed to do in a second, before the first one was timed: rather too little."""


class _ReachedError(Exception):
    """The estimate of the bound is below the target."""


class _LateError(Exception):
    """There is just the time left to prove what was found."""


def spectral_bound(Q: Any, k: int) -> Certificate:
    """k lambda_max(Q), with its proof."""
    problem = check(Q, k)
    if problem.k == 0 or not problem.Q.any():
        return Certificate("spectral", problem.k, 0.0)
    with alone():
        return _Prover(problem, "spectral").prove(np.zeros(problem.n))


def tight_bound(
    Q: Any,
    k: int,
    lower: float = -math.inf,
    tolerance: float = 1e-3,
    seconds: float | None = None,
    u: Any = None,
) -> Certificate:
    """A small proved f(u): at most lower (1 + tolerance) if that can be reached, else near the least one.

    `lower` is the value of a known set. A bound within `tolerance` of it ends the search; where the relaxation is not
    as good as that, the search ends within about a tolerance of the value of the relaxation (1e-6 at the least). With
    `seconds` it ends in time, and an interrupt ends it too: both give the best bound so far, with its proof. `u` is a
    start, for instance the multipliers of a similar problem.
    """
    started = time.perf_counter()
    problem = check(Q, k)
    start = np.zeros(problem.n) if u is None else _vector(u, problem.n, "u")
    for name, number in (("tolerance", tolerance), ("seconds", 0.0 if seconds is None else seconds)):
        if not _real(number) or not 0 <= number < math.inf:
            raise InputError(f"{name} must be a number from 0 on, not {number!r}")
    if not _real(lower) or not lower < math.inf:
        raise InputError(f"lower must be the value of a set, or -inf, not {lower!r}")
    if problem.k == 0 or not problem.Q.any():
        return Certificate("tight", problem.k, 0.0, np.zeros(problem.n))
    deadline = math.inf if seconds is None else started + seconds
    with alone():
        return _Descent(problem, float(lower), float(tolerance), deadline).run(start / problem.power)


def eq26_bound(Q: Any, k: int, multipliers: Any) -> Certificate:
    """The bound that multipliers (s, d_0, ..., d_n) of eq. 26 prove, whatever they are and whoever found them."""
    problem = check(Q, k)
    given = _vector(multipliers, problem.n + 2, "multipliers")
    if problem.k == 0:
        return Certificate("eq26", 0, 0.0, given)
    scaled, s, d = problem.scaled(), float(given[0]) / problem.power, given[1:] / problem.power
    with alone():
        H, far = proof.slack_eq26(scaled, s, d, 0.0)
        step = proof.delta_of(H, far)
        if not math.isfinite(step):
            raise InputError("multipliers must be of the size of Q's entries, or at most 1e15 times that")
        least = float(np.linalg.eigvalsh(H)[0])
        while True:
            t = step - least
            H, far = proof.slack_eq26(scaled, s, d, t)
            delta = proof.delta_of(H, far)
            if proof.cholesky(H) == len(H):
                return _certificate(
                    problem, "eq26", proof.bound_eq26(problem.k, s, d, t, delta), given, t, delta
                )
            step = 4 * max(step, delta)


class _Prover:
    """From u to a certificate. Numbers are in units of problem.power here, and in those of Q in the certificate."""

    def __init__(self, problem: Problem, kind: str, deadline: float = math.inf) -> None:
        self.problem, self.kind, self.deadline = problem, kind, deadline
        self.Q = problem.scaled()
        self.eigen = Eigen(self.Q, problem.k)
        self.seconds = problem.n**3 / 3 / FLOPS  # of one factorisation

    def prove(self, u: np.ndarray) -> Certificate:
        """The bound of u for the least t whose factorisation runs through: by eigenvalues, then by bisection."""
        u = u * self.problem.power / self.problem.power  # as the certificate will have it
        low = self.eigen.largest(u, 0.1 * NEAR, self.deadline - self.seconds)
        spread = low - self.Q.diagonal() - (self.problem.k - 1) * u
        least = 1.01 * (self.problem.n + 1) * proof.UNIT * float(np.abs(spread).sum()) + proof.TINY
        t, failures, proved = low + least, 0, None
        for tries in range(1000):
            t = self._held(t)
            delta, direction = self._factor(u, t)
            late = time.perf_counter() + self.seconds > self.deadline
            if direction is None:
                proved = t, delta
            else:
                failures += 1
                self.eigen.add(direction)
                low = max(t, self.eigen.largest(u, 0.1 * NEAR, self.deadline - self.seconds))
            if proved is None:
                t = low + max(least * 8.0**failures, 1e-4 * abs(low) * 8.0**failures if late else 0.0)
                continue
            room = proved[0] - low
            if room <= max(4 * least, NEAR * abs(low)) or late or tries > 20:
                break
            t = low + max(room / 16, least)
        assert proved is not None  # for the room has grown until a factorisation ran through
        return self.certificate(u, *proved)

    def row_sums(self) -> Certificate:
        """The bound that needs no factorisation: u = 0, and t I - Q diagonally dominant."""
        n = self.problem.n
        sums = float(self.Q.sum(axis=1).max()) * (1 + 4 * n * proof.UNIT)
        delta = 0.0
        for _ in range(2):  # a t with room, so that a factorisation will run through
            t = self._held(sums + 2 * delta)
            delta = proof.delta_of(*proof.slack_tight(self.Q, self.problem.k, np.zeros(n), t))
        return self.certificate(np.zeros(n), t, delta)

    def certificate(self, u: np.ndarray, t: float, delta: float) -> Certificate:
        multipliers = np.zeros(0) if self.kind == "spectral" else u * self.problem.power
        bound = proof.bound_tight(self.problem.k, t, delta)
        return _certificate(self.problem, self.kind, bound, multipliers, t, delta)

    def _held(self, t: float) -> float:
        """t, or the next number above it that the units of Q can hold."""
        power = self.problem.power
        held = t * power
        return (held if held / power >= t else math.nextafter(held, math.inf)) / power

    def _factor(self, u: np.ndarray, t: float) -> tuple[float, np.ndarray | None]:
        """delta, and a direction in which A(u) is larger than t if the factorisation stops."""
        start = time.perf_counter()
        H, far = proof.slack_tight(self.Q, self.problem.k, u, t)
        delta = proof.delta_of(H, far)
        rows = proof.cholesky(H) if math.isfinite(delta) else 0
        direction = proof.descent(H, rows) if rows < len(H) else None
        self.seconds = time.perf_counter() - start
        return delta, direction


class _Descent:
    """The way of u from a start to a good bound, in units of problem.power."""

    def __init__(self, problem: Problem, lower: float, tolerance: float, deadline: float) -> None:
        self.problem, self.k, self.deadline = problem, problem.k, deadline
        self.prover = _Prover(problem, "tight", deadline)
        self.eigen = self.prover.eigen
        self.lower, self.target = lower / problem.power, lower * (1 + tolerance)
        room = 1e-10 if self.eigen.dense else 2e-8 + 0.02 * tolerance  # for what the proof adds
        self.enough = self.target / problem.power * (1 - room)
        self.last = min(max(tolerance / 3, LEAST), FIRST)
        self.best, self.u, self.fresh = math.inf, np.zeros(problem.n), False
        self.certificate: Certificate | None = None

    def run(self, start: np.ndarray) -> Certificate:
        """All mu in turn, with proofs in between where eigenvalues are estimates; then the proof of the best u."""
        with suppress(_LateError, KeyboardInterrupt):
            self._descend(start)
        with suppress(KeyboardInterrupt):
            self._prove()
        return self.certificate or self.prover.row_sums()

    def _descend(self, start: np.ndarray) -> None:
        _, vectors = self._look(np.zeros(len(start)), FIRST)
        size = max(self.lower, self._first_value(vectors[:, 0])) / self.k
        mu, again = FIRST, 0
        if start.any() and np.abs(start).max() < SENSIBLE:
            self._look(start, FIRST)
            mu = max(mu / FALL, self.last)
        while True:
            reached = self._stage(mu, size)
            astray = False
            if reached or not self.eigen.dense:
                estimate = self.best
                self._prove()
                astray = self.best - estimate > 0.3 * mu * self.best
            if self.certificate is not None and self.certificate.bound <= self.target:
                return
            if (reached or astray) and again < 3:
                again += (
                    1  # the eigenvalue was larger than it seemed: with what the proof has shown, once more
                )
            elif mu <= self.last:
                return
            else:
                mu, again = max(mu / FALL, self.last), 0

    def _first_value(self, vector: np.ndarray) -> float:
        """The value of the features with most weight, for the scale of things where `lower` is not known."""
        S = np.argsort(-np.abs(vector), kind="stable")[: self.k]
        return max(float(self.prover.Q[np.ix_(S, S)].sum()), 1e-3 * self.best)

    def _late(self) -> bool:
        return time.perf_counter() + 1.5 * self.prover.seconds > self.deadline

    def _prove(self) -> None:
        if self.fresh:
            found = self.prover.prove(self.u)
            self.best, self.fresh = found.bound / self.problem.power, False
            if self.certificate is None or found.bound < self.certificate.bound:
                self.certificate = found

    def _look(self, u: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
        """The top of the spectrum at u, noted if it is a record."""
        if self._late():
            raise _LateError
        values, vectors = self.eigen.top(u, mu)
        if self.k * values[0] < self.best:
            self.best, self.u, self.fresh = self.k * float(values[0]), u.copy(), True
        return values, vectors

    def _stage(self, share: float, size: float) -> bool:
        """L-BFGS on f_mu / (k size) in z = u k / size, both of the order of 1; whether the target seems reached."""
        from scipy.optimize import minimize

        k, mu, unit = self.k, share * size, size / self.k

        def smooth(z: np.ndarray) -> tuple[float, np.ndarray]:
            values, vectors = self._look(z * unit, mu)
            if self.best <= self.enough:
                raise _ReachedError
            p = np.exp((values - values[0]) / mu)
            total = float(p.sum())
            p /= total
            gradient = vectors**2 @ p - vectors @ (p * vectors.sum(axis=0)) / k
            return (float(values[0]) + mu * math.log(total)) / size, gradient

        settings = THOROUGH if self.eigen.dense else QUICK
        options = {**settings, "maxiter": settings["maxfun"], "ftol": settings["ftol"] * share, "gtol": 0.0}
        try:
            minimize(smooth, self.u / unit, jac=True, method="L-BFGS-B", options=options)
        except _ReachedError:
            return True
        return False


def _certificate(
    problem: Problem, kind: str, bound: Fraction, multipliers: np.ndarray, t: float, delta: float
) -> Certificate:
    """From units of problem.power to those of Q, the bound rounded up."""
    power = problem.power
    up = max(proof.rounded_up(bound * Fraction(power)), 0.0)
    return Certificate(kind, problem.k, up, multipliers, t * power, delta * power)


def _real(number: Any) -> bool:
    return isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)


def _vector(given: Any, length: int, name: str) -> np.ndarray:
    try:
        vector = np.array(given, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be {length} numbers") from error
    if vector.shape != (length,) or not np.isfinite(vector).all():
        raise InputError(f"{name} must be {length} finite numbers, not an array of shape {vector.shape}")
    return vector
