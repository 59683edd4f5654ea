"""Shapley values from all coalitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory.valuation.games import Utility, utility_table

__all__ = ["shapley"]


def shapley(utility: Utility | npt.ArrayLike | Sequence[Any], num_players: int) -> npt.NDArray[Any]:
    r"""Shapley value of every player, ``1/n sum_A (U(A + k) - U(A)) / binom(n - 1, |A|)`` over the A without k.

    It is what player k adds on average when players arrive in random order (Shapley 1953; GreedyFed, Section III).

    Parameters
    ----------
    utility
        U: a function of a coalition (a frozenset of player numbers), which is asked for each of the 2^n coalitions
        once; or the table of all 2^n utilities in bit order, as ``utility_table`` makes it.
    num_players
        Number of players n, at most 20.

    Returns
    -------
    array
        Shape (n,): floats; Fractions, as objects, when every utility is an ``int`` or a ``Fraction``.

    Raises
    ------
    ValueError
        If there are more than 20 players, if a table has another length than 2^n, or if a utility is not finite.
    TypeError
        If a utility is not a real number.

    Examples
    --------
    Gloves: player 0 owns a left one, players 1 and 2 right ones, and a pair is worth 1. In 4 of 6 orders player 0
    completes the first pair.

    >>> gloves = lambda players: int(0 in players and len(players) > 1)
    >>> print(*shapley(gloves, 3))
    2/3 1/6 1/6
    """
    table = utility_table(utility, num_players)
    numbers = np.arange(table.size)
    sizes = np.array([number.bit_count() for number in numbers.tolist()])
    exact = table.dtype == object
    shares = [Fraction(1, num_players * comb(num_players - 1, size)) for size in range(num_players)]
    weights = np.array(shares, dtype=object if exact else np.float64)
    values = []
    for k in range(num_players):
        without = numbers[numbers >> k & 1 == 0]
        gains = table[without | 1 << k] - table[without]
        values.append(weights[sizes[without]] @ gains)
    return np.array(values, dtype=table.dtype)
