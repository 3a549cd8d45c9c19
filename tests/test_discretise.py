"""Bins: what `bins` may say, rules learned on one table and applied to another, fast equal to the formulas."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import discretise as naive

from jifs import discretise
from jifs.discretise import (
    BinRule,
    Cuts,
    Levels,
    Width,
    learn_cuts,
    learn_levels,
    parse_bins,
    rule_from_dict,
)
from jifs.errors import InputError
from jifs.jit import threads

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TIED = st.integers(-5, 5).map(float)
NEIGHBOURS = st.sampled_from(
    [1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 0.0, -0.0, 5e-324, -1e-323]
)
HUGE = st.sampled_from([1.7976931348623157e308, -1.7976931348623157e308, 1e308, -1e308, 0.0, 1.0])
COLUMN = st.one_of(
    *(st.lists(v, min_size=1, max_size=60) for v in (FINITE, TIED, NEIGHBOURS, HUGE, st.floats(-1, 1)))
).map(np.array)
BINS = st.integers(2, 30)


def learn(x, bins, y=None, weights=None):
    """The rule of one column."""
    classes = 0 if y is None else int(y.max()) + 1
    return learn_cuts(np.asarray(x, dtype=float)[None, :], parse_bins(bins), y, classes, weights)[0]


def is_dense(rule, codes):
    return np.array_equal(np.unique(codes), np.arange(rule.n_levels))


# --------------------------------------------------------------------------------------------------- what `bins` says


@pytest.mark.parametrize(
    ("bins", "canonical"),
    [
        (5, "frequency:5"),
        (np.int64(7), "frequency:7"),
        (np.uint8(7), "frequency:7"),
        ("5", "frequency:5"),
        ("frequency", "frequency:5"),
        ("frequency:10", "frequency:10"),
        ("width", "width:5"),
        ("width:10", "width:10"),
        (" Width : 3 ", "width:3"),
        ("MDL", "mdl"),
        ("none", "none"),
        (BinRule("width", 4), "width:4"),
        (1_000_000, "frequency:1000000"),
    ],
)
def test_bins_that_are_understood(bins, canonical):
    rule = parse_bins(bins)
    assert str(rule) == canonical
    assert parse_bins(str(rule)) == rule


@pytest.mark.parametrize(
    "bins",
    [
        *(
            True,
            False,
            np.True_,
            5.0,
            np.float64(5),
            float("nan"),
            None,
            [5],
            {"width": 5},
            b"mdl",
            np.array(5),
        ),
        *(
            "",
            " ",
            ":",
            ":5",
            "width:",
            "width:x",
            "width:5.0",
            "width 5",
            "width5",
            "5 bins",
            "mdl:5",
            "none:2",
        ),
        *("quantile:5", "frequency:5:5", "width:\u0665", "width:1_0", "1e3", "x" * 500),
    ],
)
def test_bins_that_are_not_understood(bins):
    with pytest.raises(InputError, match=r"bins=.* is not understood; use .*5.*'width:10', 'mdl'") as refusal:
        parse_bins(bins)
    assert len(str(refusal.value)) < 260


@pytest.mark.parametrize(
    "bins", [0, 1, -3, 1_000_001, "0", "-5", "width:1", "frequency:0", "width:" + "9" * 5000]
)
def test_impossible_numbers_of_bins(bins):
    with pytest.raises(InputError, match=r"bins=.* impossible number of bins; use 2 to 1000000"):
        parse_bins(bins)


# ------------------------------------------------------------------------------------------------------ equal frequency


@given(COLUMN, BINS)
@example(np.array([0.0, 1.0]), 10)  # more bins than rows: some raw codes never occur
@example(np.array([0.0] * 9 + [1.0]), 5)  # a mass at the minimum
@example(np.array([-1.7e308, 1.7e308, 1.7e308]), 4)  # the difference overflows
def test_equal_frequency_is_its_formula(x, b):
    rule = learn(x, b)
    if x.max() / 2 - x.min() / 2 < 8e307:
        assert rule.cuts == tuple(naive.quantile_cuts(x, b).tolist())
    else:  # where differences overflow, a quarter of everything still has its quantiles
        slow = 4 * naive.quantile_cuts(x / 4, b)
        gaps = np.abs(np.array(rule.cuts)[:, None] / 4 - slow / 4)
        assert max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) <= 1e292
    codes = rule.apply(x)
    raw = naive.codes_of_cuts(x, rule.cuts)
    assert rule.kept == tuple(np.unique(raw).tolist())
    np.testing.assert_array_equal(codes, naive.dense(raw))


@given(COLUMN, BINS)
def test_cuts_are_strictly_ascending(x, b):
    cuts = learn(x, b).cuts
    assert all(low < high for low, high in pairwise(cuts))


def test_quantiles_beyond_half_the_range_of_numbers():
    x = np.array([-1.6e308, -1.6e308, 1.6e308, 1.6e308])
    rule = learn(x, 2)
    assert rule.cuts == (0.0,)
    assert rule.apply(x).tolist() == [0, 0, 1, 1]


def test_equal_frequency_by_hand():
    rule = learn(np.arange(10.0), 5)
    assert rule.cuts == pytest.approx((1.8, 3.6, 5.4, 7.2))
    assert rule.apply(np.arange(10.0)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    # quantiles 0, 0, 1.75: the mass at the minimum is a bin of its own, and bins are closed on the right
    half = learn([0, 0, 0, 0, 0, 0, 1, 2, 3, 4], 4)
    assert half.cuts == (0.0, 1.75)
    assert half.apply([0, 1, 2, 3, 4]).tolist() == [0, 1, 2, 2, 2]
    assert half.apply([-1, 1e-9, 1.75, 1.7500001]).tolist() == [0, 1, 1, 2]


@given(
    st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=60),
    BINS,
    st.integers(-30, 30),
    st.integers(-9, 9),
)
def test_equal_frequency_does_not_see_scale_and_origin(values, b, power, shift):
    x = np.array(values, dtype=float)
    moved = x * 2.0**power
    np.testing.assert_array_equal(learn(x, b).apply(x), learn(moved, b).apply(moved))
    if (
        b & (b - 1) == 0 and b <= 16
    ):  # only then is every quantile of whole numbers exact, also after the shift
        np.testing.assert_array_equal(learn(x, b).apply(x), learn(x + shift, b).apply(x + shift))


@given(COLUMN, st.sampled_from([2, 7, "width:2", "width:7", "mdl"]), st.integers(0, 2**32 - 1))
def test_equal_values_are_never_parted_and_order_is_kept(x, bins, seed):
    y = np.random.default_rng(seed).integers(3, size=len(x))
    codes = learn(x, bins, y).apply(x)
    order = np.argsort(x)
    assert (np.diff(codes[order]) >= 0).all()
    same = x[order][1:] == x[order][:-1]
    assert (np.diff(codes[order])[same] == 0).all()


# -------------------------------------------------------------------------------------------------------- equal width


@given(st.one_of(st.lists(TIED, min_size=1), st.lists(NEIGHBOURS, min_size=1)).map(np.array), BINS)
def test_equal_width_is_its_formula(x, b):
    rule = learn(x, f"width:{b}")
    raw = naive.equal_width_raw(x, b)
    assert rule == Width(x.min(), x.max(), b, tuple(np.unique(raw).tolist()))
    np.testing.assert_array_equal(rule.apply(x), naive.dense(raw))


@given(COLUMN, BINS)
@example(np.array([-1.7e308, 1.7e308, 0.0, 1e308]), 7)
@example(np.array([0.0, 5e-324, 1e-323, 1.5e-323]), 3)
@example(np.array([0.0, 1.7e308]), 30)
def test_equal_width_at_any_scale(x, b):
    rule = learn(x, f"width:{b}")
    codes = np.array(rule.kept)[rule.apply(x)]
    assert is_dense(rule, rule.apply(x))
    low, high = Fraction(x.min()), Fraction(x.max())
    for value, code in zip(x.tolist(), codes.tolist(), strict=True):
        exact = b * (Fraction(value) - low) / (high - low) if high > low else Fraction(0)
        assert code <= exact + Fraction(1, 10**12)
        assert exact < code + 1 + Fraction(1, 10**12) or code == b - 1


def test_equal_width_of_whole_numbers_is_exact():
    x = np.arange(0, 50)
    for b in range(2, 60):
        rule = learn(x, f"width:{b}")
        assert np.array(rule.kept)[rule.apply(x)].tolist() == [min(b - 1, b * v // 49) for v in range(50)]


def test_a_million_bins():
    x = np.array([-1e308, 0.0, 1e308, 1e308])
    for bins in ("width:1000000", "frequency:1000000"):
        assert learn(x, bins).apply(x).tolist() == [0, 1, 2, 2]


# ------------------------------------------------------------------------------------------------------------- weights


@given(COLUMN, BINS, st.integers(0, 2**32 - 1), st.sampled_from([1e-300, 0.1, 1.0, 3.7, 1e300]))
def test_weighted_equal_frequency(x, b, seed, scale):
    rng = np.random.default_rng(seed)
    w = rng.integers(0, 5, len(x)) / 10.0
    w[rng.integers(len(x))] = 0.7
    rule = learn(x, b, weights=w * scale)
    assert rule.cuts == tuple(naive.weighted_quantile_cuts(x, w, b).tolist())
    assert is_dense(rule, rule.apply(x[w > 0]))


@pytest.mark.parametrize("pattern", [(0.1, 0.2, 0.3), (0.1, 0.7), (0.3, 0.1, 0.2), (0.1, 0.3, 0.3)])
@pytest.mark.parametrize("times", [5, 50, 5000])
def test_rounding_of_summed_weights_does_not_move_a_cut(pattern, times):
    w = np.tile(pattern, times)  # each fifth of the weight ends with a fifth of the rows, but for rounding
    fifths = np.arange(1, 5) * len(w) // 5 - 1.0
    assert learn(np.arange(len(w)), 5, weights=w).cuts == tuple(fifths.tolist())


def test_weights_whose_sum_overflows():
    assert learn(np.arange(10), 5, weights=np.full(10, 1e308)).cuts == (1.0, 3.0, 5.0, 7.0)


@given(COLUMN, BINS, st.sampled_from(["frequency", "width"]), st.integers(0, 2**32 - 1))
def test_whole_weights_are_rows_repeated(x, b, kind, seed):
    w = np.random.default_rng(seed).integers(0, 7, len(x))
    w[0] = 1
    assert learn(x, f"{kind}:{b}", weights=w * 1.0) == learn(np.repeat(x, w), f"{kind}:{b}")


@given(COLUMN, st.sampled_from([2, 5, "width:4", "mdl"]), st.integers(0, 2**32 - 1))
def test_rows_without_weight_are_absent(x, bins, seed):
    rng = np.random.default_rng(seed)
    w, y = rng.uniform(0.5, 2, len(x)) * rng.integers(0, 2, len(x)), rng.integers(3, size=len(x))
    w[0] = 1.0
    there = w > 0
    assert learn(x, bins, y, w) == learn(x[there], bins, y[there], w[there])


def test_mdl_with_real_weights():
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=150)
    x = np.round(3 * y + rng.normal(size=150), 1)
    w = rng.integers(0, 16, 150) / 4.0
    assert learn(x, "mdl", y, w).cuts == tuple(naive.mdl_cuts(x, y, w))
    assert learn(x, "mdl", y, w * 1024).cuts == tuple(naive.mdl_cuts(x, y, w * 1024))
    twice = learn(np.repeat(x, 2), "mdl", np.repeat(y, 2))
    assert learn(x, "mdl", y, np.full(150, 2.0)) == twice
    assert learn(x, "mdl", y, np.full(150, 1 / 150)).cuts == ()  # the evidence of one row
    endless = tuple(
        naive.mdl_cuts(x, y, np.full(150, 1e200))
    )  # so much evidence that any gain earns its cost
    assert learn(x, "mdl", y, np.full(150, 1e308)).cuts == endless


# ----------------------------------------------------------------------------------------------------------------- mdl


def test_mdl_by_the_public_door():
    rng = np.random.default_rng(8)
    y = rng.integers(4, size=200)
    x = np.vstack([np.round(2 * y + rng.normal(size=200), 1), rng.normal(size=200), np.full(200, 3.0)])
    rules = learn_cuts(x, parse_bins("mdl"), y, 4)
    assert [rule.cuts for rule in rules] == [tuple(naive.mdl_cuts(column, y)) for column in x]
    assert rules[0].n_levels > 2
    assert [rule.n_levels for rule in rules[1:]] == [1, 1]
    assert is_dense(rules[0], rules[0].apply(x[0]))


def test_mdl_parts_neighbouring_floats():
    a, b = 1.0, np.nextafter(1.0, 2.0)
    for low, high in [(a, b), (np.nextafter(b, 2.0), np.nextafter(np.nextafter(b, 2.0), 2.0)), (0.0, 5e-324)]:
        x, y = np.repeat([low, high], 20), np.repeat([0, 1], 20)
        np.testing.assert_array_equal(learn(x, "mdl", y).apply(x), y)


def test_mdl_without_classes_is_refused():
    with pytest.raises(InputError, match=r"bins='mdl' needs a target of classes; use bins=5"):
        learn(np.arange(9), "mdl")


# ------------------------------------------------------------------------------------------------------------ new data


def test_new_data_in_a_bin_that_training_left_empty():
    width = learn([0.0, 1.0, 9.0, 10.0], "width:10")
    assert width.kept == (0, 1, 9)
    assert width.apply([0.5, 1.5, 5.0, 8.9, 9.0, -7.0, 99.0, -np.inf, np.inf]).tolist() == [
        0,
        1,
        1,
        1,
        2,
        0,
        2,
        0,
        2,
    ]
    cuts = learn([0.0, 1.0], 4)
    assert (cuts.cuts, cuts.kept) == ((0.25, 0.5, 0.75), (0, 3))
    assert cuts.apply([0.2, 0.3, 0.6, 0.75, 0.8, -9, 9]).tolist() == [0, 0, 0, 0, 1, 0, 1]
    assert Width(0.0, 10.0, 5, kept=(2, 4)).apply([0.0, 5.0, 7.0, 9.0]).tolist() == [0, 0, 0, 1]


@given(COLUMN, COLUMN, st.sampled_from([2, 9, "width:2", "width:9", "mdl", "none"]))
def test_each_new_value_is_judged_alone(train, test, bins):
    y = np.arange(len(train)) % 3
    rule = learn(train, bins, y)
    codes = rule.apply(test)
    assert codes.dtype == np.int32
    assert codes.tolist() == [int(rule.apply([value])[0]) for value in test]
    assert codes.min() >= 0
    assert codes.max() < rule.n_levels + (bins == "none")
    both = np.concatenate([train, test])
    np.testing.assert_array_equal(rule.apply(both)[: len(train)], rule.apply(train))


@pytest.mark.parametrize("b", [3, 24, 25, 26, 40, 300])
def test_many_values_and_many_cuts_take_the_same_codes(b):
    x = np.random.default_rng(b).normal(size=5000)
    rule = learn(x, b)
    slow = np.searchsorted(np.array(rule.cuts), x, side="left")
    np.testing.assert_array_equal(rule.apply(x), slow)
    np.testing.assert_array_equal(rule.apply(x[:100]), slow[:100])
    on_the_cuts = np.resize(np.array(rule.cuts), 5000)  # bins are closed on the right
    np.testing.assert_array_equal(rule.apply(on_the_cuts), np.arange(5000) % len(rule.cuts))


@pytest.mark.parametrize(
    ("column", "new", "values", "codes"),
    [
        (np.array([3, 1, 1, 7]), np.array([1, 2, 7]), (1, 3, 7), [0, 3, 2]),
        (np.array([3, 1]), np.array([1.0, 1.5, 3.0]), (1, 3), [0, 2, 1]),
        (np.array([True, False]), np.array([1, 0, 2]), (False, True), [1, 0, 2]),
        (np.array(["b", "a"], dtype=object), np.array(["a", "zz", "b", ""]), ("a", "b"), [0, 2, 1, 2]),
        (np.array(["b", "a"]), np.array(["a", "c"], dtype=object), ("a", "b"), [0, 2]),
        (np.array(["1", "2"]), np.array([1, 2]), ("1", "2"), [2, 2]),
        (np.array([2**63, 2**63 + 1], dtype=np.uint64), np.array([2**63 + 1], dtype=np.uint64), None, [1]),
        (np.array([2**53, 2**53 + 1]), np.array([2.0**53, 1.0]), None, [0, 2]),
        (np.array([0.0, 1.0]), np.array([-0.0]), (0.0, 1.0), [0]),
        (np.array([1.5]), np.array([]), (1.5,), []),
    ],
)
def test_levels(column, new, values, codes):
    rule = learn_levels(column)
    assert values is None or rule.values == values
    assert is_dense(rule, rule.apply(column))
    assert rule.apply(new).tolist() == codes
    assert all(not isinstance(value, np.generic) for value in rule.values)


def test_bins_none_makes_levels():
    assert learn([2.0, 1.0, 2.0], "none") == Levels((1.0, 2.0))


# ---------------------------------------------------------------------------------------------------------------- JSON


@given(COLUMN, st.sampled_from([2, 9, "width:9", "mdl", "none"]))
def test_rules_survive_json(x, bins):
    rule = learn(x, bins, np.arange(len(x)) % 2)
    back = rule_from_dict(json.loads(json.dumps(rule.to_dict(), allow_nan=False)))
    assert back == rule
    assert type(back).from_dict(rule.to_dict()) == rule
    np.testing.assert_array_equal(back.apply(x), rule.apply(x))
    hash(rule)


def test_levels_of_strings_survive_json():
    rule = learn_levels(np.array(["é", "", '"', "\n"], dtype=object))
    assert rule_from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_an_unknown_stored_rule_is_refused():
    with pytest.raises(InputError, match=r"rule 'fuzzy' is not known; a stored rule is 'cuts'"):
        rule_from_dict({"rule": "fuzzy"})


# --------------------------------------------------------------------------------------------------------- many columns


@pytest.mark.parametrize("bins", [5, "width:6", "mdl", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_columns_are_learned_as_one_by_one(bins, weighted, monkeypatch):
    rng = np.random.default_rng(11)
    y = rng.integers(3, size=50)
    x = np.round(rng.normal(size=(61, 50)) + y * rng.integers(0, 4, size=(61, 1)), 1)
    w = rng.uniform(0.2, 2, 50) if weighted else None
    alone = [learn(column, bins, y, w) for column in x]
    monkeypatch.setattr(discretise, "BLOCK_VALUES", 700)  # several blocks, also within a thread
    for given_as in (x, np.asfortranarray(x), list(x), tuple(x)):
        for count in (1, 2, 5):
            with threads(count):
                assert learn_cuts(given_as, parse_bins(bins), y, 3, w) == alone
    kept = x.copy()
    learn_cuts(x, parse_bins(bins), y, 3, w)
    np.testing.assert_array_equal(x, kept)


def test_other_kinds_of_numbers():
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.int64, np.uint8, np.bool_):
        x = (100 * rng.random((3, 40))).astype(kind)
        for bins in (5, "width:5"):
            assert learn_cuts(x, parse_bins(bins)) == learn_cuts(x.astype(float), parse_bins(bins))
            assert all(
                is_dense(rule, rule.apply(c))
                for rule, c in zip(learn_cuts(x, parse_bins(bins)), x, strict=True)
            )


def test_no_columns():
    for bins in (5, "width:5", "mdl", "none"):
        assert learn_cuts(np.empty((0, 9)), parse_bins(bins), np.zeros(9, dtype=int), 1) == []
        assert learn_cuts([], parse_bins(bins), np.zeros(9, dtype=int), 1) == []


def test_constant_and_single_rows():
    for bins in (5, "width:5", "mdl", "none"):
        for x in ([4.0] * 7, [4.0]):
            rule = learn(x, bins, np.arange(len(x)) % 2)
            assert rule.n_levels == 1
            assert rule.apply(x).tolist() == [0] * len(x)


def test_rules_are_small_and_plain():
    rule = learn(np.arange(10.0), 2)
    assert rule == Cuts(cuts=(4.5,), kept=(0, 1))
    assert rule.edges == (4.5,)
    assert isinstance(rule.cuts[0], float)
    assert not isinstance(rule.cuts[0], np.generic)
