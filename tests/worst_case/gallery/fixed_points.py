"""Fixed points."""

from fractions import Fraction as Q

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example


@example("fixed points", pepit=0.1406249993, theory=27 / 256 / (4 * 3 / 16))
def krasnoselskii_mann_with_constant_steps() -> Problem:
    """Lieder 2018: ``(n / (n + 1))^n / (4 (n + 1) g (1 - g))``."""
    p = Problem()
    T = p.operator(nonexpansive=True)
    x = begun(p, T.fixed_point())
    for _ in range(3):
        x = Q(1, 4) * x + Q(3, 4) * T(x)
    p.maximize(Q(1, 4) * (x - T(x)).square)
    return p


@example("fixed points", pepit=0.169211588, theory=0.16921158063752498)
def halpern_of_a_contraction() -> Problem:
    """Park and Ryu 2022: ``(1 + 1/g)^2 ((g - 1) / (g^(n + 1) - 1))^2`` for a contraction by ``1/g``."""
    p, g = Problem(), Q(11, 10)
    T = p.operator(lipschitz=1 / g)
    x = first = begun(p, T.fixed_point())
    for k in range(3):
        share = (g**2 - 1) / (g ** (2 * k + 4) - 1)
        x = share * first + (1 - share) * T(x)
    p.maximize((x - T(x)).square)
    return p
