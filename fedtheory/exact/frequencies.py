"""Exact selection frequencies of strategies."""

from __future__ import annotations

import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.exact._arguments import frequency_law
from fedtheory.selection.laws import KnowsItsLaw, Ranked

__all__ = ["selection_frequencies"]


def selection_frequencies(strategy: KnowsItsLaw, weights: npt.ArrayLike, losses: npt.ArrayLike) -> Array:
    r"""Frequencies ``q_k``: expected coefficient of client k in the aggregate, given the losses.

    For plain means of m models, q is the expected number of copies of each client divided by m.

    Parameters
    ----------
    strategy
        With a known law of frequencies that are fixed or depend on the order of the losses.
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
    ValueError
        If weights or losses make no sense, or a run with these weights would be refused.

    Examples
    --------
    The largest of two losses is always selected when both clients are candidates.

    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> selection_frequencies(PowerOfChoice(1, 2), [0.5, 0.5], [1.0, 3.0])
    array([0., 1.])
    """
    p = validate.probability_vector("weights", weights)
    values = validate.array("losses", losses, shape=p.shape)
    law = frequency_law(strategy, p)
    return law.frequencies(values) if isinstance(law, Ranked) else law.mean
