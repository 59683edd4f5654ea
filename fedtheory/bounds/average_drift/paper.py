"""Definitions shared by the bounds in terms of the average drift at the minimizer."""

from fedtheory.theorem import NONNEGATIVE, Paper
from fedtheory.theorem.symbols import GRADIENT2, Symbol

PAPER = Paper(
    key="average-drift",
    title="On the Unreasonable Effectiveness of Federated Averaging with Heterogeneous Data",
    authors="Wang, Das, Joshi, Kale, Xu, Zhang",
    year=2022,
    url="https://arxiv.org/abs/2206.04723",
    basis="abstract",
    symbols=(
        Symbol(
            "drift2",
            "Squared average drift at w*, ``|sum_k p_k (w* - y_k)|^2 / (eta tau)^2``, where y_k is the model of client "
            "k after a round from w*",
            NONNEGATIVE._replace(of_run="drift2"),
            GRADIENT2,
            r"\rho^2",
        ),
    ),
)
