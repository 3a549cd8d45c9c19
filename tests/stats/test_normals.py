"""The classes as normals: covariances of classes, of all rows and of the rest; what the user is told of them.

Against the definition on raw rows. Sigma of all rows is held to 4 (n + 8) roundings of the spreads, against fractions.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import moments as naive
from naive.moments import UNIT, covariance, exact_covariance, worst_error

from jifs import jit
from jifs.sources.memory import MemorySource
from jifs.stats import normals as module
from jifs.stats.base import Stats
from jifs.stats.normals import Normals
from jifs.table import as_table

SEEDS = st.integers(0, 2**32 - 1)


def desk(X, y, weights=None) -> Stats:
    return Stats(MemorySource(as_table(X, y, task="class", sample_weight=weights)))


def model(X, y, standardise=False, reg=0.0, weights=None) -> Normals:
    return desk(X, y, weights).normals(standardise, reg)


def full(normals: Normals) -> np.ndarray:
    """[1 + classes, m, m]"""
    return normals.block(range(normals.stats.m))


def rests(normals: Normals) -> np.ndarray:
    """[class, m, m]"""
    made = [normals.rest_column(normals.of_classes(k), k) for k in range(normals.stats.m)]
    return np.stack(made, axis=2)


def correlated(seed, n=60, m=4, classes=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + rng.normal(size=m) * y[:, None], y


def close(found, expected, error=1e-12):
    """To this share of the spreads."""
    spread = np.sqrt(np.diag(expected))
    assert np.isfinite(found).all()
    assert (np.abs(found - expected) <= error * np.outer(spread, spread)).all()


@pytest.fixture
def by_columns(monkeypatch):
    monkeypatch.setattr(module, "QUICK", -1.0)
    monkeypatch.setattr(module, "MANY_COLUMNS", 2.0)


# ------------------------------------------------------------------------------------------------------- definition


@given(SEEDS, st.integers(4, 50), st.integers(1, 5), st.integers(1, 4), st.booleans())
@example(0, 4, 3, 4, False)  # a row in every class
@example(0, 4, 1, 1, False)
@example(0, 4, 3, 3, True)
def test_everything_is_the_definition(seed, n, m, classes, weighted):
    X, y = correlated(seed, n, m, classes)
    w = np.random.default_rng(seed).integers(1, 4, n) if weighted else np.ones(n, int)
    made = model(X, y, weights=w if weighted else None)
    sigma, rest, shift = full(made), rests(made), made.shift
    np.testing.assert_allclose(
        made.priors, [w[y == c].sum() / w.sum() for c in range(classes)], rtol=50 * UNIT
    )
    close(sigma[0], covariance(X, w))
    for c in range(classes):
        own = y == c
        close(sigma[1 + c], covariance(X[own], w[own]))
        np.testing.assert_allclose(
            shift[c], naive.mean(X[own], w[own]) - naive.mean(X, w), rtol=0, atol=1e-13 * np.abs(X).max()
        )
        if classes > 1:
            close(rest[c], covariance(X[~own], w[~own]))
            np.testing.assert_allclose(
                made.rest_shift[c],
                naive.mean(X[~own], w[~own]) - naive.mean(X, w),
                rtol=0,
                atol=1e-13 * np.abs(X).max(),
            )
    np.testing.assert_allclose(made.variance, np.einsum("pjj->pj", sigma), rtol=1e-14)
    np.testing.assert_allclose(made.rest_variance, np.einsum("pjj->pj", rest), rtol=1e-13)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [
    lambda z, y: 1e8 + z, lambda z, y: 1e8 + z + 3 * y[:, None], lambda z, y: np.rint(1e15 + 50 * z),
    lambda z, y: 1e100 * z, lambda z, y: 1e-100 * (1 + z), lambda z, y: -1e8 * (1 + y[:, None]) + z,
], ids=["mean 1e8", "means apart", "whole numbers", "1e100", "1e-100", "far apart"])  # fmt: skip
def test_the_mixture_in_fractions(make, seed):
    """The mixture is put together from classes: their means must be known to more digits than a large mean leaves."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 3
    X = make(rng.normal(size=(30, 3)), y)
    made = model(X, y)
    assert worst_error(full(made)[0], exact_covariance(X)) <= 4 * 38 * UNIT
    for c in range(3):
        assert worst_error(full(made)[1 + c], exact_covariance(X[y == c])) <= 18 * UNIT
        assert worst_error(rests(made)[c], exact_covariance(X[y != c])) <= 4 * 28 * UNIT


def test_single_precision_with_a_large_mean():
    rng, y = np.random.default_rng(1), np.arange(60) % 3
    X = (1e8 + 100 * rng.normal(size=(60, 3)) + 50 * y[:, None]).astype(np.float32)
    made = model(X, y)
    assert made.stats.source.values.data.dtype == np.float32
    assert worst_error(full(made)[0], exact_covariance(X)) <= 2.0**-23 * (1 + 1e-6)


@given(SEEDS, st.integers(2, 5), st.sampled_from([0.0, 0.3, "auto", "oas"]), st.booleans(), st.booleans())
def test_the_mixture_is_that_of_the_classes(seed, classes, reg, standardise, weighted):
    """Sigma_* = sum p_y (Sigma_y + d d'), to rounding, also of what is regularised."""
    X, y = correlated(seed, 40, 4, classes)
    made = model(X, y, standardise, reg, np.random.default_rng(seed).random(40) if weighted else None)
    sigma, d, p = full(made), made.shift, made.priors
    mixture = np.einsum("c,cjk->jk", p, sigma[1:] + np.einsum("cj,ck->cjk", d, d))
    close(sigma[0], mixture, 16 * UNIT)
    spread = np.sqrt(np.einsum("cj,c->j", np.einsum("cjj->cj", sigma[1:]) + d * d, p))
    assert (np.abs(np.einsum("c,cj->j", p, d)) <= 8 * UNIT * spread).all()  # the shifts add up to nothing


@pytest.mark.parametrize("reg", [0.0, 0.5, "auto"])
def test_of_two_classes_the_rest_is_the_other(reg):
    made = model(*correlated(2, classes=2), reg=reg)
    sigma, rest = full(made), rests(made)
    np.fill_diagonal(rest[0], made.rest_variance[0])
    np.fill_diagonal(rest[1], made.rest_variance[1])
    assert rest.tobytes() == sigma[[2, 1]].tobytes()
    assert made.rest_shift.tobytes() == made.shift[::-1].tobytes()


def test_the_only_class_has_no_rest():
    made = model(correlated(3)[0], np.zeros(60, int))
    assert not rests(made).any()
    assert not made.rest_shift.any()
    close(full(made)[0], full(made)[1], 0.0)


# --------------------------------------------------------------------------------------------------------- constants


def test_constants_copies_and_flat_classes():
    X, y = correlated(4, 60, 3)
    X = np.column_stack([X, X[:, 0], np.full(60, 0.1), np.where(y == 1, 0.7, X[:, 1]), np.full(60, 1e30)])
    for reg in (0.0, 0.25):
        made = model(X, y, reg=reg)
        sigma = full(made)
        assert made.constant.tolist() == [False] * 4 + [True, False, True]
        assert (made.variance[:, [4, 6]] == reg).all()
        off = sigma[:, [4, 6]].copy()
        off[:, [0, 1], [4, 6]] = 0.0
        assert not off.any()
        assert made.variance[2, 5] == reg
        assert not sigma[2, 5, :5].any()
        assert sigma[:, 0, 1].tobytes() == sigma[:, 3, 1].tobytes()


def test_rounding_is_no_variance():
    """0.1 + 0.2 is not 0.3: a column that varies in its last digits must not look like a perfect feature."""
    X, y = correlated(5, 200, 2)
    noise = np.random.default_rng(5).random(200) < 0.5
    X = np.column_stack([X, np.where(noise, 0.3, 0.1 + 0.2), np.where(y == 1, 1e8, np.nextafter(1e8, 2e8))])
    for standardise in (False, True):
        made = model(X, y, standardise)
        assert made.constant.tolist() == [False, False, True, True]
        assert not made.variance[:, 2:].any()
        assert not full(made)[:, 2:].any()
        assert not made.shift[:, 2:].any()


def test_little_variance_is_some():
    """A spread of 1e-3 about 1e8 has five digits left, and they count."""
    rng, y = np.random.default_rng(6), np.arange(30) % 3
    X = 1e8 + 1e-3 * rng.normal(size=(30, 2))
    made = model(X, y)
    assert not made.constant.any()
    assert worst_error(full(made)[0], exact_covariance(X)) <= 4 * 38 * UNIT


# --------------------------------------------------------------------------------------------- columns or the whole


@pytest.mark.parametrize("reg", [0.0, 0.3, "oas"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_whole_is_its_columns(monkeypatch, by_columns, reg, kind):
    X, y = correlated(14, 80, 7)
    X = X.astype(kind)
    slow = model(X, y, True, reg)
    one_by_one = full(slow)
    assert slow._whole is None
    assert slow.stats.facts["passes"] == 7
    monkeypatch.setattr(module, "QUICK", np.inf)
    quick = model(X, y, True, reg)
    at_once = full(quick)
    assert quick._whole is not None
    assert quick.stats.facts["passes"] == 1
    for a, b in zip(at_once, one_by_one, strict=True):
        close(a, b, 200 * UNIT)
    assert quick.variance.tobytes() == slow.variance.tobytes()


def test_after_many_columns_the_whole_is_made(monkeypatch):
    monkeypatch.setattr(module, "SMALL_BYTES", 0)
    monkeypatch.setattr(module, "MANY_COLUMNS", 0.5)
    X, y = correlated(15, 80, 8)
    made = model(X, y)
    columns = [made.column(k) for k in (0, 1, 0, 2, 3, 2)]
    assert made._whole is None
    assert made.stats.facts["passes"] == 4
    columns.append(made.column(4))
    assert made._whole is not None
    assert made.stats.facts["passes"] == 5
    for k, column in zip((0, 1, 0, 2, 3, 2, 4), columns, strict=True):
        np.testing.assert_allclose(made.column(k), column, rtol=1e-11)
    assert made.stats.facts["passes"] == 5
    monkeypatch.setattr(module, "LARGE_BYTES", 0)  # a matrix that is too large is never made
    other = model(X, y)
    full(other)
    assert other._whole is None


def test_columns_that_are_forgotten_are_made_again(monkeypatch, by_columns):
    monkeypatch.setattr(module, "KEPT_BYTES", 2 * 3 * 5 * 8)
    X, y = correlated(16, 50, 5)
    made = model(X, y)
    first = full(made)
    assert len(made._columns) == 2
    assert full(made).tobytes() == first.tobytes()
    assert made.stats.facts["passes"] == 10


@pytest.mark.parametrize("quick", [-1.0, np.inf])
def test_threads_leave_no_trace(monkeypatch, quick):
    monkeypatch.setattr(module, "QUICK", quick)
    monkeypatch.setattr(module, "MANY_COLUMNS", 2.0)
    monkeypatch.setattr(module, "SMALL_BYTES", 1 << 40)
    X, y = correlated(17, 5000, 300)
    made = []
    for count in (1, 2):
        with jit.threads(count):
            normals = model(X, y, True, "auto")
            made.append([normals.block([5, 280]), normals.variance, normals.keep, normals.rest_variance])
    for a, b in zip(*made, strict=True):
        assert a.tobytes() == b.tobytes()


def test_blocks_and_their_determinants():
    X, y = correlated(18, 60, 5)
    made = model(np.column_stack([X, X[:, 0]]), y)
    sigma = full(made)
    assert made.block([]).shape == (4, 0, 0)
    assert made.log_dets(made.block([])).tolist() == [0.0] * 4
    some = [4, 0, 2]
    assert made.block(some).tobytes() == np.ascontiguousarray(sigma[:, some][:, :, some]).tobytes()
    np.testing.assert_allclose(
        made.log_dets(made.block(some)), np.linalg.slogdet(made.block(some))[1], rtol=1e-12
    )
    assert (made.log_dets(made.block([0, 5])) == -np.inf).all()


# -------------------------------------------------------------------------------------------------- words to the user


def said(X, y, standardise=False, reg=0.0, weights=None, exclude=()):
    stats = desk(X, y, weights)
    stats.free[list(exclude)] = False
    stats.normals(standardise, reg)
    return stats.warnings


def sparse(n, others):
    """A column of 0 with some rows that hold something else, all different; and one that is fine."""
    rng = np.random.default_rng(19)
    x = np.zeros(n)
    x[rng.permutation(n)[:others]] = 1 + np.arange(others)
    return np.column_stack([rng.normal(size=n), x, x]), np.arange(n) % 2


def test_sparse_features_are_named():
    assert said(*sparse(200, 10)) == []  # 95 % is not more than 95 %
    (text,) = said(*sparse(200, 9))
    assert text.startswith("feature 'x1' and 1 others have one value in over 95% of the rows")
    (text,) = said(*sparse(200, 9), exclude=[1])
    assert text.startswith("feature 'x2' has one value in over 95% of the rows")
    assert said(*sparse(200, 9), exclude=[1, 2]) == []
    X, y = sparse(200, 9)
    assert said(X, y, weights=np.where(X[:, 1] == 0, 1, 2)) == []
    X, y = sparse(200, 10)
    assert len(said(X, y, weights=np.where(X[:, 1] == 0, 2, 1))) == 1


def test_constants_are_not_called_sparse_or_flat():
    X, y = correlated(20)
    assert said(np.column_stack([X, np.full(60, 3.0), np.zeros(60)]), y) == []


def test_flat_classes_are_named():
    X, y = correlated(21)
    X = np.column_stack([X, np.where(y == 2, 0.7, X[:, 0]), np.where(y > 0, 0.5, X[:, 1])])
    (text,) = said(X, y)
    assert text.startswith("feature 'x5' and 1 others have one value only within a class, as in 1:")
    assert "reg above 0" in text
    assert said(X, y, reg=0.1) == said(X, y, reg="auto") == []


def test_tiny_classes_are_named():
    X, y = correlated(22, 60, 4)
    y = np.where(np.arange(60) < 3, 1, 0)
    made = model(X, y)
    made.caution_about_rows(2)
    assert made.stats.warnings == []
    made.caution_about_rows(3)
    assert made.stats.warnings[0].startswith(
        "class 1 has 3 rows, too few for the covariance of as many features"
    )
    for reg in (0.1, "auto"):
        other = model(X, y, reg=reg)
        other.caution_about_rows(9)
        assert other.stats.warnings == []
