"""Worst-case problems of the bounds of Optimal Client Sampling, with equal weights and exact gradients."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem

_LEFT = "descent is on the left-hand side; optimal sampling has the worst case of uniform sampling"
_FULL_PARTICIPATION = "all clients take part; descent, if the bound has any, is on the left-hand side"


def _equal(given: Mapping[str, Any]) -> tuple[int, Fraction]:
    """Return the number of clients and gamma; weights must be equal and gradients exact."""
    share = Fraction(given["max_weight"])
    gamma = Fraction(given.get("smallest_gamma", given.get("gamma")))
    equal = share.numerator == 1 and given["sum_squared_weights"] == share
    same = given.get("mean_inverse_gamma", 1 / gamma) * gamma == 1
    if not (equal and same) or given["relative_noise"] or given["sigma2"]:
        message = "weights and gammas must be equal and gradients exact for the worst case of a sampled round"
        raise ValueError(message)
    return share.denominator, gamma


def _objective_gap(given: Mapping[str, Any]) -> Any:
    """Return Gamma, which bounds ``sum w_i^2 |grad f_i(x*)|^2`` by 2 L W Gamma."""
    squares, W = given.get("squared_weight_optimum_gradient2"), Fraction(given["max_weight"])
    return given["objective_gap"] if squares is None else squares / (2 * W * given["L"])


def _left(bound: Bound, given: Mapping[str, Any]) -> tuple[Any, Fraction]:
    """Return the bound's value without its descent, and the descent per unit of the gap."""
    descent = Fraction(bound.terms(**given).get("descent", 0))
    return bound(**given) - descent, -descent / given["gap"] if descent else descent


def _step(bound: Bound, given: Mapping[str, Any]) -> Any:
    num_clients, gamma = _equal(given)
    value, descent = _left(bound, given)
    known = {name: given[name] for name in ("mu", "L", "distance2")} | {"objective_gap": _objective_gap(given)}
    units, weights = (
        worst_case.arguments.constants(1, given["step_size"], **known),
        [Fraction(1, num_clients)] * num_clients,
    )
    p = worst_case.optimal_sampling.sampled_step(units, weights, gamma * num_clients, "uniform", descent)
    return worst_case.Comparison(value, p.solve(), _LEFT)


def _round(bound: Bound, given: Mapping[str, Any]) -> Any:
    num_clients, gamma = _equal(given)
    per_client = given.get("per_client_gap", Fraction(given["max_weight"]) * given["objective_gap"])
    if gamma != 1 or per_client * num_clients != given["objective_gap"]:
        message = f"gamma must be 1, and weights equal in per_client_gap, got {gamma} and {per_client}"
        raise ValueError(message)
    value, descent = _left(bound, given)
    return worst_case.Comparison(value, accelerated_round(given, descent).solve(), _FULL_PARTICIPATION)


def accelerated_round(given: Mapping[str, Any], descent: Fraction) -> Any:
    """Return the problem of maximizing the squared distance after a round plus ``descent (F(w) - F*)``.

    All clients take part, the server has a step size, and w is the model before the round.
    """
    server, tau = Fraction(given["server_step_size"]), given["local_steps"]
    p = worst_case.Problem()
    clients = p.clients(2, given["mu"], given["L"], minimum=0)
    w_star = clients.minimizer(p.origin, objective_gap=given["objective_gap"])
    y = w = p.point("start")
    p.at_most((w - w_star).square, given["distance2"], "distance2")
    for _ in range(tau):
        y = clients.step(y, Fraction(given["step_size"]) / (tau * server))
    after = w + server * (clients.mean(y) - w)
    p.maximize((after - w_star).square + descent * (clients.value(w) - clients.value(w_star)))
    return p


def _all_clients(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve gradient descent on f, with noise only for a single step."""
    share, num_rounds = Fraction(given["sum_squared_weights"]), given.get("num_rounds", 1)
    if share.numerator != 1 or share == 1 or (given["sigma2"] and num_rounds > 1):
        message = f"weights must be those of 2 or more equal clients, and sigma2 0 for several steps, got {share}"
        raise ValueError(message)
    start = given.get("distance2", given.get("initial_distance2"))
    return worst_case.fedavg(
        1, given["step_size"], mu=given["mu"], L=given["L"], distance2=start, objective_gap=0, num_rounds=num_rounds,
        gradient_noise=given["sigma2"], num_clients=share.denominator
    )  # fmt: skip


# Equal clients with exact gradients.
_STEP = {
    "num_clients": lambda c: c.whole(2, 4),
    "max_weight": lambda c: Fraction(1, c["num_clients"]),
    "sum_squared_weights": lambda c: Fraction(1, c["num_clients"]),
    "relative_noise": 0,
    "sigma2": 0,
    "gamma": lambda c: Fraction(c.whole(1, c["num_clients"]), c["num_clients"]),
    "smallest_gamma": lambda c: c["gamma"],
    "mean_inverse_gamma": lambda c: 1 / c["gamma"],
    "objective_gap": lambda c: c.positive(3),
    "per_client_gap": lambda c: c["max_weight"] * c["objective_gap"],
    "squared_weight_optimum_gradient2": lambda c: 2 * c["L"] * c["max_weight"] * c["objective_gap"],
    "gap": lambda c: c["distance2"] / 2 * (c["mu"] + (c["L"] - c["mu"]) * c.tenths(1, 9)),
    "step_size": lambda c: c.share() * c["gamma"] / c["L"],
}
_ALL_CLIENTS = _STEP | {"sigma2": lambda c: c.tenths(0, 30), "step_size": lambda c: c.share() / c["L"]}
_ROUND = _STEP | {
    # If L is close to mu, the solver cannot tell whether the class of such short steps is empty.
    "L": lambda c: c["mu"] * (1 + c["kappa"]),
    "gamma": Fraction(1),
    "local_steps": lambda c: c.whole(1, 3),
    # server_step_size^2 >= 1/sum_squared_weights; a local step size is step_size/(local_steps server_step_size)
    "server_step_size": lambda c: Fraction(c.whole(2, 3)),
    "step_size": lambda c: c.pick(1, c.tenths(5, 9)) / (16 * c["L"]),
}
STEP: WorstCaseProblem = WorstCaseProblem(_step, _STEP)
ALL_CLIENTS: WorstCaseProblem = WorstCaseProblem(_all_clients, _ALL_CLIENTS)
ALL_CLIENTS_ROUNDS: WorstCaseProblem = WorstCaseProblem(
    _all_clients, _ALL_CLIENTS | {"sigma2": 0, "num_rounds": lambda c: c.whole(1, 3)}, name="eq-22"
)
ROUND: WorstCaseProblem = WorstCaseProblem(_round, _ROUND)
ROUND_PER_CLIENT: WorstCaseProblem = WorstCaseProblem(_round, _ROUND, name="theorem-17-per-client")
