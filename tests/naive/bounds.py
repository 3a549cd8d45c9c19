"""Entropy of a mixture of two Gaussians in one dimension and its bounds, from the definitions, on one fine grid.

    H(f) = - integral of f log f,   f = p1 f1 + p2 f2,   I(X;Y) = H(f) - p1 H(f1) - p2 H(f2)

Sums over equal steps are as good as exact here: the integrands are smooth and vanish at both ends. The step must be
small beside the narrower component, so the grid is only for components that are not too far apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Pair = Sequence[float]


def grid(means: Pair, variances: Pair) -> np.ndarray:
    """Fifteen standard deviations around both components, in fortieths of the narrower one."""
    sd = [math.sqrt(v) for v in variances]
    low = min(m - 15 * s for m, s in zip(means, sd, strict=True))
    high = max(m + 15 * s for m, s in zip(means, sd, strict=True))
    return np.arange(low, high, min(sd) / 40)


def log_density(x: np.ndarray, mean: float, variance: float) -> np.ndarray:
    """log of N(x; mean, variance)."""
    out: np.ndarray = -((x - mean) ** 2) / (2 * variance) - 0.5 * math.log(2 * math.pi * variance)
    return out


def gaussian_entropy(variance: float) -> float:
    """H(N(mu, v)) = 1/2 log(2 pi e v)."""
    return 0.5 * math.log(2 * math.pi * math.e * variance)


def entropy(means: Pair, variances: Pair, priors: Pair) -> float:
    """H(f) = - integral of f log f."""
    x = grid(means, variances)
    logs = [math.log(p) + log_density(x, m, v) for m, v, p in zip(means, variances, priors, strict=True)]
    log_f = np.logaddexp(*logs)
    return float(-(np.exp(log_f) * log_f).sum() * (x[1] - x[0]))


def kl(means: Pair, variances: Pair) -> float:
    """KL(f1 || f2) = integral of f1 log(f1 / f2)."""
    x = grid(means, variances)
    log_1, log_2 = (log_density(x, m, v) for m, v in zip(means, variances, strict=True))
    return float((np.exp(log_1) * (log_1 - log_2)).sum() * (x[1] - x[0]))


def information(means: Pair, variances: Pair, priors: Pair) -> dict[str, float]:
    """I(X;Y) and what is said to bound it, each from its formula."""
    (p1, p2), (v1, v2), (m1, m2) = priors, variances, means
    mean = p1 * m1 + p2 * m2
    fitted = gaussian_entropy(p1 * (v1 + (m1 - mean) ** 2) + p2 * (v2 + (m2 - mean) ** 2))
    h1, h2 = gaussian_entropy(v1), gaussian_entropy(v2)
    given_class = p1 * h1 + p2 * h2
    far_apart = p1 * (h1 - math.log(p1)) + p2 * (h2 - math.log(p2))
    per_class = p1 * min(fitted, h1 - math.log(p1)) + p2 * min(fitted, h2 - math.log(p2))
    kl12, kl21 = kl((m1, m2), (v1, v2)), kl((m2, m1), (v2, v1))
    return {
        "true": entropy(means, variances, priors) - given_class,
        "fitted": fitted - given_class,
        "far_apart": far_apart - given_class,
        "compromise": per_class - given_class,
        "total": min(fitted, far_apart) - given_class,
        "kl": p1 * kl12 + p2 * kl21,
        "kl_constant": p1 * kl12 + p2 * kl21 - p1 * math.log(p2) - p2 * math.log(p1),
        "kl_tight": p1 * p2 * (kl12 + kl21),
    }
