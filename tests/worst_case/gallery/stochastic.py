"""Stochastic methods and finite sums."""

from fractions import Fraction as Q
from math import sqrt
from typing import Any

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example


@example("stochastic", pepit=0.8347107583, theory=((1 - 2 / 11) ** 2 + 1) / 2)
def random_coordinates_of_strongly_convex_functions() -> Problem:
    """Taylor and Bach 2019: ``(max((1 - h mu)^2, (1 - h L)^2) + d - 1) / d``."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best = f.minimizer()
    x, half = begun(p, best), p.vector()
    rest = f.gradient(x) - half
    p.equal_to(half @ rest, 0)
    p.maximize(p.mean([(x - Q(20, 11) * part - best).square for part in (half, rest)]))
    return p


@example("stochastic", pepit=0.958333335, theory=23 / 24)
def saga() -> Problem:
    """Defazio, Bach, Lacoste-Julien 2014: a potential shrinks by ``1 - g mu``, ``g = 1 / (2 (mu n + L))``."""
    p, mu, n = Problem(), Q(1, 10), 2
    step = 1 / (2 * (mu * n + 1))
    c = 1 / (2 * step * (1 - mu * step) * n)
    h, f = p.function(), [p.function(mu=mu, L=1) for _ in range(n)]
    best, x = (Q(1, 2) * f[0] + Q(1, 2) * f[1] + h).minimizer(), p.point()
    stored = [p.point() for _ in range(n)]

    def divergence(i: int, y: Any) -> Any:
        return Q(1, n) * (f[i].value(y) - f[i].value(best) - f[i].gradient(best) @ (y - best))

    p.at_most(c * (x - best).square + divergence(0, stored[0]) + divergence(1, stored[1]), 1)
    slopes = [one.gradient(y) for one, y in zip(f, stored, strict=True)]
    outcomes = []
    for i in range(n):
        direction = f[i].gradient(x) - slopes[i] + Q(1, 2) * (slopes[0] + slopes[1])
        y = h.proximal(x - step * direction, step)
        outcomes.append(c * (y - best).square + divergence(i, x) + divergence(1 - i, stored[1 - i]))
    p.maximize(p.mean(outcomes))
    return p


@example("stochastic", pepit=5.0416523267, theory=(0.9 + sqrt(1.21 * (1 - 2 / 1.1) ** 2 + 1)) ** 2)
def stochastic_gradients() -> Problem:
    """Taylor and Bach 2019: ``(h R (L - mu)/2 + sqrt(R^2 (L + mu)^2/4 (h - 2/(L + mu))^2 + h^2 v^2))^2``, R = 2."""
    p = Problem()
    f = [p.function(mu=Q(1, 10), L=1) for _ in range(2)]
    best, x = (f[0] + f[1]).minimizer(), p.point()
    p.at_most((x - best).square, 4)
    p.at_most(p.mean([one.gradient(best).square for one in f]), 1)
    p.maximize(p.mean([(x - one.gradient(x) - best).square for one in f]))
    return p
