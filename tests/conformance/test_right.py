"""Correct code passes: random checks have a false-alarm rate of 1e-6 per call, and other checks none."""

from typing import Any

import pytest

from fedtheory.conformance import aggregation, check_aggregation, check_generator, generators
from fedtheory.conformance._checks import FALSE_ALARMS
from tests.conformance.defects import synthetic
from tests.conformance.right import RIGHT, Right, plain_sum
from tests.environment import thinned


def title(right: Any) -> str:
    return f"{right.subject.__name__}-{'-'.join(right.options) or 'alone'}"


@pytest.mark.parametrize("right", RIGHT, ids=title)
def test_right_code_passes(right: Right) -> None:
    found = right.check(right.subject, **right.options, **right.cheaper)
    assert found.holds, found
    assert repr(found).endswith(f"passes {len(found.checks)} checks")


@pytest.mark.slow  # a call takes up to a second, and it takes many to see a rate; 1,000 seeds were run once
@pytest.mark.parametrize("seed", thinned(range(1, 6), 5))
@pytest.mark.parametrize("right", RIGHT, ids=title)
def test_right_code_passes_whatever_the_seed(right: Right, seed: int) -> None:
    found = right.check(right.subject, rng=seed, **right.options, **right.cheaper)
    assert found.holds, found


@pytest.mark.parametrize(
    "check",
    [
        lambda: check_aggregation(plain_sum, variance=lambda *_: 0.0, num_draws=2),
        lambda: check_generator(synthetic.right, num_clients=50),
    ],
)
def test_the_random_checks_of_a_call_and_their_cases_share_its_rate_of_false_alarms(check, monkeypatch) -> None:
    spent: list[float] = []
    for kit in (aggregation, generators):
        monkeypatch.setattr(kit, "rejects", lambda _, level: spent.append(level))
    assert check().holds
    assert sum(spent) == pytest.approx(FALSE_ALARMS)


@pytest.mark.parametrize("claim", [-1.0, float("nan")])
def test_a_claimed_variance_that_none_can_be_is_told(claim: float) -> None:
    [told] = check_aggregation(plain_sum, variance=lambda *_: claim, num_draws=60).failures
    assert told.sentence.endswith(f"got {claim:g}")
