"""Partitions assign every sample to one client and follow their laws; heterogeneity is verified by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fedtheory.datasets.partition import (
    dirichlet_partition,
    heterogeneity,
    partition_from_counts,
    power_law_partition,
    shard_partition,
)
from fedtheory.federation.client_data import FederatedData

LEVEL = 1e-6
SPLITS = {
    "dirichlet": lambda labels, k, low, rng: dirichlet_partition(labels, k, 0.05, min_samples=low, rng=rng),
    "power law": lambda labels, k, low, rng: power_law_partition(labels, k, min_samples=low, rng=rng),
}


def assert_partition(parts, num_samples, min_samples):
    assert sorted(np.concatenate(parts).tolist()) == list(range(num_samples))
    assert min(part.size for part in parts) >= min_samples
    assert all((np.diff(part) > 0).all() for part in parts)


@pytest.mark.parametrize("name", SPLITS)
@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    num_clients=st.integers(1, 8),
    min_samples=st.integers(1, 6),
    rng=st.integers(0, 2**32),
)
@settings(max_examples=60)
def test_every_sample_has_one_client_and_every_client_enough_samples(name, labels, num_clients, min_samples, rng):
    if num_clients * min_samples > len(labels):
        with pytest.raises(ValueError, match=f"must be at most the {len(labels)} samples"):
            SPLITS[name](labels, num_clients, min_samples, rng)
    else:
        assert_partition(SPLITS[name](labels, num_clients, min_samples, rng), len(labels), min_samples)


@pytest.mark.parametrize("concentration", [0.3, 1.0, 5.0])
def test_shares_of_a_class_follow_the_dirichlet_law(concentration):
    num_classes, per_class, num_clients = 600, 400, 4
    labels = np.repeat(np.arange(num_classes), per_class)
    parts = dirichlet_partition(labels, num_clients, concentration, rng=3)
    counts = np.array([np.bincount(labels[part], minlength=num_classes) for part in parts])
    law = stats.beta(concentration, (num_clients - 1) * concentration)
    # A share is rounded to a multiple of 1/400: judge at the middles between the multiples, where rounding is harmless.
    for threshold in (0.5, 10.5, 60.5, 100.5, 200.5):
        below = stats.binom(num_classes, law.cdf(threshold / per_class))
        assert below.ppf(LEVEL / 2) <= np.sum(counts[0] < threshold) <= below.isf(LEVEL / 2)


def test_single_class_shards_hold_one_class_and_no_sample_is_lost():
    labels = np.random.default_rng(0).choice(5, size=403, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    parts = shard_partition(labels, 12, 1, rng=4)
    assert_partition(parts, 403, 1)
    assert all(np.unique(labels[part]).size == 1 for part in parts)
    pairs = shard_partition(labels, 6, 2, rng=4)
    assert_partition(pairs, 403, 2)
    assert max(np.unique(labels[part]).size for part in pairs) == 2


def test_equal_classes_give_shards_of_equal_size():
    labels = np.tile(np.arange(10), 120)
    sizes = {part.size for part in shard_partition(labels, 60, 2, rng=0)}
    # 1200 samples in 120 shards of 10, two for each client: FedALIGN's layout of FMNIST in small.
    assert sizes == {20}


def test_power_law_sizes_are_proportional_to_draws_of_density_three_x_squared():
    parts = power_law_partition(np.zeros(300_000, int), 1000, rng=5)
    sizes = np.array([part.size for part in parts]) - 1
    # The sizes are draws X_k scaled by (N - K) / sum X, rounded by less than 1: undo the scaling with the mean 3/4.
    scaled = sizes / sizes.mean() * 0.75
    # sum X / K is within 5 standard errors of 3/4 (variance of X: 3/80), a distance of shares that KS must be spared.
    slack = 3 * 5 * np.sqrt(3 / 80 / 1000) / 0.75 + 3 / sizes.mean()
    distance = stats.kstest(scaled, lambda x: np.clip(x, 0, 1) ** 3).statistic
    assert distance < np.sqrt(-np.log(LEVEL / 2) / 2 / 1000) + slack
    assert stats.kstest(scaled / scaled.max(), "uniform").statistic > 2 * np.sqrt(-np.log(LEVEL / 2) / 2 / 1000)


def test_a_table_of_counts_gets_its_counts_of_random_different_samples():
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [30, 20, 10]))
    table = np.array([[10, 0, 3], [20, 5, 0], [0, 14, 7]])
    draws = [partition_from_counts(labels, table, rng=seed) for seed in (0, 1)]
    for parts in draws:
        np.testing.assert_array_equal([np.bincount(labels[part], minlength=3) for part in parts], table)
        assert np.unique(np.concatenate(parts)).size == table.sum()
    assert not np.array_equal(draws[0][0], draws[1][0])


@pytest.mark.parametrize(
    ("table", "given"),
    [
        ([[1, 1], [0, 2]], "at most 2 samples of class 1"),
        ([[0, 0, 1]], "class 2"),
        ([1, 1], "shape"),
        ([[-1]], "table"),
    ],
)
def test_a_table_that_needs_other_samples_is_refused(table, given):
    with pytest.raises(ValueError, match=given):
        partition_from_counts([0, 1, 1, 0], table)


def test_heterogeneity_counts_labels_and_measures_total_variation():
    data = FederatedData.from_clients([(np.zeros((4, 1)), [0, 0, 1, 2]), (np.zeros((2, 1)), [0, 0])], num_classes=4)
    report = heterogeneity(data)
    np.testing.assert_array_equal(report.label_distributions, [[1 / 2, 1 / 4, 1 / 4, 0], [1, 0, 0, 0]])
    np.testing.assert_allclose(report.pooled_distribution, [4 / 6, 1 / 6, 1 / 6, 0], rtol=1e-12)
    # Client 0: (1/6 + 1/12 + 1/12)/2 = 1/6; client 1: (1/3 + 1/6 + 1/6)/2 = 1/3; mean (4 * 1/6 + 2 * 1/3)/6 = 2/9.
    np.testing.assert_allclose(report.total_variation, [1 / 6, 1 / 3], rtol=1e-12)
    assert report.mean_total_variation == pytest.approx(2 / 9, rel=1e-15)
    assert report.num_classes_present.tolist() == [3, 1]
    assert report.sizes.tolist() == [4, 2]


@pytest.mark.parametrize("power", [5e-324, 1e-9])
def test_a_power_near_zero_gives_the_client_of_the_largest_draw_everything_but_the_smallest_sizes(power):
    # x^(1/power) of all other draws is 0 beside that of the largest.
    sizes = [part.size for part in power_law_partition([0] * 100, 5, power=power, min_samples=2, rng=3)]
    largest = np.argmin(np.random.default_rng(3).random(5))
    assert sizes == [92 if k == largest else 2 for k in range(5)]


@pytest.mark.parametrize("concentration", [1e-4, 0.1, 100.0])
def test_power_law_parts_with_label_skew_keep_their_sizes_and_cover_every_sample(concentration: float) -> None:
    labels = np.repeat(np.arange(10), 60)
    plain = power_law_partition(labels, 20, min_samples=4, rng=3)
    skewed = power_law_partition(labels, 20, concentration=concentration, min_samples=4, rng=3)
    assert [len(part) for part in skewed] == [len(part) for part in plain]
    assert sorted(np.concatenate(skewed).tolist()) == list(range(600))


def test_a_small_concentration_gives_clients_of_one_class_and_a_large_one_gives_all() -> None:
    labels = np.repeat(np.arange(10), 600)
    shares = {}
    for concentration in (1e-4, 100.0):
        parts = power_law_partition(labels, 20, concentration=concentration, rng=1)
        counts = np.array([np.bincount(labels[part], minlength=10) for part in parts])
        shares[concentration] = np.median(counts.max(axis=1) / counts.sum(axis=1))
    # Most clients find their class in stock; a share of Dir(100, ..., 100) is 0.1 with deviation 0.0095.
    assert shares[1e-4] == 1.0
    assert shares[100.0] < 0.1 + 5 * 0.0095 + 5 * np.sqrt(0.09 / 300)
