"""Continuous time: rates of change of a potential; if PEPit's result is 0, a potential of 1 is added."""

from fractions import Fraction as Q

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import example


@example("continuous time", pepit=1, theory=1)
def gradient_flow() -> Problem:
    """Su, Boyd, Candes 2016: ``t (f - f*) + |x - x*|^2 / 2`` does not grow; t = 5/2."""
    p, t = Problem(), Q(5, 2)
    f = p.function()
    best, x = f.minimizer(), p.point()
    speed = -f.gradient(x)
    gap = f.value(x) - f.value(best)
    potential = t * gap + Q(1, 2) * (x - best).square
    p.at_most(potential, 1)
    p.maximize(potential + gap + t * f.gradient(x) @ speed + (x - best) @ speed)
    return p


@example("continuous time", pepit=-0.5000000033, theory=-0.5)
def accelerated_flow_with_a_positive_potential() -> Problem:
    """Wilson, Recht, Jordan 2021: ``f - f* + |sqrt(mu) (x - x*) + x'|^2 / 2`` shrinks at the rate ``sqrt(mu)``."""
    p, half = Problem(), Q(1, 2)
    f = p.function(mu=Q(1, 4))
    best, x, speed = f.minimizer(), p.point(), p.vector()
    slope, both = f.gradient(x), half * (x - best) + speed
    p.equal_to(f.value(x) - f.value(best) + half * both.square, 1)
    p.maximize(slope @ speed + both @ (half * speed - speed - slope))  # x'' = -2 sqrt(mu) x' - grad f with mu = 1/4
    return p
