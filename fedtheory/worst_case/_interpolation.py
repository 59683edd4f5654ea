"""Interpolation conditions: when points, gradients and values belong to a function, or operator, of a class.

Each condition is an upper bound of a form. The conditions of an exact class are necessary and sufficient. The
conditions of other classes are only necessary, so they prove upper bounds only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import NamedTuple

from fedtheory.worst_case._constants import vanishes
from fedtheory.worst_case._vectors import Form, Value, Vector

__all__: list[str] = []


class Call(NamedTuple):
    """A point at which a function is called, with the gradient and the value at this point."""

    at: Vector
    gradient: Vector
    value: Value


class Noise(int):
    """The block of a noise; ``crossed`` are the blocks of its effect on the differences between clients."""

    crossed: tuple[int, ...] = ()


class Condition(NamedTuple):
    """A form that is at most, or equal to, a bound, and the numbers of the calls that it compares."""

    calls: tuple[int, ...]
    form: Form
    bound: Fraction = Fraction(0)
    name: str = ""
    is_equality: bool = False


class Semidefinite(NamedTuple):
    """The upper triangle of a matrix of forms that must be positive semidefinite."""

    entries: Mapping[tuple[int, int], Form]


@dataclass(frozen=True)
class FunctionClass:
    """Functions described by curvature, size of gradients, or the set outside of which they are infinite.

    Attributes
    ----------
    mu, L
        Least and largest curvature (Taylor, Hendrickx, Glineur 2017). L is None for functions that need not be smooth;
        mu is negative for functions that need not be convex.
    lipschitz
        Largest length of a gradient.
    indicator, diameter
        Whether the function is 0 on a convex set and infinite outside, and the largest diameter of that set, if any.
    polyak
        m with ``f(x) - f* <= |grad f(x)|^2 / (2 m)``.
    quadratic
        Whether the function is quadratic (Bousselmi, Hendrickx, Glineur 2024), which requires more than conditions on
        pairs.
    """

    mu: Fraction = Fraction(0)
    L: Fraction | None = None
    lipschitz: Fraction | None = None
    indicator: bool = False
    diameter: Fraction | None = None
    polyak: Fraction | None = None
    quadratic: bool = False

    @property
    def exact(self) -> bool:
        """Whether the conditions are also sufficient, as for convex functions with at most one further hypothesis."""
        others = (self.lipschitz, self.diameter, self.polyak)
        num_others = sum(one is not None for one in others)
        if self.quadratic:
            return not num_others
        if self.L is not None:
            return not num_others and (self.mu >= 0 or vanishes(self.mu + self.L))
        return self.polyak is None and num_others <= (1 if vanishes(self.mu) else 0)

    @property
    def is_convex(self) -> bool:
        """Whether all functions of the class are convex."""
        return self.mu >= 0

    @property
    def compares_outcomes(self) -> bool:
        """Whether conditions on the points of two outcomes of a noise are known, or none are needed."""
        return self.L is not None

    @property
    def has_minimizer(self) -> bool:
        """Whether each stationary point is a minimizer, or the conditions distinguish the minimizer."""
        return self.mu >= 0 or (self.L is not None and not self.quadratic)

    @property
    def names_minimizer(self) -> bool:
        """Whether the conditions of the class refer to the minimizer."""
        return self.polyak is not None

    @property
    def compares_no_gradients(self) -> bool:
        """Whether the conditions contain gradients only in products with points, and never in squares of gradients."""
        return self.L is None and self.lipschitz is None

    def requirements(
        self, calls: Sequence[Call], minimum: int | None, own: Sequence[int], noises: Sequence[Noise]
    ) -> Iterator[Condition | Semidefinite]:
        """Yield the conditions on the values of a function; one call may be at the minimizer."""
        yield from self._between_points(calls, minimum)
        yield from self.between_runs(calls, noises)
        if self.quadratic and self.L is not None and calls:
            yield from of_quadratic(calls, minimum, (self.mu, self.L), own)

    def _between_points(self, calls: Sequence[Call], minimum: int | None) -> Iterator[Condition]:
        for (i, one), (j, other) in permutations(enumerate(calls), 2) if not self.quadratic else ():
            if self.L is not None:
                yield Condition((i, j), of_pair(one, other, self.mu, self.L))
            else:
                below = other.gradient @ (one.at - other.at)
                if not self.indicator:
                    below = below + other.value - one.value
                if not vanishes(self.mu):
                    below = below + self.mu / 2 * (one.at - other.at).square
                yield Condition((i, j), below)
            if self.diameter is not None and i < j:
                yield Condition((i, j), (one.at - other.at).square, self.diameter**2, "diameter^2")
        for i, one in enumerate(calls):
            if self.lipschitz is not None:
                yield Condition((i,), one.gradient.square, self.lipschitz**2, "lipschitz^2")
            if minimum is not None and minimum != i:
                yield from (Condition((i, minimum), form) for form in self._above(calls[minimum], one))

    def between_runs(self, calls: Sequence[Call], noises: Sequence[Noise]) -> Iterator[Condition]:
        """Yield the conditions between points of two runs that share only the first of the noises that both depend on.

        ``noises`` are blocks. If all noises are shared, both points belong to one run.

        Examples
        --------
        Points after 0, 1 and 2 noises: four ordered pairs of the last two share none, and one pair shares one.

        >>> made = [Vector({(block, 0): Fraction(1) for block in range(s + 1)}) for s in range(3)]
        >>> calls = [Call(vector, vector, Value()) for vector in made]
        >>> len(list(FunctionClass(Fraction(1), Fraction(3)).between_runs(calls, [Noise(1), Noise(2)])))
        5
        """
        if self.L is None or self.quadratic:
            return
        for (s, i), (t, j) in product(enumerate(calls), repeat=2):
            one, other = (call.at.blocks | call.gradient.blocks for call in (i, j))
            common = [block for block in noises if block in one & other]
            for shared in range(len(common)):
                dropped = common[shared:]
                blocks = one - {*dropped}.union(*(noise.crossed for noise in dropped))
                seen = Call(i.at.within(blocks), i.gradient.within(blocks), i.value)
                yield Condition((s, t), of_pair(i, j, self.mu, self.L, seen))

    def _above(self, minimum: Call, one: Call) -> Iterator[Form]:
        """Yield the conditions on a point that refer to the minimizer."""
        gap = Form.of(one.value) - minimum.value
        if self.mu < 0 and self.L is not None:
            yield 1 / (2 * self.L) * one.gradient.square - gap
        if self.polyak is not None:
            yield gap - 1 / (2 * self.polyak) * one.gradient.square


@dataclass(frozen=True)
class OperatorClass:
    """Operators described by inequalities between differences of values and differences of points.

    Attributes
    ----------
    strongly_monotone, cocoercive
        Lower bounds of ``<T x - T y, x - y>``, as multiples of ``|x - y|^2`` and of ``|T x - T y|^2``; 0 is monotone.
    lipschitz
        Largest ``|T x - T y| / |x - y|``; 1 is nonexpansive.
    """

    strongly_monotone: Fraction | None = None
    cocoercive: Fraction | None = None
    lipschitz: Fraction | None = None

    compares_outcomes = False
    """There are no conditions on points of two outcomes of a noise."""

    @property
    def exact(self) -> bool:
        """Whether the conditions are also sufficient, as with only one hypothesis (Ryu et al. 2020)."""
        return sum(one is not None for one in (self.strongly_monotone, self.cocoercive, self.lipschitz)) == 1

    def requirements(self, calls: Sequence[Call]) -> Iterator[Condition]:
        """Yield the conditions on the values of an operator."""
        for (i, one), (j, other) in combinations(enumerate(calls), 2):
            apart, between = one.at - other.at, one.gradient - other.gradient
            if self.strongly_monotone is not None:
                yield Condition((i, j), self.strongly_monotone * apart.square - apart @ between)
            if self.cocoercive is not None:
                yield Condition((i, j), self.cocoercive * between.square - apart @ between)
            if self.lipschitz is not None:
                yield Condition((i, j), between.square - self.lipschitz**2 * apart.square)


def of_pair(i: Call, j: Call, mu: Fraction, L: Fraction, seen: Call | None = None) -> Form:
    r"""Return the condition of an ordered pair, a form that is at most 0.

    ``seen`` is the part of i that has products with j. The conditions of all pairs hold if and only if an L-smooth,
    mu-strongly convex function takes these values (Taylor, Hendrickx, Glineur 2017, Theorem 4; ``mu < L``)

    .. math::
        f_j-f_i+\langle g_j,x_i-x_j\rangle+\frac1{2(1-\mu/L)}\Big[\frac{\|g_i-g_j\|^2}L+\mu\|x_i-x_j\|^2
        -\frac{2\mu}L\langle g_i-g_j,x_i-x_j\rangle\Big]\le0
    """
    seen = seen or i
    on_gradients, on_points, across = _factors(mu, L)
    terms = (
        ((i.gradient, i.gradient), on_gradients),
        ((j.gradient, j.gradient), on_gradients),
        ((seen.gradient, j.gradient), -2 * on_gradients),
        ((i.at, i.at), on_points),
        ((j.at, j.at), on_points),
        ((seen.at, j.at), -2 * on_points),
        ((i.gradient, i.at), -across),
        ((j.gradient, j.at), -across - 1),
        ((seen.gradient, j.at), across),
        ((j.gradient, seen.at), across + 1),
    )
    return Form.total(terms, ((j.value, Fraction(1)), (i.value, Fraction(-1))))


def _factors(mu: Fraction, L: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    half = L / (2 * (L - mu))
    return half / L, half * mu, half * 2 * mu / L


def of_quadratic(
    calls: Sequence[Call], minimum: int | None, curvatures: tuple[Fraction, Fraction], own: Sequence[int]
) -> Iterator[Condition | Semidefinite]:
    r"""Yield the conditions on the values of one quadratic function with curvatures in [mu, L].

    Let X be the points minus the first one, and Y their gradients minus its gradient. The conditions are
    ``f - f_1 = <x - x_1, y + y_1>/2``, ``X'Y`` is symmetric, and ``(Y - mu X)'(L X - Y)`` is positive semidefinite
    (Bousselmi, Hendrickx, Glineur 2024). The matrix of the function is the same for all outcomes of a noise. It
    therefore maps the part of a point in the block of a noise to the part of the gradient in that block. The function's
    ``own`` blocks belong to one point.

    Examples
    --------
    For one point and the minimizer, the value is half of the product of point and gradient, and the matrix has one
    entry.

    >>> zero, calls = Vector({}), []
    >>> calls.append(Call(zero, zero, Value()))
    >>> calls.append(Call(Vector({(0, 0): Fraction(1)}), Vector({(0, 1): Fraction(1)}), Value()))
    >>> [type(one).__name__ for one in of_quadratic(calls, 0, (Fraction(1), Fraction(3)), [0])]
    ['Condition', 'Semidefinite']
    """
    half, (mu, L) = Fraction(1, 2), curvatures
    place = minimum or 0
    first = calls[place]
    others = [(number, call) for number, call in enumerate(calls) if number != place]
    for number, call in others:
        chord = (call.at - first.at) @ (call.gradient + first.gradient)
        yield Condition((number, place), Form.of(call.value) - first.value - half * chord, is_equality=True)
    moved = [(call.at - first.at, call.gradient - first.gradient) for _, call in others]
    calls = (first, *(call for _, call in others))
    for blocks, pairs in _by_source([(call.at, call.gradient) for call in calls], moved, own):
        yield from _mapped_symmetrically(blocks, pairs, mu, L)


def _mapped_symmetrically(
    blocks: Sequence[int], pairs: Pairs, mu: Fraction, L: Fraction
) -> Iterator[Condition | Semidefinite]:
    """Yield ``X'Y`` is symmetric, and ``(Y - mu X)'(L X - Y)`` is positive semidefinite."""
    half = Fraction(1, 2)
    xs, ys = ([vector.within(blocks) for vector in side] for side in zip(*pairs, strict=True))
    low = [y - mu * x for x, y in zip(xs, ys, strict=True)]
    high = [L * x - y for x, y in zip(xs, ys, strict=True)]
    upper = combinations_with_replacement(range(len(xs)), 2)
    yield Semidefinite({(i, j): half * (low[i] @ high[j] + low[j] @ high[i]) for i, j in upper})
    for i, j in combinations(range(len(xs)), 2):
        yield Condition((), xs[j] @ ys[i] - xs[i] @ ys[j], is_equality=True)


Pairs = list[tuple[Vector, Vector]]
"""Points, and their images under one linear map."""


def _by_source(pairs: Pairs, moved: Pairs, own: Sequence[int]) -> Iterator[tuple[Sequence[int], Pairs]]:
    """Yield the own blocks with the shifted pairs, and each other block with its nonzero pairs."""
    if moved:
        yield own, moved
    for block in sorted(set().union(*(x.blocks | y.blocks for x, y in pairs)) - {*own}):
        yield [block], [(x, y) for x, y in pairs if block in x.blocks | y.blocks]
