"""Sums over pairs against full matrices with the centring matrix: tr(K H L H) = sum_ij K_ij (H L H)_ij."""

from __future__ import annotations

import numpy as np
import pytest
from naive import hsic as naive
from naive.distances import gauss

from jifs import jit
from jifs.kernels import hsic as fast
from jifs.kernels.distances import GROUP, TILE, place, squared_pairs

KINDS = pytest.mark.parametrize("kind", ["class", "real"])
SCALE = 0.4


class Case:
    """Rows, a target, and its centred matrix by definition and as the kernels are told of it."""

    def __init__(self, kind, n=19, m=3, seed=0):
        rng = np.random.default_rng(seed)
        self.n, self.x = n, np.ascontiguousarray(rng.normal(size=(m, n)))
        self.codes = rng.integers(0, 3, n) if kind == "class" else np.zeros(n, np.int64)
        self.y = rng.normal(size=n)
        rows = [[v] for v in self.y.tolist()]
        L = (
            naive.target_matrix(self.codes, "class")
            if kind == "class"
            else gauss(rows, rows, SCALE**-0.5 / 2**0.5)
        )
        H = np.eye(n) - np.ones((n, n)) / n
        self.C = H @ L @ H
        self.means = L.mean(axis=1)
        self.mean = float(L.mean())
        self.flat = self.pairs(self.C) if kind == "real" else np.empty(0)

    def pairs(self, A, first=0, last=None):
        last = self.n if last is None else last
        return np.concatenate([A[i, i + 1 :] for i in range(first, last)] or [np.empty(0)])

    def distances(self, x):
        d = np.empty(place(self.n, self.n))
        squared_pairs(-(-self.n // GROUP), x, 0, self.n, d)
        return d

    def target(self, first=0):
        return (self.flat[place(self.n, first) :], self.codes, self.means, self.mean)


def full(x, w=1.0):
    return gauss((x.T * w), (x.T * w), SCALE**-0.5 / 2**0.5)


def test_means_and_centred_pairs_of_a_real_target():
    case = Case("real")
    means = np.empty(case.n)
    fast.mean_rows(case.n, case.y, SCALE, means)
    assert means == pytest.approx(case.means, abs=1e-15)
    out = np.empty(place(case.n, 9) - place(case.n, 4))
    fast.centred_pairs(5, case.y, SCALE, means, case.mean, 4, out)
    assert out == pytest.approx(case.pairs(case.C, 4, 9), abs=1e-15)


def test_centred_pairs_of_classes():
    case = Case("class")
    out = np.empty(9)
    fast.centred_classes(3, 5, 14, case.codes, case.means, case.mean, out)
    assert out == pytest.approx(case.C[3, 5:14], abs=1e-15)


@KINDS
@pytest.mark.parametrize("sign", [0.0, 1.0, -1.0])
def test_sums_of_rows(kind, sign):
    case = Case(kind)
    column = np.ascontiguousarray(case.x[1])
    own = {0.0: case.x, 1.0: np.vstack([case.x, column]), -1.0: case.x[[0, 2]]}[sign]
    out = np.zeros(case.n)
    d, how = case.distances(case.x), (column, sign, 1e-14 if sign < 0 else 0.0, SCALE)
    for first, last in ((0, 6), (6, case.n)):
        fast.dependence_rows(last - first, first, d[place(case.n, first) :], *how, *case.target(first), out)
    slow = [(full(own)[i] * case.C[i])[i + 1 :].sum() for i in range(case.n)]
    assert out == pytest.approx(slow, abs=1e-13)


@KINDS
@pytest.mark.parametrize("n", [2, GROUP, GROUP + 1, 41])
def test_values_and_slopes_of_groups(kind, n):
    case = Case(kind, n)
    w = np.array([0.6, 1.4, 0.9])
    groups = -(-n // GROUP)
    value, slope = np.full(groups, np.nan), np.full((groups, 3), np.nan)
    z = case.x * w[:, None]
    fast.slope_groups(groups, 0, n, z, case.x, SCALE, *case.target(), value, slope)
    A = np.triu(full(case.x, w) * case.C, 1)
    assert value.sum() == pytest.approx(A.sum(), abs=1e-13)
    slow = [(A * (row[:, None] - row) ** 2).sum() for row in case.x]
    assert slope.sum(axis=0) == pytest.approx(slow, abs=1e-12)


@KINDS
def test_tiles_blocks_and_threads_leave_no_trace(kind):
    n = TILE + 2 * GROUP + 5 if jit.COMPILED else 3 * GROUP + 5
    rng = np.random.default_rng(1)
    case = Case(kind, 4)
    case.n, case.x = n, np.ascontiguousarray(rng.normal(size=(3, n)))
    case.codes, case.means, case.mean = rng.integers(0, 2, n), rng.random(n), 0.5
    case.flat = rng.normal(size=place(n, n)) if kind == "real" else np.empty(0)

    def run(bounds, team):
        values, slopes = [], []
        for first, last in bounds:
            groups = -(-(last - first) // GROUP)
            value, slope = np.empty(groups), np.empty((groups, 3))
            with jit.threads(team):
                own = case.target(first)
                fast.slope_groups(groups, first, last, case.x, case.x, SCALE, *own, value, slope)
            values.append(value)
            slopes.append(slope)
        return np.concatenate(values), np.concatenate(slopes)

    one = run([(0, n)], 1)
    A = np.triu(np.exp(-SCALE * ((case.x[:, :, None] - case.x[:, None]) ** 2).sum(axis=0)), 1)
    C = np.zeros((n, n))
    same = case.codes[:, None] == case.codes
    C[np.triu_indices(n, 1)] = (
        case.flat
        if kind == "real"
        else ((same - case.means[:, None] - case.means + 0.5)[np.triu_indices(n, 1)])
    )
    assert one[0].sum() == pytest.approx((A * C).sum(), rel=1e-9, abs=1e-9)
    two, parts = run([(0, n)], 2), run([(0, 2 * GROUP), (2 * GROUP, n)], 2)
    assert [a.tobytes() for a in one] == [a.tobytes() for a in two]
    assert parts[0] == pytest.approx(one[0], abs=1e-11)
    assert parts[1] == pytest.approx(one[1], abs=1e-11)
