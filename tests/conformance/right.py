"""Correct implementations, written independently of the package, which the kit must accept."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory.conformance import (
    check_aggregation,
    check_bound,
    check_generator,
    check_probabilities,
    check_shapley,
    check_strategy,
)
from fedtheory.selection.active_federated import ActiveFederated
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from tests.conformance.defects import active_federated, aggregation, probabilities, shapley, synthetic


class Right(NamedTuple):
    """Code that is right, what checks it, with which options, and options that make the check cheaper."""

    subject: Any
    check: Callable[..., Any]
    options: dict[str, Any]
    cheaper: dict[str, Any]


def power_of_choice(rng, weights, losses):
    drawn = rng.permutation(rng.choice(len(weights), 4, replace=False, p=weights))
    return drawn[np.argsort(-losses[drawn], kind="stable")[:2]]


def uniform(rng, weights, losses):
    return rng.permutation(len(weights))[:3]


def by_weight(rng, weights, losses):
    return rng.choice(len(weights), 2, p=weights).tolist()


def coins(rng, weights, losses):
    return np.flatnonzero(rng.random(len(weights)) < 2 / len(weights))


def by_valuation(rng, weights, losses):
    left = np.lexsort((rng.random(len(losses)), losses))[-3:].tolist()
    return [left.pop(rng.choice(len(left), p=active_federated.softmax(losses[left]))) for _ in range(2)]


def everybody(rng, weights, losses):
    return set(range(len(losses)))


def weighted_draws(rng, vectors, weights):
    return vectors[rng.choice(len(weights), 3, p=weights)].mean(axis=0)


def variance_of_draws(vectors, weights):
    return float((weights @ (vectors**2) - (weights @ vectors) ** 2).sum() / 3)


def middle(rng, vectors, weights):
    low, high = (len(vectors) - 1) // 2, len(vectors) // 2
    ordered = np.sort(vectors, axis=0)
    return (ordered[low] + ordered[high]) / 2


def plain_sum(rng, vectors, weights):
    total = np.zeros(vectors.shape[1])
    for k in rng.permutation(len(weights)):
        total += weights[k] * vectors[k]
    return total


def one_order(utility, n, rng):
    return shapley.mean_of(utility, n, [rng.permutation(n).tolist()])


def twice_the_lemma(excess, L):
    return 2 * L * excess


RIGHT = [
    Right(power_of_choice, check_strategy, {"like": PowerOfChoice(2, 4)}, {"num_draws": 500}),
    Right(uniform, check_strategy, {"like": Uniform(3)}, {"num_draws": 500}),
    Right(by_weight, check_strategy, {"like": Proportional(2)}, {"num_draws": 500}),
    Right(coins, check_strategy, {"like": Independent(2, "uniform")}, {"num_draws": 500}),
    Right(
        by_valuation, check_strategy, {"like": ActiveFederated(2, (1,) * 6, dropped=0.5, sharpness=0.5, explored=0.0)},
        {"num_draws": 500},
    ),
    Right(everybody, check_strategy, {"like": Full()}, {"num_draws": 500}),
    Right(probabilities.right, check_probabilities, {}, {}),
    Right(
        aggregation.coins, check_aggregation, {"variance": aggregation.variance_of_coins, "largest": 2.0},
        {"num_draws": 1000},
    ),
    Right(weighted_draws, check_aggregation, {"variance": variance_of_draws}, {"num_draws": 1000}),
    Right(plain_sum, check_aggregation, {"exact": True}, {}),
    Right(middle, check_aggregation, {"like": aggregation.median, "exact": True, "outliers": 2, "min_clients": 5}, {}),
    Right(aggregation.q_fedavg, check_aggregation, aggregation.Q_FEDAVG, {}),
    Right(shapley.right, check_shapley, {}, {}),
    Right(one_order, check_shapley, {"exact": False}, {"num_draws": 500}),
    Right(synthetic.right, check_generator, {}, {"num_clients": 60}),
    Right(synthetic.right_as_variance, check_generator, {"dispersion": "variance"}, {"num_clients": 60}),
    Right(twice_the_lemma, check_bound, {"claim": "power-of-choice:lemma-b1"}, {"num_instances": 20}),
]  # fmt: skip
