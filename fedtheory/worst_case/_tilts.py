"""Functions that may be tilted, ``f_p + tau_p <a, .>``, and operators, by a vector orthogonal to everything else.

That changes no product but ``<a, a>``, provided that the steps of the method cancel the tilts (a step along the
gradient of a sum of which the tilts sum to 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from fedtheory.worst_case._actors import Function, Linear, Operator
from fedtheory.worst_case._null_squares import Direction
from fedtheory.worst_case.function_classes import Point
from fedtheory.worst_case.gram import Form, Vector

__all__ = ["tilts"]


def tilts(functions: Sequence[Function | Operator], asked: Iterable[Form]) -> list[Direction]:
    """Return independent tilts that no point of the method and no form that is asked for notices.

    Gradients of a function are tilted alike, but for those of a class that compares gradients with points only.
    """
    alone = [one for one in functions if isinstance(one, Function) and one.tilts and one.of.compares_no_gradients]
    apart = [place for one in alone for place in sorted(one.slopes)]
    size = len(functions) + len(apart)
    owner = {place: number for number, one in enumerate(functions) for place in one.slopes}
    owner |= {place: number for number, place in enumerate(apart, start=len(functions))}

    def row(vector: Vector, number: int | None = None) -> list[Fraction]:
        """Say that the shift of a vector is the tilt of a function, or none."""
        found = [Fraction(0)] * size
        for place, c in vector.coordinates.items():
            if place in owner:
                found[owner[place]] += c
        if number is not None:
            found[number] -= 1
        return found

    rows = [row(vector) for form in asked for pair in form.products for vector in pair]
    for number, one in enumerate(functions):
        rows += [row(point.at) for point in _points(one)]
        if one not in alone:
            rows += [row(point.gradient, number) for point in _points(one)]
        if one in alone or not one.tilts:
            rows.append([Fraction(int(number == other)) for other in range(size)])
    found = ({place: tau[owner[place]] for place in owner if tau[owner[place]]} for tau in _kernel(rows, size))
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
            row = [c - row[pivot] * k for c, k in zip(row, known, strict=True)]
        new = next((place for place, c in enumerate(row) if c), None)
        if new is None:
            continue
        row = [c / row[new] for c in row]
        for pivot, known in reduced.items():
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
