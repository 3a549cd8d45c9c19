"""The classes as normals, regularised: standardised columns, variance added, covariances shrunk.

Shrinkage is that of the definition and of scikit-learn; the mixture of what is regularised is tested in test_normals.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from naive import moments as naive
from naive.moments import UNIT, covariance

from jifs.errors import InputError
from jifs.sources.memory import MemorySource
from jifs.stats.base import Stats
from jifs.stats.normals import Normals
from jifs.table import as_table


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


# -------------------------------------------------------------------------------------------------- standardise, reg


@pytest.mark.parametrize("unit", [1.0, 1e-100, 1e100, 1e-139])
@pytest.mark.parametrize("weighted", [False, True])
def test_standardised_columns_have_unit_variance(unit, weighted):
    X, y = correlated(7)
    w = np.random.default_rng(7).random(60) if weighted else None
    made = model(np.column_stack([X, np.ones(60)]) * unit, y, True, weights=w)
    np.testing.assert_allclose(made.variance[0], [1, 1, 1, 1, 0], rtol=8 * UNIT)
    assert not full(made)[:, 4].any()
    own = (X - naive.mean(X, w)) / np.sqrt(np.diag(covariance(X, w)))
    for c in range(3):
        close(full(made)[1 + c][:4, :4], covariance(own[y == c], None if w is None else w[y == c]))


def test_any_number_will_do_for_reg():
    X, y = correlated(8)
    for half in (np.float32(0.5), np.float64(0.5), Fraction(1, 2)):
        assert full(model(X, y, reg=half)).tobytes() == full(model(X, y, reg=0.5)).tobytes()
    for one in (1, np.int8(1)):
        assert full(model(X, y, reg=one)).tobytes() == full(model(X, y, reg=1.0)).tobytes()


def test_reg_is_added_to_every_diagonal():
    X, y = correlated(8)
    for standardise in (False, True):
        bare, made = model(X, y, standardise), model(X, y, standardise, 0.7)
        for kind in (full, rests):
            np.testing.assert_allclose(
                kind(made) - kind(bare), np.broadcast_to(0.7 * np.eye(4), kind(bare).shape), atol=1e-13
            )
        np.testing.assert_allclose(made.rest_variance - bare.rest_variance, 0.7, rtol=1e-13)


@pytest.mark.parametrize(
    "reg", [-1, -0.1, float("nan"), float("inf"), True, False, "", "none", "AUTO", None, [1.0], 1j, 10**400]
)
def test_other_reg_is_refused(reg):
    stats = desk(*correlated(9))
    stats.normals(False, 1.0)  # which True must not be taken for
    with pytest.raises(
        InputError, match=r"^parameter reg must be a number from 0 on, or 'auto' or 'ledoit_wolf' or"
    ):
        stats.normals(False, reg)


# --------------------------------------------------------------------------------------------------------- shrinkage


@pytest.mark.parametrize(("n", "m"), [(60, 4), (12, 20), (7, 2), (30, 30)])
@pytest.mark.parametrize("unit", [1.0, 1e-100, 1e100])
@pytest.mark.parametrize("reg", ["auto", "ledoit_wolf", "oas"])
def test_shrinkage_is_the_published_one(n, m, unit, reg):
    from sklearn import covariance as peers

    X, y = correlated(10, n, m, 2)
    made = model(X * unit, y, reg=reg)
    for c in (0, 1):
        own = X[y == c] - X[y == c].mean(axis=0)
        slow = naive.oas(own) if reg == "oas" else naive.ledoit_wolf(own)
        peer = peers.oas(own)[1] if reg == "oas" else peers.ledoit_wolf_shrinkage(own)
        assert 1 - made.keep[c] == pytest.approx(slow, rel=1e-11)
        assert 1 - made.keep[c] == pytest.approx(peer, rel=1e-11)
        bare = covariance(own)
        shrunk = (1 - slow) * bare + slow * np.trace(bare) / m * np.eye(m)
        close(full(made)[1 + c] / unit / unit, shrunk, 1e-11)


def test_shrinkage_of_standardised_columns():
    from sklearn.covariance import ledoit_wolf_shrinkage

    X, y = correlated(11, 40, 6)
    X[:, 0] *= 1e6
    made = model(X, y, True, "auto")
    for c in range(3):
        own = (X / X.std(axis=0))[y == c]
        assert 1 - made.keep[c] == pytest.approx(ledoit_wolf_shrinkage(own), rel=1e-11)


@pytest.mark.parametrize("reg", ["auto", "oas"])
def test_a_row_of_weight_2_is_two_rows(reg):
    X, y = correlated(12, 40, 6)
    w = np.random.default_rng(12).integers(0, 4, 40)
    w[:3] = 1
    found, repeated = model(X, y, True, reg, w), model(np.repeat(X, w, axis=0), np.repeat(y, w), True, reg)
    np.testing.assert_allclose(found.keep, repeated.keep, rtol=1e-12)
    for c in range(4):
        close(full(found)[c], full(repeated)[c])
    real = model(X, y, True, reg, w * 0.25)  # real weights count as so many rows as there are
    fewer = (1 - real.keep) / (1 - found.keep)
    assert (fewer > 1).all()


@pytest.mark.parametrize("reg", ["auto", "oas"])
def test_nothing_to_shrink(reg):
    """One feature: no variance is made up. A class of a row or two, or of constants, takes the spread of the others."""
    X, y = correlated(13, 30, 1, 2)
    close(full(model(X, y, reg=reg))[1:][0], covariance(X[y == 0]))
    lonely = np.array([[1.0, 2.0], [2.0, 4.0], [2.5, 1.0], [9.0, 7.0]])
    made = model(lonely, [0, 0, 0, 1], reg=reg)
    within = 0.75 * covariance(lonely[:3]).trace() / 2
    close(full(made)[2], within * np.eye(2))
    assert np.isfinite(full(made)).all()
    flat = model(np.column_stack([np.ones(4), [1.0, 2.0, 3.0, 3.0]]), [0, 0, 1, 1], reg=reg)
    assert np.isfinite(full(flat)).all()
    assert not full(flat)[:, 0, 0].any()
