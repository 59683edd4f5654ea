"""Strategies of the package leave their arguments alone, can be sent to another process, and refuse too few clients."""

import pickle
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from tests.conformance.test_own_strategies import SHARES, STRATEGIES

K = 6


@pytest.mark.parametrize(("strategy", "options"), STRATEGIES, ids=[repr(strategy) for strategy, _ in STRATEGIES])
def test_a_copy_sent_to_another_process_gives_the_same_run_and_leaves_the_federation_alone(
    strategy: Any, options: Any
) -> None:
    weights = np.array((SHARES if options is SHARES else {"weights": [0.3, 0.25, 0.2, 0.12, 0.08, 0.05]})["weights"])
    fed = ft.QuadraticFederation(np.ones(K), np.array([[2.0], [-1.0], [0.5], [-3.0], [1.5], [0.0]]), weights)
    before, losses, printed = fed.weights.copy(), fed.losses([1.0]), repr(strategy)
    one, other = (
        ft.fedavg(fed, each, num_rounds=5, step_size=0.1, initial=[1.0], num_replicates=2, rng=1, record=("models",))
        for each in (strategy, pickle.loads(pickle.dumps(strategy)))
    )
    np.testing.assert_array_equal(one.models, other.models)
    np.testing.assert_array_equal(fed.weights, before)
    np.testing.assert_array_equal(fed.losses([1.0]), losses)
    assert repr(strategy) == printed


@pytest.mark.parametrize(
    "strategy",
    [
        ft.selection.ActiveFederated(K + 1, (10,) * K), ft.selection.ActiveFederatedByReports(K + 1),
        ft.selection.Available(ft.selection.Uniform(K + 1), ft.selection.BernoulliAvailability(0.7)),
        ft.selection.Independent(K + 1.0), ft.selection.LossMatching((True,) * (K + 1), (1 / (K + 1),) * (K + 1)),
        ft.selection.Periodic(np.eye(K + 1)), ft.selection.PowerOfChoice(2, K + 1), ft.selection.Uniform(K + 1),
        ft.selection.GreedyShapley(K + 1), ft.selection.UpperConfidenceShapley(K + 1),
        ft.selection.SoftmaxShapley(K + 1), ft.selection.SizeWeighted(ft.selection.Uniform(K + 1)),
    ],
    ids=lambda strategy: type(strategy).__name__,
)  # fmt: skip
def test_more_clients_than_there_are_are_refused(strategy: Any) -> None:
    fed = ft.QuadraticFederation(np.ones(K), np.zeros((K, 1)), np.full(K, 1 / K))
    with pytest.raises(ValueError, match="must"):
        ft.fedavg(fed, strategy, num_rounds=1, step_size=0.1)
