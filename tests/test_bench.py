"""The benchmark measures what it says: its parts run, its two counts agree, its comparisons are fair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench import elsewhere, ours, timing
from bench.__main__ import PARTS, main
from bench.counting import plain_histogram
from bench.timing import Timing, short, timed, times
from bench.worlds import SELECTIONS, World, in_form, make

import jifs
from jifs import jit


@pytest.mark.parametrize("part", ["counting", "matrices", "encoding", "growth", "gaussian"])
def test_quick_part_runs(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert part in PARTS
    main(["--quick", "--only", part])
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) >= 4
    assert part == "gaussian" or len({line.count("|") for line in table}) == 1  # several tables


def test_both_counts_are_the_same_tables() -> None:
    world = World(n=300, m=11, r=4, classes=3)
    X, y = make(world)
    batch = jifs.memory(X, y, bins="none").batch
    flat = batch.tables(batch.column(2), 0, batch.layout.blocks, split=True)
    codes = np.ascontiguousarray(X[np.argsort(y, kind="stable")].T.astype(np.uint8))
    starts = np.concatenate(([0], np.cumsum(np.bincount(y))))
    out = np.empty((world.m, world.classes, world.r, world.r), dtype=np.int64)
    plain_histogram(codes, starts, 2, out)
    assert out.sum() == world.n * world.m
    for j in range(world.m):
        np.testing.assert_array_equal(
            batch.layout.table_of(flat, j, world.classes, world.r), out[j].swapaxes(1, 2)
        )


def test_worlds_are_as_described() -> None:
    world = World(n=500, m=60, r=5, classes=3)
    X, y = make(world)
    assert X.shape == (500, 60)
    assert X.dtype == np.int8
    assert set(np.unique(X)) == set(range(5))
    assert set(np.unique(y)) == set(range(3))
    assert in_form(X, "float64", "F").flags.f_contiguous
    assert world.with_(m=20).k == 20


def test_only_like_is_compared_with_like() -> None:
    first, last = SELECTIONS[0], SELECTIONS[3]
    seconds = elsewhere.selection("jmi", first)
    assert elsewhere.fastest(seconds, 1) == 1.97
    assert elsewhere.fastest(seconds, 2) == 1.04
    assert elsewhere.selection("jmi", first.with_(k=10)) == {}
    assert elsewhere.selection("jmi", last) == {}, "the last set was measured with k = 100"
    assert elsewhere.selection("jmi", last.with_(k=100))["FEAST"] == 0.76
    assert elsewhere.fastest({}, 1) is None


@pytest.mark.parametrize(("cores", "trusted"), [(1.95, True), (0.95, False)])
def test_a_busy_machine_is_named(cores: float, trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "cores_to_be_had", lambda: cores)
    assert ("NOT A QUIET MACHINE" not in timing.quiet_or_not()) is trusted


def test_threads_are_as_many_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that says 1 thread was run with 1: seen from inside the encoder, not from the label."""
    seen: list[int] = []
    spread = jit.spread

    def watched(*arguments: Any, **options: Any) -> None:
        seen.append(jit.thread_count())
        spread(*arguments, **options)

    monkeypatch.setattr(jit, "spread", watched)
    monkeypatch.setattr("jifs.encode.spread", watched, raising=False)
    X, y = make(World(n=300, m=40, r=3, classes=2))
    for threads in (1, 2):
        seen.clear()
        ours.encoding_seconds(X, y, threads)
        assert set(seen) == {threads}


def test_timing() -> None:
    calls: list[int] = []
    result = timed(lambda: calls.append(1), repeats=3)
    assert len(calls) == 4, "one to warm up"
    assert len(result.seconds) == 3
    assert str(Timing((3.0, 1.0, 2.0))) == "1.00 / 2.00"
    assert [short(number) for number in (0.012345, 1.2345, 123.45, 12345.6)] == [
        "0.0123",
        "1.23",
        "123",
        "12,346",
    ]
    assert times(10.0, 2.0) == "5.0x"
    assert times(None, 2.0) == "-"
