"""Exact worst cases of federated averaging, with all clients or uniform sampling."""

from fractions import Fraction
from typing import Any, Literal, NamedTuple

from fedtheory._support import validate
from fedtheory.worst_case._trees import Branch, independent_draws, largest_block, tree, uniform_subsets
from fedtheory.worst_case.arguments import ERRORS, Constants, check_block, constants, nonnegative_number
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["fedavg"]


class Sampling(NamedTuple):
    """Sampling of a round: scheme, number of clients, and number of sampled clients."""

    how: str = "distinct"
    num_clients: int = 2
    num_selected: int = 2

    def branches(self) -> list[Branch]:
        draws = independent_draws if self.how == "independent" else uniform_subsets
        return draws(self.num_clients, self.num_selected)


_ALL = Sampling()


@validate.names
def fedavg(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    sampling: Literal["all", "distinct", "independent"] = "all",
    num_selected: int | None = None,
    num_clients: int | None = None,
    num_rounds: int = 1,
    gradient_noise: Any = 0,
    objective: Literal["distance", "gap"] = "distance",
) -> WorstCase:
    r"""Exact worst case of federated averaging over all federations with these constants.

    The largest ``E |w_T - w*|^2``, or ``E F(w_T) - F*``, over all dimensions and all L-smooth, mu-strongly convex
    clients of equal weight with ``|w_0 - w*|^2 <= distance2`` and ``F* - mean F_k* <= objective_gap``.

    With all clients, the worst case is the same for any number of clients from two on, and it is an upper bound for
    unequal weights. Several rounds of sampled clients, or ``objective="gap"`` after sampling, take a tree over all
    outcomes, which limits the numbers of clients and rounds. Raises OracleError if no proof was found.

    Parameters
    ----------
    local_steps, num_rounds
        Number of local steps per round, and number of rounds.
    step_size
        One number, or one for each of the ``local_steps * num_rounds`` steps.
    mu, L
        Strong convexity and smoothness, ``0 < mu < L``.
    distance2, objective_gap
        Largest squared distance of the first model from w*, positive, and largest Gamma; 0 is a condition of equality.
    sampling
        ``all`` clients; ``distinct`` clients, sampled uniformly; or ``independent`` draws of one client each.
    num_selected, num_clients
        Number of sampled clients, and of all clients, which is not needed with all clients or independent draws.
    gradient_noise
        Largest variance sigma2 of a stochastic gradient, for one round.
    objective
        Quantity that is maximized: ``distance``, which is squared, or ``gap``.

    Examples
    --------
    One local step of all clients is a step of gradient descent on F, and contracts by ``(1 - step_size mu)^2``:

    >>> from fractions import Fraction as Q
    >>> lower, upper = fedavg(1, Q(1, 4), mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2)).enclosure
    >>> lower <= (1 - Q(1, 40)) ** 2 <= upper
    True
    """
    num_steps = validate.count("local_steps", local_steps) * validate.count("num_rounds", num_rounds)
    given = constants(num_steps, step_size, mu=mu, L=L, distance2=distance2, objective_gap=objective_gap)
    noise = nonnegative_number("gradient_noise", gradient_noise)
    sample = _sampling(sampling, num_selected, num_clients, noisy=noise > 0)
    validate.choice("objective", objective, ("distance", "gap"))
    if noise and (num_rounds > 1 or objective == "gap"):
        message = (
            "gradient_noise must be 0 after the first round: later rounds mix a client's own noise with the others'"
        )
        raise ValueError(message)
    if sampling == "all" or (num_rounds == 1 and objective == "distance"):
        check_block(num_steps + 2 + (objective == "gap"))
        p = averaged_rounds(given, sample, num_rounds, objective, gradient_noise=noise)
    elif num_clients is None:
        message = "num_clients must be given for several rounds of sampled clients, got None"
        raise ValueError(message)
    else:
        branches = sample.branches()
        check_block(largest_block(num_clients, local_steps, num_rounds, len(branches), objective))
        p = tree(given, num_clients, num_rounds, lambda _: branches, objective=objective)
    return worst_of([p.case()], ERRORS[objective])


def _sampling(how: str, num_selected: int | None, num_clients: int | None, *, noisy: bool) -> Sampling:
    validate.choice("sampling", how, ("all", "distinct", "independent"))
    clients = 2 if num_clients is None else validate.count("num_clients", num_clients, low=2)
    if how == "all":
        if num_selected not in (None, num_clients):
            message = f"num_selected must be left out with sampling='all', got {num_selected}"
            raise ValueError(message)
        if noisy and num_clients is None:
            message = "num_clients must be given where noise is averaged over all clients, got None"
            raise ValueError(message)
        return Sampling("distinct", clients, clients)
    if num_selected is None or (how == "distinct" and num_clients is None):
        message = f"num_selected and, for distinct clients, num_clients must be given with sampling={how!r}"
        raise ValueError(message)
    most = clients if how == "distinct" else None
    return Sampling(how, clients, validate.count("num_selected", num_selected, high=most))


def averaged_rounds(
    given: Constants,
    sampling: Sampling = _ALL,
    num_rounds: int = 1,
    objective: Literal["distance", "gap"] = "distance",
    *,
    gradient_noise: Fraction = Fraction(0),
) -> Problem:
    """Maximize the error after rounds of all clients, represented by one client, or of a sample in the last round."""
    p = Problem()
    clients = p.clients(sampling.num_clients, given.mu, given.L, minimum=0, name="F")
    w_star = clients.minimizer(p.origin, objective_gap=given.objective_gap)
    y = w = p.point("start")
    p.at_most((w - w_star).square, given.distance2, "distance2")
    for s, eta in enumerate(given.steps):
        if s % (len(given.steps) // num_rounds) == 0:
            y = clients.mean(y)
        y = clients.step(y, eta, variance=gradient_noise)
    if objective == "distance":
        p.maximize(clients.sample(sampling.num_selected, sampling.how).square(y - w_star))
    else:
        p.maximize(clients.value(clients.mean(y)) - clients.value(w_star))
    return p
