"""Worst cases of low rank, which PEPit searches for; the value is the same."""

from typing import Any

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import begun, example


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
