"""Data sets by name: the small classics that scikit-learn brings along, as Tables, with whom to cite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .errors import InputError, near
from .table import Table, as_table, make_target, unknown_column


@dataclass(frozen=True)
class About:
    """What a data set is: its rows and features, what is to be predicted, and whom to cite."""

    name: str
    summary: str
    rows: int
    features: int
    task: str
    target: str
    cite: str


_UCI = "UCI Machine Learning Repository"
_SETS = (
    About(
        *("digits", "handwritten digits, 8 x 8 pixels of 17 grey levels", 1797, 64, "class", "digit"),
        cite=f"Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, {_UCI}, 1998",
    ),
    About(
        *("wine", "chemical analysis of wines from three cultivars", 178, 13, "class", "cultivar"),
        cite=f"Aeberhard and Forina, Wine, {_UCI}, 1991",
    ),
    About(
        *(
            "breast_cancer",
            "cell nuclei in benign and malignant breast tissue",
            569,
            30,
            "class",
            "diagnosis",
        ),
        cite=f"Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic), {_UCI}, 1995",
    ),
    About(
        *("iris", "sepals and petals of three species of iris", 150, 4, "class", "species"),
        cite="Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7(2), 1936",
    ),
    About(
        *("diabetes", "progression of diabetes within a year", 442, 10, "real", "progression"),
        cite="Efron, Hastie, Johnstone and Tibshirani, Least Angle Regression, Annals of Statistics, 2004",
    ),
)


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(about.name for about in _SETS)


def about(name: str) -> About:
    """What the data set of that name is, and whom to cite."""
    for known in _SETS:
        if known.name == name:
            return known
    listed = ", ".join(names())
    raise InputError(f"{name!r} is no file and no data set of ours ({listed}).{near(name, names())}")


def load(name: str) -> Table:
    """The data set of that name: a Table with feature names and a target of class names or real numbers."""
    known = about(name)
    bunch = _bunch(name)
    table = as_table(bunch.data, names=[str(feature) for feature in bunch.feature_names])
    values = bunch.target if known.task == "real" else bunch.target_names[bunch.target]
    return replace(table, target=make_target(values, task=known.task, name=known.target))


def pixels(steps: Mapping[int, int]) -> str:
    """The 8 x 8 image of `digits` as text, with the step of its choice at each chosen pixel."""
    cells = [f"{steps.get(pixel, '.'):>2}" for pixel in range(64)]
    return "\n".join("  " + " ".join(cells[row : row + 8]) for row in range(0, 64, 8))


def weighted(table: Table, name: str) -> Table:
    """The table with that column as the weights of its rows, and no longer as a feature."""
    if name not in table.names:
        raise unknown_column(name, table.names, "the column of weights,")
    at = list(table.names).index(name)
    data = table.data
    rest = data[:at] + data[at + 1 :] if isinstance(data, list) else np.delete(data, at, axis=1)
    mask = None if table.discrete is None else np.delete(table.discrete, at)
    others = [other for other in table.names if other != name]
    features = replace(table, data=rest, names=others, discrete=mask)
    return as_table(features, sample_weight=table.column(at))


def _bunch(name: str) -> Any:
    try:
        from sklearn import datasets
    except ImportError:
        raise InputError(
            f"the data set {name!r} comes with scikit-learn, which is missing; try: pip install scikit-learn."
        ) from None
    # Diabetes in the units of the patients' records, where a blood pressure is a blood pressure.
    options = {"scaled": False} if name == "diabetes" else {}
    return getattr(datasets, f"load_{name}")(**options)
