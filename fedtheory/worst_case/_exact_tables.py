"""A program in whole numbers: what certificates are checked with, without a rounding and without fractions.

Whole numbers over one common denominator are ten times as fast as fractions of their own.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.worst_case.gram import Program

__all__ = ["Table", "coordinates", "form_sums", "over_common"]

Whole = Any
"""Array of Python's integers, which have no limit."""


class Table(NamedTuple):
    """Numbers ``wholes / denominator``; shape as given."""

    wholes: Whole
    denominator: int


def over_common(numbers: Sequence[Fraction]) -> Table:
    """Write rationals over their least common denominator.

    >>> over_common([Fraction(1, 2), Fraction(1, 3)])
    Table(wholes=array([3, 2], dtype=object), denominator=6)
    """
    denominator = math.lcm(*(number.denominator for number in numbers))
    wholes = np.empty(len(numbers), dtype=object)
    wholes[:] = [number.numerator * (denominator // number.denominator) for number in numbers]
    return Table(wholes, denominator)


def coordinates(program: Program, block: int) -> Table:
    """Coordinates of all vectors in a block, shape (number of vectors, size of the block)."""
    entries = [
        (number, place, c)
        for vector, number in program.vectors.items()
        for (home, place), c in vector.coordinates.items()
        if home == block
    ]
    found = np.zeros((len(program.vectors), program.sizes[block]), dtype=object)
    if not entries:
        return Table(found, 1)
    rows, columns, numbers = zip(*entries, strict=True)
    wholes, denominator = over_common(numbers)
    found[rows, columns] = wholes
    return Table(found, denominator)


def form_sums(terms: Sequence[tuple[int, Any, Fraction]], at: Table, num_forms: int) -> list[Fraction]:
    """Sum ``coefficient * at[place]`` over the terms (form, place, coefficient) of every form."""
    coefficients, denominator = over_common([c for _, _, c in terms])
    sums = [0] * num_forms
    for (row, place, _), c in zip(terms, coefficients, strict=True):
        sums[row] += c * at.wholes[place]
    return [Fraction(total, denominator * at.denominator) for total in sums]
