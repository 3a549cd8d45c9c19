"""Cuts by minimum description length [Fayyad and Irani 1993]: take the cut of least class entropy while, in bits,

    gain > [ log2(N - 1) + log2(3^c - 2) - (c E - c1 E1 - c2 E2) ] / N

with N the rows of the segment, E, E1, E2 the class entropies of the segment and of its two sides, and c, c1, c2 the
numbers of classes in them; then go on with both sides.

The rows of one column are in ascending order, a segment is lo..hi-1, and a cut `p` parts row p-1 from row p. Every
cut between distinct values is tried. Boundary points (where the class changes) would do in exact arithmetic, but the
entropy can be so flat beside them that a lower cut ties within the tolerance.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from jifs.jit import kernel, pkernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Side = tuple[float, float, int]

TIE = 1e-12
"""Entropies (bits per row) this close to the least are ties; the lowest cut wins."""


def xlogx_table(n: int) -> tuple[Ints, float]:
    """x log2 x for x = 0..n as whole multiples of `unit`, a power of two, and `unit`.

    Sums of whole numbers don't drift, however many rows have moved from one side of the cut to the other. The unit is
    the finest for which all sums fit, about 2^-60 of n log2 n.
    """
    x = np.arange(n + 1, dtype=np.float64)
    exact = x * np.log2(np.maximum(x, 1.0))
    scale = 2.0 ** (61 - math.frexp(max(exact[-1], 1.0))[1])
    return np.rint(exact * scale).astype(np.int64), 1.0 / scale


@kernel
def xlogx_one(x: float) -> float:
    """x log2 x, and 0 for x = 0."""
    return x * math.log2(x) if x > 0.0 else 0.0


@kernel
def models_one(c: int) -> float:
    """log2(3^c - 2); from c = 34 on the 2 is below the last digit of 3^c."""
    return math.log2(3.0**c - 2.0) if c < 34 else c * math.log2(3.0)


@kernel
def middle_one(a: float, b: float) -> float:
    """The middle of a < b, or a where rounding would give b: codes count the cuts strictly below, so a <= cut < b."""
    # the sum of large numbers could overflow; the halves of the smallest would lose a digit
    large = max(abs(a), abs(b)) > 8e307
    middle = 0.5 * a + 0.5 * b if large else 0.5 * (a + b)
    return middle if middle < b else a


@kernel
def carry_one(total: float, lost: float, term: float) -> tuple[float, float]:
    """(total + term, lost + what that addition rounded away)."""
    new = total + term
    kept = new - total
    return new, lost + ((total - (new - kept)) + (term - kept))


@kernel
def side_one(y: Ints, w: Floats, lo: int, hi: int, sums: Floats) -> Side:
    """(N, N E, c) of the rows lo..hi-1: weight, weight times class entropy in bits, classes present.

    `sums` holds a zero for every class, before and after: the cost does not depend on how many classes there are.
    """
    weight = 0.0
    for i in range(lo, hi):
        sums[y[i]] += w[i]
        weight += w[i]
    bits, classes = 0.0, 0
    for i in range(lo, hi):
        mass = sums[y[i]]
        if mass > 0.0:
            bits += mass * math.log2(weight / mass)
            classes += 1
            sums[y[i]] = 0.0
    return weight, bits, classes


@kernel
def bits_by_counts(
    x: Floats, y: Ints, lo: int, hi: int, table: Ints, unit: float, left: Ints, right: Ints, out: Floats
) -> None:
    """out[p] = N1 E1 + N2 E2 in bits for every cut p of lo..hi-1, infinite where equal values would be split.

    N E = N log2 N - sum_c N_c log2 N_c, from whole numbers only. `left` and `right` hold zeros, before and after.
    """
    in_left, in_right = 0, 0
    for i in range(lo, hi):
        after = right[y[i]]
        in_right += table[after + 1] - table[after]
        right[y[i]] = after + 1
    for p in range(lo + 1, hi):
        c = y[p - 1]
        before, after = left[c], right[c]
        in_left += table[before + 1] - table[before]
        in_right -= table[after] - table[after - 1]
        left[c], right[c] = before + 1, after - 1
        if x[p - 1] < x[p]:
            out[p] = ((table[p - lo] - in_left) + (table[hi - p] - in_right)) * unit
        else:
            out[p] = np.inf
    for i in range(lo, hi):
        left[y[i]] = 0
        right[y[i]] = 0


@kernel
def bits_by_weights(
    x: Floats, y: Ints, w: Floats, lo: int, hi: int, left: Floats, whole: Floats, out: Floats
) -> None:
    """The same for real weights; the running sum keeps aside what rounding takes from it.

    The weight on the left grows in the order in which the whole was summed, so what remains on the right after the
    last row of a class is exactly 0.
    """
    weight, inner, lost = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        c = y[i]
        inner, lost = carry_one(inner, lost, -xlogx_one(whole[c]))
        whole[c] += w[i]
        inner, lost = carry_one(inner, lost, xlogx_one(whole[c]))
        weight += w[i]
    below = 0.0
    for p in range(lo + 1, hi):
        c = y[p - 1]
        inner, lost = carry_one(inner, lost, -xlogx_one(left[c]))
        inner, lost = carry_one(inner, lost, -xlogx_one(whole[c] - left[c]))
        left[c] += w[p - 1]
        below += w[p - 1]
        inner, lost = carry_one(inner, lost, xlogx_one(left[c]))
        inner, lost = carry_one(inner, lost, xlogx_one(whole[c] - left[c]))
        if x[p - 1] < x[p]:
            out[p] = xlogx_one(below) + xlogx_one(weight - below) - inner - lost
        else:
            out[p] = np.inf
    for i in range(lo, hi):
        left[y[i]] = 0.0
        whole[y[i]] = 0.0


@kernel
def lowest_one(bits: Floats, lo: int, hi: int, slack: float) -> int:
    """The lowest cut whose bits are within `slack` of the least; -1 if there is no cut."""
    least = np.inf
    for p in range(lo + 1, hi):
        if bits[p] < least:
            least = bits[p]
    if least == np.inf:
        return -1
    p = lo + 1
    while bits[p] > least + slack:
        p += 1
    return p


@kernel
def accepted_one(whole: Side, left: Side, right: Side, scale: float) -> bool:
    """Whether the cut earns its cost; `scale` is the number of rows that a weight of 1 stands for.

    log2(N - 1) is taken as 0 below N = 2, which only real weights can reach.
    """
    n, bits, c = whole
    n1, bits1, c1 = left
    n2, bits2, c2 = right
    cost = math.log2(max(n * scale - 1.0, 1.0)) + models_one(c)
    cost -= c * bits / n - c1 * bits1 / n1 - c2 * bits2 / n2
    return (bits - bits1 - bits2) * scale > cost


@kernel
def mdl_one(
    x: Floats,
    y: Ints,
    w: Floats,
    table: Ints,
    unit: float,
    scale: float,
    counts: Ints,
    sums: Floats,
    bits: Floats,
    ends: Ints,
    out: Floats,
) -> int:
    """Cuts of one column in ascending order into `out`; returns how many.

    `ends` is the stack: the ends of the segments still to be looked at, the nearest on top. A segment that is cut gets
    a nearer end; one that is not is done, and the cut at its end is the next in order.
    """
    n = x.size
    found, lo, top = 0, 0, 0
    ends[0] = n
    while lo < n:
        hi = ends[top]
        p = -1
        whole = side_one(y, w, lo, hi, sums[0])
        if whole[2] > 1:
            if table.size > 0:
                bits_by_counts(x, y, lo, hi, table, unit, counts[0], counts[1], bits)
            else:
                bits_by_weights(x, y, w, lo, hi, sums[0], sums[1], bits)
            p = lowest_one(bits, lo, hi, TIE * whole[0])
        if p > 0 and accepted_one(
            whole, side_one(y, w, lo, p, sums[0]), side_one(y, w, p, hi, sums[0]), scale
        ):
            top += 1
            ends[top] = p
            continue
        if hi < n:
            out[found] = middle_one(x[hi - 1], x[hi])
            found += 1
        lo = hi
        top -= 1
    return found


@pkernel
def mdl_all(
    lo: int,
    hi: int,
    x: Floats,
    order: Ints,
    y: Ints,
    w: Floats,
    n_classes: int,
    table: Ints,
    unit: float,
    scale: float,
    out: Floats,
    found: Ints,
) -> None:
    """out[j, :found[j]] = the cuts of column x[j]; order[j] sorts it, `table` is empty when the weights are real."""
    n = x.shape[1]
    counts = np.zeros((2, n_classes), np.int64)
    sums = np.zeros((2, n_classes))
    ends = np.empty(n + 1, np.int64)
    bits, x_up, w_up = np.empty(n), np.empty(n), np.empty(n)
    y_up = np.empty(n, np.int64)
    for j in range(lo, hi):
        for i in range(n):
            row = order[j, i]
            x_up[i], y_up[i], w_up[i] = x[j, row], y[row], w[row]
        found[j] = mdl_one(x_up, y_up, w_up, table, unit, scale, counts, sums, bits, ends, out[j])
