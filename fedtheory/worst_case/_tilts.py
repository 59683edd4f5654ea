"""Functions that may be tilted, ``f_p + tau_p <a, .>``, and operators, by a vector orthogonal to everything else.

That changes no product but ``<a, a>``, provided that the steps of the method cancel the tilts (a step along the
gradient of a sum of which the tilts sum to 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from fedtheory.worst_case._actors import Function, Linear, Operator
from fedtheory.worst_case._function_classes import Point
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
    first = 2 * len(functions)
    columns = {place: number for number, place in enumerate(places, start=first)}
    size = first + len(places)

    def row(vector: Vector, number: int | None = None) -> list[Fraction]:
        """Say that a vector is shifted as the others that share a number, or not at all."""
        found = [Fraction(0)] * size
        for place, c in vector.coordinates.items():
            if place in columns:
                found[columns[place]] = c
        if number is not None:
            found[number] = Fraction(-1)
        return found

    # All points may be translated, which no form sees: the first one stays.
    rows = [row(vector) for vector in (*known[:1], *asked_vectors)]
    for number, one in enumerate(functions):
        at, slope = 2 * number, 2 * number + 1
        rows += [row(point.at, at) for point in _points(one)]
        apart = isinstance(one, Function) and one.tilts and one.of.compares_no_gradients
        if not apart:
            rows += [row(point.gradient, slope) for point in _points(one)]
        if apart or not one.tilts:
            rows.append(row(_ZERO, slope))
        if isinstance(one, Linear) or one.blocks != (0,):
            rows.append(row(_ZERO, at))
    # The last place is one that only this direction shifts, which is left out first.
    backwards = places[::-1]
    found = ({place: tau[columns[place]] for place in backwards if tau[columns[place]]} for tau in _kernel(rows, size))
    return [tilt for tilt in found if tilt]


def _points(one: Function | Operator) -> list[Point]:
    """Return all points, those of an adjoint included."""
    return [*one.points, *one.adjoint.points] if isinstance(one, Linear) else one.points


def _kernel(rows: Iterable[Sequence[Fraction]], size: int) -> list[list[Fraction]]:
    """Return a basis of what all rows make 0, by Gauss and Jordan's elimination."""
    reduced: dict[int, list[Fraction]] = {}
    for given in rows:
        row = list(given)
        for pivot, known in reduced.items():
            if row[pivot]:
                row = [c - row[pivot] * k for c, k in zip(row, known, strict=True)]
        new = next((place for place, c in enumerate(row) if c), None)
        if new is None:
            continue
        row = [c / row[new] if c else c for c in row]
        for pivot, known in reduced.items():
            if known[new]:
                reduced[pivot] = [k - known[new] * c for k, c in zip(known, row, strict=True)]
        reduced[new] = row
    free = [place for place in range(size) if place not in reduced]
    kernel = []
    for one in free:
        vector = [Fraction(int(place == one)) for place in range(size)]
        for pivot, row in reduced.items():
            vector[pivot] = -row[one]
        kernel.append(vector)
    return kernel
