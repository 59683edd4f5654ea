"""Defects from issues and pull requests of public code, each with a description and a correction.

The code is written from the descriptions in the threads, without the projects' code. Of rruisong's thread, only the
title of the fix is known; the defect is inferred from the code around it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory.conformance import check_aggregation, check_method, check_strategy
from fedtheory.conformance._checks import Kit
from fedtheory.methods import FedAvgM, FedDyn, Scaffold
from fedtheory.selection.power_of_choice import PowerOfChoice
from tests.conformance.defects.methods import ADAM, faulty, fedavgm, feddyn, fedopt, scaffold, scaffold_of_cohorts


class Issue(NamedTuple):
    """Where it is told, in a few words what is wrong, code with the defect and without, and what tells them apart."""

    project: str
    address: str
    told: str
    wrong: Callable[..., Any]
    right: Callable[..., Any]
    check: Kit[...]
    options: dict[str, Any]
    caught_by: str


def weighted_mean(rng, vectors, weights):
    return weights @ vectors / weights.sum()


def shares_that_do_not_add_up(rng, vectors, weights):
    shares = weights / weights.max()
    return (shares[:, None] * vectors).mean(axis=0)


def mean_of_states(rng, vectors, weights):
    total = vectors[0].copy()
    for vector in vectors[1:]:
        total += vector
    return total / len(vectors)


def mean_of_a_cluster(rng, vectors, weights):
    model = np.ones(vectors.shape[1])
    return model + np.mean([vector - model for vector in vectors], axis=0)


def weighted_mean_of_a_cluster(rng, vectors, weights):
    model = np.ones(vectors.shape[1])
    return model + np.average([vector - model for vector in vectors], axis=0, weights=weights)


def exploited(losses):
    """Return the clients whose utility is near the best ones', and these utilities."""
    utility = np.exp(losses - losses.max())
    near = np.flatnonzero(losses >= np.sort(losses)[-3])
    return near, utility


def probabilities_of_everybody(rng, weights, losses):
    near, utility = exploited(losses)
    return rng.choice(near, 2, replace=False, p=utility[near] / utility.sum())


def probabilities_of_those_who_are_left(rng, weights, losses):
    near, utility = exploited(losses)
    positive = np.maximum(utility[near], 1e-9)
    return rng.choice(near, 2, replace=False, p=positive / positive.sum())


def places_among_candidates(rng, weights, losses):
    candidates = rng.permutation(rng.choice(len(weights), 4, replace=False, p=weights))
    return np.argsort(-losses[candidates])[:2]


def candidates_with_the_largest_losses(rng, weights, losses):
    candidates = rng.permutation(rng.choice(len(weights), 4, replace=False, p=weights))
    return candidates[np.argsort(-losses[candidates], kind="stable")[:2]]


def batches_of(vector):
    """Return gradients of a client's two batches and their sizes; by examples, the mean is the vector."""
    return np.array([2 * vector, -2 * vector]), np.array([3, 1])


def clients_weights_for_batches(rng, vectors, weights):
    gradients = [np.mean(batches_of(vector)[0], axis=0) for vector in vectors]
    return weights @ np.array(gradients)


def examples_for_batches(rng, vectors, weights):
    gradients = [sizes @ batches / sizes.sum() for batches, sizes in map(batches_of, vectors)]
    return weights @ np.array(gradients)


def starts_from_a_new_model(rng, vectors, weights):
    state, replied = rng.normal(size=vectors.shape[1]), rng.random(len(weights)) < 0.5
    for place in range(len(weights)):
        if not replied[place]:
            continue
        share = 2 * weights[place] * vectors[place]
        state = share if place == 0 else state + share
    return state


def starts_from_nothing(rng, vectors, weights):
    state, replied = np.zeros(vectors.shape[1]), rng.random(len(weights)) < 0.5
    for place in np.flatnonzero(replied):
        state = state + 2 * weights[place] * vectors[place]
    return state


def noise_for_the_root(rng, vectors, weights):
    """Add noise of the scale of the largest norm, over the root of the number of clients, to the mean."""
    scale = np.linalg.norm(vectors, axis=1).max() / np.sqrt(len(vectors))
    return vectors.mean(axis=0) + scale * rng.standard_normal(vectors.shape[1])


def noise_for_the_mean(rng, vectors, weights):
    scale = np.linalg.norm(vectors, axis=1).max() / len(vectors)
    return vectors.mean(axis=0) + scale * rng.standard_normal(vectors.shape[1])


def variance_of_the_noise(vectors, weights):
    return vectors.shape[1] * (np.linalg.norm(vectors, axis=1).max() / len(vectors)) ** 2


def prox(term):
    def method(gradients, weights, initial, num_rounds, local_steps, step_size, rng):
        x = initial.copy()
        for _ in range(num_rounds):
            ends = []
            for k, gradient in enumerate(gradients):
                y, copy = x.copy(), x.copy()
                for _ in range(local_steps[k]):
                    y -= step_size * (gradient(y) + 0.5 * (y - term(y, copy)))
                ends.append(y)
            x = weights @ np.array(ends)
        return x

    return method


EXACT: dict[str, Any] = {"exact": True}
POW_D: dict[str, Any] = {"like": PowerOfChoice(2, 4)}
# The utilities of this rule are no law that the kit knows.
SIZE: dict[str, Any] = {"num_selected": 2, "exceptions": {"fair ties": "those near the best are kept in order"}}
ISSUES = [
    Issue(
        "FLEXible", "https://github.com/FLEXible-FL/FLEXible/pull/122", "weights computed and applied incorrectly",
        shares_that_do_not_add_up, weighted_mean, check_aggregation, EXACT, "exact",
    ),
    Issue(
        "Federated-Learning-PyTorch", "https://github.com/AshwinRJ/Federated-Learning-PyTorch/issues/27",
        "plain mean instead of the weighted mean",
        mean_of_states, weighted_mean, check_aggregation, EXACT, "exact",
    ),
    Issue(
        "clustered-federated-learning", "https://github.com/felisat/clustered-federated-learning/issues/1",
        "updates added without their weights",
        mean_of_a_cluster, weighted_mean_of_a_cluster, check_aggregation, EXACT, "exact",
    ),
    Issue(
        "Oort", "https://github.com/SymbioticLab/Oort/issues/1", "probabilities that do not sum to 1",
        probabilities_of_everybody, probabilities_of_those_who_are_left, check_strategy, SIZE, "runs",
    ),
    Issue(
        "FLGo", "https://github.com/WwZzz/easyFL", "Power-of-Choice: positions of candidates used as client numbers",
        places_among_candidates, candidates_with_the_largest_losses, check_strategy, POW_D, "joint law",
    ),
    Issue(
        "TensorFlow Federated", "https://github.com/google-parfait/tensorflow-federated/pull/1349",
        "batches weighted like clients",
        clients_weights_for_batches, examples_for_batches, check_aggregation, EXACT, "exact",
    ),
    Issue(
        "pytorch_federated_learning", "https://github.com/rruisong/pytorch_federated_learning/pull/5",
        "the sum starts from a new random model unless the first client replies",
        starts_from_a_new_model, starts_from_nothing, check_aggregation, {}, "zero vectors",
    ),
    Issue(
        "NIID-Bench", "https://github.com/Xtra-Computing/NIID-Bench/issues/12",
        "SCAFFOLD: the change of c divided by the number of selected clients instead of all",
        faulty(scaffold_of_cohorts, "c by 1/|S|"), scaffold_of_cohorts, check_method,
        {"like": Scaffold(), "num_selected": 2}, "first rounds",
    ),
    Issue(
        "Plato", "https://github.com/TL-System/plato/issues/382",
        "SCAFFOLD: the server adds control variates instead of their changes",
        faulty(scaffold, "adds c_k+ itself"), scaffold, check_method, {"like": Scaffold()}, "first rounds",
    ),
    Issue(
        "Scaffold-Federated-Learning", "https://github.com/ki-ljl/Scaffold-Federated-Learning/issues/1",
        "SCAFFOLD: a wrong number of local steps in the divisor of a control variate",
        faulty(scaffold, "divided by epochs"), scaffold, check_method, {"like": Scaffold()}, "first rounds",
    ),
    Issue(
        "APPFL", "https://github.com/APPFL/APPFL/issues/129", "FedAvgM: the update multiplied by 1 - beta",
        faulty(fedavgm, "damped"), fedavgm, check_method, {"like": FedAvgM(0.5, 0.75)}, "first rounds",
    ),
    Issue(
        "Flower's FedAdam", "https://github.com/flwrlabs/flower/pull/893",
        "FedAdam: the server steps along the update in place of the momentum",
        faulty(fedopt, "update for momentum"), fedopt, check_method, ADAM, "first rounds",
    ),
    Issue(
        "FedLab", "https://github.com/SMILELab-FL/FedLab/issues/319",
        "FedDyn: the server state subtracts one model from the sum of all",
        faulty(feddyn, "the sum minus one model"), feddyn, check_method, {"like": FedDyn(2.0)}, "limit",
    ),
    Issue(
        "FL-bench", "https://github.com/KarhouTam/FL-bench/issues/165",
        "FedProx: the proximal term compares the local model with itself",
        prox(lambda y, x: y), prox(lambda y, x: x), check_method, {"like": None, "proximal_weight": 0.5},
        "first rounds",
    ),
    Issue(
        "Flower", "https://github.com/flwrlabs/flower/issues/1892",
        "differential privacy: noise of the mean divided by the root of the number of clients",
        noise_for_the_root, noise_for_the_mean, check_aggregation,
        {"like": lambda vectors, weights: vectors.mean(axis=0), "variance": variance_of_the_noise}, "variance",
    ),
]  # fmt: skip
# Further reports of FedProx: the term is doubled, halved, or has the opposite sign.
CAUGHT = [
    (prox(term), check_method, {"like": None, "proximal_weight": 0.5}, "first rounds")
    for term in (lambda y, x: 2 * x - y, lambda y, x: (x + y) / 2, lambda y, x: 2 * y - x)
]
