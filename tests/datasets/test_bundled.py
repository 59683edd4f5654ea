"""scikit-learn's data sets as federations: scaled features, complete samples, pooled objective."""

import numpy as np
import pytest

from fedtheory.datasets.bundled import breast_cancer, diabetes, digits, wine
from fedtheory.datasets.partition import heterogeneity


@pytest.mark.parametrize(
    ("load", "num_samples", "num_features", "num_classes"),
    [(digits, 1797, 64, 10), (breast_cancer, 569, 30, 2), (wine, 178, 13, 3)],
)
@pytest.mark.parametrize("partition", ["dirichlet", "shards", "power_law"])
def test_every_sample_reaches_a_client(load, num_samples, num_features, num_classes, partition):
    data = load(partition=partition, rng=1)
    assert data.num_samples + data.test_labels.size == num_samples
    assert (data.num_features, data.num_classes) == (num_features, num_classes)
    if partition != "shards":
        assert (data.sample_counts + np.diff(data.test_offsets)).min() >= 10


def test_scaled_features_have_mean_zero_and_deviation_one():
    x = wine(test_fraction=0.0).features
    # 178 values of size about 1: sums round by at most 178 eps.
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=178 * 2.3e-16 * 5)
    np.testing.assert_allclose(x.std(axis=0), 1, rtol=178 * 2.3e-16)


def test_shards_of_digits_give_two_classes_to_a_client():
    assert heterogeneity(digits(60, partition="shards", test_fraction=0.0)).num_classes_present.max() == 2


def test_diabetes_is_the_ridge_regression_of_all_patients_whatever_the_clients():
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Ridge

    x, y = load_diabetes(return_X_y=True)
    x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    # scikit-learn minimizes ||y - Xw||^2 + alpha ||w||^2: alpha = n l2. The intercept of centered data is 0.
    oracle = Ridge(alpha=442 * 0.1, fit_intercept=False).fit(x, y).coef_
    for sorted_by in ("bmi", None):
        fed = diabetes(7, rng=3, sorted_by=sorted_by)
        np.testing.assert_allclose(fed.minimizer, np.append(oracle, 0), atol=1e-12)
        # A constant c misses centered targets by c^2/2 more, and the ridge adds as much times l2 = 1/10.
        assert fed.loss(np.append(np.zeros(10), 3.0)) - fed.loss(np.zeros(11)) == pytest.approx(1.1 * 9 / 2, rel=1e-12)
        # All-zero models lose half the second moment of the targets: 1/2 on average.
        assert fed.loss(np.zeros(11)) == pytest.approx(0.5, rel=1e-12)
