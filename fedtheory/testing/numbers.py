"""Hypothesis strategies for numbers: rationals, weights, norms with budgets, finite laws, games."""

# mypy: warn_return_any = false
# (Hypothesis is loaded when used, and what is then called has no types here)

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.statistics.law import Law
from fedtheory.testing._hypothesis import strategies
from fedtheory.valuation.games import MOST_PLAYERS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["games", "laws", "norms", "norms_and_budgets", "rationals", "weights"]


def rationals(
    low: float | Fraction = 0, high: float | Fraction = 10, max_denominator: int = 20
) -> "SearchStrategy[Fraction]":
    """Fractions between two limits, with denominators that stay readable when examples shrink.

    Parameters
    ----------
    low, high
        Limits, both included.
    max_denominator
        Largest denominator.

    Returns
    -------
    SearchStrategy
        Of ``Fraction``.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(rationals(1, 2), lambda number: number.denominator > 1)
    Fraction(3, 2)
    """
    least, most = (validate.one(name, validate.finite(name, limit)) for name, limit in (("low", low), ("high", high)))
    return strategies().fractions(least, most, max_denominator=validate.count("max_denominator", max_denominator))


def weights(min_clients: int = 2, max_clients: int = 5, largest: int = 9) -> "SearchStrategy[tuple[Fraction, ...]]":
    """Objective weights: tuples of positive Fractions of sum 1, with ratios up to ``largest``.

    Parameters
    ----------
    min_clients, max_clients
        Limits of K.
    largest
        Largest ratio of two weights.

    Returns
    -------
    SearchStrategy
        Of tuples of K Fractions.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> sum(find(weights(), lambda drawn: len(drawn) == 3))
    Fraction(1, 1)
    """
    st = strategies()
    fewest, most = validate.size("min_clients", min_clients), validate.size("max_clients", max_clients)
    sizes = st.lists(st.integers(1, validate.count("largest", largest)), min_size=fewest, max_size=most)
    return sizes.map(_shares)


def _shares(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(size, sum(sizes)) for size in sizes)


def norms(max_clients: int = 80, largest: float = 1e6) -> "SearchStrategy[Array]":
    """Norms of updates: arrays of 1 to ``max_clients`` floats in [0, largest], ties and zeros among them.

    Parameters
    ----------
    max_clients
        Largest n.
    largest
        Largest norm.

    Returns
    -------
    SearchStrategy
        Of arrays of shape (n,).

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(norms(), lambda norms: norms.size == 2 and norms.min() > 0).size
    2
    """
    st = strategies()
    numbers = st.floats(0, validate.double("largest", validate.positive("largest", largest)))
    return st.lists(numbers, min_size=1, max_size=validate.size("max_clients", max_clients)).map(np.array)


def norms_and_budgets(
    max_clients: int = 80, largest: float = 1e6, smallest_share: float = 0.01
) -> "SearchStrategy[tuple[Array, float]]":
    """Pairs of norms, shape (n,), and a budget in (0, n], as ``optimal_probabilities`` takes them.

    Parameters
    ----------
    max_clients
        Largest n.
    largest
        Largest norm.
    smallest_share
        Smallest m/n.

    Returns
    -------
    SearchStrategy
        Of pairs of an array and a float.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> norms, budget = find(norms_and_budgets(), lambda drawn: True)
    >>> 0 < budget <= norms.size
    True
    """
    st = strategies()
    shares = st.floats(validate.fraction("smallest_share", smallest_share), 1)
    return st.tuples(norms(max_clients, largest), shares).map(lambda drawn: (drawn[0], drawn[1] * drawn[0].size))


def laws(outcomes: int = 6, largest: int = 9) -> "SearchStrategy[Law[int]]":
    """Finite laws with rational probabilities, on some of the outcomes 0, 1, ..., ``outcomes`` - 1.

    Parameters
    ----------
    outcomes
        How many there may be.
    largest
        Largest ratio of two probabilities.

    Returns
    -------
    SearchStrategy
        Of ``Law``.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(laws(), lambda law: len(law) == 2)
    Law({0: 1/2, 1: 1/2})
    """
    st = strategies()
    odds = st.integers(1, validate.count("largest", largest))
    shares = st.dictionaries(st.integers(0, validate.size("outcomes", outcomes) - 1), odds, min_size=1)
    return shares.map(Law.proportional)


def games(max_players: int = 5, largest: int = 9) -> "SearchStrategy[list[Fraction]]":
    """Games as tables of utilities in bit order: lists of 2^n Fractions for n = 1, ..., ``max_players``.

    Parameters
    ----------
    max_players
        Largest n.
    largest
        Largest absolute utility.

    Returns
    -------
    SearchStrategy
        Of lists of length 2^n.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(games(max_players=2), lambda utilities: utilities[-1] > 2)
    [Fraction(0, 1), Fraction(3, 1)]
    """
    st = strategies()
    most = validate.one("largest", validate.positive("largest", largest))
    utilities = st.fractions(-most, most, max_denominator=7)
    players = st.integers(1, validate.count("max_players", max_players, high=MOST_PLAYERS))
    return players.flatmap(lambda n: st.lists(utilities, min_size=1 << n, max_size=1 << n))
