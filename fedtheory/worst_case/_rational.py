"""Linear algebra in exact rationals, for the small matrices of certificates."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

__all__ = ["rounded", "solve_exactly"]


def rounded(number: float, bits: int) -> Fraction:
    """Nearest multiple of ``2^-bits``: numbers of one denominator keep sums and products short.

    >>> rounded(0.3, 2)
    Fraction(1, 4)
    """
    return Fraction(round(math.ldexp(number, bits)), 1 << bits)


def solve_exactly(columns: Sequence[Mapping[int, Fraction]], target: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Coefficients, by column number, of a combination of columns that equals the target; early columns are preferred.

    Raises
    ------
    ArithmeticError
        If the target is not a combination of the columns.

    Examples
    --------
    >>> one = Fraction(1)
    >>> solve_exactly([{0: one}, {0: 2 * one}, {0: one, 1: one}], {0: 3 * one, 1: one})
    {0: Fraction(2, 1), 2: Fraction(1, 1)}
    """
    reduced: dict[int, tuple[dict[int, Fraction], dict[int, Fraction]]] = {}
    for number, column in enumerate(columns):
        left, recipe = _reduce(dict(column), {number: Fraction(1)}, reduced)
        if left:
            lead = min(left)
            reduced[lead] = _scaled(left, 1 / left[lead]), _scaled(recipe, 1 / left[lead])
    left, recipe = _reduce(dict(target), {}, reduced)
    if left:
        message = f"the target must be a combination of the columns, but entry {min(left)} is left"
        raise ArithmeticError(message)
    return {number: -c for number, c in sorted(recipe.items())}


def _reduce(
    left: dict[int, Fraction],
    recipe: dict[int, Fraction],
    reduced: Mapping[int, tuple[dict[int, Fraction], dict[int, Fraction]]],
) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    for lead in sorted(reduced):
        factor = left.get(lead, Fraction(0))
        if factor:
            column, how = reduced[lead]
            left, recipe = _plus(left, -factor, column), _plus(recipe, -factor, how)
    return left, recipe


def _plus(total: Mapping[int, Fraction], factor: Fraction, more: Mapping[int, Fraction]) -> dict[int, Fraction]:
    found = dict(total)
    for key, c in more.items():
        found[key] = found.get(key, Fraction(0)) + factor * c
    return {key: c for key, c in found.items() if c}


def _scaled(numbers: Mapping[int, Fraction], factor: Fraction) -> dict[int, Fraction]:
    return {key: factor * c for key, c in numbers.items()}
