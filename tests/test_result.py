"""Result: what it shows, and that JSON carries all of it there and back."""

from __future__ import annotations

import builtins
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from jifs.errors import InputError
from jifs.files import save_texts
from jifs.progress import Progress, as_progress, bar, silent
from jifs.report import columns, html_page, number, shown
from jifs.result import Result, Step

HOSTILE = [
    "<script>alert('x')</script>",
    "two\nlines\x1b[31m",
    "名前 ünïcode é",
    "&amp; \"q\" 'q'",
    "z" * 5000,
    "",
    "\udc80",
]


def make(names: list[str] | None = None, **other: Any) -> Result:
    """A result of as many steps as names, ties and included features among them."""
    names = ["age", "height", "weight"] if names is None else names
    k = len(names)
    scores = np.linspace(1.0, 0.1, k)
    trace = [
        Step(
            step=i + 1,
            feature=2 * i,
            name=name,
            score=scores[i],
            parts={"relevance": 0.5 + i, "redundancy": -0.25 * i},
            runner_up=2 * i + 1 if i + 1 < k else None,
            runner_up_name=f"rival of {name}" if i + 1 < k else None,
            margin=0.125 if i + 1 < k else None,
            tie=i == 1,
            included=i == 0,
        )
        for i, name in enumerate(names)
    ]
    given: dict[str, Any] = {
        "indices": np.arange(0, 2 * k, 2),
        "names": names,
        "scores": scores,
        "trace": trace,
        "weights": None,
        "facts": {"passes": 1},
        "seconds": 0.25,
        "criterion": "jmi",
        "strategy": "forward",
        "info": "plugin",
        "params": {"beta": 1.0},
        "seed": 0,
        "n_rows": 100,
        "n_features": 2 * k + 1,
    }
    return Result(**(given | other))


def alike(a: Any, b: Any) -> bool:
    """Equal in value and in kind, NaN to NaN and -0.0 to -0.0, arrays and tuples all the way down."""
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.shape == b.shape
            and a.dtype == b.dtype
            and alike(a.tolist(), b.tolist())
        )
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[key], b[key]) for key in a)
    return bool(a == b)


# ---- JSON

texts = st.text(max_size=20) | st.sampled_from(["inf", "-inf", "nan", "$tuple", "$dict", "NaN"])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
dtypes = ("f8", "f4", "f2", "i8", "i1", "u8", "?", ">f8")
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
arrays: st.SearchStrategy[Any] = st.sampled_from(dtypes).flatmap(
    lambda name: hnp.arrays(np.dtype(name), shapes)
)
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, max_size=4), st.dictionaries(texts, values, max_size=2))
def test_facts_and_params_survive_json(facts: dict[str, Any], params: dict[str, Any]) -> None:
    back = Result.from_json(make(facts=facts, params=params).to_json())
    assert alike(back.facts, facts)
    assert alike(back.params, params)


@given(st.lists(st.floats(), min_size=3, max_size=3), st.none() | st.lists(st.floats(), max_size=5))
def test_scores_and_weights_survive_json_bit_for_bit(
    scores: list[float], weights: list[float] | None
) -> None:
    result = make(scores=np.array(scores), weights=weights, seconds=scores[0])
    back = Result.from_json(result.to_json())
    assert alike(back.scores, result.scores)
    assert alike(back.weights, result.weights)
    assert alike(back.seconds, result.seconds)


@given(st.lists(st.text(), min_size=1, max_size=4), st.floats(), st.dictionaries(st.text(), st.floats()))
def test_the_trace_survives_json(names: list[str], score: float, parts: dict[str, float]) -> None:
    trace = [Step(1, 0, names[0], score, parts, None, None, score, True, False)]
    back = Result.from_json(make(names, trace=trace).to_json())
    assert back.names == tuple(names)
    assert repr(back.trace) == repr(tuple(trace))


def test_every_field_survives_json() -> None:
    result = make(HOSTILE, weights=[0.1, math.inf], info=None, seed=None)
    back = Result.from_json(result.to_json())
    assert back.same_as(result)
    assert back.trace == result.trace
    assert back.to_json() == result.to_json()
    for name in ("names", "facts", "seconds", "criterion", "strategy", "info", "params", "seed", "n_rows"):
        assert alike(getattr(back, name), getattr(result, name)), name
    assert back.n_features == result.n_features
    assert alike(back.weights, result.weights)


def test_json_is_plain_json() -> None:
    """Other languages can read it: no NaN literals, ASCII only, infinities as strings."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = make(scores=[math.inf, -math.inf, math.nan]).to_json()
    doc = json.loads(text, parse_constant=refuse)
    assert doc["scores"] == ["inf", "-inf", "nan"]
    assert doc["format"] == "jifs-result"
    assert doc["version"] == 1
    assert make(HOSTILE).to_json().isascii()


def test_numpy_scalars_and_strange_objects_are_carried() -> None:
    facts = {
        "a": np.float32(0.1),
        "b": np.int64(3),
        "c": np.bool_(True),
        "d": np.str_("s"),
        "e": {1, 2},
        "f": len,
    }
    back = Result.from_json(make(facts=facts).to_json()).facts
    assert back["a"] == float(np.float32(0.1))
    assert (back["b"], back["c"], back["d"]) == (3, True, "s")
    assert back["e"] == "{1, 2}"
    assert "len" in back["f"]


def test_json_to_and_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    result = make()
    assert path.write_text("old")
    assert result.to_json(path) == path.read_text()
    assert Result.from_json(path).same_as(result)
    assert Result.from_json(str(path)).same_as(result)
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"format": "jifs-result"}',
        '{"format": "jifs-result", "version": 1}',
        '{"format": "something else", "version": 1}',
        "[" * 100_000,
        "",
        "no such file",
        "x" * 5000,
        "a\0b",
    ],
)
def test_foreign_json_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Result.from_json(text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 2),
        ("version", True),
        ("indices", [0, 0, 2]),
        ("indices", [0, 2, 99]),
        ("indices", [-1, 2, 4]),
        ("indices", [0, 2]),
        ("indices", [0, 2, 10**30]),
        ("indices", [0.0, 2, 4]),
        ("names", ["a", "b"]),
        ("names", "abc"),
        ("names", [1, 2, 3]),
        ("scores", [1, 2, "three"]),
        ("scores", [1, 2, True]),
        ("trace", [{}]),
        ("trace", [3]),
        ("facts", []),
        ("facts", {"$tuple": []}),
        ("facts", {"a": {"$unknown": 1}}),
        ("facts", {"a": {"$array": ["<U99999999999", [1], ["a"]]}}),
        ("facts", {"a": {"$array": ["V8", [1], ["a"]]}}),
        ("facts", {"a": {"$array": ["<f8", [3], [1.0]]}}),
        ("facts", {"a": {"$array": ["<f8", [-7], [1.0]]}}),
        ("facts", {"a": {"$dict": [[[], 1]]}}),
        ("facts", {"a": {"$dict": 3}}),
        ("params", None),
        ("criterion", 3),
        ("seconds", "fast"),
        ("weights", "heavy"),
        ("n_features", "many"),
    ],
)
def test_a_damaged_result_is_refused(key: str, value: Any) -> None:
    doc = json.loads(make().to_json())
    doc[key] = value
    with pytest.raises(InputError, match=r"is not a (whole )?JIFS result"):
        Result.from_json(json.dumps(doc))
    del doc[key]
    with pytest.raises(InputError, match=r"is not a (whole )?JIFS result"):
        Result.from_json(json.dumps(doc))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not JSON"):
        Result.from_json(tmp_path / "r.json")
    with pytest.raises(InputError, match="cannot read"):
        Result.from_json(tmp_path)


# ---- files


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "missing" / "bad.txt"
    with pytest.raises(InputError, match="no folder"):
        save_texts({good: "text", bad: "text"})
    with pytest.raises(InputError, match="is a folder"):
        save_texts({good: "text", tmp_path: "text"})
    with pytest.raises(InputError, match="cannot write"):
        save_texts({good: "text", tmp_path / ("n" * 300): "text"})
    assert list(tmp_path.iterdir()) == []
    save_texts({good: "näme\r\n", tmp_path / "second": "\udc80"})
    assert good.read_bytes() == "näme\r\n".encode()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["good.txt", "second"]


def test_a_failure_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        make().to_json(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_followed_and_devices_stay_devices(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    make().to_json(link)
    assert link.is_symlink()
    assert Result.from_json(real).same_as(make())
    make().to_json("/dev/null")
    assert not Path("/dev/null").is_file()


# ---- what it is


def test_fields_become_arrays_and_tuples() -> None:
    result = make(indices=[0, 2, 4], scores=[3, 2, 1], weights=[1, 2])
    assert result.indices.dtype == np.intp
    assert result.scores.dtype == np.float64
    assert result.weights is not None
    assert result.weights.dtype == np.float64
    assert isinstance(result.names, tuple)
    assert isinstance(result.trace, tuple)


def test_mask_marks_the_selected() -> None:
    assert make().mask().tolist() == [True, False, True, False, True, False, False]


def test_same_as_asks_for_every_bit() -> None:
    result = make()
    assert result.same_as(make(seconds=9.0))
    assert not result.same_as(make(scores=np.nextafter(result.scores, 2)))
    assert not result.same_as(make(indices=[0, 4, 2]))
    assert not make(scores=[0.0, 0.0, 0.0]).same_as(make(scores=[-0.0, 0.0, 0.0]))


def test_repr_is_one_short_line() -> None:
    assert repr(make()) == "<Result jmi/forward: 3 of 7 features: age, height, weight>"
    line = repr(make(HOSTILE))
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 140


# ---- text


def test_the_table_says_it_all() -> None:
    lines = str(make()).splitlines()
    assert lines[0] == "jmi by forward with plugin information: 3 of 7 features, 100 rows, 0.25 s"
    heads = lines[2].split()
    assert heads == ["step", "feature", "score", "relevance", "redundancy", "runner-up", "margin", "note"]
    assert lines[4].split() == [
        "1",
        "age",
        "1.0000",
        "0.5000",
        "0.0000",
        "rival",
        "of",
        "age",
        "0.1250",
        "included",
    ]
    assert lines[5].endswith("tie")
    assert lines[6].split() == ["3", "weight", "0.1000", "2.5000", "-0.5000"]


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5), st.integers(90, 140))
def test_the_table_keeps_its_width_and_one_line_per_step(names: list[str], width: int) -> None:
    lines = make(names).table(width).splitlines()
    assert len(lines) == 2 + len(names)
    assert all(columns(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)


def test_many_parts_give_way_to_names() -> None:
    parts = {f"part{i}": 0.5 for i in range(20)}
    text = make(trace=[Step(1, 0, "age", 1.0, parts)]).table(100)
    assert "age" in text
    assert "part0" in text
    assert "no room for: part" in text
    assert max(map(len, text.splitlines()[:3])) <= 100


def test_the_headline_says_why_it_ended_early() -> None:
    text = str(make(facts={"stopped": "best score 0.01 is below 0.05"}))
    assert text.splitlines()[0].endswith("0.25 s; stopped: best score 0.01 is below 0.05")


@pytest.mark.parametrize(
    "facts", [{"warnings": 3}, {"warnings": None}, {"warnings": "one <b>"}, {"stopped": 3}]
)
def test_any_facts_can_be_shown(facts: dict[str, Any]) -> None:
    assert "<b>" not in make(facts=facts)._repr_html_()
    assert str(make(facts=facts))


def test_a_result_without_trace_or_features_has_a_table() -> None:
    assert "height" in make(trace=()).table()
    assert make(names=[]).table().splitlines()[0].split()[:3] == ["step", "feature", "score"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.0, "0.0000"),
        (1e-9, "1.00e-09"),
        (-2.5e7, "-2.50e+07"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@given(st.text(max_size=100), st.integers(2, 50))
def test_shown_fits_and_prints(text: str, width: int) -> None:
    assert columns(shown(text, width)) <= width
    assert shown(text, width).isprintable()
    if text.isprintable() and columns(text) <= width and len(text) <= width:
        assert shown(text, width) == text


# ---- HTML


def test_html_escapes_names_parts_facts_and_params() -> None:
    evil = "<script>alert(1)</script>"
    trace = [Step(1, 0, evil, 1.0, {evil: 0.5}, 1, evil, 0.5)]
    result = make(
        [evil], trace=trace, facts={evil: evil, "warnings": [evil]}, params={evil: evil}, criterion=evil
    )
    for text in (result._repr_html_(), html_page(result, evil, evil, evil)):
        assert "<script" not in text
        assert "&lt;script&gt;" in text
    assert "&quot;q&quot; &#x27;q&#x27;" in make(HOSTILE)._repr_html_()


def test_html_shows_steps_warnings_settings_and_facts() -> None:
    text = make(facts={"passes": 3, "warnings": ["one class only"]})._repr_html_()
    assert text.count("<tr>") >= 3 + 1
    assert "one class only" in text
    assert "passes" in text
    assert "<details>" in text
    assert "<td>beta</td>" in text


def test_the_page_loads_nothing() -> None:
    text = html_page(make(scores=[math.inf, math.nan, -1.0]), "title")
    assert text.startswith("<!DOCTYPE html>")
    assert "src=" not in text
    assert "href=" not in text
    assert "<script" not in text
    assert "default-src 'none'" in text


# ---- frames and figures


def test_to_frame_is_pandas_if_it_can() -> None:
    pd = pytest.importorskip("pandas")
    frame = make().to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["name"].tolist() == ["age", "height", "weight"]
    assert frame["relevance"].tolist() == [0.5, 1.5, 2.5]
    assert frame["runner_up"].isna().tolist() == [False, False, True]
    assert frame["tie"].tolist() == [False, True, False]
    assert len(make(names=[]).to_frame()) == 0


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    """Imports of these fail from now on."""
    real = builtins.__import__

    def fake(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] in missing:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    for module in list(sys.modules):
        if module.partition(".")[0] in missing:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", fake)


def test_to_frame_falls_back_to_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    pl = pytest.importorskip("polars")
    without(monkeypatch, "pandas")
    frame = make().to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["runner_up"].to_list() == [1, 3, None]
    assert len(make(names=[]).to_frame()) == 0


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pandas", "polars", "matplotlib")
    with pytest.raises(InputError, match="pip install pandas"):
        make().to_frame()
    with pytest.raises(InputError, match=r"jifs\[plot\]"):
        make().plot()


def test_a_part_named_like_a_column_keeps_its_own() -> None:
    rows = make(trace=[Step(1, 0, "age", 1.0, {"score": 7.0})]).records()
    assert rows[0]["score"] == 1.0
    assert rows[0]["part_score"] == 7.0


@pytest.mark.parametrize("k", [0, 1, 3, 120])
def test_plot_draws_score_parts_and_margin(k: int) -> None:
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    names = [f"$\\frac{{{i}<script>" for i in range(k)]
    figure = make(names).plot()
    try:
        figure.canvas.draw()
        labels = [axes.get_ylabel() for axes in figure.axes]
        assert labels[0] == "score when chosen"
        assert labels[1:] == (["parts of the score", "margin"] if k > 1 else ["parts of the score"][:k])
        assert figure.axes[0].get_title(loc="left") == f"jmi by forward: {k} of {2 * k + 1} features"
        if 0 < k < 80:
            assert [t.get_text() for t in figure.axes[-1].get_xticklabels()] == names
    finally:
        plt.close(figure)


# ---- progress


def test_a_function_hears_done_total_and_note() -> None:
    heard: list[tuple[int, int, str]] = []
    with as_progress(lambda done, total, note: heard.append((done, total, note))) as progress:
        progress.start(3, "steps")
        progress.advance(1, "age")
        progress.advance(2)
    assert heard == [(0, 3, "steps"), (1, 3, "age"), (3, 3, "")]


def test_silence_is_the_default_and_off_a_terminal() -> None:
    assert as_progress(False) is silent
    assert as_progress(None) is silent
    assert as_progress(True) is silent, "pytest's stderr is no terminal"


def test_an_object_of_the_users_is_closed_even_after_an_error() -> None:
    class Mine:
        def __init__(self) -> None:
            self.heard: list[str] = []

        def start(self, total: int, what: str) -> None:
            self.heard.append(f"start {total} {what}")

        def advance(self, n: int, note: str) -> None:
            self.heard.append(f"advance {n} {note}")

        def close(self) -> None:
            self.heard.append("close")

    mine = Mine()

    def work() -> None:
        with as_progress(mine) as progress:
            progress.start(2, "steps")
            progress.advance(1, "a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert mine.heard == ["start 2 steps", "advance 1 a", "close"]
    own = Progress()
    assert as_progress(own) is own


def test_other_things_are_no_progress() -> None:
    with pytest.raises(InputError, match="progress must be"):
        as_progress(3)


def test_the_bar_is_drawn_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with bar() as progress:
        assert progress is not silent
        progress.start(2, "steps [red]")
        progress.advance(1, "a [b]")
        progress.advance(1)
    said = capsys.readouterr()
    assert said.out == ""
    assert "steps [red]" in said.err
