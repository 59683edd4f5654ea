"""Definitions shared by the bounds on general sampling of clients."""

from fedtheory.theorem import NONNEGATIVE, Paper
from fedtheory.theorem.symbols import GRADIENT2, Symbol

PAPER = Paper(
    key="client-sampling",
    title="A General Theory for Client Sampling in Federated Learning",
    authors="Fraboni, Vidal, Kameni, Lorenzi",
    year=2022,
    url="https://arxiv.org/abs/2107.12211",
    basis="abstract",
    symbols=(
        Symbol(
            "sampling_variance",
            "Mean square of the sampled mean of the gradients at w*, ``E |1/m sum_(k in S) grad F_k(w*)|^2``",
            NONNEGATIVE,
            GRADIENT2,
            "V",
        ),
    ),
)
