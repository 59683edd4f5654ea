"""Power-of-Choice after two rounds: Theorem 3.1 of Cho, Wang and Joshi (2022) with skews 6/5 and 2.

The exact worst case is over all federations and selection laws whose skew at the minimizer of the same pair of models is
at least ``rho_bar``, which contains the class of the theorem, and ignores the bound G2 on gradients. The true ratio is
therefore at least the computed one. The proof bounds a squared distance, which is compared.
"""

from fractions import Fraction

from fedtheory.bounds.power_of_choice import decaying_steps_gap
from fedtheory.theorem import states
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

printed = decaying_steps_gap.printed
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


def two_rounds(bound, given):
    found = decaying_steps_gap.worst_case.solve(
        decaying_steps_gap, {**{k: v for k, v in given.items() if k != "rho_bar"}, "rho_diagonal": given["rho_bar"]}
    )
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
