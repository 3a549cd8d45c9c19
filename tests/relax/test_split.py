"""The split bound is above every set, its certificates hold, and deciding features loses nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import branch as naive
from naive.split import bound as naive_bound
from naive.subset import KINDS, best_values, matrix

from jifs.errors import InputError
from jifs.relax import split
from jifs.relax.certificate import verify_certificate
from jifs.relax.split import Core, split_bound

SEEDS = st.integers(0, 2**32 - 1)
WORLD = st.tuples(st.sampled_from(KINDS), st.integers(1, 10), SEEDS)
SCALES = st.sampled_from([1.0, 1e-12, 1e12, 2.0**-900, 2.0**900])


def rational(Q):
    return [[Fraction(float(q)) for q in row] for row in Q]


@given(WORLD, st.data(), SCALES)
def test_the_bound_is_above_every_set(world, data, scale):
    """In rational numbers; whatever is said of the lower value, also if it is wrong."""
    Q = scale * matrix(*world)
    n, k = len(Q), data.draw(st.integers(0, len(Q)))
    lower = data.draw(st.sampled_from([-np.inf, 0.0, 1.0, 100.0])) * scale
    found = split_bound(Q, k, lower, steps=data.draw(st.integers(0, 60)))
    exact = rational(Q)
    true = naive.best(exact, [exact[i][i] for i in range(n)], k, [], range(n))
    assert Fraction(found.bound) >= true
    assert (found.kind, found.k, found.multipliers.shape) == ("split", k, (n, n))
    assert verify_certificate(Q, k, found)
    assert verify_certificate(Q, k, found).proved
    if k:
        given_by_r = naive_bound(found.multipliers, Q.diagonal(), k)
        assert found.bound == pytest.approx(given_by_r, rel=1e-12, abs=1e-12 * Q.max() + 1e-300)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_make_it_better(kind):
    """From R = Q down; never up again, as the best is kept."""
    Q = matrix(kind, 14, 0)
    best = best_values(Q)
    for k in (2, 5, 9, 13):
        bounds = [split_bound(Q, k, best[k], steps).bound for steps in (0, 1, 10, 100, 300)]
        assert bounds[0] == pytest.approx(naive_bound(Q, Q.diagonal(), k), rel=1e-12)
        assert all(b <= a * (1 + 1e-13) for a, b in pairwise(bounds))
        assert bounds[-1] >= best[k] * (1 - 1e-15)
    if kind == "random":
        assert split_bound(Q, 3, best[3]).bound < 0.98 * split_bound(Q, 3, best[3], 0).bound


def test_a_diagonal_needs_no_steps():
    Q = np.diag([3.0, 1.0, 4.0, 1.0, 5.0])
    for k in range(6):
        assert split_bound(Q, k).bound == pytest.approx(sum(sorted(np.diag(Q))[5 - k :]), rel=1e-14)


def test_the_linear_relaxation_is_approached():
    """The best R gives the linear relaxation with z_ij <= x_i, z_ij = z_ji, sum_j z_ij = (k - 1) x_i."""
    from scipy.optimize import linprog

    for seed, k in [(0, 3), (1, 4), (2, 6)]:
        Q = matrix("random", 9, seed)
        n, pairs = 9, [(i, j) for i in range(9) for j in range(9) if i != j]
        at = {pair: n + t for t, pair in enumerate(pairs)}
        size = n + len(pairs)
        equal, least = [], []
        for i in range(n):
            row = np.zeros(size)
            row[i] = 1 - k
            row[[at[i, j] for j in range(n) if j != i]] = 1
            equal.append(row)
        for i, j in pairs:
            row = np.zeros(size)
            row[at[i, j]], row[i] = 1, -1
            least.append(row)
            if i < j:
                row = np.zeros(size)
                row[at[i, j]], row[at[j, i]] = 1, -1
                equal.append(row)
        equal.append((np.arange(size) < n).astype(float))
        right = np.zeros(len(equal))
        right[-1] = k
        worth = np.concatenate([Q.diagonal(), [Q[i, j] for i, j in pairs]])
        solved = linprog(-worth, np.array(least), np.zeros(len(least)), np.array(equal), right, (0, 1))
        bound = split_bound(Q, k, best_values(Q)[k], 2000).bound
        assert bound >= -solved.fun * (1 - 1e-9)
        assert bound <= -solved.fun * 1.002


def core_of(Q, k, diagonal=None):
    return Core(Q, Q.diagonal().copy() if diagonal is None else diagonal, k)


def values_of(core):
    """{set: value} of everything a core stands for, in rational numbers; a set is a frozenset of the first features."""
    Q, d = rational(core.Q), [Fraction(float(x)) for x in core.diagonal]
    return {
        frozenset([*core.taken, *core.ids[list(S)]]): Fraction(core.constant) + naive.value(Q, d, S)
        for S in combinations(range(core.m), core.k)
    }


@given(WORLD, st.data())
def test_parts_and_the_other_side(world, data):
    """With a feature, without it, and counted from the features left out: the same sets with the same values."""
    Q = matrix(*world)
    n, k = len(Q), data.draw(st.integers(1, len(Q)))
    core = core_of(Q, k, Q.diagonal() - data.draw(st.sampled_from([0.0, 0.5])))
    everything = values_of(core)
    place = data.draw(st.integers(0, n - 1))
    near = lambda a, b: abs(a - b) <= 1e-13 * float(Q.sum() + n)  # noqa: E731
    for take in (True, False):
        if not take and k == n:
            continue
        part = values_of(core.part(place, take))
        wanted = {S: v for S, v in everything.items() if (place in S) == take}
        assert part.keys() == wanted.keys()
        assert all(near(part[S], wanted[S]) for S in part)
    turned = values_of(core.flipped())
    assert all(near(everything[frozenset(range(n)) - S], v) for S, v in turned.items())
    assert len(turned) == len(everything)
    assert core.m == n  # and the core itself is as it was
    assert values_of(core) == everything


@given(WORLD, st.data())
def test_deciding_loses_nothing(world, data):
    """Sets above the cut are all there afterwards; the largest bound that was cut off is above all that are gone."""
    Q = matrix(*world)
    n, k = len(Q), data.draw(st.integers(1, len(Q)))
    if k == n:
        return
    core = core_of(Q, k)
    everything = values_of(core)
    ordered = sorted(everything.values())
    cut = float(ordered[data.draw(st.integers(0, len(ordered) - 1))]) - data.draw(
        st.sampled_from([0.0, 0.01])
    )
    core.improve(cut, data.draw(st.integers(1, 30)))
    safety = core.safety()
    branch = core.decide(cut - safety)
    left = values_of(core) if branch >= 0 and core.m >= core.k else {}
    for S, value in everything.items():
        if value > cut:
            assert abs(left[S] - value) <= safety
        elif S not in left:
            assert value <= core.cut_off + safety
    assert core.cut_off <= cut
    assert branch < max(core.m, 1)


def test_deciding_does_decide():
    """Eight features of forty are worth much more: the others are gone, and the eight are taken."""
    Q = 0.1 * matrix("random", 40, 0)
    Q[:8, :8] += 1.0
    core = core_of(Q, 8)
    core.improve(float(Q[:8, :8].sum()), 50)
    assert core.decide(float(Q[:8, :8].sum()) * 0.999) >= 0 or core.m == 0
    assert core.k == 0 or core.m < 12
    assert set(core.taken) | set(core.ids.tolist()) <= set(range(8))


@given(WORLD, st.data())
def test_safety_covers_rounding(world, data):
    """The bound and the forced bounds in floating point differ from those in rational numbers by less than safety."""
    Q = matrix(*world)
    k = data.draw(st.integers(1, len(Q)))
    core = core_of(Q, k).flipped() if data.draw(st.booleans()) else core_of(Q, k)
    if core.k < 1:
        return
    core.improve(0.0, 20)
    R, diagonal = rational(core.kept), [Fraction(float(d)) for d in core.diagonal]
    for i in range(core.m):
        for j in range(i):
            R[i][j] = 2 * Fraction(float(core.Q[i, j])) - R[j][i]
    true = Fraction(core.constant) + naive_bound(R, diagonal, core.k)
    assert abs(true - Fraction(core.bound)) <= core.safety() / 4


def test_time_and_interrupts(monkeypatch):
    Q = matrix("random", 60, 0)
    at_once = split_bound(Q, 20, 1.0, steps=10**9, seconds=0)
    assert verify_certificate(Q, 20, at_once)
    steps = split.split_steps

    def interrupted(*arguments):
        steps(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(split, "split_steps", interrupted)
    assert verify_certificate(Q, 20, split_bound(Q, 20, 100.0, steps=10**9))


def test_what_is_refused():
    Q = matrix("random", 5, 0)
    for arguments, words in [
        ((Q, 6), "k must be a whole number"),
        ((-Q, 2), "must be >= 0"),
        ((Q, 2, 0.0, -1), "steps must be a whole number from 0 on"),
        ((Q, 2, 0.0, 1.5), "steps must be a whole number from 0 on"),
        ((Q, 2, 0.0, 10, -1), "seconds must be a time"),
    ]:
        with pytest.raises(InputError, match=words):
            split_bound(*arguments)
