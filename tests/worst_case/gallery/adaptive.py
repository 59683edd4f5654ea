"""Adaptive methods."""

from fractions import Fraction as Q

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example


@example("adaptive", pepit=0.6694214881, theory=81 / 121)
def polyak_steps_and_distances() -> Problem:
    """Barre, Taylor, d'Aspremont 2020: ``(g L - 1) (1 - g mu) / (g (L + mu) - 1)``."""
    p, step = Problem(), Q(20, 11)
    f = p.function(mu=Q(1, 10), L=1)
    best = f.minimizer()
    x = begun(p, best)
    p.equal_to(step * f.gradient(x).square - 2 * (f.value(x) - f.value(best)), 0)
    p.maximize((x - step * f.gradient(x) - best).square)
    return p
