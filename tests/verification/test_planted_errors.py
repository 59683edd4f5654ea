"""Planted errors in lemmas are found by the documented search, and the true versions are not refuted."""

from collections import Counter

import numpy as np
import pytest

from fedtheory.verification import at_least, at_most, hunt
from fedtheory.verification._search import climbs_in_turn, score_beyond
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


@pytest.mark.parametrize("seeds", [SEEDS[:1], pytest.param(SEEDS[1:], marks=(pytest.mark.slow, pytest.mark.long))])
@pytest.mark.parametrize("based", [True, False])
@pytest.mark.parametrize("name", LEMMAS)
def test_a_true_twin_is_never_refuted(name: str, based: bool, seeds: range) -> None:
    for seed in seeds:
        assert hunt(planted(name, false=False, based=based), evaluations=EVALUATIONS, rng=seed).worst.holds


def test_beyond_a_baseline_the_score_is_one_where_both_sides_are_equal_whatever_their_signs() -> None:
    for small, large in ((-3, -2), (-2, 5), (2, 3)):
        for base in (None, -7, 1):
            broken, held = at_most(large, small, baseline=base), at_most(small, large, baseline=base)
            assert score_beyond(held) < 1 < score_beyond(broken)
            assert score_beyond(at_least(large, small)) < 1 < score_beyond(at_least(small, large))
    assert score_beyond(at_most(7, 7, baseline=3)) == 1


def test_search_share_the_instances_and_half_of_them_climb_on_the_ratio() -> None:
    claim = planted("descent", false=False, based=True)
    steps = [
        step.num_instances for step, _ in zip(climbs_in_turn(claim, np.random.SeedSequence(0)), range(60), strict=False)
    ]
    assert steps == list(range(1, 61))
