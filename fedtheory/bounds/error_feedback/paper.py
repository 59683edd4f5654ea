"""Definitions shared by the bounds on compressed communication."""

from fedtheory.arithmetic.functions import maximum, square_root
from fedtheory.theorem import EXACT_GRADIENTS, NONNEGATIVE, POSITIVE, Hypothesis, Paper, Smooth, StronglyConvex, Symbol

PAPER = Paper(
    key="error-feedback",
    title="Tight Analyses of First-Order Methods with Error Feedback",
    authors="Thomsen, Taylor, Dieuleveut",
    year=2025,
    url="https://arxiv.org/abs/2506.05271",
    basis="abstract",
    symbols=(
        Symbol(
            "compression_error",
            "Largest relative error of the compressor, ``|C(v) - v| <= s |v|``; ``sqrt(1 - k/d)`` if the k largest of d"
            " entries are sent",
            POSITIVE._replace(of_run="compression_error"),
            letter="s",
        ),
        Symbol("potential", "Potential V before the round", NONNEGATIVE, letter="V"),
        Symbol("initial_potential", "Potential V before the first round", NONNEGATIVE, letter="V_0"),
    ),
)


def _error_on_average(run):
    """Report a compressor of which only the mean error is known to be bounded, or return None."""
    compressor = getattr(run.changed.get("method"), "compressor", None)
    is_ours = type(compressor).__module__ == "fedtheory.methods.compressors"
    if compressor is None or (is_ours and type(compressor).__name__ == "TopK"):
        return None
    if not is_ours and "compression_error" in run.given:
        return None
    return f"{compressor}, whose error is known to be bounded only on average"


ASSUMES = (
    Smooth(),
    StronglyConvex(),
    EXACT_GRADIENTS,
    Hypothesis(
        "compression_error < 1, so that the compressor is a contraction: |C(v) - v| <= compression_error |v|",
        lambda compression_error: (compression_error, "<", 1),
        of_run=_error_on_average,
    ),
)


def rate(step_size, *, mu, L, compression_error):
    """Return z^2 and 1 - z^2, without cancellation, for error feedback and EF21: ``z^2 = t z + s`` with z > 0."""
    s = compression_error
    # 1 - s - t, as the smaller of two numbers.
    short = -maximum(-(1 + s) * step_size * mu, (1 + s) * step_size * L - 2 * (1 - s))
    t = 1 - s - short
    z = (t + square_root(t**2 + 4 * s)) / 2
    return z**2, (1 + z) * z * short / (z + s)
