"""Which values and gradients belong to one smooth, strongly convex function: the interpolation conditions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

from fedtheory.worst_case.gram import Form, Value, Vector

__all__ = ["Point", "interpolation"]


class Point(NamedTuple):
    """A point, the gradient there, and the value there."""

    at: Vector
    gradient: Vector
    value: Value


def interpolation(points: Sequence[Point], mu: Fraction, L: Fraction) -> list[Form]:
    r"""Forms that are at most 0 if and only if an L-smooth, mu-strongly convex function takes these values.

    For all ordered pairs of points (Taylor, Hendrickx, Glineur 2017, Theorem 4; ``mu < L``)

    .. math::
        f_j-f_i+\langle g_j,x_i-x_j\rangle+\frac1{2(1-\mu/L)}\Big[\frac{\|g_i-g_j\|^2}L+\mu\|x_i-x_j\|^2
        -\frac{2\mu}L\langle g_i-g_j,x_i-x_j\rangle\Big]\le0

    Parameters
    ----------
    points
        The points, one function's.
    mu, L
        Strong convexity and smoothness, ``0 <= mu < L``.

    Returns
    -------
    list of Form
        One for each of the ``n (n - 1)`` ordered pairs.
    """
    half = L / (2 * (L - mu))
    on_gradients, on_points, across = half / L, half * mu, half * 2 * mu / L
    forms = []
    for i, j in permutations(points, 2):
        terms = (
            ((i.gradient, i.gradient), on_gradients),
            ((j.gradient, j.gradient), on_gradients),
            ((i.gradient, j.gradient), -2 * on_gradients),
            ((i.at, i.at), on_points),
            ((j.at, j.at), on_points),
            ((i.at, j.at), -2 * on_points),
            ((i.gradient, i.at), -across),
            ((j.gradient, j.at), -across - 1),
            ((i.gradient, j.at), across),
            ((j.gradient, i.at), across + 1),
        )
        forms.append(Form.total(terms, ((j.value, Fraction(1)), (i.value, Fraction(-1)))))
    return forms
