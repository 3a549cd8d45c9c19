"""The bundled data sets: what they promise is what they hold; toy data by their formulas."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jifs
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


# ---- toy data ------------------------------------------------------------------------------------------------------

TOYS = {"and_or": 4, "quad": 2, "xor": 2}


def drawn(name: str, n: int = 20_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, datasets.Made]:
    table = datasets.make(name, n, seed)
    assert isinstance(table.data, np.ndarray)
    assert table.target is not None
    return table.data, table.target.values, table


@pytest.mark.parametrize("name", TOYS)
def test_toy_data_have_their_form(name: str) -> None:
    X, _, table = drawn(name, 400)
    assert (table.n, table.m) == X.shape == (400, 10)
    assert list(table.names) == [f"X{j}" for j in range(1, 11)]
    assert table.truth == tuple(range(TOYS[name]))
    assert table.target is not None
    assert (table.target.kind, table.target.name) == ("real" if name == "quad" else "class", "Y")
    assert repr(table) == f"Table(400 rows, 10 columns, target 'Y' ({table.target.kind}))"
    again, other = datasets.make(name).data, datasets.make(name, seed=1).data
    assert np.array_equal(X, again)
    assert not np.array_equal(X, other)


def test_and_or_by_its_formula() -> None:
    """Each bit, each pair of noise bits and each flip as often as said: 5 standard deviations of 20,000 rows."""
    X, y, _ = drawn("and_or")
    bits = X.astype(bool)
    assert np.array_equal(X, bits)
    assert np.array_equal(y == 1, (bits[:, 0] & bits[:, 1]) | (bits[:, 2] & bits[:, 3]))
    assert np.allclose(X[:, :7].mean(0), 0.5, atol=5 * 0.5 / np.sqrt(20_000))
    flips = X[:, 7:] != y[:, None]
    assert np.allclose(flips.mean(0), 0.2, atol=5 * 0.4 / np.sqrt(20_000))
    free = np.column_stack([X[:, :7], flips])  # all ten are independent
    assert np.abs(np.corrcoef(free.T) - np.eye(10)).max() < 5 / np.sqrt(20_000)


def test_quad_by_its_formula() -> None:
    X, y, _ = drawn("quad")
    e = (y - (X[:, 0] ** 2 + X[:, 1]) / (0.5 + (X[:, 1] + 1.5) ** 2)) / 0.1
    normal = np.column_stack([X[:, :8], e])
    assert np.allclose(normal.mean(0), 0.0, atol=5 / np.sqrt(20_000))
    assert np.allclose(normal.var(0), 1.0, atol=5 * np.sqrt(2 / 20_000))
    assert np.allclose((normal**4).mean(0), 3.0, atol=5 * np.sqrt(96 / 20_000))
    flat = X[:, 8:] - 0.5 * X[:, :2]
    assert np.abs(flat).max() < 1.0
    assert np.allclose(flat.mean(0), 0.0, atol=5 * np.sqrt(1 / 3 / 20_000))
    assert np.allclose((flat**2).mean(0), 1 / 3, atol=5 * np.sqrt(4 / 45 / 20_000))
    assert np.abs(np.corrcoef(np.column_stack([normal, flat]).T) - np.eye(11)).max() < 5 / np.sqrt(20_000)


def test_xor_by_its_formula() -> None:
    X, y, _ = drawn("xor")
    assert set(np.unique(X)) == {0, 1}
    assert np.array_equal(y, X[:, 0] ^ X[:, 1])
    assert np.allclose(X[:, :5].mean(0), 0.5, atol=5 * 0.5 / np.sqrt(20_000))
    assert np.allclose(X[:, 5:].mean(0), 0.75, atol=5 * np.sqrt(0.1875 / 20_000))
    assert np.abs(np.corrcoef(X.T) - np.eye(10)).max() < 5 / np.sqrt(20_000)


def test_toy_data_in_a_selection() -> None:
    """The copies of Y with flips come first where each feature is judged alone, so F is .25 on and_or."""
    data = datasets.make("and_or", seed=3)
    alone = jifs.select(data, k=4, criterion="mim")
    assert alone.n_rows == 400
    assert set(alone.names[:3]) == {"X8", "X9", "X10"}
    assert datasets.f_measure(alone.indices, data.truth) == 0.25
    assert datasets.f_measure(alone.names, ["X1", "X2", "X3", "X4"]) == 0.25
    assert jifs.select(datasets.make("xor"), k=2, criterion="cmi", include=["X2"]).indices.tolist() == [1, 0]


def test_few_rows_of_toy_data() -> None:
    for name in TOYS:
        assert datasets.make(name, n=2).n == 2
    rows: Any = np.int64(5)
    assert datasets.make("xor", n=rows, seed=rows).n == 5


@pytest.mark.parametrize("name", ["nor", "and-or", 3, None, ["xor"]])
def test_toy_data_of_no_name(name: Any) -> None:
    with pytest.raises(InputError, match=r"no toy data are called .*; there are and_or, quad, xor"):
        datasets.make(name)


def test_toy_data_are_made_and_not_loaded() -> None:
    with pytest.raises(InputError, match=r"'and_orr'.*Did you mean 'and_or'"):
        datasets.make("and_orr")
    with pytest.raises(
        InputError, match=r"^'xor' is drawn by chance: jifs\.datasets\.make\('xor', n=400, seed=0\)"
    ):
        datasets.load("xor")
    assert not set(TOYS) & set(datasets.names())


@pytest.mark.parametrize("n", [1, 0, -5, 2.0, True, "400", None])
def test_rows_of_toy_data_that_are_none(n: Any) -> None:
    with pytest.raises(InputError, match="n must be a whole number of rows, from 2 on, not "):
        datasets.make("xor", n=n)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "0", None])
def test_seeds_of_toy_data_that_are_none(seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be a whole number from 0 on, not "):
        datasets.make("xor", seed=seed)


features = st.sets(st.integers(0, 9))


@given(features, features.filter(bool))
def test_f_measure_by_definition(selected: set[int], truth: set[int]) -> None:
    hits = len(selected & truth)
    if not hits:
        assert datasets.f_measure(selected, truth) == 0.0
        return
    p, r = hits / len(selected), hits / len(truth)
    assert datasets.f_measure(np.array(sorted(selected)), tuple(truth)) == pytest.approx(
        2 * p * r / (p + r), abs=1e-15
    )
    assert (datasets.f_measure(selected, truth) == 1.0) == (selected == truth)


@pytest.mark.parametrize(
    ("selected", "truth"),
    [([0], ["X1"]), (["X1"], [0]), ([True, False], [0, 1]), ([0, 1], np.array([True, False]))],
)
def test_f_measure_of_what_can_not_be_compared(selected: Any, truth: Any) -> None:
    with pytest.raises(InputError, match="must both hold indices or both names, and neither may be a mask"):
        datasets.f_measure(selected, truth)


def test_f_measure_without_a_truth() -> None:
    with pytest.raises(InputError, match="truth must hold a feature at least"):
        datasets.f_measure([1], [])
