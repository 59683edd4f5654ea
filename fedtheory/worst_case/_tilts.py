"""Functions that may be tilted, ``f_p + tau_p <a, .>``, and operators, by a vector orthogonal to everything else.

That changes no product but ``<a, a>``, provided that the steps of the method cancel the tilts (a step along the
gradient of a sum of which the tilts sum to 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import count

from fedtheory.arithmetic.matrices import kernel
from fedtheory.worst_case._actors import Function, Linear, Operator
from fedtheory.worst_case._classes import Point
from fedtheory.worst_case._gram import Form, Vector
from fedtheory.worst_case._null_squares import Direction

__all__ = ["tilts"]

_ZERO = Vector({})


def tilts(functions: Sequence[Function | Operator], asked: Iterable[Form]) -> list[Direction]:
    """Return independent shifts of vectors that no form that is asked for notices, and classes by products only.

    All points of a function are shifted alike, as only differences of points count in a class, and so are its
    gradients, but for those of a class that compares gradients with points only.
    """
    asked_vectors = [vector for form in asked for pair in form.products for vector in pair]
    known = [vector for one in functions for point in _points(one) for vector in (point.at, point.gradient)]
    places = sorted({place for vector in (*known, *asked_vectors) for place in vector.coordinates if not place[0]})
    # Columns: shifts of the points and of the gradients of each function, and then those of the basis vectors.
    columns: list[dict[int, Fraction]] = [{} for _ in range(2 * len(functions) + len(places))]
    numbers = {place: number for number, place in enumerate(places, start=2 * len(functions))}
    rows = count()

    def demand(vector: Vector, number: int | None = None) -> None:
        """Let a vector be shifted as the others that share a number, or not at all."""
        row = next(rows)
        for place, c in vector.coordinates.items():
            if place in numbers:
                columns[numbers[place]][row] = c
        if number is not None:
            columns[number][row] = Fraction(-1)

    # All points may be translated, which no form sees: the first one stays.
    for vector in (*known[:1], *asked_vectors):
        demand(vector)
    for number, one in enumerate(functions):
        at, slope = 2 * number, 2 * number + 1
        for point in _points(one):
            demand(point.at, at)
        apart = isinstance(one, Function) and one.tilts and one.of.compares_no_gradients
        for point in _points(one) if not apart else ():
            demand(point.gradient, slope)
        if apart or not one.tilts:
            demand(_ZERO, slope)
        if isinstance(one, Linear) or one.blocks != (0,):
            demand(_ZERO, at)
    # The last place is one that only this direction shifts, which is left out first.
    backwards = places[::-1]
    found = ({place: tau[numbers[place]] for place in backwards if numbers[place] in tau} for tau in kernel(columns))
    return [tilt for tilt in found if tilt]


def _points(one: Function | Operator) -> list[Point]:
    """Return all points, those of an adjoint included."""
    return [*one.points, *one.adjoint.points] if isinstance(one, Linear) else one.points
