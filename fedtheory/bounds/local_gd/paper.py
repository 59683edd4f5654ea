"""Definitions shared by the bounds on local gradient descent of convex clients."""

from dataclasses import replace

from fedtheory.bounds.sgd.paper import PAPER as HETEROGENEITY
from fedtheory.theorem import COUNT, EXACT_GRADIENTS, NONNEGATIVE, SYMBOLS, Convex, Hypothesis, Paper, Smooth, Symbol

PAPER = Paper(
    key="local-gd",
    title="First Analysis of Local GD on Heterogeneous Data",
    authors="Khaled, Mishchenko, Richtarik",
    year=2019,
    url="https://arxiv.org/abs/1909.04715",
    symbols=(
        HETEROGENEITY.glossary["zeta2"],
        replace(SYMBOLS["local_steps"], letter="H"),
        replace(SYMBOLS["num_steps"], domain=COUNT),
        Symbol(
            "drift",
            "Mean squared distance V of the clients' models from their mean, ``sum_k p_k |w_k - w_bar|^2``",
            NONNEGATIVE,
            "distance^2",
            "V",
        ),
        Symbol("gap", "Gap of the mean model, ``F(w_bar) - F*``", NONNEGATIVE, "loss"),
        Symbol("gap_sum", "Sum of ``F(w_bar_t) - F*`` over the local steps of the round", NONNEGATIVE, "loss"),
    ),
)

ASSUMES = (Smooth(), Convex(of="F_k"), EXACT_GRADIENTS)
SHORT_ROUNDS = Hypothesis(
    "step_size <= 1/(4 local_steps L)",
    lambda step_size, local_steps, L: (4 * step_size * local_steps * L, "<=", 1),
    rtol=4 * 2.0**-52,
)
