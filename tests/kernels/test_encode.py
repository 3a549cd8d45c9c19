"""Codes, least values and seen sets equal whole numbers of Python, for every kind of number and every shape.

The kernels first; then `jifs.encode.encode`, which puts them together with the rules of `jifs.discretise`.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import encode as naive

from jifs.jit import COMPILED
from jifs.kernels import encode as kernels

SEEDS = st.integers(0, 2**32 - 1)
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL = ["float32", "float64"]
SLACK = 64
EVERY_DTYPE = pytest.mark.parametrize("dtype", [*WHOLE, *REAL])
BOTH_FORMS = pytest.mark.parametrize("form", ["rows", "columns"])


def ends(dtype):
    """Whole numbers at the least, the greatest and the middle of a type; for floats where all are still exact."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        far = 2 ** (24 if kind.itemsize == 4 else 53)
        return [-far, -1, 0, far - 63]
    info = np.iinfo(kind)
    return [int(info.min), int(info.max) - 63, 0, max(int(info.min), -30)]


def matrix(seed, dtype, n, m, most=64):
    """Columns that span 1 to `most` values from somewhere in the type's range, some with gaps."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(m):
        span, low = int(rng.integers(1, most + 1)), ends(dtype)[rng.integers(4)]
        step = int(rng.choice([1, 1, 2, 7]))
        columns.append(np.array([low + int(d) // step * step for d in rng.integers(0, span, n)], dtype=dtype))
    return np.stack(columns, axis=1)


def profile(x, form, lo=0, hi=None):
    """(low, high, flaw, part) of columns lo..hi-1 by the kernel for this type and form; the others are left alone."""
    hi = x.shape[1] if hi is None else hi
    low, high = np.full(x.shape[1], 77, x.dtype), np.full(x.shape[1], 77, x.dtype)
    flaw, part = np.zeros(x.shape[1], x.dtype), np.zeros(x.shape[1], x.dtype)
    with np.errstate(all="ignore"):  # plain Python warns of inf - inf
        if x.dtype.kind != "f":
            kernels.profile_whole(np.ascontiguousarray(x), lo, hi, low, high)
        elif form == "rows":
            kernels.profile_real(np.ascontiguousarray(x), lo, hi, low, high, flaw, part)
        else:
            kernels.profile_real_columns(np.ascontiguousarray(x.T), lo, hi, low, high, flaw, part)
    return low, high, flaw, part


def coded(x, order, form, lo=0, hi=None, unwanted=()):
    """(codes [m, n], seen [m], bytes after the last code); columns left out keep what was there before: 99 and no bits."""
    m, n = x.shape[1], len(order)
    hi = m if hi is None else hi
    low = x[order].min(axis=0)
    spans = [int(column.max()) - int(column.min()) + 1 for column in x[order].T]
    span = np.array([0 if j in unwanted else r for j, r in enumerate(spans)], dtype=np.int64)
    codes, seen = np.full(m * n + SLACK, 99, np.uint8), np.zeros(m, np.uint64)
    call = kernels.codes_from_rows if form == "rows" else kernels.codes_from_columns
    given_x = np.ascontiguousarray(x if form == "rows" else x.T)
    with np.errstate(all="ignore"):  # plain Python warns of differences of unwanted columns
        call(given_x, np.asarray(order, dtype=np.intp), lo, hi, low, span, codes, n, seen)
    return codes[: m * n].reshape(m, n), seen, codes[m * n :]


def same_codes(x, order, form):
    codes, seen, after = coded(x, order, form)
    for j in range(x.shape[1]):
        _, slow, bits = naive.shifted(x[order, j])
        assert codes[j].tolist() == slow
        assert int(seen[j]) == bits
    assert (after == 99).all()


# --------------------------------------------------------------------------------------------------- profiles


@EVERY_DTYPE
@BOTH_FORMS
@settings(max_examples=15)
@given(SEEDS, st.integers(1, 40), st.integers(1, 20))
def test_least_and_greatest(dtype, form, seed, n, m):
    x = matrix(seed, dtype, n, m)
    low, high, flaw, part = profile(x, form)
    assert low.tolist() == [min(column) for column in x.T.tolist()]
    assert high.tolist() == [max(column) for column in x.T.tolist()]
    assert not flaw.any()
    assert not part.any()


@EVERY_DTYPE
@BOTH_FORMS
def test_the_whole_range_of_a_type(dtype, form):
    info = np.finfo(dtype) if dtype in REAL else np.iinfo(dtype)
    x = np.array([[info.max, 0, info.min], [info.min, 1, info.max], [0, 0, 0]], dtype=dtype)
    low, high, flaw, part = profile(x, form)
    assert low.tolist() == x.min(axis=0).tolist()
    assert high.tolist() == x.max(axis=0).tolist()
    assert not flaw.any()
    assert not part.any()


@EVERY_DTYPE
@BOTH_FORMS
def test_a_strip_leaves_other_columns_alone(dtype, form):
    x = matrix(1, dtype, 30, 21)
    low, high, _, _ = profile(x, form, 5, 16)
    outside = [j for j in range(21) if not 5 <= j < 16]
    assert low[5:16].tolist() == x.min(axis=0)[5:16].tolist()
    assert (low[outside] == 77).all()
    assert (high[outside] == 77).all()


@pytest.mark.parametrize("dtype", REAL)
@BOTH_FORMS
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 3, 8])
def test_a_value_that_is_not_finite_is_flagged(dtype, form, bad, row):
    x = np.ones((9, 3), dtype)
    x[row, 1] = bad
    _, _, flaw, _ = profile(x, form)
    assert (flaw != 0).tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", REAL)
@BOTH_FORMS
def test_both_infinities_are_flagged(dtype, form):
    x = np.ones((9, 2), dtype)
    x[2, 0], x[5, 0], x[6, 0] = np.inf, -np.inf, np.nan
    _, _, flaw, _ = profile(x, form)
    assert (flaw != 0).tolist() == [True, False]


@pytest.mark.parametrize("dtype", REAL)
@BOTH_FORMS
@pytest.mark.parametrize("value", [0.5, -0.25, 1e-30, -1e-30, 1.0000001, 5e-324])
def test_a_value_that_is_not_whole_is_flagged(dtype, form, value):
    x = np.zeros((7, 3), dtype)
    x[4, 2] = value
    if x[4, 2] == 0:
        pytest.skip("too small for this type")
    _, _, flaw, part = profile(x, form)
    assert (part != 0).tolist() == [False, False, True]
    assert not flaw.any()


# ----------------------------------------------------------------------------------------------------- codes


@EVERY_DTYPE
@BOTH_FORMS
@settings(max_examples=15 if COMPILED else 6)
@given(SEEDS, st.sampled_from([1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 130]), st.integers(1, 20))
@example(0, 128, 16)
@example(1, 65, 17)
def test_codes_and_seen_sets(dtype, form, seed, n, m):
    x = matrix(seed, dtype, n, m)
    same_codes(x, np.random.default_rng(seed).permutation(n), form)


@EVERY_DTYPE
@BOTH_FORMS
def test_rows_left_out_and_rows_repeated(dtype, form):
    x = matrix(2, dtype, 70, 11)
    rng = np.random.default_rng(2)
    same_codes(x, rng.integers(0, 70, 150), form)
    same_codes(x, [3], form)
    same_codes(x, [69] * 64 + [0] * 2, form)


@BOTH_FORMS
@pytest.mark.parametrize("m", [1, 8, 13])
def test_sixty_four_values_and_the_last_seen(form, m):
    x = np.tile(np.arange(64)[:, None] - 10, (1, m))
    same_codes(x, np.arange(64), form)
    _, seen, _ = coded(x, np.arange(64), form)
    assert (seen == np.uint64(2**64 - 1)).all()
    late = np.zeros((200, m), np.int64)
    late[199] = 63  # the greatest code occurs in the last row only
    same_codes(late, np.arange(200), form)


@BOTH_FORMS
def test_codes_after_the_last_row_are_not_seen(form):
    """A column's 64-byte read reaches into the next column and the slack; nothing there may count."""
    x = np.zeros((3, 10), np.int64)
    x[1, ::2] = 5
    _, seen, _ = coded(x, [0, 1, 2], form)
    assert [int(s) for s in seen] == [0b100001, 1] * 5


@BOTH_FORMS
@pytest.mark.parametrize(("lo", "hi"), [(0, 1), (3, 11), (8, 21), (20, 21), (5, 5)])
def test_a_strip_writes_its_own_columns(form, lo, hi):
    x = matrix(3, "int32", 130, 21)
    order = np.random.default_rng(3).permutation(130)
    codes, seen, after = coded(x, order, form, lo, hi)
    for j in range(21):
        _, slow, bits = naive.shifted(x[order, j])
        assert codes[j].tolist() == (slow if lo <= j < hi else [99] * 130)
        assert int(seen[j]) == (bits if lo <= j < hi else 0)
    assert (after == 99).all()


@BOTH_FORMS
@EVERY_DTYPE
def test_unwanted_columns_do_no_harm(form, dtype):
    x = matrix(4, dtype, 100, 19)
    unwanted = [0, 5, 8, 17]
    info = np.finfo(dtype) if dtype in REAL else np.iinfo(dtype)
    x[0, unwanted], x[1, unwanted] = info.max, info.min  # their differences fit no byte
    codes, seen, _ = coded(x, np.arange(100), form, unwanted=unwanted)
    for j in set(range(19)) - set(unwanted):
        _, slow, bits = naive.shifted(x[:, j])
        assert codes[j].tolist() == slow
        assert int(seen[j]) == bits
    assert not seen[unwanted].any()


@given(SEEDS, st.integers(0, 20), st.integers(1, 64), st.integers(1, 64), st.integers(0, 2**64 - 1))
def test_seen_grows(seed, at, count, span, before):
    codes = np.random.default_rng(seed).integers(0, span, 120).astype(np.uint8)
    codes[at + count :] = span - 1
    found = int(kernels.seen_one(codes, at, count, span, np.uint64(before)))
    assert found == before | sum(1 << int(c) for c in set(codes[at : at + count].tolist()))


@given(SEEDS, st.integers(0, 9), st.integers(0, 50), st.integers(1, 64))
def test_recoding(seed, at, n, span):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, span, at + n + 5).astype(np.uint8)
    new = rng.integers(0, 256, 64).astype(np.uint8)
    expected = codes.copy()
    expected[at : at + n] = [new[c] for c in codes[at : at + n]]
    kernels.recode_one(codes, at, n, new)
    assert codes.tolist() == expected.tolist()
