"""Synthetic(alpha, beta): labels from a different softmax model for each client (Shamir et al., Sahu et al.).

    u_k ~ N(0, alpha),  entries of W_k and b_k ~ N(u_k, 1),       y = argmax(softmax(W_k x + b_k)),
    B_k ~ N(0, beta),   entries of v_k ~ N(B_k, 1),               x ~ N(v_k, diag(j^-1.2)).

``alpha`` is intended to spread the models, and ``beta`` spreads the features. Papers write N(0, alpha), but most code
draws with the standard deviation alpha. Both agree only at 0 and 1, so that the choice is an argument.

alpha does not affect the data: u_k adds the same ``u_k (sum_j x_j + 1)`` to every logit of client k, which changes
neither softmax nor argmax. The models differ because their entries are drawn independently for every client.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.federation.client_data import FederatedData, Labels, training_count

__all__ = ["synthetic"]

_FEATURE_DECAY = 1.2
_LOG_SIZE_MEAN, _LOG_SIZE_DEVIATION = 4.0, 2.0

_Streams = dict[str, np.random.SeedSequence]


class SyntheticClients(NamedTuple):
    """Clients: u_k and B_k (K,), W_k (K, C, f), b_k (K, C), v_k (K, f), feature deviations (f,), sizes (K,)."""

    model_means: Array
    feature_means: Array
    models: Array
    biases: Array
    centers: Array
    scales: Array
    sizes: Labels


def synthetic(
    alpha: float,
    beta: float,
    num_clients: int = 30,
    rng: RNGLike = 0,
    *,
    num_features: int = 60,
    num_classes: int = 10,
    dispersion: Literal["std", "variance"] = "std",
    min_samples: int = 50,
    max_samples: int | None = None,
    test_fraction: float = 0.1,
) -> FederatedData:
    """Synthetic(alpha, beta) as labeled samples of ``num_clients`` clients.

    Source: Cho, Wang, Joshi (2020), section 5 and Appendix F, after Sahu et al. (2019), section 5.1.

    Parameters
    ----------
    alpha, beta
        Spread of the models and of the features, at least 0; alpha does not affect the data.
    rng
        Seed, SeedSequence or Generator. Each ingredient, and the entries and samples of each client, have separate
        streams: the first clients and samples do not depend on the number of clients and samples, nor on alpha and
        beta.
    num_features, num_classes
        Numbers f of features and C of classes (at least 2).
    dispersion
        ``std``: alpha and beta are standard deviations (as in most code); ``variance``: they are variances.
    min_samples, max_samples
        Limits of a client's number of samples, including held-out ones: ``min_samples + floor(exp(4 + 2 z))`` with z
        standard normal, at most ``max_samples``, by default unlimited.
    test_fraction
        Share of held-out samples.

    Examples
    --------
    >>> synthetic(1, 1, num_clients=3, max_samples=50)
    FederatedData(num_clients=3, num_samples=135, num_features=60, num_classes=10, num_test_samples=15)
    """
    share = validate.fraction("test_fraction", test_fraction)
    shape = shape_of(num_clients, num_classes, num_features)
    streams = ingredient_streams(rng)
    drawn = sample_sizes(num_clients, min_samples, max_samples, np.random.default_rng(streams["sizes"]))
    clients = clients_of(alpha, beta, dispersion, shape, drawn, streams)
    train, test = [], []
    for k, child in enumerate(streams["samples"].spawn(num_clients)):
        x, y = _samples(clients, k, np.random.default_rng(child))
        # The samples of a client are independent and identically distributed, so that the last ones are a random share.
        kept = training_count(len(y), share)
        train.append((x[:kept], y[:kept]))
        test.append((x[kept:], y[kept:]))
    return FederatedData.from_clients(train, test=test, num_classes=num_classes)


def clients_of(
    alpha: float, beta: float, dispersion: str, shape: tuple[int, int, int], sizes: Labels, streams: _Streams
) -> SyntheticClients:
    """Draw the parameters of the clients."""
    num_clients, num_classes, num_features = shape
    spreads = spread_of("alpha", alpha, dispersion), spread_of("beta", beta, dispersion)
    u, B = (
        spread * np.random.default_rng(streams[name]).standard_normal(num_clients)
        for spread, name in zip(spreads, ("model_means", "feature_means"), strict=True)
    )
    models = u[:, None, None] + _per_client(streams["models"], (num_clients, num_classes, num_features))
    biases = u[:, None] + _per_client(streams["biases"], (num_clients, num_classes))
    centers = B[:, None] + _per_client(streams["centers"], (num_clients, num_features))
    scales = np.arange(1, num_features + 1, dtype=np.float64) ** (-_FEATURE_DECAY / 2)
    return SyntheticClients(u, B, models, biases, centers, scales, sizes)


def _samples(clients: SyntheticClients, k: int, rng: np.random.Generator) -> tuple[Array, Labels]:
    noise = rng.standard_normal((int(clients.sizes[k]), clients.scales.size))
    x = clients.centers[k] + clients.scales * noise
    logits = x @ clients.models[k].T + clients.biases[k]
    # Softmax preserves the order of its arguments.
    return x, np.argmax(logits, axis=1)


def spread_of(name: str, value: Any, dispersion: str) -> float:
    """Return a spread as a standard deviation."""
    spread = validate.double(name, validate.nonnegative(name, value))
    validate.moderate(name, np.array(spread), 1e100)
    reading = validate.choice("dispersion", dispersion, ("std", "variance"))
    return spread if reading == "std" else float(np.sqrt(spread))


def sample_sizes(num_clients: int, low: int, high: int | None, rng: np.random.Generator) -> Labels:
    """Draw the number of samples of each client, shape (K,)."""
    low = validate.count("min_samples", low)
    if high is not None:
        high = validate.count("max_samples", high, low, validate.LARGEST_SIZE)
    extra = np.floor(np.exp(_LOG_SIZE_MEAN + _LOG_SIZE_DEVIATION * rng.standard_normal(num_clients)))
    drawn: Labels = (low + extra).astype(np.int64)
    return drawn if high is None else np.minimum(drawn, high)


def shape_of(num_clients: Any, num_classes: Any, num_features: Any) -> tuple[int, int, int]:
    """Return the numbers of clients, classes and features."""
    return (
        validate.size("num_clients", num_clients),
        validate.size("num_classes", num_classes, low=2),
        validate.size("num_features", num_features),
    )


def ingredient_streams(rng: RNGLike) -> _Streams:
    """Spawn one stream per ingredient."""
    # With one stream per ingredient, changing one of them does not change the draws of the others.
    names = ("sizes", "model_means", "feature_means", "models", "biases", "centers", "samples")
    return dict(zip(names, validate.seed_sequence(rng).spawn(len(names)), strict=True))


def _per_client(seeds: np.random.SeedSequence, shape: tuple[int, ...]) -> Array:
    return np.array([np.random.default_rng(child).standard_normal(shape[1:]) for child in seeds.spawn(shape[0])])
