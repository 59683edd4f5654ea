"""From the solver's hints to exact enclosures of a program's value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from fedtheory._validate import Array
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case._interior import path
from fedtheory.worst_case._rational import rounded, solve_exactly
from fedtheory.worst_case._recast import original, original_point, recast
from fedtheory.worst_case.certificates import (
    FeasiblePoint,
    Multipliers,
    value_balance,
    verify_lower,
    verify_upper,
)
from fedtheory.worst_case.gram import Program
from fedtheory.worst_case.solver import Assembled, Empty, Solution, assemble, solve, tightened

__all__ = ["ROOM", "Enclosure", "enclose", "prove_lower", "prove_upper"]

ROOM = 2e-8
"""How much room the solver leaves for rounding: a loss of this times a number of order 10."""

# Multipliers, and coordinates, of the solver are rounded to multiples of these powers of 1/2, what leaves less room to
# multiples of the last: of numbers near 1 nothing is lost.
_MULTIPLIER_BITS, _COORDINATE_BITS, _ALL_BITS = 36, 44, 100
# Relative widths: what is promised, and what the slower method aims at.
_NARROW, _AIM = Fraction(1, 10**5), 2e-7
# In whose coordinates the slower method begins anew: how many steps before the closest solution, which has too little
# room to move on from it.
_STEPS_BACK = (8, 3, 4, 1, 6)
# Multipliers that are so small beside the largest may be meant to be 0.
_NEGLIGIBLE = 1e-9

Proved = TypeVar("Proved")
Rounding = Callable[[Solution], FeasiblePoint]
Roots = tuple[Array, ...]


class Enclosure(NamedTuple):
    """``lower <= value <= upper``, and the proofs of both sides."""

    lower: Fraction
    upper: Fraction
    point: FeasiblePoint
    multipliers: Multipliers


def enclose(program: Program, rounding: Rounding | None = None, rooms: Sequence[float] = (ROOM,)) -> Enclosure:
    """Enclose the value of a program between two rationals, each with a proof.

    The solver is given the program with every inequality tightened a little, so that its point is feasible in spite of
    rounding, and with ``eps tr G`` added to the objective, so that what its multipliers leave is at least ``eps I``.
    Where one side has no proof by this, or the sides are too far apart, a slower method comes closer. A program with
    equalities needs a ``rounding`` of its own from a solution to a feasible point.

    Parameters
    ----------
    program
        To be maximized.
    rounding
        From the solver's solution to a feasible point; by default its entries as they are.
    rooms
        How much room the solver leaves for rounding, one after the other until both sides have a proof.

    Returns
    -------
    Enclosure
        Two rationals, with the point and the multipliers that prove them.

    Raises
    ------
    AssumptionViolated
        If nothing fulfills the constraints; the sentence names the constants that contradict each other.
    OracleError
        If no solution of either method can be rounded to proofs; the sentence has the solver's word.

    Examples
    --------
    The largest ``2 |x|^2`` where ``|x|^2 <= 3``.

    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> found = enclose(program)
    >>> found.lower <= 6 <= found.upper, found.upper - found.lower < 6e-5
    (True, True)
    """
    assembled = assemble(program)
    upper, lower = partial(prove_upper, program), partial(prove_lower, program, rounding=rounding)
    above: list[tuple[Fraction, Multipliers]] = []
    below: list[tuple[Fraction, FeasiblePoint]] = []
    for room in rooms:
        hints, word = _quickly(program, assembled, room)
        above, below = above or _proofs(upper, hints), below or _proofs(lower, hints)
        if above and below:
            break
    closely = _closely(program, assembled)
    while not _narrow(above, below) and (found := next(closely, None)):
        closer, roots = found
        above = above + _proofs(partial(upper, bits=_ALL_BITS), [*closer, *map(_trimmed, closer)])
        below = below + _proofs(partial(prove_lower, program, rounding=_returning(roots, rounding)), closer)
    if not (above and below):
        message = f"a solution must round to proofs of both sides, got none: {word}"
        raise OracleError(message)
    (least, multipliers), (most, point) = min(above, key=_bound), max(below, key=_bound)
    return Enclosure(most, least, point, multipliers)


def _quickly(program: Program, assembled: Assembled, room: float) -> tuple[list[Solution], str]:
    """Return what the solver says, if it does, and a word on how it ended."""
    try:
        found = solve(tightened(assembled, room), gram_weight=room, tolerance=1e-10)
    except Empty as error:
        raise _contradiction(program, error.multipliers) from error
    except OracleError as error:
        return [], str(error)
    return [found], "the solver ended with a solution"


def _closely(program: Program, assembled: Assembled) -> Iterator[tuple[list[Solution], Roots]]:
    """Yield what the slower method finds: the closest first, and then what has more and more room for rounding.

    At first it works in the program's own coordinates, and then in those of what it has found.
    """
    units = tuple(np.eye(size) for size in program.sizes)
    roots, way = units, _way(assembled)
    if way:
        yield _inside(way), roots
    for steps in _STEPS_BACK if way else ():
        start, _ = way[min(steps, len(way) - 1)]
        turned = tuple(root @ one.T for root, one in zip(roots, start.roots, strict=True))
        again = _way(assemble(recast(program, turned)), start._replace(roots=units))
        if again:
            roots, way = turned, again
            yield _inside(way), roots


def _inside(way: Sequence[tuple[Solution, bool]]) -> list[Solution]:
    return [found for found, inside in way if inside]


def _way(assembled: Assembled, start: Solution | None = None) -> list[tuple[Solution, bool]]:
    from threadpoolctl import threadpool_limits

    # Matrices are so small that several threads take ten times as long; and they would change the last bits.
    with threadpool_limits(1):
        return [*path(assembled, _AIM, start)][::-1]


def _returning(roots: Roots, rounding: Rounding | None) -> Rounding:
    """Return to the program's own coordinates, and round; exactly where no other rounding is wanted."""
    if rounding:
        return lambda solution: rounding(original(solution, roots))
    return lambda solution: original_point(_entries(solution, _ALL_BITS), roots)


def _narrow(above: Sequence[tuple[Fraction, object]], below: Sequence[tuple[Fraction, object]]) -> bool:
    """Say whether both sides have proofs that are as close as is promised."""
    if not (above and below):
        return False
    least = min(map(_bound, above))
    return least - max(map(_bound, below)) <= _NARROW * least


def _trimmed(solution: Solution) -> Solution:
    """Take inequalities out that count for nothing: function values without a bound do not cancel beside them."""
    kept = solution.multipliers > _NEGLIGIBLE * solution.multipliers.max()
    return solution._replace(multipliers=solution.multipliers * kept)


def _bound(proof: tuple[Fraction, object]) -> Fraction:
    return proof[0]


def _contradiction(program: Program, multipliers: Array) -> AssumptionViolated:
    constraints = (*program.equalities, *program.inequalities)
    used = np.abs(multipliers) > 1e-6 * np.abs(multipliers).max()
    names = sorted({c.name for c, counts in zip(constraints, used, strict=True) if c.name and counts})
    return AssumptionViolated(f"no federation has these constants: {' and '.join(names)} contradict each other")


def _proofs(prove: Callable[[Solution], Proved], hints: Iterable[Solution]) -> list[Proved]:
    """Return the proof by the first hint that gives one."""
    for hint in hints:
        with suppress(OracleError, ArithmeticError):
            return [prove(hint)]
    return []


def prove_upper(program: Program, solution: Solution, *, bits: int = _MULTIPLIER_BITS) -> tuple[Fraction, Multipliers]:
    """Round the solver's multipliers to a proof that the value is at most a number.

    Parameters
    ----------
    program
        To be maximized.
    solution
        Of the solver.
    bits
        Multipliers are rounded to multiples of this power of 1/2.

    Returns
    -------
    tuple[Fraction, Multipliers]
        The number, and the multipliers that prove it.

    Examples
    --------
    The largest ``2 |x|^2`` where ``|x|^2 <= 3``.

    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> upper, multipliers = prove_upper(program, solve(assemble(program)))
    >>> 6 <= upper < 6 + 1e-5, multipliers.equalities
    (True, ())
    """
    multipliers = _balanced(program, solution, bits)
    return verify_upper(program, multipliers), multipliers


def prove_lower(
    program: Program, solution: Solution, *, rounding: Rounding | None = None, bits: int = _COORDINATE_BITS
) -> tuple[Fraction, FeasiblePoint]:
    """Round the solver's point to one that fulfills all constraints.

    Parameters
    ----------
    program
        To be maximized.
    solution
        Of the solver.
    rounding
        From the solution to a feasible point.
    bits
        Coordinates are rounded to multiples of this power of 1/2.

    Returns
    -------
    tuple[Fraction, FeasiblePoint]
        The value at the point, and the point.

    Examples
    --------
    The largest ``2 |x|^2`` where ``|x|^2 <= 3``, by a solution that keeps away from the limit.

    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> lower, _ = prove_lower(program, solve(tightened(assemble(program), 1e-6)))
    >>> 6 - 1e-5 < lower <= 6
    True
    """
    point = rounding(solution) if rounding else _entries(solution, bits)
    return verify_lower(program, point), point


def _entries(solution: Solution, bits: int) -> FeasiblePoint:
    roots = tuple(tuple(_rounded(row, bits) for row in root) for root in solution.roots)
    return FeasiblePoint(roots, _rounded(solution.values, bits))


def _rounded(numbers: Array, bits: int) -> tuple[Fraction, ...]:
    return tuple(rounded(number, bits) for number in numbers)


def _balanced(program: Program, solution: Solution, bits: int) -> Multipliers:
    """Round multipliers, and correct the largest ones so that the function values cancel exactly."""
    num_equalities = len(program.equalities)
    found = np.concatenate([solution.equality_multipliers, solution.multipliers])
    factors = list(_rounded(found, bits))
    missing = {place: -c for place, c in enumerate(value_balance(program, (Fraction(-1), *factors))) if c}
    order = sorted(range(len(factors)), key=lambda row: (row >= num_equalities, -factors[row]))
    columns: list[dict[int, Fraction]] = [{} for _ in factors]
    for row, place, c in program.levels:
        if row:
            columns[row - 1][place] = c
    for place, change in solve_exactly([columns[row] for row in order], missing).items():
        factors[order[place]] += change
    return Multipliers(tuple(factors[num_equalities:]), tuple(factors[:num_equalities]))
