"""Proofs in rationals that a program's value is not larger, or not smaller, than a number.

The upper side is elementary: multipliers ``lambda >= 0`` of the inequalities and ``nu`` of the equalities with
``sum lambda_i form_i + sum nu_j form_j - objective = sum_b <S_b, G_b>`` and every S_b positive semidefinite show that
the objective is at most ``sum lambda_i bound_i + sum nu_j bound_j``. The lower side is a point that fulfills all
constraints.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory._semidefinite import is_semidefinite
from fedtheory.errors import OracleError
from fedtheory.worst_case._exact_tables import Table, coordinates, form_sums, over_common
from fedtheory.worst_case.gram import Program

__all__ = ["FeasiblePoint", "Multipliers", "value_balance", "verify_lower", "verify_upper"]


class Multipliers(NamedTuple):
    """Exact dual variables: of the inequalities, at least 0, and of the equalities."""

    inequalities: tuple[Fraction, ...]
    equalities: tuple[Fraction, ...] = ()


class FeasiblePoint(NamedTuple):
    """Exact factors ``V_b`` of the Gram matrices ``G_b = V_b' V_b``, row by row, and exact function values."""

    factors: tuple[tuple[tuple[Fraction, ...], ...], ...]
    values: tuple[Fraction, ...]


def verify_upper(program: Program, multipliers: Multipliers) -> Fraction:
    """Return the upper bound that multipliers prove, and trust nothing but the program.

    Parameters
    ----------
    program
        To be maximized.
    multipliers
        One for each constraint, in rationals.

    Returns
    -------
    Fraction
        An upper bound of the program's value.

    Raises
    ------
    OracleError
        If they prove nothing: one of the inequalities' is negative, the function values do not cancel, or what remains
        of a block is not positive semidefinite.

    Examples
    --------
    Twice ``|x|^2 <= 3`` shows ``2 |x|^2 <= 6``.

    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> verify_upper(program, Multipliers((Fraction(2),)))
    Fraction(6, 1)
    """
    constraints = (*program.equalities, *program.inequalities)
    factors = (*multipliers.equalities, *multipliers.inequalities)
    if len(factors) != len(constraints) or any(factor < 0 for factor in multipliers.inequalities):
        message = "multipliers must be one per constraint, and at least 0 for an inequality"
        raise OracleError(message)
    weights = (Fraction(-1), *factors)
    if any(value_balance(program, weights)):
        message = "multipliers must make the function values cancel"
        raise OracleError(message)
    middle = _middle(program, weights)
    for block in range(len(program.sizes)):
        sides = coordinates(program, block).wholes
        if not is_semidefinite((sides.T @ (middle @ sides)).tolist()):
            message = f"multipliers must leave a positive semidefinite matrix, got another in block {block}"
            raise OracleError(message)
    return sum((y * c.bound for y, c in zip(factors, constraints, strict=True)), start=Fraction(0))


def value_balance(program: Program, weights: Sequence[Fraction]) -> list[Fraction]:
    """Coefficient of every function value in ``sum weight * form`` over ``program.forms``.

    Parameters
    ----------
    program
        Whose function values must cancel.
    weights
        One for each of its forms.

    Returns
    -------
    list[Fraction]
        Zeros if they cancel.

    Examples
    --------
    Objective f, constraints ``5 f <= 1`` and ``f >= -1``: with weights -1, 2, 7, f has -1 + 2 * 5 - 7.

    >>> from fedtheory.worst_case.gram import Draft, Form, Value
    >>> draft, f = Draft(), Value()
    >>> draft.at_most(5 * f, 1)
    >>> draft.at_most(-1 * f, 1)
    >>> value_balance(draft.maximize(f), [Fraction(-1), Fraction(2), Fraction(7)])
    [Fraction(2, 1)]
    """
    total = [Fraction(0)] * len(program.values)
    for row, place, c in program.levels:
        total[place] += weights[row] * c
    return total


def _middle(program: Program, weights: Sequence[Fraction]) -> Any:
    """Return the symmetric matrix of ``sum weight * form`` between the program's vectors, up to a positive factor."""
    wholes = over_common(weights).wholes
    middle = np.zeros((len(program.vectors), len(program.vectors)), dtype=object)
    coefficients = over_common([c for _, _, c in program.products]).wholes
    for (row, place, _), c in zip(program.products, coefficients, strict=True):
        if wholes[row]:
            middle[place] += wholes[row] * c
    return middle + middle.T


def verify_lower(program: Program, point: FeasiblePoint) -> Fraction:
    """Return the objective at a point, and trust nothing but the program.

    Parameters
    ----------
    program
        To be maximized.
    point
        Gram factors and function values, in rationals.

    Returns
    -------
    Fraction
        A lower bound of the program's value.

    Raises
    ------
    OracleError
        If the point breaks a constraint.

    Examples
    --------
    At ``|x| = 3/2`` the constraint ``|x|^2 <= 3`` holds, and ``2 |x|^2`` is 9/2.

    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> verify_lower(program, FeasiblePoint((((Fraction(3, 2),),),), ()))
    Fraction(9, 2)
    """
    reached = _forms_at(program, point)
    constraints = (*program.equalities, *program.inequalities)
    num_equalities = len(program.equalities)
    broken = [
        number
        for number, (value, constraint) in enumerate(zip(reached[1:], constraints, strict=True))
        if value > constraint.bound or (number < num_equalities and value != constraint.bound)
    ]
    if broken:
        message = f"the point must fulfill all constraints, got {len(broken)} that it breaks"
        raise OracleError(message)
    return reached[0]


def _forms_at(program: Program, point: FeasiblePoint) -> list[Fraction]:
    """Return all forms at a point; blocks are orthogonal to each other."""
    grams = [Fraction(0)] * len(program.forms)
    for block, rows in enumerate(point.factors):
        if rows:
            sides = coordinates(program, block)
            entries = over_common([entry for row in rows for entry in row])
            images = entries.wholes.reshape(len(rows), -1) @ sides.wholes.T
            gram = Table(images.T @ images, (entries.denominator * sides.denominator) ** 2)
            grams = [a + b for a, b in zip(grams, form_sums(program.products, gram, len(grams)), strict=True)]
    if not program.values:
        return grams
    values = form_sums(program.levels, over_common(point.values), len(grams))
    return [a + b for a, b in zip(grams, values, strict=True)]
