"""Defects of aggregation in public code: wrong probabilities, omitted weights, overstated claims."""

from functools import partial

import numpy as np

from fedtheory.conformance import check_aggregation

SHARE = 0.5


def coins(rng, vectors, weights):
    taken = rng.random(len(weights)) < SHARE
    return (weights[taken] / SHARE) @ vectors[taken]


def variance_of_coins(vectors, weights):
    return float(((weights**2)[:, None] * vectors**2).sum() * (1 / SHARE - 1))


def divides_by_probabilities_of_other_draws(rng, vectors, weights):
    # Drawn without replacement, divided as if with.
    m = min(3, len(weights))
    chosen = rng.choice(len(weights), m, replace=False, p=weights) if (weights > 0).sum() >= m else np.arange(m)
    return (weights[chosen] / (m * weights[chosen])) @ vectors[chosen]


def scales_in_place(rng, vectors, weights):
    vectors *= weights[:, None]
    taken = rng.random(len(weights)) < SHARE
    return vectors[taken].sum(axis=0) / SHARE


def one_number(rng, vectors, weights):
    return float(coins(rng, vectors, weights).sum())


def claims_half(vectors, weights):
    return variance_of_coins(vectors, weights) / 2


def claims_double(vectors, weights):
    return 2 * variance_of_coins(vectors, weights)


BUFFERS: dict[int, np.ndarray] = {}


def one_buffer(rng, vectors, weights):
    buffer = BUFFERS.setdefault(vectors.shape[1], np.empty(vectors.shape[1]))
    buffer[:] = coins(rng, vectors, weights)
    return buffer


def without_weights(rng, vectors):
    return vectors.mean(axis=0)


def rarely_and_hugely(rng, vectors, weights):
    return weights @ vectors * 20 * (rng.random() < 0.05)


def own_generator(rng, vectors, weights):
    return coins(np.random.default_rng(), vectors, weights)


def global_coins(rng, vectors, weights):
    taken = np.random.random(len(weights)) < SHARE  # noqa: NPY002 (the defect)
    return (weights[taken] / SHARE) @ vectors[taken]


def trusts_one_client_half(rng, vectors, weights):
    return coins(rng, vectors, weights) if len(weights) > 1 else vectors[0] * (rng.random() < 0.5)


def noisy(rng, vectors, weights):
    return coins(rng, vectors, weights) + np.eye(vectors.shape[1])[0] * rng.uniform(-1, 1)


def one_in_a_million_off(rng, vectors, weights):
    return weights @ vectors * (1 + 1e-6)


def pairs_of_means(rng, vectors, weights):
    mean, total = vectors[0], 2 * weights[0]
    for vector, weight in zip(vectors[1:], weights[1:], strict=True):
        mean, total = (total * mean + weight * vector) / max(total + weight, 1e-9), total + weight
    return mean


def median(vectors, weights):
    return np.median(vectors, axis=0)


def weighted_median(rng, vectors, weights):
    order = np.argsort(vectors, axis=0)
    places = (np.cumsum(weights[order], axis=0) < 0.5).sum(axis=0)
    return np.take_along_axis(vectors, order, axis=0)[places, np.arange(vectors.shape[1])]


EXACT = {"exact": True}


def q_fedavg(rng, vectors, weights, losses, fault=""):
    """Step of q-FedAvg with q = 2 and L = 4, from updates v_k = w_k - w, but for one fault."""
    q, L = 2.0, 4.0
    powers = np.ones_like(losses) if fault == "without losses" else losses**q
    norms = 0 if fault == "without norms" else (vectors**2).sum(axis=1)
    scales = q * losses ** (q - 1) * (L if fault == "norms of the updates" else L**2) * norms + L * powers
    total = L * powers @ vectors
    return total / (scales.mean() if fault == "mean of the scales" else scales.sum())


def q_fedavg_like(vectors, weights, losses):
    step = np.zeros(vectors.shape[1])
    scale = 0.0
    for v, loss in zip(vectors, losses, strict=True):
        gradient = 4.0 * v  # minus Delta_k of the paper, for L = 4
        step += loss**2 * gradient
        scale += 2.0 * loss * gradient @ gradient + 4.0 * loss**2
    return step / scale


Q_FEDAVG = {"like": q_fedavg_like, "exact": True, "losses": True}
CAUGHT = [
    *(
        (partial(q_fedavg, fault=fault), check_aggregation, Q_FEDAVG, "exact")
        for fault in ("without losses", "without norms", "norms of the updates", "mean of the scales")
    ),
    (divides_by_probabilities_of_other_draws, check_aggregation, {}, "unbiased"),
    (scales_in_place, check_aggregation, {}, "inputs"),
    (one_number, check_aggregation, {}, "shape"),
    (coins, check_aggregation, {"variance": claims_half}, "variance"),
    (coins, check_aggregation, {"variance": claims_double, "largest": 2.0}, "variance"),
    (one_buffer, check_aggregation, {}, "own answers"),
    (without_weights, check_aggregation, {}, "runs"),
    (rarely_and_hugely, check_aggregation, {}, "bounded"),
    (own_generator, check_aggregation, {}, "same generator"),
    (global_coins, check_aggregation, {}, "other randomness"),
    (trusts_one_client_half, check_aggregation, {}, "one client"),
    (noisy, check_aggregation, {}, "zero vectors"),
    (one_in_a_million_off, check_aggregation, EXACT, "exact"),
    (pairs_of_means, check_aggregation, EXACT, "relabeling"),
    (trusts_one_client_half, check_aggregation, EXACT, "one client"),
    (lambda rng, vectors, weights: weights @ vectors, check_aggregation, EXACT | {"outliers": 1}, "outliers"),
    (weighted_median, check_aggregation, {"like": median, "exact": True, "outliers": 2}, "outliers"),
]
