"""Handwritten digits of scikit-learn, partitioned among clients."""

from typing import Literal

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import RNGLike
from fedtheory.datasets.class_shares import checked_concentration
from fedtheory.datasets.partition import dirichlet_partition, shard_partition
from fedtheory.federation.client_data import FederatedData

__all__ = ["digits"]


def digits(
    num_clients: int = 30,
    rng: RNGLike = 0,
    *,
    partition: Literal["dirichlet", "shards"] = "dirichlet",
    concentration: float = 0.3,
    shards_per_client: int = 2,
    min_samples: int = 10,
    test_fraction: float = 0.1,
) -> FederatedData:
    """Handwritten digits: 1797 images, 8 x 8 pixels divided by 16, 10 classes; needs scikit-learn.

    Parameters
    ----------
    rng
        Seed, SeedSequence or Generator; the partition and the held-out share have separate streams.
    partition
        ``dirichlet`` (with ``concentration``) or ``shards`` (``shards_per_client`` of one class each).
    min_samples
        Smallest number of samples of a client, including held-out ones (not for shards, whose sizes are nearly equal).

    Examples
    --------
    >>> digits(num_clients=6, partition="shards")
    FederatedData(num_clients=6, num_samples=1614, num_features=64, num_classes=10, num_test_samples=183)
    """
    kind = validate.choice("partition", partition, ("dirichlet", "shards"))
    # Also validates the parameters that this partition ignores.
    checked_concentration(concentration)
    validate.size("shards_per_client", shards_per_client)
    validate.size("min_samples", min_samples, low=0)
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        message = "the digits need scikit-learn: install the extra with `pip install 'fedtheory[data]'`"
        raise ImportError(message) from error
    x, y = load_digits(return_X_y=True)
    deal, hold_out = (np.random.default_rng(child) for child in validate.seed_sequence(rng).spawn(2))
    if kind == "dirichlet":
        parts = dirichlet_partition(y, num_clients, concentration, min_samples=min_samples, rng=deal)
    else:
        parts = shard_partition(y, num_clients, shards_per_client, rng=deal)
    return FederatedData.from_partition(x / 16.0, y, parts, test_fraction=test_fraction, rng=hold_out)
