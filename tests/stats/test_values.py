"""Products of centred rows are the covariances of the very numbers given, by columns and as a whole.

Against fractions: the error of a covariance is no more than n + 8 roundings of the product of the two spreads, where n
is the number of rows of the class, and 2^-23 of it more where numbers are kept in single precision. A large mean, large
or small units, and whatever other classes hold make no difference.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive.moments import UNIT, covariance, exact_covariance, worst_error

from jifs import jit
from jifs.numbers import centre
from jifs.rows import Rows
from jifs.stats import values as module
from jifs.stats.values import Values, by_class
from jifs.table import as_table

SEEDS = st.integers(0, 2**32 - 1)


def values(X, y, weights=None) -> Values:
    return centre(as_table(X, y, task="class", sample_weight=weights, min_rows=1))


def columns(v: Values) -> np.ndarray:
    """[class, m, m] by columns, as covariances."""
    return np.stack([v.products(k) for k in range(v.data.shape[1])], axis=2) / v.mass[:, None, None]


def with_squares(v: Values) -> np.ndarray:
    """The same, with the sums of squares in the diagonal."""
    out = columns(v)
    for c, own in enumerate(v.squares / v.mass[:, None]):
        np.fill_diagonal(out[c], own)
    return out


def whole(v: Values) -> np.ndarray:
    return v.all_products() / v.mass[:, None, None]


def correlated(seed, n, m, classes=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + rng.normal(size=m) * y[:, None], y


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks and panels in little data."""
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    monkeypatch.setattr(module, "PANEL", 3)


# ------------------------------------------------------------------------------------------------------- definition


@given(SEEDS, st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.booleans())
@example(0, 1, 1, 1, False)
@example(0, 4, 3, 4, False)  # one row in every class
def test_covariances_are_the_definition(seed, n, m, classes, weighted):
    X, y = correlated(seed, max(n, classes), m, classes)
    w = np.random.default_rng(seed).random(len(y)) + 0.01 if weighted else None
    v = values(X, y, w)
    for c in range(classes):
        own = y == c
        exact = exact_covariance(X[own], None if w is None else w[own])
        for found in (columns(v)[c], whole(v)[c], with_squares(v)[c]):
            assert worst_error(found, exact) <= (own.sum() + 8) * UNIT


def hostile(name, rng, n):
    """One column, two classes."""
    y, z = np.arange(n) % 2, rng.normal(size=n)
    return {
        "mean 1e8": lambda: 1e8 + z,
        "mean -1e15": lambda: np.rint(-1e15 + 100 * z),
        "whole numbers": lambda: 1e8 + rng.integers(0, 3, n),
        "1e-100": lambda: 1e-100 * (1 + z),
        "1e100": lambda: 1e100 * (1 + z),
        "classes far apart": lambda: np.where(y == 0, 1e-5 * z, 1e9 + z),
        "an outlier": lambda: np.where(np.arange(n) == 0, 1e25, z),
        "a constant class": lambda: np.where(y == 0, 0.1, z),
        "constant": lambda: np.full(n, 0.3),
        "one row differs": lambda: 0.3 + (np.arange(n) == n - 1),
        "two values": lambda: rng.integers(0, 2, n) * 1e-3 + 1e4,
    }[name]()


NAMES = ["mean 1e8", "mean -1e15", "whole numbers", "1e-100", "1e100", "classes far apart", "an outlier"]
NAMES += ["a constant class", "constant", "one row differs", "two values"]


@pytest.mark.parametrize("n", [2, 3, 30])
@pytest.mark.parametrize("seed", range(3))
def test_hostile_columns_cost_no_digits(seed, n):
    rng = np.random.default_rng(seed)
    X, y = np.column_stack([hostile(name, rng, n) for name in NAMES]), np.arange(n) % 2
    v = values(X, y)
    for c in (0, 1):
        exact = exact_covariance(X[y == c])
        for found in (columns(v)[c], whole(v)[c], with_squares(v)[c]):
            assert worst_error(found, exact) <= ((y == c).sum() + 8) * UNIT


@pytest.mark.parametrize(
    ("middle", "spread"), [(0.0, 1.0), (1e8, 100.0), (1e4, 1.0), (0.0, 1e-20), (0.0, 1e30)]
)
def test_single_precision_costs_one_rounding_of_a_number(middle, spread):
    rng, y = np.random.default_rng(4), np.arange(30) % 2
    X = (middle + spread * rng.normal(size=(30, 3))).astype(np.float32)
    v = values(X, y)
    assert v.data.dtype == np.float32
    for c in (0, 1):
        for found in (columns(v)[c], whole(v)[c], with_squares(v)[c]):
            assert worst_error(found, exact_covariance(X[y == c])) <= 2.0**-23 * (1 + 1e-6)
    plain = covariance(X[y == 0])
    assert np.abs(columns(v)[0] - plain).max() <= 3e-7 * plain.max()  # and the naive one agrees, less exactly


def test_copies_and_opposites():
    X, y = correlated(5, 40, 2)
    found = columns(values(np.column_stack([X, X[:, 0], -X[:, 0]]), y))
    assert found[:, 0].tobytes() == found[:, 2].tobytes()
    assert found[:, 0].tobytes() == (-found[:, 3]).tobytes()


def test_columns_are_symmetric():
    X, y = correlated(6, 50, 4)
    found = columns(values(X, y))
    assert found.tobytes() == np.swapaxes(found, 1, 2).copy().tobytes()
    full = whole(values(X, y, np.random.default_rng(6).random(50)))
    spread = np.sqrt(np.einsum("cjj->cj", full))
    assert (
        np.abs(full - np.swapaxes(full, 1, 2)) <= 60 * UNIT * spread[:, :, None] * spread[:, None, :]
    ).all()


# ---------------------------------------------------------------------------------------------- blocks and threads


@pytest.mark.parametrize("rows", [[1], [7], [8, 1, 21], [3, 0, 15], [0, 2, 0]])
def test_blocks_cover_the_rows_and_keep_to_a_class(rows, small_blocks):
    starts = np.concatenate([[0], np.cumsum(rows)])
    m = np.zeros((len(rows), 1))
    v = Values(np.zeros((starts[-1], 1)), starts, None, np.array(rows, float), m, m, m, m[0], m[0])
    firsts, of_class = v.blocks
    assert firsts[-1] == starts[-1]
    assert (np.diff(firsts) > 0).all()
    assert np.diff(firsts).max() <= 7
    assert set(starts.tolist()) <= set(firsts.tolist())
    assert [int(firsts[b]) for b in of_class] == starts.tolist()


@given(SEEDS, st.integers(1, 50), st.integers(1, 11), st.booleans())
@example(0, 49, 3, False)
@example(0, 50, 4, True)
def test_blocks_and_panels_change_rounding_only(seed, n, m, weighted):
    X, y = correlated(seed, max(n, 2), m, 2)
    w = np.random.default_rng(seed).integers(1, 4, len(y)) if weighted else None
    one_block, one_panel = columns(values(X, y, w)), whole(values(X, y, w))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_ROWS", 7)
        patch.setattr(module, "PANEL", 3)
        many = [columns(values(X, y, w)), whole(values(X, y, w))]
    spread = np.sqrt(np.einsum("cjj->cj", one_block))
    bound = 2 * (len(y) + 8) * UNIT * spread[:, :, None] * spread[:, None, :]
    for other in (one_panel, *many):
        assert (np.abs(other - one_block) <= bound).all()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_leave_no_trace(kind, weighted):
    X, y = correlated(7, 2 * module.BLOCK_ROWS + 300, 2 * module.PANEL + 30, 2)
    w = np.random.default_rng(7).random(len(y)) if weighted else None
    X = X.astype(kind)
    made = []
    for count in (1, 2, 3):
        with jit.threads(count):
            v = values(X, y, w)
            made.append([v.data, v.squares, v.left, v.products(3), v.all_products()])
    for others in made[1:]:
        for a, b in zip(made[0], others, strict=True):
            assert a.tobytes() == b.tobytes()


def test_more_columns_than_a_chunk_of_the_kernel():
    X, y = np.random.default_rng(8).normal(size=(12, 1100)), np.arange(12) % 3
    v = values(X, y)
    for k in (0, 1050):
        for c in range(3):
            own = X[y == c] - X[y == c].mean(axis=0)
            np.testing.assert_allclose(v.products(k)[c], own.T @ own[:, k], rtol=0, atol=1e-13)


# ------------------------------------------------------------------------------------------------ classes without rows


def test_a_class_without_rows_weighs_nothing(small_blocks):
    """A batch of a stream may lack a class: first, last or between."""
    X, y = correlated(9, 30, 4, 2)
    full = values(X, y)
    order = np.argsort(y, kind="stable")
    for starts, where in (
        ([0, 0, full.starts[1], full.starts[1], 30, 30], [1, 3]),
        ([0, full.starts[1], 30, 30], [0, 1]),
    ):
        rows = Rows(order, np.array(starts), None, 30.0, np.arange(len(starts) - 1), True)
        v = centre(as_table(X, y), rows)
        rest = [c for c in range(v.classes) if c not in where]
        for name in ("mass", "squares", "mean", "left"):
            assert getattr(v, name)[where].tobytes() == getattr(full, name).tobytes()
        assert not v.mass[rest].any()
        assert np.isfinite(v.mean).all()
        for found, expected in ((v.products(2), full.products(2)), (v.all_products(), full.all_products())):
            assert found[where].tobytes() == expected.tobytes()
            assert not found[rest].any()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
@example([0])
@example([0, 0, 3, 0])
def test_sums_by_class(rows):
    starts = np.concatenate([[0], np.cumsum(rows)])
    table = np.arange(2.0 * starts[-1]).reshape(-1, 2)
    expected = [table[a:b].sum(axis=0).tolist() for a, b in pairwise(starts)]
    assert by_class(table, starts).tolist() == expected


# --------------------------------------------------------------------------------------------------- fourth moments


@pytest.mark.parametrize(("n", "m"), [(40, 3), (12, 30), (2, 5), (3, 1)])
@pytest.mark.parametrize("unit", [1.0, 1e-100, 1e100])
@pytest.mark.parametrize("weighted", [False, True])
def test_fourth_moments(n, m, unit, weighted):
    """From rows or from columns, whichever are fewer; shares of the squared trace, so in any unit."""
    X, y = correlated(10, n, m, 2)
    w = np.random.default_rng(10).integers(1, 4, n) if weighted else None
    scale = np.random.default_rng(11).random(m) + 0.5
    squared, fourth = values(X * unit + unit, y, w).fourth_moments(scale)
    for c in (0, 1):
        own = np.repeat(X, w, axis=0)[np.repeat(y, w) == c] if w is not None else X[y == c]
        centred = (own - own.mean(axis=0)) * scale
        sigma = centred.T @ centred / len(own)
        if np.unique(own, axis=0).shape[0] == 1:
            assert (squared[c], fourth[c]) == (0.0, 0.0)
            continue
        assert squared[c] == pytest.approx((sigma**2).sum() / np.trace(sigma) ** 2, rel=1e-12)
        assert fourth[c] == pytest.approx(
            ((centred**2).sum(axis=1) ** 2).mean() / np.trace(sigma) ** 2, rel=1e-12
        )
