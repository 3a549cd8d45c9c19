"""Plug-in and Miller-Madow information against the definitions, on columns of every width; and the base of them all."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from naive.criteria import CRITERIA
from naive.entropy import cmi, h, joint, joint_mi, mi
from naive.search import winner
from worlds import World

import jifs
from jifs import registry
from jifs.errors import MismatchError
from jifs.estimators import discrete
from jifs.estimators.base import Info
from jifs.estimators.discrete import MillerMadow, PlugIn

INFOS = ["plugin", "miller_madow"]


def desk(world: World, **more: Any) -> jifs.Stats:
    return jifs.Stats(jifs.memory(world.X, world.y, bins="none", task="class", **more))


def columns(n: int, levels: list[int], rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([rng.integers(0, r, n) for r in levels])


def make_worlds() -> dict[str, World]:
    """Worlds that go every way of counting: planes, histograms, groups of rows, and mixtures of them."""
    rng = np.random.default_rng(8)
    n = 700
    y = rng.integers(0, 3, n)
    narrow = columns(n, [2, 2, 3, 5, 10, 16, 1, 2, 4], rng)
    narrow[:, 7] = y % 2
    ids = np.arange(n)
    wide = columns(n, [2, 64, 65, 255, 256, 257, 300, 600, 3], rng)
    wide[:, 5] = ids % 257
    wide[:, 6] = ids % 300
    return {
        "narrow": World(narrow, y),
        "wide": World(wide, y),
        "ids": World(np.column_stack([ids, ids[::-1] // 2, y, rng.integers(0, 2, n), rng.permutation(n)]), y),
        "many classes": World(columns(n, [2, 3, 40, 300, 5], rng), ids % 300),
        "classes of one row": World(columns(40, [2, 3, 40], rng), np.arange(40)),
        "a lonely class": World(narrow[:130], np.where(ids[:130] == 77, 9, y[:130] % 2)),
        "two rows": World(np.array([[0, 1, 5], [0, 2, 5]]), np.array([0, 1])),
        "one class": World(narrow[:50], np.zeros(50, int)),
    }


WORLDS = make_worlds()
every_world = pytest.mark.parametrize("name", WORLDS)
every_info = pytest.mark.parametrize("info", INFOS)


# ---- each question -------------------------------------------------------------------------------------------------


@every_world
@every_info
def test_questions_about_one_feature(name: str, info: str) -> None:
    w = WORLDS[name]
    ask, stats = jifs.info(info), desk(w)
    assert ask.relevance(stats) == pytest.approx([mi(x, w.y, info=info) for x in w.columns], abs=1e-10)
    assert ask.entropy(stats) == pytest.approx([h(x, info=info) for x in w.columns], abs=1e-10)
    assert ask.target_entropy(stats) == pytest.approx(h(w.y, info=info), abs=1e-10)


@every_world
@every_info
def test_questions_about_two_features(name: str, info: str) -> None:
    w = WORLDS[name]
    x, y, how = w.columns, w.y, {"info": info}
    ask, stats = jifs.info(info), desk(w)
    for k in range(w.m):
        definitions = {
            "redundancy": [mi(a, x[k], **how) for a in x],
            "conditional": [cmi(a, x[k], y, **how) for a in x],
            "relevance_given": [cmi(a, y, x[k], **how) for a in x],
            "joint_relevance": [joint_mi([a, x[k]], y, **how) for a in x],
            "joint_entropy": [h(a, x[k], y, **how) for a in x],
        }
        for question, expected in definitions.items():
            assert getattr(ask, question)(stats, k) == pytest.approx(expected, abs=1e-10), (question, k)


@every_world
@every_info
def test_a_question_does_not_depend_on_those_before_it(name: str, info: str) -> None:
    """The redundancy may be counted alone, or learned on the way to the conditional one: the same to the last bit."""
    w = WORLDS[name]
    ask = jifs.info(info)
    for k in range(w.m):
        alone, after = desk(w), desk(w)
        ask.conditional(after, k)
        assert ask.redundancy(alone, k) == pytest.approx(ask.redundancy(after, k), rel=0, abs=1e-13)
        before = ask.redundancy(after, k)
        ask.relevance_given(after, k)
        assert np.array_equal(before, ask.redundancy(after, k))


@every_world
@every_info
def test_information_given_a_joint_state(name: str, info: str) -> None:
    w = WORLDS[name]
    ask, stats = jifs.info(info), desk(w)
    state, S = None, []
    for k in [*range(min(w.m, 4)), 0]:
        state = stats.join(state, k)
        S.append(w.columns[k])
        expected = [cmi(x, w.y, joint(*S), info=info) for x in w.columns]
        assert ask.relevance_given_state(stats, state) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", ["narrow", "wide", "many classes"])
def test_real_weights(name: str) -> None:
    w = WORLDS[name]
    weight = np.random.default_rng(1).choice([0.0, 0.25, 0.5, 1.0, 3.5], w.n)
    x, y, how = w.columns, w.y, {"weights": weight}
    ask, stats = jifs.info("plugin"), desk(w, sample_weight=weight)
    assert ask.relevance(stats) == pytest.approx([mi(a, y, **how) for a in x], abs=1e-10)
    for k in range(w.m):
        assert ask.conditional(stats, k) == pytest.approx([cmi(a, x[k], y, **how) for a in x], abs=1e-10)
        assert ask.joint_entropy(stats, k) == pytest.approx([h(a, x[k], y, **how) for a in x], abs=1e-10)


@every_info
@pytest.mark.parametrize("name", ["narrow", "wide", "many classes"])
def test_whole_weights_too_many_to_repeat_the_rows(name: str, info: str) -> None:
    w = WORLDS[name]
    weight = np.random.default_rng(2).integers(0, 30, w.n) * 100_000
    x, y, how = w.columns, w.y, {"weights": weight, "info": info}
    ask, stats = jifs.info(info), desk(w, sample_weight=weight)
    assert stats.source.batch.weights is not None
    assert ask.relevance(stats) == pytest.approx([mi(a, y, **how) for a in x], abs=1e-10)
    for k in (0, w.m - 1):
        expected = [cmi(a, y, x[k], **how) for a in x]
        assert ask.relevance_given(stats, k) == pytest.approx(expected, abs=1e-10)


def test_two_estimators_at_one_desk_keep_to_themselves() -> None:
    w = WORLDS["narrow"]
    for order in (INFOS, INFOS[::-1]):
        stats = desk(w)
        for info in [*order, order[0]]:
            ask, how = jifs.info(info), {"info": info}
            assert ask.relevance(stats) == pytest.approx([mi(x, w.y, **how) for x in w.columns], abs=1e-10)
            assert ask.redundancy(stats, 4) == pytest.approx(
                [mi(x, w.columns[4], **how) for x in w.columns], abs=1e-10
            )


# ---- edges ---------------------------------------------------------------------------------------------------------


def test_plugin_information_is_exactly_zero_where_there_is_none() -> None:
    """A constant tells nothing and costs nothing, without a trace of rounding: ties depend on it."""
    for name in ("narrow", "one class"):
        w = WORLDS[name]
        X = w.X.copy()
        X[:, [1, 3]] = 4
        ask, stats = jifs.info("plugin"), desk(World(X, w.y))
        for k in range(w.m):
            for question in (ask.redundancy, ask.conditional, ask.relevance_given):
                assert (question(stats, k)[[1, 3]] == 0).all()
        assert (ask.relevance(stats)[[1, 3]] == 0).all()
        assert (ask.relevance_given(stats, 1) == ask.relevance(stats)).all()


@every_info
def test_copies_get_the_same_bits(info: str) -> None:
    w = WORLDS["wide"]
    twice = World(np.column_stack([w.X, w.X]), w.y)
    ask, stats = jifs.info(info), desk(twice)
    relevance = ask.relevance(stats)
    assert np.array_equal(relevance[: w.m], relevance[w.m :])
    for k in (0, 4, w.m + 7):
        for question in (ask.redundancy, ask.conditional, ask.relevance_given, ask.joint_entropy):
            answer = question(stats, k)
            assert np.array_equal(answer[: w.m], answer[w.m :])


def test_a_feature_with_itself() -> None:
    w = WORLDS["wide"]
    ask, stats = jifs.info("plugin"), desk(w)
    entropy = ask.entropy(stats)
    for k in range(w.m):
        assert ask.redundancy(stats, k)[k] == pytest.approx(entropy[k], abs=1e-10)
        assert ask.relevance_given(stats, k)[k] == pytest.approx(0, abs=1e-12)


def test_miller_madow_may_be_negative_and_corrects_upwards() -> None:
    w = WORLDS["ids"]
    plain, corrected = jifs.info("plugin"), jifs.info("miller_madow")
    stats = desk(w)
    assert (corrected.entropy(stats) >= plain.entropy(stats)).all()
    assert corrected.relevance(stats).min() < 0
    assert isinstance(corrected, PlugIn)
    assert (PlugIn().corrected, MillerMadow().corrected) == (False, True)


@pytest.mark.parametrize(("slip", "raised"), [(1e-13, False), (1e-3, True)], ids=["rounding", "wrong counts"])
def test_negative_information_is_rounding_or_a_bug(
    slip: float, raised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounding is set to 0; anything lower is not hidden."""
    real = PlugIn.margins
    stats = desk(WORLDS["narrow"])
    off = stats.n * slip
    monkeypatch.setattr(
        PlugIn, "margins", lambda self, s: real(self, s)._replace(one=real(self, s).one - off)
    )
    if raised:
        with pytest.raises(ArithmeticError, match="a bug in jifs"):
            PlugIn().relevance(stats)
        assert MillerMadow().relevance(stats).min() < 0  # that one may be
    else:
        assert PlugIn().relevance(stats)[6] == 0  # a constant: 0 - 1e-13


@every_world
@every_info
def test_logarithms_looked_up_or_taken_are_the_same(
    name: str, info: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = WORLDS[name]
    ask = jifs.info(info)
    stats = desk(w)
    questions = ("redundancy", "conditional", "relevance_given", "joint_relevance", "joint_entropy")
    looked_up = {(q, k): getattr(ask, q)(stats, k) for q in questions for k in range(w.m)}
    relevance = ask.relevance(stats)
    monkeypatch.setattr(discrete, "LOOKUP_ROWS", 1)
    stats = desk(w)
    assert ask.lookup(stats) is None
    assert ask.relevance(stats) == pytest.approx(relevance, rel=0, abs=1e-12)
    for (question, k), expected in looked_up.items():
        assert getattr(ask, question)(stats, k) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("criterion", ["jmi", "cmim", "disr", "mim", "cmi"])
def test_very_many_rows_choose_alike(criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    w = WORLDS["narrow"]
    here = jifs.select(w.X, w.y, 5, criterion)
    monkeypatch.setattr(discrete, "LOOKUP_ROWS", 1)
    there = jifs.select(w.X, w.y, 5, criterion)
    assert here.indices.tolist() == there.indices.tolist()
    assert here.scores == pytest.approx(there.scores, abs=1e-12)


def test_the_table_of_x_log_x() -> None:
    stats = desk(WORLDS["narrow"])
    table = jifs.info("plugin").lookup(stats)
    assert table is not None
    x = np.arange(1, stats.n + 1)
    assert table[0] == 0
    assert table[1 : stats.n + 1] == pytest.approx(x * np.log(x), rel=1e-15)
    weighted = desk(WORLDS["narrow"], sample_weight=np.linspace(0.1, 1, stats.n))
    assert jifs.info("plugin").lookup(weighted) is None


def test_the_constant_for_kernels_of_a_plugins_own() -> None:
    """S_xzy - S_xz less the constant, over N, is I(X_j;Y|X_k)."""
    w = WORLDS["narrow"]
    ask, stats = PlugIn(), desk(w)
    for k in range(w.m):
        sums = ask.pair(stats, k)
        given = (sums.xzy - sums.xz - ask.given_constant(stats, k)) / stats.n
        assert given == pytest.approx([cmi(x, w.y, w.columns[k]) for x in w.columns], abs=1e-10)


# ---- an estimator of one's own -------------------------------------------------------------------------------------


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    for kind in registry.KINDS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


@pytest.fixture
def three(door: None) -> str:
    """An estimator with the three questions and nothing else: twice the plug-in information."""

    @jifs.estimator("three", cite="[Nobody 1999]")
    @dataclass(frozen=True)
    class Three(jifs.Info):
        """Twice as much."""

        def relevance(self, stats: jifs.Stats) -> np.ndarray:
            return 2 * np.asarray(jifs.info("plugin").relevance(stats))

        def redundancy(self, stats: jifs.Stats, k: int) -> np.ndarray:
            return 2 * np.asarray(jifs.info("plugin").redundancy(stats, k))

        def conditional(self, stats: jifs.Stats, k: int) -> np.ndarray:
            return 2 * np.asarray(jifs.info("plugin").conditional(stats, k))

    return "three"


def clear_world() -> World:
    rng = np.random.default_rng(12)
    y = rng.integers(0, 3, 300)
    X = np.where(rng.random((300, 8)) < np.linspace(0.1, 0.8, 8), y[:, None], rng.integers(0, 3, (300, 8)))
    return World(X, y)


@pytest.mark.parametrize(
    "criterion", ["mim", "mifs", "mrmr", "jmi", "cife", "condred", "betagamma", "cmim", "icap", "jmim"]
)
def test_three_questions_are_enough(criterion: str, three: str) -> None:
    w = clear_world()
    mine = jifs.select(w.X, w.y, 5, criterion, info=three)
    ours = jifs.select(w.X, w.y, 5, criterion)
    assert mine.info == "three"
    assert mine.indices.tolist() == ours.indices.tolist()
    assert mine.scores == pytest.approx(2 * ours.scores, abs=1e-10)


def test_a_quotient_does_not_notice(three: str) -> None:
    w = clear_world()
    mine, ours = (jifs.select(w.X, w.y, 5, "miq", info=info) for info in (three, "plugin"))
    assert mine.scores[1:] == pytest.approx(ours.scores[1:], abs=1e-10)


@pytest.mark.parametrize("which", ["mi", "cmi", "cmi_target"])
def test_three_questions_make_matrices(which: str, three: str) -> None:
    w = clear_world()
    mine, ours = (jifs.pairs(w.X, w.y, which, info=info) for info in (three, "plugin"))
    assert mine == pytest.approx(2 * ours, abs=1e-10)


@pytest.mark.parametrize(
    ("criterion", "lacks"),
    [
        ("disr", "joint entropies"),
        ("njmim", "joint entropies"),
        ("cmi", "information given a joint state"),
        ("mrmr_phi", "entrop"),
    ],
)
def test_what_three_questions_cannot_answer_is_said(criterion: str, lacks: str, three: str) -> None:
    w = clear_world()
    with pytest.raises(MismatchError) as caught:
        jifs.select(w.X, w.y, 3, criterion, info=three)
    text = str(caught.value)
    assert text.startswith("info 'three' has no ")
    assert lacks in text
    assert "use info='plugin' or 'miller_madow'" in text


def test_what_follows_from_three_questions() -> None:
    """The base's own answers are those of the definitions, and of the faster ones."""

    class Bare(Info):
        def relevance(self, stats: jifs.Stats) -> np.ndarray:
            return PlugIn().relevance(stats)

        def redundancy(self, stats: jifs.Stats, k: int) -> np.ndarray:
            return PlugIn().redundancy(stats, k)

        def conditional(self, stats: jifs.Stats, k: int) -> np.ndarray:
            return PlugIn().conditional(stats, k)

    w = WORLDS["narrow"]
    stats = desk(w)
    for k in range(w.m):
        given = [cmi(x, w.y, w.columns[k]) for x in w.columns]
        assert Bare().relevance_given(stats, k) == pytest.approx(given, abs=1e-10)
        together = [joint_mi([x, w.columns[k]], w.y) for x in w.columns]
        assert Bare().joint_relevance(stats, k) == pytest.approx(together, abs=1e-10)
    told: list[int] = []
    for which in ("mi", "cmi", "cmi_target"):
        fast = PlugIn().matrix(desk(w), which)
        slow = Bare().matrix(desk(w), which, told.append)
        assert slow == pytest.approx(fast, abs=1e-12)
    assert sum(told) == 3 * w.m


def test_the_base_answers_nothing_itself() -> None:
    stats = desk(WORLDS["two rows"])
    base = Info()
    for question in (lambda: base.relevance(stats), lambda: base.redundancy(stats, 0)):
        with pytest.raises(NotImplementedError):
            question()
    assert base.lookup(stats) is None
    for question in (
        lambda: base.joint_entropy(stats, 0),
        lambda: base.target_entropy(stats),
        lambda: base.given_constant(stats, 0),
        lambda: base.relevance_given_state(stats, None),
    ):
        with pytest.raises(MismatchError, match="info 'info' has no"):
            question()


@pytest.mark.usefixtures("door")
def test_an_estimator_may_have_parameters() -> None:
    @jifs.estimator("scaled")
    @dataclass(frozen=True)
    class Scaled(PlugIn):
        """The plug-in relevance, scaled."""

        by: float = 3.0

        def relevance(self, stats: jifs.Stats) -> np.ndarray:
            return self.by * super().relevance(stats)

    w = clear_world()
    stats = desk(w)
    plain = jifs.info("plugin").relevance(stats)
    assert jifs.info("scaled").relevance(stats) == pytest.approx(3 * plain)
    assert jifs.info("scaled", by=5.0).relevance(stats) == pytest.approx(5 * plain)
    assert jifs.info("scaled").relevance(stats) == pytest.approx(
        3 * plain
    )  # answers are remembered by parameter
    row = registry.find("info", "scaled")
    assert (row.params, row.summary) == ({"by": 3.0}, "The plug-in relevance, scaled")


# ---- selections on wide columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "cmim", "disr", "icap", "jmim", "cmi"])
@pytest.mark.parametrize("name", ["wide", "ids", "many classes", "classes of one row"])
def test_selections_on_wide_columns(criterion: str, name: str) -> None:
    w = WORLDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jifs.JifsWarning)
        result = jifs.select(w.X, w.y, min(w.m, 4), criterion, bins="none")
    S: list[int] = []
    for j, score in zip(result.indices.tolist(), result.scores.tolist(), strict=True):
        free = {i: CRITERIA[criterion](w.columns, w.y, S, i) for i in range(w.m) if i not in S}
        assert score == pytest.approx(free[j], abs=1e-10)
        assert j == winner(free, 1e-9)
        S.append(j)


# -------------------------------------------------------------------------------------------------- many weighted rows


@pytest.mark.parametrize("criterion", ["mrmr", "jmi", "cmi", "cmim", "disr"])
def test_real_weights_on_many_rows_lose_nothing(criterion: str) -> None:
    """Sums of weights are exact, so a copy is a copy, a constant says nothing, and no information is negative."""
    rng = np.random.default_rng(0)
    n = 60_000
    X, y = rng.integers(0, 4, (n, 6)), rng.integers(0, 3, n)
    X[:, 4], X[:, 5] = 3 - X[:, 1], 7
    w = rng.choice([0.1, 0.3, 0.7], n)
    source = jifs.memory(X, y, bins="none", sample_weight=w)
    stats, info = jifs.Stats(source), PlugIn()
    assert info.relevance(stats)[5] == 0.0
    assert info.relevance(stats)[1] == pytest.approx(info.relevance(stats)[4], abs=1e-15)
    assert info.redundancy(stats, 5).tolist() == [0.0] * 6
    assert info.relevance_given(stats, 1)[4] == 0.0
    assert info.relevance_given_state(stats, stats.join(None, 4))[1] == 0.0
    assert info.relevance(stats)[0] == pytest.approx(mi(X[:, 0], y, np.rint(10 * w)), abs=1e-14)
    assert len(jifs.select(source, k=6, criterion=criterion).indices) == 6


def test_whole_weights_too_large_to_repeat_are_rows_repeated() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
    w = rng.integers(1, 9, 30)
    few = jifs.select(np.repeat(X, w, axis=0), np.repeat(y, w), 4, "jmi", bins=4)
    many = jifs.select(X, y, 4, "jmi", bins=4, sample_weight=w * 10**9)
    often = jifs.select(np.repeat(X, w * 100, axis=0), np.repeat(y, w * 100), 4, "jmi", bins=4)
    assert many.indices.tolist() == often.indices.tolist() == few.indices.tolist()
    assert many.scores.tolist() == pytest.approx(often.scores.tolist(), rel=1e-12)


def test_a_column_of_very_many_levels_takes_no_table() -> None:
    """A hundred thousand levels by a thousand classes, eight lanes wide, would be 6 gigabytes."""
    n = 100_000
    X = np.column_stack([np.arange(n) * 10, np.arange(n) % 7, np.arange(n) // 2])
    y = np.arange(n) % 1000
    stats = jifs.Stats(jifs.memory(X, y, bins="none"))
    found = PlugIn().relevance(stats)
    assert found.tolist() == pytest.approx([np.log(1000), mi(X[:, 1], y), np.log(500)], abs=1e-12)


def test_weights_that_sum_to_one_are_one_row_to_miller_madow() -> None:
    rng = np.random.default_rng(2)
    X, y, w = rng.integers(0, 3, (50, 3)), rng.integers(0, 2, 50), rng.random(50)
    with pytest.warns(jifs.JifsWarning, match="sum to 1, which miller_madow takes for the number of rows"):
        result = jifs.select(X, y, 2, "mim", info="miller_madow", sample_weight=w / w.sum())
    assert any("miller_madow" in text for text in result.facts["warnings"])
    jifs.select(X, y, 2, "mim", sample_weight=w / w.sum())
    jifs.select(X, y, 2, "mim", info="miller_madow", sample_weight=w + 1)
