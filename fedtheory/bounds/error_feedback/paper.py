"""Definitions shared by the bounds on compressed communication."""

from fedtheory.arithmetic.functions import maximum, square_root
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis, Smooth, StronglyConvex
from fedtheory.theorem.domains import NONNEGATIVE, POSITIVE
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.symbols import Symbol

__all__ = ["ASSUMES", "PAPER", "rate"]

PAPER = Paper(
    key="error-feedback",
    title="Tight Analyses of First-Order Methods with Error Feedback",
    authors="Thomsen, Taylor, Dieuleveut",
    year=2025,
    url="https://arxiv.org/abs/2506.05271",
    compared=False,
    symbols=(
        Symbol(
            "compression_error",
            "Largest relative error of the compressor, ``|C(v) - v| <= s |v|``: the root of ``1 - k/d`` where the k "
            "largest of d entries are sent",
            POSITIVE._replace(of_run="compression_error"),
            letter="s",
        ),
        Symbol("potential", "Potential V before the round", NONNEGATIVE, letter="V"),
        Symbol("initial_potential", "Potential V before the first round", NONNEGATIVE, letter="V_0"),
    ),
)

ASSUMES = (
    Smooth(),
    StronglyConvex(),
    EXACT_GRADIENTS,
    Hypothesis(
        "compression_error < 1, the compressor being a contraction: |C(v) - v| <= compression_error |v|",
        lambda compression_error: (compression_error, "<", 1),
    ),
)


def rate(step_size, *, mu, L, compression_error):
    """Return z^2, and 1 - z^2 with its digits, of error feedback and EF21 alike: ``z^2 = t z + s`` with z > 0."""
    s = compression_error
    # 1 - s - t, the less of two.
    short = -maximum(-(1 + s) * step_size * mu, (1 + s) * step_size * L - 2 * (1 - s))
    t = 1 - s - short
    z = (t + square_root(t**2 + 4 * s)) / 2
    return z**2, (1 + z) * z * short / (z + s)
