"""Proofs of the upper and the lower side of a problem, and of its emptiness, checked on its semidefinite program."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from ._forms import Form, Matrix, Vector
from ._problem import Problem
from ._reading import MOST_PRODUCTS, MOST_WORK, Refused, added, array, common, fields, limited, rational, whole


def upper_bound(problem: Problem, multipliers: Any, *, of_objective: bool = True) -> Fraction:
    """Return the bound that multipliers prove for the objective, or for 0."""
    written = fields(multipliers, "its multipliers", ("equalities", "inequalities"))
    equalities, inequalities = (
        [one for one in problem.constraints if one.is_equality is kind] for kind in (True, False)
    )
    free, signed = (
        [rational(y, "a multiplier") for y in array(side, "multipliers", len(some))]
        for side, some in zip(written, (equalities, inequalities), strict=True)
    )
    if any(number < 0 for number in signed):
        raise Refused("a multiplier of an inequality is negative")
    terms = [*zip(free, equalities, strict=True), *zip(signed, inequalities, strict=True)]
    together: dict[tuple[int, int], tuple[Fraction, Vector, Vector]] = {}
    left = [Fraction(0)] * problem.num_values
    weighted = [(y, one.form) for y, one in terms if y]
    for y, form in [(Fraction(-1), problem.objective), *weighted] if of_objective else weighted:
        for c, u, v in form.terms:
            known = together.get((id(u), id(v)), (Fraction(0), u, v))[0]
            together[id(u), id(v)] = added(known, y * c), u, v
        for c, f in form.levels:
            if f >= 0:
                left[f] = added(left[f], y * c)
    if any(left):
        raise Refused("its multipliers leave a function value")
    twice = [[[Fraction(0)] * size for _ in range(size)] for size in problem.sizes]
    limited(sum(len(u) * len(v) for c, u, v in together.values() if c), MOST_PRODUCTS, "products of entries")
    for c, u, v in together.values():
        for (block, i), a in u.items() if c else ():
            for (other, j), d in v.items():
                if other == block:
                    twice[block][i][j] = added(twice[block][i][j], c * a * d)
                    twice[block][j][i] = added(twice[block][j][i], c * a * d)
    unit = common(x for matrix in twice for row in matrix for x in row)
    if not are_semidefinite([[[whole(x, unit) for x in row] for row in matrix] for matrix in twice]):
        raise Refused("what is left of a block is not positive semidefinite")
    return reduce(added, (y * one.bound for y, one in terms if y), Fraction(0))


def lower_bound(problem: Problem, point: Any) -> Fraction:
    """Return the objective at a point that fulfills all constraints."""
    if name := problem.relaxed():
        raise Refused(f"a point proves nothing where {name} is described in part only")
    written, values = fields(point, "its point", ("grams", "values"))
    pairs = zip(array(written, "grams", len(problem.sizes)), problem.sizes, strict=True)
    fractions = [
        [[rational(x, "an entry") for x in array(row, "a row", size)] for row in array(gram, "a matrix", size)]
        for gram, size in pairs
    ]
    numbers = [rational(x, "a value") for x in array(values, "the point's values", problem.num_values)]
    unit = common(x for gram in fractions for row in gram for x in row)
    grams = [[[whole(x, unit) for x in row] for row in gram] for gram in fractions]
    if any(gram[i][j] != gram[j][i] for gram in grams for i in range(len(gram)) for j in range(i)):
        raise Refused("a matrix of the point is not symmetric")
    if not are_semidefinite(grams):
        raise Refused("a matrix of the point is not positive semidefinite")
    products: dict[tuple[int, int], Fraction] = {}
    kept: list[Form] = []
    work = 0

    def at(form: Form) -> Fraction:
        """Return the value of a form."""
        nonlocal work
        kept.append(form)  # the form must be kept alive, since its vectors are identified by their memory addresses
        found = reduce(added, (c * numbers[f] for c, f in form.levels if f >= 0), Fraction(0))
        for c, u, v in form.terms:
            if c and (id(u), id(v)) not in products:
                work += len(u) * len(v)
                limited(work, MOST_PRODUCTS, "products of entries")
                products[id(u), id(v)] = inner(grams, u, v) / unit
            found = added(found, c * products[id(u), id(v)]) if c else found
        return found

    for one in problem.constraints:
        reached = at(one.form)
        if reached > one.bound or (one.is_equality and reached < one.bound):
            raise Refused("the point does not fulfill a constraint")
    return at(problem.objective)


def inner(grams: Sequence[Matrix], u: Vector, v: Vector) -> Fraction:
    """Return the product of two vectors, with integer arithmetic."""
    left, right = common(u.values()), common(v.values())
    theirs = [(place, whole(d, right)) for place, d in v.items()]
    total = 0
    for (block, i), a in u.items():
        row = grams[block][i]
        total += whole(a, left) * sum(d * row[j] for (other, j), d in theirs if other == block)
    return Fraction(total, left * right)


def are_semidefinite(matrices: Sequence[Matrix]) -> bool:
    """Eliminate in integers, the largest diagonal entry first.

    No pivot may be negative; a row with pivot 0 must be 0.
    """
    longest = [max((entry.bit_length() for row in matrix for entry in row), default=0) for matrix in matrices]
    # The k-th step has (n - k)^2 products of numbers with k times as many digits.
    work = sum(bits**2 * len(matrix) ** 5 // 30 for bits, matrix in zip(longest, matrices, strict=True))
    limited(work, MOST_WORK, "steps, of some digits each, in the elimination of its blocks")
    for matrix in matrices:
        left, before = matrix, 1
        while left:
            top, pivot = max((row[i], i) for i, row in enumerate(left))
            if top <= 0 and any(entry for row in left for entry in row):
                return False
            kept = [i for i in range(len(left)) if i != pivot] if top > 0 else []
            left = [[(top * left[i][j] - left[i][pivot] * left[pivot][j]) // before for j in kept] for i in kept]
            before = top
    return True
