"""Definitions shared by the bounds on stationary points."""

from fedtheory.theorem import NONNEGATIVE, POSITIVE, Paper
from fedtheory.theorem.symbols import GRADIENT2, Symbol

PAPER = Paper(
    key="stationary",
    title="Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization",
    authors="Wang, Liu, Liang, Joshi, Poor",
    year=2020,
    url="https://arxiv.org/abs/2007.07481",
    symbols=(
        Symbol(
            "effective_steps",
            "Mean number of local steps of the clients, ``sum_k p_k tau_k``",
            POSITIVE,
            letter=r"\tau_{\mathrm{eff}}",
        ),
        Symbol(
            "stationary_distance2",
            "Squared distance of the first model from the stationary point of the run",
            NONNEGATIVE,
            "distance^2",
        ),
        Symbol(
            "surrogate_gradient2",
            "Squared norm of the gradient of the surrogate ``sum_k q_k F_k``",
            NONNEGATIVE,
            GRADIENT2,
            r"\|\nabla\tilde F(w)\|^2",
        ),
        Symbol("chi2", "Divergence of the weights, ``sum_k (p_k - q_k)^2/q_k``", NONNEGATIVE, letter=r"\chi^2"),
        Symbol("beta2", "Factor of Assumption 3, at least 1", POSITIVE, letter=r"\beta^2"),
        Symbol("kappa2", "Constant of Assumption 3", NONNEGATIVE, GRADIENT2, r"\kappa^2"),
    ),
)
