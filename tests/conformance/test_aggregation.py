"""Lengths of estimates, tolerance for rounding, and variances that can be claimed."""

import re
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import aggregation as kit
from fedtheory.conformance import check_aggregation
from fedtheory.conformance._checks import FALSE_ALARMS, Failed
from fedtheory.conformance.aggregation import Updates

# Of lengths 5 and 10: sum w |v| = 5/4 + 30/4 = 8.75.
UPDATES = Updates(np.array([[3.0, 4.0], [-6.0, 8.0]]), np.array([0.25, 0.75]))


def sampled(function: Any, num_draws: int = 8) -> kit._Sampled:
    return kit._Sampled(function, 2.0, num_draws)


def compare(some: kit._Sampled, claim: float, updates: Updates = UPDATES) -> None:
    """Compare what is drawn with a claimed variance."""
    kit._variance(some, [updates], lambda *_: claim, np.random.SeedSequence(0), 1e-6)


def everybody_counts(rng, vectors, weights):
    return weights @ vectors


def test_an_estimate_may_be_a_billionth_longer_than_the_longest() -> None:
    def lengths(*units: float) -> Any:
        left = iter(units)
        # In the direction of (-0.6, 0.8), in units of the limit, twice 8.75.
        return sampled(lambda *_: np.array([-0.6, 0.8]) * 17.5 * next(left))

    rng = np.random.default_rng(0)
    assert lengths(0.5, 1 + 0.9e-9, 0.0).samples(UPDATES, rng, 3).shape == (3, 2)
    with pytest.raises(
        Failed,
        match=re.escape("at most 2 sum w |v| = 17.5, got 17.5; for smaller probabilities, give a larger"),
    ):
        lengths(0.5, 1 + 1.1e-9, 0.0).samples(UPDATES, rng, 3)


@pytest.mark.parametrize("claim", [-1.0, np.nan])
def test_a_claimed_variance_that_none_can_be_is_told(claim: float) -> None:
    options: dict[str, Any] = {"variance": lambda *_: claim, "num_draws": 60}
    [told] = check_aggregation(everybody_counts, **options).failures
    assert re.fullmatch(rf"a claimed variance must be in \[0, \S+\], got {claim:g}", told.sentence)


@pytest.mark.parametrize("unit", [0.01, 1.0, 300.0])
def test_a_claimed_variance_may_be_below_zero_by_rounding_where_there_is_none(unit: float) -> None:
    updates = Updates(unit * UPDATES.vectors, UPDATES.weights)

    least = -1e-12 * (8.75 * unit) ** 2
    compare(sampled(everybody_counts), 0.9 * least, updates)
    with pytest.raises(Failed, match=r"a claimed variance must be in \[0, "):
        compare(sampled(everybody_counts), 1.1 * least, updates)


def test_the_random_checks_of_a_call_and_their_cases_share_its_rate_of_false_alarms(monkeypatch) -> None:
    spent: list[float] = []
    monkeypatch.setattr(kit, "rejects", lambda _, level: spent.append(level))
    assert check_aggregation(everybody_counts, variance=lambda *_: 0.0, num_draws=2).holds
    assert len(spent) == 2 + 5 + 5  # one client, unbiased, variance
    assert sum(spent) == pytest.approx(FALSE_ALARMS)


def test_no_error_is_longer_than_the_longest_estimate_and_the_mean_together() -> None:
    # (2 * 8.75 + 8.75)^2 = 689.0625, and a claim up to there is compared with what is drawn.
    def told(claim: float) -> str:
        with pytest.raises(Failed) as caught:
            compare(sampled(everybody_counts), claim)
        return caught.value.sentence

    assert told(689.0625) == "the variance must be 689.062, as claimed, got 0 over 8 draws"
    assert told(689.0626) == "a claimed variance must be in [0, 689.1], got 689.063"


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_errors_of_either_sign_and_coordinate_add_to_the_variance(side: float) -> None:
    # The estimate is off by (3, 0) or by (0, -4), with equal probability: a variance of (9 + 16)/2.
    def off(rng, vectors, weights):
        return weights @ vectors + side * (np.array([3.0, 0.0]) if rng.random() < 0.5 else np.array([0.0, -4.0]))

    def is_accepted(claim: float) -> bool:
        try:
            compare(sampled(off, num_draws=4000), claim)
        except Failed:
            return False
        return True

    assert is_accepted(12.5)
    assert not is_accepted(9.0 / 2)
    assert not is_accepted(25.0)
