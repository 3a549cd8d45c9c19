"""The tie rule: the winner is the LOWEST index whose score is within a tolerance of the best.

The tolerance is absolute for scores up to 1 and relative beyond, as their rounding is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel


@kernel
def top_one(scores: Any, free: Any, without: int) -> float:
    """The best free score, one index left out, NaN if one is NaN; four running bests do not wait for each other."""
    a, b, c, d = -np.inf, -np.inf, -np.inf, -np.inf
    flaw, whole = 0.0, scores.size // 4 * 4
    for j in range(0, whole, 4):
        p = scores[j] if free[j] and j != without else -np.inf
        q = scores[j + 1] if free[j + 1] and j + 1 != without else -np.inf
        r = scores[j + 2] if free[j + 2] and j + 2 != without else -np.inf
        s = scores[j + 3] if free[j + 3] and j + 3 != without else -np.inf
        a, b, c, d = p if p > a else a, q if q > b else b, r if r > c else c, s if s > d else d
        if p != p or q != q or r != r or s != s:
            flaw = np.nan
    for j in range(whole, scores.size):
        p = scores[j] if free[j] and j != without else -np.inf
        a = p if p > a else a
        if p != p:
            flaw = np.nan
    return max(max(a, b), max(c, d)) + flaw


@kernel
def least_tied(top: float, tolerance: float) -> float:
    """The least score that is level with the best."""
    best = float(top)
    return best - tolerance * max(1.0, abs(best)) if abs(best) < np.inf else best


@kernel
def best_one(scores: Any, free: Any, tolerance: float, without: int) -> int:
    """Lowest free index within the tolerance of the best free score, one index left out; -1 if there is none.

    -2 - j if the score of a free feature j is NaN.
    """
    top = top_one(scores, free, without)
    if np.isnan(top):
        for j in range(scores.size):
            if free[j] and j != without and np.isnan(scores[j]):
                return -2 - j
    least = least_tied(top, tolerance)
    for j in range(scores.size):
        if free[j] and j != without and scores[j] >= least:
            return j
    return -1
