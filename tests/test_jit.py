"""Compiled kernels are never stale, never fatal and never different; threads cover all work once and leave no trace.

What concerns the cache on disk runs in processes of its own, on a tiny package around the real jifs/jit.py.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import jifs
from jifs import jit

ROOT = Path(__file__).resolve().parent.parent
NEEDS_COMPILER = pytest.mark.skipif(not jit.COMPILED, reason="plain Python keeps nothing on disk")

# ----------------------------------------------------------------------------------------- compiled code on disk

FILES = {
    "jifs/__init__.py": "",
    "jifs/kernels/__init__.py": "",
    "jifs/kernels/inner.py": """
        from jifs.jit import kernel

        @kernel
        def inner(x):
            return x + 1
    """,
    "jifs/kernels/outer.py": """
        from jifs.jit import kernel
        from jifs.kernels.inner import inner

        @kernel
        def outer(x):
            return 2 * inner(x)
    """,
    "helper.py": """
        from jifs.jit import kernel

        TENTH = 10

        @kernel
        def helped(x):
            return x + 1000
    """,
    "plugin.py": """
        from helper import TENTH, helped
        from jifs.jit import kernel
        from jifs.kernels.outer import outer

        @kernel
        def own(x):
            return outer(x) + helped(x) + TENTH * x
    """,
}
EXPECTED = 2 * 4 + 1003 + 30
PROGRAM = "from plugin import own; print(own(3), sum(own.stats.cache_hits.values()))"


class TinyHouse:
    """jifs/jit.py as it is, with kernels that call kernels in other files, and a cache folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        (folder / "jifs" / "jit.py").write_bytes((ROOT / "jifs" / "jit.py").read_bytes())

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new))

    def run(self, cache: Path | None = None) -> tuple[int, int]:
        """(what the plug-in's kernel answers to 3, whether it came from disk) in a new process; warnings are errors."""
        given = os.environ | {"PYTHONPATH": str(self.folder), "JIFS_CACHE_DIR": str(cache or self.cache)}
        answer = python(PROGRAM, given, self.folder, "-W", "error").split()
        return int(answer[0]), int(answer[1])

    def kept(self, ending: str) -> list[Path]:
        found = sorted(self.cache.rglob(f"*.{ending}"))
        assert found
        return found


def python(program: str, environment: dict[str, str], folder: Path, *flags: str) -> str:
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(program)],
        env=environment
        | {"PYTHONDONTWRITEBYTECODE": "1"},  # an edit within a second must not find old bytecode
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def used_house(tmp_path_factory):
    """A house whose kernels were compiled once, by another process."""
    house = TinyHouse(tmp_path_factory.mktemp("house"))
    assert house.run() == (EXPECTED, 0)
    return house


@pytest.fixture
def house(used_house, tmp_path):
    """A copy of its own, the compiled kernels included."""
    shutil.copytree(used_house.cache, tmp_path / "cache")
    return TinyHouse(tmp_path)


@NEEDS_COMPILER
@pytest.mark.fresh
def test_a_kernel_is_compiled_once_and_then_loaded(house):
    assert house.run() == (EXPECTED, 1)


@NEEDS_COMPILER
@pytest.mark.fresh
@pytest.mark.parametrize(
    ("name", "old", "new", "answer"),
    [
        ("jifs/kernels/inner.py", "x + 1", "x + 7", EXPECTED + 12),
        ("jifs/kernels/outer.py", "2 * inner(x)", "3 * inner(x)", EXPECTED + 4),
        ("plugin.py", "TENTH * x", "TENTH * x + 5", EXPECTED + 5),
        ("helper.py", "x + 1000", "x + 2000", EXPECTED + 1000),
        ("helper.py", "TENTH = 10", "TENTH = 20", EXPECTED + 30),
    ],
    ids=[
        "a kernel's kernel",
        "a kernel",
        "the plug-in",
        "a file beside the plug-in",
        "a number beside the plug-in",
    ],
)
def test_an_edited_kernel_is_never_run_stale(house, name, old, new, answer):
    house.edit(name, old, new)
    assert house.run()[0] == answer
    house.edit(name, new, old)
    assert house.run()[0] == EXPECTED


# how a plug-in may reach what another file holds; deep.py is edited: 50 becomes 60
DEEP = """
    import numpy as np
    from jifs.jit import kernel

    NUMBER, TABLE = 50, np.array([50, 51])

    @kernel
    def deepest(x):
        return x + 50
"""
ROUTES = {
    "a kernel of the same file": """
        from deep import deepest
        from jifs.jit import kernel

        @kernel
        def between(x):
            return deepest(x)

        @kernel
        def own(x):
            return between(x)
    """,
    "a number used by a kernel of the same file": """
        from deep import NUMBER
        from jifs.jit import kernel

        @kernel
        def between(x):
            return x + NUMBER

        @kernel
        def own(x):
            return between(x)
    """,
    "a module": """
        import deep
        from jifs.jit import kernel

        @kernel
        def own(x):
            return deep.deepest(x)
    """,
    "a module that imports it": """
        import passage
        from jifs.jit import kernel

        @kernel
        def own(x):
            return passage.passed(x)
    """,
    "a kernel that calls it": """
        from passage import passed
        from jifs.jit import kernel

        @kernel
        def own(x):
            return passed(x)
    """,
    "an array": """
        from deep import TABLE
        from jifs.jit import kernel

        @kernel
        def own(x):
            return x + TABLE[0]
    """,
    "a closure": """
        from deep import NUMBER
        from jifs.jit import kernel

        def make(number):
            @kernel
            def own(x):
                return x + number

            return own

        own = make(NUMBER)
    """,
}
PASSAGE = """
    from deep import deepest
    from jifs.jit import kernel

    @kernel
    def passed(x):
        return deepest(x)
"""


@NEEDS_COMPILER
@pytest.mark.fresh
@pytest.mark.parametrize("route", ROUTES)
def test_no_way_round_leads_to_a_stale_kernel(tmp_path, route):
    house = TinyHouse(tmp_path)
    for name, text in {"deep.py": DEEP, "passage.py": PASSAGE, "plugin.py": ROUTES[route]}.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    assert house.run()[0] == 53
    house.edit("deep.py", "50", "60")
    assert house.run()[0] == 63


@NEEDS_COMPILER
@pytest.mark.fresh
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["cut", "empty", "noise"])
def test_a_damaged_file_is_the_same_as_none(house, ending, damage):
    for path in house.kept(ending):
        whole = path.read_bytes()
        path.write_bytes(
            {"cut": whole[: len(whole) // 2], "empty": b"", "noise": bytes(range(255, -1, -1))}[damage]
        )
    assert house.run()[0] == EXPECTED
    assert house.run() == (EXPECTED, 1)  # and it was mended


@NEEDS_COMPILER
@pytest.mark.fresh
def test_lost_files_are_made_again(house):
    for path in house.kept("nbc"):
        path.unlink()
    assert house.run() == (EXPECTED, 0)
    assert house.run() == (EXPECTED, 1)


@NEEDS_COMPILER
@pytest.mark.fresh
def test_without_a_place_to_write_kernels_still_run(house):
    """A folder below a file can't be made, not even by the superuser, for whom no folder is read-only."""
    nowhere = house.folder / "plugin.py" / "cache"
    assert house.run(cache=nowhere) == (EXPECTED, 0)
    locked = house.folder / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    assert house.run(cache=locked)[0] == EXPECTED


@NEEDS_COMPILER
@pytest.mark.fresh
def test_an_empty_setting_is_no_setting(house):
    given = os.environ | {
        "PYTHONPATH": str(house.folder),
        "JIFS_CACHE_DIR": "",
        "XDG_CACHE_HOME": str(house.cache),
    }
    before = set(house.folder.iterdir())
    python(PROGRAM, given, house.folder)
    assert set(house.folder.iterdir()) - before <= {house.cache}


def notebook_cell(body: str) -> dict[str, object]:
    """A kernel as a notebook cell makes it: its source is in no file."""
    cell: dict[str, object] = {"kernel": jit.kernel, "pkernel": jit.pkernel}
    exec(compile(textwrap.dedent(body), "<cell>", "exec"), cell)
    return cell


def test_a_kernel_without_a_file():
    for more in (1, 2):  # the cell is edited and run again
        f = notebook_cell(f"""
            @kernel
            def f(x):
                return x + {more}
        """)["f"]
        assert f(3) == 3 + more


def test_a_parallel_kernel_without_a_file():
    f = notebook_cell("""
        @pkernel
        def f(lo, hi, out):
            for i in range(lo, hi):
                out[i] += i
    """)["f"]
    out = np.zeros(1000, np.int64)
    f(1000, out)
    assert out.tolist() == list(range(1000))
    f(0, out)
    assert out.tolist() == list(range(1000))


# -------------------------------------------------------------------------------------- the same in every process

SELECT = """
    import json, sys, numpy as np, jifs
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = np.where(rng.random((400, 40)) < 0.2, y[:, None], rng.integers(0, 4, (400, 40)))
    for criterion in ("jmi", "cmim"):
        result = jifs.select(X, y, k=8, criterion=criterion)
        print(*result.indices, *[score.hex() for score in result.scores.tolist()])
"""


@pytest.mark.fresh
@NEEDS_COMPILER
def test_cold_and_warm_caches_give_the_same_bits(tmp_path):
    given = os.environ | {"JIFS_CACHE_DIR": str(tmp_path / "cache")}
    cold = python(SELECT, given, ROOT)
    assert list((tmp_path / "cache").rglob("*.nbc"))
    assert python(SELECT, given, ROOT) == cold
    usual = {name: value for name, value in os.environ.items() if name != "JIFS_CACHE_DIR"}
    assert python(SELECT, usual, ROOT) == cold
    assert len(cold.split()) == 32


FORK = """
    import multiprocessing, os, sys, numpy as np, jifs
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 20_000)
    X = np.where(rng.random((20_000, 100)) < 0.1, y[:, None], rng.integers(0, 5, (20_000, 100)))
    answer = lambda _: [score.hex() for score in jifs.select(X, y, k=5, n_jobs=2).scores.tolist()]
    expected = answer(0)
    child = os.fork()
    if child == 0:
        os._exit(0 if answer(0) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    def send(queue):
        queue.put(answer(0))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=send, args=(queue,)) for _ in range(2)]
    [p.start() for p in processes]
    assert [queue.get(timeout=60) for _ in processes] == [expected] * 2
    [p.join() for p in processes]
    assert answer(0) == expected
    print("ok")
"""


@pytest.mark.fresh
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_selects_with_threads_of_its_own():
    assert python(FORK, dict(os.environ), ROOT, "-W", "ignore::DeprecationWarning").strip() == "ok"


# ------------------------------------------------------------------------------------------------------- threads


@given(
    st.integers(0, 400),
    st.integers(1, 500),
    st.one_of(st.none(), st.integers(1, 500)),
    st.integers(1, 9),
)
@example(0, 1, None, 4)
@example(1, 1, 1, 4)
@example(7, 100, 2, 4)
@example(400, 1, 1, 9)
@example(16, 3, 16, 1)
def test_every_index_is_covered_once(count, grain, most, team):
    with jit.threads(team):
        seconds, pieces = jit.spread(count, lambda lo, hi: (lo, hi), grain, most)
    pieces.sort()
    assert [i for lo, hi in pieces for i in range(lo, hi)] == list(range(count))
    assert all(lo < hi for lo, hi in pieces)
    assert all(hi - lo <= (most or count) for lo, hi in pieces)
    assert seconds >= 0
    if team == 1 and most is None:
        assert len(pieces) <= 1  # nothing is gained by cutting
    if -(-count // grain) <= 1 and most is None:
        assert len(pieces) <= 1  # not worth another thread's while


def test_work_is_shared_with_other_threads():
    """Two pieces that wait for each other can only end in two threads."""
    meeting = threading.Barrier(3)

    def task(lo, hi):
        meeting.wait(60)
        return threading.get_ident()

    with jit.threads(3):
        _, who = jit.spread(3, task, most=1)
    assert len(set(who)) == 3


NESTED = """
    import threading
    from jifs import jit

    meeting = threading.Barrier(4)

    def inner(lo, hi):
        return {threading.get_ident()}

    def middle(lo, hi):
        with jit.threads(4):
            return set().union(*jit.spread(10, inner, most=1)[1])

    def outer(lo, hi):
        meeting.wait(60)  # every thread of the team is busy, so nobody is free to help
        with jit.threads(4):
            return set().union(*jit.spread(10, middle, most=1)[1]) == {threading.get_ident()}

    with jit.threads(4):
        assert jit.spread(4, outer, most=1)[1] == [True] * 4
        assert len(jit.spread(100, inner)[1]) > 1  # and afterwards work is cut again
    print("ok")
"""


@pytest.mark.fresh
def test_a_spread_within_a_task_stays_in_its_thread():
    """In a process of its own: threads that wait for each other would never end this one."""
    assert python(NESTED, dict(os.environ), ROOT).strip() == "ok"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("team", [1, 2, 5])
@pytest.mark.parametrize("where", [0, 7, 19])
def test_a_task_that_raises_is_heard(error, team, where):
    def task(lo, hi):
        if lo <= where < hi:
            raise error("here")

    with jit.threads(team):
        with pytest.raises(error, match="here"):
            jit.spread(20, task, most=1)
        assert sum(jit.spread(20, lambda lo, hi: hi - lo)[1]) == 20  # the next one works


@pytest.mark.parametrize("main_raises", [True, False])
def test_a_task_that_raises_in_another_thread_is_heard(main_raises):
    own, meeting = threading.get_ident(), threading.Barrier(2)

    def task(lo, hi):
        meeting.wait(60)  # one piece in each thread
        if (threading.get_ident() == own) is main_raises:
            raise ValueError("here")
        return "done"

    with jit.threads(2), pytest.raises(ValueError, match="here"):
        jit.spread(2, task, most=1)


def test_after_an_error_no_more_pieces_are_begun():
    begun = []

    def task(lo, hi):
        begun.append(lo)
        if lo == 3:
            raise ValueError("here")

    with jit.threads(1), pytest.raises(ValueError, match="here"):
        jit.spread(100, task, most=1)
    assert begun == [0, 1, 2, 3]


def test_threads_are_restored():
    usual = jit.thread_count()
    with jit.threads(3) as count:
        assert count == jit.thread_count() == 3
        with jit.threads(1) as one:
            assert one == jit.thread_count() == 1
        assert jit.thread_count() == 3
        with pytest.raises(RuntimeError, match="out"), jit.threads(2):
            raise RuntimeError("out")
        assert jit.thread_count() == 3
        for everything in (None, -1):
            with jit.threads(everything) as count:
                assert count == usual
    assert jit.thread_count() == usual


def test_threads_asked_for_in_one_python_thread_are_not_anothers():
    with jit.threads(7), ThreadPoolExecutor(1) as other:
        assert other.submit(jit.thread_count).result() != 7
        assert jit.thread_count() == 7


@pytest.mark.fresh
@pytest.mark.parametrize("name", ["JIFS_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"])
def test_the_usual_variables_are_heard(name):
    given = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")} | {name: "3"}
    assert python("from jifs import jit; print(jit.thread_count())", given, ROOT).strip() == "3"


@pytest.fixture
def hasty():
    """Python threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_python_threads_that_ask_for_more_and_more_workers(hasty):
    """A team that grows for one caller must still serve the other."""

    def work(own):
        start.wait(60)
        for count in range(2, 14):
            with jit.threads(count + own % 3):
                pieces.append(sum(jit.spread(40, lambda lo, hi: hi - lo)[1]))

    for _ in range(10):
        pieces, start = [], threading.Barrier(6)
        jit._forget_team()  # as in a new process
        with ThreadPoolExecutor(6) as callers:
            for caller in [callers.submit(work, own) for own in range(6)]:
                caller.result()
        assert pieces == [40] * 72


# ----------------------------------------------------------------------------------------------- whole selections


@pytest.fixture(scope="module")
def large():
    """Large enough that encoding, counting and binning are all divided between threads."""
    rng = np.random.default_rng(1)
    n, m = (20_000, 300) if jit.COMPILED else (60, 20)
    y = rng.integers(0, 3, n)
    X = np.where(rng.random((n, m)) < rng.random(m) / 3, y[:, None], rng.integers(0, 5, (n, m))).astype(
        np.float64
    )
    X[:, ::10] += rng.normal(size=(n, -(-m // 10)))
    return X, y


def bits(result):
    steps = [
        (s.feature, s.score, sorted(s.parts.items()), s.runner_up, s.margin, s.tie) for s in result.trace
    ]
    return repr(steps), result.scores.tobytes()


@pytest.mark.parametrize("criterion", ["mrmr", "jmi", "cmim", "disr", "cmi"])
def test_one_thread_and_two_give_the_same_bits(large, criterion, monkeypatch):
    X, y = large
    one = jifs.select(X, y, k=6, criterion=criterion, n_jobs=1)
    original, pieces = jit.spread, []

    def spy(*args, **options):
        seconds, answers = original(*args, **options)
        pieces.append(len(answers))
        return seconds, answers

    monkeypatch.setattr(jit, "spread", spy)
    two = jifs.select(X, y, k=6, criterion=criterion, n_jobs=2)
    assert bits(two) == bits(one)
    assert two.facts["threads"] == 2
    assert one.facts["threads"] == 1
    if jit.COMPILED:
        assert sum(count > 1 for count in pieces) > 2  # encoding, and every step or nearly


@pytest.mark.parametrize("which", ["mi", "cmi", "cmi_target"])
def test_matrices_of_one_thread_and_two_are_the_same_bits(large, which):
    X, y = large[0][:2000, :60], large[1][:2000]
    one, two = (jifs.pairs(X, y, which=which, n_jobs=count) for count in (1, 2))
    assert np.asarray(one).tobytes() == np.asarray(two).tobytes()


def test_several_python_threads_select_at_once(large, hasty):
    X, y = large[0][:4000, :80], large[1][:4000]
    source = jifs.memory(X, y)
    jobs = [(criterion, team) for criterion in ("jmi", "cmim", "mrmr", "cmi") for team in (1, 2, 3)]
    expected = {
        c: bits(jifs.select(X, y, k=5, criterion=c, n_jobs=1)) for c in ("jmi", "cmim", "mrmr", "cmi")
    }

    def work(job):
        criterion, team = job
        own = jifs.select(X, y, k=5, criterion=criterion, n_jobs=team)
        shared = jifs.select(source, k=5, criterion=criterion, n_jobs=team)
        return bits(own) == bits(shared) == expected[criterion]

    with ThreadPoolExecutor(6) as callers:
        assert all(callers.map(work, jobs))
