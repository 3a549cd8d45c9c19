"""From a table to numbers: rows in order of class, centred; every kind of input; weights; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive.moments import UNIT, exact_covariance, exact_mean, majority, mean

from jifs.errors import InputError
from jifs.numbers import LEAST_WEIGHT, centre
from jifs.stats.values import Values
from jifs.table import as_table

SEEDS = st.integers(0, 2**32 - 1)
SINGLE = 2.0**-24
"""Relative error of one rounding in single precision."""


def values(X: Any, y: Any, weights: Any = None) -> Values:
    return centre(as_table(X, y, task="class", sample_weight=weights, min_rows=1))


def same(a: Values, b: Values) -> None:
    """Bit for bit."""
    for name in ("data", "starts", "mass", "mean", "left", "squares", "vote", "common"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name


def near(a: Values, b: Values, error: float) -> None:
    """The same means and variances but for this share of the spreads."""
    spread = np.sqrt(b.squares / b.mass[:, None])
    np.testing.assert_allclose(a.mass / a.mass.sum(), b.mass / b.mass.sum(), rtol=4 * UNIT)
    assert (
        np.abs((a.mean + a.offset) - (b.mean + b.offset)) <= error * spread + 4 * UNIT * np.abs(b.mean)
    ).all()
    np.testing.assert_allclose(a.squares / a.mass[:, None], spread**2, rtol=error, atol=0)


def table(
    seed: int, n: int = 60, m: int = 5, high: int = 2, classes: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, high, (n, m)), rng.integers(0, classes, n)


# ------------------------------------------------------------------------------------------------- the centred rows


@given(SEEDS, st.integers(1, 40), st.integers(1, 4), st.integers(1, 4), st.booleans())
@example(0, 1, 1, 1, False)
@example(0, 4, 1, 4, True)
def test_rows_less_the_mean_of_their_class(seed, n, m, classes, weighted):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n)])
    X = rng.normal(size=(y.size, m)) * 10.0 ** rng.integers(-3, 4, m) + rng.normal(size=m)
    w = rng.random(y.size) + 0.01 if weighted else None
    v = values(X, y, w)
    assert v.data.dtype == np.float64
    assert v.data.flags.c_contiguous
    for c in range(classes):
        own, part = X[y == c], v.data[v.starts[c] : v.starts[c + 1]]
        weight = None if w is None else w[y == c]
        middle = np.array([float(mu) for mu in exact_mean(own, weight)])
        size = np.abs(own).max(axis=0)
        np.testing.assert_allclose(v.mean[c] + v.offset[c], middle, rtol=0, atol=4 * UNIT * size.max())
        assert part.tobytes() == (own - v.mean[c]).tobytes()
        variances = [float(row[j]) for j, row in enumerate(exact_covariance(own, weight))]
        np.testing.assert_allclose(v.squares[c] / v.mass[c], variances, rtol=(len(own) + 8) * UNIT, atol=0)


def test_the_users_array_is_not_touched():
    X, y = table(1, high=50)
    for kind in (np.float64, np.float32, np.int8):
        for layout in ("C", "F"):
            given_ = np.asarray(X.astype(kind), order=layout)
            given_.flags.writeable = False
            before = given_.copy()
            values(given_, y)
            assert given_.tobytes() == before.tobytes()


def test_without_classes_all_rows_are_one():
    X, _ = table(2, high=9)
    for target in (None, np.linspace(0.1, 1, 60)):
        v = centre(as_table(X.astype(float), target))
        assert v.starts.tolist() == [0, 60]
        np.testing.assert_allclose(v.squares[0] / 60, X.var(axis=0), rtol=1e-14)


# ---------------------------------------------------------------------------------------------------- kinds of input


def block(kind):
    return lambda X: np.ascontiguousarray(X.astype(kind))


DOUBLE = {
    "float64": block("f8"),
    "column-major": lambda X: np.asfortranarray(X.astype("f8")),
    "every second row": lambda X: np.repeat(X.astype("f8"), 2, axis=0)[::2],
    "every second column": lambda X: np.repeat(X.astype("f8"), 2, axis=1)[:, ::2],
    "backwards": lambda X: X.astype("f8")[::-1, ::-1].copy()[::-1, ::-1],
    "a list of rows": lambda X: X.tolist(),
    "a mapping": lambda X: {f"c{j}": X[:, j].astype("f8") for j in range(X.shape[1])},
    "columns of many kinds": lambda X: {
        f"c{j}": X[:, j].astype(["f8", "i4", "f4", "u2", "i1"][j % 5]) for j in range(X.shape[1])
    },
    "int32": block("i4"),
    "int64": block("i8"),
    "uint64": block("u8"),
    "foreign bytes": block(">f8"),
    "long double": block("g"),
    "int64 column-major": lambda X: np.asfortranarray(X.astype("i8")),
}
FEW_BITS = {
    "float32": block("f4"),
    "float16": block("f2"),
    "int8": block("i1"),
    "uint8": block("u1"),
    "int16": block("i2"),
    "uint16": block("u2"),
    "bool": lambda X: X.astype(bool) if X.max() <= 1 else X.astype("u1"),
    "bool column-major": lambda X: np.asfortranarray(X.astype(bool) if X.max() <= 1 else X.astype("u1")),
    "float32 column-major": lambda X: np.asfortranarray(X.astype("f4")),
    "columns of few bits": lambda X: {
        f"c{j}": X[:, j].astype(["f4", "u1", "i2"][j % 3]) for j in range(X.shape[1])
    },
    "foreign bytes": block(">f4"),
}


@pytest.mark.parametrize("high", [2, 100])
@pytest.mark.parametrize("name", DOUBLE)
def test_numbers_in_double(name, high):
    X, y = table(3, high=high)
    expected, found = values(X.astype(np.float64), y), values(DOUBLE[name](X), y)
    assert found.data.dtype == np.float64
    same(found, expected)


@pytest.mark.parametrize("high", [2, 100])
@pytest.mark.parametrize("name", FEW_BITS)
def test_numbers_of_few_bits_stay_single(name, high):
    """One way to hold them is as good as another, and as good as double but for one rounding of each number."""
    X, y = table(3, high=high)
    expected, found = values(X.astype(np.float32), y), values(FEW_BITS[name](X), y)
    assert found.data.dtype == np.float32
    same(found, expected)
    near(found, values(X.astype(np.float64), y), 2 * SINGLE)


def test_frames():
    import pandas as pd
    import polars as pl

    X, y = table(4, high=9)
    names = [f"c{j}" for j in range(5)]
    for frame in (pd.DataFrame, pl.DataFrame):
        same(values(frame(dict(zip(names, X.T.astype(float), strict=True))), y), values(X.astype(float), y))
        small = values(frame(dict(zip(names, X.T.astype(np.int8), strict=True))), y)
        same(small, values(X.astype(np.int8), y))


def test_integers_do_not_overflow():
    y = np.array([0, 0, 1, 1])
    wide = values(np.array([[-(2**63)], [2**63 - 1], [2**62], [-(2**62)]], np.int64), y)
    np.testing.assert_allclose(wide.squares[:, 0], [2 * 2.0**126, 2 * 2.0**124], rtol=4 * UNIT)
    huge = values(np.array([[0], [2**64 - 1], [2**63], [2**63]], np.uint64), y)
    np.testing.assert_allclose(huge.squares[:, 0], [2 * 2.0**126, 0], rtol=4 * UNIT)
    small = values(np.array([[-128], [127], [-128], [-128]], np.int8), y)
    assert small.squares[:, 0].tolist() == [2 * 127.5**2, 0.0]
    assert small.mean[:, 0].tolist() == [-0.5, -128.0]


# ------------------------------------------------------------------------------------------------ exactly constant


def test_what_is_constant_in_a_class_is_exactly_so():
    """Whatever the other classes hold, and whatever the weights are."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 2000)
    X = np.column_stack([np.select([y == 0, y == 1], [1e8 + rng.normal(size=y.size), 0.1], -1e30)] * 2)
    X[:, 1] = 0.7
    for w in (None, rng.random(y.size)):
        v = values(X, y, w)
        assert v.squares[1:, 0].tolist() == [0.0, 0.0]
        assert v.squares[:, 1].tolist() == [0.0, 0.0, 0.0]
        assert not v.data[y > 0].any()
        assert v.mean[1:, 0].tolist() == [0.1, -1e30]
        assert v.squares[0, 0] / v.mass[0] == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("outlier", [1e20, 1e30, 1e100])
def test_an_outlier_spoils_no_other_class(outlier):
    X, y = np.random.default_rng(6).normal(size=(400, 2)), np.repeat([0, 1], 200)
    expected = values(X, y)
    X[0, 0] = outlier  # the first row of all
    found = values(X, y)
    assert found.squares[1].tobytes() == expected.squares[1].tobytes()
    assert found.products(1)[1].tobytes() == expected.products(1)[1].tobytes()


# ---------------------------------------------------------------------------------------------------------- weights


def test_whole_weights_are_repeated_rows():
    X, y = table(7, high=40)
    X = X + 0.25
    w = np.random.default_rng(7).integers(0, 4, y.size)
    v, repeated = values(X, y, w), values(np.repeat(X, w, axis=0), np.repeat(y, w))
    near(v, repeated, 200 * UNIT)
    np.testing.assert_allclose(v.mass * w.max(), repeated.mass, rtol=100 * UNIT)


def test_rows_of_weight_0_are_absent():
    X, y = table(8, high=40)
    w = np.random.default_rng(8).choice([0.0, 0.5, 2.0], y.size)
    w[y == 1] = 0.0
    X = X.astype(float)
    X[w == 0] = np.nan
    v = values(X, y, w)
    same(v, values(X[w > 0], y[w > 0], w[w > 0]))
    assert v.classes == 2


def test_the_unit_of_weights_is_free():
    X, y = table(9, high=40)
    w = np.random.default_rng(9).random(y.size) + 0.1
    same(values(X, y, w), values(X, y, w * 2.0**90))
    near(values(X, y, w), values(X, y, w * 3e-200), 200 * UNIT)
    same(centre(as_table(X, y, sample_weight=w), unit=float(w.max())), values(X, y, w))


def test_extreme_weights_stay_numbers():
    """A class that weighs next to nothing still has a mean and a variance."""
    X, y = np.random.default_rng(10).normal(size=(40, 2)), np.repeat([0, 1], 20)
    for low, high in ((1e-300, 1e300), (5e-324, 1.7e308)):
        v = values(X, y, np.where(y == 0, high, low))
        assert v.mass[1] == 20 * LEAST_WEIGHT
        np.testing.assert_allclose(v.mean + v.offset, [mean(X[y == 0]), mean(X[y == 1])], rtol=1e-13)
        np.testing.assert_allclose(
            v.squares / v.mass[:, None], [X[y == c].var(axis=0) for c in (0, 1)], rtol=1e-13
        )


# ----------------------------------------------------------------------------------------------------- common values


@given(SEEDS, st.integers(1, 60), st.booleans(), st.sampled_from(["f8", "f4", "i1", "bool"]))
def test_the_commonest_value_is_counted_exactly(seed, n, weighted, kind):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random(n) < p for p in (0.0, 0.3, 0.5, 0.7, 1.0)]).astype(kind)
    y = rng.integers(0, 3, n)
    w = 2 ** rng.integers(0, 3, n) if weighted else None
    v, unit = values(X, y, w), 1 if w is None else w.max()
    for j in range(X.shape[1]):
        winner = majority(X[:, j], w)
        assert v.common[j] * unit == (0 if winner is None else winner[1])
        assert winner is None or v.vote[j] == winner[0]


# --------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_what_is_not_finite_is_named(bad, kind, layout):
    X, y = table(11, high=9)
    X = np.asarray(X.astype(kind), order=layout)
    X[[3, 17], 2] = bad
    word = "NaN" if np.isnan(bad) else "infinite"
    with pytest.raises(InputError, match=rf"^column 'x2' has 2 {word} values in 60 rows; .*first\.$"):
        values(X, y)


def test_text_is_named():
    with pytest.raises(
        InputError, match=r"^column 'b' holds text, and this criterion needs numbers; drop it from X"
    ):
        values({"a": [1.0, 2.0], "b": ["u", "v"]}, [0, 1])


@pytest.mark.parametrize(("kind", "most"), [("f8", 1e140), ("f4", 1e38)])
def test_too_large_is_refused_and_no_more_than_that(kind, most):
    y = np.array([0, 0, 1, 1])
    X = np.array([[1.0, 0.99 * most], [2.0, -0.99 * most], [3.0, 0.9 * most], [5.0, 0.99 * most]]).astype(
        kind
    )
    v = values(X, y)
    assert np.isfinite(v.squares).all()
    assert np.isfinite(v.products(1)).all()
    np.testing.assert_allclose(v.squares[0, 1], 2 * (0.99 * most) ** 2, rtol=1e-6)
    X[2, 1] = 1.01 * most
    with pytest.raises(
        InputError, match=r"^column 'x1' reaches 1.01e\+\d+, too large for a covariance; divide"
    ):
        values(X, y)
    if kind == "f8":
        with pytest.raises(InputError, match=r"^column 'x0' reaches 1e\+200, too large"):
            values(np.array([[1e200], [0.0]]), [0, 1])


@pytest.mark.parametrize(("kind", "least"), [("f8", 1e-140), ("f4", 1e-30)])
def test_too_small_a_spread_is_refused_and_no_less_than_that(kind, least):
    y = np.array([0, 0, 1, 1])
    X = np.array([[1.0, 0.0], [2.0, 4 * least], [3.0, 0.0], [5.0, 4 * least]]).astype(kind)
    np.testing.assert_allclose(values(X, y).squares[:, 1], 8 * least**2, rtol=1e-6)
    X[:, 1] /= 8
    with pytest.raises(
        InputError, match=r"^column 'x1' varies by 2.5e-\d+ only, too little for a covariance; mult"
    ):
        values(X, y)
    X[:, 1] = [
        0.0,
        0.0,
        1.0,
        1.0,
    ]  # constant in each class is another matter, and so are numbers next to 0 in one
    assert not values(X, y).squares[:, 1].any()
    X[:, 1] = [0.0, least / 1e3, 1.0, 2.0]
    assert values(X, y).squares[1, 1] == 0.5
