r"""Crossings of losses in one dimension and the order of the losses between them, decided without rounding.

The difference of two losses is a quadratic with integer coefficients; its real roots are ``a +- sqrt(s)`` with rational
a and s. In a normal form without rational roots, two such numbers are equal only if both parts are; different ones
are distinguished by enough digits. Between neighboring roots a rational model determines the order of all losses.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.exact._integer_forms import IntegerForms, Integers

WIDENED = 4
_SPARE_BITS = 128


class Place(NamedTuple):
    """Models with one weak order of the losses: an open interval between crossings, or a single crossing.

    ``values`` have the same order and ties as the losses there, shape (K,). The ends ``left`` and ``right`` are in the
    integer unit of the forms, times ``denominator``; None at infinity. They are slightly outside an interval, or on
    both sides of a crossing, by less than 2^-128 of the smallest distance. ``inside`` is one of the models, or the
    crossing up to the same error.
    """

    values: Array
    left: int | None
    right: int | None
    denominator: int
    inside: int
    is_crossing: bool


class Root(NamedTuple):
    """The number ``center + sign sqrt(radicand)``; the radicand is no square of a rational unless it is 0."""

    center: Fraction
    sign: int
    radicand: Fraction

    def times(self, power: int) -> int:
        """Return the number times 2^power, with an error of at most 2."""
        return (self.center.numerator << power) // self.center.denominator + self.sign * isqrt(
            (self.radicand.numerator << 2 * power) // self.radicand.denominator
        )


def places(exact: IntegerForms) -> Iterator[Place]:
    """Yield all weak orders of the losses on the line, from left to right."""
    pairs: dict[Root, list[tuple[int, int]]] = {}
    for i, j in combinations(range(len(exact.weights)), 2):
        for root in roots(*_difference(exact, i, j)):
            pairs.setdefault(root, []).append((i, j))
    crossings, power = _sorted(list(pairs))
    meeting = {root.times(power): pairs[root] for root in crossings}
    for left, right in pairwise([None, *meeting, None]):
        inside = _between(left, right, power)
        order = order_of(exact.losses(np.array([inside, 1 << power], dtype=object)))
        yield Place(order, *_widened(left, right), 1 << power, inside, is_crossing=False)
        if right is not None:
            yield Place(_tied(order, meeting[right]), *_widened(right, right), 1 << power, right, is_crossing=True)


def _difference(exact: IntegerForms, i: int, j: int) -> tuple[int, int, int]:
    """Coefficients (a, b, c) of ``a y^2 + 2 b y + c``, the difference of two losses."""
    form = exact.forms[i] - exact.forms[j]
    return form[0, 0], form[0, 1], form[1, 1] + exact.minima[i] - exact.minima[j]


def roots(a: int, b: int, c: int) -> set[Root]:
    """Real roots of ``a y^2 + 2 b y + c``; none for the zero polynomial."""
    if a == 0:
        return {Root(Fraction(-c, 2 * b), 0, Fraction(0))} if b else set()
    discriminant = b * b - a * c
    if discriminant < 0:
        return set()
    center, root = Fraction(-b, a), isqrt(discriminant)
    if root * root == discriminant:
        return {Root(center + Fraction(sign * root, a), 0, Fraction(0)) for sign in (-1, 1)}
    return {Root(center, sign, Fraction(discriminant, a * a)) for sign in (-1, 1)}


def _sorted(different: list[Root]) -> tuple[list[Root], int]:
    """Sort different numbers with as many binary digits as needed; return them and that number of digits."""
    power = 64
    while True:
        by_size = sorted(different, key=lambda root: root.times(power))
        whole = [root.times(power) for root in by_size]
        # The error is below 2, so that numbers with a difference of 4 are in order.
        if all(right - left >= 4 for left, right in pairwise(whole)):
            return by_size, power + _SPARE_BITS
        power *= 2


def _between(left: int | None, right: int | None, power: int) -> int:
    if left is None or right is None:
        return (left + (1 << power)) if left is not None else (right - (1 << power)) if right is not None else 0
    return (left + right) // 2


def _widened(left: int | None, right: int | None) -> tuple[int | None, int | None]:
    return None if left is None else left - WIDENED, None if right is None else right + WIDENED


def order_of(losses: Integers) -> Array:
    """Return the position of each number among the different ones, in increasing order."""
    position = {loss: float(i) for i, loss in enumerate(sorted(set(losses)))}
    return np.array([position[loss] for loss in losses])


def _tied(order: Array, pairs: list[tuple[int, int]]) -> Array:
    """Tie all clients that cross here, and those between them next to the crossing."""
    joined = np.zeros(int(order.max()), dtype=bool)
    for i, j in pairs:
        low, high = sorted((int(order[i]), int(order[j])))
        joined[low:high] = True
    labels = np.append(0.0, np.cumsum(~joined))
    tied: Array = labels[order.astype(int)]
    return tied
