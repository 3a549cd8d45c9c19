"""Rows in groups: each row once, by column and by class within, and the groups that hold one class set aside."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from jifs.stats.grouping import grouping

CODES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=80)


def sorted_by_class(rows):
    """(codes of Z, class starts, classes) with the rows in order of their class, as in a batch."""
    rows = sorted(rows, key=lambda row: row[0])
    y, z = (np.array(column) for column in zip(*rows, strict=True))
    return z, np.searchsorted(y, np.arange(4)), y


def runs(ends):
    """[first, end) of each run."""
    return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))


@given(CODES, st.booleans())
@example([(0, 0)], True)
@example([(2, 3), (2, 3)], True)
@example([(0, 1), (1, 1), (2, 1)], True)
@example([(0, 1), (0, 0), (1, 0)], True)
def test_rows_by_column_and_class(rows, split):
    z, starts, y = sorted_by_class(rows)
    groups = grouping(z, starts, split)
    assert sorted(groups.rows.tolist()) == list(range(len(z)))
    held = [set(z[groups.rows[a:b]].tolist()) for a, b in runs(groups.group_ends)]
    assert [min(h) for h in held] == sorted(set(z.tolist()))
    assert all(len(h) == 1 for h in held)
    cells = [
        {(int(z[i]), int(y[i]) if split else 0) for i in groups.rows[a:b]} for a, b in runs(groups.run_ends)
    ]
    assert all(len(cell) == 1 for cell in cells)
    wanted = {(int(a), int(c) if split else 0) for a, c in zip(z, y, strict=True)}
    assert [min(cell) for cell in cells] == sorted(wanted)
    assert set(groups.group_ends.tolist()) <= set(groups.run_ends.tolist())


@given(CODES)
@example([(0, 0), (0, 1)])
@example([(0, 0), (1, 0)])
def test_groups_of_one_class_are_set_aside(rows):
    z, starts, y = sorted_by_class(rows)
    left = grouping(z, starts, split=True).undecided()
    mixed = [a for a in sorted(set(z.tolist())) if len(set(y[z == a].tolist())) > 1]
    assert left.rows.tolist() == [i for a in mixed for i in np.flatnonzero(z == a).tolist()]
    assert left.group_ends.tolist() == np.cumsum([np.sum(z == a) for a in mixed]).tolist()
    sizes = [np.sum((z == a) & (y == c)) for a in mixed for c in sorted(set(y[z == a].tolist()))]
    assert left.run_ends.tolist() == np.cumsum(sizes).tolist()


@given(CODES)
def test_setting_aside_twice_changes_nothing(rows):
    z, starts, _ = sorted_by_class(rows)
    once = grouping(z, starts, split=True).undecided()
    twice = once.undecided()
    assert [part.tolist() for part in twice] == [part.tolist() for part in once]


def test_slack_after_the_codes_is_no_row():
    z = np.array([1, 0, 1, 9, 9, 9], np.uint8)
    groups = grouping(z, np.array([0, 2, 3]), split=True)
    assert groups.rows.tolist() == [1, 0, 2]
    assert groups.group_ends.tolist() == [1, 3]
    assert groups.run_ends.tolist() == [1, 2, 3]


def test_empty_classes_make_no_runs():
    z = np.array([0, 0, 1, 1])
    groups = grouping(z, np.array([0, 0, 2, 2, 4, 4]), split=True)
    assert groups.run_ends.tolist() == [2, 4]
    assert groups.undecided().rows.size == 0


def test_many_levels():
    rng = np.random.default_rng(0)
    z = rng.permutation(np.repeat(np.arange(3000), 2)).astype(np.uint32)
    groups = grouping(z, np.array([0, 2500, 6000]), split=True)
    assert groups.group_ends.tolist() == list(range(2, 6001, 2))
    assert (z[groups.rows] == np.repeat(np.arange(3000), 2)).all()
