"""Shifts of a problem's functions by ``tau_p <a, .>`` that change no form, with ``a`` orthogonal to all vectors.

Such a shift changes no product except ``<a, a>`` if the steps of the method cancel it. An example is a step along the
gradient of a sum of functions whose shifts sum to 0. Points may be shifted as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import count

from fedtheory.arithmetic.matrices import kernel
from fedtheory.worst_case._record import Declared
from fedtheory.worst_case._vectors import Basis, Form, Vector

Direction = dict[Basis, Fraction]
"""Shift of each basis vector along ``a``."""


def invariances(declared: Sequence[Declared], asked: Iterable[Form]) -> list[Direction]:
    """Return a basis of the shifts of vectors that change no given form and no condition except by squares of ``a``.

    All points of a function are shifted by the same vector, since the conditions depend on differences of points. The
    same holds for its gradients, unless the conditions contain gradients only in products with points. Clients have
    shifts of their means, and shifts of their differences from the mean.
    """
    asked_vectors = [vector for form in asked for pair in form.pairs for vector in pair]
    blocks = sorted({block for one in declared for block in one.blocks})
    return [shift for block in blocks for shift in _within(block, declared, asked_vectors)]


def _within(block: int, declared: Sequence[Declared], asked_vectors: Sequence[Vector]) -> list[Direction]:
    """Return the shifts of the vectors of a block."""
    known = [vector for one in declared for call in one.calls for vector in (call.at, call.gradient)]
    places = sorted({place for vector in (*known, *asked_vectors) for place in vector.coordinates if place[0] == block})
    # Columns: shifts of the points and of the gradients of each function, and then those of the basis vectors.
    columns: list[dict[int, Fraction]] = [{} for _ in range(2 * len(declared) + len(places))]
    numbers = {place: number for number, place in enumerate(places, start=2 * len(declared))}
    rows = count()

    def demand(vector: Vector, number: int | None = None) -> None:
        """Demand that a vector is shifted by the shift with this number, or is not shifted."""
        row = next(rows)
        for place, c in vector.coordinates.items():
            if place in numbers:
                columns[numbers[place]][row] = c
        if number is not None:
            columns[number][row] = Fraction(-1)

    # All points may be translated, so the first one is fixed.
    for vector in (*known[:1], *asked_vectors):
        demand(vector)
    for number, one in enumerate(declared):
        at, slope = 2 * number, 2 * number + 1
        for call in one.calls:
            demand(call.at, at)
        # Conditions on the minimizer of a function that is not convex contain its gradients.
        shifts = "none" if block not in one.blocks or (one.minimum is not None and one.of.mu < 0) else one.of.shifts
        for call in one.calls if shifts != "each" else ():
            demand(call.gradient, slope)
        if shifts != "one":
            demand(Vector({}), slope)
        if block not in one.blocks:
            demand(Vector({}), at)
    # The last place is shifted by this direction only, so it is listed first, to be dropped.
    backwards = places[::-1]
    found = ({place: tau[numbers[place]] for place in backwards if numbers[place] in tau} for tau in kernel(columns))
    return [shift for shift in found if shift]
