"""Rows as the measures take them: what is refused, which targets are classes, and units."""

from __future__ import annotations

import numpy as np
import pytest
from naive import distances as naive

from jifs import InputError
from jifs.measures.rows import checked, checked_weights, in_units, one_of, positive, standardised, whole

X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("y", "task", "kind"),
    [
        ([0, 1, 1], None, "class"),
        ([0.0, 1.0, 5.0], None, "class"),
        ([0.0, 1.0, 5.5], None, "real"),
        (["a", "b", "a"], None, "class"),
        ([True, False, True], None, "class"),
        ([0, 1, 7], "real", "real"),
        ([0.5, 1.5, 0.5], "class", "class"),
        ([[0], [1], [1]], None, "class"),
    ],
)
def test_kinds_of_target(y, task, kind):
    rows, target, found = checked(X.tolist(), y, task)
    assert found == kind
    assert rows.dtype == np.float64
    assert target.dtype == (np.int64 if kind == "class" else np.float64)
    assert target.shape == (3,)


def test_one_column_may_be_flat():
    assert checked([1.0, 2.0], [0, 1], None)[0].shape == (2, 1)


@pytest.mark.parametrize(
    ("rows", "y", "task", "says"),
    [
        (X, [0, 1], None, "y must have one entry for each of the 3 rows"),
        (X, [[0, 1], [1, 2], [2, 3]], None, "y must have one entry"),
        (X, [0, 1, 1], "auto", "task must be 'class', 'real' or None"),
        (X * np.nan, [0, 1, 1], None, "X holds NaN or infinite values"),
        (X, [0.0, np.inf, 1.0], None, "y holds NaN or infinite values"),
        (X, [0.0, np.nan, 1.0], "class", "y holds NaN or infinite values"),
        ([["a"], ["b"]], [0, 1], None, "X must hold numbers"),
        (X, ["a", "b", "c"], "real", "y must hold numbers"),
        (np.zeros((0, 2)), [], None, "X must have rows and columns"),
        (np.zeros((2, 2, 2)), [0, 1], None, "X must have rows and columns"),
    ],
)
def test_refusals(rows, y, task, says):
    with pytest.raises(InputError, match=says):
        checked(rows, y, task)


def test_units():
    rows = np.random.default_rng(0).normal(size=(20, 4)) * [1.0, 1e-8, 1e7, 0.0] + [0.0, 1.0, 5.0, 1 / 3]
    assert standardised(rows) == pytest.approx(naive.standardised(rows), abs=1e-7)
    assert not standardised(rows)[:, 3].any()


@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324, 1.0])
def test_units_of_any_size(size):
    out = standardised(np.array([[0.0], [size], [0.0], [size]]))
    assert out[:, 0].tolist() == [-1.0, 1.0, -1.0, 1.0]


def test_a_shade_of_difference_is_a_difference():
    column = np.array([[1.0], [1.0 + 2**-52], [1.0], [1.0 + 2**-52]])
    assert np.abs(standardised(column)).max() == 1.0
    assert not standardised(np.full((4, 1), 0.1)).any()


def test_numbers_as_they_are():
    assert in_units(X, False) is X
    with pytest.raises(InputError, match="use standardise=True"):
        in_units(X * 1e120, False)


def test_parameters():
    assert positive("sigmas", [1, 2.5]) == (1.0, 2.5)
    assert positive("sigmas", 3) == (3.0,)
    for bad in ([], [0.0], [-1.0], [np.nan], "ab", None, [np.inf], [1e-200]):
        with pytest.raises(InputError, match="parameter sigmas must be a list of positive numbers"):
            positive("sigmas", bad)
    assert whole("basis", np.int64(3), 1) == 3
    for bad in (0, 2.0, True, "3", None):
        with pytest.raises(InputError, match="parameter basis must be a whole number from 1 on"):
            whole("basis", bad, 1)
    with pytest.raises(InputError, match="parameter sigma_scale must be 'weighted' or 'data', not 'both'"):
        one_of("sigma_scale", "both", ("weighted", "data"))


def test_weights():
    assert checked_weights([1, 0], 2).tolist() == [1.0, 0.0]
    for bad in ([1.0], [[1.0, 2.0]], [1.0, np.nan], [1.0, 1e101]):
        with pytest.raises(InputError, match="w must be 2 numbers, one weight for each feature"):
            checked_weights(bad, 2)
