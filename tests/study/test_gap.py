"""Gaps: values below bounds, bounds above the truth, certificates that hold, and what the report says."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import jifs
from jifs.errors import InputError
from jifs.study.gap import jmi_order


def random_form(seed: int, n: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Q = rng.random((n, n)) * rng.integers(0, 2, (n, n))
    return np.asarray(Q + Q.T + np.diag(rng.random(n)))


def optimum(Q: np.ndarray, k: int) -> float:
    return max(float(Q[np.ix_(S, S)].sum()) for S in itertools.combinations(range(len(Q)), k))


@pytest.mark.parametrize("seed", range(4))
def test_values_truth_and_bounds_in_order(seed: int) -> None:
    Q = random_form(seed)
    study = jifs.gap(Q=Q, k=list(range(1, 10)), methods=["spec", "jmi", "greedy", "swap", "tabu", "exact", "spectral",
                                                        "split", "tight"])  # fmt: skip
    for k, best in study.best.items():
        truth = optimum(Q, k)
        for record in (r for r in study.records if r["k"] == k):
            if record["kind"] == "value":
                assert record["value"] <= truth * (1 + 1e-12)
                S = record["features"]
                assert record["value"] == pytest.approx(Q[np.ix_(S, S)].sum(), rel=1e-12)
                assert len(S) == k
            else:
                assert record["value"] >= truth * (1 - 1e-12)
            assert record["gap"] >= 0
        assert best["proven"]
        assert best["value"] == pytest.approx(truth, rel=1e-12)
        assert jifs.verify_certificate(Q, k, best["certificate"])


def test_from_data_and_from_its_form() -> None:
    X, y = load_wine(return_X_y=True)
    study = jifs.gap(X, y, [2, 4], methods=["spec", "tabu", "exact", "tight"])
    assert [study.best[k]["proven"] for k in (2, 4)] == [True, True]
    spec = jifs.select(X, y, 4, "spec_cmi")
    found = next(r for r in study.records if r["method"] == "spec" and r["k"] == 4)
    assert found["features"] == sorted(spec.indices.tolist())
    best = jifs.select(X, y, 4, "spec_cmi", strategy="exact")
    assert sorted(best.indices.tolist()) == study.best[4]["features"]
    assert best.facts["proven"]


def test_greedy_jmi_from_the_form_is_jmi() -> None:
    X, y = load_wine(return_X_y=True)
    source = jifs.memory(X, y)
    given = jifs.pairs(source, which="cmi_target")
    Q = (given + given.T) / 2
    np.fill_diagonal(Q, jifs.select(source, k=13, criterion="mim").weights)
    assert jmi_order(Q).tolist() == jifs.select(source, k=13, criterion="jmi").indices.tolist()


def test_the_published_program_and_its_rounding() -> None:
    Q = random_form(7)
    study = jifs.gap(Q=Q, k=3, methods=["sdp", "eq26", "spectral"])
    kinds = {(r["method"], r["kind"]): r["value"] for r in study.records}
    assert kinds["sdp", "value"] <= optimum(Q, 3) * (1 + 1e-12)
    assert optimum(Q, 3) * (1 - 1e-9) <= kinds["eq26", "bound"]


def test_report_json_and_figure() -> None:
    study = jifs.gap(Q=random_form(1), k=[2, 3], methods=["spec", "tabu", "spectral", "tight"])
    assert "SPEC" in study.table()
    assert len(study.table().splitlines()) == 9
    stored = json.loads(study.to_json())
    assert stored["features"] == 9
    assert set(stored["best"]) == {"2", "3"}
    assert len(study.to_frame()) == len(study.records) == 8
    axes = study.plot().axes[0]
    assert axes.get_xlabel()
    assert {line.get_label() for line in axes.get_lines()} >= {"SPEC", "tight bound"}


def test_an_interrupt_returns_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from jifs.relax import dual

    def interrupted(*args: object, **how: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dual, "tight_bound", interrupted)
    study = jifs.gap(Q=random_form(2), k=[2, 3], methods=["spec", "tabu", "spectral", "tight"])
    assert "interrupted at k = 2" in study.stopped
    assert study.best[2]["value"] > 0


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"Q": np.eye(3), "k": 0}, "k must be a whole number from 1 to 3"),
        ({"Q": np.eye(3), "k": 4}, "k must be a whole number from 1 to 3"),
        ({"Q": np.eye(3), "k": [1, 2.5]}, "k must be a whole number"),
        ({"Q": -np.eye(3), "k": 1}, "must be >= 0"),
        ({"k": 1}, "give data"),
        ({"Q": np.eye(3), "k": 1, "methods": ["magic"]}, "methods has no 'magic'"),
        ({"Q": np.eye(3), "k": 1, "seconds": 0}, "seconds must be a number above 0"),
        ({"X": np.eye(4), "y": [0, 1, 0, 1], "k": 1, "criterion": "cmim"}, "has no quadratic form"),
    ],
)
def test_refusals(how: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        jifs.gap(**how)  # type: ignore[arg-type]
