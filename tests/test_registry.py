"""The door: entry points, single files and notebook cells; what is broken is named and the rest goes on."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jifs
from jifs import registry
from jifs.errors import InputError, JifsWarning

DECLARED = sorted(e.name for e in metadata.distribution("jifs").entry_points if e.group == registry.GROUP)
OURS = {
    kind: [
        name.removeprefix(f"{kind}.") for name in DECLARED if kind == (name.rpartition(".")[0] or "criterion")
    ]
    for kind in registry.KINDS
}
RNG = np.random.default_rng(4)
Y = RNG.integers(0, 3, 300)
X = np.column_stack(
    [np.where(RNG.random(300) < p, Y, RNG.integers(0, 3, 300)) for p in np.linspace(0.1, 0.8, 7)]
)

HOUSE = '''
"""Joint mutual information [Yang & Moody 1999]:  J(j) = mean over s in S of I(X_j ; Y | X_s)."""
from dataclasses import dataclass, field
import numpy as np
from jifs import Info, criterion, info

@criterion("my_jmi", default="forward", tasks=("class", "real"), cite="yang1999")
@dataclass(frozen=True)
class MyJMI:
    info: Info = field(default_factory=lambda: info("plugin"))

    def open(self, stats):
        return Run(self.info, stats, self.info.relevance(stats))

@dataclass
class Run:
    info: Info
    stats: object
    relevance: np.ndarray
    synergy: np.ndarray | float = 0.0
    taken: int = 0

    def gains(self):
        return self.relevance + self.synergy / max(self.taken, 1)

    def take(self, k):
        self.synergy = self.synergy + self.info.conditional(self.stats, k) - self.info.redundancy(self.stats, k)
        self.taken += 1
'''.lstrip()


@pytest.fixture(autouse=True)
def door(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers, breaks or loads is gone after it."""
    for kind in registry.KINDS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(registry, "_broken", set(registry._broken))


def fresh(code: str, *options: str, cwd: Path | None = None) -> Any:
    """The JSON that a few lines print in a Python of their own."""
    command = [sys.executable, *options, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def scores_of(criterion: Any, **more: Any) -> jifs.Result:
    return jifs.select(X, Y, 3, criterion, **more)


class Upwards:
    """The last feature is the best."""

    def ranks(self, stats: Any) -> np.ndarray:
        return np.arange(stats.m, dtype=float)


def in_module(cls: type, module: str) -> type:
    """A class like this one, written in another module."""
    return type(cls.__name__, (cls,), {"__module__": module, "__doc__": cls.__doc__})


# ---- listed without being imported ---------------------------------------------------------------------------------


def test_the_house_is_complete() -> None:
    assert {"mim", "mifs", "mrmr", "miq", "jmi", "cife", "condred", "betagamma"} <= set(OURS["criterion"])
    assert {"cmim", "icap", "disr", "jmim", "njmim", "cmi"} <= set(OURS["criterion"])
    assert {"plugin", "miller_madow"} <= set(OURS["info"])
    assert {"rank", "forward"} <= set(OURS["strategy"])
    for kind, ours in OURS.items():
        assert registry.names(kind) == ours
        assert [entry.name for entry in registry.entries(kind)] == ours


@pytest.mark.fresh
def test_names_are_listed_without_importing() -> None:
    seen = fresh("""
        import json, sys
        import jifs.registry as door
        names = {kind: door.names(kind) for kind in door.KINDS}
        print(json.dumps([names, sorted(sys.modules)]))
    """)
    assert seen[0] == OURS
    assert not {m for m in seen[1] if m.startswith("jifs_plugins")}
    assert not {"numba", "jifs.estimators.discrete", "jifs.search.forward"} & set(seen[1])


@pytest.mark.fresh
def test_finding_one_imports_its_own_file_only() -> None:
    loaded = fresh("""
        import json, sys
        import jifs.registry as door
        assert door.find("criterion", "icap").name == "icap"
        print(json.dumps(sorted(m for m in sys.modules if m.startswith("jifs_plugins."))))
    """)
    assert loaded == ["jifs_plugins.icap"]


# ---- entry points of strangers -------------------------------------------------------------------------------------

STRANGERS = {
    "stranger_good": """
        import jifs, numpy as np
        @jifs.criterion("good", tasks=("class", "real"), cite="[Nobody 1999]")
        class Good:
            "Twice the index."
            def ranks(self, stats):
                return 2.0 * np.arange(stats.m)
    """,
    "stranger_raises": "raise RuntimeError('from inside')",
    "stranger_exits": "import sys; sys.exit(3)",
    "stranger_silent": "x = 1",
    "stranger_half": """
        import jifs, numpy as np
        @jifs.criterion("first_half")
        class First:
            def ranks(self, stats):
                return np.zeros(stats.m)
        raise OSError("then the disk was full")
    """,
    "stranger_syntax": "def broken(:",
}


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs entry points beside ours: `strangers(good="stranger_good", ...)`, or pairs where names repeat."""
    for name, text in STRANGERS.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    real = registry.entry_points

    def install(*pairs: tuple[str, str], **named: str) -> None:
        new = [EntryPoint(name, value, registry.GROUP) for name, value in (*pairs, *named.items())]
        monkeypatch.setattr(registry, "entry_points", lambda group: [*real(group=group), *new])
        registry._declared.cache_clear()

    yield install
    monkeypatch.undo()
    registry._declared.cache_clear()
    for name in STRANGERS:
        sys.modules.pop(name, None)


def test_a_stranger_comes_in_as_ours_do(strangers: Any) -> None:
    strangers(good="stranger_good")
    assert "good" in registry.names("criterion")
    assert "stranger_good" not in sys.modules
    assert scores_of("good", strategy="rank").indices.tolist() == [6, 5, 4]
    entry = registry.find("criterion", "good")
    assert (entry.summary, entry.tasks, entry.cite) == ("Twice the index", ("class", "real"), "[Nobody 1999]")
    assert (entry.faces, entry.module, entry.kind) == (("ranks",), "stranger_good", "criterion")
    assert "good" in [row.name for row in jifs.criteria()]


@pytest.mark.parametrize(
    ("name", "module", "says"),
    [
        ("raises", "stranger_raises", r"'raises' \(stranger_raises\).*skipped: RuntimeError: from inside"),
        ("silent", "stranger_silent", r"'silent' \(stranger_silent\).*registered no criterion of that name"),
        ("broken", "stranger_syntax", r"'broken' \(stranger_syntax\).*skipped: SyntaxError"),
        ("absent", "stranger_absent", r"'absent' \(stranger_absent\).*skipped: ModuleNotFoundError"),
        ("attribute", "stranger_good:nothing", r"'attribute' .*skipped: AttributeError"),
        ("exits", "stranger_exits", r"'exits' \(stranger_exits\).*skipped: SystemExit"),
        ("first_half", "stranger_half", r"'first_half' \(stranger_half\).*skipped: OSError: then the disk"),
    ],
)
def test_a_broken_one_is_named_and_skipped(strangers: Any, name: str, module: str, says: str) -> None:
    strangers((name, module), ("good", "stranger_good"))
    with pytest.warns(JifsWarning, match=says) as caught:
        rows = jifs.criteria()
    assert len(caught) == 1
    assert [row.name for row in rows] == sorted([*OURS["criterion"], "good"])
    assert name not in registry.names("criterion")
    assert [row.name for row in jifs.criteria()] == [row.name for row in rows]  # and is not said again
    assert len(scores_of("jmi").indices) == 3


def test_a_broken_one_that_is_asked_for_is_unknown(strangers: Any) -> None:
    strangers(raises="stranger_raises")
    with (
        pytest.warns(JifsWarning, match=r"'raises'.*from inside"),
        pytest.raises(InputError, match=r"unknown criterion 'raises'.*Known:.* jmi\b"),
    ):
        registry.find("criterion", "raises")


def test_a_broken_one_of_another_kind(strangers: Any) -> None:
    strangers(("info.raises", "stranger_raises"), ("strategy.silent", "stranger_silent"))
    assert "raises" in registry.names("info")
    assert "silent" in registry.names("strategy")
    with pytest.warns(JifsWarning, match=r"'raises' \(stranger_raises\)"):
        assert [row.name for row in jifs.infos()] == OURS["info"]
    with pytest.warns(JifsWarning, match=r"'silent'.*registered no strategy of that name"):
        assert [row.name for row in jifs.strategies()] == OURS["strategy"]


def test_two_offers_of_one_name(strangers: Any) -> None:
    strangers(("good", "stranger_good"), ("good", "stranger_raises"))
    with pytest.warns(
        JifsWarning, match=r"'good' is offered by stranger_good and by stranger_raises; the first"
    ):
        assert registry.names("criterion").count("good") == 1
    assert registry.find("criterion", "good").module == "stranger_good"


def test_the_same_offer_twice_is_no_news(strangers: Any) -> None:
    strangers(("good", "stranger_good"), ("good", "stranger_good"))
    assert registry.find("criterion", "good").module == "stranger_good"


def test_a_dot_in_a_name_is_a_kind_only_if_it_is_one(strangers: Any) -> None:
    strangers(("criterion.good", "stranger_good"), ("data.odd", "stranger_silent"))
    assert "good" in registry.names("criterion")
    assert "data.odd" in registry.names("criterion")
    assert "odd" not in registry.names("criterion")


# ---- a single file -------------------------------------------------------------------------------------------------


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def plugin(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return plugin


def test_a_plugin_in_twenty_lines(write: Any) -> None:
    assert jifs.load_plugin(write(HOUSE)) == ["my_jmi"]
    mine, ours = scores_of("my_jmi"), scores_of("jmi")
    assert all(step.margin > 1e-6 for step in ours.trace)  # else rounding might choose
    assert mine.indices.tolist() == ours.indices.tolist()
    entry = registry.find("criterion", "my_jmi")
    assert (entry.default, entry.tasks, entry.cite) == ("forward", ("class", "real"), "yang1999")
    assert list(entry.params) == ["info"]
    assert "J(j) = mean over s" in entry.about
    assert scores_of("my_jmi", info="miller_madow").info == "miller_madow"


def test_the_twenty_lines_refuse_a_real_target_because_of_their_info(write: Any) -> None:
    jifs.load_plugin(write(HOUSE))
    with pytest.raises(InputError, match=r"real numbers, but info 'plugin' needs classes"):
        jifs.select(X, RNG.random(300), 2, "my_jmi")


GOOD = """
    import jifs, numpy as np
    @jifs.criterion("{name}")
    class C:
        def ranks(self, stats):
            return {sign}np.arange(stats.m, dtype=float)
"""


def test_a_file_may_register_several_things_and_be_loaded_again(write: Any) -> None:
    both = textwrap.dedent(GOOD).format(name="up", sign="") + textwrap.dedent(GOOD).format(
        name="down", sign="-"
    )
    assert sorted(jifs.load_plugin(write(both))) == ["down", "up"]
    assert scores_of("up", strategy="rank").indices.tolist() == [6, 5, 4]
    turned = both.replace("return np", "return 0 * np")
    assert sorted(jifs.load_plugin(str(write(turned)))) == ["down", "up"]  # edited and run again, silently
    assert scores_of("up", strategy="rank").indices.tolist() == [0, 1, 2]


def test_two_files_of_one_name_are_two_files(write: Any, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    jifs.load_plugin(write(GOOD.format(name="up", sign=""), "a/same.py"))
    with pytest.warns(JifsWarning, match=r"'up' .* is replaced"):
        jifs.load_plugin(write(GOOD.format(name="up", sign="-"), "b/same.py"))
    assert scores_of("up", strategy="rank").indices.tolist() == [0, 1, 2]


FAILING = {
    "raises": ("x = 1\n\nraise KeyError('inside')\n", r"line 3: KeyError: 'inside'"),
    "deep": ("def f():\n    return 1 / 0\n\nf()\n", r"line 2: ZeroDivisionError"),
    "exits": ("import sys\nsys.exit(0)\n", r"line 2: SystemExit: 0"),
    "syntax": ("x = 1\ndef broken(:\n", r"SyntaxError.*line 2"),
    "import": ("import no_such_module_at_all\n", r"line 1: ModuleNotFoundError"),
    "bad name": (
        "import jifs\n@jifs.criterion('Bad Name')\nclass C: ...\n",
        r"line 2: InputError.*'Bad Name'",
    ),
}


@pytest.mark.parametrize("case", FAILING)
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_a_file_that_fails_is_named_with_the_line(
    case: str, relative: bool, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, says = FAILING[case]
    path = write(text)
    monkeypatch.chdir(path.parent)
    before = dict(registry._registered)
    given = Path(path.name) if relative else path
    with pytest.raises(InputError, match=rf"plug-in file '.*mine\.py'.*{says}") as caught:
        jifs.load_plugin(given)
    assert "\n" not in str(caught.value)
    assert registry._registered == before
    assert "jifs_plugin_mine" not in sys.modules


def test_a_file_that_fails_half_way_leaves_nothing(write: Any) -> None:
    before = dict(registry._registered)
    with pytest.raises(InputError, match=r"line \d+: RuntimeError: too late"):
        jifs.load_plugin(write(GOOD.format(name="up", sign="") + "    raise RuntimeError('too late')\n"))
    assert registry._registered == before
    with pytest.raises(InputError, match="unknown criterion 'up'"):
        registry.find("criterion", "up")


@pytest.mark.fresh
def test_a_file_that_fails_takes_nothing_of_ours_with_it(write: Any) -> None:
    """The file's own first question imports `plugin`; forgetting that again would lose it for good."""
    path = write(HOUSE + "\nraise RuntimeError('too late')\n")
    found = fresh(
        f"""
        import json, jifs, jifs.registry as door
        try:
            jifs.load_plugin({str(path)!r})
        except jifs.InputError:
            pass
        result = jifs.select([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1], 1, "jmi")
        print(json.dumps([result.indices.tolist(), door.names("criterion"), door.names("info")]))
        """,
        "-W",
        "error::UserWarning",
    )
    assert found == [[0], OURS["criterion"], OURS["info"]]


@pytest.mark.fresh
def test_a_name_that_a_failing_file_took_comes_back(write: Any) -> None:
    """It took `jmi` before ours was imported, then asked for another name of the same file, then failed."""
    path = write(
        GOOD.format(name="jmi", sign="")
        + "    from jifs import registry\n    registry.find('criterion', 'mrmr')\n    raise RuntimeError\n"
    )
    found = fresh(f"""
        import json, warnings, jifs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                jifs.load_plugin({str(path)!r})
            except jifs.InputError:
                pass
        result = jifs.select([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1], 1, "jmi")
        print(json.dumps(result.trace[0].parts))
    """)
    assert "relevance" in found


def test_an_interrupt_is_no_fault_of_the_file(write: Any) -> None:
    before = dict(registry._registered)
    with pytest.raises(KeyboardInterrupt):
        jifs.load_plugin(write(GOOD.format(name="up", sign="") + "    raise KeyboardInterrupt\n"))
    assert registry._registered == before


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.py", r"plug-in file '.*missing\.py' does not exist"),
        ("", r"plug-in file '.*' does not exist"),
        ("note.txt", r"plug-in file '.*note\.txt' is not a Python file"),
        ("idle.py", r"plug-in file '.*idle\.py' registers nothing; decorate a class with @jifs\.criterion"),
    ],
)
def test_files_that_are_no_plugins(name: str, says: str, write: Any, tmp_path: Path) -> None:
    write("x = 1\n", "idle.py")
    write("x = 1\n", "note.txt")
    with pytest.raises(InputError, match=says):
        jifs.load_plugin(tmp_path / name)


def test_an_info_and_a_strategy_from_a_file(write: Any) -> None:
    names = jifs.load_plugin(
        write("""
            from dataclasses import dataclass
            import jifs
            from jifs.search.base import Outcome, Taken

            @jifs.estimator("half")
            @dataclass(frozen=True)
            class Half(jifs.Info):
                share: float = 0.5
                def relevance(self, stats):
                    return self.share * jifs.info("plugin").relevance(stats)

            @jifs.strategy("worst")
            class Worst:
                "The worst of all."
                needs = "ranks"
                def run(self, face, stats, task):
                    scores = face(stats)
                    j = int(scores.argmin())
                    return Outcome([Taken(j, float(scores[j]), {})])
        """)
    )
    assert sorted(names) == ["half", "worst"]
    worst = jifs.select(X, Y, 1, "mim", strategy="worst", info="half")
    scores = jifs.select(X, Y, 7, "mim").weights
    assert scores is not None
    assert worst.indices.tolist() == [int(scores.argmin())]
    assert worst.scores[0] == pytest.approx(scores.min() / 2)
    assert (worst.strategy, worst.info) == ("worst", "half")
    assert jifs.info("half", share=0.25).share == 0.25
    assert registry.find("strategy", "worst").faces == ("ranks",)


# ---- a decorator in a cell -----------------------------------------------------------------------------------------


def test_a_cell_run_again_replaces_what_it_registered() -> None:
    cell = in_module(Upwards, "__main__")
    jifs.criterion("cell")(cell)
    again = in_module(Upwards, "__main__")
    again.ranks = lambda self, stats: -np.arange(stats.m, dtype=float)  # type: ignore[attr-defined]
    assert jifs.criterion("cell")(again) is again
    assert scores_of("cell", strategy="rank").indices.tolist() == [0, 1, 2]


def test_a_name_that_another_module_has_is_said() -> None:
    with pytest.warns(JifsWarning, match=r"'jmi' of jifs_plugins\.linear is replaced by .*__main__"):
        jifs.criterion("jmi")(in_module(Upwards, "__main__"))
    assert scores_of("jmi", strategy="rank").indices.tolist() == [6, 5, 4]


def test_that_warning_points_at_the_decorator() -> None:
    with pytest.warns(JifsWarning) as said:
        jifs.criterion("jmi")(in_module(Upwards, "__main__"))
    assert said[0].filename == __file__


def test_one_name_may_be_of_several_kinds() -> None:
    jifs.criterion("plugin")(in_module(Upwards, "__main__"))
    assert registry.find("info", "plugin").kind == "info"
    assert registry.find("criterion", "plugin").kind == "criterion"


@pytest.mark.fresh
def test_a_cell_that_takes_one_of_our_names_keeps_it() -> None:
    """Also if ours was not imported yet, and is later, with another name of the same file."""
    found = fresh("""
        import json, warnings, jifs, numpy as np
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            @jifs.criterion("jmi", default="rank")
            class Mine:
                def ranks(self, stats):
                    return np.arange(stats.m, dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y = [[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1]
            orders = [jifs.select(X, y, 2, name).indices.tolist() for name in ("jmi", "mrmr", "jmi")]
        print(json.dumps([[str(w.message) for w in said], orders]))
    """)
    assert found[1] == [[1, 0], [0, 1], [1, 0]]
    assert len(found[0]) == 1
    assert "jmi" in found[0][0]


@pytest.mark.parametrize("name", ["", "Jmi", "two words", "a-b", "a.b", "a\n", "_", "12", 7, None, ("a",)])
def test_bad_names_are_refused(name: Any) -> None:
    for decorate in (jifs.criterion, jifs.estimator, jifs.strategy):
        with pytest.raises(InputError, match="small letters, digits and underscores"):
            decorate(name)(in_module(Upwards, "__main__"))


@pytest.mark.parametrize("name", ["a", "jmi2", "a_b", "k9_x"])
def test_good_names_are_good(name: str) -> None:
    jifs.criterion(name)(in_module(Upwards, "__main__"))
    assert registry.find("criterion", name).name == name


def test_one_class_may_serve_several_names() -> None:
    @dataclass(frozen=True)
    class Scaled:
        """A scaled index."""

        sign: float = 1.0
        scale: float = field(default=2.0)

        def ranks(self, stats: Any) -> np.ndarray:
            return self.sign * self.scale * np.arange(stats.m)

    jifs.criterion("scaled", default="rank")(Scaled)
    jifs.criterion("reversed", default="rank", summary="From the end", sign=-1.0)(Scaled)
    assert registry.find("criterion", "scaled").params == {"sign": 1.0, "scale": 2.0}
    assert registry.find("criterion", "reversed").params == {"scale": 2.0}
    assert registry.find("criterion", "reversed").summary == "From the end"
    assert scores_of("scaled").scores.tolist() == [12.0, 10.0, 8.0]
    assert scores_of("reversed", params={"scale": 3.0}).scores.tolist() == [0.0, -3.0, -6.0]
    with pytest.raises(InputError, match=r"'reversed' has no parameter 'sign'.*It has: scale"):
        scores_of("reversed", params={"sign": 1.0})


def test_a_parameter_without_a_default_is_asked_for() -> None:
    @jifs.criterion("demanding", default="rank")
    @dataclass(frozen=True)
    class Demanding:
        scale: float

        def ranks(self, stats: Any) -> np.ndarray:
            return self.scale * np.arange(stats.m)

    assert scores_of("demanding", params={"scale": 2.0}).scores.tolist() == [12.0, 10.0, 8.0]
    with pytest.raises(InputError, match=r"'demanding'.*scale"):
        scores_of("demanding")


# ---- what is known of each -----------------------------------------------------------------------------------------


NORMAL = ("gc_mi", "gc_e", "gkl_mi", "gkl_e", "lsmi", "hsic")
FORMS = {"spec_cmi": "spectral", "sdp_cmi": "sdp", "qpfs": "qp", "eqpfs": "qp"}


@pytest.mark.parametrize("entry", jifs.criteria(), ids=lambda entry: entry.name)
def test_rows_of_criteria_are_complete(entry: registry.Entry) -> None:
    assert entry.kind == "criterion"
    assert entry.summary
    assert "\n" not in entry.summary
    assert ("pairs" if entry.name in FORMS else "steps") in entry.faces
    assert entry.tasks == (("class", "real") if entry.name in ("lsmi", "hsic") else ("class",))
    assert entry.cite.startswith("[")
    assert entry.cite[-6:-1].strip().isdigit()
    assert entry.default == ("rank" if entry.name == "mim" else FORMS.get(entry.name, "forward"))
    assert entry.reads == ("values" if entry.name in NORMAL else "codes")
    assert ("info" in entry.params) == (entry.name not in NORMAL)
    assert entry.module.startswith("jifs_plugins.")
    assert "=" in entry.about  # the formula
    assert callable(getattr(entry.make(), "pairs" if entry.name in FORMS else "open"))


def test_rows_of_infos_and_strategies_are_complete() -> None:
    for entry in [*jifs.infos(), *jifs.strategies()]:
        assert entry.summary
        assert entry.module.startswith("jifs.")
        assert entry.about
    assert {e.name: e.faces for e in jifs.strategies()} == {
        "backward": ("sets",),
        "exhaustive": ("sets",),
        "forward": ("steps",),
        "rank": ("ranks",),
        "floating": ("sets",),
        "l1": ("weights",),
        **dict.fromkeys(["qp", "spectral", "sdp", "swap", "tabu", "exact"], ("pairs",)),
    }
    assert all(e.tasks == ("class",) and e.cite for e in jifs.infos())


def test_parameters_of_ours() -> None:
    own = {e.name: sorted(set(e.params) - {"info"}) for e in jifs.criteria()}
    assert own["betagamma"] == ["beta", "gamma"]
    assert own["cmim"] == ["include_marginal", "lazy"]
    assert own["mifs"] == ["beta"]
    assert own["mim"] == own["mrmr"] == own["jmi"] == own["jmim"] == own["njmim"] == own["cmi"] == []


@pytest.mark.parametrize(
    ("name", "kind"), [("jmi", "criterion"), ("plugin", "info"), ("forward", "strategy")]
)
def test_describe(name: str, kind: str) -> None:
    found, entry, text = registry.describe(name)
    assert (found, entry.name) == (kind, name)
    assert entry.summary in text
    assert text == entry.about


def test_describe_suggests() -> None:
    with pytest.raises(InputError, match=r"nothing is registered as 'foward'\. Did you mean 'forward'"):
        registry.describe("foward")


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("criterion", "jmmi", r"unknown criterion 'jmmi'\. Did you mean .*'jmi'.*Known:.* cmim, condred"),
        ("criterion", "zzzzzz", r"unknown criterion 'zzzzzz'\. Known: "),
        ("info", "miller", r"unknown information estimator 'miller'\. Did you mean 'miller_madow'\?"),
        (
            "strategy",
            "rnk",
            r"unknown strategy 'rnk'\. Did you mean 'rank'\? Known: backward, exact, exhaustive, floating, ",
        ),
        ("strategy", 3, r"unknown strategy 3\."),
        ("strategy", ["rank"], r"unknown strategy \['rank'\]"),
    ],
)
def test_unknown_names_get_near_ones(kind: str, name: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        registry.find(kind, name)


def test_an_info_takes_its_parameters() -> None:
    assert jifs.info("plugin") == jifs.info("plugin")
    assert jifs.info("plugin") != jifs.info("miller_madow")
