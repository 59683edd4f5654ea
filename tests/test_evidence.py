"""Test martingales: fair under the hypothesis, rarely large under it, and large under alternatives."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from fedtheory.conformance import laws
from fedtheory.statistics.evidence import against_equality, against_law, against_mean, rejects
from fedtheory.statistics.law import Law

LEVEL = 0.05
COIN = Law({0: Fraction(1, 3), 1: Fraction(2, 3)})


def expected_evidence(law, evidence, num_draws):
    """Mean of the evidence after each number of draws, over all sequences of draws."""
    total = np.zeros(num_draws)
    for draws in itertools.product(law, repeat=num_draws):
        total += float(math.prod(law[draw] for draw in draws)) * np.exp(evidence(draws))
    return total


@settings(max_examples=20)
@given(law=laws(outcomes=4))
def test_the_evidence_against_a_law_is_fair_under_it(law) -> None:
    np.testing.assert_allclose(expected_evidence(law, lambda draws: against_law(draws, law), 4), 1.0, rtol=1e-12)


@settings(max_examples=10)
@given(law=laws(outcomes=3))
def test_the_evidence_against_equality_is_fair_whatever_the_common_law(law) -> None:
    pairs = Law.product(law, law)
    fair = expected_evidence(pairs, lambda drawn: against_equality(*zip(*drawn, strict=True)), 3)
    np.testing.assert_allclose(fair, 1.0, rtol=1e-12)


@settings(max_examples=20)
@given(law=laws(outcomes=4))
def test_the_evidence_against_a_mean_is_fair_under_every_law_with_that_mean(law) -> None:
    mean = float(law.mean(lambda x: x))
    fair = expected_evidence(law, lambda draws: against_mean(np.array(draws), mean, 0.0, 3.0), 4)
    np.testing.assert_allclose(fair, 1.0, rtol=1e-12)


def false_alarms(num_repetitions: int, num_draws: int) -> dict[str, float]:
    """How often the evidence reaches 1/LEVEL at some time, under hypotheses that are true."""
    rng = np.random.default_rng(1)
    shares = np.array([0.5, 0.25, 0.15, 0.1])
    law = Law(enumerate(shares.tolist()))
    found = {"law": 0, "equality": 0, "mean": 0}
    for _ in range(num_repetitions):
        one, two = rng.choice(4, (2, num_draws), p=shares).tolist()
        found["law"] += rejects(against_law(one, law), LEVEL)
        found["equality"] += rejects(against_equality(one, two), LEVEL)
        found["mean"] += rejects(against_mean(np.array(one), float(shares @ np.arange(4)), 0.0, 3.0), LEVEL)
    return {name: count / num_repetitions for name, count in found.items()}


def test_looking_after_every_draw_gives_no_more_false_alarms_than_the_level() -> None:
    # Three standard errors of a frequency of 0.05 among 400: 0.033.
    assert max(false_alarms(400, 200).values()) <= LEVEL + 0.033


@pytest.mark.parametrize("gap", [0.1, 0.2])
def test_evidence_against_a_wrong_law_grows_like_its_divergence(gap) -> None:
    n, p = 4000, 1 / 3
    draws = (np.random.default_rng(3).random(n) < 1 - p - gap).astype(int).tolist()
    q = p + gap
    divergence = q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))
    # The mixture costs log 5, its best member about half a logarithm of n; the rest is the noise of log-likelihoods.
    assert against_law(draws, COIN)[-1] == pytest.approx(n * divergence, rel=0.15)


def test_what_is_impossible_is_infinite_evidence_at_once_and_for_ever() -> None:
    evidence = against_law([0, 1, 2, 0], COIN)
    assert np.isfinite(evidence[:2]).all()
    assert np.isposinf(evidence[2:]).all()
    assert np.isposinf(against_mean(np.array([0.0, 1.0]), 0.0, 0.0, 1.0)).tolist() == [False, True]
    assert np.isposinf(against_mean(np.array([1.0, 0.0]), 1.0, 0.0, 1.0)).tolist() == [False, True]


def test_means_may_change_from_draw_to_draw() -> None:
    means = np.tile([0.2, 0.8], 500)
    x = (np.random.default_rng(4).random(1000) < means).astype(float)
    assert not rejects(against_mean(x, means, 0.0, 1.0), 1e-6)
    assert rejects(against_mean(x, 1 - means, 0.0, 1.0), 1e-6)


def test_no_draws_are_no_evidence() -> None:
    assert not rejects(against_law([], COIN), 0.5)
    assert not rejects(against_equality([], []), 0.5)
    assert not rejects(against_mean(np.empty(0), 0.5, 0.0, 1.0), 0.5)


def test_evidence_that_just_reaches_the_inverse_of_the_level_rejects() -> None:
    # Ville: a test martingale reaches 1/level, and not only exceeds it, with probability at most the level.
    assert rejects([0.0, -math.log(LEVEL)], LEVEL)
    assert not rejects([0.0, np.nextafter(-math.log(LEVEL), 0.0)], LEVEL)


def test_the_capital_against_a_mean_is_the_mean_over_twenty_stakes() -> None:
    # A stake of s multiplies by 1 + s (x - m)/m, a stake of -s by 1 - s (x - m)/(1 - m): m = 1/4, x = 1/2, then 0.
    shares = [2.0**-power for power in range(1, 11)]
    ups = [(1 + s) * (1 - s) for s in shares]
    downs = [(1 - s / 3) * (1 + s / 3) for s in shares]
    found = against_mean(np.array([0.5, 0.0]), 0.25, 0.0, 1.0)[-1]
    assert found == pytest.approx(math.log(sum(ups + downs) / 20), rel=1e-12)
