"""FedAvg with all clients after two rounds: Theorem 1 of Li et al. (2020).

The exact worst case ignores the bound G2 on gradients, which the theorem assumes. The true ratio is therefore at least
the computed one. Step sizes decay as the theorem prescribes.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds import fedavg
from fedtheory.theorem import states

printed: Any = fedavg.full_participation_gap
CONSTANTS = {
    "num_steps": 2,
    "mu": Fraction(1, 10),
    "L": Fraction(1),
    "local_steps": 1,
    "G2": Fraction(1),
    "weighted_sigma2": 0,
    "objective_gap": Fraction(1, 10),
    "initial_distance2": Fraction(1),
}


@states(
    printed.statement.paper,
    "Theorem 1",
    basis="printed",
    left=printed.left,
    assumes=printed.hypotheses,
    step_sizes=printed.step_sizes,
    worst_case=printed.worst_case._replace(constants=CONSTANTS),
)
def fedavg_gap(num_steps, *, mu, L, local_steps, G2, weighted_sigma2, objective_gap, initial_distance2):
    """Bound on the gap when all clients take part."""
    return printed.__wrapped__(
        num_steps, mu=mu, L=L, local_steps=local_steps, G2=G2, weighted_sigma2=weighted_sigma2,
        objective_gap=objective_gap, initial_distance2=initial_distance2,
    )  # fmt: skip
