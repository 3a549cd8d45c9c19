"""Eigenvalues and eigenvectors of a symmetric matrix that grows by one row and column, by the secular equation.

With A = U diag(lambda) U', a new column v, a new corner s2 and q = U' v, the new eigenvalues are the roots of

    f(t) = s2 - t - sum_i q_i^2 / (lambda_i - t),

one between consecutive lambda_i and one beyond each end; the eigenvector of t is (-q_i / (lambda_i - t), 1), made of
length one and turned by U. [Boley & Golub 1977, Gu & Eisenstat 1995]

Three habits keep the eigenvectors orthogonal, also where eigenvalues crowd together:

* a root is stored as its distance from the nearest lambda_i, so that every lambda_i - t is right to the last digits;
* q_i = 0 and repeated lambda_i are deflated: their eigenvectors are known and take no part in the equation;
* once the roots are found, q is computed again, as the one whose roots they are exactly (`weights_again`).

What is kept, for any condition number and any crowding, with eps = 2.2e-16, k the new size and ||A|| = max |t|:

    values, and the length of A x - t x:  within (8 + k/4) eps ||A||, for one step and for a chain of k from nothing
    X'X - I, every entry:                 within (8 + k/4) eps for an arrow, (8 + k) eps for a chain of k steps

So a value is right relative to the LARGEST one: at a condition of 1e10 the least keeps about six digits, as it does
with any method that works on the matrix itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jifs.jit import kernel

EPS = 2.0**-52
QUICK_STEPS, MOST_STEPS = 16, 90  # three or four are usual; the rest is halving, which can't fail
LARGEST = 1e300  # beyond it a length could overflow


@kernel
def root_one(
    poles: Any, weights: Any, corner: float, origin: int, side: int, nearest: float, farthest: float
) -> float:
    """Distance d of the root next to poles[origin], on the side +1 (above) or -1 (below); O(k) a step, a few steps.

    nearest <= d <= farthest, and farthest at most half the way to the next pole. Seen from the origin the equation is
    F(d) = e - d + w_o / d - sum_j w_j / (p_j - d), falling in d. A step keeps the term of the origin as it is and puts
    one of the same value and slope for all others: a pole at the neighbour or, beyond the ends, one more at the origin.
    """
    inside = 0 <= origin + side < poles.size
    width = side * (poles[origin + side] - poles[origin]) if inside else 0.0
    d = farthest
    for step in range(MOST_STEPS):
        value, slope, size = side * (corner - poles[origin]) - d, -1.0, abs(corner) + abs(poles[origin]) + d
        for j in range(poles.size):
            if j != origin:
                away = side * (poles[j] - poles[origin]) - d
                part = weights[j] / away
                value -= part
                slope -= part / away
                size += abs(part)
        own = weights[origin] / d
        value += own
        if abs(value) <= EPS * (size + own):
            break
        if value > 0.0:
            nearest = d
        else:
            farthest = d
        # The model is zero at d + x where a x^2 - b x - c = 0, on the branch on which it falls.
        if inside:
            rest = width - d
            a = value - own - slope * rest
            b = a * (rest - d) - weights[origin] + slope * rest * rest
            c = d * rest * value
        else:
            a, b, c = 1.0, value - own + slope * d, d * value
        spread = math.sqrt(max(b * b + 4.0 * a * c, 0.0))
        change = (b + spread) / (2.0 * a) if b > 0.0 else 2.0 * c / (spread - b)
        if abs(change) <= 0.5 * EPS * d:
            break
        following = d + change
        if step >= QUICK_STEPS or not nearest < following < farthest:
            wide = farthest > 2.0 * nearest
            following = math.sqrt(nearest) * math.sqrt(farthest) if wide else 0.5 * (nearest + farthest)
            if not nearest < following < farthest:
                break
        d = following
    return d


@kernel
def outer_distance(start: float, weight: float) -> float:
    """The d > 0 with start - d + weight / d = 0: a bound of an outer root, from below or above by the weight."""
    spread = math.sqrt(start * start + 4.0 * weight)
    return 0.5 * (start + spread) if start > 0.0 else 2.0 * weight / (spread - start)


@kernel
def roots_all(poles: Any, weights: Any, corner: float, origins: Any, offsets: Any) -> None:
    """All k + 1 roots t_j = poles[origins[j]] + offsets[j], ascending; O(k^2), allocates nothing.

    The poles ascend strictly and the weights q_i^2 are positive. An offset is never 0.
    """
    k, total = poles.size, 0.0
    for weight in weights:
        total += weight
    for side, end, slot in ((-1, 0, 0), (1, k - 1, k)):
        start = side * (corner - poles[end])
        nearest = 0.5 * outer_distance(start, weights[end])
        farthest = 2.0 * outer_distance(start, total)
        origins[slot] = end
        offsets[slot] = side * root_one(poles, weights, corner, end, side, nearest, farthest)
    for j in range(k - 1):
        half = 0.5 * (poles[j + 1] - poles[j])
        middle = (corner - poles[j]) - half
        for i in range(k):
            middle -= weights[i] / ((poles[i] - poles[j]) - half)
        side, origin = (1, j) if middle <= 0.0 else (-1, j + 1)
        nearest = 0.5 * weights[origin] / (weights[origin] / half + abs(middle))
        origins[j + 1] = origin
        offsets[j + 1] = side * root_one(poles, weights, corner, origin, side, nearest, half)


@kernel
def weights_again(poles: Any, origins: Any, offsets: Any, out: Any) -> None:
    """out_i = q_i^2 = - prod_j (l_i - t_j) / prod_{j != i} (l_i - l_j), l the poles and t the roots; O(k^2)."""
    k = poles.size
    for i in range(k):
        below = (poles[i] - poles[origins[0]]) - offsets[0]
        above = (poles[origins[k]] - poles[i]) + offsets[k]
        product = below * above
        for j in range(k):
            if j != i:
                t = j + 1 if j < i else j  # the root between poles[j] and poles[i] that is next to poles[j]
                product *= ((poles[i] - poles[origins[t]]) - offsets[t]) / (poles[i] - poles[j])
        out[i] = product


@kernel
def deflate(poles: Any, q: Any, tolerance: float, active: Any, pairs: Any, turns: Any) -> Any:
    """Makes q_i = 0 where it is within the tolerance, or can be by turning two near poles; O(k), in place.

    Returns (number of active indices, number of turns). Turn r mixes the axes pairs[r] = (p, i) by
    turns[r] = (cosine, sine): e_p <- c e_p - s e_i, e_i <- s e_p + c e_i.
    """
    count, turned, p = 0, 0, -1
    for i in range(q.size):
        if abs(q[i]) <= tolerance:
            q[i] = 0.0
            continue
        if p >= 0:
            both = math.hypot(q[p], q[i])
            cosine, sine, gap = q[i] / both, q[p] / both, poles[i] - poles[p]
            if abs(cosine * sine * gap) <= tolerance:
                poles[p] += sine * sine * gap
                poles[i] -= sine * sine * gap
                q[p], q[i] = 0.0, both
                pairs[turned, 0], pairs[turned, 1] = p, i
                turns[turned, 0], turns[turned, 1] = cosine, sine
                turned += 1
            else:
                active[count] = p
                count += 1
        p = i
    if p >= 0:
        active[count] = p
        count += 1
    return count, turned


@kernel
def arrow_vectors(poles: Any, q: Any, active: Any, origins: Any, offsets: Any, vectors: Any) -> None:
    """Columns 0..count of `vectors` are the eigenvectors of the roots, on the active axes and the last; O(k^2)."""
    count = active.size
    again = np.empty(count)
    weights_again(poles, origins, offsets, again)
    for i in range(count):
        again[i] = math.copysign(math.sqrt(again[i]), q[active[i]])
    last = q.size
    for j in range(count + 1):
        length = 1.0
        for i in range(count):
            part = again[i] / (offsets[j] - (poles[i] - poles[origins[j]]))
            vectors[active[i], j] = part
            length += part * part
        length = math.sqrt(length)
        for i in range(count):
            vectors[active[i], j] /= length
        vectors[last, j] = 1.0 / length


@kernel
def arrow_eigen(lam: Any, q: Any, corner: float, values: Any, vectors: Any) -> int:
    """Eigensystem of [[diag(lam), q], [q', corner]]: values ascending, eigenvectors in the columns; O(k^2).

    lam[k] ascends; fills values[k + 1] and vectors[k + 1, k + 1] and allocates one more such matrix. Returns the number
    of deflated values, or -1, with nothing changed, if an entry is NaN or beyond 1e300.
    """
    k = lam.size
    largest = abs(corner)
    for i in range(k):
        largest = max(largest, max(abs(lam[i]), abs(q[i])))
        if not (abs(lam[i]) <= LARGEST and abs(q[i]) <= LARGEST):
            return -1
    if not largest <= LARGEST:
        return -1
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0.0 else 1.0
    poles, z, corner = lam / scale, q / scale, corner / scale
    active, pairs, turns = np.empty(k, np.int64), np.empty((k, 2), np.int64), np.empty((k, 2))
    count, turned = deflate(poles, z, EPS * largest / scale, active, pairs, turns)
    active = active[:count]
    own, weights = poles[active], z[active] ** 2
    origins, offsets, found = np.empty(count + 1, np.int64), np.empty(count + 1), np.empty(k + 1)
    loose = np.zeros((k + 1, k + 1))
    if count:
        roots_all(own, weights, corner, origins, offsets)
        found[: count + 1] = own[origins] + offsets
        arrow_vectors(own, z, active, origins, offsets, loose)
    else:
        found[0], loose[k, 0] = corner, 1.0
    column = count + 1
    for i in range(k):
        if z[i] == 0.0:
            found[column], loose[i, column] = poles[i], 1.0
            column += 1
    for r in range(turned - 1, -1, -1):
        p, i, cosine, sine = pairs[r, 0], pairs[r, 1], turns[r, 0], turns[r, 1]
        for j in range(k + 1):
            a, b = loose[p, j], loose[i, j]
            loose[p, j], loose[i, j] = cosine * a + sine * b, cosine * b - sine * a
    order = np.argsort(found, kind="mergesort")
    for j in range(k + 1):
        values[j] = found[order[j]] * scale
        for i in range(k + 1):
            vectors[i, j] = loose[i, order[j]]
    return int(k - count)


@kernel
def eigen_add(column: Any, variance: float, values: Any, vectors: Any, k: int) -> int:
    """A grows by one feature: values[:k] and vectors[:k, :k] become values[:k + 1] and vectors[:k + 1, :k + 1].

    O(k^2) for the eigensystem of the arrow and O(k^3) to turn its vectors by the old ones; in place, and allocates two
    matrices of the new size. `column` holds the k covariances with the old features. Returns the number of deflated
    values, or -1, with nothing changed, if an entry is NaN or beyond 1e300.
    """
    q = np.zeros(k)
    for a in range(k):
        for b in range(k):
            q[b] += column[a] * vectors[a, b]
    fresh, arrow = np.empty(k + 1), np.empty((k + 1, k + 1))
    deflated = arrow_eigen(values[:k], q, variance, fresh, arrow)
    if deflated < 0:
        return deflated
    row = np.empty(k + 1)
    for a in range(k):
        row[:] = 0.0
        for i in range(k):
            for j in range(k + 1):
                row[j] += vectors[a, i] * arrow[i, j]
        vectors[a, : k + 1] = row
    vectors[k, : k + 1] = arrow[k]
    values[: k + 1] = fresh
    return deflated
