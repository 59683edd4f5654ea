"""Definitions shared by the bounds with heterogeneity at the minimizer."""

from fedtheory.theorem import EXACT_GRADIENTS, NONNEGATIVE, Hypothesis, Paper, Smooth, StronglyConvex
from fedtheory.theorem.symbols import GRADIENT2, Symbol

PAPER = Paper(
    key="sgd",
    title="PEPit: computer-assisted worst-case analyses of first-order optimization methods in Python",
    authors="Goujaud, Moucer, Glineur, Hendrickx, Taylor, Dieuleveut",
    year=2024,
    url="https://doi.org/10.1007/s12532-024-00259-7",
    basis="remembered",
    symbols=(
        Symbol(
            "zeta2",
            "Heterogeneity at w*, ``sum_k p_k |grad F_k(w*)|^2``",
            NONNEGATIVE._replace(of_run="zeta2"),
            GRADIENT2,
            r"\zeta^2",
        ),
    ),
)

ASSUMES = (Smooth(), StronglyConvex(), EXACT_GRADIENTS)
CONVERGENT_STEPS = Hypothesis("step_size < 2/L", lambda step_size, L: (step_size * L, "<", 2))
