"""Sampled steps and rounds against certified worst cases under the same hypotheses."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, draw_class, step_size, whole
from fedtheory.theorem.findings import Finding, at_least
from fedtheory.theorem.paper import FEDTHEORY, Statement
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling


@claim(
    "optimal-client-sampling:worst-case-of-equal-weights",
    "With equal weights, optimal sampling has the worst case of uniform sampling",
    Statement(FEDTHEORY, "in the worst case of a step", related=(ocs.PAPER, "Lemma 1"), form="derived"),
    "optimality",
    instances=(3, 100),
    remark="the least variance is concave and symmetric in the squared norms, so that equal norms are its worst case",
)
def equal_weights(rng: np.random.Generator) -> Finding:
    given, num_clients = draw_class(rng), whole(rng, 2, 4)
    size, eta = whole(rng, 1, num_clients), step_size(rng, 1 / given["L"])
    weights = [Fraction(1, num_clients)] * num_clients
    optimal, uniform = (
        optimal_client_sampling(weights, size, eta, **given, probabilities=how).enclosure
        for how in ("optimal", "uniform")
    )
    words = {"n": num_clients, "m": size, "step_size": str(eta), **as_texts(given)}
    return at_least(optimal[1], uniform[0], instance=words)
