"""Multipliers as rational functions of named constants, by exact interpolation of their values."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, final

from fedtheory.arithmetic.matrices import kernel
from fedtheory.errors import OracleError
from fedtheory.worst_case._constants import evaluate
from fedtheory.worst_case._domains import Domain
from fedtheory.worst_case._exact_multipliers import Family, Point, Shape

_HELD_OUT = 4
"""Constants at which an interpolated function is compared, beyond those that determine it."""
_MOST_MISSES = 60
"""Constants at which the multipliers are others, after which the search ends."""
_MOST_POINTS = 300
"""Constants at which the multipliers are computed; exact interpolation takes their number to the fourth power."""
Powers = tuple[int, ...]
Exact = Sequence[Any]


@final
class Samples:
    """Exact multipliers at rational constants around a point, computed where interpolation needs them."""

    def __init__(
        self,
        family: Family,
        domain: Domain,
        shape: Shape,
        left_open: Sequence[int],
        base: Point,
        start: Any,
        exact: Exact,
    ) -> None:
        self.family, self.domain, self.shape, self.left_open, self.base = family, domain, shape, left_open, base
        self.near: dict[Point, Any] = {base: start}
        self.exact: dict[Point, Exact] = {base: exact}
        size = len(base)
        # Through the base: a line for each constant, one on which all change, and a cloud.
        directions = [[Fraction(int(k == axis)) for k in range(size)] for axis in range(size)]
        directions.append([Fraction(23, 23 + 6 * k) for k in range(size)])
        self.sources = [*map(self._line, directions), self._cloud()]
        self.known: list[list[Point]] = [[] for _ in self.sources]

    def interpolated(self, number: int, largest_degree: int) -> Any:
        """Return a rational function that is one multiplier at all samples, and at others that were held out.

        Lines through the base give its degrees, in each constant and in all.
        """
        gens, name = self.domain.field.gens, self.family.labels[self.shape.active[number]]
        degrees = []
        for place in range(len(gens) + 1):
            for degree in range(largest_degree + 1):
                found = self._fitted(number, place, *[[(n,) for n in range(degree + 1)]] * 2)
                if found is not None:
                    degrees.append(tuple(max(part.degree(), 0) for part in (found.numer, found.denom)))
                    break
            else:
                message = f"a function of degree {largest_degree} must interpolate the multiplier of {name}, got none"
                raise OracleError(message)
        *own, most = degrees
        exponents = [
            [powers for powers in product(*(range(one[side] + 1) for one in own)) if sum(powers) <= most[side]]
            for side in (0, 1)
        ]
        found = self._fitted(number, len(gens) + 1, *exponents)
        if found is None:
            message = f"a rational function of degrees {own} must interpolate the multiplier of {name}, got none"
            raise OracleError(message)
        return found

    def _fitted(self, number: int, place: int, above: Any, below: Any) -> Any:
        """Return a rational function with given exponents that is a multiplier on a line, or in the cloud."""
        from sympy import QQ
        from sympy.polys.fields import field

        needed = len(above) + len(below) - 1
        if needed + _HELD_OUT > _MOST_POINTS:
            return None
        points = self._some(place, needed + _HELD_OUT)
        if len(points) < needed + _HELD_OUT:
            return None
        if place <= len(self.base):
            (ring, _), axis = field("t", QQ), min(place, len(self.base) - 1)
            samples: list[Any] = [((point[axis],), self.exact[point][number]) for point in points]
        else:
            ring, samples = self.domain.field, [(point, self.exact[point][number]) for point in points]
        found = rational_function(samples[:needed], above, below, ring)
        return found if found is not None and all(_is_value(found, *one) for one in samples[needed:]) else None

    def _some(self, place: int, needed: int) -> list[Point]:
        """Return constants of a line, or of the cloud, with exact multipliers, as many as are needed if there are."""
        source, known, misses = self.sources[place], self.known[place], 0
        while len(known) < needed and misses < _MOST_MISSES:
            point = next(source, None)
            if point is None:
                break
            if not self.domain.contains(point):
                misses += 1
                continue
            if point not in self.exact:
                numbers = self.family.at(point)
                near = numbers.converted(float)
                closest = min(self.near, key=lambda one: _apart(one, point))
                found = self.family.newton(near, self.shape, self.near[closest])
                exact = None if found is None else self.family.polished(numbers, self.shape, found, self.left_open)
                if found is None or exact is None:
                    misses += 1
                    continue
                self.near[point], self.exact[point] = found, exact
            known.append(point)
        return known

    def _line(self, direction: Sequence[Fraction]) -> Iterator[Point]:
        for step in range(40):
            share = Fraction((step + 1) // 2 * (-1) ** step, 60)
            yield tuple(x * (1 + share * d) for x, d in zip(self.base, direction, strict=True))

    def _cloud(self) -> Iterator[Point]:
        source, known = random.Random(1), set[Point]()
        for _ in range(_MOST_POINTS):
            point = tuple(x * (1 + Fraction(source.randint(-12, 12), 97)) for x in self.base)
            if point not in known:
                known.add(point)
                yield point


def _is_value(function: Any, point: Point, value: Fraction) -> bool:
    try:
        return evaluate(function, point) == value
    except ZeroDivisionError:
        return False


def _apart(one: Point, other: Point) -> float:
    return sum(float(a - b) ** 2 for a, b in zip(one, other, strict=True))


def rational_function(
    samples: Sequence[tuple[Point, Fraction]], above: Sequence[Powers], below: Sequence[Powers], field: Any
) -> Any:
    """Return a rational function with given values, and given powers in numerator and denominator, or None."""
    columns: list[dict[int, Fraction]] = []
    for side, exponents in enumerate((above, below)):
        for powers in exponents:
            monomials = [
                prod((x**n for x, n in zip(point, powers, strict=True)), start=Fraction(1)) for point, _ in samples
            ]
            entries = (-m * value if side else m for m, (_, value) in zip(monomials, samples, strict=True))
            columns.append({row: c for row, c in enumerate(entries) if c})
    for combination in kernel(columns):
        sides: list[dict[Powers, Any]] = [{}, {}]
        for number, c in combination.items():
            sides[number >= len(above)][(*above, *below)[number]] = field.domain(c.numerator, c.denominator)
        numerator, denominator = (field(field.ring.from_dict(side)) for side in sides)
        if denominator:
            return numerator / denominator
    return None
