"""Defects of Power-of-Choice in public code: positions instead of clients, uniform candidates, and others."""

import numpy as np

from fedtheory.conformance import check_strategy
from fedtheory.selection.power_of_choice import PowerOfChoice

M, D = 2, 4
LIKE = {"like": PowerOfChoice(M, D)}


def candidates(rng, weights):
    return rng.permutation(rng.choice(len(weights), D, replace=False, p=weights))


def places_for_clients(rng, weights, losses):
    return np.argsort(-losses[candidates(rng, weights)])[:M]


def uniform_candidates(rng, weights, losses):
    drawn = rng.permutation(len(weights))[:D]
    return drawn[np.argsort(-losses[drawn], kind="stable")[:M]]


def candidates_with_replacement(rng, weights, losses):
    drawn = rng.choice(len(weights), D, p=weights)
    return np.unique(drawn)[np.argsort(-losses[np.unique(drawn)])[:M]]


def smallest_losses(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[np.argsort(losses[drawn], kind="stable")[:M]]


def last_of_argpartition(rng, weights, losses):
    # Up to 256 entries argpartition may sort all of them.
    drawn = rng.permutation(len(weights))
    return drawn[np.argpartition(losses[drawn], M)[-M:]]


def one_candidate_too_many(rng, weights, losses):
    drawn = rng.permutation(rng.choice(len(weights), D + 1, replace=False, p=weights))
    return drawn[np.argsort(-losses[drawn], kind="stable")[:M]]


def ties_to_the_first(rng, weights, losses):
    drawn = np.sort(candidates(rng, weights))
    return drawn[np.argsort(-losses[drawn], kind="stable")[:M]]


def losses_times_weights(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[np.argsort(-(losses * weights)[drawn], kind="stable")[:M]]


def absolute_losses(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[np.argsort(-np.abs(losses)[drawn], kind="stable")[:M]]


def all_who_tie(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[losses[drawn] >= np.sort(losses[drawn])[-M]]


def squared_weights(rng, weights, losses):
    return uniform_of(rng, weights**2 / (weights**2).sum(), losses)


def uniform_of(rng, weights, losses):
    drawn = rng.permutation(rng.choice(len(weights), D, replace=False, p=weights))
    return drawn[np.argsort(-losses[drawn], kind="stable")[:M]]


def single_precision(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[np.argsort(-losses[drawn].astype(np.float32), kind="stable")[:M]]


CAUGHT = [
    (places_for_clients, check_strategy, LIKE, "joint law"),
    (uniform_candidates, check_strategy, LIKE, "joint law"),
    (candidates_with_replacement, check_strategy, LIKE, "joint law"),
    (smallest_losses, check_strategy, LIKE, "joint law"),
    (last_of_argpartition, check_strategy, {"like": PowerOfChoice(M, "all")}, "many clients"),
    (one_candidate_too_many, check_strategy, LIKE, "joint law"),
    (ties_to_the_first, check_strategy, LIKE, "fair ties"),
    (losses_times_weights, check_strategy, LIKE, "joint law"),
    (absolute_losses, check_strategy, LIKE, "joint law"),
    (all_who_tie, check_strategy, LIKE, "ties"),
    (squared_weights, check_strategy, LIKE, "joint law"),
    (single_precision, check_strategy, LIKE, "joint law"),
]
