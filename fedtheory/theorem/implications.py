"""Inequalities between constants that follow from assumptions.

If one of them fails, no problem satisfies the hypotheses of a theorem.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from fedtheory.theorem.assumptions import (
    AggregationWeights,
    Assumption,
    BoundedGradients,
    Hypothesis,
    Noise,
    Smooth,
    StronglyConvex,
)

# An implied inequality may be attained by numbers from long computations (a gradient bound, a minimizer).
_COMPUTED = 1e-9


def consequences(assumptions: Sequence[Assumption], names: Collection[str]) -> tuple[Hypothesis, ...]:
    r"""Inequalities between the numbers of these names that several assumptions jointly imply.

    Some client has a gradient of norm at least ``mu |w_0 - w*|`` at w_0, which a bound on gradients must allow:

    >>> from fedtheory.theorem.assumptions import BoundedGradients, StronglyConvex
    >>> both = (StronglyConvex("mu"), BoundedGradients("G2"))
    >>> [implied.text for implied in consequences(both, ("mu", "G2", "initial_distance2", "objective_gap"))]
    ['mu^2 initial_distance2 + 2 mu objective_gap <= G2 (implied by strong convexity)']
    """
    found = (
        *_gradients_at_the_start(assumptions, names),
        *_noise_in_gradients(assumptions),
        *_gaps(assumptions),
        *_squares(assumptions),
    )
    return tuple(implied for implied in found if set(implied.reads) <= set(names))


def _only(kind: type, assumptions: Sequence[Assumption]) -> Any:
    return next((assumption for assumption in assumptions if isinstance(assumption, kind)), None)


def _implied(text: str, reason: str, sides: Callable[..., tuple[Any, str, Any]], *names: str) -> Hypothesis:
    return Hypothesis(f"{text} (implied by {reason})", sides, names, rtol=_COMPUTED)


def _gradients_at_the_start(assumptions: Sequence[Assumption], names: Collection[str]) -> Iterator[Hypothesis]:
    """|grad F_k(w_0)|^2 >= 2 mu (F_k(w_0) - F_k*), averaged with the weights p_k, or over the first selection."""
    convex, bounded = _only(StronglyConvex, assumptions), _only(BoundedGradients, assumptions)
    if convex is None or bounded is None or not (bounded.hold_at_the_start and convex.of.startswith("every")):
        return
    mu, G2 = convex.parameter, bounded.parameter
    start = next((name for name in ("initial_gap", "initial_distance2") if name in names), "")
    skew = next((name for name in ("rho_diagonal", "rho_bar") if name in names), "")
    factor = f"max(1, {skew}) " if skew else ""
    distance = f"{mu}^2 initial_distance2 + 2 {mu} objective_gap"
    text = {
        "initial_gap": f"2 {mu} {factor}(initial_gap + objective_gap)",
        "initial_distance2": f"{factor}({distance})" if factor else distance,
        "": f"2 {mu} {factor}objective_gap",
    }[start]

    def sides(curvature: Any, largest: Any, gap: Any, *others: Any) -> tuple[Any, str, Any]:
        given = dict(zip(known[3:], others, strict=True))
        above = given.get("initial_gap", curvature * given.get("initial_distance2", 0) / 2)
        return _at_least_one(given.get(skew, 1)) * 2 * curvature * (above + gap), "<=", largest

    known = (mu, G2, "objective_gap", *filter(None, (start, skew)))
    reason = "strong convexity and the skew" if skew else "strong convexity"
    yield _implied(f"{text} <= {G2}", reason, sides, *known)


def _at_least_one(number: Any) -> Any:
    return np.maximum(number, 1) if isinstance(number, np.ndarray) else max(number, 1)


def _noise_in_gradients(assumptions: Sequence[Assumption]) -> Iterator[Hypothesis]:
    """E |g_k|^2 is the squared mean plus the variance."""
    noise, bounded = _only(Noise, assumptions), _only(BoundedGradients, assumptions)
    if noise is not None and bounded is not None and bounded.include_the_noise:
        sigma2, G2 = noise.parameter, bounded.parameter
        reason = "the variance being at most E |g_k|^2"
        yield _implied(f"{sigma2} <= {G2}", reason, lambda sigma2, G2: (sigma2, "<=", G2), sigma2, G2)


def _gaps(assumptions: Sequence[Assumption]) -> Iterator[Hypothesis]:
    """Return the parabolas between which a smooth and strongly convex objective lies."""
    smooth, convex = _only(Smooth, assumptions), _only(StronglyConvex, assumptions)
    if convex is not None:
        mu = convex.parameter
        yield _implied(
            f"gap >= {mu}/2 distance2",
            "strong convexity",
            lambda mu, distance2, gap: (gap, ">=", mu * distance2 / 2),
            *(mu, "distance2", "gap"),
        )
    if smooth is not None:
        L = smooth.parameter
        yield _implied(
            f"gap <= {L}/2 distance2",
            "smoothness",
            lambda L, distance2, gap: (gap, "<=", L * distance2 / 2),
            *(L, "distance2", "gap"),
        )


def _squares(assumptions: Sequence[Assumption]) -> Iterator[Hypothesis]:
    """By Cauchy-Schwarz, m numbers of sum one have squares of sum at least 1/m."""
    if _only(AggregationWeights, assumptions) is not None:
        yield _implied(
            "squared_weights >= 1/num_selected",
            "weights of sum 1",
            lambda squares, num_selected: (squares * num_selected, ">=", 1),
            *("squared_weights", "num_selected"),
        )
