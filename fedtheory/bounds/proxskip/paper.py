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
from fedtheory.theorem.symbols import GRADIENT2, SYMBOLS, Symbol

__all__ = ["PAPER"]

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
    ),
)

ASSUMES = (
    Smooth(),
    StronglyConvex(),
    EXACT_GRADIENTS,
    Hypothesis("clients and server run Scaffnew with one coin common to all clients", of_run=method_is("Scaffnew")),
    Hypothesis("probability <= 1", lambda probability: (probability, "<=", 1)),
)
