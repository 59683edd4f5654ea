"""Certified selection skews in one dimension: between two crossings of losses the order does not change."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import is_semidefinite
from fedtheory.exact._crossings import Place, places, roots
from fedtheory.exact._extremes import infimum
from fedtheory.exact._integer_forms import Integers, Quotient, largest_proved
from fedtheory.exact._problem import Problem
from fedtheory.selection.laws import Ranked


class Sides(NamedTuple):
    """Lower and upper sides of rho_bar and of the diagonal skew, and ``sup_w sum_k q_k(w) (F_k(w*) - F_k*)``."""

    rho_bar: tuple[float, float]
    rho_diagonal: tuple[float, float]
    largest_excess: float


class _Piece(NamedTuple):
    """A place with its selection frequencies and their skew."""

    place: Place
    frequencies: Array
    skew: Quotient


def sides_in_one_dimension(problem: Problem, law: Ranked) -> Sides:
    """Evaluate all weak orders of the losses that occur: on intervals between crossings, and at each crossing.

    At a crossing of just two losses the frequencies are the mean of those on both sides and cannot be extreme. They can
    be if more losses tie, or if losses touch.
    """
    laws = ((place, law.frequencies(place.values)) for place in places(problem.exact))
    pieces = [_Piece(place, q, problem.exact.skew(q)) for place, q in laws]
    return Sides(
        _least_of_all(problem, pieces),
        _least_on_diagonal(pieces),
        max(float(piece.frequencies @ problem.excess) for piece in pieces),
    )


def _least_of_all(problem: Problem, pieces: list[_Piece]) -> tuple[float, float]:
    found = [infimum(problem.fed, problem.forms, piece.frequencies) for piece in pieces]
    best = min(range(len(found)), key=lambda i: found[i].value)

    def holds(number: float) -> bool:
        return all(is_semidefinite(piece.skew.above(number)) for piece in pieces)

    return largest_proved(holds, found[best].value), problem.skew(pieces[best].frequencies, found[best].model)


def _least_on_diagonal(pieces: list[_Piece]) -> tuple[float, float]:
    lowest = {i: value for i, piece in enumerate(pieces) if (value := _lowest(piece)) is not None}
    least = float(min(lowest.values()))

    def holds(number: float) -> bool:
        return all(_is_above(pieces[i].skew.above(number), pieces[i].place) for i in lowest)

    return largest_proved(holds, least), least


def _lowest(piece: _Piece) -> Fraction | None:
    """Return the smallest skew on the diagonal at the candidates; None if it is 0/0 at all of them."""
    place, unit = piece.place, piece.place.denominator
    points = [place.inside] if place.is_crossing else [*_stationary(piece), *_ends(place)]
    at = [np.array([point, unit], dtype=object) for point in points]
    if None in (place.left, place.right):
        at.append(np.array([unit, 0], dtype=object))
    return min((value for value in map(piece.skew.at, at) if value is not None), default=None)


def _stationary(piece: _Piece) -> list[int]:
    """Return the zeros of the derivative of N/D in the interval, where ``N'D = ND'``."""
    power = piece.place.denominator.bit_length() - 1
    (n2, n1), (_, n0) = piece.skew.numerator
    (d2, d1), (_, d0) = piece.skew.denominator
    found = roots(2 * (n2 * d1 - n1 * d2), n2 * d0 - n0 * d2, 2 * (n1 * d0 - n0 * d1))
    return [point for point in (root.times(power) for root in found) if _is_inside(point, piece.place)]


def _ends(place: Place) -> list[int]:
    return [end for end in (place.left, place.right) if end is not None]


def _is_inside(point: int | Fraction, place: Place) -> bool:
    return (place.left is None or place.left < point) and (place.right is None or point < place.right)


def _is_above(form: Integers, place: Place) -> bool:
    """Whether a quadratic form in (y, 1) is nonnegative at the place."""
    if is_semidefinite(form):
        return True
    (a, b), (_, c), unit, ends = *form, place.denominator, _ends(place)
    if any(a * end**2 + 2 * b * end * unit + c * unit**2 < 0 for end in ends):
        return False
    if a <= 0:
        return len(ends) == 2
    return not _is_inside(Fraction(-b * unit, a), place)
