"""Potential functions: PEPit maximizes the growth, 0; here the potential after a step is maximized, from 1."""

from typing import Any

from fedtheory.worst_case import Problem
from tests.worst_case.gallery.examples import example


@example("potentials", pepit=1, theory=1)
def potential_with_gradients() -> Problem:
    """Taylor and Bach 2019: ``(2n+1) L (f - f*) + n (n+2) |g|^2 + L^2 |x - x*|^2`` does not grow; n = 10."""
    p, n = Problem(), 10
    f = p.function(L=1)
    best, x = f.minimizer(), p.point()

    def potential(k: int, x: Any) -> Any:
        gap = f.value(x) - f.value(best)
        return (2 * k + 1) * gap + k * (k + 2) * f.gradient(x).square + (x - best).square

    p.at_most(potential(n, x), 1)
    p.maximize(potential(n + 1, x - f.gradient(x)))
    return p
