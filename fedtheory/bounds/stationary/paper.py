"""Definitions shared by the bounds on stationary points."""

from fedtheory.theorem.domains import NONNEGATIVE, POSITIVE
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.symbols import Symbol

__all__ = ["PAPER"]

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
    ),
)
