"""Which values and gradients belong to one smooth, strongly convex function: the interpolation conditions."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

from fedtheory.worst_case._gram import Draft, Form, Value, Vector

__all__: list[str] = []


class Point(NamedTuple):
    """A point, the gradient there, and the value there."""

    at: Vector
    gradient: Vector
    value: Value


def of_pair(i: Point, j: Point, mu: Fraction, L: Fraction, seen: Point | None = None) -> Form:
    r"""Return the condition of an ordered pair, a form that is at most 0.

    ``seen`` is the part of i that has products with j. Those of all pairs hold if and only if an L-smooth, mu-strongly
    convex function takes these values (Taylor, Hendrickx, Glineur 2017, Theorem 4; ``mu < L``)

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


@cache
def _factors(mu: Fraction, L: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    half = L / (2 * (L - mu))
    return half / L, half * mu, half * 2 * mu / L


def impose_quadratic(draft: Draft, minimum: Point, points: Sequence[Point], mu: Fraction, L: Fraction) -> None:
    r"""Demand that one quadratic function with curvatures in [mu, L] takes these values.

    With X the points less the minimizer and Y their gradients: ``f = f* + <x, y>/2``, ``X'Y`` is symmetric, and
    ``(Y - mu X)'(L X - Y)`` is positive semidefinite (Bousselmi, Hendrickx, Glineur 2024), which a block of its own
    says.

    Examples
    --------
    One point beside the minimizer: its value is half of its product with the gradient, and one entry of the slack.

    >>> from fedtheory.worst_case._gram import Draft, Form, Value, Vector
    >>> draft, zero = Draft(), Vector({})
    >>> point = Point(draft.vector(), draft.vector(), Value())
    >>> impose_quadratic(draft, Point(zero, zero, draft.zero()), [point], Fraction(1), Fraction(3))
    >>> len(draft.maximize(point.value).equalities)
    2
    """
    half, block = Fraction(1, 2), draft.block()
    moved = [Point(point.at - minimum.at, point.gradient, point.value) for point in points]
    low = [point.gradient - mu * point.at for point in moved]
    high = [L * point.at - point.gradient for point in moved]
    slack = [draft.vector(block) for _ in moved]
    for i, point in enumerate(moved):
        draft.equal_to(Form.of(point.value) - minimum.value - half * (point.at @ point.gradient))
        for j in range(i + 1):
            if j < i:
                draft.equal_to(point.at @ moved[j].gradient - moved[j].at @ point.gradient)
            draft.equal_to(half * (low[i] @ high[j] + low[j] @ high[i]) - slack[i] @ slack[j])


def impose_linear(draft: Draft, values: Sequence[Point], adjoints: Sequence[Point], largest: Fraction) -> None:
    r"""Demand that one linear operator with singular values of at most ``largest``, and its adjoint, take these values.

    With ``Y = M X`` and ``V = M' U``: ``X'V = Y'U``, and ``largest^2 X'X - Y'Y`` and ``largest^2 U'U - V'V`` are
    positive semidefinite (Bousselmi, Hendrickx, Glineur 2024), which blocks of their own say.

    Parameters
    ----------
    draft
        Is given the constraints.
    values, adjoints
        Points and values, as gradients, of the operator and of its adjoint.
    largest
        Largest singular value.

    Examples
    --------
    One point of each: a product that agrees, and two squares.

    >>> from fedtheory.worst_case._gram import Draft, Value, Vector
    >>> draft = Draft()
    >>> one, other = (Point(draft.vector(), draft.vector(), Value()) for _ in range(2))
    >>> impose_linear(draft, [one], [other], Fraction(1))
    >>> len(draft.maximize(one.gradient.square).equalities)
    3
    """
    for one in values:
        for other in adjoints:
            draft.equal_to(one.at @ other.gradient - one.gradient @ other.at)
    for points in (values, adjoints):
        if not points:
            continue
        block = draft.block()
        slack = [draft.vector(block) for _ in points]
        for (i, one), (j, other) in combinations_with_replacement(enumerate(points), 2):
            short = largest**2 * (one.at @ other.at) - one.gradient @ other.gradient
            draft.equal_to(short - slack[i] @ slack[j])
