"""Power-of-Choice after two rounds: Theorem 3.1 of Cho, Wang and Joshi (2022) with skews 6/5 and 2.

The class of the exact worst case contains that of the theorem: the skew is at least ``rho_bar`` where both models are
equal, and the bound G2 on gradients is ignored. The true ratio is therefore at least the computed one. The bound
times 2/L is compared with the squared distance, which its proof bounds.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds import power_of_choice
from fedtheory.theorem import states
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

repaired: Any = power_of_choice.decaying_steps_gap
printed = repaired.printed
CONSTANTS = {
    "num_steps": 2,
    "mu": Fraction(1, 10),
    "L": Fraction(1),
    "local_steps": 1,
    "num_selected": 1,
    "G2": Fraction(1),
    "sigma2": 0,
    "objective_gap": Fraction(1, 10),
    "rho_bar": Fraction(6, 5),
    "rho_tilde": Fraction(2),
    "initial_distance2": Fraction(1),
}


def two_rounds(bound: Any, given: Any) -> Any:
    known = {"rho_diagonal" if name == "rho_bar" else name: value for name, value in given.items()}
    found = repaired.worst_case.solve(repaired, known)
    return found._replace(bound_value=2 * bound(**given) / given["L"])


@states(
    printed.statement.paper,
    "Theorem 3.1",
    equation="eq. (7)",
    left=printed.left,
    assumes=printed.hypotheses,
    worst_case=WorstCaseProblem(two_rounds, CONSTANTS),
)
def biased_gap(
    num_steps, *, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, rho_bar, rho_tilde, initial_distance2
):
    """Bound on the gap with any selection of clients."""
    return printed.__wrapped__(
        num_steps, mu=mu, L=L, local_steps=local_steps, num_selected=num_selected, G2=G2, sigma2=sigma2,
        objective_gap=objective_gap, rho_bar=rho_bar, rho_tilde=rho_tilde, initial_distance2=initial_distance2,
    )  # fmt: skip
