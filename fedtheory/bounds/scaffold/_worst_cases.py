"""Worst-case problems of the bounds on SCAFFOLD, for all clients with any weights.

Adding a linear function to every F_k, and its gradient to the control variate, does not change the iterates. The
clients may therefore share a minimizer; the errors of the control variates then represent the heterogeneity.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem


def controlled_start(given: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Return a problem with w* at the origin, its clients, the model, and the errors of the control variates."""
    p = worst_case.Problem()
    clients = p.clients(2, mu=given["mu"], L=given["L"])
    clients.minimizer(p.origin, objective_gap=0)
    w, error = p.point("start"), p.origin
    p.at_most(w.square, given.get("distance2", given.get("initial_distance2")), "distance2")
    if given["control_error2"]:
        error = clients.deviation(name="error")
        p.at_most(error.square, given["control_error2"], "control_error2")
    return p, clients, w, error


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, clients, w, error = controlled_start(given)
    eta, tau, first = Fraction(given["step_size"]), given["local_steps"], bound.__name__ == "option_one_round"
    for _ in range(given.get("num_rounds", 1)):
        w, error = worst_case.control_variates.after_round(clients, w, error, tau, eta, first=first)
    weight = (eta * tau) ** 2
    if first:
        left = 1 - eta * given["mu"]
        weight = eta**2 * left ** (2 * tau - 2) * (2 * left / (eta * (given["L"] - given["mu"])) - 1)
    p.maximize(w.square + weight * error.square)
    return p.solve()


_ROUND = {
    "local_steps": lambda c: c.whole(1, 3),
    "step_size": lambda c: c.share() * Fraction(99, 100) * 2 / (c["L"] + c["mu"]),
}
# Several rounds, with step sizes up to 1/(tau L).
_ROUNDS = {
    "local_steps": lambda c: c.whole(1, 3),
    "num_rounds": lambda c: c.whole(1, 2),
    "control_error2": lambda c: c.pick(0, c.positive()),
}
ROUND = WorstCaseProblem(_solve, _ROUND, num_draws=20)
ROUNDS = WorstCaseProblem(_solve, _ROUNDS, num_draws=20)


def _solve_sampled(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve for equal clients, of whom some are drawn; the server's control variate is the mean of theirs."""
    p, h = worst_case.Problem(), Fraction(given["step_size"]) * given["local_steps"]
    clients = p.clients(given["num_clients"], mu=given["mu"], L=given["L"])
    best, w, variates = clients.minimizer(p.origin, objective_gap=0), p.point("start"), p.point("server")
    variates = variates + clients.deviation(name="variates")
    p.at_most(w.square, given["distance2"], "distance2")
    p.at_most(variates.square, given["variate_error2"], "variate_error2")
    y, lead = w, variates - clients.mean(variates)
    for _ in range(given["local_steps"]):
        y = clients.step(y, given["step_size"], variance=given["sigma2"]) + given["step_size"] * lead
    drawn = Fraction(given["num_selected"], given["num_clients"])
    errors = (1 - drawn) * variates.square + drawn * (lead + (w - y) / h).square
    gap = clients.value(w) - clients.value(best)
    weight = given["control_weight"] / drawn * h**2
    p.maximize(clients.sample(given["num_selected"]).square(y) + weight * errors + h * gap)
    return p.solve()


def _weight(c: Any) -> Fraction:
    """Draw the weight of the control variates for rounds of up to ``1/(3 L)``."""
    variance = Fraction(c["num_clients"] - c["num_selected"], c["num_selected"] * (c["num_clients"] - 1))
    return Fraction(c.pick(1, Fraction(1, 2)) + 4 * variance)


_SAMPLED = {
    "num_clients": lambda c: c.whole(2, 5),
    "num_selected": lambda c: c.whole(1, c["num_clients"]),
    "local_steps": lambda c: c.whole(1, 3),
    "control_weight": _weight,
    "sigma2": lambda c: c.pick(0, 1, 10**4) * c.positive(),
    "step_size": lambda c: (
        c.share()
        / c["local_steps"]
        / max(2 * (1 + c["control_weight"]) * c["L"], c["mu"] * c["num_clients"] / c["num_selected"])
    ),
}
SAMPLED_ROUND = WorstCaseProblem(_solve_sampled, _SAMPLED, num_draws=20)
