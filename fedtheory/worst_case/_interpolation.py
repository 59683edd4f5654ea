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

from fedtheory.worst_case._vectors import Form, Value, Vector

__all__: list[str] = []


class Call(NamedTuple):
    """A point at which a function is called, with the gradient and the value at this point.

    If ``epsilon`` is positive, the vector is an epsilon-subgradient instead of a gradient.
    """

    at: Vector
    gradient: Vector
    value: Value
    epsilon: Fraction = Fraction(0)


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
    """Functions described by curvature, size of gradients, growth, or the set outside of which they are infinite.

    Attributes
    ----------
    mu, L
        Least and largest curvature (Taylor, Hendrickx, Glineur 2017). L is None for functions that need not be smooth;
        mu is negative for functions that need not be convex.
    lipschitz
        Largest length of a gradient.
    indicator, diameter
        Whether the function is 0 on a convex set and infinite outside, and the largest diameter of that set, if any.
    support
        Whether the function is the support function of a convex set, whose points have a length of at most
        ``lipschitz`` (Taylor, Hendrickx, Glineur 2017, composite convex optimization).
    restricted_secant, error_bound
        m with ``<grad f(x), x - x*> >= m |x - x*|^2``, of a function that need not be convex, and M with
        ``|grad f(x)| <= M |x - x*|`` (Guille-Escuret, Goujaud, Ibrahim, Mitliagkas 2022).
    quadratic_growth
        G with ``f(x) - f* <= G/2 |x - x*|^2`` (Guille-Escuret, Ibrahim, Goujaud, Mitliagkas 2022).
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
    quadratic_growth: Fraction | None = None
    polyak: Fraction | None = None
    quadratic: bool = False
    support: bool = False
    restricted_secant: Fraction | None = None
    error_bound: Fraction | None = None

    @property
    def exact(self) -> bool:
        """Whether the conditions are also sufficient, as for convex functions with at most one further hypothesis.

        The conditions of a restricted secant inequality are sufficient for gradients and not for values. If gradients
        at distinct points fulfill the conditions strictly, a parabola can be changed by local perturbations with small
        slopes so that it has these gradients. Since the conditions are convex in the gradient, the supremum of a
        quantity that depends on gradients only is approached.
        """
        others = (self.lipschitz, self.diameter, self.quadratic_growth, self.polyak)
        num_others = sum(one is not None for one in others)
        if self.quadratic:
            return not num_others
        if self.L is not None:
            return not num_others and (self.mu >= 0 or self.mu == -self.L)
        return self.polyak is None and num_others <= (1 if self.mu == 0 else 0)

    @property
    def is_convex(self) -> bool:
        """Whether all functions of the class are convex."""
        return self.mu >= 0 and self.restricted_secant is None

    @property
    def compares_outcomes(self) -> bool:
        """Whether conditions on the points of two outcomes of a noise are known, or none are needed."""
        return self.L is not None or self.restricted_secant is not None

    @property
    def has_minimizer(self) -> bool:
        """Whether each stationary point is a minimizer, or the conditions distinguish the minimizer."""
        return self.mu >= 0 or (self.L is not None and not self.quadratic)

    @property
    def names_minimizer(self) -> bool:
        """Whether the conditions of the class refer to the minimizer."""
        return any(one is not None for one in (self.quadratic_growth, self.polyak, self.restricted_secant))

    @property
    def compares_no_gradients(self) -> bool:
        """Whether the conditions contain gradients only in products with points, and never in squares of gradients."""
        others = (self.L, self.lipschitz, self.quadratic_growth, self.error_bound)
        return all(one is None for one in others)

    @property
    def encloses(self) -> bool:
        """Whether sufficient conditions on epsilon-subgradients are known."""
        others = (self.diameter, self.quadratic_growth, self.polyak, self.restricted_secant)
        return self.mu == 0 and not (self.quadratic or self.support) and all(one is None for one in others)

    def requirements(
        self, calls: Sequence[Call], minimum: int | None, own: Sequence[int], noises: Sequence[Noise]
    ) -> Iterator[Condition | Semidefinite]:
        """Yield the conditions on the values of a function; one call may be at the minimizer."""
        if self.restricted_secant is not None:
            yield from self._seen_from_the_minimizer(calls, minimum)
            return
        yield from self._between_points(calls, minimum)
        yield from self._above_minorants(calls)
        yield from self.between_runs(calls, noises)
        if self.quadratic and self.L is not None and calls:
            yield from of_quadratic(calls, minimum, (self.mu, self.L), own)

    def _seen_from_the_minimizer(self, calls: Sequence[Call], minimum: int | None) -> Iterator[Condition]:
        """Yield the conditions of a restricted secant and an error bound; integrals along rays bound the values."""
        least, m, M = minimum or 0, self.restricted_secant or Fraction(0), self.error_bound
        best = calls[least]
        for i, one in enumerate(calls) if minimum is not None else ():
            if i != least:
                away, gap = one.at - best.at, Form.of(one.value) - best.value
                yield Condition((i, least), m * away.square - one.gradient @ away)
                yield Condition((i, least), m / 2 * away.square - gap)
                if M is not None:
                    yield Condition((i, least), one.gradient.square - M**2 * away.square)
                    yield Condition((i, least), gap - M / 2 * away.square)

    def _above_minorants(self, calls: Sequence[Call]) -> Iterator[Condition]:
        """Yield the conditions of epsilon-subgradients: affine functions below this one (Brondsted, Rockafellar 1965).

        An L-smooth convex function exceeds such a minorant of slope g by at least ``|grad f(x) - g|^2 / (2 L)``. The
        condition is also sufficient. The least conjugate function with the given values and subgradients is a maximum
        of parabolas of curvature 1/L, and its value at g is not larger than the minorant allows.
        """
        enlarged = [(number, call) for number, call in enumerate(calls) if call.epsilon]
        for k, (j, (at, gradient, value, epsilon)) in enumerate(enlarged, start=1):
            for i, one in _exact(calls):
                above = gradient @ (one.at - at)
                if not self.indicator:
                    above = above + value - one.value
                if self.L is not None:
                    above = above + 1 / (2 * self.L) * (one.gradient - gradient).square
                yield Condition((i, j), above, epsilon, f"epsilon {k}")
            if self.lipschitz is not None:
                yield Condition((j,), gradient.square, self.lipschitz**2, "lipschitz^2")

    def _between_points(self, calls: Sequence[Call], minimum: int | None) -> Iterator[Condition]:
        for (i, one), (j, other) in permutations(_exact(calls), 2) if not self.quadratic else ():
            if self.L is not None:
                yield Condition((i, j), of_pair(one, other, self.mu, self.L))
            elif self.support:
                yield Condition((i, j), one.at @ (other.gradient - one.gradient))
            else:
                below = other.gradient @ (one.at - other.at)
                if not self.indicator:
                    below = below + other.value - one.value
                if self.mu:
                    below = below + self.mu / 2 * (one.at - other.at).square
                yield Condition((i, j), below)
            if self.diameter is not None and i < j:
                yield Condition((i, j), (one.at - other.at).square, self.diameter**2, "diameter^2")
        for i, one in _exact(calls):
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
        for (s, i), (t, j) in product(_exact(calls), repeat=2):
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
        if self.quadratic_growth is not None:
            yield gap + one.gradient @ (minimum.at - one.at) + 1 / (2 * self.quadratic_growth) * one.gradient.square
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
    linear
        Whether the operator is linear, which requires more than conditions on pairs.
    least, most
        Least and largest eigenvalue of a symmetric linear operator.
    skew
        Whether a linear operator is skew: its adjoint is its negative.
    """

    strongly_monotone: Fraction | None = None
    cocoercive: Fraction | None = None
    lipschitz: Fraction | None = None
    linear: bool = False
    least: Fraction | None = None
    most: Fraction | None = None
    skew: bool = False

    compares_outcomes = False
    """There are no conditions on points of two outcomes of a noise."""

    @property
    def exact(self) -> bool:
        """Whether the conditions are also sufficient: with only one hypothesis (Ryu et al. 2020), or if linear."""
        return (
            self.linear
            or sum(one is not None for one in (self.strongly_monotone, self.cocoercive, self.lipschitz)) == 1
        )

    def requirements(self, calls: Sequence[Call], adjoint: Sequence[Call] = ()) -> Iterator[Condition | Semidefinite]:
        """Yield the conditions on the values of an operator, and on those of its adjoint if it is linear."""
        if self.linear and self.least is not None and self.most is not None:
            yield from of_symmetric([(call.at, call.gradient) for call in calls], self.least, self.most)
            return
        if self.linear:
            yield from of_linear(calls, adjoint, self.lipschitz or Fraction(0))
            yield from of_skew(calls) if self.skew else ()
            return
        for (i, one), (j, other) in combinations(enumerate(calls), 2):
            apart, between = one.at - other.at, one.gradient - other.gradient
            if self.strongly_monotone is not None:
                yield Condition((i, j), self.strongly_monotone * apart.square - apart @ between)
            if self.cocoercive is not None:
                yield Condition((i, j), self.cocoercive * between.square - apart @ between)
            if self.lipschitz is not None:
                yield Condition((i, j), between.square - self.lipschitz**2 * apart.square)


def _exact(calls: Sequence[Call]) -> list[tuple[int, Call]]:
    """Return the numbered calls with gradients, without epsilon-subgradients."""
    return [(number, call) for number, call in enumerate(calls) if not call.epsilon]


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


def of_symmetric(pairs: Pairs, least: Fraction, most: Fraction) -> Iterator[Condition | Semidefinite]:
    """Yield the conditions of one symmetric linear operator with eigenvalues in an interval, for each source.

    Examples
    --------
    Two points: a matrix of two rows, and products that agree.

    >>> pairs = [(Vector({(0, k): Fraction(1)}), Vector({(0, k + 2): Fraction(1)})) for k in (0, 1)]
    >>> [type(part).__name__ for part in of_symmetric(pairs, Fraction(-1), Fraction(2))]
    ['Semidefinite', 'Condition']
    """
    for blocks, some in _by_source(pairs, [], []):
        yield from _mapped_symmetrically(blocks, some, least, most)


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


def of_skew(calls: Sequence[Call]) -> Iterator[Condition]:
    """Yield the conditions of a skew linear operator in addition to those of ``of_linear``: ``X'Y = -Y'X``, by source.

    Examples
    --------
    One point, whose image is orthogonal to it:

    >>> call = Call(Vector({(0, 0): Fraction(1)}), Vector({(0, 1): Fraction(1)}), Value())
    >>> [one.is_equality for one in of_skew([call])]
    [True]
    """
    for (x, y, *_), (u, v, *_) in combinations_with_replacement(calls, 2):
        for block in sorted(x.blocks.union(y.blocks) & u.blocks.union(v.blocks)):
            x_part, y_part, u_part, v_part = (vector.within([block]) for vector in (x, y, u, v))
            yield Condition((), x_part @ v_part + y_part @ u_part, is_equality=True)


def of_linear(calls: Sequence[Call], adjoint: Sequence[Call], largest: Fraction) -> Iterator[Condition | Semidefinite]:
    r"""Yield the conditions on the values of one linear operator with singular values of at most ``largest``.

    With ``Y = M X`` and ``V = M' U``: ``X'V = Y'U``, and ``largest^2 X'X - Y'Y`` and ``largest^2 U'U - V'V`` are
    positive semidefinite (Bousselmi, Hendrickx, Glineur 2024), for each source of variation.

    Examples
    --------
    One point of each: a product that agrees, and two squares.

    >>> one, other = (Call(Vector({(0, k): Fraction(1)}), Vector({(0, k + 1): Fraction(1)}), Value()) for k in (0, 2))
    >>> [type(part).__name__ for part in of_linear([one], [other], Fraction(1))]
    ['Semidefinite', 'Semidefinite', 'Condition']
    """
    known = [[(call.at, call.gradient) for call in some] for some in (calls, adjoint)]
    for pairs in known:
        for blocks, some in _by_source(pairs, [], []):
            parts = [(x.within(blocks), y.within(blocks)) for x, y in some]
            upper = combinations_with_replacement(enumerate(parts), 2)
            yield Semidefinite({(i, j): largest**2 * (x @ u) - y @ v for (i, (x, y)), (j, (u, v)) in upper})
    for (x, y), (u, v) in product(*known):
        for block in x.blocks.union(y.blocks) & u.blocks.union(v.blocks):
            agree = x.within([block]) @ v.within([block]) - y.within([block]) @ u.within([block])
            yield Condition((), agree, is_equality=True)


Pairs = list[tuple[Vector, Vector]]
"""Points, and their images under one linear map."""


def _by_source(pairs: Pairs, moved: Pairs, own: Sequence[int]) -> Iterator[tuple[Sequence[int], Pairs]]:
    """Yield the own blocks with the shifted pairs, and each other block with its nonzero pairs."""
    if moved:
        yield own, moved
    for block in sorted(set().union(*(x.blocks | y.blocks for x, y in pairs)) - {*own}):
        yield [block], [(x, y) for x, y in pairs if block in x.blocks | y.blocks]
