"""Inexact proximal steps."""

from fractions import Fraction as Q
from math import sqrt

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example


@example("inexact proximal", pepit=0.7758986243, theory=0.775898596650068)
def partially_inexact_douglas_rachford() -> Problem:
    """Eckstein and Yao 2018; Barre, Taylor, Bach 2020: the larger of two contractions, sigma = 1/5, step 1.4."""
    p, step, sigma = Problem(), Q(7, 5), Q(1, 5)
    f, g = p.function(mu=Q(1, 10), L=5), p.function()
    best = (f + g).minimizer()
    target = best + step * f.gradient(best)
    z, x = begun(p, target), p.point()
    slope = f.gradient(x)
    y = g.proximal(x - step * slope, step)
    p.at_most((x - z + step * slope).square - sigma**2 * (y - z + step * slope).square, 0)
    p.maximize((z + y - x - target).square)
    return p


@example("inexact proximal", pepit=0.0221541092, bound=1.65 / (40 * 2 ** sqrt(1 - 0.65**2)))
def relatively_inexact_proximal_point() -> Problem:
    """Barre, Taylor, Bach 2020: at most ``(1 + sigma) / (4 g n^sqrt(1 - sigma^2))``."""
    p, step, sigma = Problem(), 10, Q(13, 20)
    f = p.function()
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(2):
        y = p.point()
        p.at_most((y - x + step * f.gradient(y)).square - sigma**2 * (y - x).square, 0)
        x = y
    p.maximize(f.value(x) - f.value(best))
    return p
