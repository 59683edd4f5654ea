"""Monotone inclusions and variational inequalities."""

from fractions import Fraction as Q
from typing import Any

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example


@example("monotone", pepit=0.9287706953, theory=0.9287706932298526)
def douglas_rachford_of_a_lipschitz_operator() -> Problem:
    """Ryu, Taylor, Bergeling, Giselsson 2020, Theorem 4.3; step 1.3 and theta = 0.9."""
    p, alpha = Problem(), Q(13, 10)
    A, B = p.operator(monotone=True, lipschitz=1), p.operator(strongly_monotone=Q(1, 10))

    def after(w: Any) -> Any:
        x = B.resolvent(w, alpha)
        return w - Q(9, 10) * (x - A.resolvent(2 * x - w, alpha))

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


@example("monotone", pepit=0.9145301172, theory=0.9145301159392969)
def douglas_rachford_of_a_cocoercive_operator() -> Problem:
    """Ryu, Taylor, Bergeling, Giselsson 2020, Theorem 4.1; step 0.3 and theta = 1.5."""
    p, alpha = Problem(), Q(3, 10)
    A, B = p.operator(cocoercive=Q(6, 5)), p.operator(strongly_monotone=Q(1, 10))

    def after(w: Any) -> Any:
        x = B.resolvent(w, alpha)
        return w - Q(3, 2) * (x - A.resolvent(2 * x - w, alpha))

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


@example("monotone", pepit=0.0912733553, theory=(0.1 / (1.1**3 - 1)) ** 2)
def optimal_proximal_point_of_strongly_monotone_operators() -> Problem:
    """Park and Ryu 2022: ``(2 mu / ((1 + 2 mu)^n - 1))^2``."""
    p, mu = Problem(), Q(1, 20)
    A = p.operator(strongly_monotone=mu)

    def phi(k: int) -> Q:
        return sum(((1 + 2 * mu) ** (2 * j) for j in range(k + 1)), start=Q(0))

    x = y = before = begun(p, A.zero())
    for i in range(3):
        after = A.resolvent(y, 1)
        push = (phi(i) - 1) / phi(i + 1) * (after - x) - 2 * mu * phi(i) / phi(i + 1) * (y - after)
        y_after = after + push + (1 + 2 * mu) * phi(i - 1) / phi(i + 1) * (before - x)
        x, before, y = after, y, y_after
    p.maximize((before - x).square)
    return p


@example("monotone", pepit=1.0041479712)
def past_extragradients() -> Problem:
    """Gorbunov, Taylor, Gidel 2022: the last squared step; conditions are necessary only, as PEPit's are."""
    p, step = Problem(), Q(1, 4)
    F, inside, best = p.operator(monotone=True, lipschitz=1), p.indicator(), p.point()
    inside.call(best, -F(best))
    x = inside.proximal(begun(p, best), step)
    y = inside.proximal(x - step * F(x), step)
    p.maximize((inside.proximal(x - step * F(y), step) - x).square)
    return p


@example("monotone", pepit=0.1481481547, theory=4 / 27)
def proximal_point_of_an_operator() -> Problem:
    """Gu and Yang 2020: ``(1 - 1/n)^(n - 1) / n``."""
    p = Problem()
    A = p.operator(monotone=True)
    x = before = begun(p, A.zero())
    for _ in range(3):
        before, x = x, A.resolvent(x, 2)
    p.maximize((x - before).square)
    return p


@example("monotone", pepit=0.779689002)
def three_operators() -> Problem:
    """Davis and Yin 2017: a monotone and a cocoercive operator, and a gradient; step 0.9 and theta = 1.3."""
    p, alpha = Problem(), Q(9, 10)
    A, B, f = p.operator(monotone=True), p.operator(cocoercive=1), p.function(mu=Q(1, 10), L=1)

    def after(w: Any) -> Any:
        x = B.resolvent(w, alpha)
        return w - Q(13, 10) * (x - A.resolvent(2 * x - w - alpha * f.gradient(x), alpha))

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p
