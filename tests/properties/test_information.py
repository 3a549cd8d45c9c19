"""Laws of entropy and information: of the definitions themselves, and of `jifs.pairs` and the relevance scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.entropy import cmi, h, joint, joint_cmi, joint_mi, mi
from naive.search import rank
from numpy.typing import NDArray
from worlds import World, choose, matrix, worlds

INFOS = ["plugin", "miller_madow"]
infos = st.sampled_from(INFOS)
three = worlds(min_features=3)


def relevance(world: World, info: str = "plugin") -> NDArray[np.float64]:
    """I(X_j;Y) of every feature, from the engine's ranking by relevance."""
    result = choose(world, "mim", info=info)
    out = np.full(world.m, np.nan)
    out[result.indices] = result.scores
    return out


# ---- the definitions agree with each other -------------------------------------------------------------------------


@given(three, infos)
def test_definitions_follow_the_entropy_identities(w: World, info: str) -> None:
    x, z, t = w.columns[:3]
    y = w.y
    how = {"info": info}
    assert mi(x, y, **how) == pytest.approx(h(x, **how) + h(y, **how) - h(x, y, **how), abs=1e-10)
    four = h(x, z, **how) + h(y, z, **how) - h(x, y, z, **how) - h(z, **how)
    assert cmi(x, y, z, **how) == pytest.approx(four, abs=1e-10)
    assert mi(x, x, **how) == pytest.approx(h(x, **how), abs=1e-10)
    chain = mi(z, y, **how) + cmi(x, y, z, **how) + joint_cmi(t, y, [x, z], **how)
    assert joint_mi([x, z, t], y, **how) == pytest.approx(chain, abs=1e-10)


@given(three)
def test_conditional_information_is_the_mean_over_the_condition(w: World) -> None:
    x, z = w.columns[:2]
    parts = [(np.mean(z == v), mi(x[z == v], w.y[z == v])) for v in np.unique(z)]
    assert cmi(x, w.y, z) == pytest.approx(sum(p * i for p, i in parts), abs=1e-10)


@given(worlds())
def test_entropy_of_counted_rows(w: World) -> None:
    x = w.X[:, 0].tolist()
    p = np.array([x.count(v) / len(x) for v in set(x)])
    assert h(x) == pytest.approx(-(p * np.log(p)).sum(), abs=1e-10)
    assert h(x, info="miller_madow") == pytest.approx(h(x) + (len(p) - 1) / (2 * len(x)), abs=1e-10)
    assert h(joint(*w.columns)) == pytest.approx(h(*w.columns), abs=1e-10)


# ---- the engine agrees with the definitions ------------------------------------------------------------------------


@given(worlds(), infos)
def test_relevance_is_the_definition(w: World, info: str) -> None:
    expected = [mi(x, w.y, info=info) for x in w.columns]
    result = choose(w, "mim", info=info)
    assert relevance(w, info) == pytest.approx(expected, abs=1e-10)
    assert result.indices.tolist() == rank(expected, w.m)


@given(worlds(), infos)
def test_matrix_of_redundancy_is_the_definition(w: World, info: str) -> None:
    expected = np.array([[mi(a, b, info=info) for b in w.columns] for a in w.columns])
    assert matrix(w, "mi", info=info) == pytest.approx(expected, abs=1e-10)


@given(worlds(), infos)
def test_matrix_of_redundancy_within_classes_is_the_definition(w: World, info: str) -> None:
    expected = np.array([[cmi(a, b, w.y, info=info) for b in w.columns] for a in w.columns])
    assert matrix(w, "cmi", info=info) == pytest.approx(expected, abs=1e-10)


@given(worlds(), infos)
def test_matrix_of_conditional_relevance_is_the_definition(w: World, info: str) -> None:
    expected = np.array([[cmi(a, w.y, b, info=info) for b in w.columns] for a in w.columns])
    assert matrix(w, "cmi_target", info=info) == pytest.approx(expected, abs=1e-10)


# ---- the engine's numbers obey the laws ----------------------------------------------------------------------------


@given(worlds(), infos)
def test_conditional_relevance_splits(w: World, info: str) -> None:
    """I(X;Y|Z) = I(X;Y) - I(X;Z) + I(X;Z|Y), for every pair and on the diagonal."""
    split = relevance(w, info)[:, None] - matrix(w, "mi", info=info) + matrix(w, "cmi", info=info)
    assert matrix(w, "cmi_target", info=info) == pytest.approx(split, abs=1e-10)


@given(three)
def test_split_summed_over_a_set(w: World) -> None:
    """sum_s I(X;Y|X_s) = |S| I(X;Y) - sum_s [I(X;X_s) - I(X;X_s|Y)], the form of the theorem with a sum."""
    red, within, target = (matrix(w, which) for which in ("mi", "cmi", "cmi_target"))
    j, S = 0, list(range(1, w.m))
    summed = len(S) * relevance(w)[j] - (red[j, S] - within[j, S]).sum()
    assert target[j, S].sum() == pytest.approx(summed, abs=1e-10)


@given(worlds())
def test_plugin_information_is_never_negative(w: World) -> None:
    assert relevance(w).min() >= 0
    for which in ("mi", "cmi", "cmi_target"):
        assert matrix(w, which).min() >= 0, which


@given(worlds(), infos)
def test_matrices_are_symmetric_where_the_quantity_is(w: World, info: str) -> None:
    for which in ("mi", "cmi"):
        values = matrix(w, which, info=info)
        assert values.shape == (w.m, w.m)
        assert np.array_equal(values, values.T), which


@given(worlds())
def test_information_is_bounded_by_entropies(w: World) -> None:
    entropies = np.array([h(x) for x in w.columns])
    red = matrix(w, "mi")
    assert np.diagonal(red) == pytest.approx(entropies, abs=1e-10)
    assert np.all(red <= np.minimum.outer(entropies, entropies) + 1e-10)
    assert np.all(relevance(w) <= np.minimum(entropies, h(w.y)) + 1e-10)
    assert np.all(matrix(w, "cmi_target") <= h(w.y) + 1e-10)
    assert np.diagonal(matrix(w, "cmi_target")) == pytest.approx(np.zeros(w.m), abs=1e-12)
