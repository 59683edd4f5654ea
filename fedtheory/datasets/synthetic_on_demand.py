"""Synthetic(alpha, beta) of a million clients: samples are made when they are asked for."""

import numpy as np

from fedtheory._support.validate import RNGLike
from fedtheory.datasets.synthetic_softmax import ingredient_streams, sample_sizes, scales_of, shape_of, spread_of
from fedtheory.federation._lazy_data import LazySynthetic

__all__ = ["lazy_synthetic"]


def lazy_synthetic(
    alpha: float,
    beta: float,
    num_clients: int = 30,
    rng: RNGLike = 0,
    *,
    num_features: int = 60,
    num_classes: int = 10,
    dispersion: str = "std",
    sizes: str = "lognormal",
    min_samples: int = 50,
    max_samples: int | None = None,
) -> LazySynthetic:
    """Synthetic(alpha, beta) whose client k is a function of (seed, k), kept in one number per client.

    The law is that of ``synthetic``, and so are the arguments; the numbers of samples are the same for the same seed,
    the samples are others. Which clients were made before, by whom, and how many there are changes no client. Lognormal
    sizes have no limit unless there is a ``max_samples``, and a run has room for the largest client.

    Parameters
    ----------
    alpha, beta, num_clients, rng, num_features, num_classes, dispersion, sizes, min_samples, max_samples
        As of ``synthetic``.

    Returns
    -------
    LazySynthetic
        Clients are made when they are asked for; nothing of a client is kept but its number of samples.

    Raises
    ------
    ValueError
        As ``synthetic``.

    Examples
    --------
    >>> data = lazy_synthetic(1, 1, num_clients=10**6, max_samples=200)
    >>> data
    LazySynthetic(num_clients=1000000, num_samples=122827471, num_features=60, num_classes=10)
    >>> features, labels = data.client(999_999)
    >>> bool((data.take([5, 999_999]).client(1)[0] == features).all())
    True
    """
    num_clients, num_classes, num_features = shape_of(num_clients, num_classes, num_features)
    spreads = np.array([spread_of("alpha", alpha, dispersion), spread_of("beta", beta, dispersion)])
    streams = ingredient_streams(rng)
    drawn = sample_sizes(sizes, num_clients, min_samples, max_samples, np.random.default_rng(streams["sizes"]))
    keys = streams["samples"].generate_state(2, np.uint64).astype(np.uint64)
    return LazySynthetic(keys, spreads, scales_of(num_features), drawn, num_classes)
