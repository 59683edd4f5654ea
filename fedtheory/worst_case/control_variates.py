"""Exact worst cases of SCAFFOLD with all clients."""

from fractions import Fraction
from typing import Any

from fedtheory._support import validate
from fedtheory.worst_case._functions import Clients
from fedtheory.worst_case._vectors import Vector
from fedtheory.worst_case.arguments import nonnegative_number, positive_number
from fedtheory.worst_case.problem import Problem, counted
from fedtheory.worst_case.worst_cases import WorstCase

__all__ = ["scaffold"]


@validate.names
def scaffold(
    local_steps: int, step_size: Any, *, mu: Any, L: Any, potential: Any = 1, num_rounds: int = 1, option: int = 2
) -> WorstCase:
    r"""Largest value of Phi, ``|w - w*|^2 + eta^2 tau^2 mean |c_k - c - grad F_k(w*)|^2``, after R rounds.

    The value is the worst case over all numbers of clients and all weights; for few clients it may be smaller.

    Parameters
    ----------
    local_steps, step_size
        tau and eta.
    mu, L
        Strong convexity and smoothness of every client, ``mu < L``.
    potential
        Largest value of Phi before the first round.
    num_rounds
        R, the number of rounds.
    option
        2 for control variates that are means of gradients along the path, 1 for gradients at the server's model.

    Examples
    --------
    Two steps of 1/8 with curvatures from 1 to 4: ``(7/8)^4``, that of gradient descent.

    >>> from fractions import Fraction as Q
    >>> lower, upper = scaffold(2, Q(1, 8), mu=1, L=4).enclosure
    >>> lower <= Q(2401, 4096) <= upper, float(upper - lower) < 1e-6
    (True, True)
    """
    tau, eta = len(counted("local_steps", local_steps)), positive_number("step_size", step_size)
    first = validate.count("option", option, 1, 2) == 1
    given = nonnegative_number("potential", potential)
    p = Problem()
    clients = p.clients(2, mu=mu, L=positive_number("L", L))
    # Linear functions added to the F_k, with their gradients added to the control variates, do not change the method,
    # so that the clients may share a minimizer.
    best, w, error = clients.minimizer(objective_gap=0), p.point("start"), clients.deviation()
    length = eta * tau
    p.at_most((w - best).square + length**2 * error.square, given, name="potential")
    for _ in counted("num_rounds", num_rounds):
        w, error = after_round(clients, w, error, tau, eta, first=first)
    p.maximize((w - best).square + length**2 * error.square)
    return p.solve()


def after_round(
    clients: Clients, w: Vector, error: Vector, local_steps: int, step_size: Fraction, *, first: bool
) -> tuple[Vector, Vector]:
    """Return the model and the errors of the control variates after a round; option 1 if ``first``, otherwise 2."""
    start, y = clients.gradient(w), w
    for _ in range(local_steps):
        y = y - step_size * (clients.gradient(y) - error)
    mean = clients.mean(y)
    return mean, start - clients.mean(start) if first else error - (y - mean) / (step_size * local_steps)
