"""Optimal sampling among randomly available clients (Optimal Client Sampling, Appendix E)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.sampling.correlated import JointLaw
from fedtheory.sampling.optimal import optimal_probabilities
from fedtheory.sampling.probability_matrices import estimator_variance
from fedtheory.sampling.variances import variance

__all__ = ["available_probabilities", "error_parts"]


class ErrorParts(NamedTuple):
    """The three parts of ``E |G - grad f|^2`` in (39), squared errors.

    ``sampling`` is the variance caused by sampling among the available clients, ``availability`` the variance caused by
    the random availability, and ``noise`` the squared error of the exact average of the updates.
    """

    sampling: float
    availability: float
    noise: float

    @property
    def total(self) -> float:
        """Sum of the three parts."""
        return self.sampling + self.availability + self.noise


def available_probabilities(
    norms: npt.ArrayLike, expected_size: float, available: npt.ArrayLike, availability: npt.ArrayLike
) -> Array:
    r"""Optimal probabilities given the set Q of available clients: the closed form for ``t_i / q_i`` on Q.

    The estimator is ``sum_{i in S} (w_i / (q_i p_i)) U_i``, so an available client counts with norm ``t_i / q_i``. The
    other clients have probability 0.

    Source: Chen, Horvath and Richtarik (2022), Appendix E, eqs. (39) and (40).

    Parameters
    ----------
    norms
        Norms of the weighted updates, ``t_i = w_i |U_i|``, shape (n,).
    expected_size
        Budget m in (0, n]; the sum of the probabilities is at most the number of available clients.
    available
        Whether each client is available, booleans, shape (n,).
    availability
        Known probabilities q_i of being available, shape (n,), in (0, 1].

    Examples
    --------
    Client 0 is available with probability 1/4, so the norms are (4, 3); the budget is one client.

    >>> available_probabilities([1.0, 9.0, 3.0], 1, [True, False, True], [0.25, 1.0, 1.0]).round(6)
    array([0.571429, 0.      , 0.428571])
    """
    t = validate.array("norms", norms, ndim=1)
    q = _marginals(availability, t.size)
    here = validate.unmasked("available", available)
    if here.dtype != np.bool_ or here.shape != t.shape:
        message = f"available must be booleans of shape {t.shape}, got {here.dtype} of shape {here.shape}"
        raise TypeError(message)
    m = validate.double("expected_size", validate.positive("expected_size", expected_size))
    if m > t.size:
        message = f"expected_size must be at most the number of clients, {t.size}, got {m}"
        raise ValueError(message)
    probabilities = np.zeros(t.size)
    if here.any():
        probabilities[here] = optimal_probabilities(t[here] / q[here], min(m, float(here.sum())))
    return probabilities


def error_parts(
    updates: npt.ArrayLike,
    outcome_weights: npt.ArrayLike,
    availability: JointLaw,
    gradient: npt.ArrayLike,
    law: Callable[[Array, npt.NDArray[np.bool_]], Array],
) -> ErrorParts:
    r"""Split the error of ``G = sum_{i in S} (w_i / (q_i p_i)) U_i`` as in (39), for independent S given Q and U.

    ``E |G - grad f|^2`` is the sum of ``E |G - sum_{i in Q} (w_i / q_i) U_i|^2``, of
    ``E |sum_{i in Q} (w_i / q_i) U_i - sum_i w_i U_i|^2`` and of ``E |sum_i w_i U_i - grad f|^2``, provided that Q is
    independent of U. Each term is evaluated in closed form, so the sum can be verified by enumeration.

    Source: Chen, Horvath and Richtarik (2022), Appendix E, eq. (39).

    Parameters
    ----------
    updates
        Possible values of the weighted updates w_i U_i, shape (outcomes, n, d).
    outcome_weights
        Probabilities of the outcomes, shape (outcomes,), with sum 1.
    availability
        The law of Q; every client must be available with positive probability.
    gradient
        ``grad f``, shape (d,).
    law
        Function that maps the norms of the weighted updates and the available clients, both of shape (n,), to the p_i.
        An example is ``available_probabilities`` with fixed budget and q_i.

    Examples
    --------
    A single client with update 1 is available with probability 1/2 and then always sampled, so G is 0 or 2.

    >>> here = JointLaw([[True], [False]], [0.5, 0.5])
    >>> error_parts([[[1.0]]], [1.0], here, [1.0], lambda norms, available: np.ones(1))
    ErrorParts(sampling=0.0, availability=1.0, noise=0.0)
    """
    u = validate.array("updates", updates, ndim=3)
    weights = validate.probability_vector("outcome_weights", outcome_weights, size=u.shape[0])
    validate.function("law", law, "norms and available clients")
    together = validate.instance("availability", availability, JointLaw, "a JointLaw").matrix
    q = _marginals(np.diagonal(together), u.shape[1])
    target = validate.array("gradient", gradient, shape=(u.shape[2],))
    parts = np.zeros(3)
    for weight, outcome in zip(weights.tolist(), u, strict=True):
        sampling = sum(
            probability * _sampling_part(outcome, q, members, law)
            for members, probability in availability.outcomes()
            if members.any()
        )
        noise = float(((outcome.sum(axis=0) - target) ** 2).sum())
        parts += weight * np.array([sampling, estimator_variance(together, outcome), noise])
    return ErrorParts(*parts.tolist())


def _sampling_part(outcome: Array, q: Array, members: npt.NDArray[np.bool_], law: Any) -> float:
    norms = np.sqrt((outcome**2).sum(axis=1))
    p = np.asarray(law(norms, members))
    return float(variance((norms / q)[members], p[members]))


def _marginals(availability: npt.ArrayLike, num_clients: int) -> Array:
    q: Array = validate.positive("availability", validate.array("availability", availability, shape=(num_clients,)))
    # The marginals of an explicitly given law of sets are exact only up to rounding errors.
    if (q > 1 + 1e-12).any():
        message = f"availability must be at most 1, got {q.max()}"
        raise ValueError(message)
    return q
