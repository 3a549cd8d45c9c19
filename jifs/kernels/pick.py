"""The tie rule: the winner is the LOWEST index whose score is within a tolerance of the best."""

from __future__ import annotations

from typing import Any

import numpy as np

from jifs.jit import kernel


@kernel
def best_one(scores: Any, free: Any, tolerance: float, without: int) -> int:
    """Lowest free index within the tolerance of the best free score, one index left out; -1 if there is none.

    -2 - j if the score of a free feature j is NaN.
    """
    top, any_free = -np.inf, False
    for j in range(scores.size):
        if free[j] and j != without:
            if np.isnan(scores[j]):
                return -2 - j
            any_free = True
            top = max(top, scores[j])
    if not any_free:
        return -1
    for j in range(scores.size):
        if free[j] and j != without and (scores[j] >= top - tolerance or scores[j] == top):
            return j
    return -1
