"""Sampled steps against the certified worst case of their own hypotheses."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.paper import Statement
from fedtheory.rational.draws import whole
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling
from fedtheory.worst_case.promises import confront


def _class(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "mu": Fraction(1),
        "L": Fraction(whole(rng, 12, 200), 10),
        "distance2": Fraction(whole(rng, 1, 90), 10),
        "objective_gap": Fraction(whole(rng, 1, 30), 10),
    }


@claim(
    "optimal-client-sampling:dsgd-worst-case",
    "No federation of equal weights exceeds the recursion of DSGD under uniform sampling",
    ocs.dsgd_contraction,
    instances=(4, 100),
    looseness=1.01,
)
def dsgd_contraction(rng: np.random.Generator) -> Finding:
    given, num_clients = _class(rng), whole(rng, 2, 4)
    share, gamma = Fraction(1, num_clients), Fraction(whole(rng, 1, num_clients), num_clients)
    given |= {
        "step_size": gamma / given["L"] * Fraction(whole(rng, 1, 10), 10),
        "smallest_gamma": gamma,
        "mean_inverse_gamma": 1 / gamma,
        "max_weight": share,
        "sum_squared_weights": share,
        "relative_noise": Fraction(0),
        "sigma2": Fraction(0),
    }
    found = confront(ocs.dsgd_contraction, **given)
    words = {name: str(value) for name, value in given.items()}
    return at_most(found.worst.enclosure[0], Fraction(found.promise), instance=words)


@claim(
    "optimal-client-sampling:worst-case-of-equal-weights",
    "Under equal weights optimal sampling has the worst case of uniform sampling",
    Statement(ocs.PAPER, "Lemma 1", "in the worst case of a step", form="derived"),
    "optimality",
    instances=(4, 100),
    remark="the least variance is a concave, symmetric function of the squared norms: its worst case has equal norms",
)
def equal_weights(rng: np.random.Generator) -> Finding:
    given, num_clients = _class(rng), whole(rng, 2, 4)
    size, eta = whole(rng, 1, num_clients), Fraction(whole(rng, 1, 10), 10) / given["L"]
    weights = [Fraction(1, num_clients)] * num_clients
    optimal, uniform = (
        optimal_client_sampling(weights, size, eta, **given, probabilities=how).enclosure
        for how in ("optimal", "uniform")
    )
    words = {"n": num_clients, "m": size, "step_size": str(eta), **{name: str(value) for name, value in given.items()}}
    return at_least(optimal[1], uniform[0], instance=words)
