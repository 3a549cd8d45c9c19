"""The command line: what it prints, what it writes, and how it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import jifs
from jifs import registry
from jifs.cli import app
from jifs.cli_input import pairs_of, stop_of, value_of
from jifs.errors import InputError, JifsWarning
from jifs.result import Result

HOSTILE = "<script>alert('x')</script>"


def run(*args: str | Path, **env: str) -> Any:
    """One command in this process."""
    return CliRunner().invoke(app, [str(arg) for arg in args], env=env)


def fresh(*args: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own."""
    command = [sys.executable, "-m", "jifs.cli", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, encoding="utf-8")


def table_text(rows: int = 40, names: tuple[str, ...] = ("a", "b", "c", "y")) -> str:
    """A CSV in which the first column tells the class, the second half of it, the third nothing."""
    rng = np.random.default_rng(0)
    lines = [",".join(f'"{name}"' for name in names)]
    for i in range(rows):
        y = i % 2
        cells = [y, y if rng.random() < 0.8 else 1 - y, rng.integers(2)]
        lines.append(",".join(map(str, cells[: len(names) - 1])) + f",{'no' if y else 'yes'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(table_text(), encoding="utf-8")
    return path


# ---- select


def test_select_prints_the_table(data: Path) -> None:
    done = run("select", data, "--target", "y", "-k", "2")
    assert done.exit_code == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("jmi by forward with plugin information for 'y': 2 of 3 features, 40 rows")
    assert lines[2].split()[:3] == ["step", "feature", "score"]
    assert lines[4].split()[1] == "a"
    assert all(len(line) <= 100 for line in lines)


def test_select_equals_the_library(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    options = "-k 2 -c mifs --param beta=0.5 --info miller_madow --exclude c --include b --strategy forward"
    done = run("select", data, "-t", "y", *options.split(), "--seed", "7", "--json", out, "--quiet")
    assert (done.exit_code, done.stdout) == (0, "")
    expected = jifs.select(
        data,
        "y",
        k=2,
        criterion="mifs",
        params={"beta": 0.5},
        info="miller_madow",
        exclude=["c"],
        include=["b"],
        random_state=7,
    )
    found = Result.from_json(out)
    assert found.same_as(expected)
    assert found.names == ("b", "a")
    assert found.seed == 7
    assert found.params == expected.params
    assert found.trace[0].included


def test_json_dash_prints_json_alone(data: Path) -> None:
    done = run("select", data, "--target", "y", "-k", "99", "--json", "-")
    assert json.loads(done.stdout)["format"] == "jifs-result"
    assert Result.from_json(done.stdout).names[0] == "a"
    assert re.fullmatch(r"jifs: warning: .*99.*\n", done.stderr), "k beyond the features warns, on stderr"


def test_all_outputs_at_once(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    files = ("--json", folder / "r.json", "--csv", folder / "r.csv", "--report", folder / "r.html")
    done = run("select", data, "--target", "y", "-k", "2", *files)
    assert done.exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["r.csv", "r.html", "r.json"]
    result = Result.from_json(folder / "r.json")
    with open(folder / "r.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(row["name"] for row in rows) == result.names
    assert [float(row["score"]) for row in rows] == result.scores.tolist()
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "data.csv" in page
    assert result.names[0] in page


def test_names_are_data(tmp_path: Path) -> None:
    """Markup, line breaks, escape codes and other alphabets pass through every output unharmed and harmless."""
    names = (HOSTILE, "line\nbreak\x1b[31m", "名前 [red]", "y")
    path = tmp_path / "data.csv"
    path.write_text(table_text(names=names), encoding="utf-8")
    page = tmp_path / "r.html"
    done = run("select", path, "--target", "y", "--report", page, "--csv", tmp_path / "r.csv", "-k", "3")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert "名前 [red]" in done.stdout
    assert len(done.stdout.splitlines()) == 4 + 3
    assert "<script" not in page.read_text(encoding="utf-8")
    text = run("select", path, "--target", "y", "-k", "3", "--json", "-").stdout
    assert set(Result.from_json(text).names) == set(names[:3])


def test_bundled_data_and_drop_constant() -> None:
    done = run("select", "digits", "-k", "64", "--drop-constant", "--json", "-", "--criterion", "mim")
    assert done.exit_code == 0
    result = Result.from_json(done.stdout)
    assert result.n_rows == 1797
    assert not {"pixel_0_0", "pixel_4_0", "pixel_4_7"} & set(result.names), "these are always 0"


def test_a_weight_of_two_is_a_row_twice(tmp_path: Path) -> None:
    lines = table_text().splitlines()
    single, twice = tmp_path / "weighted.csv", tmp_path / "twice.csv"
    heavy = [i % 3 == 0 for i in range(len(lines) - 1)]
    weighted = [f"{line},{1 + w}" for line, w in zip(lines[1:], heavy, strict=True)]
    single.write_text("\n".join([lines[0] + ",w", *weighted]))
    repeated = [line for line, w in zip(lines[1:], heavy, strict=True) for _ in range(1 + w)]
    twice.write_text("\n".join([lines[0], *repeated]))
    one = run("select", single, "-t", "y", "--weights", "w", "--json", "-", "-k", "3", "--bins", "none")
    two = run("select", twice, "-t", "y", "--json", "-", "-k", "3", "--bins", "none")
    assert one.exit_code == two.exit_code == 0
    a, b = Result.from_json(one.stdout), Result.from_json(two.stdout)
    assert a.names == b.names
    np.testing.assert_allclose(a.scores, b.scores, rtol=0, atol=1e-12)


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Path]:
    """A file with one criterion, forgotten again after the test."""
    path = tmp_path / "mine.py"
    path.write_text(
        '"""Last first: J(j) = j."""\n'
        "import numpy as np\n"
        "from dataclasses import dataclass\n"
        "from jifs import criterion\n"
        '@criterion("lastfirst", default="rank", cite="me2024")\n'
        "@dataclass(frozen=True)\n"
        "class LastFirst:\n"
        '    """J(j) = j: the last feature first."""\n'
        "    def ranks(self, stats):\n"
        "        return np.arange(float(stats.m))\n"
    )
    yield path
    registry._registered.pop(("criterion", "lastfirst"), None)


def test_a_plugin_file_is_used(data: Path, plugin: Path) -> None:
    done = run("select", data, "-t", "y", "--plugin", plugin, "-c", "lastfirst", "-k", "2", "--json", "-")
    assert done.exit_code == 0, done.stderr
    assert Result.from_json(done.stdout).names == ("c", "b")
    shown = run("show", "lastfirst", "--plugin", plugin).stdout
    assert "J(j) = j" in shown
    assert f"--plugin {plugin}" in shown
    assert "lastfirst" in run("list", "--plugin", plugin).stdout


def test_stop_rules(data: Path) -> None:
    assert len(names_of("select", data, "-t", "y", "-c", "mim", "--stop", "0.05")) < 3
    rule = "permutation,level=0.05,permutations=50"
    assert "a" in names_of("select", data, "-t", "y", "-c", "mim", "--stop", rule, "--seed", "3")


def names_of(*args: str | Path) -> tuple[str, ...]:
    done = run(*args, "--json", "-")
    assert done.exit_code == 0, done.stderr
    return Result.from_json(done.stdout).names


def test_threads_change_nothing() -> None:
    texts = [run("select", "wine", "--threads", n, "--json", "-").stdout for n in ("1", "2")]
    assert Result.from_json(texts[0]).same_as(Result.from_json(texts[1]))


# ---- refusals

FILES: dict[str, str | bytes] = {
    "good.csv": table_text(),
    "no_target.csv": "a,b\n1,2\n2,3\n",
    "nan.csv": table_text() + "nan,0,0,yes\n,0,0,yes\n",
    "inf.csv": table_text() + "inf,0,0,yes\n",
    "nan_target.csv": "a,y\n1.5,0.5\n2.5,nan\n3.5,1.5\n",
    "text.csv": "a,y\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(30)) + "oops,1\n",
    "empty.csv": "",
    "header.csv": "a,b,y\n",
    "one_row.csv": "a,b,y\n1,2,yes\n",
    "twice.csv": "a,a,y\n1,2,yes\n2,3,no\n",
    "ragged.csv": "a,b,y\n1,2,yes\n1,no\n",
    "real.csv": "a,y\n1,0.5\n2,1.25\n1,2.5\n2,0.1\n",
    "weights.csv": "a,w,y\n1,-1,yes\n2,1,no\n1,1,no\n",
    "only_target.csv": "y\nyes\nno\n",
    "noise.parquet": b"not parquet at all",
    "noise.arff": "@relation x\n@data\n1,2\n",
    "unknown.xyz": "a,y\n1,2\n",
    "raises.py": "raise RuntimeError('from inside')\n",
    "syntax.py": "def broken(:\n",
    "registers_nothing.py": "x = 1\n",
    "exits.py": "import sys\nsys.exit(0)\n",
}

REFUSED = [
    (["nan.csv", "-t", "y"], r"'a'.*2.*42"),
    (["inf.csv", "-t", "y"], r"'a'.*1 infinite.*41"),
    (["nan_target.csv", "-t", "y"], r"'y'.*NaN"),
    (["text.csv", "-t", "y"], r"'a'.*oops"),
    (["good.csv", "-t", "yy"], r"'yy'.*Did you mean 'y'"),
    (["no_target.csv"], r"--target.*'a', 'b'"),
    (["good.csv", "-t", "y", "-c", "jmmi"], r"criterion 'jmmi'.*Did you mean.*'jmi'"),
    (["good.csv", "-t", "y", "--strategy", "forwards"], r"strategy 'forwards'.*Did you mean.*'forward'"),
    (["good.csv", "-t", "y", "--info", "pluggin"], r"'pluggin'.*Did you mean.*'plugin'"),
    (["good.csv", "-t", "y", "-k", "-3"], r"\bk\b.*-3"),
    (["good.csv", "-t", "y", "-k", "2.5"], r"\bk\b.*2\.5"),
    (["good.csv", "-t", "y", "-k", "many"], r"\bk\b.*many"),
    (["empty.csv", "-t", "y"], r"empty"),
    (["header.csv", "-t", "y"], r"row|sample"),
    (["one_row.csv", "-t", "y"], r"1 (row|sample)"),
    (["only_target.csv", "-t", "y"], r"feature|column"),
    (["real.csv", "-t", "y", "-c", "jmi"], r"jmi.*class|class.*jmi"),
    (["diabetes"], r"class"),
    (["twice.csv", "-t", "y"], r"'a'"),
    (["ragged.csv", "-t", "y"], r"ragged\.csv.*3|3.*ragged\.csv"),
    (["missing.csv", "-t", "y"], r"missing\.csv"),
    (["wne"], r"'wne'.*Did you mean 'wine'"),
    (["wine", "-t", "alcohol"], r"own target"),
    (["pickled.npz"], r"pickle"),
    (["noise.parquet", "-t", "y"], r"noise\.parquet"),
    (["noise.arff", "-t", "y"], r"noise\.arff"),
    (["unknown.xyz", "-t", "y"], r"unknown\.xyz|xyz"),
    (["good.csv", "-t", "y", "--plugin", "raises.py"], r"raises\.py.*from inside"),
    (["good.csv", "-t", "y", "--plugin", "syntax.py"], r"syntax\.py.*SyntaxError"),
    (["good.csv", "-t", "y", "--plugin", "registers_nothing.py"], r"registers nothing"),
    (["good.csv", "-t", "y", "--plugin", "exits.py"], r"exits\.py"),
    (["good.csv", "-t", "y", "--plugin", "no.py"], r"no\.py"),
    (["good.csv", "-t", "y", "--bins", "1.5"], r"bins"),
    (["good.csv", "-t", "y", "--bins", "mld"], r"bins.*mld|mld.*bins"),
    (["good.csv", "-t", "y", "--task", "clas"], r"task.*clas"),
    (["good.csv", "-t", "y", "--discrete", "z"], r"'z'"),
    (["good.csv", "-t", "y", "--include", "z"], r"'z'"),
    (["good.csv", "-t", "y", "--exclude", "z"], r"'z'"),
    (["good.csv", "-t", "y", "--weights", "z"], r"'z'"),
    (["weights.csv", "-t", "y", "--weights", "w"], r"negative"),
    (["good.csv", "-t", "y", "--param", "beta"], r"NAME=VALUE.*'beta'"),
    (["good.csv", "-t", "y", "--param", "nosuch=1"], r"nosuch"),
    (["good.csv", "-t", "y", "--stop", "sometimes"], r"stop.*sometimes"),
    (["good.csv", "-t", "y", "--stop", "permutation,level=2"], r"level"),
    (["good.csv", "-t", "y", "--threads", "two"], r"--threads"),
    (["good.csv", "-t", "y", "--nosuch"], r"--nosuch"),
    ([], r"DATA"),
]


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    np.savez(folder / "pickled.npz", X=np.array([{"a": 1}, {"b": 2}], dtype=object), y=np.array([0, 1]))
    return folder


@pytest.mark.parametrize(("args", "says"), REFUSED, ids=[" ".join(args) or "nothing" for args, _ in REFUSED])
def test_bad_input_is_one_line_and_status_2(
    args: list[str], says: str, bad_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bad_files)
    outputs: list[str | Path] = [
        "--json",
        tmp_path / "r.json",
        "--csv",
        tmp_path / "r.csv",
        "--report",
        tmp_path / "r.html",
    ]
    done = run("select", *args, *outputs)
    assert done.exit_code == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    *warned, line = done.stderr.splitlines()
    assert line.startswith("jifs: ")
    assert all(text.startswith("jifs: warning: ") for text in warned)
    assert re.search(says, line), line
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*args: Any, **more: Any) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr(jifs, "select", work)
    asked: list[tuple[list[str | Path], str]] = [
        (["--json", tmp_path / "no" / "r.json"], "there is no folder"),
        (["--csv", tmp_path], "it is a folder"),
        (["--report", data], "would overwrite the data"),
        (["--json", tmp_path / "r", "--csv", tmp_path / "r"], "would overwrite the file of --json"),
        (["--csv", "-"], "only --json takes -"),
    ]
    for output, says in asked:
        done = run("select", data, "-t", "y", *output)
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1
        assert says in done.stderr
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(data: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    done = run("select", data, "-t", "y", "--json", locked / "r.json")
    assert done.exit_code == 2
    assert "not writable" in done.stderr


def test_the_library_says_what_the_command_says(bad_files: Path) -> None:
    with pytest.raises(InputError) as caught:
        jifs.select(bad_files / "nan.csv", "y")
    line = run("select", bad_files / "nan.csv", "-t", "y").stderr
    assert line == f"jifs: {caught.value}\n"


def test_warnings_are_single_lines(tmp_path: Path) -> None:
    path = tmp_path / "one_class.csv"
    path.write_text("a,b,y\n1,2,yes\n2,1,yes\n1,1,yes\n")
    done = run("select", path, "-t", "y", "-k", "2")
    assert done.exit_code == 0
    assert re.fullmatch(r"jifs: warning: [^\n]*class[^\n]*\n", done.stderr)
    assert "b" in done.stdout


# ---- other ways to end


def test_the_unexpected_is_one_line_with_a_hint(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **more: Any) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(jifs, "select", fail)
    done = run("select", data, "-t", "y", JIFS_TRACEBACK="")
    assert done.exit_code == 1
    assert done.stderr == "jifs: RuntimeError: first line second line (--traceback shows where)\n"
    for seen in (
        run("select", data, "-t", "y", "--traceback"),
        run("select", data, "-t", "y", JIFS_TRACEBACK="1"),
    ):
        assert seen.exit_code == 1
        assert "Traceback" in seen.stderr
        assert "in fail" in seen.stderr
        assert "shows where" not in seen.stderr


def test_an_interrupt_is_130(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(jifs, "select", stop)
    done = run("select", data, "-t", "y", "--json", tmp_path / "r.json")
    assert done.exit_code == 130
    assert done.stderr == "jifs: interrupted\n"
    assert list(tmp_path.iterdir()) == [data]


def test_an_interrupted_selection_is_shown_but_not_written(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = jifs.select

    def part(*args: Any, **more: Any) -> Any:
        return replace(real(*args, **more), facts={"stopped": "interrupted after 2 features"})

    monkeypatch.setattr(jifs, "select", part)
    done = run("select", data, "-t", "y", "-k", "2", "--json", tmp_path / "r.json")
    assert done.exit_code == 130
    assert done.stderr == "jifs: interrupted\n"
    assert "interrupted after 2 features" in done.stdout
    assert list(tmp_path.iterdir()) == [data]


def test_each_warning_is_said_once_and_strangers_are_named(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = jifs.select

    def warn(*args: Any, **more: Any) -> Any:
        import warnings

        for _ in range(2):
            warnings.warn("ours\nhas two lines", JifsWarning, stacklevel=1)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("theirs", FutureWarning, stacklevel=1)
        return real(*args, **more)

    monkeypatch.setattr(jifs, "select", warn)
    said = run("select", data, "-t", "y", "-k", "1").stderr
    assert said == "jifs: warning: ours has two lines\njifs: warning: FutureWarning: theirs\n"


@pytest.mark.parametrize("args", [["slect"], ["--nosuch"], ["show"], ["list", "extra"], ["demo", "--out"]])
def test_misuse_is_one_line(args: list[str]) -> None:
    done = run(*args)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert re.fullmatch(r"jifs: [^\n]+\n", done.stderr)


# ---- list, show, demo, help


def test_list_names_everything() -> None:
    done = run("list")
    assert done.exit_code == 0
    assert done.stderr == ""
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.split()}
    assert {"mim", "mrmr", "jmi", "cmim", "disr", "njmim", "cmi"} <= set(lines)
    assert all("class" in lines[entry.name] for entry in jifs.criteria())
    assert {"rank", "forward", "plugin", "miller_madow", "digits", "diabetes"} <= set(lines)
    assert "\x1b" not in done.stdout


def test_list_json_is_data() -> None:
    found = json.loads(run("list", "--json").stdout)
    assert set(found) == {"criteria", "strategies", "infos", "datasets"}
    mifs = next(entry for entry in found["criteria"] if entry["name"] == "mifs")
    assert mifs["params"]["beta"] == 1.0
    assert mifs["faces"] == ["steps"]
    assert mifs["cite"]


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        (
            "mifs",
            "criterion",
            ["beta = 1.0", "forward", "steps", "class", "--criterion mifs --param beta=1.0"],
        ),
        ("cmim", "criterion", ["include_marginal = False", "Fleuret"]),
        ("forward", "strategy", ["--strategy forward", "jmi", "cmim"]),
        ("miller_madow", "info", ["--info miller_madow", "Miller"]),
    ],
)
def test_show_tells_all_of_one(name: str, kind: str, says: list[str]) -> None:
    done = run("show", name)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{name} ({kind})\n")
    for text in says:
        assert text in done.stdout
    example = done.stdout.rstrip().splitlines()[-1].removeprefix("try: jifs ").split()
    tried = run(*example)
    assert tried.exit_code == 0, (example, tried.stderr)


def test_every_criterion_can_be_shown_and_its_example_runs() -> None:
    for entry in jifs.criteria():
        example = run("show", entry.name).stdout.rstrip().splitlines()[-1].removeprefix("try: jifs ")
        assert run(*example.split()).exit_code == 0, example


def test_show_suggests_near_names() -> None:
    done = run("show", "jmmi")
    assert done.exit_code == 2
    assert re.fullmatch(r"jifs: .*'jmmi'.*Did you mean.*'jmi'.*\n", done.stderr)


def test_demo_shows_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("demo")
    assert done.exit_code == 0
    assert "10 of 64 features" in done.stdout
    assert "jifs select" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["jifs_demo.html"]
    page = (tmp_path / "jifs_demo.html").read_text(encoding="utf-8")
    assert "pixel_" in page
    assert "<script" not in page
    assert run("demo", "--out", "other.html", "--quiet").stdout == ""
    assert (tmp_path / "other.html").exists()
    assert run("demo", "--out", "no/other.html").exit_code == 2


def test_help_and_version() -> None:
    for args in ([], ["--help"], ["-h"]):
        done = run(*args)
        assert done.exit_code == 0
        assert all(command in done.stdout for command in ("demo", "list", "show", "select"))
    assert run("--version").stdout == f"jifs {jifs.__version__}\n"
    assert "--criterion" in run("select", "--help").stdout


# ---- option values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("true", True),
        ("False", False),
        ("None", None),
        ("word", "word"),
        ("", ""),
        ("1,2", "1,2"),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_pairs_and_stop_rules() -> None:
    assert pairs_of(["a=1", "b = x=y"], "--param") == {"a": 1, "b": "x=y"}
    for bad in (["a"], ["=1"], ["a=1", "a=2"]):
        with pytest.raises(InputError, match="--param"):
            pairs_of(bad, "--param")
    assert stop_of("0.01") == 0.01
    assert stop_of("exhausted") == "exhausted"
    assert stop_of("permutation, level=0.01") == {"rule": "permutation", "level": 0.01}


# ---- in a process of its own


@pytest.mark.fresh
def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom jifs.cli import app\n"
        "try:\n    app(['--help'], prog_name='jifs')\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"numpy", "numba", "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "matplotlib"}
    assert not heavy & set(done.stderr.split())


@pytest.mark.fresh
def test_a_whole_run_from_outside(data: Path, tmp_path: Path) -> None:
    done = fresh("select", data.name, "--target", "y", "-k", "2", "--json", "-", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert Result.from_json(done.stdout).names[0] == "a"
    refused = fresh("select", data.name, "--target", "z", "--json", "r.json", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.fresh
def test_a_reader_that_leaves_early_is_no_news() -> None:
    command = [sys.executable, "-m", "jifs.cli", "list", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.fresh
def test_a_narrow_encoding_does_not_break_the_table(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(table_text(names=("名前", "b", "c", "y")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "jifs.cli", "select", str(path), "--target", "y", "-k", "2"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert rb"\u540d\u524d" in done.stdout
