"""What claims share: bounds compared along exact runs and with certified worst cases, and constants of classes."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from fedtheory.errors import OracleError
from fedtheory.rational._constants import initial_distance2, observed_gradient_bound, observed_skews
from fedtheory.rational._rounds import distance2, gap
from fedtheory.rational._run_draws import Drawn, DrawnAlignment
from fedtheory.rational.draws import pick, whole
from fedtheory.theorem.bound import Bound
from fedtheory.verification.claims import Claim, claim
from fedtheory.verification.findings import Finding, at_most, not_applicable, worst_of
from fedtheory.worst_case.promises import compared

__all__ = [
    "against_worst_case",
    "as_texts",
    "ascending",
    "at_steps",
    "curvatures",
    "draw_class",
    "expected_gaps",
    "horizon_constants",
    "one_step_distances",
    "step_size",
    "tenths",
    "theorem_constants",
]

Draw = Callable[[np.random.Generator], dict[str, Any]]
"""Draws arguments of a bound."""


def as_texts(given: Mapping[str, Any]) -> dict[str, str]:
    """Return constants as texts that keep all digits."""
    return {name: str(value) for name, value in given.items()}


def theorem_constants(drawn: Drawn, skew: str = "") -> dict[str, Any]:
    """Constants that every form of the theorems takes, G2 the smallest for which the hypotheses hold on the run.

    With the name of a skew also that one and rho_tilde.
    """
    run = drawn.run
    skews = observed_skews(run) if skew else None
    return {
        **drawn.constants,
        "local_steps": run.local_steps,
        "num_selected": drawn.num_selected,
        "G2": observed_gradient_bound(run),
        **({skew: getattr(skews, skew), "rho_tilde": skews.rho_tilde} if skews else {}),
    }


def horizon_constants(drawn: Drawn, skew: str = "") -> dict[str, Any]:
    """Constants of the theorems, with the squared distance at the start."""
    return {**theorem_constants(drawn, skew), "initial_distance2": initial_distance2(drawn.run)}


def at_steps(
    drawn: Drawn | DrawnAlignment, sides: Callable[[int], tuple[Any, Any]], steps: Iterable[int] | None = None
) -> Finding:
    """Compare ``left <= right`` at every step of a run, or at those given; ``sides`` tells both."""
    return worst_of(
        at_most(*sides(step), instance={**drawn.instance, "step": step})
        for step in (range(drawn.run.num_steps) if steps is None else steps)
    )


def one_step_distances(drawn: Drawn | DrawnAlignment, bound: Callable[[Fraction, int], Any]) -> Finding:
    """Compare ``E |w - w*|^2`` after every step of a run with a bound on it from that before the step."""
    run = drawn.run
    return at_steps(drawn, lambda step: (distance2(run, step + 1), bound(distance2(run, step), step)))


def expected_gaps(drawn: Drawn | DrawnAlignment, bound: Callable[[int], Any]) -> Finding:
    """Compare ``E F(w_bar_T) - F*`` with a bound at every horizon of a run (at T = 0 it is just smoothness)."""
    run = drawn.run
    return at_steps(drawn, lambda step: (gap(run, step), bound(step)), range(1, run.num_steps + 1))


def ascending(values: Iterable[Any], instance: Mapping[str, Any]) -> Finding:
    """Compare each value with the next: ``a <= b <= c <= ...``."""
    return worst_of(at_most(low, high, instance=instance) for low, high in pairwise(values))


def tenths(rng: np.random.Generator, low: int, high: int) -> Fraction:
    """Draw a whole number of tenths."""
    return Fraction(whole(rng, low, high), 10)


def curvatures(rng: np.random.Generator) -> dict[str, Any]:
    """Draw mu and L; L/mu is close to 1 in a quarter of the draws."""
    mu = tenths(rng, 1, 20)
    return {"mu": mu, "L": mu * pick(rng, [tenths(rng, 11, 13), *(tenths(rng, 12, 200) for _ in range(3))])}


def draw_class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw the constants of a class."""
    return curvatures(rng) | {"distance2": tenths(rng, 1, 90), "objective_gap": tenths(rng, 1, 30)}


def step_size(rng: np.random.Generator, longest: Fraction) -> Fraction:
    """Draw a step size; in a third of the draws it is the longest."""
    share: Fraction = pick(rng, [Fraction(1), tenths(rng, 1, 9), tenths(rng, 1, 9)])
    return share * longest


def against_worst_case(
    key: str, title: str, bound: Bound, *, looseness: float = 1.01, remark: str = "", thorough: int = 100
) -> Callable[[Draw], Claim]:
    """Make the claim that no federation exceeds a bound, on the constants drawn: the certified worst case does not."""

    def claimed(draw: Draw) -> Claim:
        def check(rng: np.random.Generator) -> Finding:
            given = draw(rng)
            try:
                found = compared(bound, given)
            except OracleError as error:
                return not_applicable(f"no worst case was proved: {error}", **as_texts(given))
            promise = Fraction(found.promise) if isfinite(found.promise) else found.promise
            return at_most(found.worst.enclosure[0], promise, instance=as_texts(given))

        return claim(key, title, bound, instances=(3, thorough), looseness=looseness, remark=remark)(check)

    return claimed
