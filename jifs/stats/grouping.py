"""Rows in groups: the way to count a column of any number of levels without a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Grouping(NamedTuple):
    """Rows in order of a column Z and, within, of their class; where each Z ends, and each (Z, class) run."""

    rows: np.ndarray
    group_ends: np.ndarray
    run_ends: np.ndarray

    def undecided(self) -> Grouping:
        """Without the groups that hold a single class: there nothing is left to be known."""
        sizes = np.diff(self.group_ends, prepend=0)
        runs = np.diff(np.searchsorted(self.run_ends, self.group_ends), prepend=-1)
        keep = runs > 1
        run_sizes = np.diff(self.run_ends, prepend=0)
        return Grouping(
            self.rows[np.repeat(keep, sizes)],
            np.cumsum(sizes[keep]),
            np.cumsum(run_sizes[np.repeat(keep, runs)]),
        )


def grouping(codes: np.ndarray, starts: np.ndarray, split: bool) -> Grouping:
    """Rows grouped by a column; they are sorted by class, so a stable sort keeps the classes in order in a group.

    `starts` holds the first row of each class and the number of rows; without `split` a run is a whole group.
    """
    n = int(starts[-1])
    rows = np.argsort(codes[:n], kind="stable")
    z = codes[:n][rows]
    other = z[1:] != z[:-1]
    group_ends = np.append(np.flatnonzero(other) + 1, n)
    if not split:
        return Grouping(rows, group_ends, group_ends)
    label = np.searchsorted(starts, rows, "right")
    run_ends = np.append(np.flatnonzero(other | (label[1:] != label[:-1])) + 1, n)
    return Grouping(rows, group_ends, run_ends)
