"""The desk: answers are remembered and forgotten without a change, joint states, and when nothing is left to know."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive.entropy import joint

import jifs
from jifs.errors import MismatchError
from jifs.stats import base
from jifs.stats.base import Stats

SEEDS = st.integers(0, 2**32 - 1)


def desk(X, y, **how):
    return Stats(jifs.memory(np.asarray(X), np.asarray(y), bins="none", task="class", **how))


# ------------------------------------------------------------------------------------------------------- memory


def test_an_answer_is_made_once():
    stats, made = desk([[0], [1]], [0, 1]), []
    for _ in range(3):
        assert stats.remember("key", lambda: made.append(1) or 7) == 7
    assert made == [1]
    assert stats.remembers("key")
    assert not stats.remembers("other")


def test_the_oldest_answers_go_first(monkeypatch):
    monkeypatch.setattr(base, "REMEMBERED_BYTES", 3 * 800)
    stats = desk([[0], [1]], [0, 1])
    for key in "abc":
        stats.remember(key, lambda: np.zeros(100))
    stats.remember("a", lambda: pytest.fail("still remembered"))  # used again, so now the youngest
    stats.remember("d", lambda: np.zeros(100))
    assert [key for key in "abcd" if stats.remembers(key)] == ["a", "c", "d"]


def test_a_pair_of_arrays_counts_with_all_its_bytes(monkeypatch):
    monkeypatch.setattr(base, "REMEMBERED_BYTES", 1000)
    stats = desk([[0], [1]], [0, 1])
    stats.remember("a", lambda: (np.zeros(50), np.zeros(50)))
    stats.remember("b", lambda: (np.zeros(50), np.zeros(50)))
    assert not stats.remembers("a")
    assert stats.remembers("b")


def test_one_answer_over_the_limit_is_still_an_answer(monkeypatch):
    monkeypatch.setattr(base, "REMEMBERED_BYTES", 10)
    stats = desk([[0], [1]], [0, 1])
    assert stats.remember("a", lambda: np.arange(100)).sum() == 4950
    assert stats.remembers("a")
    assert stats.remember("b", lambda: 5) == 5


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "cmim", "disr"])
def test_forgetting_changes_no_selection(monkeypatch, criterion):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (200, 30)), rng.integers(0, 3, 200)
    X[:, :9] = np.where(rng.random((200, 9)) < 0.4, y[:, None], X[:, :9])
    expected = jifs.select(X, y, k=12, criterion=criterion)
    monkeypatch.setattr(base, "REMEMBERED_BYTES", 1)
    found = jifs.select(X, y, k=12, criterion=criterion)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.scores.tobytes() == expected.scores.tobytes()


# -------------------------------------------------------------------------------------------------- joint states


@given(SEEDS, st.integers(1, 60), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_a_joint_state_is_the_partition_of_its_columns(seed, n, cards):
    rng = np.random.default_rng(seed)
    X, y = np.stack([rng.integers(0, r, n + 1) for r in cards], axis=1), rng.integers(0, 3, n + 1)
    stats, state = desk(X, y), None
    order = stats.source.batch.order
    for k in range(len(cards)):
        state = stats.join(state, k)
        own = state.codes[: n + 1]
        assert sorted(set(own.tolist())) == list(range(state.levels))
        assert joint(own).tolist() == joint(*X[order, : k + 1].T).tolist()


def test_a_joint_state_of_very_many_levels():
    n = 1000
    X = np.stack([np.arange(n) // 30, np.arange(n) % 30, np.arange(n) % 7], axis=1)
    stats = desk(X, np.arange(n) % 2)
    state = stats.join(stats.join(stats.join(None, 0), 1), 2)
    assert state.levels == n
    assert sorted(state.codes[:n].tolist()) == list(range(n))


# --------------------------------------------------------------------------------------------- nothing left to know


def nothing_left(columns, y, chosen, rest):
    """Every state of the chosen holds one class, or each other feature has one value in it."""
    z = joint(*columns[chosen]) if chosen else np.zeros(len(y), int)
    mixed = [z == a for a in set(z.tolist()) if len(set(y[z == a].tolist())) > 1]
    return all(len(set(columns[j][rows].tolist())) == 1 for rows in mixed for j in rest)


@given(SEEDS, st.integers(2, 25), st.integers(2, 5), st.sampled_from([1, 2, 3]), st.booleans())
@example(0, 8, 3, 1, False)
@example(1, 4, 2, 3, True)
def test_nothing_left(seed, n, m, levels, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, m))
    X[:, -1] = X[:, 0] * X[:, m // 2]  # nothing of its own beside the two
    y = rng.integers(0, 2, n) if rng.random() < 0.4 else X[:, : rng.integers(1, m)].sum(axis=1)
    weights = rng.choice([0.0, 0.5, 1.0, 0.3], n) if weighted else np.ones(n, int)
    weights[0] = weights[0] or 0.5
    stats, used = desk(X, y, sample_weight=weights), weights > 0
    chosen = rng.permutation(m)[: rng.integers(0, m)].tolist()
    rest = [j for j in range(m) if j not in chosen]
    state = None
    for k in chosen:
        state = stats.join(state, k)
    expected = nothing_left(X[used].T, y[used], chosen, rest)
    assert stats.nothing_left(state, np.array(rest)) == expected


def test_nothing_left_when_every_state_is_decided():
    stats = desk([[0, 1], [1, 0], [0, 0], [1, 1]], [0, 1, 0, 1])
    assert stats.nothing_left(stats.join(None, 0), np.array([1]))
    assert not stats.nothing_left(stats.join(None, 1), np.array([0]))
    assert not stats.nothing_left(None, np.array([0, 1]))
    assert stats.nothing_left(None, np.array([1])) is False  # it varies where the class is undecided
    assert desk([[0, 1], [1, 0]], [0, 0]).nothing_left(None, np.array([0, 1]))  # one class only


def test_nothing_left_with_many_levels():
    n = 600
    stats = desk(np.stack([np.arange(n), np.arange(n) // 2], axis=1), np.arange(n) % 2)
    assert stats.nothing_left(stats.join(None, 0), np.array([1]))
    assert not stats.nothing_left(stats.join(None, 1), np.array([0]))


# ---------------------------------------------------------------------------------------- a source without its rows


def test_a_source_without_rows_in_memory_says_so():
    stream = SimpleNamespace(seconds=0.0, batch=None, m=1)
    stats = Stats(stream)
    for ask in (
        lambda: stats.join(None, 0),
        lambda: stats.nothing_left(None, np.array([0])),
        lambda: stats.chosen(0),
    ):
        with pytest.raises(MismatchError, match="rows in memory"):
            ask()
    assert stats.planes() is None
