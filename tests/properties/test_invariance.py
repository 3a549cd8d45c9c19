"""What must not matter: labels, order, memory layout, number type, threads, how weight is written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.criteria import CRITERIA
from naive.entropy import cmi, mi
from naive.search import TOL
from worlds import World, by_definition, choose, matrix, names, wide_worlds, worlds

infos = st.sampled_from(["plugin", "miller_madow"])
matrices = st.sampled_from(["mi", "cmi", "cmi_target"])
seeds = st.integers(0, 2**32 - 1)
# miq divides by nearly 0 where nothing is redundant, so rounding alone can break its ties: only bit-equal input there
steady = names("miq")
any_criterion = names()
small = worlds(max_rows=65)
broad = st.one_of(worlds(), wide_worlds())


def assert_same(a: Any, b: Any) -> None:
    """Equal to the last bit."""
    assert a.indices.tolist() == b.indices.tolist()
    assert np.array_equal(a.scores, b.scores)


def assert_alike(a: Any, b: Any) -> None:
    """Equal but for rounding."""
    assert a.indices.tolist() == b.indices.tolist()
    assert a.scores == pytest.approx(b.scores, rel=1e-10, abs=1e-10)


def relabelled(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same partition of the rows under random labels."""
    levels, codes = np.unique(column, return_inverse=True)
    return rng.choice(np.arange(-3 * len(levels), 3 * len(levels)), len(levels), replace=False)[codes.ravel()]


@st.composite
def weighted(draw: Any, values: st.SearchStrategy[Any]) -> tuple[World, np.ndarray]:
    """A world and a weight per row, at least two rows of some weight."""
    w = draw(small)
    weight = np.array(draw(st.lists(values, min_size=w.n, max_size=w.n)))
    weight[:2] = np.maximum(weight[:2], 1)
    return w, weight


whole = st.integers(0, 3)
real = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.5, 7.0])


# ---- labels and order ----------------------------------------------------------------------------------------------


@given(broad, steady, infos, seeds)
def test_labels_do_not_matter(w: World, criterion: str, info: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    other = World(np.stack([relabelled(x, rng) for x in w.columns], axis=1), relabelled(w.y, rng))
    assert_alike(choose(w, criterion, info=info), choose(other, criterion, info=info))


@given(broad, steady, infos, seeds)
def test_order_of_rows_does_not_matter(w: World, criterion: str, info: str, seed: int) -> None:
    rows = np.random.default_rng(seed).permutation(w.n)
    assert_alike(choose(w, criterion, info=info), choose(World(w.X[rows], w.y[rows]), criterion, info=info))


@given(worlds(), matrices, infos, seeds)
def test_labels_and_order_do_not_matter_to_matrices(w: World, which: str, info: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(w.n), rng.permutation(w.m)
    X = np.stack([relabelled(x, rng) for x in w.columns], axis=1)
    other = World(X[np.ix_(rows, columns)], relabelled(w.y, rng)[rows])
    expected = matrix(w, which, info=info)[np.ix_(columns, columns)]
    assert matrix(other, which, info=info) == pytest.approx(expected, abs=1e-10)


@given(worlds(), steady, seeds)
def test_permuted_columns_permute_the_answer(w: World, criterion: str, seed: int) -> None:
    """Up to the first tie, where the lowest index wins and the two may part."""
    columns = np.random.default_rng(seed).permutation(w.m)
    a, b = choose(w, criterion), choose(w.with_(X=w.X[:, columns]), criterion)
    margins = by_definition(w, criterion).margins
    clear = next((t for t, margin in enumerate(margins) if margin < 1e-9), len(margins))
    assert columns[b.indices[:clear]].tolist() == a.indices[:clear].tolist()
    upto = min(clear + 1, len(margins))  # the tied step has the same best score, whoever takes it
    assert b.scores[:upto] == pytest.approx(a.scores[:upto], abs=1e-10)


@given(worlds(max_features=4), any_criterion, infos, st.data())
def test_an_exact_copy_never_beats_its_original(
    w: World, criterion: str, info: str, data: st.DataObject
) -> None:
    j = data.draw(st.integers(0, w.m - 1))
    doubled = w.with_(X=np.column_stack([w.X, w.X[:, j]]))
    order = choose(doubled, criterion, info=info).indices.tolist()
    assert order.index(j) < order.index(w.m)


@given(worlds(max_features=4), steady, infos, seeds, st.data())
def test_a_relabelled_copy_never_beats_its_original(
    w: World, criterion: str, info: str, seed: int, data: st.DataObject
) -> None:
    j = data.draw(st.integers(0, w.m - 1))
    copy = relabelled(w.X[:, j], np.random.default_rng(seed))
    order = choose(w.with_(X=np.column_stack([w.X, copy])), criterion, info=info).indices.tolist()
    assert order.index(j) < order.index(w.m)


# ---- how the same table is written down ----------------------------------------------------------------------------


@given(worlds(), any_criterion)
def test_whole_floats_are_integers(w: World, criterion: str) -> None:
    assert_same(choose(w, criterion), choose(w.with_(X=w.X.astype(np.float64)), criterion))


@given(
    worlds(max_rows=127, relabel=False),
    any_criterion,
    st.sampled_from([np.int8, np.uint8, np.int32, np.float32]),
)
def test_number_type_does_not_matter(w: World, criterion: str, dtype: type) -> None:
    assert_same(choose(w, criterion), choose(w.with_(X=w.X.astype(dtype)), criterion))


@given(worlds(relabel=False), any_criterion)
def test_booleans_are_two_levels(w: World, criterion: str) -> None:
    truth = w.with_(X=w.X % 2 == 1)
    assert_same(choose(truth, criterion), choose(w.with_(X=w.X % 2), criterion))


@given(worlds(), any_criterion)
def test_memory_layout_does_not_matter(w: World, criterion: str) -> None:
    plain = choose(w, criterion)
    assert_same(plain, choose(w.with_(X=np.asfortranarray(w.X)), criterion))
    spaced = np.repeat(np.repeat(w.X, 2, axis=0), 3, axis=1)[::2, ::3]  # a view with gaps
    assert_same(plain, choose(w.with_(X=spaced), criterion))


@given(worlds(), steady)
def test_string_classes_are_classes(w: World, criterion: str) -> None:
    spoken = w.with_(y=np.array([f"class {label}" for label in w.y]))
    assert_alike(choose(w, criterion), choose(spoken, criterion, task=None))


@given(broad, any_criterion, infos)
def test_number_of_threads_does_not_matter(w: World, criterion: str, info: str) -> None:
    assert_same(choose(w, criterion, info=info, n_jobs=1), choose(w, criterion, info=info, n_jobs=2))


@given(broad, matrices, infos)
def test_number_of_threads_does_not_matter_to_matrices(w: World, which: str, info: str) -> None:
    assert np.array_equal(matrix(w, which, info=info, n_jobs=1), matrix(w, which, info=info, n_jobs=2))


@given(worlds(), any_criterion)
def test_the_table_is_left_as_it_was(w: World, criterion: str) -> None:
    X, y = w.X.copy(), w.y.copy()
    choose(w, criterion)
    assert np.array_equal(w.X, X)
    assert np.array_equal(w.y, y)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_same_twice(criterion: str) -> None:
    rng = np.random.default_rng(5)
    w = World(rng.integers(0, 4, (150, 12)), rng.integers(0, 3, 150))
    assert_same(choose(w, criterion, random_state=1), choose(w, criterion, random_state=2))


# ---- weights -------------------------------------------------------------------------------------------------------


@given(weighted(whole), steady, infos)
def test_whole_weights_are_repeated_rows(given_: tuple[World, np.ndarray], criterion: str, info: str) -> None:
    w, weight = given_
    repeated = World(np.repeat(w.X, weight, axis=0), np.repeat(w.y, weight))
    expected = choose(repeated, criterion, info=info)
    assert_alike(choose(w, criterion, info=info, sample_weight=weight), expected)
    assert_alike(choose(w, criterion, info=info, sample_weight=weight.astype(float)), expected)


@given(weighted(st.booleans()), steady, infos)
def test_weight_0_is_no_row(given_: tuple[World, np.ndarray], criterion: str, info: str) -> None:
    w, keep = given_
    kept = World(w.X[keep], w.y[keep])
    assert_alike(
        choose(w, criterion, info=info, sample_weight=keep.astype(int)), choose(kept, criterion, info=info)
    )


@given(weighted(real), st.sampled_from([0.125, 3.7, 1e3, 1e-3]), steady)
def test_the_unit_of_weight_does_not_matter(
    given_: tuple[World, np.ndarray], unit: float, criterion: str
) -> None:
    w, weight = given_
    scaled = choose(w, criterion, sample_weight=weight * unit)
    assert_alike(choose(w, criterion, sample_weight=weight), scaled)


@given(weighted(real), steady)
def test_real_weights_follow_the_definition(given_: tuple[World, np.ndarray], criterion: str) -> None:
    w, weight = given_
    result = choose(w, criterion, sample_weight=weight)
    path = by_definition(w, criterion, weights=weight)
    if all(abs(m) <= TOL / 10 or m > 1e-9 for m in path.margins):
        assert result.indices.tolist() == path.indices
        assert result.scores == pytest.approx(path.scores, abs=1e-10)


@given(weighted(real))
def test_matrices_with_real_weights(given_: tuple[World, np.ndarray]) -> None:
    w, weight = given_
    x, y = w.columns, w.y
    definitions = {
        "mi": lambda a, b: mi(a, b, weight),
        "cmi": lambda a, b: cmi(a, b, y, weight),
        "cmi_target": lambda a, b: cmi(a, y, b, weight),
    }
    for which, quantity in definitions.items():
        expected = np.array([[quantity(a, b) for b in x] for a in x])
        assert matrix(w, which, sample_weight=weight) == pytest.approx(expected, abs=1e-10), which
