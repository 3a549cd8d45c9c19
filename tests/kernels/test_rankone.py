"""Growing, shrinking and changing by one equals starting again, as exactly as the docstring of the kernels says.

The truth is computed in fractions where the matrix is small. Errors are measured after scaling to a unit diagonal.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from naive import rankone as naive

from jifs.kernels import rankone

EPS = 2.0**-52
FACTOR, LOGDET, KEPT = 8 * EPS, 8 * EPS, 4 * EPS  # the statement of the module
CONDITIONS = [1e2, 1e6, 1e10]
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 7)
CONDITION = st.sampled_from([1.0, *CONDITIONS])
UNITS = st.sampled_from(
    [0, 10, 100]
)  # features in units up to 2^100 apart from one another in both directions
LONG = 60


def matrix(seed, k, condition, units=0):
    """Symmetric, eigenvalues from 1 down to 1 / condition, then other units for its features."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(k, k)))
    A = (turn * np.geomspace(1.0, 1.0 / condition, k)) @ turn.T
    unit = 2.0 ** rng.integers(-units, units + 1, k)
    return (A + A.T) / 2 * np.outer(unit, unit)


def scales(A):
    return np.sqrt(np.outer(np.diag(A), np.diag(A)))


def condition_of(A):
    return np.linalg.cond(A / scales(A))


def condition_of_pair(A, B):
    """The larger of two matrices times the larger of their inverses, in the same units."""
    units = np.sqrt(np.maximum(np.diag(A), np.diag(B)))
    values = np.array([np.linalg.eigvalsh(M / np.outer(units, units)) for M in (A, B)])
    return float(values.max() / values.min())


def grow(A, kind="factor", tolerance=0.0):
    """The factor or the inverse, feature by feature; and what each of them left."""
    k = len(A)
    out, work = np.full((k, k), np.nan), np.full(k, np.nan)
    left = []
    for i in range(k):
        if kind == "factor":
            left.append(rankone.cholesky_add(A[i, :i], A[i, i], out, i, tolerance))
        else:
            left.append(rankone.inverse_add(A, out, i, tolerance, work))
    return out, left


def lower(L, k):
    return np.tril(L[:k, :k])


def factor_error(L, A):
    """|L L' - A|_ab / sqrt(A_aa A_bb), the largest."""
    L = lower(L, len(A))
    return float(np.max(np.abs(L @ L.T - A) / scales(A)))


def inverse_error(P, A):
    k = len(A)
    truth = np.array([[float(x) for x in row] for row in naive.exact_inverse(A)[0]])
    return np.linalg.norm((P[:k, :k] - truth) * scales(A)) / np.linalg.norm(truth * scales(A))


def exact_ratio(A, u, s):
    """1 + s u' A^-1 u without rounding."""
    P, _ = naive.exact_inverse(A)
    w = [Fraction(float(x)) for x in u]
    inner = sum(w[a] * P[a][b] * w[b] for a in range(len(w)) for b in range(len(w)))
    return 1 + Fraction(s) * inner


def downdate_vector(seed, A, share):
    """u with |A - u u'| = share |A|."""
    z = np.random.default_rng(seed).normal(size=len(A))
    return naive.factor(A) @ z / np.linalg.norm(z) * math.sqrt(1.0 - share)


# --------------------------------------------------------------------------------------------------------- the factor


@given(SEEDS, SIZES, CONDITION, UNITS)
def test_rows_appended_make_the_factor(seed, k, condition, units):
    A = matrix(seed, k, condition, units)
    kappa = condition_of(A)
    L, left = grow(A)
    assert factor_error(L, A) <= FACTOR
    rows = np.sqrt(np.diag(A))[:, None]
    np.testing.assert_allclose(lower(L, k) / rows, naive.factor(A) / rows, rtol=0, atol=KEPT * kappa)
    total = rankone.logdet_one(L, k)
    bound = LOGDET * (kappa + sum(abs(math.log(v)) for v in left))
    assert abs(total - naive.exact_logdet(A)) <= bound
    assert abs(total - naive.logdet(A)) <= 2 * bound  # the second half is for NumPy
    assert total == pytest.approx(sum(math.log(v) for v in left), abs=bound)


@given(SEEDS, SIZES, CONDITION, UNITS)
def test_a_pivot_is_the_ratio_of_determinants(seed, k, condition, units):
    """Identity 11.4: rows of the factor = conditional variances = determinants."""
    A = matrix(seed, k, condition, units)
    (L, by_factor), (_, by_inverse) = grow(A), grow(A, "inverse")
    for i in range(k):
        part = A[: i + 1, : i + 1]
        truth = float(1 / naive.exact_inverse(part)[0][i][i])
        kept = KEPT * condition_of(part)
        assert by_factor[i] == pytest.approx(truth, rel=kept, abs=0)
        assert by_inverse[i] == pytest.approx(truth, rel=kept, abs=0)
        assert L[i, i] ** 2 == pytest.approx(truth, rel=kept, abs=0)


@given(SEEDS, SIZES, CONDITION, UNITS, st.data())
@example(0, 1, 1.0, 0, None)
def test_a_row_deleted_leaves_the_factor_of_the_rest(seed, k, condition, units, data):
    A = matrix(seed, k, condition, units)
    i = data.draw(st.integers(0, k - 1)) if data else 0
    L, _ = grow(A)
    left = rankone.cholesky_drop(L, k, i)
    assert factor_error(L, naive.shrunk(A, i)) <= FACTOR if k > 1 else True
    assert (np.diag(L)[: k - 1] > 0).all()
    assert (L[k - 1] == 0.0).all()
    truth = float(1 / naive.exact_inverse(A)[0][i][i])
    assert left == pytest.approx(truth, rel=KEPT * condition_of(A), abs=0)
    slow = A[i, i] * naive.conditional_variance(A / scales(A), i)
    assert left == pytest.approx(slow, rel=3 * KEPT * condition_of(A), abs=0)


@given(SEEDS, st.integers(2, 8), CONDITION, UNITS)
def test_the_last_row_appended_and_deleted_leaves_no_trace(seed, k, condition, units):
    A = matrix(seed, k, condition, units)
    L, left = grow(A)
    before = L[: k - 1].tobytes()
    assert rankone.cholesky_drop(L, k, k - 1) == pytest.approx(left[-1], rel=4 * EPS, abs=0)
    assert L[: k - 1].tobytes() == before


def test_the_factor_recovers_when_the_spoiler_leaves():
    """Five well-behaved features and a sixth that they nearly determine: 1e-9 of its variance is its own."""
    A = matrix(4, 5, 10.0)
    weights = np.array([1.0, -2.0, 0.5, 1.0, 3.0])
    spoilt = naive.grown(A, A @ weights, float(weights @ A @ weights) * (1 + 1e-9))
    L, P = grow(spoilt)[0], grow(spoilt, "inverse")[0]
    rankone.cholesky_drop(L, 6, 5)
    assert rankone.logdet_one(L, 5) == pytest.approx(naive.exact_logdet(A), abs=1e-14)
    rankone.inverse_drop(P, 6, 5)
    assert 1e-13 < inverse_error(P, A) <= KEPT * condition_of(spoilt)  # the inverse remembers


@pytest.mark.parametrize("condition", [1.0, *CONDITIONS])
def test_a_long_chain_of_appends_and_deletes(condition):
    m = 24
    rng = np.random.default_rng(int(math.log10(condition)))
    A = matrix(1, m, condition, 10)
    L, P, work = np.zeros((m, m)), np.zeros((m, m)), np.zeros(m)
    S, worst = [], 1.0
    for _ in range(60):
        k = len(S)
        if k and (k == m or rng.random() < 0.35):
            i = int(rng.integers(k))
            by_factor, by_inverse = rankone.cholesky_drop(L, k, i), rankone.inverse_drop(P, k, i)
            del S[i]
        else:
            S.append(int(rng.choice([j for j in range(m) if j not in S])))
            B = A[np.ix_(S, S)]
            by_factor = rankone.cholesky_add(B[k, :k], B[k, k], L, k, 0.0)
            by_inverse = rankone.inverse_add(B, P, k, 0.0, work)
        if not S:
            continue
        B = A[np.ix_(S, S)]
        kappa = condition_of(B)
        worst = max(worst, kappa)
        assert factor_error(L, B) <= FACTOR
        assert by_factor == pytest.approx(by_inverse, rel=2 * KEPT * worst, abs=0)
        assert rankone.logdet_one(L, len(S)) == pytest.approx(
            naive.logdet(B), rel=1e-14, abs=2 * LOGDET * kappa
        )
        truth = naive.inverse(B / scales(B))
        error = np.linalg.norm(P[: len(S), : len(S)] * scales(B) - truth) / np.linalg.norm(truth)
        assert error <= KEPT * worst


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_chain_that_only_grows(condition):
    A = matrix(2, LONG, condition, 10)
    L, left = grow(A)
    P, _ = grow(A, "inverse")
    assert min(left) > 0
    assert factor_error(L, A) <= FACTOR
    assert rankone.logdet_one(L, LONG) == pytest.approx(
        naive.logdet(A), rel=1e-14, abs=2 * LOGDET * condition_of(A)
    )
    truth = naive.inverse(A / scales(A))
    assert np.linalg.norm(P * scales(A) - truth) <= KEPT * condition_of(A) * np.linalg.norm(truth)


# -------------------------------------------------------------------------------------------------------- the inverse


@given(SEEDS, SIZES, CONDITION, UNITS)
def test_the_grown_inverse_is_the_inverse(seed, k, condition, units):
    A = matrix(seed, k, condition, units)
    P, _ = grow(A, "inverse")
    assert inverse_error(P, A) <= KEPT * condition_of(A)
    assert (P == P.T).all()


@given(SEEDS, SIZES, CONDITION, UNITS, st.data())
def test_the_shrunk_inverse_is_the_inverse_of_the_rest(seed, k, condition, units, data):
    A = matrix(seed, k, condition, units)
    i = data.draw(st.integers(0, k - 1))
    P, _ = grow(A, "inverse")
    own = P[i, i]
    assert rankone.inverse_drop(P, k, i) == 1.0 / own
    assert not P[k - 1].any()
    assert not P[:, k - 1].any()
    if k > 1:
        assert inverse_error(P, naive.shrunk(A, i)) <= KEPT * condition_of(A)
        assert (P == P.T).all()


@given(SEEDS, SIZES, CONDITION, UNITS, st.sampled_from([0.001, 1.0, 1e6]))
def test_sherman_and_morrison_update(seed, k, condition, units, s):
    A = matrix(seed, k, condition, units)
    u = np.random.default_rng(seed).normal(size=k) * np.sqrt(np.diag(A))
    changed = naive.changed(A, u, s)
    kappa = condition_of_pair(A, changed)
    P, _ = grow(A, "inverse")
    ratio = rankone.inverse_update(A, u, s, P, k, 0.0, np.empty((2, k)))
    assert ratio == pytest.approx(float(exact_ratio(A, u, s)), rel=KEPT * kappa, abs=0)
    assert inverse_error(P, changed) <= KEPT * kappa
    assert (P == P.T).all()


def hold_a_downdate_to_the_statement(seed, k, condition, units, share):
    A = matrix(seed, k, condition, units)
    u = downdate_vector(seed, A, share)
    changed = naive.changed(A, u, -1.0)
    if np.linalg.eigvalsh(changed / scales(A))[0] < 1e-12:
        return
    kappa = condition_of_pair(A, changed)
    P, _ = grow(A, "inverse")
    work = np.empty((2, k))
    ratio = rankone.inverse_update(A, u, -1.0, P, k, 0.0, work)
    assert ratio == pytest.approx(float(exact_ratio(A, u, -1.0)), rel=KEPT * kappa, abs=0)
    assert inverse_error(P, changed) <= KEPT * kappa
    assert (P == P.T).all()
    back = rankone.inverse_update(changed, u, 1.0, P, k, 0.0, work)
    assert back == pytest.approx(1.0 / share, rel=KEPT * kappa, abs=0)
    assert inverse_error(P, A) <= KEPT * kappa


@given(SEEDS, SIZES, CONDITION, UNITS, st.sampled_from([0.9, 0.5, 1e-3]))
def test_sherman_and_morrison_downdate_and_back(seed, k, condition, units, share):
    hold_a_downdate_to_the_statement(seed, k, condition, units, share)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_downdate_does_not_square_the_condition(condition):
    """Twenty matrices each: without the correction by A, some of them lose ten times what is allowed."""
    for seed in range(20):
        hold_a_downdate_to_the_statement(seed, 3, condition, 0, 1e-3)


# ---------------------------------------------------------------------------------------------------------- the lemma


@given(SEEDS, SIZES, CONDITION, UNITS, st.sampled_from([1e-9, 0.5, 1.0, 1e6]))
def test_the_lemma_for_an_update(seed, k, condition, units, s):
    A = matrix(seed, k, condition, units)
    u = np.random.default_rng(seed).normal(size=k) * np.sqrt(np.diag(A))
    changed = naive.changed(A, u, s)
    kappa = condition_of_pair(A, changed)
    (L, _), (P, _) = grow(A), grow(A, "inverse")
    truth = math.log1p(float(exact_ratio(A, u, s) - 1))
    by_factor = rankone.logdet_change_cholesky(u, s, L, k, 0.0, np.empty(k))
    by_inverse = rankone.logdet_change_inverse(A, u, s, P, k, 0.0, np.empty((2, k)))
    assert abs(by_factor - truth) <= KEPT * kappa
    assert abs(by_inverse - truth) <= KEPT * kappa
    # elimination by rows minds units, so NumPy gets both matrices without them
    by_numpy = naive.logdet(changed / scales(A)) - naive.logdet(A / scales(A))
    assert by_factor == pytest.approx(by_numpy, abs=4 * KEPT * kappa)


@given(SEEDS, SIZES, CONDITION, UNITS, st.sampled_from([0.9, 0.5, 1e-3]))
def test_the_lemma_for_a_downdate(seed, k, condition, units, share):
    A = matrix(seed, k, condition, units)
    u = downdate_vector(seed, A, share)
    changed = naive.changed(A, u, -1.0)
    assume(np.linalg.eigvalsh(changed / scales(A))[0] > 1e-12)
    kappa = condition_of_pair(A, changed)
    (L, _), (P, _) = grow(A), grow(A, "inverse")
    truth = math.log1p(float(exact_ratio(A, u, -1.0) - 1))
    assert abs(rankone.logdet_change_cholesky(u, -1.0, L, k, 0.0, np.empty(k)) - truth) <= KEPT * kappa
    by_inverse = rankone.logdet_change_inverse(A, u, -1.0, P, k, 0.0, np.empty((2, k)))
    assert abs(by_inverse - truth) <= KEPT * kappa


def test_a_small_change_keeps_its_digits():
    """log(1 + x) is x for x = 1e-20, not 0."""
    L, P, u = np.eye(2), np.eye(2), np.array([1e-10, 0.0])
    by_factor = rankone.logdet_change_cholesky(u, 1.0, L, 2, 0.0, np.empty(2))
    assert by_factor == pytest.approx(1e-20, rel=1e-15, abs=0)
    by_inverse = rankone.logdet_change_inverse(np.eye(2), u, -1.0, P, 2, 0.0, np.empty((2, 2)))
    assert by_inverse == pytest.approx(-1e-20, rel=1e-15, abs=0)


# -------------------------------------------------------------------------------------------------- singular and wrong

TOLERANCE = 1e-10


@given(SEEDS, SIZES, st.sampled_from([1.0, 1e2]), UNITS, st.sampled_from(["copy", "sum", "zero", "constant"]))
def test_a_dependent_feature_is_reported_and_changes_nothing(seed, k, condition, units, kind):
    A = matrix(seed, k, condition, units)
    weights = np.random.default_rng(seed).normal(size=k) / np.sqrt(np.diag(A))
    weights = {"copy": np.eye(k)[k // 2], "sum": weights, "zero": 0.0 * weights, "constant": weights}[kind]
    column, variance = A @ weights, float(weights @ A @ weights)
    if kind == "constant":  # no variance, and covariances that are rounding
        variance, column = 0.0, EPS * column
    grown = naive.grown(A, column, variance)
    for what in ("factor", "inverse"):
        state, left = grow(A, what)
        room = np.zeros((k + 1, k + 1))
        room[:k, :k] = state
        before = room[:k].tobytes()
        if what == "factor":
            answer = rankone.cholesky_add(grown[k, :k], grown[k, k], room, k, TOLERANCE)
        else:
            answer = rankone.inverse_add(grown, room, k, TOLERANCE, np.empty(k))
        assert answer == 0.0
        assert min(left) > 0.0
        assert room[:k].tobytes() == before
        assert not room[k].any()


@pytest.mark.parametrize("condition", [1.0, *CONDITIONS])
def test_what_rounding_leaves_of_a_dependent_feature(condition):
    """The hardest case is a sum along the direction in which the others hardly vary."""
    for seed in range(10):
        A = matrix(seed, 6, condition)
        weights = np.linalg.eigh(A)[1][:, 0]
        L = np.zeros((7, 7))
        L[:6, :6] = grow(A)[0]
        variance = float(weights @ A @ weights)
        tolerance = KEPT * condition_of(A)
        assert rankone.cholesky_add(A @ weights, variance, L, 6, tolerance) == 0.0
        assert rankone.cholesky_add(A @ weights, (1 + 2 * tolerance) * variance, L, 6, tolerance) > 0.0


@pytest.mark.parametrize("column", [0.0, 0.5, 2.0, math.nan, math.inf, -math.inf, 1e200])
@pytest.mark.parametrize("variance", [1.0, 0.0, -1.0, math.nan, math.inf, 5e-324])
def test_numbers_that_make_no_covariance_are_reported(column, variance):
    good = column in (0.0, 0.5) and variance == 1.0
    L, P = np.zeros((2, 2)), np.zeros((2, 2))
    L[0, 0] = P[0, 0] = 1.0
    A = np.array([[1.0, column], [column, variance]])
    with np.errstate(all="ignore"):  # plain Python says what compiled code keeps to itself
        answers = [
            rankone.cholesky_add(A[1, :1], A[1, 1], L, 1, TOLERANCE),
            rankone.inverse_add(A, P, 1, TOLERANCE, np.empty(1)),
        ]
    assert answers == [1.0 - column**2 if good else 0.0] * 2
    assert np.isfinite(L).all()
    assert np.isfinite(P).all()
    assert good or (L.tolist() == P.tolist() == [[1.0, 0.0], [0.0, 0.0]])


def test_the_first_feature_and_the_tolerance():
    L, P, A = np.zeros((1, 1)), np.zeros((1, 1)), np.array([[4.0]])
    assert rankone.cholesky_add(A[0, :0], 4.0, L, 0, TOLERANCE) == 4.0
    assert rankone.inverse_add(A, P, 0, TOLERANCE, np.empty(0)) == 4.0
    assert (L[0, 0], P[0, 0]) == (2.0, 0.25)
    assert rankone.cholesky_add(A[0, :0], 4.0, L, 0, 1.0) == 0.0  # at the tolerance is singular
    assert rankone.logdet_one(L, 0) == 0.0


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_far_scales(size):
    A = size * np.array([[1.0, 0.5], [0.5, 1.0]])
    L, left = grow(A)
    P, also = grow(A, "inverse")
    assert left == pytest.approx([size, 0.75 * size], rel=1e-15, abs=0)
    assert also == pytest.approx([size, 0.75 * size], rel=1e-15, abs=0)
    assert size * P == pytest.approx(np.array([[4.0, -2.0], [-2.0, 4.0]]) / 3.0, rel=1e-15, abs=0)
    assert rankone.logdet_one(L, 2) == pytest.approx(2 * math.log(size) + math.log(0.75), rel=1e-15, abs=0)


@pytest.mark.parametrize("case", ["all of it", "more than there is", "nan", "inf"])
def test_a_downdate_that_leaves_nothing_is_reported(case):
    A = matrix(3, 3, 10.0)
    u = naive.factor(A)[:, 0] * {"all of it": 1.0, "more than there is": 1.5}.get(case, 1.0)
    if case in ("nan", "inf"):
        u = u * float(case)
    (L, _), (P, _) = grow(A), grow(A, "inverse")
    before, work = P.tobytes(), np.empty((2, 3))
    with np.errstate(all="ignore"):
        assert rankone.inverse_update(A, u, -1.0, P, 3, TOLERANCE, work) == 0.0
        assert rankone.logdet_change_cholesky(u, -1.0, L, 3, TOLERANCE, work[0]) == -math.inf
        assert rankone.logdet_change_inverse(A, u, -1.0, P, 3, TOLERANCE, work) == -math.inf
        if case in ("nan", "inf"):
            assert rankone.inverse_update(A, u, 1.0, P, 3, TOLERANCE, work) == 0.0
    assert P.tobytes() == before


@pytest.mark.parametrize("own", [0.0, -1.0, math.nan, math.inf])
def test_an_inverse_that_is_none_is_reported(own):
    P = np.array([[1.0, 0.0], [0.0, own]])
    before = P.tobytes()
    assert rankone.inverse_drop(P, 2, 1) == 0.0
    assert P.tobytes() == before


def test_only_the_part_in_use_is_touched():
    A = matrix(5, 4, 10.0)
    L, P = np.full((6, 6), np.nan), np.full((6, 6), np.nan)
    for i in range(4):
        rankone.cholesky_add(A[i, :i], A[i, i], L, i, TOLERANCE)
        rankone.inverse_add(A, P, i, TOLERANCE, np.empty(4))
    assert factor_error(L, A) <= FACTOR
    assert np.isnan(L[np.triu_indices(6, 1)]).all()
    rankone.cholesky_drop(L, 4, 1)
    rankone.inverse_drop(P, 4, 1)
    for state in (L, P):
        assert np.isnan(state[4:]).all()
        assert np.isnan(state[:, 4:]).all()
    assert factor_error(L, naive.shrunk(A, 1)) <= FACTOR
