"""The scikit-learn face: the estimator contract for every criterion, pipelines, searches, names, routing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import jifs

# with 15 rows the redundancies are no convex program, which qpfs refuses unless it is told to make it one
NEEDED = {"qpfs": {"convexify": True}}
WEIGHTS = (
    *(
        f"check_sample_weights_{how}"
        for how in ("pandas_series", "not_an_array", "list", "shape", "not_overwritten")
    ),
    *(f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")),
)


def refused(estimator: jifs.Selector) -> dict[str, str]:
    """lsmi and hsic take no weights of rows, and say so by name."""
    return dict.fromkeys(WEIGHTS, "refuses weights") if estimator.criterion in ("lsmi", "hsic") else {}


@pytest.mark.filterwarnings("ignore:k = 10 is more than:jifs.JifsWarning")
@parametrize_with_checks(
    [jifs.Selector(criterion=entry.name, params=NEEDED.get(entry.name)) for entry in jifs.criteria()],
    expected_failed_checks=refused,
)
def test_estimator_contract(estimator: jifs.Selector, check) -> None:  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jifs.JifsWarning)
        check(estimator)


def test_pipeline_and_grid_search() -> None:
    X, y = load_wine(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), jifs.Selector(), LogisticRegression(max_iter=1000))
    grid = {"selector__criterion": ["jmi", "mrmr", "cmim"], "selector__k": [1, 5]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_["selector__k"] == 5
    assert search.best_score_ > 0.9


def test_attributes_agree_with_select() -> None:
    X, y = load_wine(return_X_y=True)
    fitted = jifs.Selector("mrmr", 4).fit(X, y)
    direct = jifs.select(X, y, 4, "mrmr")
    assert np.array_equal(fitted.selected_, direct.indices)
    assert np.array_equal(fitted.scores_, direct.scores)
    assert np.array_equal(np.flatnonzero(fitted.get_support()), np.sort(direct.indices))
    assert np.array_equal(fitted.transform(X), X[:, np.sort(direct.indices)])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_names(kind: str) -> None:
    wine = load_wine(as_frame=True)
    frame = wine.data
    if kind == "polars":
        pl = pytest.importorskip("polars")
        frame = pl.from_pandas(frame)
    selector = jifs.Selector("jmi", 3).set_output(transform=kind).fit(frame, wine.target)
    names = selector.get_feature_names_out().tolist()
    assert list(selector.transform(frame).columns) == names
    assert set(selector.result_.names) == set(names)


def test_text_columns_are_welcome() -> None:
    pd = pytest.importorskip("pandas")
    y = np.array([0, 1] * 20)
    frame = pd.DataFrame({"noise": np.arange(40) % 3, "colour": np.where(y == 1, "red", "blue")})
    selector = jifs.Selector("mim", 1).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["colour"]
    assert (
        selector.set_output(transform="pandas").transform(frame)["colour"].tolist()
        == frame["colour"].tolist()
    )


def test_sample_weight_is_routed() -> None:
    X, y = load_wine(return_X_y=True)
    weight = np.where(y == 2, 0, 1)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = jifs.Selector("mim", 3).set_fit_request(sample_weight=True)
        pipe = make_pipeline(selector, LogisticRegression(max_iter=5000).set_fit_request(sample_weight=False))
        pipe.fit(X, y, sample_weight=weight)
    kept = jifs.select(X[y != 2], y[y != 2], 3, "mim")
    assert np.array_equal(pipe[0].result_.indices, kept.indices)
    assert pipe[0].result_.scores == pytest.approx(kept.scores, abs=1e-12)


def test_a_clone_in_threads_gives_the_same() -> None:
    X, y = load_wine(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(jifs.Selector(k=4), LogisticRegression(max_iter=5000)),
        {"selector__criterion": ["jmi", "disr"]},
        cv=3,
        n_jobs=2,
    )
    with_two = search.fit(X, y).cv_results_["mean_test_score"]
    with_one = search.set_params(n_jobs=1).fit(X, y).cv_results_["mean_test_score"]
    assert np.array_equal(with_two, with_one)
