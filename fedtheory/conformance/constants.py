"""Consistent constants for bounds, as exact rationals: a Hypothesis strategy.

Every drawn set of constants satisfies the hypotheses of all bounds of a paper and their implications: mu <= L,
sigma^2 <= G^2, gaps between mu/2 and L/2 times squared distances, and G^2 at least as large as strong convexity
requires. No constant is zero. They are drawn by ``random.Random``, whose numbers Hypothesis can choose and shrink.
"""

import inspect
from collections.abc import Callable
from fractions import Fraction as Q
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fedtheory.theorem.bound import Bound

__all__ = ["constants_of"]

World = dict[str, Any]


def constants_of(bound: Bound) -> SearchStrategy[dict[str, Any]]:
    """Nonzero arguments of a bound, by name, that satisfy its hypotheses and those of all bounds of its paper.

    Parameters
    ----------
    bound
        A bound of this package.

    Returns
    -------
    SearchStrategy
        A strategy for dictionaries; Hypothesis shrinks their seed.

    Raises
    ------
    ValueError
        If constants for the paper of the bound, or for one of its arguments, are not implemented.

    Examples
    --------
    ``@given(constants=constants_of(poc.one_step))`` above ``def test_it(constants): poc.one_step(**constants)``.

    >>> from fedtheory.bounds import power_of_choice as poc
    >>> drawn = power_of_choice(Random(1))
    >>> poc.one_step(**{name: drawn[name] for name in inspect.signature(poc.one_step).parameters if name in drawn}) > 0
    True
    """
    known: dict[str, Callable[..., World]] = {
        "power-of-choice": power_of_choice,
        "fedavg": fedavg,
        "fedalign": fedalign,
        "optimal-client-sampling": optimal_client_sampling,
        "sgd": sgd,
        "average-drift": average_drift,
        "participation": participation,
        "client-sampling": client_sampling,
        "error-feedback": error_feedback,
        "fedexp": fedexp,
        "fedprox": fedprox,
        "scaffold": control_variates,
        "proxskip": control_variates,
        "stationary": control_variates,
    }
    paper = bound.statement.topic.key
    names = [name for name in inspect.signature(bound).parameters if name != "strict"]
    world = known[paper](Random(0)) if paper in known else {}
    missing = [name for name in names if name not in world]
    if missing:
        message = f"bound must be one whose constants are implemented, got {bound.__name__}, of {missing}"
        raise ValueError(message)
    return st.randoms(use_true_random=False).map(
        lambda rng: {name: value for name, value in known[paper](rng).items() if name in names}
    )


def share(rng: Random, low: Q = Q(1, 20)) -> Q:
    """Draw a rational between ``low`` and 1."""
    return low + (1 - low) * Q(rng.randint(1, 19), 20)


def positive(rng: Random, high: int = 9) -> Q:
    """Draw a positive rational of moderate size."""
    return Q(rng.randint(1, 10 * high), rng.randint(3, 10))


def power_of_choice(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bounds of Power-of-Choice."""
    mu, kappa = positive(rng, 4), 1 + positive(rng, 6)
    L, rho = mu * kappa, share(rng) * kappa
    tau, m = local_steps or rng.randint(2, 5), num_selected or rng.randint(2, 6)
    rho_tilde = rho * (1 + positive(rng, 2))
    distance2, Gamma = positive(rng), positive(rng)
    gap = distance2 / 2 * (mu + (L - mu) * share(rng))
    # PL inequality: the mean of |grad F_k|^2 is at least 2 mu (F - F* + Gamma), and rho times that if selected.
    G2 = max(Q(1), rho_tilde) * 2 * mu * (gap + Gamma) * (1 + positive(rng, 1))
    eta = share(rng) / (4 * (1 + m) * L)
    skews = {"rho_bar": rho, "rho_diagonal": rho, "rho_tilde": rho_tilde}
    start = {"initial_distance2": distance2, "initial_gap": gap, "distance2": distance2}
    world = {"mu": mu, "L": L, "local_steps": tau, "num_selected": m, "G2": G2, "objective_gap": Gamma}
    return {**world, **skews, **start, "step_size": eta, **_of_a_run(rng, tau, m, kappa, G2, eta)}


def _of_a_run(rng: Random, tau: int, m: int, kappa: Q, G2: Q, eta: Q) -> World:
    return {
        "num_steps": rng.randint(1, 12),
        "num_rounds": rng.randint(1, 12),
        "gamma": 2 * tau * kappa * (1 + positive(rng, 1)),
        "sigma2": G2 * share(rng),
        "elapsed_step_size": eta * (1 + share(rng)) * rng.randint(1, max(1, tau - 1)),
        "squared_weights": Q(1, m) + (1 - Q(1, m)) * share(rng),
        "excess": positive(rng),
        "distances2": [rng.randint(1, 99) / 8 for _ in range(4)],
    }


def fedavg(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bounds of Li et al.."""
    all_clients = num_selected == "all"
    world = power_of_choice(rng, local_steps=local_steps, num_selected=None if all_clients else num_selected)
    left_out = 0 if all_clients else rng.randint(1, 9)
    return world | {
        "num_clients": world["num_selected"] + left_out,
        "weighted_sigma2": world["sigma2"] * share(rng),
    }


def fedalign(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bounds of FedALIGN."""
    world = power_of_choice(rng, local_steps=local_steps, num_selected=num_selected)
    mu, L, E, G2 = world["mu"], world["L"], world["local_steps"], world["G2"]
    rounds = rng.randint(1, 5)
    num_steps, gamma = rounds * E, max(8 * L / mu, E)
    # Dyadic rationals are exact in arrays of floats; 2 mu Gamma_k <= G^2.
    joined = [Q(rng.randint(1, 31), 32) for _ in range(rounds)]
    gaps = [(1 - a) * Q(rng.randint(1, 8), 8) * Q(int(64 * min(G2 / (2 * mu), 8)), 64) for a in joined]
    steps = range(1, num_steps)
    world |= {
        "num_steps": num_steps,
        "num_draws": world["num_selected"],
        "step_size": world["step_size"],
        "priority_weight": joined[0],
        "included_gap": gaps[0],
        "priority_weights": [joined[i // E] for i in range(num_steps)],
        "included_gaps": [gaps[i // E] for i in range(num_steps)],
        "theta": sum(joined[i // E] for i in steps) / (num_steps + gamma - 2) or Q(1, 9),
        "rho": 2 * L / (mu * (num_steps + gamma - 2)) * sum(gaps[i // E] for i in steps) or Q(1, 9),
        "weights": [0.125, 0.25, 0.5, 0.125],
        "squared_weights": share(rng),
    }
    return world


def control_variates(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:  # noqa: ARG001 # all take part
    """Draw constants of methods with control variates and of stationary points; step sizes are at most 1/(tau L)."""
    world = power_of_choice(rng, local_steps=local_steps, num_selected=None)
    return world | {
        "step_size": share(rng) / (world["local_steps"] * world["L"]),
        "num_rounds": rng.randint(1, 5),
        "control_error2": positive(rng),
        "probability": share(rng) * Q(19, 20),
        "stationary_distance2": positive(rng),
        "effective_steps": 1 + share(rng) * (world["local_steps"] > 1),
    }


def optimal_client_sampling(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bounds of Optimal Client Sampling."""
    n = rng.randint(2, 5)
    m = n if num_selected == "all" else num_selected or rng.randint(1, n - 1)
    parts = [rng.randint(1, 9) for _ in range(n)]
    weights = [Q(part, sum(parts)) for part in parts]
    world = _of_the_problem(rng, local_steps or rng.randint(2, 6), Q(m, n))
    Z = [positive(rng, 3) for _ in weights]
    gradients = [positive(rng, 3) * rng.choice((-1, 1)) for _ in weights]
    at_optimum = [positive(rng, 2) * rng.choice((-1, 1)) for _ in weights[1:]]
    at_optimum.append(-sum(w * g for w, g in zip(weights, at_optimum, strict=False)) / weights[-1])
    world |= _of_the_steps(rng, world, n, max(weights), sum((w**2 for w in weights), Q(0)))
    world |= _of_the_clients(rng, weights, Z, gradients, at_optimum)
    return world | {
        "sampling_error": positive(rng),
        "update_error": positive(rng),
        "drift": positive(rng, 1),
        "value_difference": world["L"] / 2 * positive(rng) * rng.choice((-1, 1)),
        "displacement2": positive(rng),
    }


def _of_the_problem(rng: Random, local_steps: int, smallest_gamma: Q) -> World:
    mu, kappa, M = positive(rng, 4), 1 + positive(rng, 6), positive(rng, 3)
    L, gamma = mu * kappa, smallest_gamma + (1 - smallest_gamma) * share(rng)
    distance2 = positive(rng)
    gap = distance2 / 2 * (mu + (L - mu) * share(rng))
    return {
        "mu": mu,
        "L": L,
        "relative_noise": M,
        "local_steps": local_steps,
        "smallest_gamma": smallest_gamma,
        "gamma": gamma,
        "distance2": distance2,
        "initial_distance2": distance2,
        "gap": gap,
        "initial_gap": gap,
    }


def _of_the_steps(rng: Random, world: World, num_clients: int, max_weight: Q, sum_squared_weights: Q) -> World:
    L, M, smallest_gamma = world["L"], world["relative_noise"], world["smallest_gamma"]
    limit = min(1 / (8 * L * (2 + M / world["local_steps"])), smallest_gamma / (8 * L * (1 + max_weight * M)))
    return {
        "num_rounds": rng.randint(1, 12),
        "value": world["gap"] + positive(rng),
        "step_size": limit * share(rng),
        "server_step_size": num_clients * (1 + positive(rng, 1)),
        "mean_inverse_gamma": 1 + (1 / smallest_gamma - 1) * share(rng),
        "max_weight": max_weight,
        "sum_squared_weights": sum_squared_weights,
        "sigma2": positive(rng),
    }


def _of_the_clients(rng: Random, weights: list[Q], Z: list[Q], gradients: list[Q], at_optimum: list[Q]) -> World:
    squares, w2 = [g**2 for g in gradients], [w**2 for w in weights]
    mean_g2, g = mean(weights, squares), mean(weights, gradients)
    return {
        "objective_gap": mean(weights, Z),
        "per_client_gap": mean(w2, Z),
        "dissimilarity": mean_g2 - g**2 + positive(rng, 1),
        "gradient2": g**2 or Q(1, 9),
        "mean_gradient2": mean_g2,
        "squared_weight_gradient2": mean(w2, squares),
        "squared_weight_optimum_gradient2": mean(w2, [g**2 for g in at_optimum]),
        "squared_weight_update2": mean(w2, squares),
        "mean_update2": g**2 or Q(1, 9),
    }


def sgd(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bounds on clients that differ at w*, with rational roots."""
    all_clients = num_selected == "all"
    m = rng.randint(2, 6) if all_clients else num_selected or rng.randint(2, 6)
    num_clients = m + (0 if all_clients else rng.randint(1, 9))
    mu, kappa, distance = positive(rng, 4), 1 + positive(rng, 6), positive(rng)
    L = mu * kappa
    eta = 2 * share(rng) / (L + mu) * Q(19, 20)
    # (1, 1) is on the conic r_2^2 - 1 = rho (r_1^2 - 1) of the roots, and lines through it yield all other points.
    rho, root = Q(num_clients - m, num_clients - 1), Q(0)
    while root**2 <= 1:
        # Hypothesis starts with the smallest draws, for which this range yields p = -9, which is a valid point.
        p, q = Q(rng.randint(0, 18) - 9), Q(rng.randint(1, 9))
        root = 1 + 2 * p * (rho * p - q) / (q * q - rho * p * p) if q * q != rho * p * p else Q(0)
    kept = (1 - eta * (L + mu) / 2) * distance
    return {
        "mu": mu,
        "L": L,
        "step_size": eta,
        "num_clients": num_clients,
        "num_selected": m,
        "local_steps": local_steps or rng.randint(2, 6),
        "num_steps": rng.randint(1, 12),
        "distance2": distance**2,
        "initial_distance2": distance**2,
        "zeta2": m * kept**2 * (root**2 - 1) / eta**2,
    }


def average_drift(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bound in terms of the average drift at w*, with rational roots."""
    world = sgd(rng, local_steps=local_steps, num_selected=num_selected)
    kept = {name: world[name] for name in ("mu", "L", "step_size", "local_steps", "initial_distance2")}
    return kept | {"num_rounds": rng.randint(1, 5), "drift2": positive(rng) ** 2}


def participation(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bound for arbitrary participation, with rational roots."""
    world = average_drift(rng, local_steps=local_steps, num_selected=num_selected)
    eta, mu, L, delta2 = min(world["step_size"], 1 / world["L"]), world["mu"], world["L"], world.pop("drift2")
    left = (1 - eta * mu) ** (world["local_steps"] * world["num_rounds"])
    floor = (1 - left) * eta**2 * L / mu * delta2
    # The radicand becomes the square of a number that is at least its floor.
    start = (1 + floor) ** 2 - floor
    first = start / left if left else start
    return world | {"step_size": eta, "imbalance2": delta2, "initial_distance2": first}


def client_sampling(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bound on a step of any unbiased sampling, with a rational root."""
    world = sgd(rng, local_steps=local_steps, num_selected=num_selected)
    kept = {name: world[name] for name in ("mu", "L", "step_size", "distance2")}
    return kept | {"sampling_variance": world["zeta2"] / world["num_selected"]}


def fedexp(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bound on an extrapolated round, with updates that fit the distance."""
    world = sgd(rng, local_steps=local_steps, num_selected=num_selected)
    kept = {name: world[name] for name in ("L", "step_size", "local_steps", "distance2")}
    # The updates are at most as long as leaves a quarter of the distance.
    alpha, rate = 1 + positive(rng, 3), kept["step_size"] * kept["L"]
    update2 = share(rng) * Q(3, 4) * kept["distance2"] / (alpha * (1 + (2 - rate) / (kept["local_steps"] * rate)))
    return kept | {"server_step_size": alpha, "update2": update2, "mean_update2": share(rng) * update2}


def error_feedback(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the bounds on compressed communication, with rational rates."""
    del local_steps, num_selected  # one step of all clients
    s, L = share(rng, Q(1, 10)) * Q(9, 10), positive(rng, 4)
    mu, z = L * share(rng) * Q(19, 20), Q(rng.randint(2, 38), 40)
    while z - s / z < (1 - s) * (L - mu) / (L + mu):
        z = (1 + z) / 2
    t = z - s / z
    # Below or above the best step size.
    step_size = (t + 1 - s) / ((1 + s) * L) if rng.randint(0, 1) else (1 - s - t) / ((1 + s) * mu)
    distance2 = positive(rng)
    return {
        "mu": mu,
        "L": L,
        "compression_error": s,
        "step_size": step_size,
        "num_rounds": rng.randint(1, 12),
        "potential": positive(rng),
        "initial_potential": positive(rng),
        "initial_distance2": distance2,
        "initial_gap": distance2 / 2 * (mu + (L - mu) * share(rng)),
    }


def fedprox(rng: Random, *, local_steps: Any = None, num_selected: Any = None) -> World:
    """Draw constants for the forms of FedProx's theorem; ``2 K`` is a square."""
    del local_steps, num_selected  # one proximal problem, and K such that the roots are rational
    L, B = positive(rng, 4), 1 + positive(rng, 2)
    negative = L * share(rng)
    return {
        "gradient2": positive(rng),
        "L": L,
        "negative_curvature": negative,
        "proximal_weight": negative + positive(rng, 6),
        "gradient_dissimilarity": B,
        "inexactness": share(rng) / 2,
        "num_selected": 2 * rng.randint(1, 6) ** 2,
    }


def mean(weights: Any, values: Any) -> Any:
    """Return the weighted mean."""
    return sum(w * value for w, value in zip(weights, values, strict=True))
