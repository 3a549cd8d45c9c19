"""Proofs in floating point: a Cholesky factorisation that runs through shows  lambda_min(M) >= -delta.

For every feasible x (0/1, e'x = k) and ANY u in R^n, x'Diag(u)x = u'x and x'(ue')x = k u'x, hence

    x'Qx = x'A(u)x <= k lambda_max(A(u)),       A(u) = Q + k Diag(u) - (u e' + e u')/2,                      (tight)

and y = (1, 2x - 1) has y_i^2 = 1 and y'I~y = 4k, hence for ANY numbers s, d_0, ..., d_n

    4 x'Qx = y'Q~y = 4ks + sum d - y'(Diag(d) + s I~ - Q~)y,     Q~ = E Q E', I~ = E E', E = e' above I.     (eq. 26)

If M = t I - A(u) has lambda_min(M) >= -delta, then x'Qx <= k (t + delta); if M = t I + Diag(d) + s I~ - Q~ has, then
4 x'Qx <= 4ks + sum d + (n + 1)(t + delta), since |y|^2 = n + 1. It remains to show lambda_min(M) >= -delta.

THEOREM. Let H be the floating-point matrix that stands for M, N its order, |H - M| <= F in the 2-norm, w = 2^-53. If
`cholesky(H)` runs through, then lambda_min(M) >= -delta with

    delta = g tr(H) + F + 2^-900,      g = (N + 1) w / (1 - 2 (N + 1) w)      (N <= 2^30, |H_ij| <= 2^60).

Proof. 1. Row j of R is r_jj = sqrt(s_jj), r_ji = s_ji / r_jj, with s_ji = h_ji - sum_{l<j} r_lj r_li summed in an
order that BLAS chooses, products fused to sums or not. Whatever the order, without underflow [Higham 2002, Lemma 8.4
for i > j, and the root as in Theorem 10.3], with gamma = (N + 1) w / (1 - (N + 1) w),

    |h_ji - sum_{l<=j} r_lj r_li| <= gamma sum_{l<=j} |r_lj| |r_li|.

2. So R'R = H + D with |D_ij| <= gamma |r_i| |r_j| (Cauchy-Schwarz), r_i the columns of R [Higham 2002, Theorem 10.3].
Its diagonal gives |r_i|^2 <= h_ii + gamma |r_i|^2, i.e. |r_i|^2 <= h_ii / (1 - gamma), and therefore
|D_ij| <= g sqrt(h_ii h_jj), g = gamma / (1 - gamma) [Demmel 1989; Rump 2006]. A matrix that is below z z' in absolute
value, z_i = sqrt(g h_ii), has a norm of at most z'z = g tr(H). As R'R is psd, lambda_min(H) >= -g tr(H).

3. Underflow. Each of the at most 2N operations of an entry may lose 2^-1022 more, also where subnormal numbers are
flushed to zero; later roundings at most double that, and what the quotient r_ji loses is multiplied by r_jj <= 2^31. So
an entry of D grows by less than (4N + 2^32) 2^-1022 and its norm by less than N times that, far below 2^-901; what
Q / power and u / power lose by underflow changes M by less than (2N + k) 2^-1022, far below 2^-901 too.

4. lambda_min(M) >= lambda_min(H) - |H - M|.                                                                       QED

F. An operation errs by at most w times its result. With q = max Q <= 1 and m = max |u|, (u_i + u_j)/2 - Q_ij errs by
w (2m + q), and t - Q_ii - (k - 1) u_i, computed in this order, by 2w (|t| + q + (k - 1) m), up to factors 1 + 3w; a row
of errors sums to less than F = 4w (|t| + n q + (n + k) m), and the 2-norm is at most the largest row sum. For eq. 26,
the row sums r_j of Q and their sum e'Qe are rounded (`math.fsum`), then s - r_j once, corner and diagonal four times; a
row of errors sums to less than F = 16w (e'Qe + n |s| + max |d| + |t| + n).

delta itself is evaluated from positive terms by fewer than 20 operations and the trace by `math.fsum`; the factor
1 + 2^-40 is above their rounding. The last step, from t and delta to the bound, is made in rational arithmetic and
rounded up once. What is assumed of the machine: IEEE double precision, rounding to nearest, and a matrix product that
sums the products of the definition in some order (no Strassen). The quotients are made here and not by a LAPACK,
because some of those multiply by inverted blocks, for which Lemma 8.4 does not speak.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from jifs.relax.blas import product

UNIT = 2.0**-53
TINY = 2.0**-900
LARGEST = 2.0**60
PANEL = 64
"""Rows of R that are made together: the sums over all rows before them are one matrix product."""


def slack_tight(Q: np.ndarray, k: int, u: np.ndarray, t: float) -> tuple[np.ndarray, float]:
    """t I - A(u) as a new array, and F: how far from the true one it may be. Q has entries in [0, 1]."""
    n, half = len(Q), u / 2
    H = half[:, None] + half[None, :]
    H -= Q
    H[np.diag_indices(n)] = (t - Q.diagonal()) - (k - 1) * u
    far = 4 * UNIT * (abs(t) + n * float(Q.max()) + (n + k) * float(np.abs(u).max()))
    return H, far


def slack_eq26(Q: np.ndarray, s: float, d: np.ndarray, t: float) -> tuple[np.ndarray, float]:
    """t I + Diag(d) + s I~ - Q~, of order n + 1, and F. Q has entries in [0, 1]."""
    n = len(Q)
    rows = [math.fsum(row) for row in Q.tolist()]
    total = math.fsum(rows)
    H = np.empty((n + 1, n + 1))
    H[0, 0] = ((n * s + d[0]) - total) + t
    H[0, 1:] = H[1:, 0] = s - np.array(rows)
    H[1:, 1:] = -Q
    H[np.arange(1, n + 1), np.arange(1, n + 1)] = ((s + d[1:]) - Q.diagonal()) + t
    far = 16 * UNIT * (total + n * abs(s) + float(np.abs(d).max()) + abs(t) + n)
    return H, far


def delta_of(H: np.ndarray, far: float) -> float:
    """The delta of the theorem; infinite where it does not speak (N or an entry too large, or not a number)."""
    N = len(H)
    if not (N <= 2**30 and H.max() <= LARGEST and -H.min() <= LARGEST):
        return math.inf
    m = (N + 1) * UNIT
    trace = math.fsum(H.diagonal().tolist())
    return (m / (1 - 2 * m) * max(trace, 0.0) + far + TINY) * (1 + 2.0**-40)


def cholesky(H: np.ndarray) -> int:
    """H = R'R, R in place of the upper triangle; the number of rows of R that could be made, N if it ran through.

    The row that could not be made holds r_lj above its pivot s_jj <= 0: `descent` makes use of it.
    """
    N = len(H)
    for lo in range(0, N, PANEL):
        hi = min(lo + PANEL, N)
        W = H[lo:hi, lo:]
        if lo:
            W -= product(H[:lo, lo:].T, H[:lo, lo:hi]).T
        for j in range(hi - lo):
            row = W[j, j:]
            if j:
                row -= W[:j, j] @ W[:j, j:]
            pivot = float(row[0])
            if not pivot > 0:
                return lo + j
            row /= math.sqrt(pivot)
            row[0] = math.sqrt(pivot)
    return N


def descent(H: np.ndarray, failed: int) -> np.ndarray:
    """A unit vector y with y'Hy <= 0 up to rounding, from a factorisation that stopped at row `failed`."""
    from scipy.linalg import solve_triangular

    y = np.zeros(len(H))
    y[failed] = 1.0
    if failed:
        y[:failed] = -solve_triangular(H[:failed, :failed], H[:failed, failed])
    length = float(np.linalg.norm(y))
    return np.asarray(y / length) if np.isfinite(length) else np.eye(1, len(H), failed)[0]


def positive_semidefinite(rows: list[list[Fraction]]) -> bool:
    """Whether a symmetric rational matrix is positive semidefinite, exactly.

    Elimination in whole numbers [Bareiss 1968]: the pivots are the leading minors, the divisions leave no rest. A zero
    pivot is allowed if its row is zero; it is then left out, as the matrix without it is positive semidefinite or not.
    """
    scale = math.lcm(*(entry.denominator for row in rows for entry in row))
    M = [[int(entry * scale) for entry in row] for row in rows]
    N, before = len(M), 1
    for j in range(N):
        pivot = M[j][j]
        if pivot < 0 or (pivot == 0 and any(M[j][j + 1 :])):
            return False
        if pivot == 0:
            continue
        for i in range(j + 1, N):
            own = M[j][i]
            row, top = M[i], M[j]
            for c in range(i, N):  # the upper triangle is enough
                row[c] = (pivot * row[c] - own * top[c]) // before
        before = pivot
    return True


def rounded_up(number: Fraction) -> float:
    """The least float that is not below a rational number."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def bound_tight(k: int, t: float, delta: float) -> Fraction:
    """k (t + delta)."""
    return k * (Fraction(t) + Fraction(delta))


def bound_eq26(k: int, s: float, d: np.ndarray, t: float, delta: float) -> Fraction:
    """(4ks + sum d + (n + 1)(t + delta)) / 4."""
    shift = len(d) * (Fraction(t) + Fraction(delta))
    return (4 * k * Fraction(s) + sum(map(Fraction, d.tolist())) + shift) / 4
