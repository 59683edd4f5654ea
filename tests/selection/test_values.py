"""Strategies are values: equal ones compare, hash and print equal, also in another process, and a run keeps them."""

import pickle
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from tests.conformance.test_own_strategies import SHARES, STRATEGIES

S = ft.selection


def made_of_arrays(size, change=0.0):
    """One of each strategy, and of each part of one, that takes a number per client; the last number may change."""
    shares = np.linspace(0.25, 0.5, size)
    shares[-1] += change
    counts, chances = np.arange(1, size + 1), np.linspace(0.25, 0.5, size)
    counts[-1] += bool(change)
    chances[-1] += change
    mask = np.arange(size) == 0
    shares[0] = 1.0
    return {
        "ActiveFederated": S.ActiveFederated(1, counts),
        "LossMatching": S.LossMatching(mask, shares, np.full(3, 0.5)),
        "BernoulliAvailability": S.Available(S.Full(), S.BernoulliAvailability(chances)),
        "Periodic": S.Periodic([chances / chances.sum()]),
    }


@pytest.mark.parametrize("name", made_of_arrays(3))
def test_strategies_made_of_equal_arrays_are_equal_and_others_are_not(name):
    one, other, different = made_of_arrays(30)[name], made_of_arrays(30)[name], made_of_arrays(30, 0.125)[name]
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)
    assert one != different
    assert repr(one) != repr(different)


@pytest.mark.parametrize(("strategy", "options"), STRATEGIES, ids=[repr(strategy) for strategy, _ in STRATEGIES])
def test_a_copy_sent_to_another_process_gives_the_same_run_and_leaves_the_federation_alone(
    strategy: Any, options: Any
) -> None:
    weights = np.array((SHARES if options is SHARES else {"weights": [0.3, 0.25, 0.2, 0.12, 0.08, 0.05]})["weights"])
    fed = ft.QuadraticFederation(np.ones(6), np.array([[2.0], [-1.0], [0.5], [-3.0], [1.5], [0.0]]), weights)
    before, losses, printed = fed.weights.copy(), fed.losses([1.0]), repr(strategy)
    one, other = (
        ft.fedavg(fed, each, num_rounds=5, step_size=0.1, initial=[1.0], num_replicates=2, rng=1, record=("models",))
        for each in (strategy, pickle.loads(pickle.dumps(strategy)))
    )
    np.testing.assert_array_equal(one.models, other.models)
    np.testing.assert_array_equal(fed.weights, before)
    np.testing.assert_array_equal(fed.losses([1.0]), losses)
    assert repr(strategy) == printed
