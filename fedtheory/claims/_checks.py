"""What claims about convergence share: the constants of their theorems, and the comparison at every horizon."""

from collections.abc import Callable
from typing import Any

from fedtheory.rational._constants import observed_gradient_bound
from fedtheory.rational._rounds import gap
from fedtheory.rational._run_draws import Drawn
from fedtheory.verification.findings import Finding, at_most, worst_of

__all__ = ["expected_gaps", "theorem_constants"]


def theorem_constants(drawn: Drawn) -> dict[str, Any]:
    """Constants that every form of the theorems takes, G2 the smallest for which the hypotheses hold on the run."""
    run = drawn.run
    return {
        **drawn.constants,
        "local_steps": run.local_steps,
        "num_selected": drawn.num_selected,
        "G2": observed_gradient_bound(run),
    }


def expected_gaps(drawn: Drawn, bound: Callable[[int], Any]) -> Finding:
    """Compare ``E F(w_bar_T) - F*`` with a bound at every horizon of a run (at T = 0 it is just smoothness)."""
    run = drawn.run
    return worst_of(
        at_most(
            gap(run, step),
            bound(step),
            instance={**drawn.instance, "step": step},
        )
        for step in range(1, run.num_steps + 1)
    )
