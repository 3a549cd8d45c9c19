"""Every discrete criterion against its definition, and the identities that tie the criteria to one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.criteria import CRITERIA, betagamma, informative_fragments, jmi, jmi_normalised
from naive.entropy import cmi, fano, joint_mi, mi
from naive.search import TOL, lazy_cmim, winner
from worlds import World, by_definition, choose, matrix, wide_worlds, worlds

broad = st.one_of(worlds(), wide_worlds())
infos = st.sampled_from(["plugin", "miller_madow"])
strengths = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
CLEAR = 1e-9  # a lead above this is no rounding error


def noise(world: World, criterion: str, S: list[int], j: int, score: float, **how: Any) -> float:
    """How far rounding may move a score: nothing to speak of, except where miq divides by nearly 0."""
    if criterion != "miq" or not S:
        return 1e-10
    x = world.columns
    redundancy = max(float(np.mean([mi(x[j], x[s], **how) for s in S])), 1e-12)
    return 1e-13 / redundancy + 1e-10 * (1 + abs(score))


def assert_greedy(result: Any, world: World, criterion: str, start: int = 0, **how: Any) -> None:
    """Walk the engine's path: right scores, nothing clearly better left behind, ties to the lowest index.

    The first `start` features were given, so only their scores are checked.
    """
    params = {key: how[key] for key in ("info", "weights") if key in how}
    chosen = result.indices.tolist()
    for t, (j, score) in enumerate(zip(chosen, result.scores.tolist(), strict=True)):
        S = chosen[:t]
        free = [i for i in range(world.m) if i not in S]
        slow = {i: CRITERIA[criterion](world.columns, world.y, S, i, **how) for i in free}
        slack = {i: noise(world, criterion, S, i, slow[i], **params) for i in free}
        assert score == pytest.approx(slow[j], rel=0, abs=slack[j]), f"step {t}, feature {j}"
        if t < start:
            continue
        assert all(slow[i] - slack[i] <= slow[j] + slack[j] for i in free), f"step {t}: a better one was left"
        lead = sorted(max(slow.values()) - s for s in slow.values())
        if criterion != "miq" and not any(TOL / 10 < gap < CLEAR for gap in lead):
            assert j == winner(slow), f"step {t}: tie or lead decided otherwise"


# ---- the engine is the definition ----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@given(w=broad, info=infos)
def test_engine_is_the_definition(criterion: str, w: World, info: str) -> None:
    result = choose(w, criterion, min(w.m, 6), info=info)
    assert len(set(result.indices.tolist())) == min(w.m, 6)
    assert_greedy(result, w, criterion, info=info)


@given(worlds(), strengths, strengths)
def test_parameters_of_the_linear_family(w: World, beta: float, gamma: float) -> None:
    assert_greedy(choose(w, "mifs", params={"beta": beta}), w, "mifs", beta=beta)
    both = {"beta": beta, "gamma": gamma}
    assert_greedy(choose(w, "betagamma", params=both), w, "betagamma", **both)


@given(broad, st.booleans())
def test_cmim_with_and_without_the_marginal_term(w: World, marginal: bool) -> None:
    result = choose(w, "cmim", min(w.m, 6), params={"include_marginal": marginal})
    assert_greedy(result, w, "cmim", include_marginal=marginal)


@given(worlds(), st.integers(1, 6), st.sampled_from([*CRITERIA]))
def test_fewer_features_are_the_beginning_of_more(w: World, k: int, criterion: str) -> None:
    k = min(k, w.m)
    few, all_ = choose(w, criterion, k), choose(w, criterion)
    assert few.indices.tolist() == all_.indices[:k].tolist()
    assert np.array_equal(few.scores, all_.scores[:k])


@given(worlds(min_features=4), st.sampled_from([*CRITERIA]), st.data())
def test_include_comes_first_and_exclude_never(w: World, criterion: str, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(w.m)))
    include, exclude = order[: data.draw(st.integers(0, 2))], order[-data.draw(st.integers(1, 2)) :]
    k = w.m - len(exclude)
    result = choose(w, criterion, k, include=include, exclude=exclude)
    path = by_definition(w, criterion, k, include=include, exclude=exclude)
    assert result.indices[: len(include)].tolist() == include
    assert sorted(result.indices.tolist()) == sorted(set(range(w.m)) - set(exclude))
    # what is excluded is as if it were not there: renumber the rest, keeping the order
    left = [j for j in range(w.m) if j not in exclude]
    inner = choose(w.with_(X=w.X[:, left]), criterion, k, include=[left.index(j) for j in include])
    assert [left[j] for j in inner.indices] == result.indices.tolist()
    assert_greedy(inner, w.with_(X=w.X[:, left]), criterion, start=len(include))
    if criterion != "miq" and all(abs(m) <= TOL / 10 or m > CLEAR for m in path.margins[len(include) :]):
        assert result.indices.tolist() == path.indices
        assert result.scores.tolist() == pytest.approx(path.scores, abs=1e-10)


@given(worlds())
def test_ranking_and_searching_agree_for_relevance(w: World) -> None:
    ranked, searched = choose(w, "mim", strategy="rank"), choose(w, "mim", strategy="forward")
    assert ranked.indices.tolist() == searched.indices.tolist()
    assert np.array_equal(ranked.scores, searched.scores)


# ---- identities between criteria, by definition --------------------------------------------------------------------


@given(worlds(min_features=2), infos)
def test_jmi_sum_form_by_definition(w: World, info: str) -> None:
    """sum_s I(X_j X_s;Y) = |S| * normalised + sum_s I(X_s;Y)."""
    x, S, j = w.columns, list(range(1, w.m)), 0
    others = sum(mi(x[s], w.y, info=info) for s in S)
    other_form = len(S) * jmi_normalised(x, w.y, S, j, info=info) + others
    assert jmi(x, w.y, S, j, info=info) == pytest.approx(other_form, abs=1e-10)


@given(worlds(min_features=2), infos)
def test_cmim_is_informative_fragments_by_definition(w: World, info: str) -> None:
    x, S, j = w.columns, list(range(1, w.m)), 0
    fragments = informative_fragments(x, w.y, S, j, info=info)
    assert CRITERIA["cmim"](x, w.y, S, j, info=info) == pytest.approx(fragments, abs=1e-10)


@given(worlds(), st.booleans())
def test_lazy_cmim_is_eager_cmim_by_definition(w: World, marginal: bool) -> None:
    x = w.columns
    relevance = [mi(c, w.y) for c in x]
    lazy, state = lazy_cmim(relevance, lambda d, s: cmi(x[d], w.y, x[s]), w.m, marginal)
    eager = by_definition(w, "cmim", include_marginal=marginal)
    assert (lazy.indices, lazy.scores) == (eager.indices, eager.scores)
    assert state.asked <= w.m * (w.m - 1) // 2


# ---- the same identities, between results of the engine ------------------------------------------------------------


@given(worlds(min_features=2), infos)
def test_jmi_sum_form(w: World, info: str) -> None:
    x = w.columns
    result = choose(w, "jmi", info=info)
    chosen = result.indices.tolist()
    for t in range(1, len(chosen)):
        S, j = chosen[:t], chosen[t]
        others = sum(mi(x[s], w.y, info=info) for s in S)
        other_form = t * jmi_normalised(x, w.y, S, j, info=info) + others
        assert result.scores[t] == pytest.approx(other_form, abs=1e-10)


@given(worlds(min_features=2))
def test_cmim_is_informative_fragments(w: World) -> None:
    result = choose(w, "cmim")
    chosen = result.indices.tolist()
    conditional = matrix(w, "cmi_target")
    for t in range(1, len(chosen)):
        S, j = chosen[:t], chosen[t]
        assert result.scores[t] == pytest.approx(informative_fragments(w.columns, w.y, S, j), abs=1e-10)
        assert result.scores[t] == pytest.approx(conditional[j, S].min(), abs=1e-10)


@given(worlds(), infos, strengths)
def test_special_cases_of_beta_and_gamma(w: World, info: str, strength: float) -> None:
    cases: list[tuple[str, dict[str, float], float, float]] = [
        ("mim", {}, 0.0, 0.0),
        ("mifs", {"beta": strength}, strength, 0.0),
        ("mifs", {}, 1.0, 0.0),
        ("cife", {}, 1.0, 1.0),
        ("condred", {}, 0.0, 1.0),
    ]
    for name, params, beta, gamma in cases:
        general = choose(w, "betagamma", params={"beta": beta, "gamma": gamma}, info=info)
        special = choose(w, name, params=params or None, info=info)
        assert general.indices.tolist() == special.indices.tolist(), name
        assert general.scores == pytest.approx(special.scores, abs=1e-10), name


@given(worlds(min_features=2), infos)
def test_mrmr_and_jmi_are_linear_with_a_mean(w: World, info: str) -> None:
    """mRMR is (1/|S|, 0) by value; JMI ranks as (1/|S|, 1/|S|)."""
    for name, conditional in (("mrmr", 0.0), ("jmi", 1.0)):
        result = choose(w, name, info=info)
        chosen = result.indices.tolist()
        for t in range(1, len(chosen)):
            linear = {
                j: betagamma(w.columns, w.y, chosen[:t], j, 1 / t, conditional / t, info=info)
                for j in set(range(w.m)) - set(chosen[:t])
            }
            assert linear[chosen[t]] >= max(linear.values()) - 1e-10, name
            if name == "mrmr":
                assert result.scores[t] == pytest.approx(linear[chosen[t]], abs=1e-10)


@given(broad, infos, st.booleans())
def test_lazy_cmim_is_eager_cmim(w: World, info: str, marginal: bool) -> None:
    lazy, eager = (
        choose(w, "cmim", info=info, params={"include_marginal": marginal, "lazy": lazy})
        for lazy in (True, False)
    )
    assert lazy.indices.tolist() == eager.indices.tolist()
    assert np.array_equal(lazy.scores, eager.scores)  # to the last bit
    for a, b in zip(lazy.trace, eager.trace, strict=True):
        assert (a.feature, a.runner_up, a.margin, a.tie) == (b.feature, b.runner_up, b.margin, b.tie)


def test_lazy_cmim_leaves_tables_uncounted() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    w = World(
        np.where(rng.random((400, 64)) < np.linspace(0.9, 0, 64), y[:, None], rng.integers(0, 2, (400, 64))),
        y,
    )
    lazy, eager = (choose(w, "cmim", 10, params={"lazy": lazy}) for lazy in (True, False))
    assert lazy.indices.tolist() == eager.indices.tolist()
    assert np.array_equal(lazy.scores, eager.scores)
    assert 0 < lazy.facts["tables_counted"] < eager.facts["tables_counted"]


@given(worlds())
def test_cmi_adds_up_to_the_joint_information(w: World) -> None:
    """Chain rule: the scores sum to I(X_S;Y), at every length."""
    result = choose(w, "cmi")
    chosen = result.indices.tolist()
    joint = [joint_mi([w.columns[j] for j in chosen[: t + 1]], w.y) for t in range(len(chosen))]
    assert np.cumsum(result.scores) == pytest.approx(joint, abs=1e-10)


@given(worlds(), st.integers(1, 6))
def test_cmi_reports_the_joint_information_and_the_bound_of_fano(w: World, k: int) -> None:
    """Both are about everything that was selected, the last feature included."""
    result = choose(w, "cmi", min(k, w.m))
    chosen = [w.columns[j] for j in result.indices]
    assert result.facts["joint_information"] == pytest.approx(joint_mi(chosen, w.y), abs=1e-10)
    assert result.facts["fano_error_floor"] == pytest.approx(fano(chosen, w.y), abs=1e-10)


@given(worlds())
def test_cmim_is_no_more_than_any_of_its_terms(w: World) -> None:
    conditional = matrix(w, "cmi_target")
    result = choose(w, "cmim")
    for t, j in enumerate(result.indices[1:].tolist(), start=1):
        assert np.all(result.scores[t] <= conditional[j, result.indices[:t]] + 1e-10)
