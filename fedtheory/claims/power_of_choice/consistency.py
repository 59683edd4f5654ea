"""Power-of-Choice: constants that contradict each other speak about no federation, and those of runs never do."""

from collections.abc import Callable

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._checks import theorem_constants
from fedtheory.rational._constants import initial_distance2, observed_skews
from fedtheory.rational._run_draws import MEAN_LAWS, WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.theorem.paper import Bound, Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, worst_of


def implied(drawn: Drawn, bound: Bound) -> Finding:
    """Compare the least G2 of a run with all that its bound reads off the other constants."""
    run, skews = drawn.run, observed_skews(drawn.run)
    known = {
        **theorem_constants(drawn),
        "rho_diagonal": skews.rho_diagonal,
        "initial_distance2": initial_distance2(run),
        "initial_gap": run.federation.gap(run.initial),
        "squared_weights": max(sum(q * q for q in at.coefficients) for at in run.snapshots[0]),
    }
    sides = [c.sides(*(known[name] for name in c.reads)) for c in bound.consequences if c.sides is not None]
    return worst_of(
        at_least(*((left, right) if relation == ">=" else (right, left)), instance=drawn.instance)
        for left, relation, right in sides
    )


def _implied_by(bound: Bound, laws: tuple[str, ...]) -> Callable[[np.random.Generator], Finding]:
    return lambda rng: implied(draw_run(rng, laws=laws), bound)


_STATED = Statement(poc.PAPER, "Assumptions 3.1 to 3.4", "what they imply together", form="derived")
_HYPOTHESES = ("every F_k is mu-strongly convex", "E |g_k|^2 <= G2 at the first model, for every client")

consistency = claim(
    "power-of-choice:consistent-constants",
    "G2 >= max(1, rho_diagonal) (mu^2 |w_0 - w*|^2 + 2 mu Gamma), and G2 >= sigma2",
    _STATED,
    hypotheses=_HYPOTHESES,
    looseness=1.01,
    remark="by the inequality of Polyak and Lojasiewicz, averaged over all clients or over the first selection",
)(_implied_by(poc.decaying_steps_gap, MEAN_LAWS))

consistency_of_a_fixed_step = claim(
    "power-of-choice:consistent-constants-fixed-step",
    "G2 >= 2 mu max(1, rho_diagonal) (F(w_0) - F* + Gamma), and G2 >= sigma2",
    _STATED,
    hypotheses=_HYPOTHESES,
    looseness=1.01,
)(_implied_by(poc.fixed_step_gap, MEAN_LAWS))

consistency_of_weights = claim(
    "power-of-choice:consistent-constants-weighted",
    "For weights of sum one sum_k q_k^2 >= 1/m, and G2 is as large as without weights",
    _STATED,
    hypotheses=(*_HYPOTHESES, "q_k >= 0 with sum 1"),
    looseness=1.01,
)(_implied_by(poc.weighted_average_gap, WEIGHTED_LAWS))
