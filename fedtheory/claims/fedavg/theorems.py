"""Li et al., Theorems 1, 2 and 3 in their own form, against exact expected errors."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedavg
from fedtheory.claims._alignment_instances import decaying
from fedtheory.claims._instances import Drawn, draw_run, federation_in_words
from fedtheory.claims.power_of_choice.theorems import expected_gaps, initial_distance2, theorem_constants
from fedtheory.paper import Bound
from fedtheory.verification.claim import Claim, Finding
from fedtheory.verification.rational import RationalQuadratics, norm2


def balanced(fed: RationalQuadratics) -> RationalQuadratics:
    """Return the same clients with equal weights."""
    return replace(fed, weights=(Fraction(1, fed.num_clients),) * fed.num_clients)


def own_steps(drawn: Drawn, *, is_balanced: bool) -> Drawn:
    """Return the run with the step sizes ``2/(mu (t + max(8 L/mu, E)))``, on clients of equal weights if asked for."""
    run = drawn.run
    fed = balanced(run.federation) if is_balanced else run.federation
    steps = decaying()(fed, run.local_steps)
    words = {**drawn.instance, **federation_in_words(fed), "first_step_size": str(steps(0))}
    return Drawn(replace(run, federation=fed, step_size=steps), drawn.num_selected, words)


def own_constants(drawn: Drawn, *counts: str) -> dict[str, Any]:
    """Constants of the theorems on a run, with the counts asked for.

    G2 bounds the mean over the clients, which is all that the proofs need.
    """
    fed, known = drawn.run.federation, theorem_constants(drawn)
    sigma2, num_selected = known.pop("sigma2"), known.pop("num_selected")
    numbers = {"num_selected": num_selected, "num_clients": fed.num_clients}
    return {
        **known,
        "weighted_sigma2": norm2(fed.weights) * sigma2,
        "initial_distance2": initial_distance2(drawn.run),
        **{name: numbers[name] for name in counts},
    }


def against_theorem(bound: Bound, law: str, *counts: str) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares exact expected gaps with one of the theorems."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = own_steps(draw_run(rng, laws=(law,), longest_round=10), is_balanced=law == "uniform")
        known = own_constants(drawn, *counts)
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


THEOREM_1 = Claim(
    key="fedavg:theorem-1",
    title="E F(w_T) - F* with all clients, averaged with the weights p_k, for steps 2/(mu (t + max(8 L/mu, E)))",
    statement=fedavg.full_participation_gap.statement,
    kind="inequality",
    check=against_theorem(fedavg.full_participation_gap, "full, weights p_k"),
    bound=fedavg.full_participation_gap,
)

THEOREM_2 = Claim(
    key="fedavg:theorem-2",
    title="E F(w_T) - F* with K clients drawn with replacement in proportion to p_k, and their mean",
    statement=fedavg.with_replacement_gap.statement,
    kind="inequality",
    check=against_theorem(fedavg.with_replacement_gap, "proportional", "num_selected"),
    bound=fedavg.with_replacement_gap,
)

THEOREM_3 = Claim(
    key="fedavg:theorem-3",
    title="E F(w_T) - F* with K of N equally weighted clients drawn without replacement, and their mean",
    statement=fedavg.without_replacement_gap.statement,
    kind="inequality",
    check=against_theorem(fedavg.without_replacement_gap, "uniform", "num_selected", "num_clients"),
    bound=fedavg.without_replacement_gap,
)
