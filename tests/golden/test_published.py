"""Numbers printed in the papers and slides: the smoking example of Vinh et al. (KDD 2014) and Fleuret's lazy table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from naive.criteria import CRITERIA
from naive.entropy import cmi, fano, h, mi
from naive.search import Lazy, forward, lazy_cmim, lazy_step
from worlds import World, by_definition, choose, matrix

BIT = math.log(2)


def smoking() -> World:
    """Example 1 as a sample with exactly the printed joint law: features S (smoking) and G (coughing), class C.

    S is uniform on 1..4, C = 1[S >= 3], and G = C in 19 of 20 cases whatever S: 4 * 20 = 80 rows.
    """
    rows = [(s, c if i else 1 - c, c) for s in (1, 2, 3, 4) for c in (int(s >= 3),) for i in range(20)]
    table = np.array(rows)
    return World(table[:, :2], table[:, 2])


def in_bits(value: float) -> pytest.approx:
    """A printed number of bits, all four digits meant."""
    return pytest.approx(value * BIT, abs=5e-5 * BIT)


def test_example_1_by_definition() -> None:
    w = smoking()
    s, g = w.columns
    assert [h(s), h(g)] == [in_bits(2), in_bits(1)]
    assert [mi(s, w.y), mi(g, w.y), mi(s, g)] == [in_bits(1), in_bits(0.7136), in_bits(0.7136)]
    assert [cmi(g, w.y, s), cmi(s, w.y, g)] == [in_bits(0), in_bits(0.2864)]


def test_example_1_relevance() -> None:
    result = choose(smoking(), "mim")
    assert result.indices.tolist() == [0, 1]
    assert result.scores.tolist() == [in_bits(1), in_bits(0.7136)]


def test_example_1_matrices() -> None:
    w = smoking()
    redundancy, within, conditional = (matrix(w, which) for which in ("mi", "cmi", "cmi_target"))
    assert redundancy.ravel().tolist() == [in_bits(2), in_bits(0.7136), in_bits(0.7136), in_bits(1)]
    assert within[0, 1] == in_bits(0)  # G is independent of S given C
    assert conditional[1, 0] == in_bits(0)  # I(G;C|S): S says it all
    assert conditional[0, 1] == in_bits(0.2864)  # I(S;C|G)


@pytest.mark.parametrize(
    ("criterion", "second"),
    [
        ("mim", 0.7136),
        ("mrmr", 0.0),  # 0.7136 - 0.7136
        ("mifs", 0.0),
        ("cife", 0.0),  # ... + I(G;S|C) = 0
        ("condred", 0.7136),
        ("icap", 0.0),
        ("cmim", 0.0),  # I(G;C|S)
        ("cmi", 0.0),
        ("jmi", 1.0),  # I(GS;C) = H(C)
        ("jmim", 1.0),
    ],
)
def test_example_1_prefers_smoking(criterion: str, second: float) -> None:
    result = choose(smoking(), criterion)
    assert result.indices.tolist() == [0, 1]
    assert result.scores.tolist() == [in_bits(1), in_bits(second)]


# Terms I(Y;X_d|X_S[l]) of the seven candidates of the slide, as far as printed: the rest is a question mark there.
LAZY_TABLE = [(6, 3, 5, 4, 3), (3, 5, 2), (1,), (5, 5, 4, 6, 4), (4, 3), (2,), (5, 3)]
LAZY_PS = [3, 2, 1, 4, 3, 2, 3]
LAZY_M = [5, 3, 1, 5, 2, 1, 2]


def printed(d: int, i: int) -> float:
    """The printed term; asking for a question mark raises IndexError, so a test that passes never needed one."""
    return LAZY_TABLE[d][i]


def test_lazy_table_as_printed() -> None:
    # the slide completes a candidate that is level with the best (columns 2 and 5), so ties are looked into
    state = Lazy([math.inf] * 7, [0] * 7)
    assert lazy_step(printed, state, range(7), taken=5, look_into_ties=True) == (3, 4)
    assert state.ps == LAZY_PS
    assert state.m == LAZY_M


def test_lazy_table_with_the_rule_of_ties() -> None:
    # level with the best is not above it: the lower index has won already, and two columns are left earlier
    state = Lazy([math.inf] * 7, [0] * 7)
    assert lazy_step(printed, state, range(7), taken=5) == (3, 4)
    assert state.ps == [3, 3, 1, 4, 4, 2, 3]
    assert state.m == [5, 1, 1, 5, 1, 1, 2]


def test_lazy_table_needs_nothing_more_from_its_own_state() -> None:
    state = Lazy(list(LAZY_PS), list(LAZY_M))
    assert lazy_step(printed, state, range(7), taken=5) == (3, 4)
    assert state.asked == 0


def test_lazy_minimum_runs_over_all_terms_asked_for() -> None:
    # ps[n] = min over l <= m(n); "l < m(n)", as printed, would miss the last one: 3 3 inf 4 4 inf 5
    assert [min(column[:m]) for column, m in zip(LAZY_TABLE, LAZY_M, strict=True)] == LAZY_PS


def seven_columns() -> World:
    """Seven noisy copies of a class of 0s and 1s: enough candidates for laziness to pay."""
    rng = np.random.default_rng(20)
    y = rng.integers(0, 2, 200)
    return World(np.stack([y ^ (rng.random(200) < 0.05 * (j + 2)) for j in range(7)], axis=1), y)


def test_lazy_search_asks_for_fewer_terms_and_finds_the_same() -> None:
    w = seven_columns()
    x = w.columns
    eager = forward(lambda S, j: CRITERIA["cmim"](x, w.y, S, j), w.m, 5)
    lazy, state = lazy_cmim([mi(c, w.y) for c in x], lambda d, s: cmi(x[d], w.y, x[s]), 5)
    assert (lazy.indices, lazy.scores) == (eager.indices, eager.scores)
    assert state.asked < 6 + 5 + 4 + 3  # one new term per candidate and step: what the eager search needs


def test_lazy_engine_finds_the_same() -> None:
    w = seven_columns()
    path = by_definition(w, "cmim", 5)
    result = choose(w, "cmim", 5)
    assert result.indices.tolist() == path.indices
    assert result.scores.tolist() == pytest.approx(path.scores, abs=1e-12)


def test_fano_needs_the_classes_not_one_less() -> None:
    # two classes, nothing known: (log 2 - 0 - log 2) / log 2 = 0, not a division by log(2 - 1) = 0
    assert fano([np.zeros(4)], np.array([0, 0, 1, 1])) == 0.0
    # four even classes, nothing known: (2 - 0 - 1) / 2 bits; half of it known (1 bit): nothing is left to say
    y = np.arange(4)
    assert fano([np.zeros(4)], y) == pytest.approx(0.5)
    assert fano([y // 2], y) == pytest.approx(0.0, abs=1e-15)
