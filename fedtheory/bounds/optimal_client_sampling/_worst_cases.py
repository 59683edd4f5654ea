"""Worst-case problems of the bounds of Optimal Client Sampling, with equal weights and exact gradients."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import draw_class, pick, step_size, tenths, whole
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__: list[str] = []

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
        gradient_noise=given["sigma2"], num_clients=share.denominator,
    )  # fmt: skip


def _draw_equal(rng: np.random.Generator) -> tuple[dict[str, Any], Fraction]:
    """Draw equal clients with exact gradients, and the share of them that is sampled."""
    num_clients = whole(rng, 2, 4)
    share, gamma = Fraction(1, num_clients), Fraction(whole(rng, 1, num_clients), num_clients)
    given = draw_class(rng) | {"max_weight": share, "sum_squared_weights": share}
    return given | {"relative_noise": Fraction(0), "sigma2": Fraction(0)}, gamma


def _draw_gap(given: dict[str, Any], rng: np.random.Generator) -> Fraction:
    """Draw a gap that is consistent with strong convexity and smoothness."""
    mu, L = given["mu"], given["L"]
    return Fraction(given["distance2"] / 2 * (mu + (L - mu) * tenths(rng, 1, 9)))


def _draw_step(rng: np.random.Generator) -> dict[str, Any]:
    given, gamma = _draw_equal(rng)
    given |= {"gamma": gamma, "gap": _draw_gap(given, rng)}
    return given | {"step_size": step_size(rng, gamma / given["L"])}


def _draw_convex_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_step(rng)
    squares = 2 * given["L"] * given["max_weight"] * given.pop("objective_gap")
    return given | {"squared_weight_optimum_gradient2": squares}


def _draw_contraction(rng: np.random.Generator) -> dict[str, Any]:
    given, gamma = _draw_equal(rng)
    given |= {"smallest_gamma": gamma, "mean_inverse_gamma": 1 / gamma}
    return given | {"step_size": step_size(rng, gamma / given["L"])}


def _draw_all_clients(rng: np.random.Generator) -> dict[str, Any]:
    given, _ = _draw_equal(rng)
    kept = {name: given[name] for name in ("mu", "L", "distance2", "sum_squared_weights")}
    return kept | {"sigma2": tenths(rng, 0, 30), "step_size": step_size(rng, 1 / given["L"])}


def _draw_rounds(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_all_clients(rng) | {"sigma2": Fraction(0), "num_rounds": whole(rng, 1, 3)}
    return given | {"initial_distance2": given.pop("distance2")}


def _draw_round(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a round of several local steps of all clients."""
    given, _ = _draw_equal(rng)
    # If L is close to mu, the solver cannot tell whether the class of such short steps is empty.
    given["L"] += given["mu"]
    given |= {"gamma": Fraction(1), "gap": _draw_gap(given, rng), "local_steps": whole(rng, 1, 3)}
    # server_step_size^2 >= 1/sum_squared_weights; a local step size is step_size/(local_steps server_step_size)
    share = pick(rng, [Fraction(1), tenths(rng, 5, 9)])
    return given | {"server_step_size": Fraction(whole(rng, 2, 3)), "step_size": share / (16 * given["L"])}


def _draw_per_client(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_round(rng)
    return given | {"per_client_gap": given["max_weight"] * given["objective_gap"]}


def _draw_round_contraction(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_round(rng)
    del given["gap"]
    return given | {"smallest_gamma": given.pop("gamma"), "mean_inverse_gamma": Fraction(1)}


STEP: WorstCaseProblem = WorstCaseProblem(_step, _draw_step)
CONVEX_STEP: WorstCaseProblem = WorstCaseProblem(_step, _draw_convex_step)
CONTRACTION: WorstCaseProblem = WorstCaseProblem(_step, _draw_contraction)
ALL_CLIENTS: WorstCaseProblem = WorstCaseProblem(_all_clients, _draw_all_clients)
ALL_CLIENTS_ROUNDS: WorstCaseProblem = WorstCaseProblem(_all_clients, _draw_rounds, name="eq-22")
ROUND: WorstCaseProblem = WorstCaseProblem(_round, _draw_round)
ROUND_PER_CLIENT: WorstCaseProblem = WorstCaseProblem(_round, _draw_per_client, name="theorem-17-per-client")
ROUND_CONTRACTION: WorstCaseProblem = WorstCaseProblem(_round, _draw_round_contraction)
