"""What claims share: bounds compared along exact runs and with certified worst cases, and constants of classes."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from fedtheory.bounds._worst_cases import curvatures, draw_class, step_size, tenths
from fedtheory.rational._constants import initial_distance2, observed_gradient_bound, observed_skews
from fedtheory.rational._rounds import distance2, gap
from fedtheory.rational._run_draws import Drawn, DrawnAlignment
from fedtheory.verification.findings import Finding, at_most, worst_of

__all__ = [
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
