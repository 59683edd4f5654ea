"""Federated averaging with unbiased selection (Li et al.): the special case of all skews equal to 1."""

import numpy as np

from fedtheory.bounds import fedavg, power_of_choice
from fedtheory.claims._instances import decaying, draw_run
from fedtheory.claims.power_of_choice.theorems import expected_gaps, initial_distance2, theorem_constants
from fedtheory.paper import Statement
from fedtheory.verification.claim import Claim, Finding, equal_to, not_applicable, worst_of
from fedtheory.verification.observed_constants import skew


def _gap(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=("proportional",), step_size=decaying, longest_round=12)
    known = {**theorem_constants(drawn), "initial_distance2": initial_distance2(drawn.run)}
    return expected_gaps(drawn, lambda step: fedavg.decaying_steps_gap(step, **known))


DECAYING_STEPS = Claim(
    key="fedavg:decaying-steps",
    title="E F(w_T) - F* for m clients drawn with replacement in proportion to p_k, and their mean",
    statement=fedavg.decaying_steps_gap.statement,
    kind="inequality",
    check=_gap,
    bound=fedavg.decaying_steps_gap,
)


def _unit_skews(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=("proportional",))
    run = drawn.run
    models = {run.initial, run.federation.minimizer, *(at.average for at in run.snapshots[-1])}
    law = run.select(run.initial)
    skews = [rho for w in models if (rho := skew(run, law, w)) is not None]
    if not skews:  # only the common minimizer of all clients was visited
        return not_applicable(**drawn.instance)
    return worst_of(equal_to(rho, 1, instance=drawn.instance) for rho in skews)


UNBIASED_SELECTION = Claim(
    key="fedavg:unit-skew",
    title="Selection with replacement in proportion to p_k has selection skew 1 at every pair of models",
    statement=Statement(power_of_choice.PAPER, "Section 3.1", "eqs. (5)-(6)"),
    kind="identity",
    check=_unit_skews,
    hypotheses=("not all clients are at their minimizers, where the skew is 0/0",),
)
