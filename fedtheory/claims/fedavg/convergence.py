"""Federated averaging with unbiased selection (Li et al.): the special case of all skews equal to 1."""

import numpy as np

from fedtheory.bounds import fedavg, power_of_choice
from fedtheory.claims._checks import expected_gaps, theorem_constants
from fedtheory.rational._constants import initial_distance2, skew
from fedtheory.rational._run_draws import draw_run
from fedtheory.rational._step_sizes import decaying
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, equal_to, not_applicable, worst_of


@claim(
    "fedavg:decaying-steps",
    "E F(w_T) - F* for m clients drawn with replacement in proportion to p_k, and their mean",
    fedavg.decaying_steps_gap,
    looseness=32,
    remark="the closed form pays the drift 32 tau^2 G2 in every step, also where rounds have one and there is none",
)
def decaying_steps(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=("proportional",), step_size=decaying, longest_round=12)
    known = {**theorem_constants(drawn), "initial_distance2": initial_distance2(drawn.run)}
    return expected_gaps(drawn, lambda step: fedavg.decaying_steps_gap(step, **known))


@claim(
    "fedavg:unit-skew",
    "Selection with replacement in proportion to p_k has selection skew 1 at every pair of models",
    Statement(power_of_choice.PAPER, "Section 3.1", "eqs. (5)-(6)"),
    "identity",
    hypotheses=("not all clients are at their minimizers, where the skew is 0/0",),
)
def unbiased_selection(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=("proportional",))
    run = drawn.run
    models = {run.initial, run.federation.minimizer, *(at.average for at in run.snapshots[-1])}
    law = run.select(run.initial)
    skews = [rho for w in models if (rho := skew(run, law, w)) is not None]
    if not skews:  # only the common minimizer of all clients was visited
        return not_applicable(**drawn.instance)
    return worst_of(equal_to(rho, 1, instance=drawn.instance) for rho in skews)
