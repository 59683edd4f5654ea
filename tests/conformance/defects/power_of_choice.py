"""Defects of Power-of-Choice in public code: positions instead of clients, uniform candidates, and others."""

import numpy as np

from fedtheory.conformance import check_strategy
from fedtheory.selection.power_of_choice import PowerOfChoice

M, D = 2, 4
LIKE = {"like": PowerOfChoice(M, D)}


def candidates(rng, weights):
    return rng.permutation(rng.choice(len(weights), D, replace=False, p=weights))


def uniform_candidates(rng, weights, losses):
    drawn = rng.permutation(len(weights))[:D]
    return drawn[np.argsort(-losses[drawn], kind="stable")[:M]]


def smallest_losses(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[np.argsort(losses[drawn], kind="stable")[:M]]


def last_of_argpartition(rng, weights, losses):
    # Up to 256 entries argpartition may sort all of them.
    drawn = rng.permutation(len(weights))
    return drawn[np.argpartition(losses[drawn], M)[-M:]]


def ties_to_the_first(rng, weights, losses):
    drawn = np.sort(candidates(rng, weights))
    return drawn[np.argsort(-losses[drawn], kind="stable")[:M]]


def all_who_tie(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[losses[drawn] >= np.sort(losses[drawn])[-M]]


def single_precision(rng, weights, losses):
    drawn = candidates(rng, weights)
    return drawn[np.argsort(-losses[drawn].astype(np.float32), kind="stable")[:M]]


CAUGHT = [
    (uniform_candidates, check_strategy, LIKE, "joint law"),
    (smallest_losses, check_strategy, LIKE, "joint law"),
    (last_of_argpartition, check_strategy, {"like": PowerOfChoice(M, "all")}, "many clients"),
    (ties_to_the_first, check_strategy, LIKE, "fair ties"),
    (all_who_tie, check_strategy, LIKE, "ties"),
    (single_precision, check_strategy, LIKE, "joint law"),
]
