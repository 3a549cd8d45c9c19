"""Bounds on the entropy of two Gaussian classes: the published table, naive equals fast, orderings, pictures."""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from naive import bounds as naive

from jifs.errors import InputError
from jifs.study.bounds import LABELS, _integral, compromise_cases, entropy_bounds, log_excess
from jifs.study.figures import plot_compromise_cases

Mixture = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]

ORDINARY: list[Mixture] = [
    ((0, 3), (1, 1), (0.5, 0.5)),
    ((0, 8), (1, 1), (0.9, 0.1)),
    ((0, 142.4), (1, 100**2), (0.5, 0.5)),
    ((0, 0), (1, 100**2), (0.5, 0.5)),
    ((0, 0), (1, 100), (0.99, 0.01)),
    ((3, 3.001), (1, 1.001), (0.3, 0.7)),
    ((-5, 7), (0.01, 4), (0.2, 0.8)),
    ((0, 0.5), (1e-4, 1), (0.6, 0.4)),
    ((0, 12), (1, 1), (1e-6, 1 - 1e-6)),
    ((0, 200), (1, 2), (0.5, 0.5)),
]


def mixtures(widest: float = 100.0) -> st.SearchStrategy[Mixture]:
    """Two classes with standard deviations up to a factor `widest` apart, near to and far from each other."""
    width = st.floats(1, widest)
    place = st.floats(-300, 300) | st.floats(-1, 1) | st.sampled_from([0.0, 1e-3, 5.0])
    prior = st.floats(0.001, 0.999) | st.just(0.5)
    return st.builds(
        lambda m1, m2, s1, s2, p: ((m1, m2), (s1**2, s2**2), (p, 1 - p)), place, place, width, width, prior
    )


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Any:
    yield
    plt.close("all")


# ---- values


def test_the_four_published_rows() -> None:
    found = compromise_cases()
    rows = np.transpose(
        [getattr(found.information, name) for name in ("true", "compromise", "total", "fitted")]
    )
    printed = [
        (0.52678, 0.58933, 0.58933, 0.58933),
        (0.32503, 0.19038, 0.32508, 0.95551),
        (0.66904, 0.34834, 0.69315, 2.30612),
        (0.03908, -0.00964, 0.05600, 0.32104),
    ]
    for row, expected in zip(rows, printed, strict=True):
        assert [f"{value:.5f}" for value in row] == [f"{value:.5f}" for value in expected]
    assert found.means[1, 2] == pytest.approx(142.4, abs=0.05)
    above_both = found.entropy.fitted > 0.5 * np.log(2 * np.pi * np.e * found.variances)
    assert above_both.all(0).tolist() == [True, True, True, False]  # H* > H_y
    assert found.compromise_fails.tolist() == [False, True, True, True]


@pytest.mark.parametrize(("means", "variances", "priors"), ORDINARY)
def test_naive_equals_fast(means: Any, variances: Any, priors: Any) -> None:
    fast, slow = entropy_bounds(means, variances, priors), naive.information(means, variances, priors)
    given_class = sum(p * naive.gaussian_entropy(v) for p, v in zip(priors, variances, strict=True))
    assert set(slow) == set(LABELS)
    for name, value in slow.items():
        assert getattr(fast.information, name) == pytest.approx(value, rel=1e-12, abs=1e-13), name
        assert getattr(fast.entropy, name) == pytest.approx(value + given_class, rel=1e-12, abs=1e-12), name
    assert fast.entropy.true == pytest.approx(naive.entropy(means, variances, priors), abs=1e-12)
    assert fast.conditional == pytest.approx(given_class, abs=1e-14)
    assert 0 <= fast.quadrature_error < 1e-12


@given(mixtures(20.0))
def test_the_truth_is_exact_on_any_mixture(mixture: Mixture) -> None:
    assert entropy_bounds(*mixture).entropy.true == pytest.approx(naive.entropy(*mixture), abs=1e-11)


@pytest.mark.parametrize("prior", [0.5, 0.9, 1e-9, 1e-20])
@pytest.mark.parametrize("variances", [(1, 1), (1, 1e4), (1e-190, 1e-200), (1e8, 1)])
@pytest.mark.parametrize("distance", [1e7, 1e30, 1e90])
def test_far_apart_the_class_is_known(distance: float, variances: Any, prior: float) -> None:
    far = distance * math.sqrt(max(variances))
    found = entropy_bounds((0, far), variances, (prior, 1 - prior)).information
    expected = -prior * math.log(prior) - (1 - prior) * math.log1p(-prior)
    assert found.far_apart == pytest.approx(expected, rel=1e-13, abs=0)
    assert found.true == pytest.approx(expected, rel=1e-13, abs=0)
    assert found.total == found.far_apart


@pytest.mark.parametrize("width", [1.0, 1e-2, 1e-6, 1e-12])
def test_the_quadrature_halves_its_steps_where_it_must(width: float) -> None:
    value, error = _integral(lambda x: 1 / (1 + (x / width) ** 2), np.array([-1.0, 0.0, 0.3]))
    expected = width * (math.atan(1 / width) + math.atan(0.3 / width))
    assert value == pytest.approx(expected, rel=1e-13, abs=0)
    assert 0 <= error < 1e-11 * expected


def test_equal_classes_say_nothing() -> None:
    found = entropy_bounds((2, 2), (9, 9), (0.3, 0.7)).information
    assert [found.true, found.fitted, found.total, found.compromise, found.kl, found.kl_tight] == [0.0] * 6


@pytest.mark.parametrize("priors", [(0.5, 0.5), (0.9, 0.1)])
@pytest.mark.parametrize("d", [1e-3, 1e-6, 1e-9, 1e-100])
def test_nearly_equal_means_keep_relative_digits(d: float, priors: Any) -> None:
    w = priors[0] * priors[1]
    expected = w * d**2 / 2 * (1 - w * d**2 / 2)  # the next term is d^4 smaller
    assert entropy_bounds((0, d), priors=priors).information.true == pytest.approx(expected, rel=2e-12, abs=0)


def test_nearly_equal_variances_keep_relative_digits() -> None:
    e = 2.0**-30
    found = entropy_bounds((0, 0), (1, 1 + e), (0.25, 0.75)).information
    assert found.true == pytest.approx(0.25 * 0.75 * e**2 / 4, rel=1e-8, abs=0)
    assert found.kl == pytest.approx(e**2 / 4, rel=1e-8, abs=0)


@pytest.mark.parametrize("ratio", [1e4, 1e6, 1e9, 1e12, 1e50])
def test_a_narrow_class_inside_a_wide_one(ratio: float) -> None:
    """H(Y|X) lives where the narrow class is; there the wide one is as good as flat, of density c."""
    x = np.linspace(-20, 20, 4001)
    a, c = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi), 1 / (ratio * math.sqrt(2 * math.pi))
    left = float((a * np.log1p(c / a) + c * np.log1p(a / c)).sum() * 0.01 / 2)
    found = entropy_bounds((0, 0), (1, ratio**2)).information
    assert math.log(2) - found.true == pytest.approx(left, rel=1e-7, abs=3e-16)


@given(st.floats(-1, 1e6) | st.floats(-0.06, 0.06) | st.floats(1e-25, 1e-3))
def test_log_excess(t: float) -> None:
    if abs(t) < 1e-25:
        assert log_excess(np.array(t)) == t * t / 2
        return
    with decimal.localcontext() as exact:
        exact.prec = 120
        up = 1 + decimal.Decimal(t)
        expected = float((up * up.ln() if up else decimal.Decimal(0)) - decimal.Decimal(t))
    assert log_excess(np.array(t)) == pytest.approx(expected, rel=3e-14, abs=0)


@pytest.mark.parametrize("priors", [(0.5, 0.5), (1e-20, 1), (1, 1e-30), (1e-300, 1)])
@pytest.mark.parametrize(
    "variances", [(1, 1), (1, 1e190), (1e-190, 1), (5e-324, 5e-324), (1e308, 1.7e308), (1, 1e16)]
)
@pytest.mark.parametrize("distance", [0, 1e-8, 3, 1e8, 1e99])
def test_extremes_stay_finite_and_in_order(distance: float, variances: Any, priors: Any) -> None:
    found = entropy_bounds((0, distance * math.sqrt(variances[0])), variances, priors)
    assert np.isfinite([*vars(found.information).values(), *vars(found.entropy).values()]).all()
    values = found.information
    slack = 1 + 1e-12
    assert 0 <= values.true <= values.total * slack + 1e-320
    assert values.true <= values.kl_tight * slack + 1e-320
    assert values.kl_tight <= values.kl * slack
    assert found.quadrature_error <= 1e-12 * values.true


powers = st.floats(-40, 40).map(lambda power: 10.0**power)


@given(
    powers, powers | st.floats(0.5, 2), st.floats(-40, -0.01).map(lambda power: 10.0**power), st.booleans()
)
def test_tiny_informations_keep_their_order(
    distance: float, variance: float, prior: float, swap: bool
) -> None:
    priors = (prior, 1 - prior)
    found = entropy_bounds((0, distance), (1, variance), priors[::-1] if swap else priors)
    values = found.information
    assert 0 <= values.true <= values.total * (1 + 1e-12) + 1e-300
    assert values.true <= values.kl_tight * (1 + 1e-12) + 1e-300
    assert found.quadrature_error <= 1e-12 * values.true


# ---- laws


@given(mixtures())
def test_orderings(mixture: Mixture) -> None:
    found = entropy_bounds(*mixture).information
    tiny = 1e-12 * max(1.0, found.kl)
    assert -tiny <= found.true <= found.total + tiny
    assert found.compromise <= found.total + tiny
    assert found.total <= found.fitted + tiny
    assert found.total <= found.far_apart + tiny
    assert found.kl_constant >= found.far_apart - tiny
    assert found.true <= found.kl_tight + tiny
    assert found.kl_tight <= found.kl + tiny


@given(st.floats(0, 1e6), st.floats(1e-3, 1e3))
def test_figure_1_holds_for_equal_priors_and_variances(d: float, variance: float) -> None:
    found = entropy_bounds((0, d), (variance, variance)).entropy
    assert found.true <= found.compromise + 1e-12
    assert found.compromise == pytest.approx(min(found.fitted, found.far_apart), abs=1e-12)
    assert not entropy_bounds((0, d), (variance, variance)).compromise_fails


@given(mixtures())
def test_swapping_the_classes_changes_nothing(mixture: Mixture) -> None:
    one, other = entropy_bounds(*mixture), entropy_bounds(*(pair[::-1] for pair in mixture))
    for name in LABELS:
        for part in ("entropy", "information"):
            value = getattr(getattr(one, part), name)
            assert getattr(getattr(other, part), name) == pytest.approx(value, rel=1e-12, abs=1e-12)


@given(mixtures(), st.integers(-100, 100), st.integers(-40, 40))
def test_information_feels_no_shift_and_no_unit(mixture: Mixture, shift: int, power: int) -> None:
    (m1, m2), variances, priors = mixture
    m1, m2 = round(m1 * 1024) / 1024, round(m2 * 1024) / 1024  # so that the shift itself is exact
    unit = 2.0**power
    one = entropy_bounds((m1, m2), variances, priors)
    other = entropy_bounds(
        ((m1 + shift) * unit, (m2 + shift) * unit), [v * unit**2 for v in variances], priors
    )
    for name in LABELS:
        value = getattr(one.information, name)
        assert getattr(other.information, name) == pytest.approx(value, rel=1e-13, abs=1e-13)
        moved = getattr(one.entropy, name) + power * math.log(2)
        assert getattr(other.entropy, name) == pytest.approx(moved, rel=1e-12, abs=1e-12)


def test_large_means_cost_nothing() -> None:
    near, far = entropy_bounds((0, 3)), entropy_bounds((1e8, 1e8 + 3))
    assert vars(far.information) == vars(near.information)


# ---- forms of the arguments


def test_a_curve_is_its_points() -> None:
    distance = np.array([0.0, 1.0, 5.5, 1e9])
    curve = entropy_bounds((0, distance), (1, 4), (0.3, 0.7))
    for i, d in enumerate(distance):
        point = entropy_bounds((0, d), (1, 4), (0.3, 0.7))
        for name in LABELS:
            assert getattr(curve.information, name)[i] == getattr(point.information, name)
            assert isinstance(getattr(point.entropy, name), float)
    assert curve.means.shape == curve.variances.shape == curve.priors.shape == (2, 4)


def test_pairs_and_arrays_of_two_rows_mean_the_same() -> None:
    distance = np.linspace(0, 4, 5)
    expected = entropy_bounds((0, distance), (1, 4), (0.3, 0.7))
    rows = np.array([np.zeros(5), distance])
    forms: list[Any] = [
        (rows, (1, 4), (0.3, 0.7)),
        (rows.tolist(), (np.ones(5), 4), (np.full(5, 0.3), 0.7)),
        ((0, distance), np.array([[1] * 5, [4] * 5], dtype=np.int8), np.array([0.3, 0.7])),
    ]
    for form in forms:
        assert entropy_bounds(*form).table() == expected.table()
        assert entropy_bounds(*form).information.true.tolist() == expected.information.true.tolist()


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0,), "means"),
        ((None,), "means"),
        (("01",), "means"),
        (((0,),), "means"),
        (((0, 1, 2),), "means"),
        ((np.zeros((3, 2)),), "means"),
        ((np.zeros((2, 2, 2)),), "means"),
        (((0, NAN),), "means"),
        (((0, [1, INF]),), "means"),
        (((0, []),), "means"),
        (((0, [1, [2]]),), "means"),
        (((0, "1"),), "means"),
        (((0, 1j),), "means"),
        (((0, True),), "means"),
        (((0, 10**400),), "means"),
        (((0, 1), (1, 0)), "variances"),
        (((0, 1), (1, -1)), "variances"),
        (((0, 1), (1, NAN)), "variances"),
        (((0, 1), ([1, 0, 1], 1)), "variances"),
        (((0, 1), 1), "variances"),
        (((0, 1), (1, 1), (0.5, 0.6)), "priors"),
        (((0, 1), (1, 1), (1, 0)), "priors"),
        (((0, 1), (1, 1), (-0.5, 1.5)), "priors"),
        (((0, 1), (1, 1), (NAN, 0.5)), "priors"),
        (((0, 1), (1, 1), ([0.5, 0.5], [0.5, 0.4])), "priors"),
        (((0, 1), (1, 1), (1e-320, 1)), "priors"),
        (((0, [1, 2, 3]), ([1, 2], 1)), "length"),
        (((-1e308, 1e308),), "means"),
        (((0, 1), (1e-250, 1)), "variances"),
    ],
)
def test_bad_input_is_refused(arguments: Any, name: str) -> None:
    with pytest.raises(InputError, match=name) as refused:
        entropy_bounds(*arguments)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


# ---- tables and pictures


def test_records_and_tables() -> None:
    cases = compromise_cases()
    rows = cases.records()
    assert [row["prior_2"] for row in rows] == [0.5, 0.1, 0.5, 0.01]
    assert rows[1]["true"] == cases.information.true[1]
    assert cases.records("entropy")[1]["true"] == cases.entropy.true[1]
    lines = str(cases).splitlines()
    assert len(lines) == 6
    assert "0.52678" in lines[2]
    assert "below" not in lines[2]
    assert all("(8) below the truth" in line for line in lines[3:])
    assert cases._repr_html_().count("<tr>") == 5
    assert "0.52678" in cases._repr_html_()
    one = entropy_bounds((0, 1e60))
    assert "note" not in one.table("entropy")
    assert max(map(len, one.table().splitlines())) < 200
    assert (repr(cases), repr(one)) == ("<Bounds of 4 mixtures>", "<Bounds of 1 mixture>")
    with pytest.raises(InputError, match="which"):
        one.table("mutual")


def lines_of(figure: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in figure.axes[0].lines}


def test_figure_1() -> None:
    bounds = entropy_bounds((0, np.linspace(0, 8, 33)))
    figure = bounds.plot()
    drawn = lines_of(figure)
    assert len(drawn) == 4
    for label, values in (
        ("true value, by quadrature", bounds.entropy.true),
        ("Gaussian fitted to the mixture, eq. (5)", bounds.entropy.fitted),
        ("components far apart, eq. (7)", bounds.entropy.far_apart),
        ("compromise per class, eq. (8)", bounds.entropy.compromise),
    ):
        assert drawn[label].get_ydata().tolist() == values.tolist()
        assert drawn[label].get_xdata().tolist() == np.linspace(0, 8, 33).tolist()
    axes = figure.axes[0]
    assert "nats" in axes.get_ylabel()
    assert "distance" in axes.get_xlabel()
    assert axes.get_title(loc="left")
    assert len({line.get_color() for line in axes.lines}) == 4
    figure.canvas.draw()


def test_a_plot_goes_where_it_is_told() -> None:
    figure, axes = plt.subplots(1, 2)
    bounds = entropy_bounds(([3, 0, -1], [0, 0, 0]), (1, 4), (0.8, 0.2))
    assert bounds.plot(axes[1], which="information", kl=True) is figure
    assert not axes[0].lines
    assert len(axes[1].lines) == 7  # the total differs from (8) here
    true = next(line for line in axes[1].lines if line.get_label().startswith("true"))
    assert true.get_xdata().tolist() == [0, 1, 3]
    assert true.get_ydata().tolist() == bounds.information.true[[1, 2, 0]].tolist()
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        (((0, 1), (1, [1, 4, 9])), "standard deviation"),
        (((0, 1), (1, 1), ([0.5, 0.6], [0.5, 0.4])), "prior"),
        ((([0, 2], [2, 4]), (1, [1, 2])), "standard deviation"),
        (((0, [1, 2]), (1, [1, 2])), "mixture"),
        ((([0, 0], [1, 1]),), "mixture"),
    ],
)
def test_the_axis_says_what_changes(arguments: Any, label: str) -> None:
    assert label in entropy_bounds(*arguments).plot().axes[0].get_xlabel()


@pytest.mark.parametrize("means", [(0, 1), (0, [1])])
def test_one_mixture_is_no_curve(means: Any) -> None:
    with pytest.raises(InputError, match="curve"):
        entropy_bounds(means).plot()
    with pytest.raises(InputError, match="which"):
        entropy_bounds((0, [1, 2])).plot(which="both")


def test_the_cases_where_the_compromise_fails_are_drawn() -> None:
    figure = plot_compromise_cases()
    figure.canvas.draw()
    cases = compromise_cases().information
    drawn = lines_of(figure)
    assert drawn["true value, by quadrature"].get_xdata() == pytest.approx(cases.true / cases.far_apart)
    assert drawn["compromise per class, eq. (8)"].get_xdata() == pytest.approx(
        cases.compromise / cases.far_apart
    )
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert ["below the truth" in label for label in labels] == [False, True, True, True]
    axes = plt.subplots()[1]
    own = plot_compromise_cases(entropy_bounds((0, 8), (1, 1), (0.9, 0.1)), axes)
    assert own is axes.figure
    assert len(axes.get_yticklabels()) == 1
