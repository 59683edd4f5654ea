"""Directions whose square is in no form, so that their products with other vectors are unconstrained numbers.

If ``<a, a>`` is in no form, the part of ``a`` that is orthogonal to all other vectors may have any length. Then the
products of ``a`` with other vectors are arbitrary numbers, like function values. If ``a`` has a row in the Gram matrix,
the set of multipliers has no interior, because that row of the dual slack matrix must be 0. If the products are free
variables instead, the set of multipliers may have an interior.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from fedtheory.arithmetic.matrices import kernel, solve_exactly
from fedtheory.worst_case._certificates import FeasiblePoint
from fedtheory.worst_case._invariances import Direction
from fedtheory.worst_case._semidefinite import Block, Program
from fedtheory.worst_case._vectors import Basis, Form, Value, Vector

Products = dict[Basis, Value]
"""The free numbers that replace products of basis vectors with ``a``."""
Dropped = Sequence[tuple[Direction, Products]]


def null_squares(program: Program) -> list[Direction]:
    """Return the basis vectors whose squares are in no form of a program, but that are in some product."""
    found = []
    for number, block in enumerate(program.rows.blocks):
        squares = {int(row) for row, column in zip(block.rows, block.columns, strict=True) if row == column}
        others = {int(place) for pair in zip(block.rows, block.columns, strict=True) for place in pair} - squares
        found += [{(number, place): Fraction(1)} for place in sorted(others)]
    return found


def without(program: Program, directions: Iterable[Direction]) -> tuple[Program, Dropped]:
    """Rewrite a program with the products of directions as free numbers; each removes one basis vector."""
    dropped = []
    for direction in directions:
        program, products = _without(program, direction)
        dropped.append((direction, products))
    return program, dropped


def _without(program: Program, direction: Direction) -> tuple[Program, Products]:
    """Rewrite a program for one direction."""
    # Basis vectors are e_j = w_j + tau_j a, with w_j = 0 for one j. This basis vector is replaced by a.
    dropped = next(iter(direction))
    products: Products = {}
    parts: dict[Vector, tuple[Fraction, Vector]] = {}

    def split(vector: Vector) -> tuple[Fraction, Vector]:
        """Return the coefficient of a in a vector, and the rest of the vector."""
        if vector not in parts:
            shift = sum((c * direction.get(place, 0) for place, c in vector.coordinates.items()), start=Fraction(0))
            parts[vector] = shift, Vector({place: c for place, c in vector.coordinates.items() if place != dropped})
        return parts[vector]

    def rewritten(form: Form) -> Form:
        pairs: list[tuple[tuple[Vector, Vector], Fraction]] = []
        values = [*form.values.items()]
        square = Fraction(0)
        for (u, v), c in form.products.items():
            (one, left), (other, right) = split(u), split(v)
            pairs.append(((left, right), c))
            square += c * one * other
            for shift, rest in ((one, right), (other, left)):
                if shift:
                    levels = rest.within([dropped[0]]).coordinates.items()
                    values += [(products.setdefault(place, Value()), c * shift * x) for place, x in levels]
        if square:
            message = "a direction must have its square in no form"
            raise AssertionError(message)
        return Form.total(pairs, values)

    objective, sides = rewritten(program.objective), (program.inequalities, program.equalities)
    inequalities, equalities = (tuple(one._replace(form=rewritten(one.form)) for one in side) for side in sides)
    return replace(program, objective=objective, inequalities=inequalities, equalities=equalities, free=()), products


def lifted(program: Program, reduced: Program, dropped: Dropped, point: FeasiblePoint) -> FeasiblePoint:
    """Return the point of a program from one of the reduced program, with squares of dropped vectors large enough."""
    numbers = dict(zip(reduced.values, point.values, strict=True))
    grams = [[list(row) for row in gram] for gram in point.grams]
    for direction, products in reversed(dropped):
        block, place = next(iter(direction))
        gram = grams[block]
        row = [
            numbers.get(products[block, other], Fraction(0)) if (block, other) in products else Fraction(0)
            for other in range(len(gram))
        ]
        # The vector must be longer than its projection onto the others. Its products with combinations that occur in no
        # form may be changed, for example if points may be translated.
        unseen = _unseen(reduced.rows.blocks[block], len(gram))
        shadow = solve_exactly([*(_sparse(column) for column in gram), *unseen], _sparse(row))
        for place_of_shift, shift in enumerate(unseen, start=len(gram)):
            factor = shadow.get(place_of_shift, Fraction(0))
            row = [x - factor * shift.get(other, Fraction(0)) for other, x in enumerate(row)]
        length = sum((shadow.get(other, Fraction(0)) * x for other, x in enumerate(row)), start=Fraction(1))
        for other, number in enumerate(row):
            gram[other][place] = gram[place][other] = number
        gram[place][place] = length
        for (_, other), c in direction.items():
            if other != place:
                gram[other] = [x + c * y for x, y in zip(gram[other], gram[place], strict=True)]
                for entries in gram:
                    entries[other] += c * entries[place]
        c = direction[block, place]
        gram[place] = [c * x for x in gram[place]]
        for entries in gram:
            entries[place] *= c
    return FeasiblePoint.of(grams, (numbers.get(value, Fraction(0)) for value in program.values))


def _sparse(entries: Sequence[Fraction]) -> dict[int, Fraction]:
    return {place: entry for place, entry in enumerate(entries) if entry}


def _unseen(block: Block, size: int) -> list[dict[int, Fraction]]:
    """Return combinations of basis vectors whose addition to the vectors changes no form of a program."""
    columns: list[dict[int, Fraction]] = [{} for _ in range(size)]
    for form, *places, whole in zip(block.forms, block.rows, block.columns, block.wholes, strict=True):
        for i, j in (places, places[::-1]):
            row = int(form) * size + int(i)
            columns[j][row] = columns[j].get(row, Fraction(0)) + whole
    return kernel([{row: c for row, c in column.items() if c} for column in columns])
