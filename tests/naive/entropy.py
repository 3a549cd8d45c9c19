"""Entropy and information from the formulas, on raw columns with any labels (natural logarithms, 0 log 0 = 0).

    H(X)     = - sum_x p(x) log p(x)
    I(X;Y)   = sum_xy p(x,y) log[ p(x,y) / (p(x) p(y)) ]
    I(X;Y|Z) = sum_xyz p(x,y,z) log[ p(x,y,z) p(z) / (p(x,z) p(y,z)) ]

Every function takes `weights` (one per row; 2 = the row twice, 0 = the row absent) and `info`: "plugin" as above, or
"miller_madow", where every entropy becomes H + (K - 1) / (2 N) with K occupied cells and N the total weight, and
informations follow from the corrected entropies, so they may be negative. Nothing is clipped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Column = ArrayLike


def joint(*columns: Column) -> NDArray[np.intp]:
    """Several columns seen as one variable: rows get the same code exactly when they agree in every column."""
    codes = np.zeros(len(np.asarray(columns[0])), dtype=np.intp)
    for column in columns:
        levels, code = np.unique(np.asarray(column), return_inverse=True)
        # re-coded after each column, so the product never exceeds n * n
        codes = np.unique(codes * len(levels) + code.ravel(), return_inverse=True)[1].ravel()
    return codes


def cells(*columns: Column, weights: ArrayLike | None = None) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """(mass of every joint cell, the cell of every row)."""
    cell = joint(*columns)
    w = np.ones(len(cell)) if weights is None else np.asarray(weights, dtype=np.float64)
    return np.bincount(cell, weights=w).astype(np.float64), cell


def h(*columns: Column, weights: ArrayLike | None = None, info: str = "plugin") -> float:
    """Joint entropy of the columns, H(X1, X2, ...)."""
    mass, _ = cells(*columns, weights=weights)
    mass = mass[mass > 0]
    total = mass.sum()
    p = mass / total
    entropy = float(-np.sum(p * np.log(p)))
    return entropy + (len(mass) - 1) / (2 * total) if info == "miller_madow" else entropy


def mi(x: Column, y: Column, weights: ArrayLike | None = None, info: str = "plugin") -> float:
    """I(X;Y)."""
    if info == "miller_madow":
        how: dict[str, Any] = {"weights": weights, "info": info}
        return h(x, **how) + h(y, **how) - h(x, y, **how)
    full, cell = cells(x, y, weights=weights)
    first = np.unique(cell, return_index=True)[1]  # one row of each cell, to find its margins
    px, py = (mass[of][first] for mass, of in (cells(c, weights=weights) for c in (x, y)))
    some = full > 0
    f, a, b, n = full[some], px[some], py[some], full.sum()
    return float(np.sum(f * np.log(f * n / (a * b))) / n)


def cmi(x: Column, y: Column, z: Column, weights: ArrayLike | None = None, info: str = "plugin") -> float:
    """I(X;Y|Z)."""
    if info == "miller_madow":
        how: dict[str, Any] = {"weights": weights, "info": info}
        return h(x, z, **how) + h(y, z, **how) - h(x, y, z, **how) - h(z, **how)
    full, cell = cells(x, y, z, weights=weights)
    first = np.unique(cell, return_index=True)[1]
    xz, yz, pz = (
        mass[of][first] for mass, of in (cells(*c, weights=weights) for c in ((x, z), (y, z), (z,)))
    )
    some = full > 0
    f, a, b, c = full[some], xz[some], yz[some], pz[some]
    return float(np.sum(f * np.log(f * c / (a * b))) / f.sum())


def joint_mi(
    xs: Sequence[Column], y: Column, weights: ArrayLike | None = None, info: str = "plugin"
) -> float:
    """I(X1 X2 ... ; Y): all of `xs` seen as one variable; 0 for no columns."""
    return mi(joint(*xs), y, weights, info) if len(xs) else 0.0


def joint_cmi(
    x: Column, y: Column, zs: Sequence[Column], weights: ArrayLike | None = None, info: str = "plugin"
) -> float:
    """I(X;Y | Z1 Z2 ...): all of `zs` seen as one variable; I(X;Y) for no columns."""
    return cmi(x, y, joint(*zs), weights, info) if len(zs) else mi(x, y, weights, info)


def fano(columns: Sequence[Column], y: Column, weights: ArrayLike | None = None) -> float:
    """P_e >= (H(Y) - I(X_S;Y) - log 2) / log|Y|, floored at 0; 0 for one class."""
    classes = np.count_nonzero(cells(y, weights=weights)[0])
    if classes < 2:
        return 0.0
    left = h(y, weights=weights) - joint_mi(columns, y, weights) - np.log(2)
    return max(0.0, float(left / np.log(classes)))
