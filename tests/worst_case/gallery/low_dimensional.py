"""Worst cases of low rank, which PEPit searches for; the value is the same."""

from fractions import Fraction as Q
from typing import Any

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.composite import frank_wolfe_steps
from tests.worst_case.gallery.examples import begun, example, optimized_gradient_weights
from tests.worst_case.gallery.fixed_points import halpern_steps
from tests.worst_case.gallery.monotone import proximal_points_of_an_operator
from tests.worst_case.gallery.nonconvex import steps_of_a_nonconvex_function
from tests.worst_case.gallery.unconstrained import HIGH, LOW, inexact_gradients, optimized_gradients


def two_sets(p: Problem) -> tuple[Any, Any, Any]:
    """Return two convex sets with a common point, and a start at a distance of 1 from it."""
    one, other = p.indicator(), p.indicator()
    common = p.point()
    one.value(common)
    other.value(common)
    return one, other, begun(p, common)


@example("low-dimensional", pepit=0.0669795957)
def alternate_projections() -> Problem:
    """von Neumann 1949: squared distance of the last point to the other set after three rounds."""
    p = Problem()
    one, other, x = two_sets(p)
    for _ in range(3):
        x = other.proximal(one.proximal(x, 1), 1)
    p.maximize((x - one.proximal(x, 1)).square)
    return p


@example("low-dimensional", pepit=0.2679183835)
def averaged_projections() -> Problem:
    """Squared distance of both projections after two steps."""
    p = Problem()
    one, other, x = two_sets(p)
    for _ in range(2):
        x = Q(1, 2) * (one.proximal(x, 1) + other.proximal(x, 1))
    p.maximize((one.proximal(x, 1) - other.proximal(x, 1)).square)
    return p


@example("low-dimensional", pepit=0.1313464415)
def dykstra() -> Problem:
    """Boyle and Dykstra 1986: squared distance of the last point to the other set after two rounds."""
    p = Problem()
    one, other, x = two_sets(p)
    kept, kept_too = 0 * x, 0 * x
    for _ in range(2):
        y = one.proximal(x + kept, 1)
        kept = x + kept - y
        x = other.proximal(y + kept_too, 1)
        kept_too = y + kept_too - x
    p.maximize((x - one.proximal(x, 1)).square)
    return p


@example("low-dimensional", pepit=0.500000008, bound=2 / 3)
def low_dimensional_frank_wolfe() -> Problem:
    """Jaggi 2013: at most ``2 L D^2 / (n + 2)``."""
    return frank_wolfe_steps(1)


@example("low-dimensional", pepit=0.6666666673, theory=2 / 3)
def low_dimensional_gradient_descent() -> Problem:
    """Taylor 2017, page 190: ``4 L / (3 n)``."""
    return steps_of_a_nonconvex_function(2)


@example("low-dimensional", pepit=0.4444444499, theory=4 / 9)
def low_dimensional_halpern() -> Problem:
    """Lieder 2021: ``4 / (n + 1)^2``."""
    return halpern_steps(2)


@example("low-dimensional", pepit=0.720358803, theory=float(((HIGH - LOW) / (HIGH + LOW)) ** 2))
def low_dimensional_inexact_gradients() -> Problem:
    """de Klerk, Glineur, Taylor 2020: ``((L_e - mu_e) / (L_e + mu_e))^(2 n)``."""
    return inexact_gradients(1)


@example("low-dimensional", pepit=0.1856825488, theory=float(3 / (2 * optimized_gradient_weights(2)[-1] ** 2)))
def low_dimensional_optimized_gradients() -> Problem:
    """Kim and Fessler 2016: ``L / (2 t_n^2)``."""
    return optimized_gradients(2)


@example("low-dimensional", pepit=0.2500000309, theory=1 / 4)
def low_dimensional_proximal_point() -> Problem:
    """Gu and Yang 2020: ``(1 - 1/n)^(n - 1) / n``."""
    return proximal_points_of_an_operator(2, Q(11, 5))
