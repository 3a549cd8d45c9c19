"""The tie rule, as it is written: the lowest index whose score is within the tolerance of the best.

Beyond 1 the tolerance is relative.
"""

from __future__ import annotations

import math


def pick(scores: list[float], free: list[bool], tolerance: float) -> int | None:
    """The winner among the free indices, None if there is none."""
    allowed = [j for j in range(len(scores)) if free[j]]
    if not allowed:
        return None
    best = max(scores[j] for j in allowed)
    slack = tolerance * max(1.0, abs(best)) if math.isfinite(best) else 0.0
    return min(j for j in allowed if scores[j] == best or scores[j] >= best - slack)
