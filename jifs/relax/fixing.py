"""What the tight dual says about single features: bounds for the sets with feature i and for those without it.

With A(u) = Q + k Diag(u) - (u e' + e u')/2 and any s >= lambda_max(A(u)), S = s I - A(u) is positive semidefinite and

    x'Qx = x'A(u)x = k s - x'Sx  <=  k s - 2 w'Sx + w'Sw       for ANY vector w, as (x - w)'S(x - w) >= 0,

so that, with v = Sw,

    sets with i      x'Qx <= k s + w'v - 2 (v_i + sum of the k - 1 smallest v_j, j != i)
    sets without i   x'Qx <= k s + w'v - 2 (sum of the k smallest v_j, j != i).

The best w for feature i is nearly the least x'Sx with x_i = 1 (or 0) and e'x = k: w = a S^-1 e_i + b S^-1 e. A wrong w
only makes the bound larger, and v is a product, not a solution, so ill-conditioned S costs nothing but quality. s a
little above lambda_max serves better than lambda_max itself, as |x|^2 = k is then felt; several s are tried.

Rounding. An entry of S is wrong by at most 4 e a, a = max|Q| + (k + 1) max|u_i| + s, e = 2^-53, and a product with n
terms by n e a |w|_1 in any order of summation [Higham 2002, section 3.5]: v_j is wrong by less than
z = 2 (n + 8) e a |w|_1. It enters 2 k + |w|_1 times; the sums of the v_j and of w_j v_j add their own (n + k + 8) e
times the absolute values.
"""

from __future__ import annotations

import numpy as np

UNIT = 2.0**-53
SHARES = (0.3, 1.0, 3.0)
"""k s lies above k lambda_max by these shares of the gap to the best known value."""


def forced_bounds(
    Q: np.ndarray, k: int, u: np.ndarray, most: float, lower: float
) -> tuple[np.ndarray, np.ndarray]:
    """Upper bounds of x'Qx over the sets with feature i, and over those without it, for every i; 1 <= k < n.

    `most` must be proven to be at least lambda_max(A(u)).
    """
    n = len(Q)
    A = Q - (u[:, None] + u) / 2
    A[np.diag_indices(n)] += k * u
    values, vectors = np.linalg.eigh(A)
    inside, outside = np.full(n, k * most), np.full(n, k * most)
    for share in SHARES:
        s = most + share * max(k * most - lower, 0.0) / k
        distance = np.maximum(s - values, 1e-12 * max(abs(s), abs(values[0])))
        inverse = (vectors / distance) @ vectors.T
        S = -A
        S[np.diag_indices(n)] += s
        largest = float(np.abs(Q).max() + (k + 1) * np.abs(u).max() + abs(s))
        for own, out in ((1.0, inside), (0.0, outside)):
            np.minimum(out, _bounds(S, inverse, k, s, own, largest), out=out)
    return inside, outside


def _bounds(S: np.ndarray, inverse: np.ndarray, k: int, s: float, own: float, largest: float) -> np.ndarray:
    """The bound for x_i = own, every i, each with the w of its own in a column."""
    n = len(S)
    sums, diagonal = inverse.sum(axis=1), inverse.diagonal()
    total = sums.sum()
    with np.errstate(all="ignore"):
        determinant = diagonal * total - sums**2
        a, b = (total * own - sums * k) / determinant, (diagonal * k - sums * own) / determinant
        W = inverse * a + np.outer(sums, b)
    W[:, ~np.isfinite(W).all(axis=0)] = 0.0
    V = S @ W
    ordered = np.sort(V, axis=0).cumsum(axis=0)
    itself, before = V.diagonal(), ordered[k - 2] if k > 1 else np.zeros(n)
    # i in the set: the k smallest if i is one of them, else the k - 1 smallest and i; without i: likewise
    least = np.maximum(ordered[k - 1], before + itself if own else ordered[k] - itself)
    bound = k * s + np.einsum("ij,ij->j", W, V) - 2.0 * least
    norm, height = np.abs(W).sum(axis=0), np.abs(V).max(axis=0)
    each = 2.0 * (n + 8) * UNIT * largest * norm
    own_sums = 4.0 * (n + k + 8) * UNIT * (norm * height + 2.0 * k * height + k * abs(s))
    return np.asarray(bound + (2.0 * k + norm) * each + own_sums)
