"""A program in other coordinates: those in which a solution's Gram matrices are unit matrices.

A value that is tiny beside the constants is one of vectors that are tiny. In the basis in which the analysis is written
they are differences of large ones, and doubles lose them; in these coordinates all vectors are as long as they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import starmap

import numpy as np

from fedtheory._validate import Array
from fedtheory.worst_case.certificates import FeasiblePoint
from fedtheory.worst_case.gram import Form, Program, Vector
from fedtheory.worst_case.solver import Solution

__all__ = ["original", "original_point", "recast"]


def recast(program: Program, roots: Sequence[Array]) -> Program:
    """Write a program exactly in the coordinates of a solution.

    Parameters
    ----------
    program
        Any.
    roots
        Of each block an invertible V; ``V G V'`` are the Gram matrices of the program in its own coordinates when G are
        those of the new one.

    Returns
    -------
    Program
        With as many constraints in the same order: the same multipliers prove the same.
    """
    exact = [_exact(root) for root in roots]
    vectors = {vector: _turned(vector, exact) for vector in program.vectors}

    def rewritten(form: Form) -> Form:
        return Form({(vectors[u], vectors[v]): c for (u, v), c in form.products.items()}, form.values)

    return replace(
        program,
        objective=rewritten(program.objective),
        inequalities=tuple(replace(one, form=rewritten(one.form)) for one in program.inequalities),
        equalities=tuple(replace(one, form=rewritten(one.form)) for one in program.equalities),
    )


def original(solution: Solution, roots: Sequence[Array]) -> Solution:
    """Return to the program's own coordinates.

    Parameters
    ----------
    solution
        Of the program that ``recast`` has written.
    roots
        As given to it.

    Returns
    -------
    Solution
        The same in the coordinates of the program that it was given.
    """
    pairs = zip(solution.roots, roots, strict=True)
    return solution._replace(roots=tuple(starmap(lambda own, root: own @ root.T, pairs)))


def original_point(point: FeasiblePoint, roots: Sequence[Array]) -> FeasiblePoint:
    """Return to the program's own coordinates exactly.

    Parameters
    ----------
    point
        Of the program that ``recast`` has written.
    roots
        As given to it.

    Returns
    -------
    FeasiblePoint
        The same in the coordinates of the program that it was given.
    """
    found = []
    for factor, root in zip(point.factors, roots, strict=True):
        product = np.array(factor, dtype=object) @ np.array(_exact(root), dtype=object).T
        found.append(tuple(map(tuple, product.tolist())))
    return point._replace(factors=tuple(found))


def _exact(root: Array) -> list[list[Fraction]]:
    return [[Fraction(entry) for entry in row] for row in root.tolist()]


def _turned(vector: Vector, roots: Sequence[Sequence[Sequence[Fraction]]]) -> Vector:
    """Sum up the rows of the roots."""
    total: dict[tuple[int, int], Fraction] = {}
    for (block, place), c in vector.coordinates.items():
        for number, entry in enumerate(roots[block][place]):
            total[block, number] = total.get((block, number), Fraction(0)) + c * entry
    return Vector(total)
