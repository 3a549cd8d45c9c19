"""Sample size and covariance: equal to the definitions, to exact expectations, and never NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy.special import polygamma

from jifs.errors import InputError
from jifs.study.sample_size import MEASURES, SampleSizeStudy, sample_size_study, spread


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Any:
    yield
    plt.close("all")


def ar1(d: int, r: float) -> np.ndarray:
    return np.array([[r ** abs(i - j) for j in range(d)] for i in range(d)])


def ledoit_wolf(x: np.ndarray) -> float:
    """s = min(b^2, d^2) / d^2, d^2 = |S - m I|^2, b^2 = 1/N^2 sum_i |x_i x_i^T - S|^2, row by row."""
    n, d = x.shape
    x = x - x.mean(0)
    s = x.T @ x / n
    away = ((s - np.trace(s) / d * np.eye(d)) ** 2).sum()
    noise = sum(((np.outer(row, row) - s) ** 2).sum() for row in x) / n**2
    return min(noise, away) / away


@pytest.mark.parametrize(
    ("covariance", "sigma"), [(None, np.eye(4)), (0.7, ar1(4, 0.7)), (-0.3, ar1(4, -0.3))]
)
def test_each_number_from_its_definition(covariance: Any, sigma: np.ndarray) -> None:
    study = sample_size_study(4, [6, 30], covariance, trials=3, seed=5)
    root = np.linalg.cholesky(sigma)
    for i, n in enumerate((6, 30)):
        for t in range(3):
            x = np.random.default_rng([5, t]).standard_normal((n, 4)) @ root.T
            plain = np.cov(x, rowvar=False, bias=True)
            s = ledoit_wolf(x)
            shrunk = (1 - s) * plain + s * np.trace(plain) / 4 * np.eye(4)
            assert study.shrinkage[i, t] == pytest.approx(s, rel=1e-10)
            for errors, estimate in ((study.plain, plain), (study.shrunk, shrunk)):
                expected = [
                    np.linalg.cond(estimate),
                    np.linalg.norm(estimate - sigma) / np.linalg.norm(sigma),
                    np.linalg.norm(estimate - sigma, 2) / np.linalg.norm(sigma, 2),
                    math.log(np.linalg.det(estimate) / np.linalg.det(sigma)),
                ]
                found = [getattr(errors, measure)[i, t] for measure in MEASURES]
                assert found == pytest.approx(expected, rel=1e-9)
    assert study.true_condition == pytest.approx(np.linalg.cond(sigma))


@pytest.mark.parametrize(("d", "n"), [(1, 2), (5, 12), (12, 13), (10, 100)])
def test_log_det_has_its_exact_mean(d: int, n: int) -> None:
    study = sample_size_study(d, n, 0.5, trials=400, seed=1)
    found = study.plain.log_det[0]
    left = (n - np.arange(1, d + 1)) / 2
    assert found.var() == pytest.approx(polygamma(1, left).sum(), rel=0.35)  # four standard errors and more
    standard_error = math.sqrt(polygamma(1, left).sum() / 400)
    assert abs(found.mean() - study.expected_log_det[0]) < 4 * standard_error
    # by hand, from products of chi2: E log chi2_k = digamma(k/2) + log 2, and one sample went into the mean
    if (d, n) == (1, 2):
        assert study.expected_log_det[0] == pytest.approx(-np.euler_gamma - 2 * math.log(2))


@pytest.mark.parametrize("n", [10, 200])
def test_the_frobenius_error_has_its_exact_mean_square(n: int) -> None:
    """N S is Wishart with N - 1 degrees: E|S - Sigma|^2 = [(N-1)(tr Sigma^2 + tr^2 Sigma) + tr Sigma^2] / N^2."""
    sigma = ar1(6, 0.6)
    square = np.trace(sigma @ sigma)
    expected = ((n - 1) * (square + np.trace(sigma) ** 2) + square) / n**2 / square
    found = sample_size_study(6, n, sigma, trials=1000, seed=3).plain.frobenius[0] ** 2
    assert abs(found.mean() - expected) < 4 * found.std() / math.sqrt(1000)


def test_few_samples_are_singular_and_nothing_is_nan() -> None:
    study = sample_size_study(8, [2, 3, 7, 8, 9, 20], 0.4, trials=5)
    for errors in (study.plain, study.shrunk):
        assert not any(np.isnan(getattr(errors, measure)).any() for measure in MEASURES)
    assert np.isinf(study.plain.condition).all(1).tolist() == [True] * 4 + [False] * 2
    assert (study.plain.log_det == -np.inf).all(1).tolist() == [True] * 4 + [False] * 2
    assert np.isneginf(study.expected_log_det).tolist() == [True] * 4 + [False] * 2
    # two samples are mirror images about their mean, so Ledoit and Wolf see no noise and shrink nothing
    assert study.shrinkage[0] == pytest.approx(0)
    assert np.isinf(study.shrunk.condition[0]).all()
    assert np.isfinite(study.shrunk.condition[1:]).all()
    assert np.isfinite(study.shrunk.log_det[1:]).all()


def test_more_samples_help_and_shrinkage_helps_more() -> None:
    study = sample_size_study(20, [25, 50, 200, 800], trials=10)
    for measure in ("condition", "frobenius", "spectral"):
        plain = [spread(row)[1] for row in getattr(study.plain, measure)]
        shrunk = [spread(row)[1] for row in getattr(study.shrunk, measure)]
        assert plain == sorted(plain, reverse=True)
        assert all(s < p for s, p in zip(shrunk, plain, strict=True))
    assert (np.diff(study.expected_log_det) > 0).all()


def test_a_seed_says_it_all() -> None:
    one = sample_size_study(3, [5, 9, 20], 0.2, trials=4, seed=11)
    again = sample_size_study(3, [20, 5, 5, 9], 0.2, trials=4, seed=11)
    alone = sample_size_study(3, 9, ar1(3, 0.2), trials=2, seed=11)
    other = sample_size_study(3, [5, 9, 20], 0.2, trials=4, seed=12)
    assert one.seed == 11
    assert again.sizes.tolist() == [5, 9, 20]
    for measure in MEASURES:
        values = getattr(one.plain, measure)
        assert (getattr(again.plain, measure) == values).all()
        assert getattr(alone.plain, measure)[0] == pytest.approx(values[1, :2])
        assert (getattr(other.plain, measure) != values).any()


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 3, 1e300])
def test_the_unit_of_the_covariance_is_not_felt(scale: float) -> None:
    one, other = (sample_size_study(3, [2, 10], c * ar1(3, 0.5), trials=2) for c in (1, scale))
    for measure in MEASURES:
        for name in ("plain", "shrunk"):
            values = getattr(getattr(one, name), measure)
            assert getattr(getattr(other, name), measure) == pytest.approx(values, rel=1e-9)


def test_the_error_of_log_det_does_not_depend_on_the_truth() -> None:
    d = 4
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    harsh = basis @ np.diag([1, 1e-3, 1e-6, 1e-10]) @ basis.T
    harsh = (harsh + harsh.T) / 2
    one, other = sample_size_study(d, [9]), sample_size_study(d, [9], harsh)
    assert other.true_condition == pytest.approx(1e10, rel=1e-5)
    assert other.plain.log_det == pytest.approx(one.plain.log_det, rel=1e-12)


def test_one_feature() -> None:
    study = sample_size_study(1, [2, 50], trials=3)
    assert (study.plain.condition == 1).all()
    assert (study.plain.frobenius == study.plain.spectral).all()


def test_spread_takes_infinite_values() -> None:
    assert spread(np.array([np.inf, np.inf])) == (np.inf, np.inf, np.inf)
    assert spread(np.array([1.0, 2.0, np.inf])) == (1.0, 2.0, np.inf)
    assert spread(np.array([-np.inf, 0.0])) == (-np.inf, -np.inf, 0.0)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"dimension": 0}, "dimension"),
        ({"dimension": 2.0}, "dimension"),
        ({"dimension": True}, "dimension"),
        ({"dimension": "3"}, "dimension"),
        ({"sizes": []}, "sizes"),
        ({"sizes": None}, "sizes"),
        ({"sizes": 1}, "sizes"),
        ({"sizes": [10, 1]}, "sizes"),
        ({"sizes": [10.5]}, "sizes"),
        ({"sizes": "10"}, "sizes"),
        ({"sizes": [[10]]}, "sizes"),
        ({"trials": 0}, "trials"),
        ({"trials": None}, "trials"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed"),
        ({"covariance": 1}, "covariance"),
        ({"covariance": -1.5}, "covariance"),
        ({"covariance": float("nan")}, "covariance"),
        ({"covariance": True}, "covariance"),
        ({"covariance": "identity"}, "covariance"),
        ({"covariance": [1, 2, 3]}, "covariance"),
        ({"covariance": [[1, 2], [3]]}, "covariance"),
        ({"covariance": np.eye(2)}, "covariance"),
        ({"covariance": np.zeros((3, 3))}, "covariance"),
        ({"covariance": np.ones((3, 3))}, "covariance"),
        ({"covariance": -np.eye(3)}, "covariance"),
        ({"covariance": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "covariance"),
        ({"covariance": np.diag([1, 1, np.inf])}, "covariance"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=name) as refused:
        sample_size_study(**({"dimension": 3, "sizes": [10]} | arguments))
    assert "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def study() -> SampleSizeStudy:
    return sample_size_study(6, np.array([4, 7, 12, 50]), 0.5, trials=9, seed=2)


def test_records_and_table(study: SampleSizeStudy) -> None:
    rows = study.records()
    assert [(row["size"], row["estimate"]) for row in rows[:3]] == [(4, "plain"), (4, "shrunk"), (7, "plain")]
    for measure in MEASURES:
        assert rows[4][measure] == np.sort(getattr(study.plain, measure)[2])[4]  # the middle one of nine
        assert rows[5][f"{measure}_low"] == getattr(study.shrunk, measure)[2].min()
        assert rows[5][f"{measure}_high"] == getattr(study.shrunk, measure)[2].max()
    lines = str(study).splitlines()
    condition = f"{np.linalg.cond(ar1(6, 0.5)):.4f}"
    assert lines[0] == f"6 features; covariance: AR(1) with 0.5, condition {condition}; 9 trials, seed 2"
    assert "seed 2" in repr(study)
    assert len(lines) == 4 + 8
    assert "inf (inf .. inf)" in lines[4]
    assert study._repr_html_().count("<tr>") == 9


def test_plot(study: SampleSizeStudy) -> None:
    figure = study.plot()
    figure.canvas.draw()
    assert len(figure.axes) == 3
    assert all(axes.get_xlabel() and axes.get_ylabel() and axes.get_title() for axes in figure.axes)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines["ML"].get_xdata().tolist() == [7, 12, 50]  # four samples of six features: singular
    assert lines["ML"].get_ydata()[0] == spread(study.plain.condition[1])[1]
    assert lines["Ledoit-Wolf"].get_xdata().tolist() == [4, 7, 12, 50]
    own, axes = plt.subplots(3, 1)
    assert study.plot(axes) is own
    assert axes[2].lines
    with pytest.raises(InputError, match="3 matplotlib axes"):
        study.plot(axes[0])


@pytest.mark.parametrize("sizes", [[2], [3, 4], [50], [2, 3, 4]])
def test_plots_of_odd_studies(sizes: list[int]) -> None:
    sample_size_study(5, sizes, trials=1).plot().canvas.draw()
