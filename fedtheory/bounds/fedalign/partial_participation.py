"""FedALIGN, Appendix A.4: convergence with a few sampled priority clients per round."""

from fedtheory.bounds.fedalign.paper import PAPER, PARTIAL, PRIORITY_DRAWS, THEOREM
from fedtheory.bounds.fedavg.paper import delay
from fedtheory.bounds.fedavg.theorems import decaying_step_sizes
from fedtheory.theorem import LeftSide, states


@states(
    PAPER,
    "Theorem A.9",
    equation="eq. (60)",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise")),
    assumes=(*THEOREM, PRIORITY_DRAWS),
    schemes=PARTIAL,
    step_sizes=decaying_step_sizes,
)
def _printed_partial_participation_gap(
    num_steps, *, mu, L, local_steps, num_draws, G2, sigma2, objective_gap, initial_distance2, theta, rho
):
    r"""Bound on ``E F(w_T) - F*`` with K priority clients drawn per round, eq. (60) as printed; sums from i = 1.

    .. math::
        \frac1{T+\gamma}\Big[\frac{2L}{\mu^2}\Big(\sigma^2+8(E-1)^2G^2+\frac{8E^2G^2}K\Big)
        +\frac{4L^2}\mu\|w_0-w^*\|^2+\frac{12L^2}{\mu^2}\theta_T\Gamma\Big]+\rho_T,\quad\gamma=\frac{8L}\mu

    It is false for E = 1 and large K, like Theorem 1.

    The instance of ``full_participation_gap`` with K = 2, which adds 4 * 8 * 9 * 23/2: ``(3184 + 3312)/64 + 5/4``.

    >>> partial_participation_gap.printed(48, mu=1, L=2, local_steps=3, num_draws=2, G2=23, sigma2=5, objective_gap=3,
    ...                                   initial_distance2=7, theta=0.75, rho=1.25)
    102.75
    """
    horizon = num_steps + 8 * L / mu
    variances = 2 * L / mu**2 / horizon
    return {
        "noise": variances * sigma2,
        "drift": variances * 8 * G2 * (local_steps - 1) ** 2,
        "sampling": variances * 8 * G2 * local_steps**2 / num_draws,
        "initial": 4 * L**2 * initial_distance2 / mu / horizon,
        "heterogeneity": 12 * L**2 * theta * objective_gap / mu**2 / horizon,
        "bias": rho,
    }


@states(
    PAPER,
    "Theorem A.9",
    equation="eq. (60)",
    form="corrected",
    assumes=(*THEOREM, PRIORITY_DRAWS),
    printed=_printed_partial_participation_gap,
)
def partial_participation_gap(
    num_steps, *, mu, L, local_steps, num_draws, G2, sigma2, objective_gap, initial_distance2, theta, rho
):
    r"""Bound on ``E F(w_T) - F*`` with K priority clients drawn per round, for every number of local steps.

    .. math::
        \frac1{T+\gamma}\Big[\frac{2L}{\mu^2}\Big(\sigma^2+8(E-1)^2G^2+\frac{4E^2G^2}K\Big)
        +\frac{L\gamma}2\|w_0-w^*\|^2+\frac{12L^2}{\mu^2}\theta_T\Gamma\Big]+\rho_T

    The sums of theta and rho begin at i = 0, and gamma is ``max(8 L/mu, E)``, as in Theorem 1.

    Examples
    --------
    The instance of ``full_participation_gap`` with K = 2, which adds 4 * 4 * 9 * 23/2: ``(3184 + 1656)/64 + 5/4``.

    >>> partial_participation_gap(48, mu=1, L=2, local_steps=3, num_draws=2, G2=23, sigma2=5, objective_gap=3,
    ...                           initial_distance2=7, theta=0.75, rho=1.25)
    76.875
    """
    gamma = delay(mu=mu, L=L, local_steps=local_steps)
    horizon = num_steps + gamma
    variances = 2 * L / mu**2 / horizon
    return {
        "noise": variances * sigma2,
        "drift": variances * 8 * G2 * (local_steps - 1) ** 2,
        "sampling": variances * 4 * G2 * local_steps**2 / num_draws,
        "initial": L * gamma * initial_distance2 / 2 / horizon,
        "heterogeneity": 12 * L**2 * theta * objective_gap / mu**2 / horizon,
        "bias": rho,
    }
