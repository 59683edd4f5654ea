"""Nonconvex optimization."""

from fractions import Fraction as Q

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import example


@example("nonconvex", pepit=0.7128712863, theory=3.6 / 5.05)
def difference_of_convex_functions() -> Problem:
    """Abbaszadehpeivasti, de Klerk, Zamani 2021, Theorem 3.1; mu = 1/10 and 1/5, L = 1 and 2."""
    p, n, largest = Problem(), 1, 1 - Q(1, 5)
    f, g = p.function(mu=Q(1, 10), L=1), p.function(mu=Q(1, 5), L=2)
    whole = f + -1 * g
    best, x = whole.stationary_point(), p.point()
    lowest = whole.value(best)
    p.at_most(whole.value(x) - lowest, 1)
    slopes = []
    for step in range(n + 1):
        x = f.linear_minimizer(-g.gradient(x)) if step else x
        slopes.append(whole.gradient(x).square)
        p.at_most(lowest - whole.value(x) + 1 / (2 * largest) * slopes[-1], 0)
    p.maximize(*slopes)
    return p


def steps_of_a_nonconvex_function(n: int) -> Problem:
    """Write n steps of 1/L, and the least squared gradient where the function loses at most 1."""
    p = Problem()
    f = p.function(mu=-1, L=1)
    x = first = p.point()
    slopes = [f.gradient(x).square]
    for _ in range(n):
        x = x - f.gradient(x)
        slopes.append(f.gradient(x).square)
    p.at_most(f.value(first) - f.value(x), 1)
    p.maximize(*slopes)
    return p


@example("nonconvex", pepit=0.4444444448, theory=4 / 9)
def gradient_descent_of_nonconvex_functions() -> Problem:
    """Taylor 2017, page 190: ``4 L / (3 n)``."""
    return steps_of_a_nonconvex_function(3)


@example("nonconvex", pepit=0.7272727333, theory=8 / 11)
def polyak_and_lojasiewicz() -> Problem:
    """Abbaszadehpeivasti, de Klerk, Zamani 2023, a step of 1/L; conditions are necessary only, as PEPit's are."""
    p = Problem()
    f = p.function(mu=-1, L=1, polyak=Q(1, 5))
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    p.maximize(f.value(x - f.gradient(x)) - f.value(best))
    return p


@example("nonconvex", pepit=0.9999999996, theory=1)
def divergences_ahead() -> Problem:
    """Bolte, Sabach, Teboulle, Vaisbourd 2018: ``g / (n (1 - L g))``."""
    p = Problem()
    low, high, inside = p.function(), p.function(), p.indicator()
    f, h = Q(1, 2) * high + Q(-1, 2) * low, Q(1, 2) * high + Q(1, 2) * low  # both h - f and h + f are convex
    x = p.point()
    inside.value(x)
    y = (h + inside).linear_minimizer(Q(1, 2) * f.gradient(x) - h.gradient(x))
    p.at_most(f.value(x) - f.value(y), 1)
    p.maximize(h.value(y) - h.value(x) - h.gradient(x) @ (y - x))
    return p
