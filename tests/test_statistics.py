"""Confidence intervals have their coverage, some of them under optional stopping."""

import math

import numpy as np
import pytest

from fedtheory.statistics import bounded_mean, student_mean
from fedtheory.statistics.limits import student_interval


def test_the_student_interval_is_that_of_scipy() -> None:
    from scipy.stats import t

    samples = np.random.default_rng(0).standard_normal((7, 3))
    lower, upper = student_mean(samples, 0.9)
    for column in range(3):
        x = samples[:, column]
        expected = t.interval(0.9, df=6, loc=x.mean(), scale=x.std(ddof=1) / math.sqrt(7))
        np.testing.assert_allclose((lower[column], upper[column]), expected, rtol=1e-12)


@pytest.mark.parametrize("exponent", [-1000, 600, 1015])
def test_the_student_interval_scales_with_the_samples_also_where_their_squares_leave_the_range(exponent: int) -> None:
    samples = np.random.default_rng(0).standard_normal((5, 3))
    for limit, scaled in zip(student_mean(samples), student_mean(np.ldexp(samples, exponent)), strict=True):
        np.testing.assert_array_equal(np.ldexp(limit, exponent), scaled)


def test_one_sample_says_nothing_about_the_mean() -> None:
    assert tuple(student_mean([3.0])) == (-np.inf, np.inf)
    assert student_mean([[3.0, 4.0]]).lower.tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("probability", [0.02, 0.5])
def test_the_bernstein_sequence_covers_at_all_sizes_at_once(probability: float) -> None:
    # At confidence 0.9 at most one run in ten may exclude the mean at some size: 20 of 200 runs on average at worst,
    # and more than 33 with probability 1e-3 (three standard deviations of a binomial).
    rng = np.random.default_rng(1)
    rows = (rng.random((200, 300)) < probability).astype(float)
    missed = 0
    for row in rows:
        lower, upper = bounded_mean(row, 0.0, 1.0, 0.9)  # the intersection over all sizes
        missed += not lower <= probability <= upper
    assert missed <= 33


def test_one_bounded_sample_says_no_more_than_the_range() -> None:
    assert tuple(bounded_mean([3.5], 3.0, 5.0)) == (3.0, 5.0)


def test_the_bernstein_limits_are_those_of_a_second_derivation() -> None:
    # Theorem 2 of the source, sample by sample in plain Python; so many samples that the bets fall below 1/2.
    samples = np.random.default_rng(6).random(400) * 3 - 1
    confidence, lows, ups = 0.9, [], []
    total = squares = staked = bet_sum = spent = 0.0
    mean, variance = 0.5, 0.25
    for n, x in enumerate((samples + 1) / 3, start=1):
        bet = min(math.sqrt(2 * math.log(2 / (1 - confidence)) / (variance * n * math.log(1 + n))), 0.5)
        staked, bet_sum = staked + bet, bet_sum + bet * x
        spent += 4 * (x - mean) ** 2 * (-math.log(1 - bet) - bet) / 4
        radius = (math.log(2 / (1 - confidence)) + spent) / staked
        lows.append(bet_sum / staked - radius)
        ups.append(bet_sum / staked + radius)
        total += x
        mean = (0.5 + total) / (n + 1)
        squares += (x - mean) ** 2
        variance = (0.25 + squares) / (n + 1)
    expected = (3 * max(0.0, *lows) - 1, 3 * min(1.0, *ups) - 1)
    assert bet < 0.3
    # The limits give way by 2 (400 + 8) units in the last place for what their sums may have lost.
    np.testing.assert_allclose(tuple(bounded_mean(samples, -1.0, 2.0, confidence)), expected, rtol=1e-11)


def test_confidence_is_95_percent_for_replicates_and_999_in_a_thousand_for_limits_at_every_size() -> None:
    samples = np.random.default_rng(7).random(50)
    assert student_mean(samples) == student_mean(samples, 0.95)
    assert student_interval(1.0, 2.0, 3) == student_interval(1.0, 2.0, 3, 0.95)
    assert bounded_mean(samples, 0.0, 1.0) == bounded_mean(samples, 0.0, 1.0, 0.999)


def test_limits_that_exclude_each_other_are_an_error_and_not_an_interval() -> None:
    # A mean that moves from 0 to 1 is none: early limits exclude the late ones.
    with pytest.raises(ValueError, match="lower must be at most upper"):
        bounded_mean(np.repeat([0.0, 1.0], 3000), 0.0, 1.0)
