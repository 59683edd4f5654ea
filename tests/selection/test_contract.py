"""The contract of every strategy of the package, tested with the public interface."""

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
import fedtheory.selection
from fedtheory._support.discover import members
from tests.environment import sized

K, NUM_REPLICATES = 6, sized(4000, 1000)
EQUAL = np.full(K, 1 / K)
WEIGHTS = np.array([0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
EXAMPLES: dict[str, Any] = {
    "ActiveFederated": ft.selection.ActiveFederated(2, (10,) * K),
    "ActiveFederatedByReports": ft.selection.ActiveFederatedByReports(3),
    "Available": ft.selection.Available(
        ft.selection.PowerOfChoice(1, 2), ft.selection.BernoulliAvailability(0.7), "allow"
    ),
    "Full": ft.selection.Full(),
    "Independent": ft.selection.Independent(2.5),
    "LossMatching": ft.selection.LossMatching(
        (True, True, False, False, False, False), (0.5,) * K, 1.5, fraction=0.5
    ),
    "Periodic": ft.selection.Periodic(np.eye(K)),
    "PowerOfChoice": ft.selection.PowerOfChoice(2, 4),
    "Proportional": ft.selection.Proportional(3),
    "Uniform": ft.selection.Uniform(2),
    "GreedyShapley": ft.selection.GreedyShapley(2),
    "UpperConfidenceShapley": ft.selection.UpperConfidenceShapley(2),
    "SoftmaxShapley": ft.selection.SoftmaxShapley(3),
    "SizeWeighted": ft.selection.SizeWeighted(ft.selection.Uniform(2)),
}  # fmt: skip
every_strategy = pytest.mark.parametrize("name", EXAMPLES)
# Nothing is drawn: another seed gives the same run.
DETERMINISTIC = {"Full", "Periodic"}
# Copies of a client act as different clients.
WITH_REPLACEMENT = {"Proportional"}
# The law is not that of the losses alone: valuations, presence, updates, the round.
WITHOUT_LAW = {
    "ActiveFederated", "ActiveFederatedByReports", "Available", "Independent", "GreedyShapley",
    "UpperConfidenceShapley", "SoftmaxShapley", "SizeWeighted", "Periodic",
}  # fmt: skip
# Who is selected depends on what was remembered of earlier rounds, or on updates, which are 0 where no model moves.
NOT_LIKE_LATER_ROUNDS = {
    "ActiveFederated", "ActiveFederatedByReports", "GreedyShapley", "UpperConfidenceShapley", "SoftmaxShapley",
    "Independent",
}  # fmt: skip
# Priority and other clients have different rights.
UNEQUAL_RIGHTS = {"LossMatching"}


def federation(name: str, apart: float = 1.0) -> Any:
    """Six parabolas, the same ones when they are not apart; FedALIGN's strategy needs priority clients."""
    centers = apart * np.array([[2.0], [-1.0], [0.5], [-3.0], [1.5], [0.0]])
    if name == "LossMatching":
        fed = ft.QuadraticFederation(np.ones(K), centers, EQUAL)
        return ft.federation.prioritize(fed, EXAMPLES[name].priority).federation
    return ft.QuadraticFederation(np.ones(K), centers, WEIGHTS if apart else EQUAL)


def run(name: str, fed: Any, **arguments: Any) -> Any:
    given = {"num_rounds": 5, "step_size": 0.1, "initial": [1.0], "num_replicates": 3, "rng": 1, "record": ("models",)}
    return ft.fedavg(fed, EXAMPLES[name], **{**given, **arguments})


def test_every_example_is_a_strategy_and_every_strategy_has_one() -> None:
    found = members(fedtheory.selection, lambda value: dataclasses.is_dataclass(value) and hasattr(value, "rules"))
    kinds = {kind.__name__ for _, kind in found}
    assert set(EXAMPLES) <= kinds
    if kinds - set(EXAMPLES):
        pytest.skip(f"{', '.join(sorted(kinds - set(EXAMPLES)))} have no example here")


@every_strategy
def test_a_seed_gives_the_same_bits_again_whatever_the_number_of_threads_and_another_one_others(name: str) -> None:
    fed = federation(name)
    models = run(name, fed, num_threads=1).models
    np.testing.assert_array_equal(run(name, fed, num_threads=2).models, models)
    assert np.array_equal(run(name, fed, rng=2).models, models) == (name in DETERMINISTIC)


@every_strategy
def test_a_round_takes_no_client_twice_and_not_more_than_the_promised_number(name: str) -> None:
    fed = federation(name)
    counts = run(name, fed, num_rounds=1, num_replicates=100).counts
    most = EXAMPLES[name].rules(fed.weights, 1).max_selected
    assert counts.min() == (1 if name == "Full" else 0)
    assert counts.max() == 1 or name in WITH_REPLACEMENT
    assert counts.sum(axis=1).max() <= most


@every_strategy
def test_strategy_and_federation_are_left_as_they_were(name: str) -> None:
    fed, before = federation(name), copy.deepcopy(EXAMPLES[name])
    weights, losses = fed.weights.copy(), fed.losses([1.0])
    run(name, fed)
    assert repr(EXAMPLES[name]) == repr(before)
    np.testing.assert_array_equal(fed.weights, weights)
    np.testing.assert_array_equal(fed.losses([1.0]), losses)


@every_strategy
def test_a_strategy_survives_the_way_to_another_process(name: str) -> None:
    fed = federation(name)
    other = pickle.loads(pickle.dumps(EXAMPLES[name]))
    found = ft.fedavg(
        fed, other, num_rounds=5, step_size=0.1, initial=[1.0], num_replicates=3, rng=1, record=("models",)
    )
    np.testing.assert_array_equal(found.models, run(name, fed).models)


def frequencies(name: str, fed: Any) -> tuple[Any, Any]:
    """How often each client is taken in a first round, and the standard errors."""
    if name in NOT_LIKE_LATER_ROUNDS:
        counts = run(name, fed, num_rounds=1, num_replicates=NUM_REPLICATES).counts
    else:  # with steps too short to move the model every round is a first one
        still = {"num_rounds": NUM_REPLICATES, "step_size": 1e-30, "num_replicates": 1, "record": ("selected",)}
        chosen = run(name, fed, **still).recorded("selected")[0, :-1]
        counts = (chosen[:, :, None] == np.arange(K)).sum(axis=1)
    return counts.mean(axis=0), counts.std(axis=0, ddof=1) / np.sqrt(NUM_REPLICATES)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - WITHOUT_LAW))
def test_clients_are_taken_as_often_as_the_law_says(name: str) -> None:
    fed = federation(name)
    measured, error = frequencies(name, fed)
    law = EXAMPLES[name].inclusion_probabilities(fed.weights, fed.losses([1.0]))
    # Where the law says never or always, there is no error.
    assert np.all(np.abs(measured - law) <= 5 * error + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - UNEQUAL_RIGHTS))
def test_equal_clients_are_taken_equally_often(name: str) -> None:
    measured, error = frequencies(name, federation(name, apart=0.0))
    assert measured.min() > 0
    assert np.all(np.abs(measured - measured.mean()) <= 5 * error + 1e-12)


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
    with pytest.raises(ValueError, match="must"):
        ft.fedavg(federation("Full"), strategy, num_rounds=1, step_size=0.1)
