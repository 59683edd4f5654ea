r"""Li et al., Theorems 1, 2 and 3: convergence with all clients, and with two sampling schemes.

With ``kappa = L/mu`` and ``gamma = max(8 kappa, E)`` they differ only in C, the variance of the selection. T counts the
local steps from the first model w_0. The paper counts from w_1, so that its denominator is ``gamma + T - 1``.
"""

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.bounds import fedavg
from fedtheory.bounds._step_sizes import curvatures, for_each_step
from fedtheory.bounds.fedavg import paper
from fedtheory.theorem import LeftSide, states

_THEOREM = (*paper.FUNCTIONS, paper.NOISE, paper.GRADIENTS)


def decaying_step_sizes(num_steps: int, *, mu: float, L: float, local_steps: int) -> Array:
    """Step sizes ``eta_t = 2/(mu (t + gamma))`` with ``gamma = max(8 L/mu, E)`` for t = 0, ..., T - 1; shape (T,).

    >>> decaying_step_sizes(3, mu=2.0, L=3.0, local_steps=5) == [2 / 24, 2 / 26, 2 / 28]
    array([ True,  True,  True])
    """
    mu, L = curvatures(mu, L)
    period = validate.double("local_steps", validate.count("local_steps", local_steps))
    return for_each_step(num_steps, lambda t: 2.0 / (mu * (t + paper.delay(mu=mu, L=L, local_steps=period))))


@states(
    paper.PAPER,
    "Theorem 1",
    basis="printed",
    left=LeftSide("gap", "E F(w_T) - F*", over=("noise",)),
    assumes=_THEOREM,
    schemes=paper.FULL_PARTICIPATION,
    step_sizes=decaying_step_sizes,
    worst_case=lambda: fedavg._worst_cases.FULL_PARTICIPATION,
)
def full_participation_gap(num_steps, *, mu, L, local_steps, G2, weighted_sigma2, objective_gap, initial_distance2):
    r"""Bound on ``E F(w_T) - F*`` when all clients take part and their models are averaged with the weights p_k.

    .. math::
        \frac{\kappa}{\gamma+T}\Big(\frac{2B}\mu+\frac{\mu\gamma}2\|w_0-w^*\|^2\Big),\quad
        B=\sum_kp_k^2\sigma_k^2+6L\Gamma+8(E-1)^2G^2

    Examples
    --------
    With mu = 2, L = 3, E = 14 (gamma = 14), T = 7: kappa/(gamma + T) = 1/14. B = 5 + 6 * 3 * 11 + 8 * 13^2 * 100, and
    the parenthesis is B + 14 * 13.

    >>> full_participation_gap(7, mu=2.0, L=3.0, local_steps=14, G2=100.0, weighted_sigma2=5.0, objective_gap=11.0,
    ...                        initial_distance2=13.0) == (5 + 198 + 135200 + 182) / 14
    True
    """
    return summands(num_steps, mu, L, local_steps, G2, weighted_sigma2, objective_gap, initial_distance2)


@states(
    paper.PAPER,
    "Theorem 2",
    basis="printed",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise")),
    assumes=(*_THEOREM, paper.DRAWS),
    schemes=paper.WITH_REPLACEMENT,
    step_sizes=decaying_step_sizes,
    worst_case=lambda: fedavg._worst_cases.WITH_REPLACEMENT,
)
def with_replacement_gap(
    num_steps, *, mu, L, local_steps, num_selected, G2, weighted_sigma2, objective_gap, initial_distance2
):
    r"""Bound on ``E F(w_T) - F*`` when K clients are drawn with replacement, with probabilities p_k, and averaged.

    .. math::
        \frac{\kappa}{\gamma+T}\Big(\frac{2(B+C)}\mu+\frac{\mu\gamma}2\|w_0-w^*\|^2\Big),\quad C=\frac4KE^2G^2

    Examples
    --------
    The instance of ``full_participation_gap`` with K = 7, so that C = 4/7 14^2 100 = 11200.

    >>> with_replacement_gap(7, mu=2.0, L=3.0, local_steps=14, num_selected=7, G2=100.0, weighted_sigma2=5.0,
    ...                      objective_gap=11.0, initial_distance2=13.0) == (5 + 198 + 135200 + 11200 + 182) / 14
    True
    """
    C = 4 * local_steps**2 * G2 / num_selected
    return summands(num_steps, mu, L, local_steps, G2, weighted_sigma2, objective_gap, initial_distance2, C)


@states(
    paper.PAPER,
    "Theorem 3",
    basis="printed",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise")),
    assumes=(*_THEOREM, paper.SUBSET, paper.BALANCED, paper.SEVERAL_CLIENTS),
    schemes=paper.SUBSETS,
    step_sizes=decaying_step_sizes,
    worst_case=lambda: fedavg._worst_cases.WITHOUT_REPLACEMENT,
)
def without_replacement_gap(
    num_steps, *, mu, L, local_steps, num_clients, num_selected, G2, weighted_sigma2, objective_gap, initial_distance2
):
    r"""Bound on ``E F(w_T) - F*`` when K of N equally weighted clients are drawn without replacement and averaged.

    .. math::
        \frac{\kappa}{\gamma+T}\Big(\frac{2(B+C)}\mu+\frac{\mu\gamma}2\|w_0-w^*\|^2\Big),\quad
        C=\frac{N-K}{N-1}\cdot\frac4KE^2G^2

    Examples
    --------
    The instance of ``full_participation_gap`` with N = 11 and K = 7, so that C = 4/10 of 11200.

    >>> without_replacement_gap(7, mu=2.0, L=3.0, local_steps=14, num_clients=11, num_selected=7, G2=100.0,
    ...                         weighted_sigma2=5.0, objective_gap=11.0,
    ...                         initial_distance2=13.0) == (5 + 198 + 135200 + 4480 + 182) / 14
    True
    """
    C = subset_variance(local_steps, num_clients, num_selected, G2)
    return summands(num_steps, mu, L, local_steps, G2, weighted_sigma2, objective_gap, initial_distance2, C)


def subset_variance(local_steps, num_clients, num_selected, G2):
    """Return C for K of N equally weighted clients."""
    return 4 * (num_clients - num_selected) * local_steps**2 * G2 / ((num_clients - 1) * num_selected)


def summands(num_steps, mu, L, local_steps, G2, weighted_sigma2, objective_gap, initial_distance2, selection=None):
    """Return the summands of Theorems 1 to 3; ``selection`` is the variance C of the selection, if any."""
    gamma = paper.delay(mu=mu, L=L, local_steps=local_steps)
    variances = 2 * L / (mu**2 * (num_steps + gamma))
    sampled = {} if selection is None else {"sampling": 2 * L * selection / (mu**2 * (num_steps + gamma))}
    return {
        "noise": variances * weighted_sigma2,
        "heterogeneity": variances * 6 * L * objective_gap,
        "drift": variances * 8 * (local_steps - 1) ** 2 * G2,
        "initial": L * gamma * initial_distance2 / (2 * (num_steps + gamma)),
        **sampled,
    }
