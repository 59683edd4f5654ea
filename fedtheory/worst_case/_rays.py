"""Rays of points along which an objective grows without limit, for problems without such a direction of Gram matrices.

Without a bound on the distance from a minimizer, ``f(x) - f*`` may grow although the gradient is bounded. It grows
linearly with the distance, whereas Gram matrices grow quadratically. Let every vector be ``v(t) = v_0 + t v_1`` for t
>= 0, and every function value ``f_0 + t f_1``. A form is then a polynomial in t. If each of its coefficients fulfills a
constraint, the constraint holds for all t. The products of all v_0 and v_1 form one Gram matrix, so the program has
twice the size.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from fedtheory.arithmetic.matrices import is_semidefinite, kernel
from fedtheory.errors import OracleError
from fedtheory.worst_case._certificates import FeasiblePoint, verify_lower
from fedtheory.worst_case._record import Constraint
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Basis, Form, Value, Vector

__all__: list[str] = []

Motion = dict[Basis, dict[int, Fraction]]
"""Velocity of a basis vector along each additional vector of its block."""


class Ray(NamedTuple):
    """The velocities of all vectors, and the Gram matrices of their initial values and velocities."""

    motion: Motion
    point: FeasiblePoint

    def speed2(self, vector: Vector, sizes: tuple[int, ...]) -> Fraction:
        """Return the squared velocity of a vector; ``sizes`` are the program's."""
        return self.point.square(_moved(vector, self.motion, sizes))


def verify_ray(program: Program, ray: Ray) -> Fraction:
    """Return the growth of the objective along a ray on which all constraints hold."""
    growth = verify_lower(doubled(program, ray.motion), ray.point)
    if growth <= 0:
        message = f"the objective must grow along the ray, got {float(growth)}"
        raise OracleError(message)
    return growth


def free_motion(program: Program, movable: Collection[Basis]) -> Motion:
    """Remove the velocities whose squares a constraint bounds."""
    directions: dict[int, list[dict[Basis, Fraction]]] = {}
    for place in movable:
        directions.setdefault(place[0], []).append({place: Fraction(1)})
    equalities = len(program.equalities)
    changed = True
    while changed:
        changed = False
        for block, number in product(directions, range(1, len(program.forms))):
            own = directions[block]
            matrix = _second_order(program, number, block, own)
            opposite = [[-entry for entry in row] for row in matrix]
            bounded = is_semidefinite(matrix) or (number <= equalities and is_semidefinite(opposite))
            if bounded and any(map(any, matrix)):
                columns = [{i: row[j] for i, row in enumerate(matrix) if row[j]} for j in range(len(own))]
                directions[block] = [_combined(own, shares) for shares in kernel(columns)]
                changed = True
    motion: Motion = {}
    for own in directions.values():
        for number, direction in enumerate(own):
            for place, c in direction.items():
                motion.setdefault(place, {})[number] = c
    return motion


def _second_order(program: Program, number: int, block: int, own: list[dict[Basis, Fraction]]) -> list[list[Fraction]]:
    """Return the matrix of a form on the given directions of a block."""
    rows = program.rows.blocks[block]
    entries: dict[tuple[int, int], Fraction] = {}
    for form, i, j, whole in zip(rows.forms, rows.rows, rows.columns, rows.wholes, strict=True):
        if form == number:
            for pair in {(int(i), int(j)), (int(j), int(i))}:
                entries[pair] = Fraction(int(whole), program.rows.denominator) / (1 if i == j else 2)
    return [
        [
            sum((c * u.get((block, i), 0) * v.get((block, j), 0) for (i, j), c in entries.items()), Fraction(0))
            for v in own
        ]
        for u in own
    ]


def _combined(own: list[dict[Basis, Fraction]], shares: dict[int, Fraction]) -> dict[Basis, Fraction]:
    found: dict[Basis, Fraction] = {}
    for number, share in shares.items():
        for place, c in own[number].items():
            found[place] = found.get(place, Fraction(0)) + share * c
    return {place: c for place, c in found.items() if c}


def _moved(vector: Vector, motion: Motion, sizes: tuple[int, ...]) -> Vector:
    """Return the velocity of a vector."""
    found: dict[Basis, Fraction] = {}
    for (block, row), c in vector.coordinates.items():
        for number, share in motion.get((block, row), {}).items():
            place = (block, sizes[block] + number)
            found[place] = found.get(place, Fraction(0)) + c * share
    return Vector(found, vector.owner)


def doubled(program: Program, motion: Motion) -> Program:
    """Return the program whose points are rays of another program; its objective, the growth, is at most 1."""
    more = [0] * len(program.sizes)
    for (block, _), shares in motion.items():
        more[block] = max(more[block], *(number + 1 for number in shares))
    sizes = tuple(size + other for size, other in zip(program.sizes, more, strict=True))
    slopes = _tied({value: Value() for value in program.values}, program, motion)
    growth, square = (_of_order(program, program.objective, motion, slopes, order) for order in (1, 2))
    inequalities = [Constraint(growth, Fraction(1)), Constraint(-1 * square)]
    inequalities += [other for one in program.inequalities for other in _demanded(program, one, motion, slopes)]
    equalities = [other for one in program.equalities for other in _demanded(program, one, motion, slopes)]
    stated, tied = (tuple(one for one in side if _expanded(one.form)) for side in (inequalities, equalities))
    return Program(sizes, growth, stated, tied, program.zeros)


def _demanded(program: Program, one: Constraint, motion: Motion, slopes: Mapping[Value, Value]) -> list[Constraint]:
    """Return the constraints on the coefficients of first and second order."""
    later = (_of_order(program, one.form, motion, slopes, order) for order in (1, 2))
    return [one, *(Constraint(form, label=one.label, is_equality=one.is_equality) for form in later)]


def _of_order(program: Program, form: Form, motion: Motion, slopes: Mapping[Value, Value], order: int) -> Form:
    """Return the coefficient of a power of t in a form."""
    vectors = {vector for pair in form.products for vector in pair}
    moved = {vector: _moved(vector, motion, program.sizes) for vector in vectors}
    if order == 2:
        return Form.total(((moved[u], moved[v]), c) for (u, v), c in form.products.items())
    crossed = [(pair, c) for (u, v), c in form.products.items() for pair in ((u, moved[v]), (moved[u], v))]
    return Form.total(crossed, [(slopes[f], c) for f, c in form.values.items() if f in slopes])


def _tied(slopes: dict[Value, Value], program: Program, motion: Motion) -> dict[Value, Value]:
    """Demand that two slopes of function values are equal if each is at most the other."""
    known = set[frozenset[tuple[Any, Fraction]]]()
    for one in program.inequalities:
        terms = _expanded(_of_order(program, one.form, motion, slopes, 1))
        opposite = frozenset((key, -c) for key, c in terms)
        if opposite in known and len(terms) == 2 and {c for _, c in terms} == {1, -1}:
            one_slope, other = (key for key, _ in terms)
            if isinstance(one_slope, Value) and isinstance(other, Value):
                slopes = {f: one_slope if slope is other else slope for f, slope in slopes.items()}
        known.add(terms)
    return slopes


def near(program: Program, size: Fraction) -> Program:
    """Return a program whose vectors have a sum of squared lengths of at most ``size``."""
    places = [(block, row) for block, rows in enumerate(program.sizes) for row in range(rows)]
    basis = [Vector({place: Fraction(1)}) for place in places]
    total = Form({(vector, vector): Fraction(1) for vector in basis})
    return replace(program, inequalities=(*program.inequalities, Constraint(total, size)), free=())


def _expanded(form: Form) -> frozenset[tuple[Any, Fraction]]:
    """Return the coefficients of a form with respect to products of basis vectors and function values."""
    found: dict[Any, Fraction] = {}
    for (u, v), c in form.products.items():
        for one, a in u.coordinates.items():
            for other, b in v.coordinates.items():
                if one[0] == other[0]:
                    key = (min(one, other), max(one, other))
                    found[key] = found.get(key, Fraction(0)) + c * a * b
    for value, c in form.values.items():
        found[value] = found.get(value, Fraction(0)) + c
    return frozenset((key, c) for key, c in found.items() if c)
