"""The Gaussian compromise: runs and sets against determinants of raw rows, clips, saturation, and the edges."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from gaussians import Numbers, choose, correlated, desk, made
from hypothesis import given
from hypothesis import strategies as st
from naive import gaussian as naive
from naive.search import forward

import jifs
from jifs.errors import InputError

CLIPS = ["class", "total", None]
BOTH = pytest.mark.parametrize("criterion", ["gc_mi", "gc_e"])
EVERY_CLIP = pytest.mark.parametrize("clip", CLIPS, ids=str)
quiet = pytest.mark.filterwarnings("ignore::jifs.JifsWarning")


def definition(w: Numbers, criterion: str, clip: str | None, reg: float = 0.0) -> Any:
    """score(S, j) from raw rows, standardised as each criterion does by default."""
    X = naive.standardised(w.X) if criterion == "gc_e" else w.X
    value = {"gc_mi": naive.gc_mi, "gc_e": naive.gc_e}[criterion]
    return lambda S, j: value(X, w.y, [*S, j], clip, reg)


@BOTH
@EVERY_CLIP
@pytest.mark.parametrize("seed", range(3))
def test_the_run_is_the_definition(criterion: str, clip: str | None, seed: int) -> None:
    w = correlated(seed, classes=2 + seed)
    path = forward(definition(w, criterion, clip), w.m, w.m, tol=1e-10)
    result = choose(w, w.m, criterion, {"clip": clip})
    least = (
        -1.0 if criterion == "gc_mi" else 1e-10
    )  # ties of gc_mi at the top are broken by the unclipped value
    clear = next((t for t, lead in enumerate(path.margins) if least < lead < 1e-8), w.m)
    assert clear >= 4
    assert result.indices[:clear].tolist() == path.indices[:clear]
    assert result.scores[:clear] == pytest.approx(path.scores[:clear], abs=1e-9)


@BOTH
@EVERY_CLIP
@pytest.mark.parametrize("reg", [0.0, 0.3])
def test_a_set_is_the_definition_and_the_end_of_a_run(criterion: str, clip: str | None, reg: float) -> None:
    w = correlated(5)
    stats, rule = desk(w), made(criterion, clip=clip, reg=reg)
    score, S = definition(w, criterion, clip, reg), [6, 0, 3, 5]
    assert rule.value(stats, S) == pytest.approx(score(S[:-1], S[-1]), abs=1e-10)
    assert rule.value(stats, S[::-1]) == pytest.approx(rule.value(stats, S), abs=1e-10)
    run = rule.open(stats)
    for j in S[:-1]:
        run.take(j)
    assert run.gains()[S[-1]] == pytest.approx(rule.value(stats, S), abs=1e-10)
    assert rule.value(stats, []) == 0.0
    left_out = [rule.value(stats, S[:p] + S[p + 1 :]) for p in range(len(S))]
    assert rule.without(stats, S) == pytest.approx(left_out, abs=1e-10)
    assert rule.without(stats, [4]).tolist() == [0.0]


# ---------------------------------------------------------------------------------------------------------------- laws


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_class_below_total_below_none_which_never_falls(seed: int, classes: int) -> None:
    w = correlated(seed, n=60, m=5, classes=classes, apart=3.0)
    stats = desk(w)
    per_class, total, free = (made("gc_mi", clip=clip) for clip in CLIPS)
    before = 0.0
    for size in range(1, 6):
        S = list(range(size))
        value = free.value(stats, S)
        assert per_class.value(stats, S) <= total.value(stats, S) + 1e-12
        assert total.value(stats, S) <= value + 1e-12
        assert value >= before - 1e-9
        before = value


@given(st.integers(0, 2**32 - 1))
def test_information_does_not_change_with_the_units_nor_under_any_affine_map(seed: int) -> None:
    w = correlated(seed, n=80, m=4)
    w = Numbers(naive.standardised(w.X), w.y)
    rng = np.random.default_rng(seed)
    rule, stats, S = made("gc_mi", clip=None), desk(w), [0, 1, 2, 3]
    scaled = desk(Numbers(w.X * [1e3, -1e-3, 7.0, 1e6] + [5.0, 1e3, 0.0, -2.0], w.y))
    mixed = desk(Numbers(w.X @ (rng.normal(size=(4, 4)) + 3 * np.eye(4)) + 1.0, w.y))
    assert rule.value(scaled, S) == pytest.approx(rule.value(stats, S), abs=1e-8)
    assert rule.value(mixed, S) == pytest.approx(rule.value(stats, S), abs=1e-7)
    assert rule.value(scaled, [1, 3]) == pytest.approx(rule.value(stats, [1, 3]), abs=1e-9)


def test_the_entropy_criteria_standardise_unless_told_not_to() -> None:
    w = correlated(2)
    wide = Numbers(w.X * [1, 1, 1, 1e6, 1, 1, 1, 1], w.y)
    assert choose(wide, 8, "gc_e").scores == pytest.approx(choose(w, 8, "gc_e").scores, abs=1e-9)
    assert choose(wide, 1, "gc_e", {"standardise": False}).indices.tolist() == [3]


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
def test_one_thread_and_two_give_the_same_bits(criterion: str) -> None:
    w = correlated(3, n=5000, m=40, classes=4)
    one, two = (choose(w, 12, criterion, n_jobs=jobs) for jobs in (1, 2))
    assert one.indices.tolist() == two.indices.tolist()
    assert one.scores.tobytes() == two.scores.tobytes()


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
def test_columns_on_demand_and_the_whole_matrix_choose_alike(
    criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = correlated(4, n=700, m=20)
    whole = choose(w, 9, criterion)
    monkeypatch.setattr("jifs.stats.normals.QUICK", 0.0)
    monkeypatch.setattr("jifs.stats.normals.LARGE_BYTES", 0)
    columns = choose(w, 9, criterion)
    assert whole.facts["passes"] == 1
    assert columns.facts["passes"] == (
        8 if criterion.startswith("gkl") else 9
    )  # a report needs the last one too
    assert whole.indices.tolist() == columns.indices.tolist()
    assert whole.scores == pytest.approx(columns.scores, abs=1e-10)


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
def test_weights_are_rows_repeated(criterion: str) -> None:
    w = correlated(6, n=120, m=6)
    times = np.random.default_rng(0).integers(0, 4, 120)
    often = Numbers(np.repeat(w.X, times, axis=0), np.repeat(w.y, times))
    for weights in (times, times * 0.37):
        by_weight = choose(w, 6, criterion, sample_weight=weights)
        assert by_weight.indices.tolist() == choose(often, 6, criterion).indices.tolist()
        assert by_weight.scores == pytest.approx(choose(often, 6, criterion).scores, abs=1e-10)


# ---------------------------------------------------------------------------------------------------------- saturation


def saturating(seed: int = 0) -> Numbers:
    """Classes so far apart that a few features tell all."""
    w = correlated(seed, n=400, m=10, classes=2, apart=0.0)
    shift = np.zeros(10)
    shift[[2, 5, 7]] = 30.0
    return Numbers(naive.standardised(w.X) + np.outer(w.y, shift), w.y)


@quiet
def test_when_all_have_reached_the_top_the_unclipped_value_decides() -> None:
    w = saturating()
    result = choose(w, 6, "gc_mi")
    at = result.facts["saturated_at"]
    assert at == 1
    free = choose(w, 6, "gc_mi", {"clip": None})
    assert result.indices.tolist() == free.indices.tolist()
    limit = -sum(p * math.log(p) for p in np.bincount(w.y) / len(w.y))
    assert result.scores == pytest.approx([limit] * 6, abs=1e-9)
    assert [step.parts["unclipped"] for step in result.trace] == pytest.approx(free.scores, abs=1e-9)


@quiet
def test_random_after_saturation_is_seeded() -> None:
    w = saturating()
    runs = [
        choose(w, 8, "gc_mi", {"saturation": "random"}, random_state=s).indices.tolist() for s in (1, 1, 2, 3)
    ]
    assert runs[0] == runs[1]
    assert len({tuple(run) for run in runs}) > 1
    assert len({run[0] for run in runs}) == 1  # before, nothing is left to chance


@quiet
def test_stop_at_saturation() -> None:
    result = choose(saturating(), 8, "gc_mi", {"saturation": "stop"})
    assert len(result.indices) == result.facts["saturated_at"] == 1
    assert "saturated" in result.facts["stopped"]


def test_gc_e_does_not_saturate() -> None:
    result = choose(saturating(), 5, "gc_e")
    assert "saturated_at" not in result.facts
    assert len(set(result.scores.tolist())) == 5


def test_not_saturated_is_said_too() -> None:
    assert choose(correlated(1, apart=0.1), 3, "gc_mi").facts["saturated_at"] is None


# ------------------------------------------------------------------------------------------------------------- pruning


@BOTH
@EVERY_CLIP
@quiet
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.0, 0.1, 2.0, 30.0]))
def test_pruning_changes_nothing(
    criterion: str, clip: str | None, seed: int, classes: int, apart: float
) -> None:
    w = correlated(seed, n=60, m=40, classes=classes, apart=apart)
    X = np.column_stack([w.X, w.X[:, 3] * 2, np.full(60, 1.5), w.X[:, 1] + w.X[:, 2]])
    plain, pruned = (
        choose(Numbers(X, w.y), 12, criterion, {"clip": clip, "prune": on}) for on in (False, True)
    )
    assert pruned.indices.tolist() == plain.indices.tolist()
    assert pruned.scores.tobytes() == plain.scores.tobytes()
    assert [s.runner_up for s in pruned.trace] == [s.runner_up for s in plain.trace]
    assert [s.margin for s in pruned.trace] == [s.margin for s in plain.trace]
    assert pruned.facts.get("saturated_at") == plain.facts.get("saturated_at")
    assert 0 <= pruned.facts["evaluations_saved"] <= pruned.facts["evaluations_asked"]


def test_pruning_saves_evaluations_where_most_features_are_alike() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 300))
    X[:, ::60] += 1.5 * y[:, None]
    result = choose(Numbers(X, y), 5, "gc_mi", {"prune": True})
    assert result.indices.tolist() == choose(Numbers(X, y), 5, "gc_mi").indices.tolist()
    assert result.facts["evaluations_saved"] > 0.3 * result.facts["evaluations_asked"]


def test_include_and_exclude_with_pruning() -> None:
    w = correlated(3)
    how = {"include": [5, 2], "exclude": [0]}
    plain, pruned = (choose(w, 6, "gc_mi", {"prune": on}, **how) for on in (False, True))
    assert pruned.indices.tolist() == plain.indices.tolist()
    assert pruned.scores.tolist() == plain.scores.tolist()


# --------------------------------------------------------------------------------------------------------------- edges


@BOTH
@EVERY_CLIP
@quiet
def test_constants_and_copies_come_last_and_nothing_is_nan(criterion: str, clip: str | None) -> None:
    w = correlated(7, m=6)
    X = np.column_stack([np.full(300, 0.1), w.X, 3 * w.X[:, 0] - 1, w.X[:, 2] + w.X[:, 3]])
    result = choose(Numbers(X, w.y), 9, criterion, {"clip": clip})
    assert not np.isnan(result.scores).any()
    assert np.isfinite(result.scores[:6]).all()
    assert result.scores[6:].tolist() == [-math.inf] * 3
    assert 0 in result.indices[6:]
    assert result.indices[6:].tolist() == sorted(result.indices[6:].tolist())


def test_a_constant_adds_nothing_with_reg() -> None:
    w = correlated(8, m=4)
    stats = desk(Numbers(np.column_stack([w.X, np.full(300, 7.3)]), w.y))
    for clip in CLIPS:
        rule = made("gc_mi", clip=clip, reg=0.1)
        assert rule.value(stats, [4]) == 0.0
        assert rule.value(stats, [0, 1, 4]) == pytest.approx(rule.value(stats, [0, 1]), abs=1e-14)


@pytest.mark.parametrize(("clip", "expected"), [("class", "limit"), ("total", "total"), (None, "infinite")])
def test_constant_within_a_class_looks_perfect_and_is_warned_of(clip: str | None, expected: str) -> None:
    w = correlated(9, m=3, classes=2)
    X = w.X.copy()
    X[w.y == 1, 1] = 0.25
    priors = np.bincount(w.y) / len(w.y)
    with pytest.warns(jifs.JifsWarning, match="feature 'x1' has one value only within a class, as in 1"):
        result = choose(Numbers(X, w.y), 3, "gc_mi", {"clip": clip})
    value = {
        "limit": naive.gc_mi(X, w.y, [1], "class"),
        "total": -float(priors @ np.log(priors)),
        "infinite": math.inf,
    }[expected]
    assert made("gc_mi", clip=clip).value(desk(Numbers(X, w.y)), [1]) == pytest.approx(value, abs=1e-12)
    assert not np.isnan(result.scores).any()
    assert (result.indices[0] == 1) == (clip != "class") or expected == "limit"


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
def test_more_features_than_rows_in_a_class(criterion: str) -> None:
    w = correlated(10, n=40, m=12, classes=4)
    with pytest.warns(jifs.JifsWarning, match=r"rows, too few for the covariance .* use reg='auto'"):
        result = choose(w, 12, criterion)
    assert not np.isnan(result.scores).any()
    assert sorted(result.indices.tolist()) == list(range(12))
    shrunk = choose(w, 12, criterion, {"reg": "auto", "standardise": True})
    assert np.isfinite(shrunk.scores).all()
    assert shrunk.facts["warnings"] == []


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
def test_rows_fewer_than_features_and_tiny_classes(criterion: str) -> None:
    rng = np.random.default_rng(0)
    w = Numbers(rng.normal(size=(7, 15)), np.array([0, 0, 0, 0, 1, 1, 2]))
    with pytest.warns(jifs.JifsWarning):
        result = choose(w, 15, criterion)
    assert not np.isnan(result.scores).any()
    assert sorted(result.indices.tolist()) == list(range(15))
    assert np.isfinite(choose(w, 15, criterion, {"reg": 0.5}).scores).all()


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
def test_one_class(criterion: str) -> None:
    w = correlated(11, m=4, classes=1)
    with pytest.warns(jifs.JifsWarning, match="one class"):
        result = choose(w, 4, criterion)
    assert np.isfinite(result.scores).all()
    if criterion.endswith("_mi"):
        assert result.scores == pytest.approx([0.0] * 4, abs=1e-9)
        assert result.indices.tolist() == [0, 1, 2, 3]


def test_sparse_features_are_warned_of() -> None:
    w = correlated(12)
    X = w.X.copy()
    X[:, 2] = 0.0
    X[5:9, 2] = [1.0, 2.0, 0.5, 3.0]
    with pytest.warns(jifs.JifsWarning, match="feature 'x2' has one value in over 95% of the rows"):
        choose(Numbers(X, w.y), 2, "gc_mi", {"reg": 0.1})


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"clip": "both"}, "clip must be 'class' or 'total' or None"),
        ({"saturation": "never"}, "saturation must be 'unclipped' or 'random' or 'stop'"),
        ({"reg": -1.0}, "reg must be a number from 0 on"),
        ({"reg": math.nan}, "reg must be a number from 0 on"),
        ({"reg": "some"}, "or 'auto'"),
        ({"reg": True}, "reg must be a number from 0 on"),
        ({"standardise": 3}, "standardise must be True or False"),
    ],
)
def test_parameters_refused(params: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        choose(correlated(0), 2, "gc_mi", params)


def test_text_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="column 'city' holds text, and this criterion needs numbers"):
        jifs.select({"a": [0.1, 0.2, 0.4, 0.3], "city": list("abca")}, [0, 1, 0, 1], 1, "gc_mi")


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
def test_backward_lets_columns_without_volume_go_first(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 8)), rng.integers(0, 2, 300)
    X[:, [6, 7]] += y[:, None]
    flat = X.copy()
    flat[:, [0, 1]] = [3.0, 7.5]
    twice = X.copy()
    twice[:, [0, 1]] = twice[:, [2, 3]]
    for own in (flat, twice):
        with pytest.warns(jifs.JifsWarning, match="2 features, among them .* were removed first"):
            result = choose(Numbers(own, y), 2, criterion, strategy="backward")
        with pytest.warns(jifs.JifsWarning, match="removed first"):
            everybody = choose(Numbers(own, y), 8, criterion, strategy="backward")
        assert sorted(everybody.indices.tolist()) == list(range(8))
        assert np.isfinite(result.scores).all()
        if criterion.endswith("_mi"):
            assert sorted(result.indices.tolist()) == [6, 7]


@quiet
@pytest.mark.parametrize("strategy", ["backward", "exhaustive"])
def test_sets_that_are_level_go_by_the_unclipped_value(strategy: str) -> None:
    w = saturating()
    result = choose(w, 2, "gc_mi", strategy=strategy)
    free = choose(w, 2, "gc_mi", {"clip": None}, strategy=strategy)
    assert sorted(result.indices.tolist()) == sorted(free.indices.tolist())
    assert result.scores[-1] == pytest.approx(choose(w, 2, "gc_mi").scores[-1], abs=1e-9)


@pytest.mark.parametrize("criterion", ["gc_mi", "gkl_mi"])
@pytest.mark.parametrize("reg", ["auto", "oas"])
def test_shrinkage_of_tiny_classes_and_constants(criterion: str, reg: str) -> None:
    """A class of one or two rows takes the spread of the others; a constant stays without information."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [2, 1, 60])
    X = np.column_stack(
        [rng.normal(size=(63, 4)), np.where(y == 0, 1, rng.integers(0, 2, 63)), np.full(63, 7.0)]
    )
    result = choose(Numbers(X, y), 6, criterion, {"reg": reg, "standardise": True})
    assert (np.abs(result.scores[:5]) < 50).all()
    assert result.indices[5] == 5
    assert result.scores[5] == -math.inf


@quiet
def test_shrinkage_does_not_hear_the_excluded() -> None:
    w = correlated(3, m=6)
    loud = np.column_stack([w.X, 1e6 * np.random.default_rng(0).normal(size=300)])
    alone = choose(w, 4, "gc_mi", {"reg": "auto"})
    beside = choose(Numbers(loud, w.y), 4, "gc_mi", {"reg": "auto"}, exclude=[6])
    assert beside.indices.tolist() == alone.indices.tolist()
    assert beside.scores == pytest.approx(alone.scores, rel=1e-12)


@pytest.mark.parametrize("criterion", ["gc_mi", "gc_e", "gkl_mi", "gkl_e"])
@pytest.mark.parametrize("strategy", ["forward", "backward", "exhaustive"])
@pytest.mark.parametrize("unit", [1e-100, 1e-60, 1e60, 1e100])
def test_units_at_the_ends_of_the_range(criterion: str, strategy: str, unit: float) -> None:
    w = correlated(6, m=6)
    w = Numbers(naive.standardised(w.X), w.y)
    how = {"standardise": True}
    plain, far = (choose(Numbers(w.X * u, w.y), 3, criterion, how, strategy=strategy) for u in (1.0, unit))
    assert far.indices.tolist() == plain.indices.tolist()
    assert far.scores == pytest.approx(plain.scores, rel=1e-9)
    if criterion.endswith("mi"):
        raw = choose(Numbers(w.X * unit, w.y), 3, criterion, strategy=strategy)
        assert raw.scores == pytest.approx(plain.scores, rel=1e-7)
    if criterion.startswith("gc"):
        pruned = choose(Numbers(w.X * unit, w.y), 3, criterion, {"prune": True})
        assert np.isfinite(pruned.scores).all()


@pytest.mark.parametrize("criterion", ["gc_mi", "gkl_mi"])
def test_an_included_feature_without_volume_does_not_spoil_the_rest(criterion: str) -> None:
    w = correlated(4, m=6)
    X = np.column_stack([w.X, 2 * w.X[:, 0]])
    with pytest.warns(jifs.JifsWarning, match="feature 'x6' .* as if it were not there"):
        result = choose(Numbers(X, w.y), 5, criterion, include=[0, 6])
    rest = choose(w, 4, criterion, include=[0])
    assert result.indices[2:].tolist() == rest.indices[1:].tolist()
    assert result.scores[2:] == pytest.approx(rest.scores[1:], abs=1e-9)


def test_one_class_does_not_saturate() -> None:
    w = correlated(11, m=4, classes=1)
    for saturation in ("stop", "random"):
        with pytest.warns(jifs.JifsWarning, match="one class"):
            result = choose(w, 4, "gc_mi", {"saturation": saturation})
        assert result.indices.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("criterion", ["gkl_mi", "gkl_e"])
def test_a_constant_with_reg_has_one_value_by_any_search(criterion: str) -> None:
    w = correlated(2, m=2)
    X = np.column_stack([w.X, np.full(300, 2.5)])
    how = {"reg": 0.5}
    runs = [
        choose(Numbers(X, w.y), 3, criterion, how, strategy=s) for s in ("forward", "exhaustive", "backward")
    ]
    assert [r.scores[-1] for r in runs] == pytest.approx([runs[0].scores[-1]] * 3, abs=1e-12)


@pytest.mark.filterwarnings("ignore::jifs.JifsWarning")
def test_one_class_of_constants() -> None:
    result = choose(Numbers(np.ones((4, 2)), np.zeros(4, int)), 2, "gkl_mi")
    assert result.indices.tolist() == [0, 1]
    assert not np.isnan(result.scores).any()


# ------------------------------------------------------------------------------------------------- the published table


@pytest.mark.parametrize(
    ("priors", "means", "spreads", "eq8", "total", "eq5"),
    [
        ((0.5, 0.5), (0, 3), (1, 1), 0.58933, 0.58933, 0.58933),
        ((0.9, 0.1), (0, 8), (1, 1), 0.19038, 0.32508, 0.95551),
        ((0.5, 0.5), (0, 142.413), (1, 100), 0.34834, 0.69315, 2.30612),
        ((0.99, 0.01), (0, 0), (1, 10), -0.00964, 0.05600, 0.32104),
    ],
)
def test_the_cases_of_one_dimension(
    priors: Any, means: Any, spreads: Any, eq8: float, total: float, eq5: float
) -> None:
    """Rows whose class moments are exactly those of the model: mu -+ sigma, half of the class each.

    The third case is usually quoted with a mean of 142.4, rounded: its eq. (8) belongs to 142.413.
    """
    rows = [(mean + sign * spread, c) for c, (mean, spread) in enumerate(zip(means, spreads, strict=True))
            for sign in (-1, 1) for _ in range(round(100 * priors[c]))]  # fmt: skip
    w = Numbers(np.array([[x] for x, _ in rows]), np.array([c for _, c in rows]))
    score = partial(choose, w, 1, "gc_mi")
    for clip, expected in (("class", eq8), ("total", total), (None, eq5)):
        assert score({"clip": clip}).scores[0] == pytest.approx(expected, abs=6e-6)
