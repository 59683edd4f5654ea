"""Composite convex minimization."""

from fractions import Fraction as Q
from math import sqrt
from typing import Any

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example, fast_gradient_weights, near


@example("composite", pepit=0.0761787884, bound=1 / (2 * 2.1935**2))
def fast_proximal_gradients() -> Problem:
    """Beck and Teboulle 2009: at most ``L / (2 t_n^2)``."""
    p, t = Problem(), fast_gradient_weights(3)
    f, g = p.function(L=1), p.function()
    best = (f + g).minimizer()
    x = y = begun(p, best)
    for i in range(3):
        before, x = x, g.proximal(y - f.gradient(y), 1)
        y = x + (t[i] - 1) / t[i + 1] * (x - before)
    p.maximize((f + g).value(x) - (f + g).value(best))
    return p


@example("composite", pepit=0.1273220109)
def douglas_rachford() -> Problem:
    """Taylor, Hendrickx, Glineur 2017, Table of PESTO: 0.1273 for two steps."""
    p = Problem()
    g, f = p.function(), p.function(L=1)
    both = g + f
    best, w = both.minimizer(), p.point()
    x = y = f.proximal(w, 1)
    p.at_most((x - best).square, 1)
    for step in range(2):
        x = f.proximal(w, 1) if step else x
        y = g.proximal(2 * x - w, 1)
        w = w + y - x
    p.maximize(both.value(y) - both.value(best))
    return p


@example("composite", pepit=0.5917159852, theory=(1 / 1.3) ** 2)
def contraction_of_douglas_rachford() -> Problem:
    """Giselsson and Boyd 2017: ``max(1 / (1 + a mu), a L / (1 + a L))`` a step, theta = 1, a = 3."""
    p = Problem()
    f, g = p.function(mu=Q(1, 10), L=1), p.function()

    def after(w: Any) -> Any:
        x = g.proximal(w, 3)
        return w + f.proximal(2 * x - w, 3) - x

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


@example("composite", pepit=0.500000008, bound=2 / 3)
def frank_wolfe() -> Problem:
    """Jaggi 2013: at most ``2 L D^2 / (n + 2)``."""
    p = Problem()
    f, inside = p.function(L=1), p.indicator(diameter=1)
    best, x = (f + inside).minimizer(), p.point()
    inside.value(x)
    p.maximize(f.value(inside.linear_minimizer(f.gradient(x))) - f.value(best))
    return p


# PEPit's float is off by 1e-4, with either solver: the worst case, (3 - sqrt 5)/2, is approached as subgradients grow.
@example("composite", pepit=0.3818666041, theory=(3 - sqrt(5)) / 2, bound=1, pepit_is_off=True)
def improved_interior_algorithm() -> Problem:
    """Auslender and Teboulle 2006: at most ``4 L / (c (n + 1)^2)``, here L = c = 1 and the kernel has mu = 1."""
    p, c = Problem(), Q(1)
    f, inside, h = p.function(L=1), p.indicator(), p.function(mu=1)
    best, x = (f + inside).minimizer(), p.point()
    pull, gap = h.gradient(x), f.value(x) - f.value(best)
    p.at_most(h.value(best) - h.value(x) - pull @ (best - x) + gap, 1)
    z = x
    for _ in range(1):
        alpha = (near(sqrt(c**2 + 4 * c)) - c) / 2
        c = (1 - alpha) * c
        y = (1 - alpha) * x + alpha * z
        z = (h + inside).linear_minimizer(alpha / c * f.gradient(y) - pull)
        pull = h.gradient(z)
        x = (1 - alpha) * x + alpha * z
    inside.value(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("composite", pepit=1.0000000005, theory=1)
def no_lips() -> Problem:
    """Bauschke, Bolte, Teboulle 2017; Dragomir, Taylor, d'Aspremont, Bolte 2021: ``D / (g n)``; ``h - f`` is convex."""
    p = Problem()
    d, f, inside = p.function(), p.function(), p.indicator()
    h = d + f
    best, x = (f + inside).minimizer(), p.point()
    p.at_most(h.value(best) - h.value(x) - h.gradient(x) @ (best - x), 1)
    y = (h + inside).linear_minimizer(f.gradient(x) - h.gradient(x))
    p.maximize(f.value(y) - f.value(best))
    return p


@example("composite", pepit=0.6561000029, theory=0.9**4)
def proximal_gradient() -> Problem:
    """Taylor, Hendrickx, Glineur 2018: ``max((1 - h mu)^2, (1 - h L)^2)^n``."""
    p = Problem()
    f, g = p.function(mu=Q(1, 10), L=1), p.function()
    best = (f + g).minimizer()
    x = begun(p, best)
    for _ in range(2):
        x = g.proximal(x - f.gradient(x), 1)
    p.maximize((x - best).square)
    return p


@example("composite", pepit=0.8303797424)
def three_operator_splitting() -> Problem:
    """Davis and Yin 2017, two runs from a distance of 1."""
    p = Problem()
    f, g, smooth = p.function(mu=Q(1, 10), L=10), p.function(), p.function(L=1)

    def after(w: Any) -> Any:
        x = g.proximal(w, 1)
        return w + f.proximal(2 * x - w - smooth.gradient(x), 1) - x

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p
