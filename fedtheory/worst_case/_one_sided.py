"""Numbers that occur with one sign only, in inequalities: as they may be as low as one likes, these say nothing.

That is so for the products of a subgradient with points, where nothing but its own inequalities knows it: where only
the value of a convex function is asked for, for example. The multipliers must be 0 then, which rounding cannot meet.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fedtheory.worst_case._certificates import FeasiblePoint, forms_at
from fedtheory.worst_case._gram import Constraint, Form, Program, Value

__all__ = ["Void", "completed", "without_void"]


class Void(NamedTuple):
    """A number, and the inequalities that hold where it is low (sign 1) or high (sign -1) enough."""

    number: Value
    sign: int
    inequalities: tuple[Constraint, ...]


def without_void(program: Program) -> tuple[Program, list[Void]]:
    """Leave out inequalities that some number can always fulfill, until there are none."""
    found: list[Void] = []
    whole = program
    while (void := _void(program)) is not None:
        found.append(void)
        gone = {id(one) for one in void.inequalities}
        kept = tuple(one for one in program.inequalities if id(one) not in gone)
        program = replace(program, inequalities=kept)
    left = {number for one in (*program.inequalities, *program.equalities) for number in one.form.values}
    bounded = all(number in left for number, c in program.objective.values.items() if c and number not in program.zeros)
    return (program, found) if bounded else (whole, [])


def _void(program: Program) -> Void | None:
    """Return a number that occurs with one sign only."""
    places: dict[Value, list[Constraint]] = {}
    for one in program.inequalities:
        for number, c in one.form.values.items():
            if c and number not in program.zeros:
                places.setdefault(number, []).append(one)
    fixed = {*program.objective.values} | {number for one in program.equalities for number in one.form.values}
    for number, constraints in places.items():
        signs = {1 if one.form.values[number] > 0 else -1 for one in constraints}
        if number not in fixed and len(signs) == 1:
            return Void(number, signs.pop(), tuple(constraints))
    return None


def completed(program: Program, smaller: Program, voids: list[Void], point: FeasiblePoint) -> FeasiblePoint:
    """Return the point of a program that one without the void inequalities is."""
    numbers = dict(zip(smaller.values, point.values, strict=True))
    for void in reversed(voids):
        asked = Program(program.sizes, Form({}), void.inequalities, zeros=program.zeros | {void.number})
        levels = tuple(numbers.get(value, Fraction(0)) for value in asked.values)
        taken = forms_at(asked, FeasiblePoint(point.grams, levels))[1:]
        limits = [
            (one.bound - form) / one.form.values[void.number]
            for one, form in zip(void.inequalities, taken, strict=True)
        ]
        numbers[void.number] = min(limits) if void.sign > 0 else max(limits)
    return FeasiblePoint(point.grams, tuple(numbers.get(value, Fraction(0)) for value in program.values))
