"""Data sets of scikit-learn, partitioned among clients."""

from typing import Any, Literal

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.datasets.class_shares import checked_concentration
from fedtheory.datasets.partition import dirichlet_partition, power_law_partition, shard_partition
from fedtheory.datasets.quadratics import least_squares_federation
from fedtheory.federation.client_data import FederatedData, Labels
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["breast_cancer", "diabetes", "digits", "wine"]

_PARTITIONS = ("dirichlet", "shards", "power_law")


def digits(
    num_clients: int = 30,
    rng: RNGLike = 0,
    *,
    partition: Literal["dirichlet", "shards", "power_law"] = "dirichlet",
    concentration: float = 0.3,
    shards_per_client: int = 2,
    min_samples: int = 10,
    test_fraction: float = 0.1,
) -> FederatedData:
    """Handwritten digits: 1797 images, 8 x 8 pixels divided by 16, 10 classes.

    Parameters
    ----------
    rng
        Seed, SeedSequence or Generator; the partition and the held-out share have separate streams.
    partition
        ``dirichlet`` (with ``concentration``), ``shards`` (``shards_per_client`` of one class each) or ``power_law``.
    concentration, shards_per_client
        Parameters of the chosen partition; the other one is ignored.
    min_samples
        Smallest number of samples of a client, including held-out ones (not for shards, whose sizes are nearly equal).

    Raises
    ------
    ImportError
        If scikit-learn is not installed.

    Examples
    --------
    >>> digits(num_clients=6, partition="shards")
    FederatedData(num_clients=6, num_samples=1614, num_features=64, num_classes=10, num_test_samples=183)
    """
    x, y = _loaded("load_digits")
    return _dealt(
        x / 16.0, y, num_clients, rng, (partition, concentration, shards_per_client, min_samples, test_fraction)
    )


def breast_cancer(
    num_clients: int = 10,
    rng: RNGLike = 0,
    *,
    partition: Literal["dirichlet", "shards", "power_law"] = "dirichlet",
    concentration: float = 0.5,
    shards_per_client: int = 2,
    min_samples: int = 10,
    test_fraction: float = 0.1,
) -> FederatedData:
    """Breast cancer: 569 tumors, 2 classes, 30 features with mean 0 and standard deviation 1; arguments as ``digits``.

    >>> breast_cancer(num_clients=5, test_fraction=0.0)
    FederatedData(num_clients=5, num_samples=569, num_features=30, num_classes=2, num_test_samples=0)
    """
    x, y = _loaded("load_breast_cancer")
    options = (partition, concentration, shards_per_client, min_samples, test_fraction)
    return _dealt(_standardized(x), y, num_clients, rng, options)


def wine(
    num_clients: int = 5,
    rng: RNGLike = 0,
    *,
    partition: Literal["dirichlet", "shards", "power_law"] = "dirichlet",
    concentration: float = 0.5,
    shards_per_client: int = 2,
    min_samples: int = 10,
    test_fraction: float = 0.1,
) -> FederatedData:
    """Wine: 178 wines, 3 classes, 13 features with mean 0 and standard deviation 1; arguments as ``digits``.

    >>> wine(num_clients=5, test_fraction=0.0)
    FederatedData(num_clients=5, num_samples=178, num_features=13, num_classes=3, num_test_samples=0)
    """
    x, y = _loaded("load_wine")
    options = (partition, concentration, shards_per_client, min_samples, test_fraction)
    return _dealt(_standardized(x), y, num_clients, rng, options)


def diabetes(
    num_clients: int = 10, rng: RNGLike = 0, *, l2: float = 0.1, sorted_by: str | None = "bmi", min_samples: int = 10
) -> QuadraticFederation:
    """Diabetes: ridge regression of disease progression on 10 measurements of 442 patients, a quadratic federation.

    Features and target are scaled to mean 0 and standard deviation 1; a constant feature is appended, so that v = 11.
    The zero model has the loss 1/2.

    Parameters
    ----------
    rng
        Seed, SeedSequence or Generator of the sizes (density 3x^2) and, without ``sorted_by``, of the assignment.
    l2
        Ridge coefficient, positive; every client is strongly convex with at least this constant.
    sorted_by
        One of age, sex, bmi, bp, s1..s6: patients with similar values go to the same client, so that clients differ.
        None assigns patients at random.

    Examples
    --------
    >>> fed = diabetes(num_clients=4)
    >>> fed.num_clients, fed.dim, fed.strong_convexity >= 0.1
    (4, 11, True)
    """
    x, y = _loaded("load_diabetes")
    names = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
    parts = power_law_partition(np.zeros(y.size, dtype=np.int64), num_clients, min_samples=min_samples, rng=rng)
    if sorted_by is not None:
        column = names.index(validate.choice("sorted_by", sorted_by, names))
        cuts = np.cumsum([part.size for part in parts])[:-1]
        parts = np.split(np.argsort(x[:, column], kind="stable"), cuts)
    features = np.column_stack([_standardized(x), np.ones(y.size)])
    targets = _standardized(y[:, None])[:, 0]
    return least_squares_federation([(features[part], targets[part]) for part in parts], l2)


def _loaded(loader: str) -> tuple[Array, Any]:
    try:
        from sklearn import datasets
    except ImportError as error:
        message = "the bundled data sets need scikit-learn: install the extra with `pip install 'fedtheory[data]'`"
        raise ImportError(message) from error
    features, targets = getattr(datasets, loader)(return_X_y=True)
    return np.asarray(features, dtype=np.float64), targets


def _standardized(features: Array) -> Array:
    result: Array = (features - features.mean(axis=0)) / features.std(axis=0)
    return result


def _dealt(
    features: Array, labels: Labels, num_clients: int, rng: RNGLike, options: tuple[str, float, int, int, float]
) -> FederatedData:
    partition, concentration, shards_per_client, min_samples, test_fraction = options
    kind = validate.choice("partition", partition, _PARTITIONS)
    # Also validates the parameters that this partition ignores.
    checked_concentration(concentration)
    validate.size("shards_per_client", shards_per_client)
    validate.size("min_samples", min_samples, low=0)
    deal, hold_out = (np.random.default_rng(child) for child in validate.seed_sequence(rng).spawn(2))
    if kind == "dirichlet":
        parts = dirichlet_partition(labels, num_clients, concentration, min_samples=min_samples, rng=deal)
    elif kind == "shards":
        parts = shard_partition(labels, num_clients, shards_per_client, rng=deal)
    else:
        parts = power_law_partition(labels, num_clients, min_samples=min_samples, rng=deal)
    return FederatedData.from_partition(features, labels, parts, test_fraction=test_fraction, rng=hold_out)
