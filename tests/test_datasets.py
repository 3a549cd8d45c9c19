"""The bundled data sets: what they promise is what they hold."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from jifs import datasets
from jifs.errors import InputError
from jifs.table import as_table

pytest.importorskip("sklearn")


@pytest.mark.parametrize("name", datasets.names())
def test_each_set_is_as_it_is_described(name: str) -> None:
    about, table = datasets.about(name), datasets.load(name)
    assert (table.n, table.m) == (about.rows, about.features)
    assert table.target is not None
    assert (table.target.kind, table.target.name) == (about.task, about.target)
    assert len(table.target.values) == table.n
    assert len(set(table.names)) == table.m
    assert about.summary
    assert about.cite[-4:].isdigit(), "a citation ends with its year"


def test_classes_have_their_names() -> None:
    iris, digits = datasets.load("iris").target, datasets.load("digits").target
    assert iris is not None
    assert iris.labels == ("setosa", "versicolor", "virginica")
    assert np.bincount(iris.values).tolist() == [50, 50, 50]
    assert digits is not None
    assert digits.labels == tuple(range(10))
    cancer = datasets.load("breast_cancer").target
    assert cancer is not None
    assert dict(zip(cancer.labels, np.bincount(cancer.values).tolist(), strict=True)) == {
        "benign": 357,
        "malignant": 212,
    }


def test_features_have_their_names_and_units() -> None:
    assert list(datasets.load("wine").names[:2]) == ["alcohol", "malic_acid"]
    diabetes = datasets.load("diabetes")
    age = diabetes.column(list(diabetes.names).index("age"))
    assert 18 < age.min() < age.max() < 100, "in years, not in standard deviations"


def test_an_unknown_name_gets_near_ones() -> None:
    with pytest.raises(InputError, match=r"'irs'.*Did you mean 'iris'") as caught:
        datasets.load("irs")
    assert "breast_cancer" in str(caught.value)


def test_without_scikit_learn_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def fake(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)
    with pytest.raises(InputError, match="pip install scikit-learn"):
        datasets.load("iris")


def test_pixels_show_the_order_of_choice() -> None:
    lines = datasets.pixels({9: 1, 0: 2, 63: 3}).splitlines()
    assert len(lines) == 8
    assert lines[0].split() == ["2"] + ["."] * 7
    assert lines[1].split() == [".", "1"] + ["."] * 6
    assert lines[7].split()[-1] == "3"


@pytest.mark.parametrize("mixed", [False, True])
def test_weighted_takes_the_column_out(mixed: bool) -> None:
    columns: dict[str, Any] = {"a": [1.0, 2.0, 3.0], "w": [1.0, 0.0, 2.0], "b": [3.0, 4.0, 5.0]}
    if mixed:
        columns["a"] = ["x", "y", "x"]
    table = as_table(columns, y=["p", "q", "p"], discrete=["b"])
    after = datasets.weighted(table, "w")
    assert list(after.names) == ["a", "b"]
    assert after.weights is not None
    assert after.weights.tolist() == [1.0, 0.0, 2.0]
    assert after.column(1).tolist() == [3.0, 4.0, 5.0]
    assert after.target is not None
    assert after.target.labels == ("p", "q")
    assert after.discrete is not None
    assert after.discrete.tolist() == [mixed, True]
    assert table.m == 3


def test_weights_that_are_no_column_or_no_weights() -> None:
    table = as_table({"a": [1.0, 2.0], "w": [1.0, -1.0]}, y=[0, 1])
    with pytest.raises(InputError, match=r"'v' is not a column.*'w'"):
        datasets.weighted(table, "v")
    with pytest.raises(InputError, match="negative"):
        datasets.weighted(table, "w")
