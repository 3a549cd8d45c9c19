"""The toy data of Jitkrittum et al. 2013: l1-LSMI finds the true features, and a greedy search does not see xor."""

from __future__ import annotations

import numpy as np
import pytest

import jifs
from jifs.datasets import f_measure, make


@pytest.mark.slow
@pytest.mark.parametrize("name", ["and_or", "quad", "xor"])
def test_l1_lsmi_finds_the_truth(name: str) -> None:
    found = []
    for seed in range(10):
        data = make(name, seed=seed)
        result = jifs.select(data, k=len(data.truth), criterion="lsmi", strategy={"name": "l1", "restarts": 6},
                             random_state=seed)  # fmt: skip
        found.append(f_measure(result.indices, data.truth))
    assert np.mean(found) >= 0.95


def test_forward_lsmi_does_not_see_xor() -> None:
    scores = []
    for seed in range(5):
        data = make("xor", seed=seed)
        result = jifs.select(data, k=2, criterion="lsmi", random_state=seed)
        scores.append(f_measure(result.indices, data.truth))
    assert np.mean(scores) < 0.6
