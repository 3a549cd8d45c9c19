"""The Gaussian criteria from their definitions: covariances of raw rows, determinants, inverses; nothing incremental.

gc_mi   sum_y p_y min(H* - H_y, -log p_y)                      and the other clips
gkl_mi  mean over y of p_y KL(y||rest) + (1 - p_y) KL(rest||y)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SINGULAR = 1e-10


def standardised(X: Any) -> Array:
    """Zero mean and unit variance (maximum likelihood); a constant column becomes 0."""
    X = np.asarray(X, dtype=np.float64)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, np.inf)


def covariance(X: Array, reg: float) -> Array:
    """Maximum likelihood covariance, with reg on the diagonal."""
    centred = X - X.mean(axis=0)
    return centred.T @ centred / len(X) + reg * np.eye(X.shape[1])


def log_det(sigma: Array) -> float:
    """log |Sigma|; minus infinity when a feature has next to no variance beyond the ones before it."""
    for i in range(len(sigma)):
        before = sigma[:i, :i]
        left = sigma[i, i] - (sigma[i, :i] @ np.linalg.solve(before, sigma[:i, i]) if i else 0.0)
        if left <= SINGULAR * sigma[i, i]:
            return -math.inf
    return float(np.linalg.slogdet(sigma)[1])


def entropy(X: Array, reg: float) -> float:
    """H = 1/2 log|Sigma| + d/2 (log 2 pi + 1)."""
    return log_det(covariance(X, reg)) / 2 + X.shape[1] / 2 * (math.log(2 * math.pi) + 1)


def split(X: Any, y: Any, S: Sequence[int]) -> tuple[Array, list[Array], list[float]]:
    """The rows of the features in S, those of each class, and the priors."""
    rows = np.asarray(X, dtype=np.float64)[:, list(S)]
    parts = [rows[np.asarray(y) == c] for c in sorted(set(np.asarray(y).tolist()))]
    return rows, parts, [len(part) / len(rows) for part in parts]


def gc_mi(X: Any, y: Any, S: Sequence[int], clip: str | None = "class", reg: float = 0.0) -> float:
    """The Gaussian compromise for the information."""
    rows, parts, priors = split(X, y, S)
    if not S:
        return 0.0
    whole = entropy(rows, reg)
    if whole == -math.inf:
        return -math.inf
    gaps = [whole - entropy(part, reg) for part in parts]
    if clip == "class":
        return sum(p * min(g, -math.log(p)) for p, g in zip(priors, gaps, strict=True))
    total = sum(p * g for p, g in zip(priors, gaps, strict=True))
    return min(total, -sum(p * math.log(p) for p in priors)) if clip == "total" else total


def gc_e(X: Any, y: Any, S: Sequence[int], clip: str | None = "class", reg: float = 0.0) -> float:
    """The Gaussian compromise for the entropy."""
    rows, parts, priors = split(X, y, S)
    if not S:
        return 0.0
    whole = entropy(rows, reg)
    apart = [entropy(part, reg) - math.log(p) for p, part in zip(priors, parts, strict=True)]
    if clip == "class":
        return sum(p * min(whole, a) for p, a in zip(priors, apart, strict=True))
    return min(whole, sum(p * a for p, a in zip(priors, apart, strict=True))) if clip == "total" else whole


def kl(first: Array, second: Array, reg: float) -> float:
    """KL(1||2) of the two fitted normals."""
    s1, s2 = covariance(first, reg), covariance(second, reg)
    if -math.inf in (log_det(s1), log_det(s2)):
        return math.nan
    apart, inverse = second.mean(axis=0) - first.mean(axis=0), np.linalg.inv(s2)
    return float(np.trace(inverse @ s1) - log_det(s1) + log_det(s2) - len(s1) + apart @ inverse @ apart) / 2


def gkl(
    X: Any, y: Any, S: Sequence[int], with_entropy: bool = False, reg: float = 0.0, constant: bool = False,
    tight: bool = False,
) -> float:  # fmt: skip
    """The mean over the classes of the bound of one against the rest; minus infinity where a class has no volume.

    The rest's covariance is that of its rows, so with reg noise is added to it as to any other.
    """
    rows = np.asarray(X, dtype=np.float64)[:, list(S)]
    labels = np.asarray(y)
    bounds = []
    for c in sorted(set(labels.tolist())):
        own, rest = rows[labels == c], rows[labels != c]
        p = len(own) / len(rows)
        q = 1 - p
        there, back = (kl(own, rest, reg), kl(rest, own, reg)) if S else (0.0, 0.0)
        bound = p * q * (there + back) if tight else p * there + q * back
        if with_entropy and S:
            bound += p * entropy(own, reg) + q * entropy(rest, reg)
        if constant:
            bound += -p * math.log(q) - q * math.log(p)
        bounds.append(bound)
    mean = sum(bounds) / len(bounds)
    return -math.inf if math.isnan(mean) else mean


def quadratic_kl_gain(s1: Array, s2: Array, apart: Array, S: Sequence[int], j: int) -> float:
    """What feature j adds to KL(1||2), from the inverses of S as published: O(|S|^2) for one candidate."""
    chosen = list(S)
    inverse = np.linalg.inv(s2[np.ix_(chosen, chosen)]) if chosen else np.zeros((0, 0))
    beta = inverse @ s2[chosen, j]
    left2 = s2[j, j] - s2[j, chosen] @ beta
    left1 = s1[j, j]
    if chosen:
        left1 -= s1[j, chosen] @ np.linalg.solve(s1[np.ix_(chosen, chosen)], s1[chosen, j])
    new1 = s1[j, j] - 2 * beta @ s1[chosen, j] + beta @ s1[np.ix_(chosen, chosen)] @ beta
    moved = apart[j] - beta @ apart[chosen]
    return float((new1 + moved**2) / left2 - math.log(left1 / left2) - 1) / 2
