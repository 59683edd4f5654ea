"""FedALIGN, Theorem 1: convergence with full participation."""

from fedtheory.bounds import fedalign
from fedtheory.bounds.fedalign import paper
from fedtheory.bounds.fedavg.paper import delay
from fedtheory.bounds.fedavg.theorems import decaying_step_sizes
from fedtheory.theorem import LeftSide, states

__all__ = ["decaying_step_sizes", "full_participation_gap"]


@states(
    paper.PAPER,
    "Theorem 1",
    equation="eq. (6)",
    left=LeftSide("gap", "E F(w_T) - F*", over=("noise",)),
    assumes=paper.THEOREM,
    schemes=paper.FULL,
    step_sizes=decaying_step_sizes,
)
def _printed_full_participation_gap(
    num_steps, *, mu, L, local_steps, G2, sigma2, objective_gap, initial_distance2, theta, rho
):
    r"""Bound on ``E F(w_T) - F*``, eq. (6) as printed: the sums of theta and rho begin at i = 1.

    .. math::
        \frac1{T+\gamma}\Big[\frac{2L}{\mu^2}(\sigma^2+8(E-1)^2G^2)+\frac{4L^2}\mu\|w_0-w^*\|^2
        +\frac{12L^2}{\mu^2}\theta_T\Gamma\Big]+\rho_T

    It is false for E = 1, where step 0 is the whole first round, and true for E >= 2.

    With mu = 1, L = 2, E = 3 (so gamma = 16), theta = 3/4, rho = 5/4 and T = 48:
    ``(4 (5 + 8 * 4 * 23) + 16 * 7 + 48 (3/4) 3) / 64 + 5/4 = 3184/64 + 5/4``.

    >>> full_participation_gap.printed(48, mu=1, L=2, local_steps=3, G2=23, sigma2=5, objective_gap=3,
    ...                                initial_distance2=7, theta=0.75, rho=1.25)
    51.0
    """
    horizon = num_steps + delay(mu=mu, L=L, local_steps=local_steps)
    variances = 2 * L / mu**2 / horizon
    return {
        "noise": variances * sigma2,
        "drift": variances * 8 * G2 * (local_steps - 1) ** 2,
        "initial": 4 * L**2 * initial_distance2 / mu / horizon,
        "heterogeneity": 12 * L**2 * theta * objective_gap / mu**2 / horizon,
        "bias": rho,
    }


@states(
    paper.PAPER,
    "Theorem 1",
    equation="eq. (6)",
    form="corrected",
    assumes=paper.THEOREM,
    printed=_printed_full_participation_gap,
    worst_case=lambda: fedalign._worst_cases.THEOREM,
)
def full_participation_gap(num_steps, *, mu, L, local_steps, G2, sigma2, objective_gap, initial_distance2, theta, rho):
    r"""Bound on ``E F(w_T) - F*`` when all priority clients take part, for every number of local steps.

    .. math::
        \frac1{T+\gamma}\Big[\frac{2L}{\mu^2}(\sigma^2+8(E-1)^2G^2)+\frac{L\gamma}2\|w_0-w^*\|^2
        +\frac{12L^2}{\mu^2}\theta_T\Gamma\Big]+\rho_T

    The sums of theta and rho begin at i = 0.

    Examples
    --------
    With mu = 1, L = 2, E = 3 (so gamma = 16), theta = 3/4, rho = 5/4 and T = 48:
    ``(4 (5 + 8 * 4 * 23) + (2 * 16/2) 7 + 48 (3/4) 3) / 64 + 5/4 = 3184/64 + 5/4``.

    >>> full_participation_gap(48, mu=1, L=2, local_steps=3, G2=23, sigma2=5, objective_gap=3, initial_distance2=7,
    ...                        theta=0.75, rho=1.25)
    51.0
    """
    gamma = delay(mu=mu, L=L, local_steps=local_steps)
    horizon = num_steps + gamma
    variances = 2 * L / mu**2 / horizon
    return {
        "noise": variances * sigma2,
        "drift": variances * 8 * G2 * (local_steps - 1) ** 2,
        "initial": L * gamma * initial_distance2 / 2 / horizon,
        "heterogeneity": 12 * L**2 * theta * objective_gap / mu**2 / horizon,
        "bias": rho,
    }
