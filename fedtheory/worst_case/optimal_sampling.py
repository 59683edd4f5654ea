"""Optimal client sampling, one step with the probabilities that are best for its gradients: its exact worst case."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.sampling.optimal import optimal_probabilities
from fedtheory.worst_case._embedding import Embedding
from fedtheory.worst_case._exchangeable import Scene
from fedtheory.worst_case._sampled import sampled_step
from fedtheory.worst_case._settings import Setting, check_block, rational, setting
from fedtheory.worst_case.enclosures import Proof, prove
from fedtheory.worst_case.instances import Instance, Outcome
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["optimal_client_sampling"]


def optimal_client_sampling(
    weights: Sequence[Any],
    expected_size: Any,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    probabilities: str = "optimal",
    max_block: int = 50,
) -> WorstCase:
    r"""Exact worst case of one step of DSGD with independent sampling of the clients.

    The largest ``E |w_+ - w*|^2`` for ``w_+ = w - step_size sum_{i in S} (w_i/p_i) grad F_i(w)`` over all L-smooth,
    mu-strongly convex clients with these weights, ``|w - w*|^2 <= distance2`` and
    ``F* - sum w_i F_i* <= objective_gap``. Optimal probabilities look at the gradients, and are exactly optimal.

    Parameters
    ----------
    weights
        Of the clients, positive, with sum 1 exactly (``Fraction`` where floats do not).
    expected_size
        Expected number of clients m, ``0 < m <= n``.
    step_size
        One number.
    mu, L, distance2, objective_gap, max_block
        As in ``fedavg``.
    probabilities
        ``optimal``, or ``uniform``: m/n for everyone.

    Returns
    -------
    WorstCase
        Its instance goes through all sets of clients.

    Raises
    ------
    ValueError
        If an argument is unsuitable or the program too large.
    OracleError
        If no proof was found.

    Examples
    --------
    Under equal weights optimal sampling is no better in the worst case than uniform sampling; under others it is:

    >>> from fractions import Fraction as Q
    >>> constants = dict(mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2))
    >>> def both(weights):
    ...     how = ("optimal", "uniform")
    ...     return [optimal_client_sampling(weights, 1, Q(1, 4), **constants, probabilities=p).value for p in how]
    >>> [round(value, 5) for value in both([Q(1, 2), Q(1, 2)])]
    [0.98332, 0.98332]
    >>> [round(value, 5) for value in both([Q(1, 2), Q(1, 4), Q(1, 4)])]
    [0.99274, 1.0009]
    """
    given = setting(1, step_size, mu=mu, L=L, distance2=distance2, objective_gap=objective_gap)
    shares = [rational("weights", weight, validate.positive) for weight in weights]
    if sum(shares) != 1 or len(shares) < 2:
        message = f"weights must be those of two or more clients and sum to 1 exactly, got the sum {float(sum(shares))}"
        raise ValueError(message)
    size = rational("expected_size", expected_size, validate.positive)
    if size > len(shares):
        message = f"expected_size must be at most the number of clients {len(shares)}, got {size}"
        raise ValueError(message)
    validate.choice("probabilities", probabilities, ("optimal", "uniform"))
    check_block(3 * len(shares), max_block)
    scene = sampled_step(given, shares, size, probabilities)
    attain = partial(_instance, scene, given, shares, size, probabilities)
    return worst_of([prove(scene.program)], given, "distance", attain)


def _instance(
    scene: Scene, given: Setting, weights: Sequence[Fraction], size: Fraction, probabilities: str, proof: Proof
) -> Instance:
    space, places = Embedding(proof, given), {0: np.ones(1), **_nowhere(scene)}
    clients = tuple(space.client(points, places) for points in scene.points)
    start, shares = space.place(scene.start, places), np.array([float(weight) for weight in weights])
    chances = np.full(len(clients), float(size) / len(clients))
    if probabilities == "optimal":
        norms = shares * np.linalg.norm([client.gradient(start) for client in clients], axis=1)
        chances = optimal_probabilities(norms, float(size))
    outcomes = _independent(shares, chances)
    return Instance(
        clients=clients,
        weights=shares,
        start=start,
        step_sizes=tuple(float(eta / given.L) for eta in given.steps),
        num_rounds=1,
        selection=lambda _losses, _history: outcomes,
    )


def _nowhere(scene: Scene) -> dict[int, Array]:
    # The blocks of two that say how large the least variance is hold no vectors of the federation.
    return {block: np.zeros(0) for block in range(1, len(scene.program.sizes))}


def _independent(weights: Array, chances: Array) -> list[Outcome]:
    found = []
    for inside in product((False, True), repeat=weights.size):
        chosen = np.array(inside)
        probability = float(np.prod(np.where(chosen, chances, 1 - chances)))
        if probability:
            found.append(Outcome(probability, np.where(chosen, weights / np.where(chances > 0, chances, 1.0), 0.0)))
    return found
