"""Data sets by name: the small classics that scikit-learn brings along, as Tables, with whom to cite; and toy data.

`load` gives the classics, `make` draws toy data of which the true features are known, `f_measure` judges a selection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
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
    if name in _MADE:
        raise InputError(f"{name!r} is drawn by chance: jifs.datasets.make({name!r}, n=400, seed=0)")
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


# ------------------------------------------------------------------------------------------------------ toy data


@dataclass(frozen=True, eq=False, repr=False)
class Made(Table):
    """A Table that was drawn by chance: `truth` holds the indices of the features that make the target."""

    truth: tuple[int, ...] = ()


def make(name: str, n: int = 400, seed: int = 0) -> Made:
    """Toy data with known true features [Jitkrittum, Hachiya & Sugiyama 2013]: n rows of the features X1 to X10.

    and_or: Y = (X1 and X2) or (X3 and X4). X1..X7 Bernoulli(.5); X8, X9, X10 are Y, flipped with probability .2.
    quad: Y = (X1^2 + X2) / (0.5 + (X2 + 1.5)^2) + 0.1 e, real. X1..X8 and e N(0, 1); X9 = .5 X1 + U(-1, 1), X10 of X2.
    xor: Y = X1 xor X2. X1..X5 Bernoulli(.5); X6..X10 Bernoulli(.75).
    """
    if not isinstance(name, str) or name not in _MADE:
        raise InputError(
            f"no toy data are called {name!r}; there are {', '.join(_MADE)}.{near(str(name), _MADE)}"
        )
    rows, start = _whole(n, "n", "of rows, from 2 on", 2), _whole(seed, "seed", "from 0 on", 0)
    draw, true = _MADE[name]
    X, y = draw(np.random.default_rng(start), rows)
    target = make_target(y, task="class" if y.dtype == np.int64 else "real", name="Y")
    return Made(X, [f"X{j}" for j in range(1, 11)], named=True, target=target, truth=tuple(range(true)))


def f_measure(selected: Iterable[Any], truth: Iterable[Any]) -> float:
    """F = 2 p r / (p + r), p the share of the selected that are true, r that of the true that are selected; 0 if none.

    Both are lists of features, by index or both by name: `f_measure(result.indices, data.truth)`.
    """
    chosen, right = set(selected), set(truth)
    if not right:
        raise InputError("truth must hold a feature at least, or there is nothing to be found")
    names = {isinstance(one, str) for one in [*chosen, *right]}
    if len(names) > 1 or any(isinstance(one, bool | np.bool_) for one in [*chosen, *right]):
        raise InputError("selected and truth must both hold indices or both names, and neither may be a mask")
    return 2 * len(chosen & right) / (len(chosen) + len(right))  # p = hits / chosen, r = hits / right


def _whole(given: Any, name: str, what: str, least: int) -> int:
    if isinstance(given, bool | np.bool_) or not isinstance(given, Integral) or given < least:
        raise InputError(f"{name} must be a whole number {what}, not {given!r}")
    return int(given)


def _bernoulli(rng: np.random.Generator, p: float, n: int, m: int) -> np.ndarray:
    return (rng.random((n, m)) < p).astype(np.int64)


def _and_or(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = _bernoulli(rng, 0.5, n, 7)
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    return np.column_stack([X, y[:, None] ^ _bernoulli(rng, 0.2, n, 3)]), y


def _quad(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, 8))
    a, b = X[:, 0], X[:, 1]
    y = (a**2 + b) / (0.5 + (b + 1.5) ** 2) + 0.1 * rng.standard_normal(n)
    return np.column_stack([X, 0.5 * X[:, :2] + rng.uniform(-1.0, 1.0, (n, 2))]), y


def _xor(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.column_stack([_bernoulli(rng, 0.5, n, 5), _bernoulli(rng, 0.75, n, 5)])
    return X, X[:, 0] ^ X[:, 1]


_Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
_MADE: dict[str, tuple[_Draw, int]] = {"and_or": (_and_or, 4), "quad": (_quad, 2), "xor": (_xor, 2)}
"""How each is drawn, and how many of its first features are true."""
