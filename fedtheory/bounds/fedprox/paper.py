"""Definitions shared by the forms of FedProx's theorem."""

from dataclasses import replace

from fedtheory.theorem import NONNEGATIVE, POSITIVE, Hypothesis, Paper, Smooth
from fedtheory.theorem.symbols import CURVATURE, GRADIENT2, SYMBOLS, Symbol

PAPER = Paper(
    key="fedprox",
    title="Federated Optimization in Heterogeneous Networks",
    authors="Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith",
    year=2020,
    url="https://arxiv.org/abs/1812.06127",
    symbols=(
        replace(SYMBOLS["num_selected"], meaning="Number of clients per round, counted with multiplicity", letter="K"),
        Symbol("gradient2", "``|grad F(w)|^2`` at the round's starting model", NONNEGATIVE, GRADIENT2),
        Symbol("proximal_weight", "Weight of the proximal term, the paper's mu", POSITIVE, CURVATURE, r"\mu"),
        Symbol(
            "negative_curvature", "Lower bound ``-L_`` on the curvatures of every F_k", NONNEGATIVE, CURVATURE, "L_-"
        ),
        Symbol(
            "gradient_dissimilarity",
            "B in ``sum_k p_k |grad F_k(w)|^2 <= B^2 |grad F(w)|^2`` at the starting model w",
            POSITIVE,
            letter="B",
        ),
        Symbol(
            "inexactness",
            "Inexactness of the local solutions: the gradient of the proximal problem is at most gamma times that at w",
            NONNEGATIVE,
            letter=r"\gamma",
        ),
    ),
)

ASSUMES = (
    Smooth(),
    Hypothesis("curvatures of every F_k are at least -negative_curvature"),
    Hypothesis(
        "proximal_weight > negative_curvature",
        lambda proximal_weight, negative_curvature: (proximal_weight, ">", negative_curvature),
    ),
    Hypothesis(
        "sum_k p_k |grad F_k(w)|^2 <= gradient_dissimilarity^2 |grad F(w)|^2, gradient_dissimilarity >= 1",
        lambda gradient_dissimilarity: (gradient_dissimilarity, ">=", 1),
    ),
    Hypothesis("local solutions y_k have |grad F_k(y_k) + proximal_weight (y_k - w)| <= inexactness |grad F_k(w)|"),
)
