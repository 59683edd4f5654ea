"""Statistics of Synthetic(alpha, beta): normal variables, likelihoods of both readings of beta, margins."""

from typing import Any

import numpy as np

from fedtheory.conformance import check_generator
from tests.conformance.defects import synthetic


def failed(function: Any) -> list[str]:
    return [failure.check for failure in check_generator(function, num_clients=50).failures]


def test_one_array_that_differs_in_the_same_state_is_seen() -> None:
    calls: list[int] = []

    def other_labels_each_time(alpha, beta, num_clients, rng):
        clients = synthetic.right(alpha, beta, num_clients, rng)
        calls.append(num_clients)
        clients[2 % num_clients][1][0] = len(calls) % 7
        return clients

    assert "same generator" in failed(other_labels_each_time)


def test_one_client_that_is_always_the_same_is_seen() -> None:
    def with_an_old_friend(alpha, beta, num_clients, rng):
        friend = synthetic.right(alpha, beta, 1, np.random.default_rng(0))
        return friend + synthetic.right(alpha, beta, num_clients - 1, rng)

    assert "new draws" in failed(with_an_old_friend)
