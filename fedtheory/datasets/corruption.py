"""Noisy and irrelevant samples for misaligned clients (FedALIGN, Appendix B.2).

For each kind of noise the appendix has a factor (the noise of the worst client) and a skew factor (a larger one puts
more clients near the worst). Factors are 2.5 for label noise and 1 for irrelevant points; skews are 0.5, 1.5 and 5 for
low, medium and high noise. It states no formula. Here the noise increases from client to client, from 0 to the factor:
client j = 1..n has the noise ``factor * ((j-1)/(n-1))^(1/skew)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.federation.client_data import FederatedData, Labels
from fedtheory.federation.sampled import checked_data

__all__ = ["noise_levels", "with_misaligned_clients"]

# Larger numbers of classes, or of samples per sample, exceed 64-bit integers.
_LARGEST_LEVEL = 1e9


def noise_levels(num_clients: int, factor: float, skew: float) -> Array:
    """Noise ``factor * ((j-1)/(n-1))^(1/skew)`` of the clients j = 1..n, from 0 to ``factor``, shape (n,).

    The shares are quantiles of the density ``skew x^(skew-1)`` on (0, 1): a larger skew puts more clients near the
    worst. A single client is the worst one.

    >>> noise_levels(3, factor=2.0, skew=0.5)
    array([0. , 0.5, 2. ])
    """
    num_clients = validate.size("num_clients", num_clients)
    factor = validate.moderate(
        "factor", validate.double("factor", validate.nonnegative("factor", factor)), _LARGEST_LEVEL
    )
    skew = validate.double("skew", validate.positive("skew", skew))
    ranks = np.linspace(0.0, 1.0, num_clients) if num_clients > 1 else np.ones(1)
    result: Array = factor * ranks ** (1 / skew)
    return result


def shift_labels(data: FederatedData, scales: Sequence[float] | Array, rng: RNGLike = 0) -> FederatedData:
    """Add ``round(scales[k] z)``, z standard normal, to each training label of client k, modulo the number of classes.

    A label changes with probability about ``P(scale |z| > 1/2)``: 32% at scale 0.5, and 84% at 2.5, where close labels
    are still more likely than distant ones. This is an interpretation of a label noise factor above 1.
    """
    noise = np.repeat(scales, data.sample_counts) * validate.generator(rng).standard_normal(data.num_samples)
    return replace(data, labels=(data.labels + np.rint(noise).astype(np.int64)) % data.num_classes)


def add_irrelevant_samples(data: FederatedData, fractions: Sequence[float] | Array, rng: RNGLike = 0) -> FederatedData:
    """Give client k ``round(fractions[k] n_k)`` uninformative training samples: features and label independent.

    The features are independent standard normal variables; the label is uniform.
    """
    draw = validate.generator(rng)
    clients = []
    for k, share in enumerate(fractions):
        x, y = data.client(k)
        added = int(np.rint(share * y.size))
        noise = draw.standard_normal((added, data.num_features))
        clients.append((np.concatenate([x, noise]), np.concatenate([y, draw.integers(data.num_classes, size=added)])))
    return FederatedData.from_clients(clients, test=_test(data), num_classes=data.num_classes)


def with_misaligned_clients(
    data: FederatedData,
    num_clients: int = 10,
    rng: RNGLike = 0,
    *,
    label_noise_factor: float = 2.5,
    label_noise_skew: float = 1.5,
    irrelevant_factor: float = 1.0,
    irrelevant_skew: float = 1.5,
) -> FederatedData:
    """Append ``num_clients`` clients with noisy copies of the data of all clients: FedALIGN's synthetic federation.

    The given clients come first, unchanged: they are the priority clients. The pooled training samples are assigned to
    the new clients at random in equal shares. The new clients then get label noise (``shift_labels``) with the standard
    deviations ``noise_levels(n, label_noise_factor, label_noise_skew)``, and irrelevant samples in the fractions
    ``noise_levels(n, irrelevant_factor, irrelevant_skew)``; the first one has clean data. They have no held-out
    samples. Assignment, label noise and irrelevant samples have separate streams.

    FedALIGN, Appendix B.2: factors 2.5 and 1; both skews 0.5 (low), 1.5 (medium) or 5 (high noise).

    >>> data = FederatedData.from_clients([(np.zeros((4, 2)), [0, 1, 2, 1])])
    >>> with_misaligned_clients(data, num_clients=2, irrelevant_skew=1.0).sample_counts
    array([4, 2, 4])
    """
    num_clients = validate.count("num_clients", num_clients, 1, checked_data(data).num_samples)
    deal, labels, irrelevant = (np.random.default_rng(child) for child in validate.seed_sequence(rng).spawn(3))
    parts = np.array_split(deal.permutation(data.num_samples), num_clients)
    new = FederatedData.from_partition(data.features, data.labels, parts, num_classes=data.num_classes)
    new = shift_labels(new, noise_levels(num_clients, label_noise_factor, label_noise_skew), labels)
    new = add_irrelevant_samples(new, noise_levels(num_clients, irrelevant_factor, irrelevant_skew), irrelevant)
    return FederatedData.from_clients(
        [*(data.client(k) for k in range(data.num_clients)), *(new.client(j) for j in range(num_clients))],
        test=[*_test(data), *_test(new)],
        num_classes=data.num_classes,
    )


def _test(data: FederatedData) -> list[tuple[Array, Labels]]:
    return [data.test_client(k) for k in range(data.num_clients)]
