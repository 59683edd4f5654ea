"""Residuals of the axioms of Shapley values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.valuation.games import Utility, utility_table

__all__ = ["efficiency", "null_player", "symmetry"]

Values = npt.NDArray[Any]


def efficiency(utility: Utility | npt.ArrayLike | Sequence[Any], values: npt.ArrayLike) -> Any:
    """Return the deviation from efficiency, ``sum_k v_k - (U(all players) - U(empty coalition))``; exact for rationals.

    The game is a function of coalitions, or its table in bit order, shape (2^n,); values have the shape (n,).

    >>> efficiency([0, 5, 3, 10], [6, 3])
    Fraction(-1, 1)
    """
    handed_out, table = _game(utility, values)
    return sum(handed_out) - (table[-1] - table[0])


def symmetry(utility: Utility | npt.ArrayLike | Sequence[Any], values: npt.ArrayLike) -> Values:
    """Differences ``v_i - v_j`` over the pairs i < j of players with equal contributions to every coalition.

    They are 0 if the axiom holds. The arguments are those of ``efficiency``.

    >>> symmetry(lambda players: len(players) ** 2, [2, 2, 5])
    array([Fraction(0, 1), Fraction(-3, 1), Fraction(-3, 1)], dtype=object)
    """
    handed_out, table = _game(utility, values)
    numbers = np.arange(table.size)
    pairs = []
    for i, j in combinations(range(handed_out.size), 2):
        without = numbers[(numbers >> i & 1 == 0) & (numbers >> j & 1 == 0)]
        if (table[without | 1 << i] == table[without | 1 << j]).all():
            pairs.append(handed_out[i] - handed_out[j])
    return np.array(pairs, dtype=handed_out.dtype)


def null_player(utility: Utility | npt.ArrayLike | Sequence[Any], values: npt.ArrayLike) -> Values:
    """Values of the players with contribution zero to every coalition; they are 0 if the axiom holds.

    The arguments are those of ``efficiency``.

    >>> null_player(lambda players: int(0 in players), [1, 2])
    array([Fraction(2, 1)], dtype=object)
    """
    handed_out, table = _game(utility, values)
    numbers = np.arange(table.size)
    idle = []
    for k in range(handed_out.size):
        without = numbers[numbers >> k & 1 == 0]
        if (table[without | 1 << k] == table[without]).all():
            idle.append(handed_out[k])
    return np.array(idle, dtype=handed_out.dtype)


def _game(utility: Utility | npt.ArrayLike | Sequence[Any], values: npt.ArrayLike) -> tuple[Values, Values]:
    handed_out = validate.unmasked("values", values)
    if handed_out.ndim != 1:
        message = f"values must have shape (n,), got {handed_out.shape}"
        raise ValueError(message)
    validate.entries("values", values)
    table = utility_table(utility, handed_out.size)
    return (handed_out + 0 * table[0] if table.dtype == object else handed_out.astype(np.float64)), table
