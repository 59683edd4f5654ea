"""Defects of active federated learning in public code: wrong clients are dropped, and inputs are overwritten."""

import numpy as np

from fedtheory.conformance import check_strategy
from fedtheory.selection.active_federated import ActiveFederated

M, KEPT = 2, 2
LIKE = {"like": ActiveFederated(M, (1,) * 6, dropped=2 / 3, sharpness=0.5, explored=0.0)}


def softmax(values):
    powers = np.exp(0.5 * (values - values.max()))
    return powers / powers.sum()


def one_by_one(rng, clients, losses):
    drawn: list[int] = []
    left = list(clients)
    while len(drawn) < M:
        drawn.append(left.pop(rng.choice(len(left), p=softmax(losses[left]))))
    return drawn


def drops_a_third(rng, weights, losses):
    return one_by_one(rng, np.argsort(losses)[KEPT:], losses)


CAUGHT = [
    (drops_a_third, check_strategy, LIKE, "joint law"),
]
