"""Proofs of both sides of a program's value, from approximate solutions of an interior-point method."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import islice
from operator import mul
from typing import final

from numpy.linalg import LinAlgError

from fedtheory._support.progress import announced
from fedtheory.errors import OracleError
from fedtheory.worst_case._certificates import (
    FeasiblePoint,
    Multipliers,
    forms_at,
    verify_direction,
    verify_empty,
    verify_lower,
    verify_upper,
)
from fedtheory.worst_case._coordinates import Coordinates, first_coordinates
from fedtheory.worst_case._free_directions import Products, lifted, null_squares, without
from fedtheory.worst_case._interior_point import Progress, State, beginning, path
from fedtheory.worst_case._invariances import Direction
from fedtheory.worst_case._recession import moved_inside, without_slack
from fedtheory.worst_case._record import Constraint
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Form, Vector

__all__ = ["Proof"]

NARROW = 1e-7
"""Relative width of the enclosure at which the method stops."""

# Directions are rounded to multiples of these powers of 1/2, relative to their largest entry.
_GRIDS = (8, 12, 16, 24, 32)
# Multiples of a direction of growth that are tried as points.
_MULTIPLES = (0, 1, 2**10, 2**20)
# Multipliers below these shares of the largest one may have to be 0.
_NEGLIGIBLE = (1e-9, 1e-7, 1e-5)
# Bounds of squared lengths, as multiples of the largest bound, at which short vectors keep their digits in doubles.
_LONG = (10**2, 10**4, 10**6)
# Share of the value that may be lost for an instance with shorter vectors.
_LOST = Fraction(1, 10**6)
# Whether each path in new coordinates starts from the beginning, or from the end of the previous path.
_AFRESH = (False, True, True)
# After this many states of the first path that should give proofs and do not, new coordinates are used.
_MOST_FAILURES = 3
# After this many states that indicate that there is no solution, without a proof, a path ends.
_MOST_HINTS = 12
# Of this many states of a path, multipliers are tried as a proof that the value is at most 0.
_MOST_OF_ZERO = 10
# Sides below this share of the largest bound are not refined: they are probably 0.
_NOTHING = Fraction(1, 10**50)
# Denominators of simple multipliers, which are tried where no multiplier may be changed.
_SIMPLE = (1, 2, 12, 60, 1000)
# Shares by which points are combined are multiples of one over this number.
_FINE = 2**80


@final
@dataclass(frozen=True)
class Proof:
    """Proofs about the value of a program; a missing proof is None.

    ``point`` and ``multipliers`` prove ``lower`` and ``upper``. The multipliers ``contradiction`` prove that no point
    fulfills the constraints. Along ``direction`` the objective grows without limit from ``point``.
    """

    program: Program
    lower: Fraction | None = None
    point: FeasiblePoint | None = None
    upper: Fraction | None = None
    multipliers: Multipliers | None = None
    contradiction: Multipliers | None = None
    direction: FeasiblePoint | None = None

    @property
    def empty(self) -> bool:
        """Whether no point fulfills the constraints."""
        return self.contradiction is not None

    @property
    def infinite(self) -> bool:
        """Whether the value is infinite."""
        return self.direction is not None

    def grows(self, vector: Vector) -> bool:
        """Whether a vector grows without limit along the direction."""
        return self.direction is not None and self.direction.square(vector) > 0

    @property
    def contradicting(self) -> list[str]:
        """Names of the constants, or labels of the constraints, in the contradiction of an empty class."""
        if self.contradiction is None:
            return []
        factors = (*self.contradiction.equalities, *self.contradiction.inequalities)
        used = [one for y, one in zip(factors, self.program.constraints, strict=True) if y]
        return sorted({one.name for one in used} - {""}) or [one.label for one in used]

    def checked(self) -> Proof:
        """Verify all certificates again, using only the program; OracleError if one does not hold."""
        if self.contradiction is not None:
            verify_empty(self.program, self.contradiction)
        if self.direction is not None:
            verify_direction(self.program, self.direction)
        lower = None if self.point is None else verify_lower(self.program, self.point)
        upper = None if self.multipliers is None else verify_upper(self.program, self.multipliers)
        return replace(self, lower=lower, upper=upper)


def shares_of(proof: Proof, multipliers: Multipliers) -> dict[str, Fraction]:
    """Return the coefficient of each constant in the sum of multiplier times bound."""
    constraints = (*proof.program.inequalities, *proof.program.equalities)
    shares: dict[str, Fraction] = {}
    for one, multiplier in zip(constraints, (*multipliers.inequalities, *multipliers.equalities), strict=True):
        if one.name:
            shares[one.name] = shares.get(one.name, Fraction(0)) + multiplier * one.share
    return shares


def prove(program: Program, narrow: float = NARROW) -> Proof:
    """Enclose the value of a program between two rationals, or show that it is empty or infinite.

    An interior-point method in doubles computes points and multipliers. If it fails, inequalities that cannot be tight
    are removed, and coordinates are changed. Points and multipliers are converted to rationals without rounding and
    verified on the given program. A side without a proof is None.
    """
    import numpy as np
    import scipy.linalg  # noqa: F401, its library of linear algebra must be loaded before threads are limited
    from threadpoolctl import threadpool_limits

    # For matrices of this size, several threads take ten times as long and change the last digits.
    conditions = f"{len(program.constraints)} conditions and blocks of {', '.join(map(str, program.sizes))} vectors"
    with announced(f"proving a worst case with {conditions}"), threadpool_limits(1), np.errstate(all="ignore"):
        reduced, dropped = without(program, program.free)
        found = Proof(reduced)
        # Overflow ends the method.
        with suppress(OverflowError):
            for more in _attempts(reduced, narrow):
                found = more if more.empty or more.infinite else _better(more, found.point, found.multipliers)
                if _is_enough(found, narrow):
                    break
        return _of_the_whole(program, reduced, dropped, found)


def short_point(found: Proof) -> FeasiblePoint | None:
    """Return a point with short vectors that proves nearly the same lower bound.

    In some proofs, an unbounded vector is so long that other vectors lose their digits in doubles.
    """
    program, point, lower = found.program, found.point, found.lower
    if point is None or lower is None:
        return None
    unit = max((abs(one.bound) for one in program.constraints), default=Fraction(0)) or Fraction(1)
    length2 = sum(gram[i][i] for gram in point.grams for i in range(len(gram)))
    if length2 < _LONG[-1] * unit:
        return point
    for times in _LONG:
        tried = prove(_near(program, times * unit))
        if tried.point is not None and tried.lower is not None and lower - tried.lower <= _LOST * abs(lower):
            return tried.point
    return point


def _near(program: Program, size: Fraction) -> Program:
    """Return a program whose vectors have a sum of squared lengths of at most ``size``."""
    total = Form({(vector, vector): Fraction(1) for vector in _basis(program)})
    return replace(program, inequalities=(*program.inequalities, Constraint(total, size)), free=())


def _basis(program: Program) -> list[Vector]:
    return [Vector({(block, place): Fraction(1)}) for block, size in enumerate(program.sizes) for place in range(size)]


def _of_the_whole(
    program: Program, reduced: Program, dropped: Sequence[tuple[Direction, Products]], found: Proof
) -> Proof:
    """Return the proof of a program from the proof of its reduced form, verified on the program."""
    kept = Proof(program)
    if found.contradiction is not None:
        with suppress(OracleError):
            verify_empty(program, found.contradiction)
            kept = replace(kept, contradiction=found.contradiction)
    with suppress(OracleError):
        kept = _better(kept, multipliers=found.multipliers)
    with suppress(OracleError, ArithmeticError):
        kept = _better(kept, point=found.point and lifted(program, reduced, dropped, found.point))
        if found.direction is not None:
            direction = lifted(program, reduced, dropped, found.direction)
            verify_direction(program, direction)
            kept = replace(kept, direction=direction)
    return kept


def _attempts(program: Program, narrow: float) -> Iterator[Proof]:
    """Yield the proofs of a program by attempts that become more expensive; the caller stops when they are enough."""
    # Most programs need one path, in coordinates that are scaled by powers of two.
    paths = _paths(program, narrow)
    found, coordinates, state = next(paths)
    yield found
    # Inequalities that cannot be tight, and vectors that must be 0, leave a program without an interior point.
    yield _reduced_further(program, narrow)
    # New coordinates avoid cancellation, for example between long vectors and short ones.
    for found, coordinates, state in paths:  # noqa: B007, the last path counts
        pass
    yield found
    # Multipliers that must be exactly 0 become small, but not 0.
    if found.upper is None and not (found.empty or found.infinite):
        with suppress(ArithmeticError, LinAlgError):
            yield _from_fewer(found, coordinates.multipliers(state, of_objective=True), narrow)


def _paths(program: Program, narrow: float) -> Iterator[tuple[Proof, Coordinates, State]]:
    """Follow a path, and then paths in coordinates from the last state of the previous one."""
    coordinates = first_coordinates(program)
    found, state = _along(beginning(coordinates.data), Proof(program), coordinates, narrow, _MOST_FAILURES)
    yield found, coordinates, state
    # A state with an infinite entry or an indefinite matrix does not define coordinates.
    with suppress(ArithmeticError, LinAlgError):
        for number, afresh in enumerate(_AFRESH):
            # If a path in new coordinates finds no solution, another start does not help.
            if _is_enough(found, narrow) or (number and state.kappa > state.tau):
                return
            coordinates, state = coordinates.recast(state)
            start = beginning(coordinates.data) if afresh else state
            found, state = _along(start, found, coordinates, narrow)
            yield found, coordinates, state


def _last_proof(program: Program, narrow: float) -> Proof:
    """Return the proofs that all paths give."""
    *_, (found, _, _) = _paths(program, narrow)
    return found


def _reduced_further(program: Program, narrow: float) -> Proof:
    """Search for proofs of the program without slack inequalities, with products of null squares as free numbers."""
    freed, dropped = without(program, null_squares(program))
    reduced, kept, recessions = without_slack(freed)
    if not (dropped or recessions):
        return Proof(program)
    proved = _last_proof(reduced, narrow)
    contradiction, multipliers = (
        one and one._replace(inequalities=_padded(one.inequalities, kept, len(program.inequalities)))
        for one in (proved.contradiction, proved.multipliers)
    )
    found = _better(replace(Proof(program), contradiction=contradiction), multipliers=multipliers)
    with suppress(OracleError, ArithmeticError):
        if proved.point is not None and not proved.infinite:
            point = moved_inside(reduced, recessions, proved.point)
            found = _better(found, point=lifted(program, freed, dropped, point))
    return found


def _padded(factors: Sequence[Fraction], places: Sequence[int], size: int) -> tuple[Fraction, ...]:
    """Extend the multipliers of some constraints by zeros."""
    known = dict(zip(places, factors, strict=True))
    return tuple(known.get(place, Fraction(0)) for place in range(size))


def _better(found: Proof, point: FeasiblePoint | None = None, multipliers: Multipliers | None = None) -> Proof:
    """Return a proof with the bound of a point, or of multipliers, if that is better."""
    if point is not None:
        lower = verify_lower(found.program, point)
        if found.lower is None or lower > found.lower:
            found = replace(found, lower=lower, point=point)
    if multipliers is not None:
        upper = verify_upper(found.program, multipliers)
        if found.upper is None or upper < found.upper:
            found = replace(found, upper=upper, multipliers=multipliers)
    return found


def _from_fewer(found: Proof, near: Multipliers, narrow: float) -> Proof:
    """Prove the upper side without the inequalities whose multipliers are small.

    If an inequality becomes arbitrarily slack along a direction, its multiplier must be exactly 0, and rounded
    multipliers are not.
    """
    program = found.program
    least = max(near.inequalities, default=Fraction(0))
    tried = {tuple(range(len(near.inequalities)))}
    for share in _NEGLIGIBLE:
        kept = tuple(number for number, y in enumerate(near.inequalities) if y > Fraction(share) * least)
        if kept in tried:
            continue
        tried.add(kept)
        plain = replace(program, inequalities=tuple(program.inequalities[number] for number in kept))
        reduced, _ = without(plain, null_squares(plain))
        for smaller in (plain, reduced):
            proved = _last_proof(smaller, narrow)
            if proved.multipliers is not None:
                factors = _padded(proved.multipliers.inequalities, kept, len(near.inequalities))
                found = _better(found, multipliers=proved.multipliers._replace(inequalities=factors))
            if _is_enough(found, narrow):
                return found
    return found


def _along(
    state: State, found: Proof, coordinates: Coordinates, narrow: float, most_failures: float = math.inf
) -> tuple[Proof, State]:
    """Return the proofs that the states of a path give, and the last state."""
    failures = hints = 0
    may_be_zero = True
    nearest, best = None, math.inf
    for progress in path(coordinates.data, state):
        state = progress.state
        if state.settled and progress.distance < best:
            nearest, best = state, progress.distance
        if may_be_zero and progress.vanishing:
            found, may_be_zero = _with_zero(found), False
        elif progress.promising(narrow):
            found, failures = _with_both_sides(found, coordinates, state), failures + 1
        elif progress.empty or progress.infinite:
            found, hints = _with_no_solution(found, coordinates, progress), hints + 1
        if failures == most_failures or _is_enough(found, narrow):
            return found, state
        if hints == _MOST_HINTS:
            break
    # The last state may prove one side, even if it is not promising or appears to have no solution.
    found = _with_both_sides(found, coordinates, state)
    if nearest is not None and found.point is not None and not _is_enough(found, narrow):
        with suppress(OracleError, ArithmeticError):
            found = _better(found, point=feasible_between(found.program, found.point, coordinates.point(nearest)))
    return found, state


def feasible_between(program: Program, inside: FeasiblePoint, near: FeasiblePoint) -> FeasiblePoint:
    """Move a point that violates inequalities towards a feasible one until it violates none.

    Rounding limits how close the points of a path come to the boundary. The combination of a point that is optimal
    except for small violations with one that is feasible but not optimal is nearly optimal.
    """
    first = 1 + len(program.equalities)
    forms = zip(program.inequalities, forms_at(program, inside)[first:], forms_at(program, near)[first:], strict=True)
    shares = [(outer - one.bound) / (outer - inner) for one, inner, outer in forms if outer > one.bound]
    share = Fraction(math.ceil(max(shares, default=Fraction(0)) * _FINE), _FINE)

    def between(a: Fraction, b: Fraction) -> Fraction:
        return share * a + (1 - share) * b

    pairs = (zip(gram, others, strict=True) for gram, others in zip(inside.grams, near.grams, strict=True))
    grams = ([map(between, row, other) for row, other in rows] for rows in pairs)
    return FeasiblePoint.of(grams, map(between, inside.values, near.values))


def _is_enough(found: Proof, narrow: float) -> bool:
    """Whether the proof is complete; rounding may increase the width to ten times the target."""
    if found.empty or found.infinite or found.lower is None or found.upper is None:
        return found.empty or found.infinite
    largest = max(abs(found.lower), abs(found.upper))
    unit = max((abs(one.bound) for one in found.program.constraints), default=Fraction(0))
    return largest <= _NOTHING * unit or float((found.upper - found.lower) / largest) <= 10 * narrow


def _with_both_sides(found: Proof, coordinates: Coordinates, state: State) -> Proof:
    """Add the bounds that a state proves, if they are better."""
    with suppress(OracleError, ArithmeticError):
        found = _better(found, point=coordinates.point(state))
    with suppress(OracleError, ArithmeticError):
        found = _better(found, multipliers=coordinates.multipliers(state, of_objective=True))
    return found


def _with_zero(found: Proof) -> Proof:
    """Add the proofs that the value is at least 0 and at most 0, if there are any and they are better.

    Bounds that a path proves approach 0 without reaching it.
    """
    program, zero = found.program, Fraction(0)
    nothing = FeasiblePoint(tuple(((zero,) * size,) * size for size in program.sizes), (zero,) * len(program.values))
    with suppress(OracleError):
        found = _better(found, point=nothing)
    return _better(found, multipliers=_multipliers_of_zero(program))


def _multipliers_of_zero(program: Program) -> Multipliers | None:
    """Return multipliers, of the constraints with bound 0 alone, that prove that the value is at most 0."""
    inequalities = tuple(number for number, one in enumerate(program.inequalities) if not one.bound)
    equalities = tuple(number for number, one in enumerate(program.equalities) if not one.bound)
    cone = replace(
        program,
        inequalities=tuple(program.inequalities[number] for number in inequalities),
        equalities=tuple(program.equalities[number] for number in equalities),
    )
    reduced = True
    while reduced:
        cone, dropped = without(cone, null_squares(cone))
        cone, kept, recessions = without_slack(cone)
        inequalities = tuple(inequalities[place] for place in kept)
        reduced = bool(dropped or recessions)

    def tried() -> Iterator[Multipliers]:
        yield Multipliers((Fraction(0),) * len(inequalities), (Fraction(0),) * len(equalities))
        if not cone.constraints:
            return
        coordinates = first_coordinates(cone)
        for progress in islice(path(coordinates.data, beginning(coordinates.data)), _MOST_OF_ZERO):
            if progress.infinite:
                return
            with suppress(ArithmeticError):
                near = coordinates.multipliers(progress.state, of_objective=True)
                yield near
                for largest in _SIMPLE:
                    yield Multipliers(*(tuple(y.limit_denominator(largest) for y in side) for side in near))

    for one in tried():
        found = Multipliers(
            _padded(one.inequalities, inequalities, len(program.inequalities)),
            _padded(one.equalities, equalities, len(program.equalities)),
        )
        with suppress(OracleError):
            verify_upper(program, found)
            return found
    return None


def _with_no_solution(found: Proof, coordinates: Coordinates, progress: Progress) -> Proof:
    """Try the multipliers of a state as a contradiction, or its point as a direction of growth."""
    program, state = coordinates.program, progress.state
    with suppress(OracleError, ArithmeticError):
        if progress.empty:
            contradiction = coordinates.multipliers(state, of_objective=False)
            verify_empty(program, contradiction)
            return replace(found, contradiction=_shortened(program, contradiction))
        if progress.infinite:
            direction = _some_direction(program, coordinates.point(state, along=True))
            point = _some_point(program, direction) if direction else None
            if point:
                return replace(found, lower=verify_lower(program, point), point=point, direction=direction)
    return found


def _some_direction(program: Program, near: FeasiblePoint) -> FeasiblePoint | None:
    """Return a direction of growth near another one, on a coarse grid, on which constraints can be exactly tight."""
    largest = max((abs(row[i]) for gram in near.grams for i, row in enumerate(gram)), default=Fraction(0))
    for bits in _GRIDS:
        unit = largest / 2**bits

        def coarse(number: Fraction, unit: Fraction = unit) -> Fraction:
            return round(number / unit) * unit

        found = near.each(coarse)
        with suppress(OracleError):
            verify_direction(program, found)
            return found
    return None


def _shortened(program: Program, contradiction: Multipliers) -> Multipliers:
    """Remove the constants that a contradiction does not need."""
    for name in sorted({constraint.name for constraint in program.inequalities} - {""}):
        pairs = zip(program.inequalities, contradiction.inequalities, strict=True)
        shorter = contradiction._replace(inequalities=tuple(Fraction(0) if c.name == name else y for c, y in pairs))
        with suppress(OracleError):
            verify_empty(program, shorter)
            contradiction = shorter
    return contradiction


def _some_point(program: Program, direction: FeasiblePoint) -> FeasiblePoint | None:
    """Return a point that fulfills all constraints: 0, a point along the direction, or a point with a small trace."""
    for times in _MULTIPLES:
        point = direction.each(partial(mul, times))
        with suppress(OracleError):
            verify_lower(program, point)
            return point
    size = Form({(e, e): Fraction(-1) for e in _basis(program)})
    coordinates = first_coordinates(replace(program, objective=size))
    for progress in path(coordinates.data, beginning(coordinates.data)):
        if progress.inside and progress.state.settled:
            with suppress(OracleError, ArithmeticError):
                point = coordinates.point(progress.state)
                verify_lower(program, point)
                return point
    return None
