"""Hypothesis strategies for random sets of clients."""

# mypy: warn_return_any = false
# (Hypothesis is loaded when used, and what is then called has no types here)

from typing import TYPE_CHECKING

import numpy as np

from fedtheory._support import validate
from fedtheory.sampling.correlated import ExactlyOne, IndependentSampling, JointLaw, NiceSampling, Sampling
from fedtheory.statistics.law import Law
from fedtheory.testing._hypothesis import strategies
from fedtheory.testing.numbers import laws, weights
from fedtheory.valuation.games import MOST_PLAYERS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["samplings"]


def samplings(max_clients: int = 5) -> "SearchStrategy[Sampling]":
    """Draw samplings of 2 to ``max_clients`` clients: independent, m-nice, exactly one, and any law on subsets.

    Parameters
    ----------
    max_clients
        Largest n.

    Returns
    -------
    SearchStrategy
        Of probabilities or samplings, as ``sampling.estimator_variance`` takes their matrices.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(samplings(), lambda drawn: True)
    NiceSampling(num_clients=2, num_selected=1)
    """
    validate.count("max_clients", max_clients, 2, MOST_PLAYERS)  # a joint law has 2^n outcomes
    st = strategies()
    probabilities = st.lists(st.floats(0, 1), min_size=2, max_size=max_clients).map(np.array)
    nice = st.integers(2, max_clients).flatmap(lambda n: st.integers(1, n).map(lambda m: NiceSampling(n, m)))
    one = weights(max_clients=max_clients).map(lambda shares: ExactlyOne(np.array(shares, dtype=np.float64)))
    joint = laws(outcomes=1 << max_clients).map(lambda law: _joint(law, max_clients))
    return st.one_of(probabilities.map(IndependentSampling), nice, one, joint)


def _joint(law: Law[int], num_clients: int) -> JointLaw:
    """Read the binary digits of an outcome as who is drawn."""
    return JointLaw.of(law.map(lambda number: tuple(k for k in range(num_clients) if number >> k & 1)), num_clients)
