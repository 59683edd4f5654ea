"""Corrupted clients follow the stated laws, and priority clients are unchanged."""

import numpy as np
import pytest
from scipy import stats

from fedtheory.datasets.corruption import add_irrelevant_samples, noise_levels, shift_labels, with_misaligned_clients
from fedtheory.datasets.synthetic_softmax import synthetic
from fedtheory.federation.client_data import FederatedData

LEVEL = 1e-6
MANY = 20_000


def two_clients(num_classes=5):
    labels = np.arange(MANY) % num_classes
    return FederatedData(np.zeros((2 * MANY, 1)), np.tile(labels, 2), np.array([0, MANY, 2 * MANY]), num_classes)


def assert_binomial(successes, trials, probability):
    count = stats.binom(trials, probability)
    assert count.ppf(LEVEL / 2) <= successes <= count.isf(LEVEL / 2)


@pytest.mark.parametrize("skew", [0.5, 1.5, 5.0])
def test_a_higher_skew_makes_more_clients_noisy(skew):
    levels = noise_levels(1000, 2.5, skew)
    assert levels[0] == 0
    assert levels[-1] == 2.5
    assert (np.diff(levels) > 0).all()
    # The mean of an increasing quantile function at n points is within 1/n of its integral skew/(skew + 1).
    assert levels.mean() / 2.5 == pytest.approx(skew / (skew + 1), abs=1 / 1000)
    assert noise_levels(1, 2.5, skew).tolist() == [2.5]


def test_shifts_are_rounded_normals():
    data = two_clients(num_classes=20)
    steps = (shift_labels(data, [0.0, 1.2], rng=2).labels - data.labels) % 20
    assert not steps[:MANY].any()
    for step in range(-3, 4):
        probability = np.diff(stats.norm.cdf([(step - 0.5) / 1.2, (step + 0.5) / 1.2]))[0]
        assert_binomial(np.sum(steps[MANY:] == step % 20), MANY, probability)


def test_irrelevant_samples_are_appended_and_independent_of_their_labels():
    data = two_clients()
    noisy = add_irrelevant_samples(data, [0.0, 0.5], rng=3)
    assert noisy.sample_counts.tolist() == [MANY, MANY * 3 // 2]
    x, y = (part[MANY:] for part in noisy.client(1))
    np.testing.assert_array_equal(noisy.client(1)[1][:MANY], data.client(1)[1])
    for label in range(5):
        assert_binomial(np.sum(y == label), MANY // 2, 1 / 5)
        assert stats.kstest(x[y == label, 0], "norm").pvalue > LEVEL


def test_misaligned_clients_follow_the_unchanged_priority_clients():
    data = synthetic(1, 1, 10, max_samples=100)
    both = with_misaligned_clients(data, 10, rng=4, label_noise_skew=5.0, irrelevant_skew=5.0)
    assert both.num_clients == 20
    for k in range(10):
        np.testing.assert_array_equal(both.client(k)[0], data.client(k)[0])
        np.testing.assert_array_equal(both.client(k)[1], data.client(k)[1])
    shares = np.diff(np.linspace(0, data.num_samples, 11).astype(int))
    added = both.sample_counts[10:] - np.rint(noise_levels(10, 1.0, 5.0) * shares)
    assert np.abs(added - shares).max() <= 2
    np.testing.assert_array_equal(both.test_features, data.test_features)


def test_without_noise_the_new_clients_share_the_pooled_samples():
    data = synthetic(1, 1, 3, max_samples=60)
    both = with_misaligned_clients(data, 4, label_noise_factor=0.0, irrelevant_factor=0.0)
    rows = np.column_stack([both.features, both.labels])[data.num_samples :]
    pooled = np.column_stack([data.features, data.labels])
    np.testing.assert_array_equal(rows[np.lexsort(rows.T)], pooled[np.lexsort(pooled.T)])


def test_another_label_noise_does_not_reshuffle_the_irrelevant_samples():
    data = synthetic(1, 1, 3, max_samples=60)
    first, second = (with_misaligned_clients(data, 4, label_noise_factor=f) for f in (0.5, 2.5))
    np.testing.assert_array_equal(first.features, second.features)
