"""Definitions shared by the bounds of Optimal Client Sampling."""

from dataclasses import replace

import numpy as np

from fedtheory.theorem import (
    NONNEGATIVE,
    POSITIVE,
    REAL,
    Convex,
    Hypothesis,
    Noise,
    Paper,
    Scheme,
    Smooth,
    StronglyConvex,
    knows,
)
from fedtheory.theorem.symbols import GRADIENT2, SYMBOLS, Symbol

_NOISE = "``E |g_i - grad f_i|^2 <= M |grad f_i|^2 + sigma^2``"

PAPER = Paper(
    key="optimal-client-sampling",
    title="Optimal Client Sampling for Federated Learning",
    authors="Chen, Horvath, Richtarik",
    year=2022,
    url="https://arxiv.org/abs/2010.13723",
    basis="remembered",
    symbols=(
        replace(SYMBOLS["num_clients"], letter="n"),
        replace(SYMBOLS["num_selected"], meaning="Number of clients per round (expected, if independent)"),
        replace(SYMBOLS["weights"], letter="w_i"),
        Symbol("probabilities", "Inclusion probabilities of the clients", letter="p_i"),
        Symbol("alpha", "Improvement factor of the sampling", letter=r"\alpha"),
        replace(SYMBOLS["local_steps"], letter="R"),
        replace(SYMBOLS["num_rounds"], letter="K"),
        replace(
            SYMBOLS["step_size"],
            meaning="Step size of a round, ``R eta_l eta_g`` with the step sizes eta_l of a local step and eta_g of "
            "the server",
        ),
        replace(SYMBOLS["local_step_size"], letter=r"\eta_l"),
        replace(SYMBOLS["server_step_size"], letter=r"\eta_g"),
        replace(SYMBOLS["mu"], meaning="Strong convexity of f, or of every f_i if the statement assumes it"),
        replace(SYMBOLS["L"], meaning="Smoothness of every f_i"),
        replace(SYMBOLS["distance2"], meaning="Squared distance ``|x^k - x*|^2`` of the server's model from x*"),
        replace(
            SYMBOLS["initial_distance2"], meaning="Squared distance of the first model from x*", letter=r"\|x^0-x^*\|^2"
        ),
        replace(SYMBOLS["initial_gap"], meaning="``f(x^0) - f_inf``"),
        replace(SYMBOLS["objective_gap"], meaning="``sum_i w_i (f_i(x*) - f_i*)``", letter=r"\bar Z"),
        replace(SYMBOLS["sigma2"], meaning=f"Absolute part of the noise, {_NOISE}"),
        Symbol(
            "relative_noise",
            f"Relative part of the noise, {_NOISE}",
            NONNEGATIVE._replace(of_run="relative_noise"),
            letter="M",
        ),
        Symbol(
            "gamma",
            "Relative improvement factor of the sampling, in [m/n, 1]",
            POSITIVE._replace(of_run="improvement"),
            letter=r"\gamma",
        ),
        Symbol("smallest_gamma", "Lower bound on gamma^k in every round", POSITIVE._replace(of_run="improvement")),
        Symbol(
            "mean_inverse_gamma",
            "``E[1/gamma^k]``, or its mean over the rounds",
            POSITIVE._replace(of_run="inverse_improvement"),
        ),
        Symbol("max_weight", "Largest of the clients' weights", POSITIVE._replace(of_run="max_weight"), letter="W"),
        Symbol(
            "sum_squared_weights",
            "Sum of the squares of the clients' weights",
            POSITIVE._replace(of_run="sum_squared_weights"),
            letter="S_2",
        ),
        Symbol(
            "dissimilarity",
            "``sum_i w_i |grad f_i - grad f|^2`` is at most this for every model",
            NONNEGATIVE._replace(of_run="dissimilarity"),
            GRADIENT2,
            r"\rho",
        ),
        Symbol("gap", "``f(x^k) - f*``", NONNEGATIVE, "loss"),
        Symbol("value", "``f(x^k)``", REAL, "loss"),
        Symbol("per_client_gap", "``sum_i w_i^2 (f_i(x*) - f_i*)``", NONNEGATIVE, "loss"),
        Symbol("gradient2", "``|grad f|^2`` at the server's model", NONNEGATIVE, GRADIENT2),
        Symbol("mean_gradient2", "``sum_i w_i |grad f_i|^2`` at the server's model", NONNEGATIVE, GRADIENT2),
        Symbol(
            "squared_weight_gradient2", "``sum_i w_i^2 |grad f_i|^2`` at the server's model", NONNEGATIVE, GRADIENT2
        ),
        Symbol("squared_weight_optimum_gradient2", "``sum_i w_i^2 |grad f_i(x*)|^2``", NONNEGATIVE, GRADIENT2),
        Symbol("mean_update2", "``E |sum_i w_i Delta_i|^2``", NONNEGATIVE, GRADIENT2),
        Symbol("squared_weight_update2", "``sum_i w_i^2 E |Delta_i|^2``", NONNEGATIVE, GRADIENT2),
        Symbol("sampling_error", "``E |G - sum_i w_i U_i|^2``", NONNEGATIVE, GRADIENT2),
        Symbol("update_error", "``E |sum_i w_i U_i - grad f|^2``", NONNEGATIVE, GRADIENT2),
        Symbol(
            "drift", "``(1/R) sum_i sum_{s<R} w_i E |y_{i,s} - x|^2``, see ``client_drift``", NONNEGATIVE, "distance^2"
        ),
        Symbol("displacement2", "``|z - x|^2``", NONNEGATIVE, "distance^2"),
        Symbol("value_difference", "``h(z) - h(y)``", REAL, "loss"),
    ),
)

SCHEMES = (Scheme("independent", "inverse probability"), Scheme("all", "weighted"))

# In theorems about local steps, step_size is eta = R eta_l eta_g.
WHOLE_MOVE = {"step_size": POSITIVE._replace(of_run="whole_move")}

# Relative rounding errors of a step size computed from the constants, and of the sum of the weights.
ROUNDING, _SUMMED = 8 * float(np.finfo(np.float64).eps), 1e-12

SMOOTH = Smooth(of="every f_i")
STRONGLY_CONVEX = StronglyConvex(of="f")
MINIMA = Hypothesis(
    "every f_i is bounded below by f_i* (objective_gap is sum_i w_i (f_i(x*) - f_i*))", of_run=knows("local_minima")
)
BOUNDED_BELOW = Hypothesis(
    "f is bounded below", of_run=lambda run: knows("infimum" if hasattr(type(run.fed), "infimum") else "minimum")(run)
)
CONVEX_CLIENTS = Convex(of="every f_i")
GRADIENT_NOISE = Noise(relative="relative_noise", across="uncorrelated across clients", source="Assumption 7")
LOCAL_GRADIENT_NOISE = Noise(
    relative="relative_noise",
    across="independent across clients, given the model and each local iterate",
    source="Assumption 8",
)
SIMILAR_CLIENTS = Hypothesis(
    "sum_i w_i |grad f_i - grad f|^2 <= dissimilarity for every model (Assumption 9)",
    of_run=lambda run: run.contradiction("dissimilarity", ">="),
)
GAMMA_AT_MOST_ONE = Hypothesis("gamma <= 1", lambda gamma: (gamma, "<=", 1), rtol=ROUNDING)
INVERSE_GAMMA = (
    Hypothesis("smallest_gamma <= 1", lambda smallest_gamma: (smallest_gamma, "<=", 1), rtol=ROUNDING),
    Hypothesis(
        "mean_inverse_gamma >= 1 (it is the mean of 1/gamma, not of gamma)",
        lambda mean_inverse_gamma: (mean_inverse_gamma, ">=", 1),
        rtol=ROUNDING,
    ),
    Hypothesis(
        "mean_inverse_gamma <= 1/smallest_gamma",
        lambda mean_inverse_gamma, smallest_gamma: (mean_inverse_gamma, "<=", 1 / smallest_gamma),
        rtol=ROUNDING,
    ),
)
WEIGHTS = (
    Hypothesis(
        "max_weight^2 <= sum_squared_weights",
        lambda max_weight, sum_squared_weights: (max_weight**2, "<=", sum_squared_weights),
        rtol=_SUMMED,
    ),
    Hypothesis(
        "sum_squared_weights <= max_weight",
        lambda max_weight, sum_squared_weights: (sum_squared_weights, "<=", max_weight),
        rtol=_SUMMED,
    ),
    Hypothesis("max_weight <= 1", lambda max_weight: (max_weight, "<=", 1), rtol=ROUNDING),
)

SHORT_DSGD_STEPS = Hypothesis(
    "step_size <= smallest_gamma/((1 + max_weight M) L), eq. (18); smallest_gamma is a lower bound in every round",
    lambda step_size, smallest_gamma, max_weight, relative_noise, L: (
        step_size,
        "<=",
        smallest_gamma / ((1 + max_weight * relative_noise) * L),
    ),
    rtol=ROUNDING,
)

_SERVER_AT_LEAST_ONE = Hypothesis("server_step_size >= 1", lambda server_step_size: (server_step_size, ">=", 1))
_LOCAL_STEPS_SHORT = Hypothesis(
    "step_size <= 1/(8 L (2 + M/R))",
    lambda step_size, L, relative_noise, local_steps: (
        step_size,
        "<=",
        1 / (8 * L * (2 + relative_noise / local_steps)),
    ),
    rtol=ROUNDING,
)


def _sampling_limit(gamma: str, remark: str = "") -> Hypothesis:
    """Return the condition on the step size for gamma, or for a lower bound of it."""
    return Hypothesis(
        f"step_size <= {gamma}/(8 L (1 + max_weight M/R)){remark}",
        lambda eta, gamma, L, W, M, R: (eta, "<=", gamma / (8 * L * (1 + W * M / R))),
        ("step_size", gamma, "L", "max_weight", "relative_noise", "local_steps"),
        rtol=ROUNDING,
    )


FEDAVG_STEPS = (
    _SERVER_AT_LEAST_ONE,
    Hypothesis(
        "server_step_size^2 >= gamma/sum_squared_weights",
        lambda server_step_size, gamma, sum_squared_weights: (server_step_size**2, ">=", gamma / sum_squared_weights),
        rtol=ROUNDING,
    ),
    _LOCAL_STEPS_SHORT,
    _sampling_limit("gamma"),
)
FEDAVG_STEPS_FOR_ALL_ROUNDS = (
    _SERVER_AT_LEAST_ONE,
    Hypothesis(
        "server_step_size^2 >= 1/sum_squared_weights (since gamma may be 1)",
        lambda server_step_size, sum_squared_weights: (server_step_size**2, ">=", 1 / sum_squared_weights),
        rtol=ROUNDING,
    ),
    _LOCAL_STEPS_SHORT,
    _sampling_limit("smallest_gamma", "; smallest_gamma is a lower bound in every round"),
)
