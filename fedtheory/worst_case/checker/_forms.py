"""Vectors, forms and constraints of a problem, and functions with the points at which they are called."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

NUMBERS = {
    "function": ("mu", "L", "lipschitz", "diameter", "polyak"),
    "operator": ("strongly_monotone", "cocoercive", "lipschitz"),
}
FLAGS = {"function": ("indicator", "quadratic"), "operator": ()}
Vector = dict[tuple[int, int], Fraction]
"""Coefficients of basis vectors (block, row)."""
Terms = list[tuple[Fraction, Vector, Vector]]
Levels = list[tuple[Fraction, int]]
"""Coefficients of function values; the number -1 is a value that is 0."""
Matrix = list[list[int]]


class Form(NamedTuple):
    """A sum of products of vectors, and of function values."""

    terms: Terms
    levels: Levels


class Constraint(NamedTuple):
    """A form that is at most a bound, or equal to it."""

    form: Form
    bound: Fraction = Fraction(0)
    is_equality: bool = False


class Call(NamedTuple):
    """A point, the gradient or value of the operator there, and the number of the function value."""

    name: str
    at: Vector
    gradient: Vector
    value: int


class Function(NamedTuple):
    """A function, clients, or an operator: its class and its calls."""

    name: str
    kind: str
    of: dict[str, Any]
    blocks: list[int]
    num_clients: int
    calls: list[Call]
    minimum: int | None
    least: bool

    def number(self, name: str) -> Fraction | None:
        """Return a constant of the class, or None."""
        found: Fraction | None = self.of.get(name)
        return found

    @property
    def is_described(self) -> bool:
        """Whether the conditions are sufficient for points of one client and one outcome."""
        if self.kind == "operator":
            return len(self.of) == 1
        num_others = sum(self.number(name) is not None for name in NUMBERS["function"][2:])
        mu, L = self.of["mu"], self.number("L")
        has_minimizer = mu >= 0 or (L is not None and not self.of["quadratic"])
        needs_minimum = self.least or "polyak" in self.of
        if needs_minimum if self.minimum is None else not has_minimizer:
            return False
        if self.of["quadratic"]:
            return not num_others
        if L is not None:
            return not num_others and (mu >= 0 or mu == -L)
        return "polyak" not in self.of and num_others <= (1 if mu == 0 else 0)


def difference(u: Vector, v: Vector, c: Fraction = Fraction(1), d: Fraction = Fraction(1)) -> Vector:
    """Return ``c u - d v``."""
    found = {place: c * u.get(place, Fraction(0)) - d * v.get(place, Fraction(0)) for place in {**u, **v}}
    return {place: x for place, x in found.items() if x}


def within(u: Vector, blocks: Iterable[int]) -> Vector:
    """Return the part of a vector that lies in some blocks."""
    kept = {*blocks}
    return {place: x for place, x in u.items() if place[0] in kept}


def blocks_of(*vectors: Vector) -> set[int]:
    """Return the blocks in which some vector is not 0."""
    return {block for vector in vectors for block, _ in vector}


def says_nothing(form: Form) -> bool:
    """Whether a form has no term."""
    return not any(c and u and v for c, u, v in form.terms) and not any(c for c, _ in form.levels)
