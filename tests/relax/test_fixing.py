"""Bounds of the sets with and without a feature, from any multipliers: above the true ones, and useful ones good."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.subset import KINDS, best_values, matrix, value

from jifs.relax.dual import tight_bound
from jifs.relax.fixing import forced_bounds

SEEDS = st.integers(0, 2**32 - 1)
WORLD = st.tuples(st.sampled_from(KINDS), st.integers(2, 8), SEEDS)


def dual_matrix(Q, k, u):
    return Q + k * np.diag(u) - (u[:, None] + u) / 2


def true_bounds(Q, k):
    """The best value with each feature, and without it."""
    n = len(Q)
    values = {S: value(Q, set(S)) for S in combinations(range(n), k)}
    inside = [max(v for S, v in values.items() if i in S) for i in range(n)]
    outside = [max(v for S, v in values.items() if i not in S) for i in range(n)]
    return np.array(inside), np.array(outside)


@given(WORLD, st.data(), st.sampled_from([0.0, 0.01, 1.0, 1e6]), st.sampled_from([-10.0, 0.5, 1.0, 2.0]))
def test_any_multipliers_give_bounds(world, data, size, share):
    """Also senseless ones, and also if the lower value is wrong."""
    Q = matrix(*world)
    n = len(Q)
    k = data.draw(st.integers(1, n - 1))
    u = size * np.random.default_rng(world[2]).normal(size=n)
    most = float(np.linalg.eigvalsh(dual_matrix(Q, k, u))[-1])
    most += 1e-12 * (1 + abs(most) + size * n)
    inside, outside = forced_bounds(Q, k, u, most, share * best_values(Q)[k])
    with_i, without_i = true_bounds(Q, k)
    assert (inside >= with_i * (1 - 1e-15)).all()
    assert (outside >= without_i * (1 - 1e-15)).all()
    assert (inside <= k * most).all()
    assert (outside <= k * most).all()


def test_good_multipliers_decide():
    """Six features of twenty are worth more: the bounds of the others fall below their value, and so without one."""
    Q = matrix("random", 20, 0) * 0.2
    Q[:6, :6] += 1.0
    best = float(Q[:6, :6].sum())
    found = tight_bound(Q, 6, best, 1e-6)
    inside, outside = forced_bounds(Q, 6, found.multipliers, found.bound / 6 * (1 + 1e-15), best)
    assert (inside[6:] < best).all()
    assert (outside[:6] < best).all()
    assert inside[:6] == pytest.approx(best, rel=0.02)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_changes_nothing(scale):
    Q = matrix("random", 12, 0)
    u = np.random.default_rng(0).normal(size=12) * 0.1
    most = float(np.linalg.eigvalsh(dual_matrix(Q, 5, u))[-1]) * (1 + 1e-12)
    lower = best_values(Q)[5]
    for one, other in zip(
        forced_bounds(Q, 5, u, most, lower),
        forced_bounds(scale * Q, 5, scale * u, scale * most, scale * lower),
        strict=True,
    ):
        assert scale * one == pytest.approx(other, rel=1e-9)
