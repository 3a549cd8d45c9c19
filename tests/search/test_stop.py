"""Stop rules as a user writes them: a number, a name, a dict; what they do to a selection, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worlds import World

import jifs
from jifs.errors import InputError


def signal(seed: int, n: int = 300, noise: int = 12) -> World:
    """Two features that know the class (in columns 3 and 7), the rest pure noise of two levels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 2, (n, noise))
    for j in (3, 7):
        X[:, j] = np.where(rng.random(n) < 0.5, y, X[:, j])
    return World(X, y)


def noise(seed: int, n: int = 120, m: int = 10) -> World:
    rng = np.random.default_rng(seed)
    return World(rng.integers(0, 3, (n, m)), rng.integers(0, 2, n))


def choose(world: World, k: int = 8, criterion: str = "jmi", **more: Any) -> jifs.Result:
    return jifs.select(world.X, world.y, k, criterion, **more)


QUICK = {"rule": "permutation", "level": 0.05, "permutations": 39}

# ---- threshold -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["mim", "mrmr", "cmim", "cmi", "mifs"])
@pytest.mark.parametrize("written", [float, np.float32, lambda x: {"rule": "threshold", "below": x}])
def test_a_threshold_cuts_the_path(criterion: str, written: Any) -> None:
    w = signal(0)
    whole = choose(w, 8, criterion)
    below = float(np.float32(np.median(whole.scores)))
    keep = int(np.argmax(whole.scores < below))
    cut = choose(w, 8, criterion, stop=written(below))
    assert 0 < keep < 8
    assert cut.indices.tolist() == whole.indices[:keep].tolist()
    assert cut.scores.tolist() == whole.scores[:keep].tolist()
    assert cut.facts["stopped"].startswith("best score ")
    assert cut.trace == whole.trace[:keep]


def test_a_threshold_that_nothing_reaches_or_all_do() -> None:
    w = signal(1)
    assert choose(w, stop=1e9).indices.size == 0
    assert choose(w, stop=1e9, include=[5]).indices.tolist() == [5]
    high = choose(w, stop=-1)
    assert high.same_as(choose(w))
    assert "stopped" not in high.facts
    assert choose(w, stop=0, criterion="mim").same_as(choose(w, criterion="mim"))


# ---- exhausted -----------------------------------------------------------------------------------------------------


def test_exhausted_stops_when_nothing_can_be_added() -> None:
    rng = np.random.default_rng(3)
    a, b, c = rng.integers(0, 2, (3, 80))
    w = World(np.column_stack([c, a, b, c]), a ^ b)
    whole = choose(w, 4, "cmi")
    cut = choose(w, 4, "cmi", stop="exhausted")
    at = whole.facts["exhausted_at"]
    assert cut.indices.tolist() == whole.indices[:at].tolist()
    assert {1, 2} <= set(cut.indices.tolist())
    assert cut.facts["stopped"] == "information is exhausted"
    assert cut.facts["exhausted_at"] == at < 4
    assert (whole.scores[at:] == 0).all()


def test_exhausted_by_dict_and_never() -> None:
    w = noise(0)
    assert choose(w, 3, "cmi", stop={"rule": "exhausted"}).same_as(choose(w, 3, "cmi"))


@pytest.mark.parametrize("criterion", ["jmi", "mim", "cmim"])
def test_exhausted_is_refused_where_nobody_knows(criterion: str) -> None:
    """A rule that can never speak would be ignored in silence."""
    with pytest.raises(
        (InputError, jifs.MismatchError), match=rf"exhausted.*{criterion}|{criterion}.*exhausted"
    ):
        choose(noise(0), 3, criterion, stop="exhausted")


# ---- permutation ---------------------------------------------------------------------------------------------------


def test_pure_noise_is_left_at_once_for_most_seeds() -> None:
    sizes = [choose(noise(seed), stop=QUICK, random_state=seed).indices.size for seed in range(40)]
    assert sum(size == 0 for size in sizes) >= 33  # a level of 0.05 lets about two of forty by


@pytest.mark.parametrize("criterion", ["jmi", "mim", "mrmr", "cmim"])
def test_what_is_real_is_kept(criterion: str) -> None:
    kept = [
        choose(signal(seed), criterion=criterion, stop=QUICK, random_state=seed).indices.tolist()
        for seed in range(6)
    ]
    assert all(set(found[:2]) == {3, 7} for found in kept)
    assert sum(len(found) == 2 for found in kept) >= 4


def test_the_p_values_are_recorded() -> None:
    result = choose(signal(2), stop=QUICK)
    p = result.facts["permutation_p_values"]
    assert len(p) == result.indices.size + 1  # the last one said no
    assert p[:2] == [1 / 40, 1 / 40]
    assert all(0 < x <= 0.05 for x in p[:-1])
    assert 0.05 < p[-1] <= 1
    assert f"p = {p[-1]:.3g} > 0.05" in result.facts["stopped"]


def test_all_are_kept_where_all_are_real() -> None:
    w = signal(2)
    result = choose(World(w.X[:, [3, 7]], w.y), 2, stop=QUICK)
    assert result.indices.size == 2
    assert "stopped" not in result.facts
    assert len(result.facts["permutation_p_values"]) == 2


def test_included_features_are_not_tested_but_conditioned_on() -> None:
    w = signal(4)
    given = choose(w, stop=QUICK, include=[3, 7])
    assert given.indices[:2].tolist() == [3, 7]
    free = choose(w, stop=QUICK, include=[0])
    assert free.indices[0] == 0
    assert set(free.indices[1:3].tolist()) == {3, 7}
    assert len(free.facts["permutation_p_values"]) == free.indices.size


def test_excluded_features_do_not_count() -> None:
    """What is excluded may know the class: the test asks only of the others."""
    sizes = [
        choose(signal(seed), exclude=[3, 7], stop=QUICK, random_state=seed).indices.size for seed in range(8)
    ]
    assert sum(size == 0 for size in sizes) >= 6


def test_the_seed_decides() -> None:
    w = noise(5)
    loose = {"rule": "permutation", "level": 0.9, "permutations": 29}
    one, same = (choose(w, stop=loose, random_state=1) for _ in range(2))
    assert one.facts["permutation_p_values"] == same.facts["permutation_p_values"]
    others = [choose(w, stop=loose, random_state=s).facts["permutation_p_values"] for s in range(2, 8)]
    assert any(p != one.facts["permutation_p_values"] for p in others)
    assert one.seed == 1


def test_threads_change_nothing() -> None:
    w = signal(6)
    one, two = (choose(w, stop=QUICK, n_jobs=jobs) for jobs in (1, 2))
    assert one.same_as(two)
    assert one.facts["permutation_p_values"] == two.facts["permutation_p_values"]


def test_whole_weights_are_repeated_rows() -> None:
    w = signal(7, n=120)
    weight = np.random.default_rng(0).integers(0, 3, w.n)
    repeated = World(np.repeat(w.X, weight, axis=0), np.repeat(w.y, weight))
    weighted = choose(w, stop=QUICK, sample_weight=weight)
    plain = choose(repeated, stop=QUICK)
    assert weighted.indices.tolist() == plain.indices.tolist()
    assert weighted.facts["permutation_p_values"] == plain.facts["permutation_p_values"]


def test_real_weights_are_refused() -> None:
    w = signal(7, n=60)
    with pytest.raises(InputError, match=r"stop='permutation' cannot honour real sample weights"):
        choose(w, stop="permutation", sample_weight=np.linspace(0.5, 1, w.n))


def test_large_whole_weights_are_not_called_real() -> None:
    w = signal(7, n=60)
    refusal = ""
    try:
        choose(w, 2, stop=QUICK, sample_weight=np.full(w.n, 50))
    except InputError as problem:
        refusal = str(problem)
    assert "use integer weights" not in refusal


def test_the_default_can_be_named() -> None:
    w = signal(8)
    result = choose(w, stop="permutation")
    assert set(result.indices[:2].tolist()) == {3, 7}
    assert result.facts["permutation_p_values"][0] == 1 / 201


# ---- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stop", "says"),
    [
        ("permutatoin", r"unknown stop rule 'permutatoin'\. Did you mean 'permutation'\?.*Known: threshold"),
        ("treshold", r"unknown stop rule 'treshold'\. Did you mean 'threshold'"),
        ({"rule": "exhaust"}, r"unknown stop rule 'exhaust'\. Did you mean 'exhausted'"),
        ({"level": 0.1}, r"unknown stop rule None"),
        ({"rule": ["threshold"]}, r"unknown stop rule \['threshold'\]"),
        ({}, r"unknown stop rule None"),
        ("threshold", r"stop rule 'threshold' needs 'below'"),
        ({"rule": "threshold"}, r"stop rule 'threshold' needs 'below'"),
        ({"rule": "threshold", "below": "low"}, r"below must be a number, not 'low'"),
        ({"rule": "threshold", "below": np.nan}, r"below must be a number, not nan"),
        ({"rule": "threshold", "level": 0.1}, r"stop rule 'threshold' has no parameter 'level'"),
        ({"rule": "permutation", "below": 0.1}, r"stop rule 'permutation' has no parameter 'below'"),
        ({"rule": "exhausted", "below": 0.1}, r"stop rule 'exhausted' has no parameter 'below'"),
        ({"rule": "permutation", "level": 0}, r"level must lie between 0 and 1, not 0"),
        ({"rule": "permutation", "level": 1.0}, r"level must lie between 0 and 1, not 1\.0"),
        ({"rule": "permutation", "level": -0.1}, r"level must lie between 0 and 1"),
        ({"rule": "permutation", "level": True}, r"level must be a number, not True"),
        (
            {"rule": "permutation", "permutations": 10},
            r"10 permutations cannot reach the level 0\.05; use 19",
        ),
        ({"rule": "permutation", "permutations": 0}, r"0 permutations cannot reach"),
        ({"rule": "permutation", "permutations": -5}, r"-5 permutations cannot reach"),
        ({"rule": "permutation", "permutations": 20.5}, r"permutations .*20\.5|20\.5 permutations"),
        ({"rule": "permutation", "permutations": "many"}, r"permutations must be a number, not 'many'"),
        (True, r"stop must be a number, 'permutation', 'exhausted' or a dict with 'rule', not True"),
        (np.nan, r"stop must be a number"),
        (np.inf, r"stop must be a number"),
        ([0.1], r"stop must be a number"),
    ],
    ids=str,
)
def test_rules_refused(stop: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        choose(noise(0), 3, "cmi", stop=stop)


@pytest.mark.parametrize(("level", "least"), [(0.05, 19), (0.1, 9), (0.5, 1), (0.01, 99)])
def test_the_least_number_of_permutations_is_enough(level: float, least: int) -> None:
    choose(noise(0, n=40, m=3), 1, stop={"rule": "permutation", "level": level, "permutations": least})
    with pytest.raises(InputError, match=rf"cannot reach the level {level:g}; use {least} or more"):
        choose(noise(0), 1, stop={"rule": "permutation", "level": level, "permutations": least - 1})
