"""Li et al., Theorems 1, 2 and 3 in their own form, against exact expected errors."""

from collections.abc import Callable

import numpy as np

from fedtheory.bounds import fedavg
from fedtheory.claims._checks import expected_gaps
from fedtheory.claims.fedavg._checks import own_constants, own_steps
from fedtheory.rational._run_draws import draw_run
from fedtheory.theorem.paper import Bound
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding

_REMARK = "one step at curvature mu leaves (1 - 2/gamma)^2 of the first gap, the closed form gamma/(gamma + 1)"


def against_theorem(bound: Bound, law: str, *counts: str) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares exact expected gaps with one of the theorems."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = own_steps(draw_run(rng, laws=(law,), longest_round=10), is_balanced=law == "uniform")
        known = own_constants(drawn, *counts)
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


theorem_1 = claim(
    "fedavg:theorem-1",
    "E F(w_T) - F* with all clients, averaged with the weights p_k, for steps 2/(mu (t + max(8 L/mu, E)))",
    fedavg.full_participation_gap,
    looseness=2,
    remark=_REMARK,
)(against_theorem(fedavg.full_participation_gap, "full, weights p_k"))

theorem_2 = claim(
    "fedavg:theorem-2",
    "E F(w_T) - F* with K clients drawn with replacement in proportion to p_k, and their mean",
    fedavg.with_replacement_gap,
    looseness=4,
    remark="the sampling term is four times what steps that hardly fall within a round can cost",
)(against_theorem(fedavg.with_replacement_gap, "proportional", "num_selected"))

theorem_3 = claim(
    "fedavg:theorem-3",
    "E F(w_T) - F* with K of N equally weighted clients drawn without replacement, and their mean",
    fedavg.without_replacement_gap,
    looseness=2,
    remark=_REMARK,
)(against_theorem(fedavg.without_replacement_gap, "uniform", "num_selected", "num_clients"))
