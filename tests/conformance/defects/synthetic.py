"""Defects of Synthetic(alpha, beta) in public code: other reading of beta, wrong noise, a single model."""

import itertools

import numpy as np

from fedtheory.conformance import check_generator

F, C, N = 20, 10, 130


def drawn(
    alpha, beta, num_clients, rng, *, spread=lambda x: x, power=-0.6, shared=False, noisy=False, first=0, center=1.0
):
    """Draw the recipe, with one thing of it changed."""
    scales = np.arange(1, F + 1) ** power
    model = rng.normal(size=(C, F + 1))
    clients = []
    for _ in range(num_clients):
        own = model if shared else rng.normal(spread(alpha) * rng.normal(), 1, (C, F + 1))
        middle = rng.normal(spread(beta) * rng.normal(), center, F)
        x = middle + scales * rng.normal(size=(N, F))
        logits = x @ own[:, 1:].T + own[:, 0]
        if noisy:
            logits += 3 * rng.gumbel(size=logits.shape)
        clients.append((x, first + logits.argmax(axis=1)))
    return clients


def right(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, rng)


def right_as_variance(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, rng, spread=np.sqrt)


def variances_for_deviations(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, rng, power=-1.2)


def one_model_for_all(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, rng, shared=True)


def labels_by_lot(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, rng, noisy=True)


def labels_from_one(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, rng, first=1)


def no_centers(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, rng, center=0.0)


def one_client_too_few(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients - 1, rng)


def fixed_seed(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, np.random.default_rng(0))


def legacy_seed(alpha, beta, num_clients, rng):
    return drawn(alpha, beta, num_clients, np.random.default_rng())


def at_least_one(alpha, beta, num_clients, rng):
    return drawn(alpha, max(beta, 1.0), num_clients, rng)


def without_a_generator(alpha, beta, num_clients):
    return drawn(alpha, beta, num_clients, np.random.default_rng(0))


CALLS = itertools.count()


def one_other_label_each_time(alpha, beta, num_clients, rng):
    clients = right(alpha, beta, num_clients, rng)
    clients[2 % num_clients][1][0] = next(CALLS) % 7
    return clients


CAUGHT = [
    (one_other_label_each_time, check_generator, {}, "same generator"),
    (right_as_variance, check_generator, {}, "feature means"),
    (right, check_generator, {"dispersion": "variance"}, "feature means"),
    (variances_for_deviations, check_generator, {}, "feature noise"),
    (one_model_for_all, check_generator, {}, "labels"),
    (labels_by_lot, check_generator, {}, "linear labels"),
    (labels_from_one, check_generator, {}, "labels"),
    (no_centers, check_generator, {}, "feature centers"),
    (one_client_too_few, check_generator, {}, "shape"),
    (fixed_seed, check_generator, {}, "new draws"),
    (legacy_seed, check_generator, {}, "same generator"),
    (at_least_one, check_generator, {}, "no spread"),
    (without_a_generator, check_generator, {}, "runs"),
]
