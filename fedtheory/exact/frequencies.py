"""How often a strategy selects each client, where that is known exactly."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from fedtheory._validate import Array
from fedtheory.selection._moments import CoefficientMoments

__all__ = ["RanksByLoss", "StateIndependent", "selection_frequencies"]


@runtime_checkable
class StateIndependent(Protocol):
    """A strategy whose aggregation coefficients do not depend on the model."""

    def coefficient_moments(self, weights: Array) -> CoefficientMoments:
        """Return first and second moments of the coefficients."""


@runtime_checkable
class RanksByLoss(Protocol):
    """A strategy whose law depends on the model through the clients' losses, and is known exactly."""

    def inclusion_probabilities(self, weights: Array, losses: Array) -> Array:
        """Return the expected number of copies of each client, shape (K,)."""


def selection_frequencies(strategy: StateIndependent | RanksByLoss | Any, weights: Array, losses: Array) -> Array:
    r"""Frequencies ``q_k``: expected coefficient of client k in the aggregate, given the losses.

    For plain means of m models, q is the expected number of copies of each client divided by m.

    Parameters
    ----------
    strategy
        State-independent, or with known inclusion probabilities.
    weights, losses
        p and the losses F_k(w), shape (K,).

    Returns
    -------
    Array
        q, shape (K,), of sum 1.

    Raises
    ------
    TypeError
        If the strategy's law is not known.

    Examples
    --------
    The largest of two losses is always selected when both clients are candidates.

    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> selection_frequencies(PowerOfChoice(1, 2), np.array([0.5, 0.5]), np.array([1.0, 3.0]))
    array([0., 1.])
    """
    if isinstance(strategy, StateIndependent):
        return strategy.coefficient_moments(weights).mean
    if isinstance(strategy, RanksByLoss):
        copies = strategy.inclusion_probabilities(weights, losses)
        frequencies: Array = copies / np.sum(copies)
        return frequencies
    message = f"strategy must have a known selection law (inclusion_probabilities), got {strategy!r}"
    raise TypeError(message)
