"""Words that the statements of Optimal Client Sampling share: the paper, its hypotheses and the arguments' domains."""

import numpy as np

from fedtheory._support.validate import finite, nonnegative, positive
from fedtheory.theorem.assumptions import Convex, Hypothesis, Noise, Smooth, StronglyConvex, knows
from fedtheory.theorem.domains import Domain
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.scheme import Scheme

__all__ = [
    "BOUNDED_BELOW",
    "CONVEX_CLIENTS",
    "DOMAINS",
    "FEDAVG_STEPS",
    "FEDAVG_STEPS_FOR_ALL_ROUNDS",
    "GAMMA_AT_MOST_ONE",
    "GRADIENT_NOISE",
    "INVERSE_GAMMA",
    "LOCAL_GRADIENT_NOISE",
    "MINIMA",
    "PAPER",
    "ROUNDING",
    "SCHEMES",
    "SHORT_DSGD_STEPS",
    "SIMILAR_CLIENTS",
    "SMOOTH",
    "STRONGLY_CONVEX",
    "WEIGHTS",
    "WHOLE_MOVE",
]

PAPER = Paper(
    key="optimal-client-sampling",
    title="Optimal Client Sampling for Federated Learning",
    authors="Chen, Horvath, Richtarik",
    year=2022,
    url="https://arxiv.org/abs/2010.13723",
    compared=False,  # the text at hand has lost all its formulas
)

SCHEMES = (Scheme("independent", "inverse probability"), Scheme("all", "weighted"))

_POSITIVE = Domain(positive, {"positive": True})
_NONNEGATIVE = Domain(nonnegative, {"nonnegative": True})
_REAL = Domain(finite, {"real": True})
DOMAINS = {
    **dict.fromkeys(("gamma", "smallest_gamma"), _POSITIVE._replace(of_run="improvement")),
    "mean_inverse_gamma": _POSITIVE._replace(of_run="inverse_improvement"),
    **{name: _POSITIVE._replace(of_run=name) for name in ("max_weight", "sum_squared_weights")},
    **{name: _NONNEGATIVE._replace(of_run=name) for name in ("relative_noise", "dissimilarity")},
    **dict.fromkeys(("gap", "per_client_gap", "drift", "displacement2"), _NONNEGATIVE),
    **dict.fromkeys(("gradient2", "mean_gradient2", "squared_weight_gradient2"), _NONNEGATIVE),
    **dict.fromkeys(("squared_weight_optimum_gradient2", "mean_update2", "squared_weight_update2"), _NONNEGATIVE),
    **dict.fromkeys(("sampling_error", "update_error"), _NONNEGATIVE),
    **dict.fromkeys(("value", "value_difference"), _REAL),
}

# The step size of a theorem about local steps is that of the server's whole move, eta = R eta_l eta_g.
WHOLE_MOVE = {**DOMAINS, "step_size": _POSITIVE._replace(of_run="whole_move")}

# Relative rounding errors: of the few operations that made a step size out of the constants, and of weights' sums.
ROUNDING, _SUMMED = 8 * float(np.finfo(np.float64).eps), 1e-12

SMOOTH = Smooth(of="every f_i")
STRONGLY_CONVEX = StronglyConvex(of="f")
MINIMA = Hypothesis(
    "every f_i is bounded below by f_i* (objective_gap is sum_i w_i (f_i(x*) - f_i*))", of_run=knows("local_minima")
)
BOUNDED_BELOW = Hypothesis(
    "f is bounded below",
    of_run=lambda run: knows("infimum" if hasattr(type(run.fed), "infimum") else "minimum")(run),
)
CONVEX_CLIENTS = Convex(of="every f_i")
GRADIENT_NOISE = Noise(relative="relative_noise", across="uncorrelated across clients", source="Assumption 7")
LOCAL_GRADIENT_NOISE = Noise(
    relative="relative_noise",
    across="independent across clients, given the model and each local iterate",
    source="Assumption 8",
)
SIMILAR_CLIENTS = Hypothesis(
    "sum_i w_i |grad f_i - grad f|^2 <= dissimilarity everywhere (Assumption 9)",
    of_run=lambda run: run.contradiction("dissimilarity", ">="),
)
GAMMA_AT_MOST_ONE = Hypothesis("gamma <= 1", lambda gamma: (gamma, "<=", 1), rtol=ROUNDING)
INVERSE_GAMMA = (
    Hypothesis("smallest_gamma <= 1", lambda smallest_gamma: (smallest_gamma, "<=", 1), rtol=ROUNDING),
    Hypothesis(
        "mean_inverse_gamma >= 1 (it is E[1/gamma], not E[gamma])",
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
    "step_size <= smallest_gamma/((1 + max_weight M) L), eq. (18), with a lower bound on gamma in every round",
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
FEDAVG_STEPS = (
    _SERVER_AT_LEAST_ONE,
    Hypothesis(
        "server_step_size^2 >= gamma/sum_squared_weights",
        lambda server_step_size, gamma, sum_squared_weights: (
            server_step_size**2,
            ">=",
            gamma / sum_squared_weights,
        ),
        rtol=ROUNDING,
    ),
    _LOCAL_STEPS_SHORT,
    Hypothesis(
        "step_size <= gamma/(8 L (1 + max_weight M/R))",
        lambda step_size, gamma, L, max_weight, relative_noise, local_steps: (
            step_size,
            "<=",
            gamma / (8 * L * (1 + max_weight * relative_noise / local_steps)),
        ),
        rtol=ROUNDING,
    ),
)
FEDAVG_STEPS_FOR_ALL_ROUNDS = (
    _SERVER_AT_LEAST_ONE,
    Hypothesis(
        "server_step_size^2 >= 1/sum_squared_weights (gamma may be 1)",
        lambda server_step_size, sum_squared_weights: (server_step_size**2, ">=", 1 / sum_squared_weights),
        rtol=ROUNDING,
    ),
    _LOCAL_STEPS_SHORT,
    Hypothesis(
        "step_size <= smallest_gamma/(8 L (1 + max_weight M/R)), with a lower bound on gamma in every round",
        lambda step_size, smallest_gamma, L, max_weight, relative_noise, local_steps: (
            step_size,
            "<=",
            smallest_gamma / (8 * L * (1 + max_weight * relative_noise / local_steps)),
        ),
        rtol=ROUNDING,
    ),
)
