"""Synthetic(alpha, beta) against the published recipe: every test has a known law and the level 1e-6."""

import numpy as np
import pytest
from scipy import stats

from fedtheory.datasets.synthetic_softmax import clients_of, ingredient_streams, sample_sizes, shape_of, synthetic

LEVEL = 1e-6
MANY = 4000


def assert_variance(values, variance, degrees, center=None):
    """For normal ``values`` the sum of squares over the variance is chi-squared."""
    squares = np.sum((values - (values.mean() if center is None else center)) ** 2) / variance
    low, high = stats.chi2(degrees).ppf([LEVEL / 2, 1 - LEVEL / 2])
    assert low < squares < high, (low, squares, high)


def synthetic_clients(
    alpha, beta, num_clients=30, rng=0, *, num_features=60, num_classes=10, dispersion="std",
    min_samples=50, max_samples=None,
):  # fmt: skip
    """What ``synthetic`` draws its samples from."""
    streams = ingredient_streams(rng)
    counts = sample_sizes(num_clients, min_samples, max_samples, np.random.default_rng(streams["sizes"]))
    shape = shape_of(num_clients, num_classes, num_features)
    return clients_of(alpha, beta, dispersion, shape, counts, streams)


def drawn(alpha, beta, **options):
    return synthetic_clients(alpha, beta, MANY, 3, num_features=5, num_classes=4, **options)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 2.0), (0.0, 0.0)])
def test_between_and_within_client_spreads_are_those_of_the_recipe(alpha, beta):
    clients = drawn(alpha, beta)
    # The mean of C f entries N(u_k, 1) with u_k ~ N(0, alpha^2) is N(0, alpha^2 + 1/(C f)), and so on.
    assert_variance(clients.models.mean(axis=(1, 2)), alpha**2 + 1 / 20, MANY, center=0)
    assert_variance(clients.biases.mean(axis=1), alpha**2 + 1 / 4, MANY, center=0)
    assert_variance(clients.centers.mean(axis=1), beta**2 + 1 / 5, MANY, center=0)
    for entries in (clients.models.reshape(MANY, 20), clients.biases, clients.centers):
        within = entries - entries.mean(axis=1, keepdims=True)
        assert_variance(within, 1, MANY * (entries.shape[1] - 1), center=0)


def test_model_and_bias_of_a_client_share_their_mean():
    clients = drawn(1.0, 1.0)
    for entries in (clients.models, clients.biases[..., None]):
        assert_variance((entries - clients.model_means[:, None, None]).ravel(), 1, entries.size, center=0)
    # Models and features are independent: the correlation of independent normals is about N(0, 1/K).
    correlation = np.corrcoef(clients.model_means, clients.feature_means)[0, 1]
    assert abs(correlation) < stats.norm.isf(LEVEL / 2) / np.sqrt(MANY)


def test_features_are_normal_with_the_published_covariance():
    data = synthetic(1.0, 1.0, 2, 5, num_features=4, min_samples=5000, max_samples=5000, test_fraction=0.0)
    clients = synthetic_clients(1.0, 1.0, 2, 5, num_features=4, min_samples=5000, max_samples=5000)
    for k in range(2):
        x, _ = data.client(k)
        standardized = (x - clients.centers[k]) / np.arange(1, 5) ** -0.6
        for column in standardized.T:
            assert stats.kstest(column, "norm").pvalue > LEVEL
        off_diagonal = np.corrcoef(standardized.T)[np.triu_indices(4, 1)]
        assert np.abs(off_diagonal).max() < stats.norm.isf(LEVEL / 2) / np.sqrt(5000)


def test_labels_maximize_the_clients_own_logits():
    data = synthetic(0.7, 0.3, 4, 5, num_features=6, num_classes=3, max_samples=80)
    clients = synthetic_clients(0.7, 0.3, 4, 5, num_features=6, num_classes=3, max_samples=80)
    for k in range(4):
        for x, y in (data.client(k), data.test_client(k)):
            logits = [clients.models[k] @ row + clients.biases[k] for row in x]
            assert [int(np.argmax(row)) for row in logits] == y.tolist()


def test_sizes_are_fifty_more_than_a_lognormal():
    extra = drawn(1.0, 1.0).sizes - 50
    assert extra.min() >= 0
    for threshold in (1, 10, 54, 400, 3000):
        # floor(exp(4 + 2 z)) < threshold exactly if 4 + 2 z < log(threshold)
        count = stats.binom(MANY, stats.norm.cdf((np.log(threshold) - 4) / 2))
        assert count.ppf(LEVEL / 2) <= np.sum(extra < threshold) <= count.isf(LEVEL / 2)


def test_nine_tenths_of_the_samples_train():
    data = synthetic(1, 1, 6, rng=2)
    totals = data.sample_counts + np.diff(data.test_offsets)
    assert data.sample_counts.tolist() == [int(n * 9 // 10) for n in totals]
    np.testing.assert_array_equal(totals, synthetic_clients(1, 1, 6, rng=2).sizes)


def test_the_two_readings_of_dispersion_differ_at_one_half_as_a_square_root():
    first, second = (drawn(0.5, 0.5, dispersion=d) for d in ("std", "variance"))
    np.testing.assert_allclose(second.model_means, np.sqrt(2) * first.model_means, rtol=1e-15)
    np.testing.assert_allclose(second.feature_means, np.sqrt(2) * first.feature_means, rtol=1e-15)
    # The check that the standard deviation passes, the variance must fail: 1/2 + 1/5 is not 1/4 + 1/5.
    assert_variance(first.centers.mean(axis=1), 0.5**2 + 1 / 5, MANY, center=0)
    with pytest.raises(AssertionError):
        assert_variance(second.centers.mean(axis=1), 0.5**2 + 1 / 5, MANY, center=0)


def test_alpha_shifts_all_logits_alike_and_so_changes_no_sample():
    first, second = (synthetic(alpha, 1.0, 5, max_samples=100) for alpha in (0.0, 3.0))
    np.testing.assert_array_equal(first.features, second.features)
    np.testing.assert_array_equal(first.labels, second.labels)
    narrow, wide = (synthetic_clients(alpha, 1.0, 5).models for alpha in (0.0, 3.0))
    assert not np.allclose(narrow, wide)


def test_changing_one_choice_does_not_reshuffle_the_rest():
    base = synthetic_clients(1, 1, 4)
    fewer_classes = synthetic_clients(1, 1, 4, num_classes=3)
    np.testing.assert_array_equal(base.centers, fewer_classes.centers)
    np.testing.assert_array_equal(base.sizes, fewer_classes.sizes)
    more_clients = synthetic_clients(1, 1, 9)
    for name in ("models", "biases", "centers", "sizes"):
        np.testing.assert_array_equal(getattr(more_clients, name)[:4], getattr(base, name))
    few, many = (synthetic(1, 1, 2, max_samples=n, test_fraction=0.0) for n in (50, 60))
    np.testing.assert_array_equal(many.client(1)[0][:50], few.client(1)[0])
