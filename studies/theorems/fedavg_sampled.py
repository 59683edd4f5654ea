"""FedAvg with one of two clients, after one round: Theorem 3 of Li et al. (2020), Scheme II.

The exact worst case ignores the bound G2 on gradients, so that the true ratio is at least the computed one for two
clients.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds import fedavg
from fedtheory.theorem import states
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

printed: Any = fedavg.without_replacement_gap
CONSTANTS = {
    "mu": Fraction(1, 10),
    "L": Fraction(1),
    "local_steps": 1,
    "num_clients": 2,
    "num_selected": 1,
    "G2": Fraction(1),
    "weighted_sigma2": 0,
    "objective_gap": Fraction(1, 10),
    "initial_distance2": Fraction(1),
}


def one_round(_: Any, given: Any) -> Any:
    return printed.worst_case.solve(printed, {**given, "num_steps": given["local_steps"]})


@states(
    printed.statement.paper,
    "Theorem 3",
    basis="printed",
    left=printed.left,
    assumes=printed.hypotheses,
    worst_case=WorstCaseProblem(one_round, CONSTANTS),
)
def sampled_gap(
    *, mu, L, local_steps, num_clients, num_selected, G2, weighted_sigma2, objective_gap, initial_distance2
):
    """Bound on the gap after a round of clients that are drawn without replacement."""
    return printed.__wrapped__(
        local_steps, mu=mu, L=L, local_steps=local_steps, num_clients=num_clients, num_selected=num_selected, G2=G2,
        weighted_sigma2=weighted_sigma2, objective_gap=objective_gap, initial_distance2=initial_distance2,
    )  # fmt: skip
