"""scikit-learn's digits as a federation: complete samples, and two classes to a client of two shards."""

import numpy as np
import pytest

from fedtheory.datasets.bundled import digits
from fedtheory.datasets.partition import heterogeneity


@pytest.mark.parametrize("partition", ["dirichlet", "shards"])
def test_every_sample_reaches_a_client(partition):
    data = digits(10, partition=partition, rng=1)
    assert data.num_samples + data.test_labels.size == 1797
    assert (data.num_features, data.num_classes) == (64, 10)
    assert (data.features.min(), data.features.max()) == (0, 1)
    if partition != "shards":
        assert (data.sample_counts + np.diff(data.test_offsets)).min() >= 10


def test_shards_of_digits_give_two_classes_to_a_client():
    assert heterogeneity(digits(60, partition="shards", test_fraction=0.0)).num_classes_present.max() == 2
