"""One definition per criterion: `score(x, y, S, j)`, the score of candidate j when the features S are chosen.

`x` is a sequence of columns (x[j] is feature j), `y` the classes. For S empty every criterion scores I(X_j;Y).
The keywords `weights` and `info` go through to the entropies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naive.entropy import Column, cmi, h, joint, joint_cmi, joint_mi, mi

Columns = Sequence[Column]
Chosen = Sequence[int]


def mim(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y)."""
    return mi(x[j], y, **how)


def betagamma(
    x: Columns, y: Column, S: Chosen, j: int, beta: float = 1.0, gamma: float = 1.0, **how: Any
) -> float:
    """I(X_j;Y) - beta sum_s I(X_j;X_s) + gamma sum_s I(X_j;X_s|Y)."""
    red = sum(mi(x[j], x[s], **how) for s in S)
    cred = sum(cmi(x[j], x[s], y, **how) for s in S)
    return mi(x[j], y, **how) - beta * red + gamma * cred


def mifs(x: Columns, y: Column, S: Chosen, j: int, beta: float = 1.0, **how: Any) -> float:
    """I(X_j;Y) - beta sum_s I(X_j;X_s)."""
    return mi(x[j], y, **how) - beta * sum(mi(x[j], x[s], **how) for s in S)


def mrmr(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y) - mean_s I(X_j;X_s)."""
    rel = mi(x[j], y, **how)
    return rel - float(np.mean([mi(x[j], x[s], **how) for s in S])) if S else rel


def miq(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y) / max(mean_s I(X_j;X_s), 1e-12)."""
    rel = mi(x[j], y, **how)
    return rel / max(float(np.mean([mi(x[j], x[s], **how) for s in S])), 1e-12) if S else rel


def jmi(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """sum_s I(X_j X_s;Y), the sum form."""
    return sum(joint_mi([x[j], x[s]], y, **how) for s in S) if S else mi(x[j], y, **how)


def jmi_normalised(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y) - mean_s [I(X_j;X_s) - I(X_j;X_s|Y)]: ranks like the sum form, another value."""
    rel = mi(x[j], y, **how)
    return rel - float(np.mean([mi(x[j], x[s], **how) - cmi(x[j], x[s], y, **how) for s in S])) if S else rel


def cife(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y) - sum_s I(X_j;X_s) + sum_s I(X_j;X_s|Y)."""
    return mi(x[j], y, **how) - sum(mi(x[j], x[s], **how) - cmi(x[j], x[s], y, **how) for s in S)


def condred(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y) + sum_s I(X_j;X_s|Y)."""
    return mi(x[j], y, **how) + sum(cmi(x[j], x[s], y, **how) for s in S)


def cmim(x: Columns, y: Column, S: Chosen, j: int, include_marginal: bool = False, **how: Any) -> float:
    """min_s I(X_j;Y|X_s); with include_marginal the minimum also runs over I(X_j;Y)."""
    terms = [cmi(x[j], y, x[s], **how) for s in S]
    return min([*terms, mi(x[j], y, **how)]) if include_marginal or not S else min(terms)


def informative_fragments(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """min_s [I(X_j X_s;Y) - I(X_s;Y)]: CMIM, written another way."""
    if not S:
        return mi(x[j], y, **how)
    return min(joint_mi([x[j], x[s]], y, **how) - mi(x[s], y, **how) for s in S)


def icap(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y) - sum_s max(0, I(X_j;X_s) - I(X_j;X_s|Y))."""
    clipped = (max(0.0, mi(x[j], x[s], **how) - cmi(x[j], x[s], y, **how)) for s in S)
    return mi(x[j], y, **how) - sum(clipped)


def symmetric_relevance(x: Columns, y: Column, s: int, j: int, **how: Any) -> float:
    """I(X_j X_s;Y) / H(X_j,X_s,Y); 0 when the entropy is 0."""
    entropy = h(x[j], x[s], y, **how)
    return joint_mi([x[j], x[s]], y, **how) / entropy if entropy > 0 else 0.0


def disr(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """sum_s I(X_j X_s;Y) / H(X_j,X_s,Y)."""
    return sum(symmetric_relevance(x, y, s, j, **how) for s in S) if S else mi(x[j], y, **how)


def jmim(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """min_s I(X_j X_s;Y)."""
    return min(joint_mi([x[j], x[s]], y, **how) for s in S) if S else mi(x[j], y, **how)


def njmim(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """min_s I(X_j X_s;Y) / H(X_j,X_s,Y)."""
    return min(symmetric_relevance(x, y, s, j, **how) for s in S) if S else mi(x[j], y, **how)


def cmi_all(x: Columns, y: Column, S: Chosen, j: int, **how: Any) -> float:
    """I(X_j;Y | X_S), all of S jointly: the criterion `cmi`."""
    return joint_cmi(x[j], y, [joint(*(x[s] for s in S))] if S else [], **how)


CRITERIA: dict[str, Callable[..., float]] = {
    "mim": mim,
    "mifs": mifs,
    "mrmr": mrmr,
    "miq": miq,
    "jmi": jmi,
    "cife": cife,
    "condred": condred,
    "betagamma": betagamma,
    "cmim": cmim,
    "icap": icap,
    "disr": disr,
    "jmim": jmim,
    "njmim": njmim,
    "cmi": cmi_all,
}
