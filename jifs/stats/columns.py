"""A column to count against, the way each block of features is counted, and what kernels of one's own are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Routes(NamedTuple):
    """Blocks before `planes` are counted by planes, then those before `histogram` by histogram, the rest by groups."""

    planes: int
    histogram: int


@dataclass(eq=False)
class Column:
    """A column Z to count against: its codes in the batch's order of rows (with slack), and its number of levels."""

    codes: np.ndarray
    levels: int
    chosen: np.ndarray | None = field(default=None, repr=False)
    margins: dict[bool, np.ndarray] = field(default_factory=dict, repr=False)
    routes: dict[bool, Routes] = field(default_factory=dict, repr=False)


class PlaneView(NamedTuple):
    """What a kernel of one's own needs to count by planes: see kernels/counts.py for the meaning of each array."""

    planes: np.ndarray
    at: np.ndarray
    width: np.ndarray
    before: np.ndarray
    words: np.ndarray
    margins: np.ndarray
    slots: np.ndarray
