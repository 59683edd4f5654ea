"""Recession directions of function values, along which constraints become arbitrarily slack.

Let d be a change of the function values, and of other free numbers, that changes neither the objective nor an equality
and increases the left-hand side of no inequality. Along d, every inequality with ``a_i d < 0`` becomes arbitrarily
slack, so its multiplier is 0 in every proof of an upper bound. The set of multipliers then has no interior, and an
interior-point method does not converge. The value does not change if these inequalities are removed: a point that
fulfills the others fulfills them, too, after a move along d. This is a facial reduction (Borwein and Wolkowicz 1981) in
the numbers that are no inner products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.arithmetic.matrices import kernel
from fedtheory.worst_case._certificates import FeasiblePoint, forms_at
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Value

# A row counts as slack if a direction lowers it by more than this; the linear program limits the decrease to 1.
_SLACK = 0.5
# Moves are rounded up to multiples of this.
_UNIT = Fraction(1, 2**20)


class Recession(NamedTuple):
    """A program, a direction of its function values, and the numbers of the inequalities that become slack along it."""

    program: Program
    direction: dict[Value, Fraction]
    slack: frozenset[int]

    def fall(self, number: int) -> Fraction:
        """Return the decrease of the form of an inequality along the direction."""
        values = self.program.inequalities[number].form.values
        return -sum((c * self.direction.get(f, 0) for f, c in values.items()), Fraction(0))


def without_slack(program: Program) -> tuple[Program, tuple[int, ...], list[Recession]]:
    """Remove the inequalities that become slack along recession directions; return the numbers of the others, too.

    In ``f <= |x|^2 <= 1`` and ``f <= g``, nothing bounds g, so the last inequality becomes slack.
    """
    found: list[Recession] = []
    kept = tuple(range(len(program.inequalities)))
    while (one := _recession(program)) is not None:
        found.append(one)
        left = [place for place in range(len(program.inequalities)) if place not in one.slack]
        kept = tuple(kept[place] for place in left)
        program = replace(program, inequalities=tuple(program.inequalities[place] for place in left))
    return program, kept, found


def _recession(program: Program) -> Recession | None:
    """Return the direction along which the most inequalities become slack, or None."""
    from scipy.optimize import linprog

    num_forms, num_values, first = len(program.forms), len(program.values), 1 + len(program.equalities)
    rows = np.zeros((num_forms, num_values))
    for row, place, c in program.levels:
        rows[row, place] += float(c)
    sizes = np.abs(rows).max(axis=1, initial=0.0)
    rows /= np.where(sizes, sizes, 1.0)[:, None]
    loose = np.flatnonzero(sizes[first:])
    if not loose.size:
        return None
    tight, falling = rows[:first], rows[first + loose]
    none = np.zeros((len(tight), len(loose)))
    solved = linprog(
        np.concatenate([np.zeros(num_values), -np.ones(len(loose))]),
        A_ub=np.hstack([falling, np.eye(len(loose))]),
        b_ub=np.zeros(len(loose)),
        A_eq=np.hstack([tight, none]),
        b_eq=np.zeros(len(tight)),
        bounds=[(None, None)] * num_values + [(0.0, 1.0)] * len(loose),
    )
    if solved.x is None:
        return None
    slack = frozenset(loose[solved.x[num_values:] > _SLACK].tolist())
    return _exact_recession(program, solved.x[:num_values].tolist(), slack) if slack else None


def _exact_recession(program: Program, near: Sequence[float], slack: frozenset[int]) -> Recession | None:
    """Return a rational recession direction near one in doubles, or None."""
    first = 1 + len(program.equalities)
    # All other rows are unchanged: the direction is in the kernel of their columns.
    columns = [{row: c for row, c in one.items() if row - first not in slack} for one in program.value_columns]
    direction = [Fraction(0)] * len(near)
    for combination in kernel(columns):
        share = Fraction(near[next(iter(combination))])
        for place, c in combination.items():
            direction[place] += share * c
    found = Recession(program, {f: direction[place] for f, place in program.values.items() if direction[place]}, slack)
    return found if all(found.fall(number) > 0 for number in slack) else None


def moved_inside(reduced: Program, found: Sequence[Recession], point: FeasiblePoint) -> FeasiblePoint:
    """Return a point of the whole program: the point of the reduced program, moved along the recession directions."""
    numbers = dict(zip(reduced.values, point.values, strict=True))
    for one in reversed(found):
        program = one.program
        here = FeasiblePoint(point.grams, tuple(numbers.get(f, Fraction(0)) for f in program.values))
        reached, first = forms_at(program, here), 1 + len(program.equalities)
        excess = {number: reached[first + number] - program.inequalities[number].bound for number in one.slack}
        step = max(Fraction(0), *(over / one.fall(number) for number, over in excess.items()))
        step = math.ceil(step / _UNIT) * _UNIT
        numbers = {f: numbers.get(f, Fraction(0)) + step * one.direction.get(f, 0) for f in program.values}
        point = FeasiblePoint(point.grams, tuple(numbers.values()))
    return point
