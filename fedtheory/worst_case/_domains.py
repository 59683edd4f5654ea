"""Domains of named constants, and proofs that a rational function has one sign on a domain."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from math import prod
from typing import Any, NamedTuple, final

from fedtheory.arithmetic.matrices import solve_exactly
from fedtheory.worst_case._constants import as_fraction

_MOST_DRAWS = 5_000
_MOST_PRODUCTS = 1500
"""Products of the inequalities of a domain in one certificate of a sign."""
_DEGREES = ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0))
"""Degrees of multipliers, and by how much the degrees of both sides are larger, in the order of trial."""
Combination = tuple[tuple[Fraction, tuple[int, ...]], ...]
"""A sum of products of a domain's inequalities: coefficients above 0, and the numbers of the factors."""


class Sign(NamedTuple):
    """Why a polynomial factor is positive, or at least 0: ``multiplier * factor = total``, with sums of products.

    The multiplier is above 0. Without a total only an even power of the factor is at least 0.
    """

    factor: Any
    multiplier: Combination
    total: Combination
    is_strict: bool


@final
class Domain:
    """Polynomial inequalities ``g > 0`` or ``g >= 0`` between named constants.

    ``constants`` are the names in the ``field`` of rational functions of them. ``inequalities`` are polynomials, each
    with whether it is above 0, and ``texts`` are the inequalities as they were given.
    """

    def __init__(self, names: Sequence[str], relations: Callable[..., Any]) -> None:
        from sympy import QQ, Rel, Symbol
        from sympy.polys.fields import field

        self.names, self._relations = tuple(names), relations
        self.field, *self.constants = field(self.names, QQ)
        try:
            found = [*relations(*map(Symbol, self.names))]
        except TypeError:
            found = []
        if not found or not all(isinstance(one, Rel) and one.rel_op in ("<", "<=", ">", ">=") for one in found):
            message = f"domain must return a list like [0 < eta, eta < 2] of inequalities, got {found or 'none'}"
            raise ValueError(message)
        self.texts = tuple(str(one) for one in found)
        self.inequalities: list[tuple[Any, bool]] = []
        for one in found:
            self._signs: dict[Any, Sign | None] = {}  # each inequality may prove more
            try:
                apart = self.field.from_expr(one.gts - one.lts)
            except ValueError:
                message = f"an inequality must compare ratios of polynomials of {', '.join(self.names)}, got {one}"
                raise ValueError(message) from None
            sign = 1 if apart.denom.is_ground else self.sign(apart.denom)
            if sign is None:
                message = f"an inequality must have a denominator of one sign by those before it, got {one}"
                raise ValueError(message)
            above = apart.numer / apart.denom.LC if apart.denom.is_ground else apart.numer * sign
            self.inequalities.append((above, one.rel_op in ("<", ">")))
        self._signs = {}

    def with_positive(self, polynomial: Any) -> Domain:
        """Return the part of the domain on which a polynomial is at least 0."""
        from sympy import S

        found = copy(self)
        found._signs = {}
        found.inequalities = [*self.inequalities, (polynomial, False)]
        found.texts = (*self.texts, str(polynomial.as_expr() >= S.Zero))
        return found

    def contains(self, point: Sequence[Fraction]) -> bool:
        """Whether constants fulfill all inequalities."""
        values = (g.evaluate([*zip(g.ring.gens, map(self.rational, point), strict=True)]) for g, _ in self.inequalities)
        return all(
            value > 0 or (not strict and value == 0)
            for value, (_, strict) in zip(values, self.inequalities, strict=True)
        )

    def named(self, point: Sequence[Fraction]) -> str:
        return ", ".join(f"{name}={c}" for name, c in zip(self.names, point, strict=True))

    def rational(self, number: Fraction) -> Any:
        return self.field.domain(number.numerator, number.denominator)

    def points(self) -> Iterator[tuple[Fraction, ...]]:
        """Yield distinct points of the domain with small denominators."""
        source, known = random.Random(0), set[tuple[Fraction, ...]]()
        for _ in range(_MOST_DRAWS):
            denominators = [source.randint(3, 19) for _ in self.names]
            point = tuple(Fraction(source.randint(1, 2 * b), b) for b in denominators)
            if point not in known and self.contains(point):
                known.add(point)
                yield point

    def sign(self, polynomial: Any, *, strict: bool = True) -> int | None:
        """Return the proved sign of a polynomial on the domain, 1 or -1, where it may be 0 unless strict; else None."""
        signs = self.signs(polynomial)
        if signs is None or (strict and not all(one.is_strict for _, one, _ in signs[1])):
            return None
        return signs[0]

    def signs(self, polynomial: Any) -> tuple[int, list[tuple[Any, Sign, int]]] | None:
        """Return the sign of a polynomial, and its factors, each at least 0, with a certificate and its power."""
        content, factors = polynomial.factor_list()
        total, found = 1 if content > 0 else -1, list[tuple[Any, Sign, int]]()
        for factor, power in factors:
            positive = self.certificate(factor)
            negative = None if positive and positive.is_strict else self.certificate(-factor)
            best = negative if negative and (positive is None or negative.is_strict) else positive
            if best is None and power % 2 == 0:
                best = Sign(factor, (), (), is_strict=False)  # an even power, of any sign
            if best is None:
                return None
            total *= -1 if best is negative and power % 2 else 1
            found.append((best.factor, best, power))
        return total, found

    def certificate(self, polynomial: Any) -> Sign | None:
        """Write a multiple of a polynomial as a sum of products of the inequalities with positive coefficients.

        Such sums exist for polynomials that are positive on a compact polytope (Handelman 1988), and with multipliers
        on other sets.
        """
        if polynomial not in self._signs:
            self._signs[polynomial] = self._found(polynomial)
        return self._signs[polynomial]

    def _found(self, polynomial: Any) -> Sign | None:
        degree = max((sum(monomial) for monomial in polynomial.monoms()), default=0)
        for of_multiplier, more in _DEGREES:
            products = [*islice(self._products(degree + of_multiplier + more), _MOST_PRODUCTS)]
            strict = [one for one in self._products(of_multiplier) if self._is_strict(one[0])]
            found = _identity([polynomial * p for _, p in strict], [p for _, p in products])
            if found is not None:
                multiplier = tuple((c, strict[k][0]) for k, c in found[0].items())
                total = tuple((c, products[k][0]) for k, c in found[1].items())
                return Sign(polynomial, multiplier, total, any(self._is_strict(factors) for _, factors in total))
        return None

    def _is_strict(self, factors: Sequence[int]) -> bool:
        return all(self.inequalities[k][1] for k in factors)

    def _products(self, degree: int) -> Iterator[tuple[tuple[int, ...], Any]]:
        """Yield products of the inequalities up to a degree, with the numbers of their factors."""
        known = [g for g, _ in self.inequalities]
        degrees = [max(sum(monomial) for monomial in g.monoms()) for g in known]
        one = self.constants[0].numer.ring.one
        for number in range(degree + 1):
            for factors in combinations_with_replacement(range(len(known)), number):
                if sum(degrees[k] for k in factors) <= degree:
                    yield factors, prod((known[k] for k in factors), start=one)

    def holds(self, function: Any, *, strict: bool = False) -> bool:
        """Whether a rational function has no pole on the domain and is at least 0, or above 0, there."""
        if not function:
            return not strict
        below = self.sign(function.denom)
        return below is not None and self.sign(function.numer, strict=strict) == below


def _identity(left: Sequence[Any], right: Sequence[Any]) -> tuple[dict[int, Fraction], dict[int, Fraction]] | None:
    """Return coefficients of at least 0 with which two families of polynomials have one sum.

    Those on the left add up to 1. They solve a linear program, exactly.
    """
    import numpy as np
    from scipy.optimize import linprog

    monomials = {m: k for k, m in enumerate(sorted({m for p in (*left, *right) for m in p.monoms()}))}
    rows, signed = len(monomials), [(p, 1) for p in left] + [(p, -1) for p in right]
    columns = [{monomials[m]: sign * as_fraction(c) for m, c in p.terms()} for p, sign in signed]
    for column in columns[: len(left)]:
        column[rows] = Fraction(1)
    table, goal = np.zeros((rows + 1, len(columns))), np.zeros(rows + 1)
    goal[rows] = 1
    try:
        for number, column in enumerate(columns):
            for row, c in column.items():
                table[row, number] = float(c)
    except OverflowError:
        return None
    solution = linprog(np.ones(len(columns)), A_eq=table, b_eq=goal, bounds=(0, None), method="highs-ds")
    if solution.status != 0:
        return None
    support = [int(k) for k in np.flatnonzero(solution.x > 1e-9)]
    try:
        found = solve_exactly([columns[k] for k in support], {rows: Fraction(1)})
    except ArithmeticError:
        return None
    if any(c < 0 for c in found.values()):
        return None
    whole = {support[k]: c for k, c in found.items() if c}
    return (
        {k: c for k, c in whole.items() if k < len(left)},
        {k - len(left): c for k, c in whole.items() if k >= len(left)},
    )
