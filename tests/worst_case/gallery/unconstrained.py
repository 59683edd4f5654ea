"""Unconstrained convex minimization."""

from fractions import Fraction as Q
from itertools import product
from math import sqrt

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example, near, optimized_gradient_weights


@example("unconstrained", pepit=0.1317287707, bound=0.25)
def fast_gradients_of_strongly_convex_functions() -> Problem:
    """d'Aspremont, Scieur, Taylor 2021, Corollary 4.15: at most ``(1 - sqrt(mu/L))^n``; here ``sqrt(mu/L) = 1/2``."""
    p, mu = Problem(), Q(1, 4)
    f = p.function(mu=mu, L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best) + mu / 2 * (x - best).square, 1)
    y = x
    for _ in range(2):
        before, x = x, y - f.gradient(y)
        y = x + Q(1, 3) * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.0301803825, bound=4 / 5 / (1 + sqrt(2)) ** 2)
def fast_proximal_points() -> Problem:
    """Guler 1992: at most ``4 / (A (sum of sqrt(step))^2)``."""
    p, A = Problem(), Q(5)
    f = p.function()
    best, x = f.minimizer(), p.point()
    points, start = [best], x
    v = x
    for step in (Q(1), Q(2)):
        alpha = (near(sqrt((A * step) ** 2 + 4 * A * step)) - A * step) / 2
        y = (1 - alpha) * x + alpha * v
        x = f.proximal(y, step)
        points.append(x)
        v = v + 1 / alpha * (x - y)
        A = (1 - alpha) * A
    for y in points:  # f at the start is the least that these allow: a subgradient there would have no largest length
        p.at_most(f.value(y) + f.gradient(y) @ (start - y) - f.value(best) + Q(5, 2) * (start - best).square, 1)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.3749999961)
def cyclic_coordinate_descent() -> Problem:
    """Kamri, Hendrickx, Glineur 2022: two blocks of coordinates of smoothness 1 and 2."""
    p, L = Problem(), (1, 2)
    f = p.function()
    best = f.minimizer()
    x = begun(p, best)
    points, halves = [best], [(f.gradient(best), f.gradient(best))]
    for k in range(4):
        half = p.vector()
        points.append(x)
        halves.append((half, f.gradient(x) - half))
        x = x - Q(1, L[k % 2]) * halves[-1][k % 2]
    for i, j in product(range(5), repeat=2):
        if i and j:
            p.equal_to(halves[i][0] @ halves[j][1], 0)
        below = f.value(points[j]) - f.value(points[i]) + f.gradient(points[j]) @ (points[i] - points[j])
        for k in (0, 1):
            if i != j:
                p.at_most(below + Q(1, 2 * L[k]) * (halves[i][k] - halves[j][k]).square, 0)
    p.maximize(f.value(points[-1]) - f.value(best))
    return p


@example("unconstrained", pepit=0.0649571538, theory=1.5 / 9 * (8 / 9) ** 8)
def gradient_descent_on_quadratics() -> Problem:
    """Largest ``L/2 a (1 - a)^(2 n)`` over eigenvalues ``a L``, here at ``a = 1 / (2 n + 1)`` with n = 4."""
    p = Problem()
    f = p.function(mu=Q(3, 10), L=3, quadratic=True)
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(4):
        x = x - Q(1, 3) * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.4481251003, theory=(0.9 / 1.1) ** 4)
def exact_line_search() -> Problem:
    """de Klerk, Glineur, Taylor 2017: ``((L - mu) / (L + mu))^(2 n)``."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    for _ in range(2):
        x = f.line_search(x, f.gradient(x))
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.7536409251, bound=0.95**2)
def heavy_ball() -> Problem:
    """Ghadimi, Feyzmahdavian, Johansson 2015: at most ``(1 - a mu)^n``; ``b^2 < (1 - a mu) (1 - a L)``."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    before = x
    for _ in range(2):
        before, x = x, x - Q(1, 2) * f.gradient(x) + Q(11, 16) * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


HIGH, LOW = Q(11, 10), Q(9, 100)
"""``(1 + e) L`` and ``(1 - e) mu`` for e = 1/10, L = 1, mu = 1/10."""


@example("unconstrained", pepit=0.5189166906, theory=float(((HIGH - LOW) / (HIGH + LOW)) ** 4))
def inexact_gradient_descent() -> Problem:
    """de Klerk, Glineur, Taylor 2020: ``((L_e - mu_e) / (L_e + mu_e))^(2 n)``."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    for _ in range(2):
        x = x - 2 / (HIGH + LOW) * f.inexact_gradient(x, relative=Q(1, 10))
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.1130771971, theory=float(3 / (2 * optimized_gradient_weights(3)[-1] ** 2)))
def optimized_gradient_method() -> Problem:
    """Kim and Fessler 2016: ``L / (2 t_n^2)``."""
    p, n = Problem(), 3
    f, t = p.function(L=3), optimized_gradient_weights(n)
    best = f.minimizer()
    x = y = begun(p, best)
    for i in range(n):
        before, x = x, y - Q(1, 3) * f.gradient(y)
        y = x + (t[i] - 1) / t[i + 1] * (x - before) + t[i] / t[i + 1] * (x - y)
    p.maximize(f.value(y) - f.value(best))
    return p


@example("unconstrained", pepit=0.0208333372, theory=1 / 48)
def proximal_point() -> Problem:
    """Taylor, Hendrickx, Glineur 2017: ``R^2 / (4 g n)``."""
    p = Problem()
    f = p.function()
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(4):
        x = f.proximal(x, 3)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=1.0000000015, theory=1)
def subgradient_method() -> Problem:
    """Drori and Teboulle 2016: ``M R / sqrt(n + 1)`` for the best of n + 1 points."""
    p = Problem()
    f = p.function(lipschitz=2)
    best = f.minimizer()
    x = begun(p, best)
    gaps = [f.value(x) - f.value(best)]
    for _ in range(3):
        x = x - Q(1, 4) * f.gradient(x)
        gaps.append(f.value(x) - f.value(best))
    p.maximize(*gaps)
    return p
