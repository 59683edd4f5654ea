"""Definitions shared by the bounds on ProxSkip."""

from fedtheory.theorem import (
    EXACT_GRADIENTS,
    NONNEGATIVE,
    POSITIVE,
    Hypothesis,
    Paper,
    Smooth,
    StronglyConvex,
    method_is,
)
from fedtheory.theorem.symbols import CURVATURE, GRADIENT2, SYMBOLS, Symbol

PAPER = Paper(
    key="proxskip",
    title="ProxSkip: Yes! Local Gradient Steps Provably Lead to Communication Acceleration! Finally!",
    authors="Mishchenko, Malinovsky, Stich, Richtarik",
    year=2022,
    url="https://arxiv.org/abs/2202.09357",
    basis="quoted",
    symbols=(
        SYMBOLS["num_steps"],
        Symbol(
            "probability",
            "Probability of a communication (a proximal step) after a local step",
            POSITIVE._replace(of_run="coin"),
            letter="p",
        ),
        Symbol(
            "control_error2",
            "Mean squared error of the initial control variates, ``sum_k p_k |h_k - grad F_k(w*)|^2``",
            NONNEGATIVE._replace(of_run="control_error2"),
            GRADIENT2,
        ),
        Symbol("growth", "Factor A in the mean square ``2 A D + B s + C`` of the gradients", POSITIVE, CURVATURE, "A"),
        Symbol("noise_floor", "Constant part C of the mean square of the gradients", NONNEGATIVE, GRADIENT2, "C"),
        Symbol(
            "memory_share",
            "Factor B of the memory's error s in the mean square of the gradients",
            NONNEGATIVE,
            letter="B",
        ),
        Symbol(
            "memory_growth",
            "Factor A' in the next error of the memory, ``2 A' D + B' s + C'``",
            NONNEGATIVE,
            CURVATURE,
            "A'",
        ),
        Symbol("memory_rate", "Factor B' of the error s in the next error of the memory", NONNEGATIVE, letter="B'"),
        Symbol("memory_floor", "Constant part C' of the next error of the memory", NONNEGATIVE, GRADIENT2, "C'"),
        Symbol("memory_weight", "Weight W of the memory's error in the potential", POSITIVE, letter="W"),
        Symbol("initial_memory_error", "Error s of the memory at the start", NONNEGATIVE, GRADIENT2, "s_0"),
    ),
)

PROBABILITY = Hypothesis("probability <= 1", lambda probability: (probability, "<=", 1))

ASSUMES = (
    Smooth(),
    StronglyConvex(),
    EXACT_GRADIENTS,
    Hypothesis("clients and server run Scaffnew with one coin common to all clients", of_run=method_is("Scaffnew")),
    PROBABILITY,
)
