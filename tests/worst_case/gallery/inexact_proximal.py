"""Inexact proximal steps."""

from fractions import Fraction as Q

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
