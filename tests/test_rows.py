"""The rows in use: by class, in the order they came; once each, or as they are counted."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from naive.moments import classes_of

from jifs.rows import rows_in_use, rows_to_count
from jifs.table import as_table

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 40), st.integers(1, 5), st.sampled_from([1, 3, 300, 70_000]), st.booleans())
@example(0, 1, 1, 1, False)
def test_rows_by_class_in_the_order_they_came(seed, n, m, classes, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, m)), rng.integers(0, classes, n)
    w = rng.integers(0, 3, n) if weighted else None
    if w is not None:
        w[rng.integers(n)] = 1
    rows = rows_in_use(as_table(X, y, task="class", sample_weight=w, min_rows=1))
    used = [i for i in range(n) if w is None or w[i] > 0]
    assert rows.order.tolist() == sorted(used, key=lambda i: y[i])  # sorted is stable
    assert y[rows.order].tolist() == [classes_of(y)[rows.present[c]] for c in rows.labels]
    assert np.diff(rows.starts).tolist() == [int((y[used] == c).sum()) for c in classes_of(y[used])]
    assert rows.size == (n if w is None else w.sum())


def test_more_classes_than_two_bytes_can_name():
    y = np.random.default_rng(0).permutation(70_000)
    rows = rows_in_use(as_table(y[:, None].astype(np.float64), y))
    assert y[rows.order].tolist() == list(range(70_000))


def test_rows_to_count_are_repeated_or_weighted():
    X, y = np.zeros((4, 1)), np.array([1, 0, 1, 0])
    whole = rows_to_count(as_table(X, y, sample_weight=[2, 1, 0, 3]))
    assert (whole.order.tolist(), whole.starts.tolist(), whole.weights) == (
        [1, 3, 3, 3, 0, 0],
        [0, 4, 6],
        None,
    )
    real = rows_to_count(as_table(X, y, sample_weight=[0.5, 1.0, 0.0, 1.5]))
    assert (real.order.tolist(), real.starts.tolist(), real.size) == ([1, 3, 0], [0, 2, 3], 3.0)
    assert real.weights is not None
    assert real.weights.sum() == 3.0
