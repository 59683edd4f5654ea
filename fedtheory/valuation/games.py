"""Cooperative games and their exact Shapley values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import comb
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate

__all__ = ["Game", "shapley"]

Utility = Callable[[frozenset[int]], Any]
"""Function that returns the utility of a coalition, a set of players."""

MOST_PLAYERS = 20


@final
class Game:
    """A cooperative game: a utility function that is evaluated once per coalition and validated.

    >>> asked = []
    >>> game = Game(lambda players: asked.append(sorted(players)) or len(players))
    >>> game({0, 2}), game([2, 0]), game.num_evaluations, asked
    (2, 2, 1, [[0, 2]])
    """

    def __init__(self, utility: Any) -> None:
        self._utility = validate.function("utility", utility, "a coalition")
        self._known: dict[frozenset[int], Any] = {}

    def __call__(self, players: Iterable[int]) -> Any:
        """Return the utility of a coalition."""
        coalition = frozenset(players)
        if coalition not in self._known:
            self._known[coalition] = _number(self._utility(coalition), coalition)
        return self._known[coalition]

    @property
    def num_evaluations(self) -> int:
        """Number of evaluated coalitions so far."""
        return len(self._known)


def _number(value: Any, coalition: frozenset[int]) -> Any:
    number = value.item() if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 else value
    if isinstance(number, bool) or not isinstance(number, int | float | Fraction):
        message = f"utility must return one real number, got {_kind(value)} for the coalition {sorted(coalition)}"
        raise TypeError(message)
    if isinstance(number, float) and not np.isfinite(number):
        message = f"utility must be finite, got {number} for the coalition {sorted(coalition)}"
        raise ValueError(message)
    return number


def _kind(value: Any) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def utility_table(utility: Utility | npt.ArrayLike | Sequence[Any], num_players: int) -> npt.NDArray[Any]:
    """Return the utilities of all coalitions A in bit order, ``sum of 2^k over k in A``; shape ``(2^n,)``."""
    n = check_num_players(num_players)
    if callable(utility):
        game = Game(utility)
        utilities = [game(_members(number)) for number in range(1 << n)]
    else:
        given = validate.unmasked("utility", utility)
        if given.shape != (1 << n,):
            message = f"utility must have shape ({1 << n},) for {n} players, got {given.shape}"
            raise ValueError(message)
        if given.dtype.kind == "f" and np.isfinite(given).all():
            return given.astype(np.float64)
        utilities = [_number(value, _members(number)) for number, value in enumerate(given)]
    if all(isinstance(value, int | Fraction) for value in utilities):
        return np.array([Fraction(value) for value in utilities], dtype=object)
    return np.array(utilities, dtype=np.float64)


def check_num_players(num_players: int) -> int:
    """Return a number of players that allows all coalitions; the error for larger numbers names estimators."""
    n = validate.count("num_players", num_players)
    if n > MOST_PLAYERS:
        message = (
            f"num_players must be at most {MOST_PLAYERS} for exact values (2^n coalitions), got {n}; "
            "gtg_shapley estimates them"
        )
        raise ValueError(message)
    return n


def _members(number: int) -> frozenset[int]:
    return frozenset(k for k in range(number.bit_length()) if number >> k & 1)


def shapley(utility: Utility | npt.ArrayLike | Sequence[Any], num_players: int) -> npt.NDArray[Any]:
    r"""Shapley value of every player, ``1/n sum_A (U(A + k) - U(A)) / binom(n - 1, |A|)`` over the A without k.

    It is the mean contribution of player k if players arrive in random order (Shapley 1953; GreedyFed, Section III).
    The values, shape (n,), are floats, or Fractions if every utility is an ``int`` or a ``Fraction``.

    Parameters
    ----------
    utility
        Utility U: a function of a coalition (a frozenset of player numbers), which is called once for each of the 2^n
        coalitions, or a table of all 2^n utilities in bit order, as returned by ``utility_table``.
    num_players
        Number of players n, at most 20.

    Examples
    --------
    Glove game: player 0 owns a left glove, players 1 and 2 own right gloves, and a pair is worth 1. In 4 of 6 orders
    player 0 completes the first pair.

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
