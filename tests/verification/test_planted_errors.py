"""Planted errors in lemmas are found by the documented hunt, with a baseline and without; their true twins stand."""

from collections import Counter

import numpy as np
import pytest

from fedtheory.verification import _search, at_least, at_most, hunt
from tests.verification.planted_errors import LEMMAS, planted

EVALUATIONS, SEEDS = 300, range(4)
# Missed by the documented hunt from some seeds, as it stands: what breaks these is a corner of many numbers.
SOMETIMES = ("long-step", "noisy-clients")


@pytest.mark.parametrize("based", [True, False])
@pytest.mark.parametrize("name", [name for name in LEMMAS if name not in SOMETIMES])
def test_a_planted_error_is_found_from_every_seed(name: str, based: bool) -> None:
    claim = planted(name, false=True, based=based)
    found = [hunt(claim, evaluations=EVALUATIONS, rng=seed, small=False).worst.holds for seed in SEEDS]
    assert found == [False] * len(SEEDS)


@pytest.mark.parametrize("name", SOMETIMES)
def test_an_error_that_some_seeds_miss_is_found_with_more_instances(name: str) -> None:
    claim = planted(name, false=True, based=False)
    found = Counter(hunt(claim, evaluations=3000, rng=seed, small=False).worst.holds for seed in SEEDS)
    assert found == {False: len(SEEDS)}


@pytest.mark.parametrize("seeds", [SEEDS[:2], pytest.param(SEEDS[2:], marks=(pytest.mark.slow, pytest.mark.long))])
@pytest.mark.parametrize("based", [True, False])
@pytest.mark.parametrize("name", LEMMAS)
def test_a_true_twin_is_never_refuted(name: str, based: bool, seeds: range) -> None:
    for seed in seeds:
        assert hunt(planted(name, false=False, based=based), evaluations=EVALUATIONS, rng=seed).worst.holds


def test_what_both_sides_share_is_guessed_from_what_the_bound_is_given_and_the_instance_shows() -> None:
    findings = [at_most(100 + k, 101 + k, instance={"step": 1, "old": 100 + k}) for k in range(3)]
    seen = [(finding, _search._numbers({"argument 0": 99, "flag": True, "name": "w"}, finding)) for finding in findings]
    assert _search._shared(seen) == ["shown old", "argument 0", "shown step"]


def test_beyond_a_part_one_is_where_both_sides_are_equal_whatever_their_signs() -> None:
    for small, large in ((-3, -2), (-2, 5), (2, 3)):
        assert _search.score_beyond(at_most(small, large), 0) < 1 < _search.score_beyond(at_most(large, small), 0)
        assert _search.score_beyond(at_least(large, small), 0) < 1 < _search.score_beyond(at_least(small, large), 0)
    assert _search.score_beyond(at_most(7, 7), 3) == 1


def test_search_share_the_instances_and_half_of_them_climb_on_the_ratio() -> None:
    claim = planted("descent", false=False, based=True)
    steps = [
        step.num_instances
        for step, _ in zip(_search.climbs_in_turn(claim, np.random.SeedSequence(0)), range(60), strict=False)
    ]
    assert steps == list(range(1, 61))
