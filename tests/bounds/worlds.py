"""Constants that some federation could have, as exact rationals: where bounds meet their transcriptions.

Every world satisfies the hypotheses of every bound of its paper, and what follows from them: mu <= L, sigma^2 <= G^2,
gaps between mu/2 and L/2 times squared distances, G^2 at least the gradients that strong convexity forces. Nothing is
zero.
"""

import inspect
from collections.abc import Callable
from fractions import Fraction as Q


def share(rng, low=Q(1, 20)):
    """A rational between ``low`` and 1."""
    return low + (1 - low) * Q(rng.randint(1, 19), 20)


def positive(rng, high=9):
    return Q(rng.randint(1, 10 * high), rng.randint(3, 10))


def power_of_choice(rng, *, local_steps=None, num_selected=None):
    mu, kappa = positive(rng, 4), 1 + positive(rng, 6)
    L, rho = mu * kappa, share(rng) * kappa
    tau, m = local_steps or rng.randint(2, 5), num_selected or rng.randint(2, 6)
    rho_tilde = rho * (1 + positive(rng, 2))
    distance2, Gamma = positive(rng), positive(rng)
    gap = distance2 / 2 * (mu + (L - mu) * share(rng))
    # PL inequality: the mean of |grad F_k|^2 is at least 2 mu (F - F* + Gamma), and rho times it over the selected.
    G2 = max(1, rho_tilde) * 2 * mu * (gap + Gamma) * (1 + positive(rng, 1))
    eta = share(rng) / (4 * (1 + m) * L)
    return {
        "num_steps": rng.randint(1, 12),
        "num_rounds": rng.randint(1, 12),
        "gamma": 2 * tau * kappa * (1 + positive(rng, 1)),
        "mu": mu,
        "L": L,
        "local_steps": tau,
        "num_selected": m,
        "G2": G2,
        "sigma2": G2 * share(rng),
        "objective_gap": Gamma,
        "rho_bar": rho,
        "rho_diagonal": rho,
        "rho_tilde": rho_tilde,
        "initial_distance2": distance2,
        "initial_gap": gap,
        "distance2": distance2,
        "step_size": eta,
        "elapsed_step_size": eta * (1 + share(rng)) * rng.randint(1, max(1, tau - 1)),
        "squared_weights": Q(1, m) + (1 - Q(1, m)) * share(rng),
        "excess": positive(rng),
        "distances2": [rng.randint(1, 99) / 8 for _ in range(4)],
    }


def fedavg(rng, *, local_steps=None, num_selected=None):
    everybody = num_selected == "all"
    world = power_of_choice(rng, local_steps=local_steps, num_selected=None if everybody else num_selected)
    left_out = 0 if everybody else rng.randint(1, 9)
    return world | {
        "num_clients": world["num_selected"] + left_out,
        "weighted_sigma2": world["sigma2"] * share(rng),
    }


def fedalign(rng, *, local_steps=None, num_selected=None):
    world = power_of_choice(rng, local_steps=local_steps, num_selected=num_selected)
    mu, L, E, G2 = world["mu"], world["L"], world["local_steps"], world["G2"]
    rounds = rng.randint(1, 5)
    num_steps, gamma = rounds * E, max(8 * L / mu, E)
    # Dyadic numbers, so that arrays of floats hold them exactly; 2 mu Gamma_k <= G^2.
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


def optimal_client_sampling(rng, *, local_steps=None, num_selected=None):
    n = rng.randint(2, 5)
    m = n if num_selected == "all" else num_selected or rng.randint(1, n - 1)
    parts = [rng.randint(1, 9) for _ in range(n)]
    weights = [Q(part, sum(parts)) for part in parts]
    W, S2 = max(weights), sum(w**2 for w in weights)
    local = local_steps or rng.randint(2, 6)
    mu, kappa, M = positive(rng, 4), 1 + positive(rng, 6), positive(rng, 3)
    L, smallest_gamma = mu * kappa, Q(m, n)
    gamma = smallest_gamma + (1 - smallest_gamma) * share(rng)
    distance2 = positive(rng)
    gap = distance2 / 2 * (mu + (L - mu) * share(rng))
    Z = [positive(rng, 3) for _ in weights]
    gradients = [positive(rng, 3) * rng.choice((-1, 1)) for _ in weights]
    at_optimum = [positive(rng, 2) * rng.choice((-1, 1)) for _ in weights[1:]]
    at_optimum.append(-sum(w * g for w, g in zip(weights, at_optimum, strict=False)) / weights[-1])
    mean_g2, g = mean(weights, [g**2 for g in gradients]), mean(weights, gradients)
    limit = min(1 / (8 * L * (2 + M / local)), smallest_gamma / (8 * L * (1 + W * M)))
    return {
        "num_rounds": rng.randint(1, 12),
        "mu": mu,
        "L": L,
        "local_steps": local,
        "distance2": distance2,
        "initial_distance2": distance2,
        "gap": gap,
        "initial_gap": gap,
        "value": gap + positive(rng),
        "step_size": limit * share(rng),
        "server_step_size": n * (1 + positive(rng, 1)),
        "gamma": gamma,
        "smallest_gamma": smallest_gamma,
        "mean_inverse_gamma": 1 + (1 / smallest_gamma - 1) * share(rng),
        "max_weight": W,
        "sum_squared_weights": S2,
        "relative_noise": M,
        "sigma2": positive(rng),
        "objective_gap": mean(weights, Z),
        "per_client_gap": mean([w**2 for w in weights], Z),
        "dissimilarity": mean_g2 - g**2 + positive(rng, 1),
        "gradient2": g**2 or Q(1, 9),
        "mean_gradient2": mean_g2,
        "squared_weight_gradient2": mean([w**2 for w in weights], [g**2 for g in gradients]),
        "squared_weight_optimum_gradient2": mean([w**2 for w in weights], [g**2 for g in at_optimum]),
        "squared_weight_update2": mean([w**2 for w in weights], [g**2 for g in gradients]),
        "mean_update2": g**2 or Q(1, 9),
        "sampling_error": positive(rng),
        "update_error": positive(rng),
        "drift": positive(rng, 1),
        "value_difference": L / 2 * positive(rng) * rng.choice((-1, 1)),
        "displacement2": positive(rng),
    }


def mean(weights, values):
    return sum(w * value for w, value in zip(weights, values, strict=True))


def pick(bound, world):
    """The arguments of a bound."""
    parameters = inspect.signature(bound).parameters
    return {name: value for name, value in world.items() if name in parameters}


def named(bound, first, rest):
    """Arguments of a call by name."""
    return dict(inspect.signature(bound).bind(*first, **rest).arguments)


def contradictions(world):
    """What the hypotheses imply and these numbers deny."""
    world = {key: value if isinstance(value, list) else Q(value) for key, value in world.items()}
    distance2 = world.get("distance2", world.get("initial_distance2"))
    gap, start = world.get("gap", world.get("initial_gap")), world.get("initial_distance2", 0)
    rho = world.get("rho_diagonal", world.get("rho_bar"))
    consequences: dict[str, Callable[..., bool]] = {
        "mu <= L": lambda mu, L: mu <= L,
        "rho <= L/mu": lambda mu, L: rho is None or rho <= L / mu,
        "mu/2 |x - x*|^2 <= gap <= L/2 |x - x*|^2": lambda mu, L: (
            gap is None or distance2 is None or mu / 2 * distance2 <= gap <= L / 2 * distance2
        ),
        "sigma2 <= G2": lambda sigma2, G2: sigma2 <= G2,
        # The PL inequality at a round's start, averaged over all clients and over the selected ones.
        "2 mu (F - F* + Gamma) <= G2": lambda mu, G2, objective_gap: (
            max(1, rho or 0) * 2 * mu * (world.get("initial_gap", mu / 2 * start) + objective_gap) <= G2
        ),
        "W^2 <= S2 <= W <= 1": lambda max_weight, sum_squared_weights: (
            max_weight**2 <= sum_squared_weights <= max_weight <= 1
        ),
        "|sum w_i grad f_i|^2 <= sum w_i |grad f_i|^2": lambda gradient2, mean_gradient2: gradient2 <= mean_gradient2,
        "sum w_i^2 Z_i <= W sum w_i Z_i": lambda per_client_gap, max_weight, objective_gap: (
            per_client_gap <= max_weight * objective_gap
        ),
        "2 mu Gamma_k <= G2 (1 + s)/s on average": lambda mu, G2, included_gap, priority_weight: (
            2 * mu * included_gap <= (1 - priority_weight) * G2
        ),
    }
    readable = {text: inspect.signature(holds).parameters for text, holds in consequences.items()}
    return [
        text
        for text, names in readable.items()
        if set(names) <= set(world) and not consequences[text](**{name: world[name] for name in names})
    ]
