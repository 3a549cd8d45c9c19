"""Rows in memory: encoded once, counted whole, used by many at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from worlds import World

import jifs
from jifs.errors import InputError
from jifs.sources import memory as module
from jifs.sources.memory import MemorySource
from jifs.stats.counts import ClassCounts, PairCounts
from jifs.stats.moments import Moments, Products
from jifs.table import as_table

# one column of this world has nearly as many values as there are rows, on purpose
pytestmark = pytest.mark.filterwarnings("ignore:feature .* different values in:jifs.JifsWarning")


def random_world(
    n: int = 200, levels: tuple[int, ...] = (2, 3, 5, 2, 40, 300, 2, 3, 10, 2), seed: int = 0
) -> World:
    rng = np.random.default_rng(seed)
    return World(np.column_stack([rng.integers(0, r, n) for r in levels]), rng.integers(0, 3, n))


W = random_world()


def table(x: np.ndarray, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Counts by class, level of x and level of z, one row at a time."""
    x, z, y = (np.unique(c, return_inverse=True)[1] for c in (x, z, y))
    out = np.zeros((y.max() + 1, x.max() + 1, z.max() + 1), int)
    for cell in zip(y, x, z, strict=True):
        out[cell] += 1
    return out


def test_the_schema() -> None:
    source = jifs.memory(W.X, W.y, bins="none")
    assert (source.n, source.m, source.classes, source.size) == (200, 10, 3, 200.0)
    assert source.cards.tolist() == [len(np.unique(x)) for x in W.columns]
    assert (source.target_kind, source.labels) == ("class", (0, 1, 2))
    assert source.name_of(3) == "x3"
    assert source.seconds >= 0
    assert source.batch is not None
    assert repr(source) == "<jifs source in memory: 200 rows, 10 features, 3 classes>"


def test_names_and_labels_are_kept() -> None:
    frame = {"a": [0, 1, 0, 1], "b": ["u", "v", "u", "u"], "target": ["yes", "no", "no", "yes"]}
    source = jifs.memory(frame, "target")
    assert [source.name_of(j) for j in range(source.m)] == ["a", "b"]
    assert source.labels == ("no", "yes")


def test_without_a_target_and_with_a_real_one() -> None:
    assert jifs.memory(W.X).target_kind == "none"
    real = jifs.memory(W.X, np.linspace(0, 1, W.n))
    assert (real.target_kind, real.labels) == ("real", ())


def test_reduce_counts_every_row_and_gives_the_statistic_back() -> None:
    source = jifs.memory(W.X, W.y, bins="none")
    statistic = PairCounts(None, 0, source.layout.blocks)
    assert source.reduce(statistic) is statistic
    assert statistic.cells is not None
    for j, x in enumerate(W.columns):
        found = source.layout.table_of(statistic.cells, j, source.classes, 1)
        assert np.array_equal(found, table(x, np.zeros(W.n, int), W.y))
    source.reduce(statistic)  # a second time adds them again
    again = source.layout.table_of(statistic.cells, 0, source.classes, 1)
    assert again.sum() == 2 * W.n


@pytest.mark.parametrize("k", [0, 2, 8])
def test_reduce_counts_pairs(k: int) -> None:
    narrow = World(W.X[:, [0, 1, 2, 3, 6, 7, 8, 9, 4]], W.y)
    source = jifs.memory(narrow.X, narrow.y, bins="none")
    blocks = source.layout.blocks
    cells = source.reduce(PairCounts(k, 0, blocks)).cells
    assert cells is not None
    for j, x in enumerate(narrow.columns):
        found = source.layout.table_of(cells, j, source.classes, int(source.cards[k]))
        assert np.array_equal(found, table(x, narrow.columns[k], narrow.y))


def test_halves_merge_to_the_whole() -> None:
    """Rows of two batches of one schema, counted apart and added."""
    levels = np.column_stack([np.arange(6) % r for r in (2, 3, 5)])  # every level occurs in both halves
    rng = np.random.default_rng(3)
    X = np.vstack([levels, rng.integers(0, 2, (40, 3)), levels, rng.integers(0, 2, (30, 3))])
    y = np.concatenate([np.arange(46) % 2, np.arange(36) % 2])
    whole, first, second = (jifs.memory(X[s], y[s], bins="none") for s in (np.s_[:], np.s_[:46], np.s_[46:]))
    for make in (
        ClassCounts,
        lambda: PairCounts(None, 0, whole.layout.blocks),
        lambda: PairCounts(2, 0, whole.layout.blocks),
    ):
        one, other = first.reduce(make()), second.reduce(make())
        one.merge(other)
        one.merge(make())  # nothing counted, nothing added
        assert np.array_equal(one.cells, whole.reduce(make()).cells)


def test_what_was_learned_applies_to_new_rows() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=100), rng.integers(0, 4, 100)])
    y = np.arange(100) % 2
    source = jifs.memory(X, y, bins=4)
    codes = source.encoding.apply(as_table(X))
    assert codes.shape == (2, 100)
    assert [len(np.unique(c)) for c in codes] == source.cards.tolist() == [4, 4]
    order = np.argsort(X[:, 0])
    assert (np.diff(codes[0][order]) >= 0).all()
    assert not source.encoding.is_discrete(0)
    assert source.encoding.is_discrete(1)


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """The calls of a function that a source makes its rows with."""
    calls: list[Any] = []
    real = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: calls.append(args) or real(*args))
    return calls


def test_the_data_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, "encode")
    source = jifs.memory(W.X, W.y, bins="none")
    for criterion in ("jmi", "mim", "cmim"):
        jifs.select(source, k=3, criterion=criterion)
    jifs.pairs(source, which="cmi")
    assert len(calls) == 1


def test_the_data_are_centred_once_and_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, "centre")
    source = jifs.memory(W.X, W.y, bins="none")
    jifs.select(source, k=3)
    assert not calls
    for criterion in ("gc_mi", "gkl_mi", "gc_e"):
        jifs.select(source, k=3, criterion=criterion)
    assert len(calls) == 1
    assert source.values is source.values


def test_who_reads_numbers_makes_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, "encode")
    source = MemorySource(as_table(W.X, W.y))
    assert (source.n, source.m, source.classes, source.size, source.mass) == (200, 10, 3, 200.0, 200.0)
    assert not source.encoded
    moments = source.reduce(Moments())
    assert moments.rows.tolist() == np.bincount(W.y).tolist()
    assert source.reduce(Products(0)).cells is not None
    result = jifs.select(source, k=3, criterion="gc_mi")
    assert result.facts["columns"] == {"numbers": 10}
    assert source.lost_columns() == []
    assert not source.encoded
    assert not calls
    assert source.reduce(ClassCounts()).cells is not None  # and who reads codes makes them
    assert source.encoded
    assert len(calls) == 1


def test_making_the_rows_takes_time_once() -> None:
    source = MemorySource(as_table(W.X, W.y), seconds=5.0)
    before = source.seconds
    assert before >= 5.0
    _ = source.values
    after = source.seconds
    assert after > before
    _ = source.values
    assert source.seconds == after
    _ = source.batch
    assert source.seconds > after
    later = source.seconds
    _ = source.batch, source.encoding, source.cards, source.layout
    assert source.seconds == later


def test_a_column_of_text_stops_only_those_who_need_numbers() -> None:
    rng = np.random.default_rng(2)
    frame = {"a": rng.normal(size=40), "b": rng.choice(["u", "v"], 40), "c": rng.normal(size=40)}
    source = jifs.memory(frame, np.arange(40) % 2)
    assert jifs.select(source, k=3).indices.size == 3
    for _ in range(2):  # a refusal is not remembered as an answer
        with pytest.raises(InputError, match="column 'b' holds text"):
            jifs.select(source, k=2, criterion="gc_mi")
    assert jifs.select(source, k=3).indices.size == 3


def test_codes_and_numbers_are_of_the_same_rows() -> None:
    weight = np.arange(W.n) % 3
    weight[W.y == 1] = 0
    source = jifs.memory(W.X, W.y, bins="none", sample_weight=weight)
    moments = source.reduce(Moments())
    cells = source.reduce(ClassCounts()).cells
    assert source.labels == (0, 2)
    assert cells is not None
    np.testing.assert_allclose(moments.mass / moments.mass.sum(), cells / cells.sum(), rtol=1e-15)
    assert moments.rows.tolist() == [int(((W.y == c) & (weight > 0)).sum()) for c in source.labels]


def test_many_may_ask_for_numbers_at_once() -> None:
    source = MemorySource(as_table(W.X, W.y))
    alone = jifs.select(W.X, W.y, 4, "gc_mi")
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: jifs.select(source, k=4, criterion="gc_mi"), range(12)))
    assert all(result.same_as(alone) for result in found)


@pytest.mark.parametrize("criterion", ["jmi", "cmim", "cmi", "disr"])
def test_one_use_leaves_no_trace_in_the_next(criterion: str) -> None:
    alone = jifs.select(W.X, W.y, 5, criterion, bins="none")
    source = jifs.memory(W.X, W.y, bins="none")
    for other in ("cmi", "jmi", "cmim", "mrmr", "mim"):
        jifs.select(source, k=6, criterion=other, include=[4], exclude=[0])
        jifs.select(source, k=6, criterion=other, info="miller_madow")
    again = jifs.select(source, k=5, criterion=criterion)
    assert again.same_as(alone)
    assert again.trace == alone.trace
    assert (
        again.facts["tables_counted"] == alone.facts["tables_counted"]
    )  # nothing is remembered between runs


def test_many_may_ask_at_once() -> None:
    source = jifs.memory(W.X, W.y, bins="none")
    names = ["jmi", "cmim", "disr", "cmi", "mrmr", "mim"] * 3
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda name: jifs.select(source, k=5, criterion=name), names))
    for name, result in zip(names, found, strict=True):
        assert result.same_as(jifs.select(W.X, W.y, 5, name, bins="none"))


def test_the_users_table_is_not_touched_and_not_watched() -> None:
    X, y = W.X.copy(), W.y.copy()
    source = jifs.memory(X, y, bins="none")
    before = jifs.select(source, k=4)
    X[:] = 0
    y[:] = 0
    assert jifs.select(source, k=4).same_as(before)


def test_weights_are_part_of_a_source() -> None:
    weight = np.arange(W.n) % 3
    source = jifs.memory(W.X, W.y, bins="none", sample_weight=weight)
    assert source.n == weight.sum() == source.size
    assert jifs.select(source, k=4).same_as(jifs.select(W.X, W.y, 4, bins="none", sample_weight=weight))
    real = jifs.memory(W.X, W.y, bins="none", sample_weight=weight / 2)
    assert real.size == weight.sum() / 2
    assert real.n == (weight > 0).sum()


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_threads_change_nothing(n_jobs: int | None) -> None:
    source = jifs.memory(W.X, W.y, bins="none", n_jobs=n_jobs)
    assert np.array_equal(source.batch.narrow, jifs.memory(W.X, W.y, bins="none").batch.narrow)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="n_jobs"):
        jifs.memory(W.X, W.y, n_jobs=0)
    with pytest.raises(InputError, match="bins"):
        jifs.memory(W.X, W.y, bins="nine")
    with pytest.raises(InputError, match="task"):
        jifs.memory(W.X, W.y, task="both")
