"""Shifts of a problem's functions that nothing in it can see: by ``tau_p <a, .>``, with ``a`` orthogonal to all else.

Such a shift changes no product but ``<a, a>``, provided that the steps of the method cancel it: a step along the
gradient of a sum, for example, whose parts' shifts sum to 0. Points may be shifted as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import count

from fedtheory.arithmetic.matrices import kernel
from fedtheory.worst_case._interpolation import FunctionClass
from fedtheory.worst_case._record import Declared
from fedtheory.worst_case._vectors import Basis, Form, Vector

__all__: list[str] = []

Direction = dict[Basis, Fraction]
"""By how much each basis vector is shifted along ``a``."""


def invariances(declared: Sequence[Declared], asked: Iterable[Form]) -> list[Direction]:
    """Return independent shifts of vectors that no given form can see, and classes by products only.

    All points of a function are shifted by the same vector, as only differences of points count in a class, and so are
    its gradients, but for those of a class that compares gradients with points only.
    """
    asked_vectors = [vector for form in asked for pair in form.products for vector in pair]
    known = [vector for one in declared for call in one.calls for vector in (call.at, call.gradient)]
    places = sorted({place for vector in (*known, *asked_vectors) for place in vector.coordinates if not place[0]})
    # Columns: shifts of the points and of the gradients of each function, and then those of the basis vectors.
    columns: list[dict[int, Fraction]] = [{} for _ in range(2 * len(declared) + len(places))]
    numbers = {place: number for number, place in enumerate(places, start=2 * len(declared))}
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
    for number, one in enumerate(declared):
        # The adjoint of a linear operator is shifted as the operator is.
        own = next((k for k, other in enumerate(declared) if other.name == one.adjoint_of), number)
        at, slope = 2 * own, 2 * own + 1
        for call in one.calls:
            demand(call.at, at)
        ignored = _may_be_tilted(one) and isinstance(one.of, FunctionClass) and one.of.compares_no_gradients
        for call in one.calls if not ignored else ():
            demand(call.gradient, slope)
        is_linear = one.of.support if isinstance(one.of, FunctionClass) else one.of.linear
        if ignored or is_linear or not _may_be_tilted(one):
            demand(Vector({}), slope)
        if is_linear or one.blocks != (0,):
            demand(Vector({}), at)
    # The last place is one that only this direction shifts, which is left out first.
    backwards = places[::-1]
    found = ({place: tau[numbers[place]] for place in backwards if numbers[place] in tau} for tau in kernel(columns))
    return [shift for shift in found if shift]


def _may_be_tilted(one: Declared) -> bool:
    """Whether a linear function may be added: only differences of gradients count in its class."""
    of = one.of
    if not isinstance(of, FunctionClass):
        return True
    beside = (of.lipschitz, of.quadratic_growth, of.polyak, of.restricted_secant)
    fixed = any(number is not None for number in beside) or (of.mu < 0 and one.minimum is not None)
    return not fixed and one.blocks == (0,)
