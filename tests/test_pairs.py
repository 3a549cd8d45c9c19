"""`jifs.pairs`: full matrices of pairwise information, on columns of every width, from any home, and its refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from naive.entropy import cmi, h, mi
from worlds import World

import jifs
from jifs.errors import InputError
from jifs.estimators.base import Info
from jifs.estimators.discrete import MillerMadow, PlugIn

WHICH = ["mi", "cmi", "cmi_target"]
every_matrix = pytest.mark.parametrize("which", WHICH)
every_info = pytest.mark.parametrize("info", ["plugin", "miller_madow"])


def make_worlds() -> dict[str, World]:
    rng = np.random.default_rng(21)
    n = 400
    y = rng.integers(0, 3, n)

    def columns(*levels: int) -> np.ndarray:
        return np.column_stack([rng.integers(0, r, n) for r in levels])

    return {
        "narrow": World(columns(2, 5, 3, 1, 2, 10, 2, 2, 3, 16), y),
        "wide": World(np.column_stack([columns(2, 64, 65, 300, 3, 257), np.arange(n)]), y),
        "all wide": World(np.column_stack([np.arange(n), np.arange(n)[::-1] // 2, columns(300, 350)]), y),
        "many classes": World(columns(2, 30, 3, 2), np.arange(n) % 150),
        "one feature": World(columns(4), y),
    }


WORLDS = make_worlds()


def pairs(world: World, which: str = "mi", **more: Any) -> np.ndarray:
    return jifs.pairs(world.X, world.y, which, bins="none", **more)


@every_matrix
@every_info
@pytest.mark.parametrize("name", WORLDS)
def test_the_definition(name: str, which: str, info: str) -> None:
    w = WORLDS[name]
    x, y, how = w.columns, w.y, {"info": info}
    quantity = {
        "mi": lambda a, b: mi(a, b, **how),
        "cmi": lambda a, b: cmi(a, b, y, **how),
        "cmi_target": lambda a, b: cmi(a, y, b, **how),
    }[which]
    found = pairs(w, which, info=info)
    assert found.shape == (w.m, w.m)
    assert found.dtype == np.float64
    assert found == pytest.approx(np.array([[quantity(a, b) for b in x] for a in x]), abs=1e-10)


@every_matrix
@every_info
@pytest.mark.parametrize("name", WORLDS)
def test_by_blocks_or_column_by_column(name: str, which: str, info: str) -> None:
    """Each table counted once, and the plain loop over the questions of any estimator."""
    w = WORLDS[name]
    ask = {"plugin": PlugIn, "miller_madow": MillerMadow}[info]()
    stats = jifs.Stats(jifs.memory(w.X, w.y, bins="none"))
    slow = Info.matrix(ask, stats, which)
    assert pairs(w, which, info=info) == pytest.approx(slow, rel=0, abs=1e-12)


def test_the_diagonals() -> None:
    w = WORLDS["wide"]
    entropies = [h(x) for x in w.columns]
    assert np.diagonal(pairs(w)) == pytest.approx(entropies, abs=1e-10)
    given = [h(x, w.y) - h(w.y) for x in w.columns]
    assert np.diagonal(pairs(w, "cmi")) == pytest.approx(given, abs=1e-10)
    assert np.diagonal(pairs(w, "cmi_target")) == pytest.approx(np.zeros(w.m), abs=1e-12)


@pytest.mark.parametrize("which", ["mi", "cmi"])
@every_info
@pytest.mark.parametrize("name", WORLDS)
def test_symmetric_to_the_last_bit(name: str, which: str, info: str) -> None:
    found = pairs(WORLDS[name], which, info=info)
    assert np.array_equal(found, found.T)


@every_matrix
def test_constants_are_exactly_zero(which: str) -> None:
    w = WORLDS["narrow"]
    found = pairs(w, which)
    assert (found[3] == 0).all()
    if which != "cmi_target":
        assert (found[:, 3] == 0).all()


def test_the_work_is_counted_once() -> None:
    w = WORLDS["narrow"]
    stats = jifs.Stats(jifs.memory(w.X, w.y, bins="none"))
    PlugIn().relevance(stats)
    before = stats.facts["tables_counted"]
    PlugIn().matrix(stats, "cmi")
    assert stats.facts["tables_counted"] - before == w.m * (w.m + 1) // 2


@every_matrix
def test_threads_change_nothing(which: str) -> None:
    w = WORLDS["wide"]
    assert np.array_equal(pairs(w, which, n_jobs=1), pairs(w, which, n_jobs=2))


def test_the_default_is_information_between_features_and_needs_no_target() -> None:
    w = WORLDS["narrow"]
    assert np.array_equal(jifs.pairs(w.X, bins="none"), pairs(w, "mi"))
    assert np.array_equal(
        jifs.pairs(w.X, np.linspace(0, 1, w.n), bins="none"), pairs(w, "mi")
    )  # nor heeds one


@pytest.mark.parametrize("which", ["cmi", "cmi_target"])
def test_the_others_need_classes(which: str) -> None:
    X = WORLDS["narrow"].X
    with pytest.raises(InputError, match=rf"which='{which}' needs a target of classes: give y"):
        jifs.pairs(X, which=which)
    with pytest.raises(InputError, match=rf"which='{which}' needs a target of classes"):
        jifs.pairs(X, np.linspace(0, 1, len(X)), which)
    assert jifs.pairs(X, np.repeat([0.5, 1.5], 200), which, task="class").shape == (10, 10)


@pytest.mark.parametrize(
    ("which", "says"),
    [
        ("cmi_targt", r"unknown matrix 'cmi_targt'\. Did you mean 'cmi_target'.*Known: mi, cmi, cmi_target"),
        ("entropy", r"unknown matrix 'entropy'\."),
        (None, r"unknown matrix None"),
        (["mi"], r"unknown matrix \['mi'\]"),
    ],
)
def test_unknown_matrices(which: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        pairs(WORLDS["narrow"], which)


def test_unknown_settings() -> None:
    w = WORLDS["narrow"]
    with pytest.raises(InputError, match=r"unknown information estimator 'plugn'\. Did you mean 'plugin'"):
        pairs(w, info="plugn")
    with pytest.raises(InputError, match="n_jobs"):
        pairs(w, n_jobs=0)
    with pytest.raises(InputError, match="progress"):
        pairs(w, progress=3)


@every_matrix
def test_a_source_is_used_as_it_is(which: str) -> None:
    w = WORLDS["narrow"]
    source = jifs.memory(w.X, w.y, bins="none")
    assert np.array_equal(jifs.pairs(source, which=which), pairs(w, which))


@pytest.mark.parametrize(
    "more",
    [{"y": WORLDS["narrow"].y}, {"task": "class"}, {"discrete": [0]}, {"sample_weight": np.ones(400)}],
    ids=lambda more: next(iter(more)),
)
def test_a_source_is_encoded_already(more: dict[str, Any]) -> None:
    w = WORLDS["narrow"]
    with pytest.raises(InputError, match="a source is already encoded"):
        jifs.pairs(jifs.memory(w.X, w.y, bins="none"), **more)


def test_a_source_without_a_target() -> None:
    with pytest.raises(InputError, match="needs a target of classes"):
        jifs.pairs(jifs.memory(WORLDS["narrow"].X), which="cmi")


def test_progress_reaches_the_number_of_features() -> None:
    w = WORLDS["narrow"]
    told: list[tuple[int, int, str]] = []
    pairs(w, "cmi", progress=lambda *news: told.append(news))
    assert told[0] == (0, w.m, "pairs (cmi)")
    assert told[-1][:2] == (w.m, w.m)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_continuous_columns_are_cut() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = np.column_stack([x, np.exp(x), rng.normal(size=300)])
    found = jifs.pairs(X, bins=4)
    assert found[0, 1] == pytest.approx(np.log(4), abs=1e-10)  # the same order, so the same bins
    assert found[0, 2] < 0.1


def test_a_file_and_a_frame(tmp_path: Path) -> None:
    w = WORLDS["narrow"]
    path = tmp_path / "data.csv"
    rows = [",".join(map(str, [*x, c])) for x, c in zip(w.X.tolist(), w.y.tolist(), strict=True)]
    path.write_text("\n".join([",".join([*(f"f{j}" for j in range(w.m)), "y"]), *rows]))
    assert np.array_equal(jifs.pairs(path, "y", "cmi"), pairs(w, "cmi"))
    frame = {f"f{j}": x for j, x in enumerate(w.columns)} | {"y": w.y}
    assert np.array_equal(jifs.pairs(frame, "y", "cmi"), pairs(w, "cmi"))


def test_whole_weights_are_repeated_rows() -> None:
    w = WORLDS["narrow"]
    weight = np.arange(w.n) % 3
    repeated = World(np.repeat(w.X, weight, axis=0), np.repeat(w.y, weight))
    assert np.array_equal(pairs(w, "cmi", sample_weight=weight), pairs(repeated, "cmi"))
