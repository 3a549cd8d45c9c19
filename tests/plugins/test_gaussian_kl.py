"""The Kullback-Leibler bounds: the linear run against inverses of raw rows, and the edges."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from gaussians import Numbers, choose, correlated, desk, made
from hypothesis import given
from hypothesis import strategies as st
from naive import gaussian as naive
from naive.search import forward

import jifs
from jifs.errors import InputError

BOTH = pytest.mark.parametrize("criterion", ["gkl_mi", "gkl_e"])
quiet = pytest.mark.filterwarnings("ignore::jifs.JifsWarning")


def value(w: Numbers, criterion: str, S: Any, **more: Any) -> float:
    X = naive.standardised(w.X) if criterion == "gkl_e" else w.X
    return naive.gkl(X, w.y, list(S), criterion == "gkl_e", **more)


@BOTH
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_run_is_the_definition(criterion: str, classes: int) -> None:
    w = correlated(classes, classes=classes)
    path = forward(lambda S, j: value(w, criterion, [*S, j]), w.m, w.m, tol=1e-10)
    result = choose(w, w.m, criterion)
    assert result.indices.tolist() == path.indices
    assert result.scores == pytest.approx(path.scores, rel=1e-9)


@BOTH
@pytest.mark.parametrize("more", [{}, {"reg": 0.2}, {"constant": True}, {"tight": True}], ids=str)
def test_a_set_is_the_definition_and_the_end_of_a_run(criterion: str, more: dict[str, Any]) -> None:
    w = correlated(5)
    stats, rule, S = desk(w), made(criterion, **more), [6, 0, 3, 5]
    assert rule.value(stats, S) == pytest.approx(value(w, criterion, S, **more), rel=1e-10)
    run = rule.open(stats)
    for j in S[:-1]:
        run.take(j)
    assert run.gains()[5] == pytest.approx(rule.value(stats, S), rel=1e-10)
    left_out = [rule.value(stats, S[:p] + S[p + 1 :]) for p in range(len(S))]
    assert rule.without(stats, S) == pytest.approx(left_out, rel=1e-9)
    assert rule.without(stats, [4]) == pytest.approx([rule.value(stats, [])], abs=0)
    assert rule.value(stats, []) == pytest.approx(value(w, criterion, [], **more), abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_every_candidate_at_every_step(seed: int, classes: int) -> None:
    """O(|S|) for each candidate, and the same number as from scratch."""
    w = correlated(seed, n=100, m=6, classes=classes)
    w = Numbers(naive.standardised(w.X), w.y)
    run = made("gkl_mi").open(desk(w))
    for t, k in enumerate(np.random.default_rng(seed).permutation(6).tolist()):
        expected = [naive.gkl(w.X, w.y, [*run.taken, j]) for j in range(6) if j not in run.taken]
        found = [run.gains()[j] for j in range(6) if j not in run.taken]
        assert found == pytest.approx(expected, rel=1e-7), t
        run.take(k)


def test_the_published_quadratic_form_gives_the_same_gain() -> None:
    w = correlated(1, classes=2)
    X, first = naive.standardised(w.X), w.y == 0
    s1, s2 = naive.covariance(X[first], 0.0), naive.covariance(X[~first], 0.0)
    apart = X[~first].mean(axis=0) - X[first].mean(axis=0)
    for S, j in (([], 3), ([1], 0), ([4, 2, 7], 5)):
        there = naive.kl(X[first][:, [*S, j]], X[~first][:, [*S, j]], 0.0)
        before = naive.kl(X[first][:, S], X[~first][:, S], 0.0) if S else 0.0
        assert naive.quadratic_kl_gain(s1, s2, apart, S, j) == pytest.approx(there - before, rel=1e-9)


# ---------------------------------------------------------------------------------------------------------------- laws


def test_two_classes_are_one_problem() -> None:
    """One against the rest, for both classes, is the pair itself."""
    w = correlated(2, classes=2)
    own, rest = w.X[w.y == 0][:, [1, 4]], w.X[w.y == 1][:, [1, 4]]
    p = len(own) / len(w.y)
    pair = p * naive.kl(own, rest, 0.0) + (1 - p) * naive.kl(rest, own, 0.0)
    assert made("gkl_mi").value(desk(w), [1, 4]) == pytest.approx(pair, rel=1e-12)
    assert made("gkl_mi").value(desk(Numbers(w.X, 1 - w.y)), [1, 4]) == pytest.approx(pair, rel=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_units_do_not_matter_and_tight_is_tighter(seed: int) -> None:
    w = correlated(seed, n=80, m=4)
    w = Numbers(naive.standardised(w.X), w.y)
    stats, other = desk(w), desk(Numbers(w.X * [1e3, -1e-3, 7.0, 1e6] + [5.0, 1.0, 0.0, -2.0], w.y))
    rule = made("gkl_mi")
    assert rule.value(other, [0, 1, 2, 3]) == pytest.approx(rule.value(stats, [0, 1, 2, 3]), rel=1e-7)
    assert 0.0 <= made("gkl_mi", tight=True).value(stats, [0, 2]) <= rule.value(stats, [0, 2]) + 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_the_divergence_never_falls_and_with_its_constant_is_vacuous(seed: int, classes: int) -> None:
    w = correlated(seed, n=60, m=5, classes=classes)
    stats, rule = desk(w), made("gkl_mi")
    values = [rule.value(stats, list(range(size))) for size in range(6)]
    assert all(b >= a - 1e-8 for a, b in pairwise(values))
    p = np.bincount(w.y) / len(w.y)
    if classes == 2:
        assert made("gkl_mi", constant=True).value(stats, [0]) >= -float(p @ np.log(p)) - 1e-12


# --------------------------------------------------------------------------------------------------------------- edges


@BOTH
@quiet
def test_constants_and_copies_come_last_and_nothing_is_nan(criterion: str) -> None:
    w = correlated(7, m=5)
    X = np.column_stack([np.full(300, 0.1), w.X, 3 * w.X[:, 0] - 1])
    result = choose(Numbers(X, w.y), 7, criterion)
    assert np.isfinite(result.scores[:5]).all()
    assert result.scores[5:].tolist() == [-math.inf] * 2
    assert result.indices[5:].tolist() == sorted(result.indices[5:].tolist())
    assert made(criterion).value(desk(Numbers(X, w.y)), [1, 6]) == -math.inf


@BOTH
def test_constant_within_a_class_needs_reg(criterion: str) -> None:
    w = correlated(9, m=3, classes=2)
    X = w.X.copy()
    X[w.y == 1, 1] = 0.25
    with pytest.warns(jifs.JifsWarning, match="'x1' has one value only within a class, .* use reg above 0"):
        result = choose(Numbers(X, w.y), 3, criterion)
    assert result.indices[-1] == 1
    assert result.scores[-1] == -math.inf
    regular = choose(Numbers(X, w.y), 3, criterion, {"reg": 0.1})
    assert np.isfinite(regular.scores).all()
    assert regular.facts["warnings"] == []


@pytest.mark.parametrize("name", ["constant", "tight", "standardise"])
def test_parameters_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be True or False"):
        choose(correlated(0), 2, "gkl_mi", {name: "yes"})
