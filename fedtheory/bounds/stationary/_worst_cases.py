"""Worst-case problem of the bound on the gradient at a model where that of a surrogate is small."""

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve for two clients of weight 1/2 in the surrogate, whose weights in F are (1 + chi)/2 and (1 - chi)/2."""
    chi2 = Fraction(given["chi2"])
    chi = Fraction(isqrt(chi2.numerator), isqrt(chi2.denominator))
    if chi**2 != chi2 or chi > 1:
        message = f"chi2 must be the square of a rational number up to 1 for the worst case, got {chi2}"
        raise ValueError(message)
    p = worst_case.Problem()
    mean, deviation = p.vector("mean"), p.vector("deviation")
    p.at_most(mean.square, given["surrogate_gradient2"], "surrogate_gradient2")
    p.at_most(deviation.square - (given["beta2"] - 1) * mean.square, given["kappa2"], "kappa2")
    p.maximize((mean + chi * deviation).square)
    return p.solve()


INCONSISTENCY = WorstCaseProblem(_solve, {"chi2": lambda c: c.share() ** 2}, num_draws=20)
