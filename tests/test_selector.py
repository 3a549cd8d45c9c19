"""`jifs.select`: what it takes, what it refuses, and what its result says of the search."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from naive.criteria import CRITERIA
from naive.search import TOL, winner
from worlds import World

import jifs
from jifs import registry
from jifs.errors import InputError, JifsWarning, MismatchError


def graded(n: int = 240, m: int = 9, classes: int = 3, seed: int = 2) -> World:
    """Features that know the class more and more, of 2 to 5 levels, without ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    levels = rng.choice([2, 3, 5], m)
    own = np.where(rng.random((n, m)) < np.linspace(0.1, 0.7, m), y[:, None], rng.integers(0, 5, (n, m)))
    return World(own % levels, y)


W = graded()
NAMES = [f"f{j}" for j in range(W.m)]


def choose(k: int = 3, criterion: Any = "jmi", world: World = W, **more: Any) -> jifs.Result:
    return jifs.select(world.X, world.y, k, criterion, **more)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    for kind in registry.KINDS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


# ---- how many ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4, 9, np.int64(4), np.uint8(2)])
def test_k_features_are_selected(k: Any) -> None:
    result = choose(k)
    assert len(result.indices) == len(result.names) == len(result.scores) == len(result.trace) == k
    assert len(set(result.indices.tolist())) == k
    assert result.indices.dtype == np.intp
    assert result.scores.dtype == np.float64


@pytest.mark.parametrize("k", [-1, 2.0, 2.5, "3", None, True, np.nan, [2], np.array(2)], ids=repr)
def test_k_is_a_whole_number(k: Any) -> None:
    with pytest.raises(InputError, match="k must be a positive whole number, not"):
        choose(k)


def test_k_is_looked_at_before_the_data() -> None:
    with pytest.raises(InputError, match="k must be"):
        jifs.select("no such file", "y", k=-1)


@pytest.mark.parametrize("criterion", ["jmi", "mim", "cmim", "cmi"])
def test_k_of_none_is_an_empty_result(criterion: str) -> None:
    result = choose(0, criterion)
    assert (result.indices.size, result.scores.size, result.names, result.trace) == (0, 0, (), ())
    assert result.n_features == W.m
    assert jifs.Result.from_json(result.to_json()).indices.size == 0


@pytest.mark.parametrize("criterion", ["jmi", "mim", "cmim"])
def test_k_of_too_many_selects_all_and_says_so(criterion: str) -> None:
    with pytest.warns(
        JifsWarning, match=r"k = 50 is more than the 9 features there are; all are selected"
    ) as said:
        result = choose(50, criterion)
    assert result.same_as(choose(9, criterion))
    assert result.facts["warnings"] == [str(said[0].message)]
    assert said[0].filename == __file__  # the warning points at the call


# ---- include and exclude -------------------------------------------------------------------------------------------


def score(criterion: str, S: Sequence[int], j: int) -> float:
    return CRITERIA[criterion](W.columns, W.y, S, j)


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "cmim", "disr", "cmi"])
def test_included_features_come_first_and_are_scored_as_given(criterion: str) -> None:
    result = choose(5, criterion, include=[6, 1])
    assert result.indices[:2].tolist() == [6, 1]
    assert [step.included for step in result.trace] == [True, True, False, False, False]
    S: list[int] = []
    for j, own in zip(result.indices.tolist(), result.scores.tolist(), strict=True):
        assert own == pytest.approx(score(criterion, S, j), abs=1e-10)
        S.append(j)
    assert all(step.runner_up is None and step.margin is None and not step.tie for step in result.trace[:2])


def test_the_order_of_include_is_kept_and_repeats_are_not() -> None:
    assert choose(3, include=(4, 0, 4)).indices[:2].tolist() == [4, 0]
    assert choose(3, include=(0, 4)).indices[:2].tolist() == [0, 4]
    assert choose(2, include=(j for j in (5, 3))).indices.tolist() == [5, 3]


@pytest.mark.parametrize("strategy", ["rank", "forward"])
def test_include_and_exclude_when_ranking(strategy: str) -> None:
    best = choose(9, "mim").indices.tolist()
    result = choose(4, "mim", strategy=strategy, include=[best[-1]], exclude=[best[0], best[2]])
    assert result.indices.tolist() == [best[-1], best[1], best[3], best[4]]
    assert [step.included for step in result.trace] == [True, False, False, False]


def test_include_and_exclude_by_name_and_by_index() -> None:
    frame = dict(zip(NAMES, W.columns, strict=True))
    by_index = choose(4, include=[7], exclude=[8, 2])
    for include, exclude in [
        (["f7"], ["f8", "f2"]),
        ("f7", ["f2", 8]),
        (np.array([7]), np.array(["f8", "f2"])),
    ]:
        named = jifs.select(frame, W.y, 4, include=include, exclude=exclude)
        assert named.same_as(by_index)
    assert named.names == tuple(NAMES[j] for j in by_index.indices)
    assert choose(4, include=["x7"], exclude=["x8", "x2"]).same_as(by_index)  # a nameless table has names too


@pytest.mark.parametrize(
    ("include", "exclude", "says"),
    [
        ([9], [], r"include: there is no feature 9; features are 0 to 8"),
        ([-1], [], r"include: there is no feature -1"),
        ([], [9], r"exclude: there is no feature 9"),
        (["f8"], [], r"include: there is no feature 'f8'\. Did you mean 'x8'"),
        ([], ["x88"], r"exclude: there is no feature 'x88'\. Did you mean 'x8'"),
        ([1.0], [], r"include: there is no feature 1\.0"),
        ([True], [], r"include: there is no feature True"),
        ([None], [], r"include: there is no feature None"),
        ([[0]], [], r"include.*\[0\]"),
        (3, [], r"include takes a list of features, by name or index, not 3"),
        ([], 3, r"exclude takes a list"),
        ([2, 5], [5], r"feature 'x5' is both in include and in exclude"),
        ([0, 1, 2, 3], [], r"include names 4 features, but k is 3; k counts them too"),
    ],
)
def test_include_and_exclude_refused(include: Any, exclude: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        choose(3, include=include, exclude=exclude)


def test_everything_excluded_is_an_empty_result() -> None:
    with pytest.warns(JifsWarning, match="k = 3 is more than the 0 features"):
        result = choose(3, exclude=range(W.m))
    assert result.indices.size == 0


@pytest.mark.parametrize("criterion", ["jmi", "mim", "cmim"])
def test_only_included_features(criterion: str) -> None:
    result = choose(2, criterion, include=[3, 4])
    assert result.indices.tolist() == [3, 4]
    with pytest.warns(JifsWarning, match="k = 3 is more than the 2 features"):
        alone = choose(3, criterion, include=[3, 4], exclude=[0, 1, 2, 5, 6, 7, 8])
    assert alone.same_as(result)


# ---- the trace -----------------------------------------------------------------------------------------------------

COPIES = World(np.column_stack([W.X[:, [0, 8, 8, 5]], W.X[:, 5], np.zeros(W.n, int)]), W.y)


@pytest.mark.parametrize("world", [W, COPIES], ids=["clear", "copies"])
@pytest.mark.parametrize("criterion", ["mim", "mrmr", "jmi", "cmim", "icap", "disr", "jmim", "cmi", "cife"])
def test_the_trace_is_what_happened(criterion: str, world: World) -> None:
    result = choose(world.m, criterion, world)
    S: list[int] = []
    for number, step in enumerate(result.trace, 1):
        free = {
            j: CRITERIA[criterion](world.columns, world.y, [] if criterion == "mim" else S, j)
            for j in range(world.m)
            if j not in S
        }
        assert step.step == number
        assert step.feature == winner(free, TOL) == result.indices[number - 1]
        assert step.name == f"x{step.feature}" == result.names[number - 1]
        assert step.score == result.scores[number - 1] == pytest.approx(free.pop(step.feature), abs=1e-10)
        if not free:
            assert (step.runner_up, step.runner_up_name, step.margin, step.tie) == (None, None, None, False)
        else:
            assert step.runner_up == winner(free, TOL)
            assert step.runner_up_name == f"x{step.runner_up}"
            assert step.margin == pytest.approx(step.score - free[step.runner_up], abs=1e-10)
            assert step.margin >= 0
            assert step.tie == (step.margin <= TOL)
        S.append(step.feature)
    if world is COPIES:
        assert any(step.tie for step in result.trace)


@pytest.mark.parametrize(
    ("criterion", "parts"),
    [
        ("mrmr", {"relevance", "redundancy"}),
        ("jmi", {"relevance", "redundancy", "conditional"}),
        ("cife", {"relevance", "redundancy", "conditional"}),
        ("icap", {"relevance", "redundancy"}),
        ("cmim", {"relevance"}),
        ("disr", {"relevance"}),
        ("cmi", {"relevance", "joint"}),
    ],
)
def test_the_parts_of_a_score(criterion: str, parts: set[str]) -> None:
    result = choose(4, criterion)
    for step in result.trace:
        assert set(step.parts) == parts
        assert step.parts["relevance"] == pytest.approx(score("mim", [], step.feature), abs=1e-10)


def test_the_parts_of_mrmr_make_its_score() -> None:
    for step in choose(5, "mrmr").trace:
        assert step.score == pytest.approx(step.parts["relevance"] - step.parts["redundancy"], abs=1e-10)


# ---- facts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "passes"), [("mim", 1), ("mrmr", 4), ("jmi", 4), ("icap", 4), ("disr", 4), ("jmim", 4)]
)
def test_the_work_is_counted(criterion: str, passes: int) -> None:
    """The relevances, then one pass for each feature taken but the last."""
    facts = choose(4, criterion).facts
    assert facts["passes"] == passes
    assert facts["tables_counted"] == passes * W.m


def test_facts_of_a_selection() -> None:
    result = choose(4, n_jobs=1)
    facts = result.facts
    assert set(facts["seconds"]) == {"encoding", "counting", "estimating", "total"}
    assert all(isinstance(s, float) and s >= 0 for s in facts["seconds"].values())
    assert (facts["threads"], facts["classes"], facts["warnings"]) == (1, 3, [])
    assert choose(4, n_jobs=2).facts["threads"] == 2
    assert result.seconds >= 0
    assert "stopped" not in facts
    json.dumps(facts)


def test_settings_are_recorded() -> None:
    result = choose(2, "mifs", info="miller_madow", params={"beta": 0.25}, random_state=7)
    assert (result.criterion, result.strategy, result.info) == ("mifs", "forward", "miller_madow")
    assert (result.params, result.seed, result.n_rows, result.n_features) == ({"beta": 0.25}, 7, W.n, W.m)
    assert choose(2, "mim").strategy == "rank"
    assert choose(2).seed == 0
    drawn = [choose(2, random_state=None).seed for _ in range(3)]
    assert len(set(drawn)) == 3  # by chance, and recorded


def test_the_given_parameters_stay_as_they_are() -> None:
    params, include = {"beta": 0.25}, [3]
    stop = {"rule": "threshold", "below": -5.0}
    result = choose(3, "mifs", params=params, include=include, stop=stop)
    result.params["beta"] = 9
    assert (params, include, stop) == ({"beta": 0.25}, [3], {"rule": "threshold", "below": -5.0})


def test_weights_are_the_scores_of_a_ranking() -> None:
    ranked = choose(2, "mim")
    assert ranked.weights is not None
    assert ranked.weights.tolist() == pytest.approx([score("mim", [], j) for j in range(W.m)], abs=1e-10)
    assert choose(2, "jmi").weights is None


@pytest.mark.parametrize("criterion", ["jmi", "cmim", "cmi", "mim"])
def test_the_same_twice(criterion: str) -> None:
    one, other = choose(6, criterion), choose(6, criterion)
    assert one.same_as(other)
    assert one.trace == other.trace


def test_many_threads_at_once_give_the_same() -> None:
    expected = choose(5, "cmim")
    results: list[jifs.Result] = []
    threads = [threading.Thread(target=lambda: results.append(choose(5, "cmim", n_jobs=2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result.same_as(expected) for result in results)


# ---- criterion, strategy, info and their parameters ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "params", "says"),
    [
        ("mifs", {"bta": 1}, r"criterion 'mifs' has no parameter 'bta'\. Did you mean 'beta'\? It has: beta"),
        ("mifs", {"gamma": 1}, r"criterion 'mifs' has no parameter 'gamma'"),
        ("jmi", {"beta": 1}, r"criterion 'jmi' has no parameter 'beta'\. It has none"),
        ("jmi", {"info": "plugin"}, r"criterion 'jmi' has no parameter 'info'"),
        ("mifs", {"beta": "0.5"}, r"beta must be a finite number, not '0\.5'"),
        ("mifs", {"beta": True}, r"beta must be a finite number, not True"),
        ("mifs", {"beta": np.nan}, r"beta must be a finite number, not nan"),
        ("betagamma", {"gamma": np.inf}, r"gamma must be a finite number, not inf"),
        ("betagamma", {"gamma": None}, r"gamma must be a finite number, not None"),
        ("cmim", {"include_marginal": "no"}, r"include_marginal must be .*'no'"),
        ("cmim", {"lazy": "no"}, r"lazy must be .*'no'"),
        ("mifs", ["beta"], r"params .*\['beta'\]"),
        ("mifs", "beta", r"params .*'beta'"),
        ("mifs", 3, r"params .*3"),
    ],
)
def test_parameters_refused(criterion: str, params: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        choose(3, criterion, params=params)


@pytest.mark.parametrize("beta", [1, 0.5, 0, -1.5, np.float64(0.5), np.float32(0.5), np.int64(2)], ids=repr)
def test_numbers_of_any_make(beta: Any) -> None:
    """A grid of parameters is often a NumPy array."""
    result = choose(4, "mifs", params={"beta": beta})
    S = result.indices[:3].tolist()
    expected = CRITERIA["mifs"](W.columns, W.y, S, int(result.indices[3]), beta=float(beta))
    assert result.scores[3] == pytest.approx(expected, abs=1e-10)


def test_no_parameters_are_no_parameters() -> None:
    assert choose(3, params={}).same_as(choose(3, params=None))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"criterion": "mrmrr"}, r"unknown criterion 'mrmrr'\. Did you mean 'mrmr'"),
        ({"strategy": "forwards"}, r"unknown strategy 'forwards'\. Did you mean 'forward'"),
        ({"info": "plug-in"}, r"unknown information estimator 'plug-in'\. Did you mean 'plugin'"),
        ({"info": None}, r"unknown information estimator None"),
        ({"strategy": ["rank"]}, r"unknown strategy \['rank'\]"),
        ({"strategy": ""}, r"unknown strategy ''"),
        ({"info": ["plugin"]}, r"unknown information estimator \['plugin'\]"),
        ({"n_jobs": 0}, r"n_jobs must be a number of threads, or -1 or None for all, not 0"),
        ({"n_jobs": "two"}, r"n_jobs must be .*'two'"),
        ({"n_jobs": 1.5}, r"n_jobs must be .*1\.5"),
        ({"n_jobs": True}, r"n_jobs must be .*True"),
        ({"progress": 3}, r"progress must be True, False, a function"),
        ({"random_state": "seed"}, r"random_state must be .*'seed'"),
        ({"random_state": -1}, r"random_state must be .*-1"),
        ({"random_state": 0.5}, r"random_state must be .*0\.5"),
        ({"random_state": np.random.default_rng(0)}, r"random_state must be "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_settings_refused(more: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        choose(3, **more)


@pytest.mark.usefixtures("door")
def test_an_info_is_not_given_to_a_criterion_that_has_none() -> None:
    @jifs.criterion("index", default="rank")
    class Index:
        def ranks(self, stats: Any) -> np.ndarray:
            return np.arange(stats.m, dtype=float)

    result = choose(2, "index")
    assert result.info is None
    assert result.indices.tolist() == [8, 7]
    with pytest.raises(
        InputError, match=r"'index' does not use an information estimator, so info='miller_madow'"
    ):
        choose(2, "index", info="miller_madow")


@pytest.mark.usefixtures("door")
def test_an_info_that_a_criterion_does_not_take_is_not_passed_over() -> None:
    """Its own is made inside, so another one would be ignored."""

    @jifs.criterion("settled", default="rank")
    class Settled:
        def __init__(self) -> None:
            self.info = jifs.info("plugin")

        def ranks(self, stats: Any) -> np.ndarray:
            return np.asarray(self.info.relevance(stats))

    assert choose(2, "settled").same_as(choose(2, "mim"))
    with pytest.raises(InputError, match=r"'settled'.*info='miller_madow'"):
        choose(2, "settled", info="miller_madow")


def test_every_criterion_can_be_ranked_by_its_first_step() -> None:
    assert choose(4, "jmi", strategy="rank").indices.tolist() == choose(4, "mim").indices.tolist()


# ---- constants and classes -----------------------------------------------------------------------------------------


def test_constants_are_dropped_when_asked_for() -> None:
    X = W.X.copy()
    X[:, [0, 8]] = 7
    w = World(X, W.y)
    kept = choose(9, "mrmr", w)
    assert {0, 8} <= set(kept.indices.tolist())
    with pytest.warns(JifsWarning, match="k = 9 is more than the 7 features"):
        dropped = choose(9, "mrmr", w, drop_constant=True)
    assert sorted(dropped.indices.tolist()) == [1, 2, 3, 4, 5, 6, 7]
    given = choose(3, "mrmr", w, drop_constant=True, include=[8])
    assert given.indices[0] == 8
    assert 0 not in given.indices
    assert (
        len(choose(8, "mrmr", w, drop_constant=True, include=[8]).indices) == 8
    )  # it counts, without a warning


@pytest.mark.filterwarnings("ignore:k = 1 is more:jifs.JifsWarning")
def test_a_column_that_is_constant_where_rows_count_is_dropped() -> None:
    w = World(np.column_stack([[0, 0, 0, 1], [0, 1, 0, 1]]), np.array([0, 1, 0, 1]))
    result = choose(1, "mim", w, drop_constant=True, sample_weight=[1, 1, 1, 0], exclude=[1])
    assert result.indices.size == 0


@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmim", "cmi", "disr"])
def test_one_class_is_said_and_goes_by_index(criterion: str) -> None:
    with pytest.warns(JifsWarning, match="one class only: every relevance is 0") as said:
        result = choose(3, criterion, World(W.X, np.zeros(W.n, int)))
    assert result.scores[0] == 0
    assert result.indices[0] == 0
    assert result.facts["classes"] == 1
    assert result.facts["warnings"] == [str(said[0].message)]
    assert said[0].filename == __file__


def test_one_class_that_is_left_by_the_weights_is_said_too() -> None:
    """A row of weight 0 is absent, and so is its class."""
    with pytest.warns(JifsWarning, match="one class only"):
        result = choose(2, "mim", sample_weight=(W.y == 1).astype(int))
    assert result.scores.tolist() == [0.0, 0.0]
    with pytest.warns(JifsWarning, match="one class only"):
        assert choose(2, "mim", sample_weight=(W.y == 1) * 0.5).facts["classes"] == 1


def test_one_row_that_is_left_by_the_weights_is_too_few() -> None:
    with pytest.raises(InputError, match=r"sample_weight|row|sample"):
        choose(2, "mim", sample_weight=[1] + [0] * (W.n - 1))


REAL = np.random.default_rng(0).normal(size=W.n)


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_a_real_target_needs_another_criterion(criterion: str) -> None:
    with pytest.raises(InputError) as caught:
        choose(3, criterion, World(W.X, REAL))
    text = str(caught.value)
    assert text.startswith(f"the target 'y' holds real numbers, but criterion '{criterion}' needs classes; ")
    assert "task='class'" in text


def test_a_real_target_is_named() -> None:
    frame = {**dict(zip(NAMES, W.columns, strict=True)), "price": REAL}
    with pytest.raises(InputError, match=r"the target 'price' holds real numbers"):
        jifs.select(frame, "price", 2)


def test_the_task_can_be_said() -> None:
    few = np.array([0.5, 1.5, 2.5])[W.y]
    assert choose(4, world=World(W.X, few), task="class").same_as(choose(4))
    with pytest.raises(InputError, match="holds real numbers, but criterion 'jmi' needs classes"):
        choose(4, task="real")
    with pytest.raises(InputError, match=r"task='klass' is not known; use 'class', 'real'"):
        choose(4, task="klass")


@pytest.mark.usefixtures("door")
def test_a_criterion_for_real_targets() -> None:
    @jifs.criterion("index", default="rank", tasks=("real",))
    class Index:
        def ranks(self, stats: Any) -> np.ndarray:
            return np.arange(stats.m, dtype=float)

    result = choose(2, "index", World(W.X, REAL))  # and no word about classes
    assert result.indices.tolist() == [8, 7]
    with pytest.raises(
        InputError, match=r"holds classes, but criterion 'index' needs real numbers; pass task='real'"
    ):
        choose(2, "index")
    assert choose(2, "index", task="real").indices.tolist() == [8, 7]


# ---- where the data come from --------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["jmi", "cmim", "cmi", "mim", "disr"])
def test_a_source_serves_many_selections(criterion: str) -> None:
    source = jifs.memory(W.X, W.y)
    for info in ("plugin", "miller_madow", "plugin"):
        from_source = jifs.select(source, k=5, criterion=criterion, info=info)
        assert from_source.same_as(choose(5, criterion, info=info))
        assert from_source.trace == choose(5, criterion, info=info).trace
    assert from_source.names == choose(5, criterion).names


@pytest.mark.parametrize(
    "more",
    [{"y": W.y}, {"task": "class"}, {"discrete": [0]}, {"sample_weight": np.ones(W.n)}, {"bins": 3}],
    ids=lambda more: next(iter(more)),
)
def test_a_source_is_encoded_already(more: dict[str, Any]) -> None:
    source = jifs.memory(W.X, W.y)
    with pytest.raises(InputError, match=rf"a source is already encoded.*{next(iter(more))}"):
        jifs.select(source, k=2, **more)


def test_a_source_without_a_target() -> None:
    with pytest.raises(InputError, match=r"no target: give y to jifs\.memory"):
        jifs.select(jifs.memory(W.X), k=2)


def test_a_source_with_a_real_target() -> None:
    with pytest.raises(InputError, match="holds real numbers, but criterion 'jmi' needs classes"):
        jifs.select(jifs.memory(W.X, REAL), k=2)


def test_an_array_without_a_target() -> None:
    with pytest.raises(InputError, match=r"requires y"):
        jifs.select(W.X, k=2)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    rows = [[*map(str, x), "abc"[c]] for x, c in zip(W.X.tolist(), W.y.tolist(), strict=True)]
    path.write_text("\n".join([",".join([*NAMES, "label"]), *map(",".join, rows)]) + "\n")
    return path


def test_a_file_is_read(csv: Path) -> None:
    for path in (csv, str(csv)):
        result = jifs.select(path, "label", 4)
        assert result.same_as(choose(4))
        assert result.names == tuple(NAMES[j] for j in result.indices)
    weighted = jifs.select(csv, "label", 4, sample_weight=np.arange(W.n) % 3)
    assert weighted.same_as(choose(4, sample_weight=np.arange(W.n) % 3))


def test_a_file_names_its_target(csv: Path) -> None:
    with pytest.raises(InputError, match="with a file, y is the name of its target column"):
        jifs.select(csv, W.y, 4)
    with pytest.raises(InputError, match=r"'labl'.*Did you mean 'label'"):
        jifs.select(csv, "labl", 4)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "mapping"])
def test_frames_keep_their_names(kind: str) -> None:
    columns: dict[str, Any] = dict(zip(NAMES, W.columns, strict=True))
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
    frame = columns if kind == "mapping" else getattr(pytest.importorskip(kind), make[kind])(columns)
    result = jifs.select(frame, W.y, 4, include=["f2"])
    assert result.names == tuple(NAMES[j] for j in result.indices)
    assert result.names[0] == "f2"
    assert result.trace[1].runner_up_name == NAMES[result.trace[1].runner_up]
    assert result.same_as(choose(4, include=[2]))


def test_the_bins_are_used() -> None:
    X = np.random.default_rng(1).normal(size=(200, 4)) + np.arange(200)[:, None] % 2
    y = np.arange(200) % 2
    coarse, fine = (jifs.select(X, y, 4, "mim", bins=b).scores for b in (2, 10))
    assert (fine > coarse).all()
    with pytest.raises(InputError, match="bins"):
        jifs.select(X, y, 4, bins=0)


# ---- while it runs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["jmi", "mim", "cmim"])
def test_progress_is_told_after_each_feature(criterion: str) -> None:
    told: list[tuple[int, int, str]] = []
    result = choose(5, criterion, include=[2], progress=lambda *news: told.append(news))
    assert told[0] == (0, 5, criterion)
    assert told[1:] == [(i, 5, name) for i, name in enumerate(result.names, 1)]


def test_progress_hears_of_an_early_end() -> None:
    told: list[int] = []
    choose(5, "mim", stop=1e9, progress=lambda done, total, note: told.append(done))
    assert told == [0]


@dataclass
class Interrupted:
    """jmi that is interrupted from the keyboard when it is asked for step `at`."""

    at: int
    where: str = "gains"
    inner: Any = field(default_factory=lambda: registry.find("criterion", "jmi").make())

    def open(self, stats: Any) -> Any:
        run, rule = self.inner.open(stats), self
        seen = {"gains": 0, "take": 0}

        class Run:
            def gains(self) -> np.ndarray:
                self.count("gains")
                return np.asarray(run.gains())

            def take(self, j: int) -> None:
                self.count("take")
                run.take(j)

            def count(self, what: str) -> None:
                seen[what] += 1
                if what == rule.where and seen[what] == rule.at:
                    raise KeyboardInterrupt

        return Run()


@pytest.mark.parametrize(("where", "kept"), [("gains", 2), ("take", 3)])
def test_an_interrupt_keeps_what_there_is(where: str, kept: int) -> None:
    try:
        with pytest.warns(JifsWarning, match=f"interrupted after {kept} features"):
            result = choose(6, Interrupted(3, where))
    except KeyboardInterrupt:
        pytest.fail("the interrupt was not held")
    assert result.indices.tolist() == choose(kept).indices.tolist()
    assert result.scores.tolist() == choose(kept).scores.tolist()
    assert result.facts["stopped"] == f"interrupted after {kept} features"


def test_an_interrupt_before_the_first_feature_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt):
        choose(6, Interrupted(1))


def test_an_error_of_a_criterion_is_not_swallowed() -> None:
    class Faulty:
        def ranks(self, stats: Any) -> np.ndarray:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        choose(2, Faulty())


@pytest.mark.parametrize("strategy", ["forward", "rank"])
def test_a_score_that_is_no_number_is_the_criterions_fault(strategy: str) -> None:
    class Odd:
        def ranks(self, stats: Any) -> np.ndarray:
            return np.where(np.arange(stats.m) == 4, np.nan, 1.0)

    with pytest.raises(ArithmeticError, match=r"criterion 'odd' gave feature 4 the score NaN"):
        choose(2, Odd(), strategy=strategy)
    assert choose(2, Odd(), strategy=strategy, exclude=[4]).indices.tolist() == [0, 1]


@pytest.mark.parametrize("strategy", ["forward", "rank"])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, bool])
def test_scores_may_be_of_any_number_type(strategy: str, dtype: type) -> None:
    class Plain:
        def ranks(self, stats: Any) -> np.ndarray:
            return (np.arange(stats.m) % 3 == 1).astype(dtype)

        def open(self, stats: Any) -> Any:
            scores = self.ranks(stats)

            class Run:
                def gains(self) -> np.ndarray:
                    return scores

                def take(self, j: int) -> None: ...

            return Run()

    result = choose(4, Plain(), strategy=strategy)
    assert result.indices.tolist() == [1, 4, 7, 0]
    assert result.scores.tolist() == [1.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("strategy", ["forward", "rank"])
def test_scores_of_the_wrong_length_are_the_criterions_fault(strategy: str) -> None:
    class Short:
        def ranks(self, stats: Any) -> np.ndarray:
            return np.zeros(stats.m - 1)

        def open(self, stats: Any) -> Any:
            class Run:
                def gains(self) -> np.ndarray:
                    return np.zeros(stats.m - 1)

                def take(self, j: int) -> None: ...

            return Run()

    with pytest.raises((ValueError, MismatchError), match=r"short.*8.*9"):
        choose(9, Short(), strategy=strategy)


def test_a_column_that_names_the_rows_is_said() -> None:
    names = np.array([f"P{i:04d}" for i in range(W.n)])
    frame = {"id": names, "useful": W.columns[0]}
    with pytest.warns(JifsWarning, match=rf"feature 'id' has {W.n} different values in {W.n} rows"):
        result = jifs.select(frame, W.y, 1, "mim")
    assert result.names == ("id",)
    assert jifs.select(frame, W.y, 1, "mim", exclude=["id"]).facts["warnings"] == []


def test_the_settings_are_in_the_result() -> None:
    result = choose(3, "mim", exclude=[1], stop=-1.0, sample_weight=np.ones(W.n))
    settings = jifs.Result.from_json(result.to_json()).facts["settings"]
    assert settings["target"] == "y"
    assert settings["k"] == 3
    assert settings["exclude"] == [1]
    assert settings["stop"] == -1.0
    assert settings["weights"] is True
