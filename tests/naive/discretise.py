"""Discretisation straight from the formulas: NumPy on one column at a time."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np


def dense(raw):
    """Raw codes numbered 0, 1, 2, ... in their order, without gaps."""
    return np.unique(raw, return_inverse=True)[1]


def codes_of_cuts(x, cuts):
    """Number of cuts strictly below each value."""
    return np.array([sum(cut < value for cut in cuts) for value in x], dtype=int)


def quantile_cuts(x, b):
    return np.unique(np.quantile(x, np.arange(1, b) / b))


def equal_frequency(x, b):
    return dense(codes_of_cuts(x, quantile_cuts(x, b)))


def weighted_quantile_cuts(x, w, b):
    """Least value with at least i/b of the weight at or below it."""
    x, w = x[w > 0], w[w > 0]
    values = np.unique(x)
    share = np.array([math.fsum(w[x <= v]) for v in values]) / math.fsum(w)
    return np.unique([values[share >= i / b * (1 - 1e-10)][0] for i in range(1, b)])


def equal_width_raw(x, b):
    low, high = x.min(), x.max()
    if low == high:
        return np.zeros(len(x), dtype=int)
    return np.minimum(b - 1, np.floor(b * (x - low) / (high - low)).astype(int))


def entropy_bits(y, w):
    p = np.array([w[y == c].sum() for c in np.unique(y)]) / w.sum()
    return -np.sum(p * np.log2(p))


def class_entropy(x, y, w, cut):
    """(N1 E1 + N2 E2) / N in bits."""
    low = x <= cut
    n1, n2 = w[low].sum(), w[~low].sum()
    return (n1 * entropy_bits(y[low], w[low]) + n2 * entropy_bits(y[~low], w[~low])) / (n1 + n2)


def midpoint(a, b):
    """The middle of a < b, moved to a if rounding puts it on b."""
    middle = a / 2 + b / 2 if abs(a) > 1e300 or abs(b) > 1e300 else (a + b) / 2
    return middle if middle < b else a


def earns_its_cost(x, y, w, cut):
    """Fayyad and Irani's test, with 3^c as a whole number of any length."""
    low = x <= cut
    n = w.sum()
    c, c1, c2 = (len(np.unique(part)) for part in (y, y[low], y[~low]))
    e, e1, e2 = entropy_bits(y, w), entropy_bits(y[low], w[low]), entropy_bits(y[~low], w[~low])
    gain = e - class_entropy(x, y, w, cut)
    delta = math.log2(3**c - 2) - (c * e - c1 * e1 - c2 * e2)
    return gain > (math.log2(max(n - 1, 1)) + delta) / n


def mdl_cuts(x, y, w=None):
    """All cuts, ascending: every midpoint is tried, on every side, until none earns its cost."""
    w = np.ones(len(x)) if w is None else w
    x, y, w = x[w > 0], y[w > 0], w[w > 0]
    values = np.unique(x)
    if len(values) < 2 or len(np.unique(y)) < 2:
        return []
    cuts = [midpoint(a, b) for a, b in pairwise(values)]
    entropies = np.array([class_entropy(x, y, w, cut) for cut in cuts])
    cut = cuts[np.flatnonzero(entropies <= entropies.min() + 1e-12)[0]]
    if not earns_its_cost(x, y, w, cut):
        return []
    low = x <= cut
    return [*mdl_cuts(x[low], y[low], w[low]), cut, *mdl_cuts(x[~low], y[~low], w[~low])]
