"""Defective selections: global randomness, hidden state, shared results, infinite loops, invalid results."""

import itertools
import random

import numpy as np

from fedtheory.conformance import check_strategy
from fedtheory.selection.uniform import Uniform

LIKE = {"like": Uniform(2)}
CALLS = itertools.count()
BUFFER = np.zeros(2, dtype=np.int64)


def legacy_generator(rng, weights, losses):
    return np.random.choice(len(weights), 2, replace=False)  # noqa: NPY002 (the defect)


def copies_the_global_generator(rng, weights, losses):
    copy = random.Random()
    copy.setstate(random.getstate())
    return copy.sample(range(len(weights)), 2)


def fresh_generator(rng, weights, losses):
    return np.random.default_rng().choice(len(weights), 2, replace=False)


def same_seed_every_time(rng, weights, losses):
    return np.random.default_rng(0).choice(len(weights), 2, replace=False)


def round_robin(rng, weights, losses):
    first = next(CALLS)
    return [first % len(weights), (first + 1) % len(weights)]


def shared_answer(rng, weights, losses):
    BUFFER[:] = rng.choice(len(weights), 2, replace=False)
    return BUFFER


def sorts_its_input(rng, weights, losses):
    losses.sort()
    return rng.choice(len(weights), 2, replace=False)


def counts_from_one(rng, weights, losses):
    return rng.choice(len(weights), 2, replace=False) + 1


def counts_from_the_end(rng, weights, losses):
    return rng.choice(len(weights), 2, replace=False) - 1


def mask_for_numbers(rng, weights, losses):
    return rng.permutation(len(weights)) < 2


def nothing(rng, weights, losses):
    rng.choice(len(weights), 2, replace=False)


def one_too_few(rng, weights, losses):
    return rng.choice(len(weights), 1)


def with_copies(rng, weights, losses):
    return rng.choice(len(weights), 2)


def never_the_last(rng, weights, losses):
    return rng.choice(len(weights) - 1, 2, replace=False)


def neighbors(rng, weights, losses):
    first = rng.integers(len(weights))
    return [first, (first + 1) % len(weights)]


def raises_on_ties(rng, weights, losses):
    rank = {loss: k for k, loss in enumerate(losses)}
    return rng.permutation([rank[loss] for loss in np.unique(losses)])[:2] if len(rank) > 2 else [rank[9.0]]


def overflows(rng, weights, losses):
    shares = np.exp(losses - losses.min())
    return rng.choice(len(weights), 2, replace=False, p=shares / shares.sum())


def leaves_the_program(rng, weights, losses):
    raise SystemExit(3)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


def raises_what_cannot_be_printed(rng, weights, losses):
    raise Unprintable


LARGEST = [0.0]


def remembers_the_largest(rng, weights, losses):
    LARGEST[0] = max(LARGEST[0], len(set(losses)) * (losses.max() < 3))
    return sorted(rng.choice(len(weights), 2, replace=False) if not LARGEST[0] else [0, 1])


def divides_by_weights(rng, weights, losses):
    return sorted(range(len(weights)), key=lambda k: float(losses[k]) / float(weights[k]))[:2]


CAUGHT = [
    (legacy_generator, check_strategy, LIKE, "other randomness"),
    (copies_the_global_generator, check_strategy, LIKE, "other randomness"),
    (fresh_generator, check_strategy, LIKE, "same generator"),
    (same_seed_every_time, check_strategy, LIKE, "joint law"),
    (round_robin, check_strategy, LIKE, "same generator"),
    (shared_answer, check_strategy, LIKE, "own answers"),
    (sorts_its_input, check_strategy, LIKE, "inputs"),
    (counts_from_one, check_strategy, LIKE, "range"),
    (counts_from_the_end, check_strategy, LIKE, "range"),
    (mask_for_numbers, check_strategy, LIKE, "runs"),
    (nothing, check_strategy, LIKE, "runs"),
    (one_too_few, check_strategy, LIKE, "count"),
    (one_too_few, check_strategy, {"num_selected": 2}, "count"),
    (with_copies, check_strategy, LIKE, "duplicates"),
    (never_the_last, check_strategy, {}, "relabeling"),
    (neighbors, check_strategy, LIKE, "joint law"),
    (raises_on_ties, check_strategy, {}, "ties"),
    (overflows, check_strategy, {}, "extreme losses"),
    (leaves_the_program, check_strategy, {}, "runs"),
    (raises_what_cannot_be_printed, check_strategy, {}, "runs"),
    (remembers_the_largest, check_strategy, {}, "history"),
    (divides_by_weights, check_strategy, {}, "zero weights"),
]
