"""Exact worst cases of a round of FedProx with exact proximal steps."""

from typing import Any

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.worst_case._vectors import exact
from fedtheory.worst_case.arguments import positive_number
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import WorstCase

__all__ = ["fedprox"]


@validate.names
def fedprox(
    proximal_weight: Any, *, L: Any, negative_curvature: Any, gradient_dissimilarity: Any, gradient2: Any = 1
) -> WorstCase:
    """Largest ``F(w_+) - F(w)`` after a round of all clients with equal weights; negative if F must decrease.

    Parameters
    ----------
    proximal_weight
        mu of the proximal term.
    L, negative_curvature
        Bounds of the curvature of every client, which is between ``-negative_curvature`` and L.
    gradient_dissimilarity
        The constant B in ``mean |grad F_k(w)|^2 <= B^2 |grad F(w)|^2``.
    gradient2
        The value of ``|grad F(w)|^2``.

    Examples
    --------
    For clients with equal gradients and curvature 1, a step of length 1/5 decreases F by ``(1/5) (1 - 1/10)``.

    >>> from fractions import Fraction as Q
    >>> known = {"L": 1, "negative_curvature": 0, "gradient_dissimilarity": 1}
    >>> lower, upper = fedprox(4, **known).enclosure
    >>> lower <= -Q(18, 100) <= upper
    True
    """
    step = 1 / positive_number("proximal_weight", proximal_weight)
    B = exact("gradient_dissimilarity", gradient_dissimilarity)
    lowest = -validate.nonnegative("negative_curvature", exact("negative_curvature", negative_curvature))
    if B < 1:
        message = f"gradient_dissimilarity must be at least 1, got {truncate(B)}"
        raise ValueError(message)
    p = Problem()
    clients = p.clients(2, mu=lowest, L=positive_number("L", L))
    w = p.point("start")
    if B == 1:  # all clients have the same gradient, so no product of deviations could be positive
        clients.call(w, p.vector())
    mean = clients.mean(clients.gradient(w)).square
    p.equal_to(mean, positive_number("gradient2", gradient2), name="gradient2")
    if B != 1:
        p.at_most(clients.gradient(w).square - B**2 * mean, 0)
    after = clients.mean(clients.proximal(w, step))
    p.maximize(clients.value(after) - clients.value(w))
    return p.solve()
