"""Definitions shared by the bounds on ProxSkip."""

from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis, Smooth, StronglyConvex, method_is
from fedtheory.theorem.domains import NONNEGATIVE, POSITIVE
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.symbols import GRADIENT2, SYMBOLS, Symbol

__all__ = ["ASSUMES", "PAPER"]

PAPER = Paper(
    key="proxskip",
    title="ProxSkip: Yes! Local Gradient Steps Provably Lead to Communication Acceleration! Finally!",
    authors="Mishchenko, Malinovsky, Stich, Richtarik",
    year=2022,
    url="https://arxiv.org/abs/2202.09357",
    compared=False,  # it is known through a paper that restates it
    symbols=(
        SYMBOLS["num_steps"],
        Symbol(
            "probability",
            "Probability of the coin that asks for a prox, or a communication",
            POSITIVE._replace(of_run="coin"),
            letter="p",
        ),
        Symbol(
            "control_error2",
            "Weighted mean of ``|h_k - grad F_k(w*)|^2``, the squared errors of the control variates at the start",
            NONNEGATIVE._replace(of_run="control_error2"),
            GRADIENT2,
        ),
    ),
)

ASSUMES = (
    Smooth(),
    StronglyConvex(),
    EXACT_GRADIENTS,
    Hypothesis("clients and server run Scaffnew with one common coin", of_run=method_is("Scaffnew")),
    Hypothesis("probability <= 1", lambda probability: (probability, "<=", 1)),
)
