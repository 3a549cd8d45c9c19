"""A factor that grows is the factor of the whole; a determinant is the determinant; a late candidate catches up.

Errors of `reduce_columns` are held to (used + 3) roundings of the absolute terms, those of log |Sigma| to 8 roundings
times the size and the condition (of the matrix with unit diagonal) and 2 for each logarithm, against fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive.gaussian import log_det
from naive.moments import UNIT

from jifs import jit
from jifs.kernels import gaussian
from jifs.kernels.gaussian import CHUNK

SEEDS = st.integers(0, 2**32 - 1)


def reduce(base, coefficients, rows, used, run=gaussian.reduce_columns):
    out = np.full_like(base, 7.0)
    run(len(base) * -(-base.shape[1] // CHUNK), base, coefficients, rows, used, out)
    return out


def plain(function):
    serial = getattr(function, "serial", function)
    body = getattr(serial, "py_func", serial)
    return lambda count, *arrays: body(0, count, *arrays)


def world(seed, p, used, m, room=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(p, m)), rng.normal(size=(p, used)), rng.normal(size=(p, used + room, m))


def covariances(seed, p, m, units=0):
    """p covariance matrices of m features, well conditioned, in units up to 10^units apart."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(p, 3 * m + 5, m)) * 10.0 ** rng.integers(-units, units + 1, m)
    return np.einsum("pij,pik->pjk", x, x) / x.shape[1]


def logdet(block, tolerance=1e-10):
    block = np.ascontiguousarray(block)
    return gaussian.log_determinant(block, tolerance, np.full_like(block, np.nan))


# --------------------------------------------------------------------------------------------------- reduce_columns


@given(SEEDS, st.integers(1, 3), st.integers(0, 9), st.integers(1, 4), st.integers(0, 3))
@example(0, 1, 0, 1, 0)
@example(0, 1, 0, 1, 2)
def test_reduced_columns(seed, p, used, m, room):
    """Room for more rows is not read; four at a time and what is left of them."""
    base, coefficients, rows = world(seed, p, used, m, room)
    rows[:, used:] = np.nan
    out = reduce(base, coefficients, rows, used)
    for q in range(p):
        for j in range(m):
            terms = [
                Fraction(a) * Fraction(b) for a, b in zip(coefficients[q], rows[q, :used, j], strict=True)
            ]
            size = abs(Fraction(base[q, j])) + sum(map(abs, terms), Fraction(0))
            error = abs(Fraction(out[q, j]) - (Fraction(base[q, j]) - sum(terms, Fraction(0))))
            assert error <= (used + 3) * Fraction(UNIT) * size


@pytest.mark.parametrize("m", [CHUNK - 1, CHUNK, CHUNK + 1])
def test_chunks_and_threads_leave_no_trace(m):
    base, coefficients, rows = world(1, 2, 5, m)
    with jit.threads(1):
        one = reduce(base, coefficients, rows, 5)
    for count in (2, 3):
        with jit.threads(count):
            assert reduce(base, coefficients, rows, 5).tobytes() == one.tobytes()
    for j in {0, CHUNK - 2, m - 1}:
        alone = reduce(base[:, [j]].copy(), coefficients, rows[:, :, [j]].copy(), 5)
        assert alone.tobytes() == one[:, [j]].tobytes()


def test_compiled_is_plain():
    base, coefficients, rows = world(2, 3, 9, 6)
    for used in range(10):
        expected = reduce(base, coefficients, rows, used, plain(gaussian.reduce_columns))
        assert reduce(base, coefficients, rows, used).tobytes() == expected.tobytes()


def grow(sigma, taken):
    """Rows of the factors, pivots and what is left of the variances, as features are taken one by one."""
    p, m = sigma.shape[:2]
    rows, pivots = np.zeros((p, len(taken), m)), np.zeros((p, len(taken)))
    left = np.einsum("pjj->pj", sigma).copy()
    for t, k in enumerate(taken):
        own = np.ascontiguousarray(rows[:, :t, k])
        pivots[:, t] = left[:, k]
        new = reduce(np.ascontiguousarray(sigma[:, k]), own, rows, t) / np.sqrt(left[:, k])[:, None]
        rows[:, t] = new
        left -= new * new
    return rows, pivots, left


@given(SEEDS, st.integers(1, 3), st.integers(1, 7), st.sampled_from([0, 3, 60]))
@example(0, 1, 1, 0)
def test_a_growing_factor_is_the_factor_of_the_whole(seed, p, m, units):
    sigma = covariances(seed, p, m, units)
    taken = np.random.default_rng(seed).permutation(m)
    rows, pivots, left = grow(sigma, taken)
    unit = np.sqrt(np.einsum("pjj->pj", sigma))
    for q in range(p):
        scaled = sigma[q][np.ix_(taken, taken)] / np.outer(unit[q][taken], unit[q][taken])
        whole = np.linalg.cholesky(scaled)
        bound = 64 * m * UNIT * np.linalg.cond(scaled)
        np.testing.assert_allclose((rows[q] / unit[q]).T[taken], whole, rtol=0, atol=bound)
        np.testing.assert_allclose(
            np.log(pivots[q] / unit[q][taken] ** 2), 2 * np.log(np.diag(whole)), rtol=0, atol=2 * bound
        )
        assert (np.abs(left[q]) <= bound * unit[q] ** 2).all()  # of a feature that is taken nothing is left


# -------------------------------------------------------------------------------------------------- log_determinant


def exact_det(block):
    """Determinant in fractions, by elimination."""
    a, det = [[Fraction(float(v)) for v in row] for row in block], Fraction(1)
    for i in range(len(a)):
        det *= a[i][i]
        for r in range(i + 1, len(a)):
            ratio = a[r][i] / a[i][i]
            a[r] = [x - ratio * y for x, y in zip(a[r], a[i], strict=True)]
    return det


@given(SEEDS, st.integers(1, 6), st.sampled_from([0, 3, 50]))
@example(0, 1, 0)
@example(0, 6, 50)
def test_log_determinant(seed, m, units):
    sigma = covariances(seed, 1, m, units)[0]
    unit = np.sqrt(np.diag(sigma))
    det = exact_det(sigma) / math.prod(Fraction(float(v)) for v in np.diag(sigma))
    expected = math.log(det) + sum(math.log(v) for v in np.diag(sigma))
    condition = np.linalg.cond(sigma / np.outer(unit, unit))
    sizes = sum(
        abs(math.log(v)) for v in np.diag(sigma)
    )  # logarithms of units may cancel, and leave their rounding
    bound = 8 * UNIT * m * condition + 2 * (m + 2) * UNIT * sizes
    assert logdet(sigma) == pytest.approx(expected, rel=0, abs=bound)
    assert logdet(sigma) == pytest.approx(log_det(sigma), rel=0, abs=4 * bound)


@pytest.mark.parametrize("size", range(1, 7))
def test_hilbert_matrices(size):
    """Condition up to 1.5e7: 8 roundings times the size and the condition are 8e-8 at worst; found better."""
    block = np.array([[1.0 / (i + j + 1) for j in range(size)] for i in range(size)])
    error = abs(logdet(block, 0.0) - math.log(exact_det(block)))
    assert error <= 8 * UNIT * size * np.linalg.cond(block)


def test_the_empty_matrix_has_volume_one():
    assert logdet(np.zeros((0, 0))) == 0.0


def test_only_the_lower_triangle_is_read():
    sigma = covariances(3, 1, 5)[0]
    assert logdet(np.where(np.tri(5) > 0, sigma, np.nan)) == logdet(sigma)


def test_the_factor_is_left_for_the_caller():
    sigma = covariances(4, 1, 5)[0]
    factor = np.zeros((5, 5))
    gaussian.log_determinant(sigma, 1e-10, factor)
    np.testing.assert_allclose(factor, np.linalg.cholesky(sigma), rtol=0, atol=1e-14)


def test_no_volume():
    sigma = covariances(5, 1, 4)[0]
    copied = sigma[np.ix_([0, 1, 1, 2], [0, 1, 1, 2])]
    flat = sigma.copy()
    flat[2] = flat[:, 2] = 0.0
    summed = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    negative = -np.eye(2)
    for block in (copied, flat, summed, indefinite, negative, np.zeros((3, 3))):
        assert logdet(block) == -math.inf
    for block in (copied * 1e-200, copied * 1e200, copied * 1e-100):
        assert logdet(block) == -math.inf


def test_the_tolerance_is_a_share_of_the_variance_and_belongs_to_no_volume():
    def block(rest, unit):  # what is left of the second variance is `rest` of it, exactly
        return np.array([[1.0, 0.5 * unit], [0.5 * unit, (0.25 + rest) * unit * unit]])

    for unit in (1.0, 2.0**-300, 2.0**300):
        assert logdet(block(0.25, unit), 0.5) == -math.inf
        assert logdet(block(0.25, unit), 0.49) == pytest.approx(math.log(0.25) + 2 * math.log(unit))


def test_units_add_their_logarithms():
    sigma, unit = covariances(6, 1, 4)[0], 2.0 ** np.array([-300, 300, 17, -1])
    scaled = sigma * np.outer(unit, unit)
    assert logdet(scaled) == pytest.approx(logdet(sigma) + 2 * np.log(unit).sum(), rel=1e-14)


def test_the_determinant_compiled_is_plain():
    """The pivots bit for bit; a logarithm may be another one in its last digit."""
    body = getattr(gaussian.log_determinant, "py_func", gaussian.log_determinant)
    sigma = covariances(7, 1, 6)[0]
    compiled, slow = np.zeros((6, 6)), np.zeros((6, 6))
    found, expected = (
        gaussian.log_determinant(sigma, 1e-10, compiled),
        body(sigma, 1e-10, slow),
    )
    assert compiled.tobytes() == slow.tobytes()
    assert found == pytest.approx(expected, rel=8 * UNIT)


# --------------------------------------------------------------------------------------------------------- catch_up


def late(sigma, taken, stops, run=gaussian.catch_up):
    """Every candidate brought up to date at the steps `stops[j]`, and at last; rows, and what is left."""
    p, m = sigma.shape[:2]
    k = len(taken)
    rows, _, _ = grow(sigma, taken)
    own, pivots = np.zeros((p, k, k)), grow(sigma, taken)[1]
    for t, j in enumerate(taken):
        own[:, t, :t] = rows[:, :t, j]
    columns = np.ascontiguousarray(sigma[:, taken])
    rows, left = np.zeros((p, k, m)), np.einsum("pjj->pj", sigma).copy()
    done = np.zeros(m, np.int64)
    for used in range(1, k + 1):
        who = np.array([j for j in range(m) if used == k or used in stops[j]], np.int64)
        run(who.size, who, done, used, columns, own, pivots, rows, left)
        done[who] = used
    return rows, left


@given(SEEDS, st.integers(1, 3), st.integers(1, 11), st.data())
def test_who_comes_late_has_the_very_same_row(seed, p, m, data):
    sigma = covariances(seed, p, m)
    taken = np.random.default_rng(seed).permutation(m)[: max(1, m - 1)]
    stops = [data.draw(st.sets(st.integers(1, len(taken)))) for _ in range(m)]
    rows, _, left = grow(sigma, taken)
    late_rows, late_left = late(sigma, taken, stops)
    assert late_rows.tobytes() == rows.tobytes()
    assert late_left.tobytes() == left.tobytes()


def test_late_candidates_on_threads_and_in_plain_python():
    sigma, taken = covariances(8, 3, 12), np.array([3, 0, 11, 5, 7, 1, 9])
    stops = [set(range(j % 3, 7, 1 + j % 4)) for j in range(12)]
    with jit.threads(1):
        one = late(sigma, taken, stops)
    with jit.threads(2):
        two = late(sigma, taken, stops)
    slow = late(sigma, taken, stops, plain(gaussian.catch_up))
    for a, b, c in zip(one, two, slow, strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()


def test_a_feature_without_volume_leaves_everybody_as_they_are():
    left, rows = np.array([[2.0, 3.0]]), np.full((1, 1, 2), 7.0)
    who, done = np.array([0, 1]), np.zeros(2, np.int64)
    columns = np.array([[[0.5, 0.25]]])
    gaussian.catch_up(2, who, done, 1, columns, np.zeros((1, 1, 1)), np.zeros((1, 1)), rows, left)
    assert rows.tolist() == [[[0.0, 0.0]]]
    assert left.tolist() == [[2.0, 3.0]]


def test_nobody_else_is_touched():
    sigma = covariances(9, 2, 4)
    columns, rows, left = np.ascontiguousarray(sigma[:, [1]]), np.full((2, 1, 4), 7.0), np.full((2, 4), 5.0)
    pivots = np.ascontiguousarray(sigma[:, 1, [1]])
    gaussian.catch_up(
        1, np.array([2]), np.zeros(4, np.int64), 1, columns, np.zeros((2, 1, 1)), pivots, rows, left
    )
    assert (rows[:, :, [0, 1, 3]] == 7.0).all()
    assert (left[:, [0, 1, 3]] == 5.0).all()
    assert (rows[:, 0, 2] != 7.0).all()
