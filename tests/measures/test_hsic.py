"""HSIC against tr(K H L H) with the centring matrix, its gradient, blocks of rows, and its edges.

Values agree to 1e-14, which is what sums of n^2 terms between -1 and 1 over n^2 leave, and gradients to 1e-9.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import hsic as naive
from naive.distances import median_width, standardised

from jifs import InputError, jit
from jifs.measures.hsic import Descent, Sample, Settings, hsic

KINDS = pytest.mark.parametrize("kind", ["class", "real"])
SEEDS = st.integers(0, 2**32 - 1)


def world(kind, seed=0, n=30, m=4):
    """A normal, a constant, a binary and a copied column, as many as there is room for."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    if m > 3:
        X[:, 1], X[:, 2], X[:, 3] = 0.3, rng.integers(0, 2, n), X[:, 0]
    y = rng.integers(0, 3, n) if kind == "class" else X[:, 0] ** 2 + 0.1 * rng.normal(size=n)
    return X, y


def sample(kind, seed=0, n=30, m=4, **how):
    return Sample(*world(kind, seed, n, m), kind, Settings(**how))


@KINDS
@pytest.mark.parametrize("n", [1, 2, 3, 17, 40])
def test_it_is_the_definition(kind, n):
    for seed in range(3):
        X, y = world(kind, seed, n)
        assert hsic(X, y, task=kind) == pytest.approx(naive.hsic(X, y, kind), abs=1e-14)
        got = hsic(X, y, task=kind, standardise=False)
        assert got == pytest.approx(naive.hsic(X, y, kind, standardise=False), abs=1e-14)


@settings(max_examples=25)
@given(SEEDS, st.sampled_from(["class", "real"]), st.integers(2, 16), st.integers(1, 3))
def test_discrete_worlds(seed, kind, n, m):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, rng.integers(1, 4), (n, m)), rng.integers(0, 3, n)
    assert hsic(X, y, task=kind) == pytest.approx(naive.hsic(X, y, kind), abs=1e-14)


@given(SEEDS, st.integers(2, 12))
def test_the_trace_is_the_three_terms(seed, n):
    rng = np.random.default_rng(seed)
    K, L = (A @ A.T for A in rng.normal(size=(2, n, n)))
    size = np.abs(K).sum() * np.abs(L).max()
    assert naive.trace_form(K, L) == pytest.approx(naive.three_terms(K, L), abs=1e-13 * size)


def test_it_is_0_for_what_does_not_vary_and_symmetric_for_two_real_columns():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    assert hsic(np.ones(50), y) == pytest.approx(0, abs=1e-16)
    assert hsic(x, np.zeros(50)) == pytest.approx(0, abs=1e-16)
    assert hsic(x, y) == pytest.approx(hsic(y, x), abs=1e-15)
    assert hsic(x, y) > 0
    assert hsic(x, x) > 5 * hsic(x, y)


def test_two_classes_as_numbers_differ_by_a_factor_only():
    """A Gaussian L of two classes is the delta kernel, stretched and shifted."""
    X, y = world("class", 1, 60)
    y = y % 2
    ratios = [hsic(X[:, [j]], y, task="real") / hsic(X[:, [j]], y, task="class") for j in (0, 2)]
    assert ratios[0] == pytest.approx(1 - math.exp(-0.5), rel=1e-9)
    assert ratios[1] == pytest.approx(ratios[0], rel=1e-9)


# ---------------------------------------------------------------------------------------------------------------- sets


@KINDS
@pytest.mark.parametrize("memory", [1e9, 1000])
def test_a_column_that_joins_or_leaves(kind, memory):
    made = sample(kind, memory=memory)
    assert made.kept == (memory == 1e9)
    S = [0, 2, 3]
    joined = [made.value([*S, j]) for j in range(4)]
    left = [made.value([i for i in S if i != j]) for j in S]
    assert made.changed(S, range(4), 1.0) == pytest.approx(joined, abs=1e-14)
    assert made.changed(S, S, -1.0) == pytest.approx(left, abs=1e-14)
    assert made.changed([], [0, 2], 1.0) == pytest.approx([made.value([0]), made.value([2])], abs=1e-15)
    assert made.changed(S, [], 1.0).size == 0


def test_copies_are_the_same_to_the_last_bit():
    made = sample("real")
    joined, left = made.changed([2], range(4), 1.0), made.changed([0, 2, 3], [0, 3], -1.0)
    assert joined[0] == joined[3]
    assert left[0] == left[1]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_binary_columns_come_and_go(sign):
    """Widths of discrete columns jump where most rows coincide: rounding must not make a jump."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (80, 5)) * (rng.random(5) + 0.1), rng.integers(0, 2, 80)
    made = Sample(X, y, "class", Settings())
    for S in ([0, 1], [0, 3, 4], [0, 1, 2, 3, 4]):
        sets = [[*S, j] if sign > 0 else [i for i in S if i != j] for j in S]
        slow = [naive.hsic(X[:, some], y, "class") for some in sets]
        assert made.changed(S, S, sign) == pytest.approx(slow, abs=1e-13)


@KINDS
def test_blocks_give_the_same_bits_in_little_memory(kind):
    whole, parts = sample(kind, n=150), sample(kind, n=150, memory=20_000)
    assert whole.kept
    assert len(parts.bounds) > 3
    assert parts.value([0, 2]) == whole.value([0, 2])
    w = np.array([0.3, 0.5, 1.0, 0.7])
    assert parts.width(w) == whole.width(w)
    for a, b in zip(parts.slope(w, 1.1), whole.slope(w, 1.1), strict=True):
        assert a == pytest.approx(b, abs=1e-15)


# ------------------------------------------------------------------------------------------------------------- weights


@settings(max_examples=15)
@given(SEEDS, st.sampled_from(["class", "real"]), st.sampled_from([2, 5, 25, 40]))
def test_the_gradient_is_that_of_the_definition(seed, kind, n):
    X, y = world(kind, seed, n)
    f, w = Descent(Sample(X, y, kind, Settings())), np.random.default_rng(seed).uniform(0.1, 2, 4)
    value, gradient = f(w)
    Z, step = standardised(X), 1e-4
    assert f.sigma == pytest.approx(median_width(Z * w), rel=1e-12)

    def slow(weights):
        return naive.at(Z * weights, y, kind, f.sigma)

    assert value == pytest.approx(slow(w), abs=1e-14)
    for j in range(4):
        move = step * np.eye(4)[j]
        rise = (slow(w + move) - slow(w - move)) / (2 * step)
        assert gradient[j] == pytest.approx(rise, abs=1e-7 * (1 + np.abs(gradient).max()))


@KINDS
def test_the_gradient_of_many_rows(kind):
    """More than one group, tile and thread; fourth order differences."""
    f, w, step = Descent(sample(kind, n=700, m=5)), np.array([0.4, 1.0, 0.7, 0.2, 1.3]), 1e-2
    gradient = f(w)[1]
    for j in range(5):
        at = [f(w + t * step * np.eye(5)[j])[0] for t in (-2, -1, 1, 2)]
        rise = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)
        assert gradient[j] == pytest.approx(rise, abs=1e-9)


@KINDS
def test_a_weight_of_0_has_a_slope_of_exactly_0(kind):
    f = Descent(sample(kind))
    w = np.array([0.5, 0.2, 0.0, 0.0])
    gradient = f(w)[1]
    assert gradient[1:].tolist() == [0.0, 0.0, 0.0]  # the second column is constant
    assert gradient[0] != 0
    f.renew(np.zeros(4))
    value, gradient = f(np.zeros(4))
    assert not gradient.any()
    assert value == pytest.approx(0, abs=1e-15)


@KINDS
def test_weights_of_one_are_the_set_and_the_width_stays_until_renewed(kind):
    made = sample(kind)
    f, w = Descent(made), np.array([1.0, 0.0, 1.0, 0.0])
    assert f(w)[0] == pytest.approx(made.value([0, 2]), abs=1e-15)
    sigma = f.sigma
    f(3 * w)
    assert f.sigma == sigma
    f.renew(3 * w)
    assert f.sigma == pytest.approx(3 * sigma, rel=1e-14)
    assert f(3 * w)[0] == pytest.approx(made.value([0, 2]), abs=1e-15)
    with pytest.raises(InputError, match="w must be 4 numbers"):
        f([1.0])


# --------------------------------------------------------------------------------------------------------------- edges


@KINDS
def test_threads_leave_no_trace(kind):
    seen = set()
    for team in (1, 2, 3):
        with jit.threads(team):
            made = sample(kind, n=700, m=5)
            value, gradient = Descent(made)(np.arange(1.0, 6.0))
            changes = made.changed([0, 2], range(5), 1.0), made.changed([0, 1, 2], [0, 2], -1.0)
            seen.add((value, gradient.tobytes(), changes[0].tobytes(), changes[1].tobytes(), made.value([0])))
    assert len(seen) == 1


@KINDS
def test_one_row_and_odd_targets(kind):
    assert hsic([[1.0, 2.0]], [1], task=kind) == 0.0
    made = Sample(np.ones((1, 2)), np.zeros(1, np.int64 if kind == "class" else float), kind, Settings())
    assert Descent(made)([1.0, 1.0])[1].tolist() == [0.0, 0.0]
    X = np.random.default_rng(0).normal(size=(40, 2))
    for y in (np.zeros(40, int), np.arange(40), np.repeat([0, 1], [39, 1])):
        assert hsic(X, y, task=kind) == pytest.approx(naive.hsic(X, y, kind), abs=1e-14)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_columns(size):
    X, y = world("class", 2)
    assert hsic(X * size, y) == pytest.approx(hsic(X, y), abs=1e-14)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"memory": 0}, "parameter memory must be a number of bytes, such as 1e9, not 0"),
        ({"memory": "1GB"}, "parameter memory must be a number of bytes"),
        ({"memory": math.inf}, "parameter memory must be a number of bytes"),
        ({"standardise": 1}, "standardise must be True or False"),
        ({"task": "both"}, "task must be"),
    ],
)
def test_refusals(how, says):
    with pytest.raises(InputError, match=says):
        hsic([[0.0], [1.0]], [0, 1], **how)
