"""Small tables whose answers a person can work out, with the working beside them (L = log 2)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from naive.entropy import h, mi
from worlds import World, by_definition, choose

import jifs

L = math.log(2)
FOUR = np.array(list(itertools.product((0, 1), repeat=2)))  # rows 00, 01, 10, 11
SIXTEEN = np.array(list(itertools.product((0, 1), repeat=4)))


def h2(p: float) -> float:
    """Entropy of a coin."""
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def check(world: World, criterion: str, indices: list[int], scores: list[float], **params: Any) -> None:
    """The definition and the engine both give what was worked out."""
    path = by_definition(world, criterion, **params)
    assert path.indices == indices
    assert path.scores == pytest.approx(scores, abs=1e-12)
    result = choose(world, criterion, params=params or None)
    assert result.indices.tolist() == indices
    assert result.scores.tolist() == pytest.approx(scores, abs=1e-12)


# y = a xor b, and a constant c: each alone knows nothing, so the first taken is feature 0 with score 0.
# I(ab;y) = L, H(a,b,y) = 2L, I(b;y|a) = L, I(a;b) = 0, I(a;b|y) = L; everything with c is 0.
XOR = World(np.column_stack([FOUR, np.zeros(4, dtype=int)]), FOUR[:, 0] ^ FOUR[:, 1])
XOR_SECOND = {
    "mim": 0.0,
    "mifs": 0.0,
    "mrmr": 0.0,
    "miq": 0.0,  # 0 / 1e-12
    "jmi": L,
    "cife": L,
    "condred": L,
    "betagamma": L,
    "cmim": L,
    "icap": 0.0,  # 0 - max(0, 0 - L)
    "disr": 0.5,  # L / 2L
    "jmim": L,
    "njmim": 0.5,
    "cmi": L,
}


@pytest.mark.parametrize(("criterion", "second"), XOR_SECOND.items())
def test_xor(criterion: str, second: float) -> None:
    check(XOR, criterion, [0, 1, 2], [0.0, second, 0.0])


def test_xor_and_the_marginal_term_of_cmim() -> None:
    # the constant now stands before b. Over S only, b scores L and comes second;
    # with the marginal min(0, L) = 0 the two tie, and the constant has the lower index.
    w = World(XOR.X[:, [0, 2, 1]], XOR.y)
    check(w, "cmim", [0, 2, 1], [0.0, L, 0.0])
    check(w, "cmim", [0, 1, 2], [0.0, 0.0, 0.0], include_marginal=True)


# Two copies of a balanced class: I(x;y) = I(x;x') = H = L, I(x;x'|y) = 0, I(xx';y) = L, H(x,x',y) = L.
COPIES = World(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), np.array([0, 0, 1, 1]))


@pytest.mark.parametrize(
    ("criterion", "second", "params"),
    [
        ("mim", L, {}),
        ("mifs", 0.0, {}),
        ("mifs", 0.75 * L, {"beta": 0.25}),
        ("mrmr", 0.0, {}),
        ("miq", 1.0, {}),
        ("jmi", L, {}),
        ("cife", 0.0, {}),
        ("condred", L, {}),
        ("betagamma", 0.5 * L, {"beta": 0.5, "gamma": 0.25}),
        ("cmim", 0.0, {}),
        ("icap", 0.0, {}),
        ("disr", 1.0, {}),
        ("jmim", L, {}),
        ("njmim", 1.0, {}),
        ("cmi", 0.0, {}),
    ],
)
def test_copies(criterion: str, second: float, params: dict[str, float]) -> None:
    check(COPIES, criterion, [0, 1], [L, second], **params)


# y = (x0 and x1) or (x2 and x3) on all 16 rows. P(y=1) = 7/16; given x0 = 1 it is 5/8, given x0 = 0 it is 1/4.
# The features are independent, so nothing is redundant; by symmetry they tie and feature 0 comes first.
AND_OR = World(SIXTEEN, (SIXTEEN[:, 0] & SIXTEEN[:, 1]) | (SIXTEEN[:, 2] & SIXTEEN[:, 3]))
AND_OR_REL = h2(7 / 16) - (h2(5 / 8) + h2(1 / 4)) / 2
# x1 given x0 = 1: 1 or 1/4; given x0 = 0 it is idle
X1_GIVEN_X0 = (h2(5 / 8) - h2(1 / 4) / 2) / 2
# x2 given x0 = 1: 3/4 or 1/2; given x0 = 0: 1/2 or 0
X2_GIVEN_X0 = (h2(5 / 8) - (h2(3 / 4) + L) / 2) / 2 + (h2(1 / 4) - L / 2) / 2


def test_and_or_by_cmim() -> None:
    # second: x1 (its partner) beats x2 and x3, 0.190 > 0.125. Third: x2 and x3 tie, both least given x0 (or x1).
    assert X1_GIVEN_X0 > X2_GIVEN_X0
    path = [AND_OR_REL, X1_GIVEN_X0, X2_GIVEN_X0, X2_GIVEN_X0]
    check(AND_OR, "cmim", [0, 1, 2, 3], path)


def test_and_or_by_mrmr() -> None:
    check(AND_OR, "mrmr", [0, 1, 2, 3], [AND_OR_REL] * 4)


def test_and_or_by_cmi_adds_up_to_the_entropy_of_the_class() -> None:
    # the chain rule: the four steps sum to I(x0 x1 x2 x3; y) = H(y), because the features determine y
    result = choose(AND_OR, "cmi")
    assert result.indices.tolist() == [0, 1, 2, 3]
    assert result.scores[:2].tolist() == pytest.approx([AND_OR_REL, X1_GIVEN_X0], abs=1e-12)
    assert result.scores.sum() == pytest.approx(h2(7 / 16), abs=1e-12)


def test_quotient_with_nothing_redundant() -> None:
    # y = a or b on four rows: I(b;y) = h2(1/4) - L/2 and I(a;b) = 0, so the guard divides by 1e-12
    w = World(FOUR, FOUR[:, 0] | FOUR[:, 1])
    rel = h2(1 / 4) - L / 2
    result = choose(w, "miq")
    assert result.indices.tolist() == [0, 1]
    assert result.scores.tolist() == pytest.approx([rel, rel * 1e12], rel=1e-9)


def test_constant_beats_a_negative_score() -> None:
    # u tells the rows apart: I(u;y) = L, H(u) = 2L. b is blind to y but costs I(b;u) = L. The constant costs nothing.
    w = World(np.array([[0, 0, 5], [1, 1, 5], [2, 0, 5], [3, 1, 5]]), np.array([0, 0, 1, 1]))
    check(w, "mifs", [0, 2, 1], [L, 0.0, -L])
    dropped = choose(w, "mifs", 2, drop_constant=True)
    assert dropped.indices.tolist() == [0, 1]
    assert dropped.scores.tolist() == pytest.approx([L, -L], abs=1e-12)


def test_lowest_index_wins_among_relabelled_copies() -> None:
    # feature 0 is blind; 1, 2 and 3 are the class under other names
    y = np.array([0, 0, 1, 1])
    w = World(np.column_stack([[0, 1, 0, 1], 1 - y, y * 900 - 7, y]), y)
    check(w, "mim", [1, 2, 3, 0], [L, L, L, 0.0])
    check(w, "cmim", [1, 0, 2, 3], [L, 0.0, 0.0, 0.0])


def test_one_class_is_said_and_goes_by_index() -> None:
    X = np.array([[0, 1], [1, 1], [1, 0]])
    with pytest.warns(jifs.JifsWarning):
        result = jifs.select(X, np.array([3, 3, 3]), k=2, criterion="jmi", bins="none", task="class")
    assert result.indices.tolist() == [0, 1]
    assert result.scores.tolist() == [0.0, 0.0]


def test_miller_madow_is_not_clipped() -> None:
    # a against a xor b: H(a) = H(y) = L + 1/8, H(a,y) = 2L + 3/8, so I = 1/4 - 3/8 = -1/8
    assert mi(XOR.X[:, 0], XOR.y, info="miller_madow") == pytest.approx(-1 / 8, abs=1e-12)
    result = choose(XOR, "mim", info="miller_madow")
    # the constant has no cells to correct: I = 0, and comes first
    assert result.indices.tolist() == [2, 0, 1]
    assert result.scores.tolist() == pytest.approx([0.0, -1 / 8, -1 / 8], abs=1e-12)


def test_weights_of_three_to_one() -> None:
    # two rows weighing 3 and 1: a coin of 1/4
    w = World(np.array([[0], [1]]), np.array([0, 1]))
    assert h([0, 1], weights=[3, 1]) == pytest.approx(h2(1 / 4), abs=1e-12)
    assert choose(w, "mim", sample_weight=[3, 1]).scores.tolist() == pytest.approx([h2(1 / 4)], abs=1e-12)
    assert choose(w, "mim", sample_weight=[0.75, 0.25]).scores.tolist() == pytest.approx(
        [h2(1 / 4)], abs=1e-12
    )


def test_bound_of_fano_counts_the_last_feature() -> None:
    # eight even classes, H(y) = 3L; the feature halves them, I = L: (3L - L - L) / 3L = 1/3
    y = np.arange(8)
    result = choose(World((y // 4)[:, None], y), "cmi")
    assert result.facts["joint_information"] == pytest.approx(L, abs=1e-12)
    assert result.facts["fano_error_floor"] == pytest.approx(1 / 3, abs=1e-12)


def test_information_runs_out_with_the_last_feature() -> None:
    # one feature that is the class: nothing is left after it, although nothing more was asked for
    assert choose(COPIES, "cmi", 1).facts["exhausted_at"] == 1


def test_information_runs_out() -> None:
    # a and b determine y = a xor b: after two features there is nothing left to learn
    assert choose(XOR, "cmi").facts["exhausted_at"] == 2
    assert choose(XOR, "cmi", stop="exhausted").indices.tolist() == [0, 1]
