"""Sums, centred rows and products are those of the definition, to the rounding of a sum from first to last.

The error of a sum of n terms is held to (n + 3) roundings of its absolute terms, against the sum in fractions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive.moments import UNIT, majority

from jifs import jit
from jifs.kernels import moments
from jifs.kernels.moments import CHUNK

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any)
KINDS = ["float64", "float32", "int8", "uint8", "int64", "uint16"]
SHIFTS = st.sampled_from([0.0, 1.0, 1e8, -1e16])


def world(seed, sizes, m, kind="float64", shift=0.0, weighted=False):
    """Values with ties, in some order of the rows; starts of the classes; weights."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    x = rng.integers(0, 4, (n + 2, m)).astype(kind)
    if kind.startswith("float"):
        x = (x + np.where(rng.random(m) < 0.5, 0.0, rng.normal(size=(n + 2, m))) + shift).astype(kind)
    order = rng.permutation(n + 2)[:n]  # two of the rows are not in use
    weights = rng.choice([1.0, 2.0, 0.3, 1e-9], n) if weighted else np.ones(n)
    return x, order, np.concatenate([[0], np.cumsum(sizes)]), weights


def chunks(m):
    return -(-m // CHUNK)


def profile(x, order, starts, weights, shift, run=moments.profile_columns):
    classes, m = starts.size - 1, x.shape[1]
    sums, largest, vote = np.zeros((classes, m)), np.full(m, 7.0), np.zeros(m)
    run(chunks(m), x, order, starts, weights, shift, sums, largest, vote)
    return sums, largest, vote


def centre(x, order, starts, weights, mean, vote, kept=np.float64, run=moments.centre_columns, out=None):
    classes, m = mean.shape
    out = np.full((order.size, m), 7.0, kept) if out is None else out
    left, squares, holders = np.zeros((classes, m)), np.zeros((classes, m)), np.zeros(m)
    run(chunks(m), x, order, starts, weights, mean, vote, out, left, squares, holders)
    return out, left, squares, holders


def products(data, starts, z, run=moments.product_blocks):
    out = np.full((starts.size - 1, data.shape[1]), 7.0)
    run(out.shape[0] * chunks(out.shape[1]), data, starts, z, out)
    return out


def plain(function):
    """The kernel as plain Python, called like the kernel."""
    serial = getattr(function, "serial", function)
    body = getattr(serial, "py_func", serial)
    return lambda count, *arrays: body(0, count, *arrays)


def close_to_sum(found, terms):
    """Whether a number is the sum of exact terms, but for the rounding of adding them one by one."""
    exact, size = sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))
    return abs(Fraction(float(found)) - exact) <= (len(terms) + 3) * Fraction(UNIT) * size


def exact(values):
    return [Fraction(float(v)) for v in values]


# ------------------------------------------------------------------------------------------------- the first pass


@given(SEEDS, SIZES, st.integers(1, 3), st.sampled_from(KINDS), SHIFTS, st.booleans())
@example(0, [1], 1, "float64", 0.0, False)
@example(1, [0, 3, 0], 2, "float32", 1e8, True)
def test_sums_and_sizes(seed, sizes, m, kind, shift, weighted):
    x, order, starts, weights = world(seed, sizes, m, kind, shift, weighted)
    base = x[order[np.minimum(starts[:-1], order.size - 1)]].astype(np.float64)
    sums, largest, _ = profile(x, order, starts, weights, base)
    for j in range(m):
        assert largest[j] == max(abs(float(v)) for v in x[order, j])
        for c in range(starts.size - 1):
            rows = slice(starts[c], starts[c + 1])
            terms = zip(exact(weights[rows]), exact(x[order[rows], j]), strict=True)
            assert close_to_sum(sums[c, j], [w * (v - Fraction(base[c, j])) for w, v in terms])


@given(SEEDS, st.integers(1, 40), st.integers(1, 3), st.booleans())
@example(0, 1, 1, False)
def test_the_vote_goes_to_the_majority(seed, n, levels, weighted):
    rng = np.random.default_rng(seed)
    x = rng.integers(-1, levels, (n, 4)).astype(np.float64)
    x[:, 3] = np.where(rng.random(n) < 0.55, 0.1, rng.normal(size=n))
    weights = rng.integers(1, 4, n).astype(np.float64) if weighted else np.ones(n)
    starts = np.array([0, n // 2, n])
    _, _, vote = profile(x, np.arange(n), starts, weights, np.zeros((2, 4)))
    *_, holders = centre(x, np.arange(n), starts, weights, np.zeros((2, 4)), vote)
    for j in range(4):
        winner = majority(x[:, j], weights)
        if winner is not None:
            assert (vote[j], holders[j]) == winner
        assert holders[j] == weights[x[:, j] == vote[j]].sum()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("at", [0, 3, 6])
def test_what_is_not_finite_is_seen(bad, kind, at):
    x, order, starts, weights = world(3, [4, 3], 3, kind)
    x[order[at], 1] = bad
    with np.errstate(invalid="ignore"):
        _, largest, _ = profile(x, order, starts, weights, x[order[starts[:-1]]].astype(np.float64))
    assert np.isfinite(largest).tolist() == [True, False, True]


def test_rows_that_are_not_in_use_are_not_read():
    x, order, starts, weights = world(4, [4, 3], 2)
    shift = np.zeros((2, 2))
    expected = profile(x, order, starts, weights, shift)
    x[np.setdiff1d(np.arange(len(x)), order)] = np.nan
    for a, b in zip(expected, profile(x, order, starts, weights, shift), strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_large_value_elsewhere_costs_a_class_no_digits():
    """Each class has a shift of its own, so 1e20 in one class leaves the other's sum as it is."""
    x = np.array([[1e20], [3.0], [0.1], [0.2], [0.4]])
    starts = np.array([0, 2, 5])
    sums, *_ = profile(x, np.arange(5), starts, np.ones(5), x[starts[:-1]])
    assert sums[1, 0] == (0.2 - 0.1) + (0.4 - 0.1)


# ------------------------------------------------------------------------------------------------ the second pass


@given(SEEDS, SIZES, st.integers(1, 3), st.sampled_from(KINDS), SHIFTS, st.booleans())
@example(0, [1], 1, "float64", 0.0, False)
def test_centred_rows_and_their_squares(seed, sizes, m, kind, shift, weighted):
    x, order, starts, weights = world(seed, sizes, m, kind, shift, weighted)
    kept = np.float64 if kind in ("float64", "int64") else np.float32
    mean = np.random.default_rng(seed).normal(size=(starts.size - 1, m)) + shift
    out, left, squares, _ = centre(x, order, starts, weights, mean, np.zeros(m), kept)
    assert out.dtype == kept
    for c in range(starts.size - 1):
        rows = slice(starts[c], starts[c + 1])
        expected = (x[order[rows]].astype(np.float64) - mean[c]).astype(kept)
        assert out[rows].tobytes() == expected.tobytes()
        for j in range(m):
            w, z = exact(weights[rows]), exact(expected[:, j])
            assert close_to_sum(left[c, j], [a * b for a, b in zip(w, z, strict=True)])
            assert close_to_sum(squares[c, j], [a * b * b for a, b in zip(w, z, strict=True)])


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_in_place_is_the_same(kind):
    x, order, starts, weights = world(5, [4, 3], 5, kind, 1e3, True)
    x, order = np.ascontiguousarray(x[order]), np.arange(7)
    mean, vote = np.full((2, 5), 1e3), x[0].astype(np.float64)
    expected = centre(x.copy(), order, starts, weights, mean, vote, x.dtype)
    for a, b in zip(expected, centre(x, order, starts, weights, mean, vote, out=x), strict=True):
        assert a.tobytes() == b.tobytes()


# ------------------------------------------------------------------------------------------------------- products


@given(
    SEEDS,
    st.lists(st.integers(0, 9), min_size=1, max_size=4),
    st.integers(1, 3),
    st.sampled_from(["f4", "f8"]),
)
@example(0, [0], 1, "f8")
@example(0, [4, 1, 8], 2, "f4")
def test_products_of_every_length(seed, sizes, m, kind):
    """Four rows at a time and what is left of them; empty blocks are 0."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    data, z = rng.normal(size=(starts[-1], m)).astype(kind), rng.normal(size=starts[-1])
    out = products(data, starts, z)
    for b in range(len(sizes)):
        rows = slice(starts[b], starts[b + 1])
        for j in range(m):
            terms = [a * b for a, b in zip(exact(z[rows]), exact(data[rows, j]), strict=True)]
            assert close_to_sum(out[b, j], terms)


# ------------------------------------------------------------------------------------------- chunks and threads


def everything(x, order, starts, weights, through=lambda kernel: kernel):
    """The three kernels one after the other, as they are used."""
    shift = x[order[np.minimum(starts[:-1], order.size - 1)]].astype(np.float64)
    sums, largest, vote = profile(x, order, starts, weights, shift, through(moments.profile_columns))
    mean = shift + sums / np.maximum(np.diff(starts), 1)[:, None]
    kept = np.float32 if x.dtype == np.float32 else np.float64
    out, left, squares, holders = centre(
        x, order, starts, weights, mean, vote, kept, through(moments.centre_columns)
    )
    z = out[:, -1].astype(np.float64) * weights
    return [
        sums,
        largest,
        vote,
        out,
        left,
        squares,
        holders,
        products(out, starts, z, through(moments.product_blocks)),
    ]


WIDE = [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5]


@pytest.mark.parametrize("m", WIDE)
def test_a_column_is_the_same_in_any_chunk(m):
    x, order, starts, weights = world(6, [2, 0, 1], m, "float32", 10.0, True)
    wide = everything(x, order, starts, weights)
    for j in {0, CHUNK - 2, min(CHUNK, m - 1), m - 1}:
        narrow = everything(np.ascontiguousarray(x[:, [j, m - 1]]), order, starts, weights)
        for a, b in zip(wide, narrow, strict=True):
            assert a[..., j].tobytes() == b[..., 0].tobytes()


@pytest.mark.parametrize("kind", ["float64", "float32", "uint8"])
def test_threads_leave_no_trace(kind):
    x, order, starts, weights = world(7, [2, 2], 2 * CHUNK + 5, kind, 3.0, True)
    with jit.threads(1):
        one = everything(x, order, starts, weights)
    for count in (2, 3):
        with jit.threads(count):
            for a, b in zip(one, everything(x, order, starts, weights), strict=True):
                assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_is_plain(kind, weighted):
    """Bit for bit: nothing is added in another order, or with fewer roundings."""
    x, order, starts, weights = world(8, [7, 0, 9, 1], 5, kind, 0.1, weighted)
    compiled = everything(x, order, starts, weights)
    for a, b in zip(compiled, everything(x, order, starts, weights, plain), strict=True):
        assert a.tobytes() == b.tobytes()
    body = getattr(moments.product_one, "py_func", moments.product_one)
    data, z = compiled[3], np.ascontiguousarray(compiled[3][:, 0].astype(np.float64))
    found, expected = np.empty(5), np.empty(5)
    moments.product_one(data, 1, 16, 1, 4, z, found)
    body(data, 1, 16, 1, 4, z, expected)
    assert found[1:4].tobytes() == expected[1:4].tobytes()


def test_a_piece_writes_to_its_own_slots():
    x, order, starts, weights = world(9, [2, 1], 2 * CHUNK + 5)
    shift = np.zeros((2, x.shape[1]))
    whole = profile(x, order, starts, weights, shift)
    part = [np.zeros_like(whole[0]), np.full_like(whole[1], 7.0), np.full_like(whole[2], 7.0)]
    before = [a.copy() for a in part]
    moments.profile_columns.serial(1, 2, x, order, starts, weights, shift, *part)
    inside = np.arange(x.shape[1]) // CHUNK == 1
    for a, b, c in zip(whole, part, before, strict=True):
        assert b[..., inside].tobytes() == a[..., inside].tobytes()
        assert b[..., ~inside].tobytes() == c[..., ~inside].tobytes()
