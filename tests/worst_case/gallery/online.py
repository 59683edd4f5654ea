"""Online learning: the regret against a fixed point of the set, M = 1 and D = 1/2."""

from fractions import Fraction as Q
from math import sqrt
from typing import Any

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import example, near


def losses(p: Problem, n: int) -> tuple[list[Any], Any, Any, Any]:
    """Return Lipschitz functions, a set, what is compared with, and a start in the set."""
    f, inside = [p.function(lipschitz=1) for _ in range(n)], p.indicator(diameter=Q(1, 2))
    reference, x = p.point(), p.point()
    inside.value(reference)
    inside.value(x)
    return f, inside, reference, x


@example("online", pepit=0.7071067879, theory=sqrt(2) / 2)
def online_gradient_descent() -> Problem:
    """Orabona 2019: ``M D sqrt(n)``."""
    p, n = Problem(), 2
    step = near(1 / (2 * sqrt(n)))
    f, inside, reference, x = losses(p, n)
    regret = f[0].value(x) - f[0].value(reference)
    x = inside.proximal(x - step * f[0].gradient(x), step)
    p.maximize(regret + f[1].value(x) - f[1].value(reference))
    return p


@example("online", pepit=0.9330127042)
def follow_the_leader() -> Problem:
    """Two rounds; the regret may grow linearly."""
    p = Problem()
    f, inside, reference, x = losses(p, 2)
    regret = f[0].value(x) - f[0].value(reference)
    x = (inside + f[0]).stationary_point()
    p.maximize(regret + f[1].value(x) - f[1].value(reference))
    return p


@example("online", pepit=1.3975425823, bound=2)
def online_frank_wolfe() -> Problem:
    """Hazan and Kale 2012: at most ``4 / 3^(3/4) M D n^(3/4)``; for n = 3 a step goes all the way to a vertex."""
    p, n = Problem(), 3
    f, inside, reference, x = losses(p, n)
    first, total, regret = x, 0 * x, []
    for one in f:
        regret.append(one.value(x) - one.value(reference))
        total = total + one.gradient(x)
        x = inside.linear_minimizer(x - first + Q(1, 4) * total)
    p.maximize(regret[0] + regret[1] + regret[2])
    return p
