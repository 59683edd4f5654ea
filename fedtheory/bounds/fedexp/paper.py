"""Definitions shared by the bounds on extrapolated server steps."""

from fedtheory.theorem import NONNEGATIVE, Paper, Symbol

PAPER = Paper(
    key="fedexp",
    title="FedExP: Speeding Up Federated Averaging via Extrapolation",
    authors="Jhunjhunwala, Wang, Joshi",
    year=2023,
    url="https://arxiv.org/abs/2301.09604",
    basis="abstract",
    symbols=(
        Symbol(
            "update2", "Mean squared norm of the clients' updates, ``sum_k p_k |y_k - w|^2``", NONNEGATIVE, "distance^2"
        ),
        Symbol(
            "mean_update2",
            "Squared norm of the mean update of the clients, ``|sum_k p_k (y_k - w)|^2``",
            NONNEGATIVE,
            "distance^2",
        ),
    ),
)
FEDEXPROX = Paper(
    key="fedexprox",
    title="The Power of Extrapolation in Federated Learning",
    authors="Li, Acharya, Richtarik",
    year=2024,
    url="https://arxiv.org/abs/2405.13766",
    basis="abstract",
)
