"""Sampled steps and rounds against the certified worst case of their own hypotheses."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims._comparisons import against_worst_case, as_texts, draw_class, step_size, tenths
from fedtheory.instances.draws import pick, whole
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling


def _equal(rng: np.random.Generator) -> tuple[dict[str, Any], Fraction]:
    """Draw clients of equal weights with exact gradients, and the share of them that is sampled."""
    num_clients = whole(rng, 2, 4)
    share, gamma = Fraction(1, num_clients), Fraction(whole(rng, 1, num_clients), num_clients)
    given = draw_class(rng) | {"max_weight": share, "sum_squared_weights": share}
    return given | {"relative_noise": Fraction(0), "sigma2": Fraction(0)}, gamma


def _gap(given: dict[str, Any], rng: np.random.Generator) -> Fraction:
    """Draw a gap that strong convexity and smoothness allow."""
    mu, L = given["mu"], given["L"]
    return Fraction(given["distance2"] / 2 * (mu + (L - mu) * tenths(rng, 1, 9)))


def _step(rng: np.random.Generator) -> dict[str, Any]:
    given, gamma = _equal(rng)
    given |= {"gamma": gamma, "gap": _gap(given, rng)}
    return given | {"step_size": step_size(rng, gamma / given["L"])}


def _everybody(rng: np.random.Generator) -> dict[str, Any]:
    given, _ = _equal(rng)
    kept = {name: given[name] for name in ("mu", "L", "distance2", "sum_squared_weights")}
    return kept | {"sigma2": tenths(rng, 0, 30), "step_size": step_size(rng, 1 / given["L"])}


def _round(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a round of several local steps of all clients."""
    given, _ = _equal(rng)
    # Where curvatures hardly differ, the solver cannot tell the classes of such short steps from empty ones.
    given["L"] += given["mu"]
    given |= {"gamma": Fraction(1), "gap": _gap(given, rng), "local_steps": whole(rng, 1, 3)}
    # server_step_size^2 >= 1/sum_squared_weights; local steps are shorter by this factor and by their number
    share = pick(rng, [Fraction(1), tenths(rng, 5, 9)])
    return given | {"server_step_size": Fraction(whole(rng, 2, 3)), "step_size": share / (16 * given["L"])}


_STEP = "No federation of equal weights exceeds the bound on a step of DSGD under uniform sampling"
_ROUND = "No federation of equal weights exceeds the bound on a round of FedAvg when all clients take part"


@against_worst_case(
    "optimal-client-sampling:dsgd-worst-case",
    "No federation of equal weights exceeds the recursion of DSGD under uniform sampling",
    ocs.dsgd_contraction,
)
def dsgd_contraction(rng: np.random.Generator) -> dict[str, Any]:
    given, gamma = _equal(rng)
    given |= {"smallest_gamma": gamma, "mean_inverse_gamma": 1 / gamma}
    return given | {"step_size": step_size(rng, gamma / given["L"])}


dsgd_strongly_convex = against_worst_case(
    "optimal-client-sampling:theorem-13-worst-case", _STEP + ", the descent on the left", ocs.dsgd_strongly_convex
)(_step)


@against_worst_case(
    "optimal-client-sampling:theorem-13-convex-worst-case", _STEP + ", convex clients", ocs.dsgd_convex_clients
)
def dsgd_convex_clients(rng: np.random.Generator) -> dict[str, Any]:
    given = _step(rng)
    squares = 2 * given["L"] * given["max_weight"] * given.pop("objective_gap")
    return given | {"squared_weight_optimum_gradient2": squares}


full_participation = against_worst_case(
    "optimal-client-sampling:eq-21-worst-case",
    "No federation of equal weights exceeds the bound on a noisy step of all clients",
    ocs.full_participation,
)(_everybody)


@against_worst_case(
    "optimal-client-sampling:eq-22-worst-case",
    "No federation of equal weights exceeds the bound on steps of all clients",
    ocs.full_participation_distance,
)
def full_participation_distance(rng: np.random.Generator) -> dict[str, Any]:
    given = _everybody(rng) | {"sigma2": Fraction(0), "num_rounds": whole(rng, 1, 3)}
    return given | {"initial_distance2": given.pop("distance2")}


fedavg_strongly_convex = against_worst_case(
    "optimal-client-sampling:theorem-17-worst-case", _ROUND + ", the descent on the left", ocs.fedavg_strongly_convex
)(_round)


@against_worst_case(
    "optimal-client-sampling:theorem-17-per-client-worst-case",
    _ROUND + ", client by client",
    ocs.fedavg_strongly_convex_per_client,
)
def fedavg_strongly_convex_per_client(rng: np.random.Generator) -> dict[str, Any]:
    given = _round(rng)
    return given | {"per_client_gap": given["max_weight"] * given["objective_gap"]}


fedavg_convex_clients = against_worst_case(
    "optimal-client-sampling:theorem-17-convex-worst-case", _ROUND + ", convex clients", ocs.fedavg_convex_clients
)(_round)


@against_worst_case(
    "optimal-client-sampling:theorem-17-contraction-worst-case", _ROUND + ", round after round", ocs.fedavg_contraction
)
def fedavg_contraction(rng: np.random.Generator) -> dict[str, Any]:
    given = _round(rng)
    del given["gap"]
    return given | {"smallest_gamma": given.pop("gamma"), "mean_inverse_gamma": Fraction(1)}


@claim(
    "optimal-client-sampling:worst-case-of-equal-weights",
    "Under equal weights optimal sampling has the worst case of uniform sampling",
    Statement(ocs.PAPER, "Lemma 1", "in the worst case of a step", form="derived"),
    "optimality",
    instances=(3, 100),
    remark="the least variance is a concave, symmetric function of the squared norms: its worst case has equal norms",
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
