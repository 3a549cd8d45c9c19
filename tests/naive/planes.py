"""Bit planes from the definition, as whole numbers of Python: bit i of a word is 1 when row i holds the level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

WORD = 64


def plane(x: ArrayLike, y: ArrayLike, classes: int, level: int) -> list[int]:
    """Words of the rows with X = level, class by class; every class begins a new word."""
    words: list[int] = []
    for c in range(classes):
        held = (np.asarray(x)[np.asarray(y) == c] == level).tolist()
        parts = [held[start : start + WORD] for start in range(0, len(held), WORD)]
        words.extend(sum(1 << i for i, bit in enumerate(part) if bit) for part in parts)
    return words


def class_words(sizes: Sequence[int]) -> list[int]:
    """The first word of each class, and the number of words."""
    first = [0]
    for size in sizes:
        first.append(first[-1] + (size + WORD - 1) // WORD)
    return first


def blocks(cards: Sequence[int], narrow_levels: int = 256, lanes: int = 8) -> list[list[int]]:
    """Features eight to a block in order of their levels, ties as they came; over 256 levels in blocks of their own."""
    order = sorted(range(len(cards)), key=lambda j: cards[j])
    groups = [[j for j in order if cards[j] <= narrow_levels], [j for j in order if cards[j] > narrow_levels]]
    return [group[i : i + lanes] for group in groups for i in range(0, len(group), lanes)]
