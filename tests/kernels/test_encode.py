"""Codes, least values and seen sets equal whole numbers of Python, for every kind of number and every shape.

The kernels first; then `jifs.encode.encode`, which puts them together with the rules of `jifs.discretise`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import encode as naive

import jifs
from jifs.encode import DISCRETE_LEVELS, encode
from jifs.errors import InputError
from jifs.jit import COMPILED, threads
from jifs.kernels import encode as kernels
from jifs.rows import FEW_VALUES, MOST_REPEATS
from jifs.table import as_table

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
    """(codes [m, n], seen [m], bytes after the last code); what is not written stays 99, or no bits."""
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
def test_a_value_that_is_not_finite_is_flagged(dtype, form):
    for bad in (np.nan, np.inf, -np.inf):
        for row in (0, 3, 8):
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
def test_a_value_that_is_not_whole_is_flagged(dtype, form):
    least = np.finfo(dtype).smallest_subnormal
    for value in (0.5, -0.25, 1e-30, -1e-30, np.nextafter(1, 2, dtype=dtype), least, -least):
        x = np.zeros((7, 3), dtype)
        x[4, 2] = value
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


# ---------------------------------------------------------------------------------------------- a whole table


# plain Python warns where a kernel wraps: differences of columns that will not be coded
QUIET = {} if COMPILED else {"over": "ignore", "invalid": "ignore"}


def codes_of(batch, j):
    return batch.column(j).codes[: batch.n].tolist()


def all_codes(batch):
    return [codes_of(batch, j) for j in range(len(batch.cards))]


def encoded(X, y, bins="none", **how):
    """The batch, after the laws every batch keeps: dense codes, classes in runs, rules that give the codes again."""
    table = as_table(X, y, **how)
    with np.errstate(**QUIET):
        batch, encoding = encode(table, bins)
    again = encoding.apply(table)
    for j in range(table.m):
        own = codes_of(batch, j)
        assert sorted(set(own)) == list(range(batch.cards[j]))
        assert again[j][batch.order].tolist() == own
        assert encoding.rule(j).n_levels == batch.cards[j]
    labels = table.target.values[batch.order]
    assert (np.diff(labels) >= 0).all()
    assert np.diff(batch.starts).tolist() == np.bincount(labels)[encoding.present].tolist()
    return batch, encoding


def classes(n, seed=0, count=3):
    """Classes of n rows, each at least once."""
    rng = np.random.default_rng(seed)
    return rng.permutation(np.concatenate([np.arange(count), rng.integers(0, count, n - count)]))


@EVERY_DTYPE
@settings(max_examples=10 if COMPILED else 5)
@given(SEEDS, st.sampled_from([4, 8, 63, 64, 65, 130]), st.integers(1, 20))
def test_codes_of_a_table(dtype, seed, n, m):
    x, y = matrix(seed, dtype, n, m), classes(n, seed)
    batch, _ = encoded(x, y)
    order = naive.row_order(y)
    assert batch.order.tolist() == order
    assert all_codes(batch) == [naive.dense(x[order, j]).tolist() for j in range(m)]


ARRANGEMENTS = {
    "columns": np.asfortranarray,
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "turned columns": lambda x: np.asfortranarray(x[:, ::-1])[:, ::-1],
    "other bytes first": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": lambda x: np.frombuffer(b"?" + x.tobytes(), dtype=x.dtype, offset=1).reshape(x.shape),
}


@pytest.mark.parametrize("how", [*ARRANGEMENTS, "read only", "read only columns"])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_every_arrangement_in_memory_is_the_same_table(how, dtype):
    x, y = matrix(5, dtype, 130, 13, most=20), classes(130)
    if dtype == "float64":
        x[:, 3] += np.random.default_rng(0).normal(size=130)
    plain, _ = encoded(x, y, 5)
    if how.startswith("read only"):
        other = np.array(x, order="F" if how.endswith("columns") else "C")
        other.flags.writeable = False
    else:
        other = ARRANGEMENTS[how](x)
    before = other.copy()
    batch, _ = encoded(other, y, 5)
    assert all_codes(batch) == all_codes(plain)
    np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("dtype", [*WHOLE, *REAL, "bool", "float16", "longdouble"])
@pytest.mark.parametrize("form", ["C", "F"])
def test_every_type_of_number_is_the_same_table(dtype, form):
    rng = np.random.default_rng(6)
    x = rng.integers(0, 2 if dtype == "bool" else 5, (70, 11))
    x[0], x[1] = 0, 1
    y = classes(70)
    batch, encoding = encoded(np.array(x.astype(dtype), order=form), y, 5)
    assert all_codes(batch) == all_codes(encoded(x, y, 5)[0])
    assert all(encoding.is_discrete(j) for j in range(11))


def test_the_ends_of_every_type():
    for dtype in WHOLE:
        info = np.iinfo(dtype)
        x = np.array([[info.min, info.max], [info.max, info.max - 63], [info.min, info.max - 1]], dtype=dtype)
        assert all_codes(encoded(x, [0, 1, 0], 5)[0]) == [[0, 0, 1], [2, 1, 0]]
    for dtype in REAL:
        far = np.finfo(dtype).max
        x = np.array([[-far, far], [far, far], [-far, 1.0]], dtype=dtype)
        assert all_codes(encoded(x, [0, 1, 0], 5)[0]) == [[0, 0, 1], [1, 0, 1]]
    every = np.arange(-128, 128).astype(np.int8)[:, None]
    assert codes_of(encoded(every, np.zeros(256, int))[0], 0) == list(range(256))


def test_far_apart_beyond_the_steps_of_a_float():
    """Neighbours of int64 and uint64 that are one number as floats."""
    low = 2**62
    x = np.array([[low], [low + 1], [low + 2], [low + 63], [low + 64], [low + 1000]])
    for some in (x[:4], x[:5], x):
        for dtype in (np.int64, np.uint64):
            batch, encoding = encoded(some.astype(dtype), np.zeros(len(some), int))
            assert codes_of(batch, 0) == list(range(len(some)))
            assert encoding.rule(0).values == tuple(some[:, 0].tolist())


@pytest.mark.parametrize("m", [1, 9, 513, 1030])
def test_many_strips_of_columns(m):
    rng = np.random.default_rng(m)
    x, y = rng.integers(0, 4, (70, m)) * rng.integers(1, 3, m), classes(70)
    expected = [naive.dense(x[naive.row_order(y), j]).tolist() for j in range(m)]
    for team in (1, 3):
        for form in ("C", "F"):
            with threads(team):
                batch, _ = encode(as_table(np.array(x, order=form), y), 5)
            assert all_codes(batch) == expected


@pytest.mark.parametrize("levels", [31, DISCRETE_LEVELS, DISCRETE_LEVELS + 1, 63, 64, 65, 256, 257, 700])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("stretch", [1, 1000])
def test_which_columns_are_cut(levels, dtype, stretch):
    x = np.random.default_rng(levels).permutation(np.arange(1400) % levels)[:, None].astype(dtype) * stretch
    batch, encoding = encoded(x, classes(1400), 5)
    assert encoding.is_discrete(0) == naive.is_discrete(x[:, 0]) == (levels <= 32)
    assert batch.cards[0] == (levels if levels <= 32 else 5)
    for how in ({"bins": "none"}, {"bins": 5, "discrete": [0]}):
        batch, encoding = encoded(x, classes(1400), **how)
        assert codes_of(batch, 0) == naive.dense(x[batch.order, 0]).tolist()
        assert encoding.is_discrete(0)
    batch, encoding = encoded(x, classes(1400), 5, discrete=[])
    assert not encoding.is_discrete(0)
    assert batch.cards[0] == 5


def test_a_fraction_makes_a_column_continuous():
    x = np.tile([0.0, 1.0, 2.0], 20)[:, None]
    assert encoded(x, classes(60), 5)[1].is_discrete(0)
    x[17] = 1.5
    assert encoded(x, classes(60), 5)[1].is_discrete(0)  # four values: no more than there are bins
    assert not encoded(x, classes(60), 3)[1].is_discrete(0)
    assert not encoded(x, classes(60), "mdl")[1].is_discrete(0)
    assert not naive.is_discrete(x[:, 0])


@pytest.mark.parametrize("bins", [5, "width:5"])
def test_a_rare_low_value_is_not_lost_among_the_bins(bins):
    x = np.where(np.arange(100) < 12, -1.7, 0.3)[:, None]
    assert encoded(x, classes(100), bins)[0].cards.tolist() == [2]
    assert encoded(-x, classes(100), bins)[0].cards.tolist() == [2]


def test_a_column_whose_values_fall_into_one_bin_is_said():
    x = np.concatenate([np.linspace(0.1, 0.2, 12), np.full(88, 7.5)])[:, None]
    with pytest.warns(jifs.JifsWarning, match="'x0' is not constant, but all its values fall into one bin"):
        jifs.select(x, classes(100), 1, "mim")
    assert jifs.select(x, classes(100), 1, "mim", bins="mdl").facts["warnings"] == []


def test_over_256_levels_beside_others():
    rng = np.random.default_rng(8)
    n = 900
    columns = [
        np.arange(n) % r * step for r, step in ((2, 1), (256, 3), (257, 1), (5, 1), (n, 7), (64, 1), (65, 1))
    ]
    x, y = rng.permutation(np.stack(columns, axis=1)), classes(n)
    batch, _ = encoded(x, y)
    assert batch.cards.tolist() == [2, 256, 257, 5, 900, 64, 65]
    assert all_codes(batch) == [naive.dense(x[batch.order, j]).tolist() for j in range(7)]
    assert batch.wide.size == 2 * n


# ------------------------------------------------------------------------------------------------ mixed columns


def mixed_columns(n=90):
    rng = np.random.default_rng(9)
    return {
        "town": rng.choice(["Ulm", "Bonn", "", "Århus"], n),
        "wet": rng.random(n) < 0.5,
        "rooms": rng.integers(1, 6, n).astype(np.int16),
        "size": rng.normal(size=n),
        "whole": rng.integers(-3, 3, n).astype(np.float32),
        "number": np.arange(n, dtype=np.uint64) + 2**63,
    }


@pytest.mark.parametrize("maker", ["pandas", "polars", "pyarrow", "dict"])
def test_frames_of_mixed_columns(maker):
    columns, y = mixed_columns(), classes(90)
    if maker == "dict":
        X = columns
    elif maker == "pyarrow":
        X = pytest.importorskip("pyarrow").table(columns)
    else:
        X = pytest.importorskip(maker).DataFrame(columns)
    batch, encoding = encoded(X, y, 5)
    assert [encoding.is_discrete(j) for j in range(6)] == [True, True, True, False, True, False]
    order = naive.row_order(y)
    for j in (0, 1, 2, 4):
        column = list(columns.values())[j]
        assert codes_of(batch, j) == naive.dense(column[order]).tolist()
    everything, _ = encoded(X, y)
    assert all_codes(everything) == [naive.dense(column[order]).tolist() for column in columns.values()]


def test_text_of_over_256_levels():
    names = np.array([f"n{i % 300}" for i in range(700)])
    batch, _ = encoded(names[:, None], classes(700))
    assert codes_of(batch, 0) == naive.dense(names[batch.order]).tolist()


# ---------------------------------------------------------------------------------------------------- weights


@settings(max_examples=15 if COMPILED else 5)
@given(SEEDS, st.sampled_from([6, 20, 70]), st.sampled_from(["none", 3, "width:4", "mdl"]))
def test_weight_two_is_the_row_twice_and_zero_is_no_row(seed, n, bins):
    rng = np.random.default_rng(seed)
    y = classes(n, seed)
    x = np.column_stack([rng.integers(0, 5, n), rng.normal(size=n).round(1), rng.integers(0, 50, n) * 3 - 60])
    w = rng.integers(0, 4, n)
    w[:3] = 1
    y[:3] = [0, 1, 2]
    rows = np.repeat(np.arange(n), w)
    batch, _ = encoded(x, y, bins, sample_weight=w)
    twice, _ = encoded(x[rows], y[rows], bins)
    assert batch.order.tolist() == naive.row_order(y, w)
    assert all_codes(batch) == all_codes(twice)
    assert batch.weights is None
    assert batch.starts.tolist() == twice.starts.tolist()
    assert batch.size == twice.size == w.sum()


def test_rows_of_weight_zero_teach_nothing():
    x = np.array([[0, 0.5], [10**15, 1.5], [1, 0.5], [-(10**15), 0.25], [1, 2.5]])
    for kind in (np.float64, np.int64):
        for w in ([1, 0, 1, 0, 1], [0.5, 0, 0.25, 0, 0.25]):
            batch, encoding = encoded(x.astype(kind), [0, 1, 0, 1, 1], sample_weight=w)
            assert codes_of(batch, 0) == [0, 1, 1]
            assert encoding.rule(0).values == (0, 1)
            assert batch.order.tolist() == [0, 2, 4]


def test_a_class_without_weight_is_absent_as_its_rows_are():
    batch, encoding = encoded(np.arange(4)[:, None], [0, 1, 1, 2], sample_weight=[1, 0, 0, 2])
    assert batch.classes == 2
    assert batch.starts.tolist() == [0, 1, 3]
    assert encoding.present.tolist() == [0, 2]


def test_real_weights_are_scaled_to_the_number_of_rows():
    w = np.array([0.5, 0.0, 3.0, 1e-3, 0.25])
    batch, _ = encoded(np.arange(5)[:, None], [1, 0, 0, 1, 1], sample_weight=w)
    assert batch.order.tolist() == [2, 0, 3, 4]
    assert batch.weights.sum() == pytest.approx(4, rel=1e-15)
    np.testing.assert_allclose(batch.weights / batch.weights[0], w[batch.order] / 3.0, rtol=1e-14, atol=1e-15)
    assert batch.size == pytest.approx(w.sum())


@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324])
def test_weights_at_the_ends_of_the_range(scale):
    batch, _ = encoded(
        np.arange(4)[:, None], [0, 0, 1, 1], sample_weight=np.array([1.0, 2.0, 3.0, 1.0]) * scale
    )
    np.testing.assert_allclose(batch.weights, np.array([1.0, 2.0, 3.0, 1.0]) / 7 * 4, rtol=1e-14)


def test_huge_whole_weights_are_not_repeated():
    few = np.arange(3)[:, None]
    batch, _ = encoded(few, [0, 1, 1], sample_weight=[1, 1, 10**6])
    assert batch.n == 10**6 + 2
    batch, _ = encoded(few, [0, 1, 1], sample_weight=[1, 1, FEW_VALUES])
    assert (batch.n, batch.weights.tolist(), batch.mass) == (3, [1, 1, FEW_VALUES], FEW_VALUES + 2)
    many = np.zeros(
        (3, FEW_VALUES // 1000), np.uint8
    )  # so many columns that a thousand rows of them are too much
    batch, _ = encoded(many, [0, 1, 1], sample_weight=[1, 1, 1000])
    assert batch.n == 3
    batch, _ = encoded(many, [0, 1, 1], sample_weight=[1, 1, MOST_REPEATS * 3 - 2])
    assert (batch.n, batch.weights) == (MOST_REPEATS * 3, None)


def test_equal_weights_are_no_weights():
    batch, _ = encoded(np.arange(4)[:, None], [0, 0, 1, 1], sample_weight=np.full(4, 0.3))
    assert (batch.weights, batch.mass, batch.size) == (None, 4.0, pytest.approx(1.2))


@given(st.integers(2, 300), st.floats(1e-5, 1e5), st.integers(0, 2**32 - 1))
def test_sums_of_real_weights_are_exact(n, spread, seed):
    rng = np.random.default_rng(seed)
    w = np.exp(rng.normal(size=n) * np.log(spread)) + 0.5
    batch, _ = encoded(np.zeros((n, 1)), rng.integers(2, size=n), sample_weight=w)
    if batch.weights is None:
        return
    exact = sum(Fraction(x) for x in batch.weights.tolist())
    for _ in range(3):
        assert Fraction(float(rng.permutation(batch.weights).sum())) == exact
        assert Fraction(float(np.cumsum(rng.permutation(batch.weights))[-1])) == exact
    assert batch.mass == float(exact)
    np.testing.assert_allclose(batch.weights / batch.mass, w[batch.order] / w.sum(), rtol=1e-9, atol=1e-15)


# ---------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("form", ["C", "F"])
@pytest.mark.parametrize("weight", [None, 0.0, 0.5])
def test_values_that_are_not_finite_are_refused_by_name(dtype, form, weight):
    for bad in (np.nan, np.inf, -np.inf):
        x = np.ones((9, 12), dtype, order=form)
        x[4, 10] = bad
        w = None if weight is None else np.where(np.arange(9) == 4, weight, 1.0)
        with np.errstate(**QUIET), pytest.raises(InputError, match="'x10'"):
            encode(as_table(x, classes(9), sample_weight=w), 5)
