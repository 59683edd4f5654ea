"""Power-of-Choice, Appendix G.3: the theorem fails if availability has memory, and holds if it does not."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import expected_gaps, horizon_constants
from fedtheory.claims.power_of_choice._situations import opposite_run
from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.formatting import format_federation, format_run
from fedtheory.instances.observed import constants_of, initial_distance2, skew
from fedtheory.instances.run_draws import Drawn, draw_run
from fedtheory.instances.runs import RationalRun, gap
from fedtheory.instances.step_sizes import decaying, fixed_step
from fedtheory.instances.vectors import Vector, average, norm2, vector
from fedtheory.sampling.cohorts import Selection, independent, power_of_choice
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement

_STATEMENT = Statement(FEDTHEORY, "", related=(poc.PAPER, "Appendix G.3"), form="derived")
_WITHOUT_THE_THIRD = tuple(
    known.text for known in poc.decaying_steps_gap.hypotheses if "a round's selection depends" not in known.text
)


def _largest_mean_gradient(runs: Sequence[RationalRun]) -> Fraction:
    """Return the smallest G2 with ``E |grad F_k|^2 <= G2`` for every client at every model of equally likely runs."""
    fed = runs[0].federation

    def squares(t: int, run: RationalRun) -> Vector:
        mean: Vector = run.snapshots[t].mean(lambda at: Vector(map(norm2, fed.gradients(at.average))))
        return mean

    return max(max(average([squares(t, run) for run in runs])) for t in range(runs[0].num_steps + 1))


@claim(
    "power-of-choice:availability-with-memory",
    "E F(w_T) - F* against Theorem R, skews of the average round; one of two clients is never available: T = 178",
    _STATEMENT,
    "refuted conjecture",
    hypotheses=_WITHOUT_THE_THIRD,
    remark="a Markov chain that never moves: the average round is unbiased and has skew 1; the error tends to 1/2",
)
def availability_for_good() -> Finding:
    fed, T = opposite_clients(), 178
    runs = [opposite_run(Law.certain((client,)), 1, decaying(fed), T) for client in range(2)]
    # The average round is unbiased, so that its skew is 1 at every model.
    alternating: Law[Selection] = Law.uniform([(0,), (1,)])
    (rho,) = {skew(runs[0], alternating, at.average) for law in runs[0].snapshots for at in law}
    known = constants_of(runs[0]) | {"local_steps": 1, "num_selected": 1, "G2": _largest_mean_gradient(runs)}
    known |= {"rho_diagonal": rho, "rho_tilde": rho, "initial_distance2": initial_distance2(runs[0])}
    words = {"initial": "0", "step_size": "1/(t + 4)", "num_steps": T}
    words["available"] = "one client, always, each with probability 1/2"
    error = sum(gap(run, T) for run in runs) / Fraction(2)
    return at_most(error, poc.decaying_steps_gap(T, **known), instance={**format_federation(fed), **words})


def among_available(weights: Vector, losses: Vector, num_candidates: int, available: Selection) -> Law[Selection]:
    """Return the law of the client with the largest loss among candidates drawn from the available clients."""
    p, F = [weights[k] for k in available], [losses[k] for k in available]
    law = power_of_choice(p, F, 1, min(num_candidates, len(available)))
    return law.map(lambda chosen: tuple(available[place] for place in chosen))


def draw_coins(rng: np.random.Generator) -> Drawn:
    """Draw a run of pow-d among independently available clients, of which the first is always available."""
    drawn = draw_run(rng, step_size=fixed_step(rng), longest_round=3, laws=("proportional",))
    fed, d = drawn.run.federation, whole(rng, 1, drawn.run.federation.num_clients)
    coins = vector(1, *(Fraction(whole(rng, 1, 4), 4) for _ in range(fed.num_clients - 1)))

    def select(w: Vector) -> Law[Selection]:
        return independent(coins).then(partial(among_available, fed.weights, fed.losses(w), d))

    run = replace(drawn.run, select=select, num_steps=min(drawn.run.num_steps, 2 * drawn.run.local_steps))
    law = f"power of choice, {d} candidates among available clients, with probabilities {coins}"
    return Drawn(run, 1, format_run(run, law=law, num_selected=1))


@claim(
    "power-of-choice:availability-without-memory",
    "E F(w_T) - F* against the refined Theorem A.1 with the joint skews of selection and availability",
    poc.refined_fixed_step_gap,
    also=("the available clients are drawn from one law in each round, independently of the past",),
    looseness=1.01,
)
def availability_without_memory(rng: np.random.Generator) -> Finding:
    drawn = draw_coins(rng)
    known = horizon_constants(drawn, "rho_diagonal") | {"step_size": drawn.run.step_size(0)}
    return expected_gaps(drawn, lambda T: poc.refined_fixed_step_gap(T, **known))
