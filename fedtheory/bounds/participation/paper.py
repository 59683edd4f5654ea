"""Definitions shared by the bounds for arbitrary participation."""

from fedtheory.theorem import NONNEGATIVE, Paper
from fedtheory.theorem.symbols import GRADIENT2, Symbol

PAPER = Paper(
    key="participation",
    title="A Unified Analysis of Federated Learning with Arbitrary Client Participation",
    authors="Wang, Ji",
    year=2022,
    url="https://arxiv.org/abs/2205.13648",
    basis="abstract",
    symbols=(
        Symbol(
            "imbalance2",
            "Squared imbalance of participation, the largest ``sum_k q_rk |tau S_r + s grad F_k(w*)|^2`` over the "
            "rounds r < R and the local steps s < tau, or ``|tau S_R|^2``, where S_r is the sum of the ``q_lk grad "
            "F_k(w*)`` over k and the rounds l < r",
            NONNEGATIVE._replace(of_run="imbalance2"),
            GRADIENT2,
            r"\delta^2",
        ),
    ),
)
