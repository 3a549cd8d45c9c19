"""What the global problem accepts, what it refuses and in which words, and the sets that can be read off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import relax as naive

from jifs.errors import InputError
from jifs.relax.problem import check, trivial, value


def test_a_faultless_matrix_is_used_as_it_is() -> None:
    Q = naive.matrix("random", 7, 0)
    problem = check(Q, 3)
    assert problem.Q is Q
    assert (problem.n, problem.k) == (7, 3)
    assert problem.scale == Q.max()


@pytest.mark.parametrize("k", [2, 2.0, np.int32(2), np.float64(2)])
def test_k_is_a_whole_number_in_any_clothes(k: Any) -> None:
    assert check([[1, 2], [2, 1]], k).k == 2


@pytest.mark.parametrize("k", [-1, 3, 1.5, "1", None, True, np.True_, float("nan"), float("inf"), [1]])
def test_k_is_refused_by_name(k: Any) -> None:
    with pytest.raises(InputError, match="k must be a whole number between 0 and 2"):
        check(np.eye(2), k)


@pytest.mark.parametrize(
    ("Q", "words"),
    [
        ([[1, 2]], "square array.*shape"),
        ([1, 2], "square array.*shape"),
        (np.zeros((0, 0)), "square array.*shape"),
        (3.0, "square array.*shape"),
        ([[1, 2], [3]], "square array of real numbers"),
        ("Q", "square array of real numbers"),
        (1j * np.eye(2), "square array of real numbers"),
        ([[1, 2], [2.1, 1]], r"Q\[0, 1\] = 2 but Q\[1, 0\] = 2.1: Q must be symmetric"),
        ([[1, np.nan], [2, 1]], r"Q\[0, 1\] is nan.*finite"),
        ([[1, 2], [2, np.inf]], r"Q\[1, 1\] is inf.*finite"),
        ([[1, -2], [-2, 1]], r"Q\[0, 1\] is -2: entries of Q must be >= 0"),
        ([[1, 0], [0, -1e-11]], r"Q\[1, 1\] is -1e-11: entries of Q must be >= 0"),
        ([[1e291]], "below 1e290"),
    ],
)
def test_a_matrix_is_refused_by_its_entry(Q: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check(Q, 1)


def test_the_entry_that_breaks_symmetry_is_found_in_any_block() -> None:
    Q = np.ones((1500, 1500))
    Q[1400, 3] = 2
    with pytest.raises(InputError, match=r"Q\[3, 1400\] = 1 but Q\[1400, 3\] = 2"):
        check(Q, 1)


def test_rounding_is_put_right_in_a_copy() -> None:
    Q = np.array([[4.0, 1.0, 0.0], [1.0 + 2e-12, 4.0, 2.0], [0.0, 2.0, -3e-12]])
    before = Q.copy()
    problem = check(Q, 2)
    assert (before == Q).all()
    assert (problem.Q == problem.Q.T).all()
    assert problem.Q.min() == 0
    assert problem.Q[0, 1] == pytest.approx(1 + 1e-12, abs=1e-15)


def test_order_and_type_of_the_array_do_not_matter() -> None:
    whole = np.arange(9).reshape(3, 3)
    whole = whole + whole.T
    for Q in (whole, np.asfortranarray(whole), whole.tolist(), whole.astype(np.float32), whole[::1, ::1]):
        problem = check(Q, 1)
        assert problem.Q.flags.c_contiguous
        assert problem.Q.dtype == np.float64
        assert (whole == problem.Q).all()


@given(st.floats(min_value=5e-324, max_value=1e290))
def test_division_by_the_power_is_exact(size: float) -> None:
    problem = check([[size, size / 3], [size / 3, 0.0]], 1)
    scaled = problem.scaled()
    assert 0.5 <= scaled.max() < 1
    assert (scaled * problem.power == problem.Q).all()


def test_all_zero_has_the_scale_one() -> None:
    assert check(np.zeros((3, 3)), 1).scale == 1


@pytest.mark.parametrize("family", naive.FAMILIES)
def test_a_set_read_off_is_the_best(family: str) -> None:
    for n in range(1, 6):
        Q = naive.matrix(family, n, 1)
        best = naive.best_values(Q)
        for k in range(n + 1):
            S = trivial(check(Q, k))
            if S is None:
                assert 1 < k < n
            else:
                assert S.dtype == np.int64
                assert len(set(S.tolist())) == k
                assert value(Q, S) == pytest.approx(best[k], rel=1e-14)


def test_the_lowest_index_wins_where_it_is_read_off() -> None:
    assert trivial(check(np.eye(4), 1)).tolist() == [0]
    assert trivial(check(np.zeros((4, 4)), 2)).tolist() == [0, 1]


def test_value_counts_a_pair_twice_and_the_diagonal_once() -> None:
    Q = np.array([[1.0, 10, 100], [10, 2, 1000], [100, 1000, 3]])
    assert value(Q, [0, 2]) == 1 + 3 + 200
    assert value(Q, [2, 0]) == 204
    assert value(Q, []) == 0


@pytest.mark.parametrize("S", [[3], [-1], [0, 0]])
def test_value_refuses_what_is_no_set_of_features(S: list[int]) -> None:
    with pytest.raises(InputError, match=r"different features out of 0\.\.2"):
        value(np.eye(3), S)
