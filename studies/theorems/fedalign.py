"""FedALIGN after one round of two priority clients and an included third client: Theorem 1, eq. (6), as printed.

The third client has a third of all data. The printed sums theta and rho begin at the second step of the horizon. The
worst case ignores the bound G2 on gradients.
"""

from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.bounds import fedalign
from fedtheory.theorem import NONNEGATIVE, POSITIVE, states
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

printed: Any = fedalign.full_participation_gap.printed
CONSTANTS = {
    "mu": Fraction(1, 10),
    "L": Fraction(1),
    "local_steps": 1,
    "G2": Fraction(1),
    "objective_gap": Fraction(1, 10),
    "initial_distance2": Fraction(1),
    "client_gap": Fraction(1, 10),
}
SHARE = Fraction(1, 2)


def one_round(bound: Any, given: Any) -> Any:
    mu, L, tau, shared = given["mu"], given["L"], given["local_steps"], ("mu", "L", "objective_gap", "client_gap")
    sizes = [2 / (mu * (t + max(8 * L / mu, tau))) for t in range(tau)]
    worst = worst_case.fedalign(
        tau, sizes, **{name: given[name] for name in shared}, distance2=given["initial_distance2"], share=SHARE,
        objective="gap",
    )  # fmt: skip
    return worst_case.Comparison(bound(**given), worst)


@states(
    printed.statement.paper,
    "Theorem 1",
    equation="eq. (6)",
    left=printed.left,
    assumes=printed.hypotheses[:-1],  # the last is about theta, which is computed
    domains={"client_gap": NONNEGATIVE, "mu": POSITIVE},
    worst_case=WorstCaseProblem(one_round, CONSTANTS),
)
def aligned_gap(*, mu, L, local_steps, G2, objective_gap, initial_distance2, client_gap):
    """Bound on the gap of the priority clients after a round that includes a third client.

    Parameters
    ----------
    client_gap
        ``F_3(w*) - F_3*`` of the third client.
    """
    later = (local_steps - 1) / (1 + SHARE) / (local_steps + 8 * L / mu - 2)
    rho = 2 * L / mu * SHARE * later * client_gap
    return printed.__wrapped__(
        local_steps, mu=mu, L=L, local_steps=local_steps, G2=G2, sigma2=0, objective_gap=objective_gap,
        initial_distance2=initial_distance2, theta=later, rho=rho,
    )  # fmt: skip
