"""FedALIGN, Appendix A.2: one-step recursions and their exact solution."""

import numpy as np

from fedtheory.arithmetic.functions import total
from fedtheory.bounds import fedalign
from fedtheory.bounds.fedalign import paper
from fedtheory.bounds.fedavg.paper import delay
from fedtheory.bounds.fedavg.theorems import decaying_step_sizes
from fedtheory.theorem import FEDTHEORY, BoundedGradients, LeftSide, states

_ALWAYS = (*paper.CURVATURE, paper.NOISE, paper.FROZEN_INDICATORS, paper.PRIORITY_WEIGHT, paper.SHORT_STEPS)
_ASSUMES = (paper.GRADIENTS, paper.HALVING, *_ALWAYS)
# The drift of a step depends only on earlier gradients of its round, averaged with the weights of the models.
_GRADIENTS_OF_THE_ROUND = BoundedGradients(weights="p'_k I_k", at_starts=False)


@states(
    paper.PAPER,
    "Lemma A.6",
    equation="eqs. (30)-(31), (54)",
    left=LeftSide("squared distance", "E |w_{t+1} - w*|^2", after="step", over=("noise",)),
    assumes=_ASSUMES,
    schemes=paper.FULL,
    worst_case=lambda: fedalign._worst_cases.ONE_STEP,
)
def one_step(distance2, *, step_size, mu, L, local_steps, G2, sigma2, objective_gap, priority_weight, included_gap):
    r"""Bound on ``E |w_{t+1} - w*|^2`` from ``Delta_t = E |w_t - w*|^2``.

    .. math::
        (1-\eta\mu)\Delta_t+\eta^2\Big(8(E-1)^2G^2+6L\Gamma\,\mathbb E\frac1{1+s}+\sigma^2\Big)
        +2\eta\,\mathbb E\frac{\sum_{k\notin P}p_kI_k\Gamma_k}{1+s}

    Here w_t is the average of the included clients' models with the round's weights p'_k.

    Examples
    --------
    With mu = 1, L = 2, eta = 1/8, E = 3, 1/(1 + s) = 1/2, an included gap of 3/2 and Delta_t = 7:
    ``(7/8) 7 + (8 * 4 * 23 + 6 * 2 * 3/2 + 5) / 64 + (2/8) 3/2``.

    >>> one_step(7, step_size=0.125, mu=1, L=2, local_steps=3, G2=23, sigma2=5, objective_gap=3, priority_weight=0.5,
    ...          included_gap=1.5)
    18.359375
    """
    return {
        "contraction": (1 - step_size * mu) * distance2,
        "drift": 8 * step_size**2 * (local_steps - 1) ** 2 * G2,
        "noise": step_size**2 * sigma2,
        "heterogeneity": 6 * L * objective_gap * priority_weight * step_size**2,
        "bias": 2 * step_size * included_gap,
    }


@states(
    FEDTHEORY,
    "one step for any step sizes up to 1/(4 L)",
    related=(paper.PAPER, "Lemma A.6, eqs. (30)-(31)"),
    form="refined",
    assumes=(_GRADIENTS_OF_THE_ROUND, *_ALWAYS, paper.SQUARED_WEIGHTS),
    printed=one_step,
    options=paper.ANY_STEP,
    worst_case=lambda: fedalign._worst_cases.ONE_STEP,
)
def refined_one_step(
    distance2,
    *,
    step_size,
    elapsed_step_size,
    mu,
    L,
    G2,
    sigma2,
    objective_gap,
    priority_weight,
    included_gap,
    squared_weights=1,
):
    r"""Bound on ``E |w_{t+1} - w*|^2`` like ``one_step``, for any step sizes up to 1/(4 L).

    S is the sum of the round's earlier step sizes.

    .. math::
        (1-\eta\mu)\Delta_t+2S^2G^2+\eta^2\Big(6L\Gamma\,\mathbb E\frac1{1+s}+\sigma^2\,\mathbb E\sum_kp_k'^2I_k\Big)
        +2\eta\,\mathbb E\frac{\sum_{k\notin P}p_kI_k\Gamma_k}{1+s}

    Examples
    --------
    The instance of ``one_step`` with S = 1/4 and weights 1/2, 1/4 and 1/4, whose squares sum to 3/8:
    ``(7/8) 7 + 2 * 23/16 + (6 * 2 * 3/2 + 5 * 3/8) / 64 + (2/8) 3/2``.

    >>> refined_one_step(7, step_size=0.125, elapsed_step_size=0.25, mu=1, L=2, G2=23, sigma2=5, objective_gap=3,
    ...                  priority_weight=0.5, included_gap=1.5, squared_weights=0.375)
    9.685546875
    """
    return {
        "contraction": (1 - step_size * mu) * distance2,
        "drift": 2 * elapsed_step_size**2 * G2,
        "noise": step_size**2 * sigma2 * squared_weights,
        "heterogeneity": 6 * L * objective_gap * priority_weight * step_size**2,
        "bias": 2 * step_size * included_gap,
    }


@states(
    FEDTHEORY,
    "one step with drawn priority clients",
    related=(paper.PAPER, "Appendix A.4, eq. (59)"),
    form="refined",
    left=LeftSide("squared distance", "E |w'_{t+1} - w*|^2", after="step", over=("selection", "noise")),
    assumes=(*_ASSUMES, paper.PRIORITY_DRAWS),
    schemes=paper.PARTIAL,
)
def partial_one_step(
    distance2, *, step_size, mu, L, local_steps, num_draws, G2, sigma2, objective_gap, priority_weight, included_gap
):
    r"""Bound on ``E |w'_{t+1} - w*|^2`` with K priority clients drawn: ``one_step`` plus ``4 eta^2 E^2 G2/K``.

    .. math::
        (1-\eta\mu)\Delta_t+\eta^2\Big(8(E-1)^2G^2+\frac{4E^2G^2}K
        +6L\Gamma\,\mathbb E\frac1{1+s}+\sigma^2\Big)+2\eta\,\mathbb E\frac{\sum_{k\notin P}p_kI_k\Gamma_k}{1+s}

    The last inequality of eq. (59) doubles the summand of the draws needlessly.

    Examples
    --------
    The instance of ``one_step`` with K = 2, which adds 4 * 9 * 23/(64 * 2): 18.359375 + 6.46875.

    >>> partial_one_step(7, step_size=0.125, mu=1, L=2, local_steps=3, num_draws=2, G2=23, sigma2=5, objective_gap=3,
    ...                  priority_weight=0.5, included_gap=1.5)
    24.828125
    """
    return {
        "contraction": (1 - step_size * mu) * distance2,
        "drift": 8 * step_size**2 * (local_steps - 1) ** 2 * G2,
        "sampling": 4 * step_size**2 * local_steps**2 * G2 / num_draws,
        "noise": step_size**2 * sigma2,
        "heterogeneity": 6 * L * objective_gap * priority_weight * step_size**2,
        "bias": 2 * step_size * included_gap,
    }


@states(
    FEDTHEORY,
    "the exact solution of the recursion of one step",
    related=(paper.PAPER, "Theorem 1"),
    form="refined",
    left=LeftSide("gap", "E F(w_T) - F*", over=("noise",)),
    assumes=(*paper.CURVATURE, paper.NOISE, paper.GRADIENTS, paper.FROZEN_INDICATORS, paper.PRIORITY_WEIGHTS),
    schemes=paper.FULL,
    step_sizes=decaying_step_sizes,
    worst_case=lambda: fedalign._worst_cases.RECURSION,
)
def recursion_gap(
    num_steps, *, mu, L, local_steps, G2, sigma2, objective_gap, initial_distance2, priority_weights, included_gaps
):
    r"""Bound on ``E F(w_T) - F*``: L/2 times the exact solution of ``one_step`` with step sizes ``2/(mu (t + gamma))``.

    .. math::
        \frac L2\cdot\frac{(\gamma-1)(\gamma-2)\Delta_0+\frac4{\mu^2}\sum_{i<T}\big(1-\frac1{i+\gamma}\big)B_i
        +\frac2\mu\sum_{i<T}(i+\gamma-1)D_i}{(T+\gamma-1)(T+\gamma-2)}

    Parameters
    ----------
    num_steps
        T, a single horizon.

    Examples
    --------
    With mu = L = 1 and E = 2 (so gamma = 8) the round has the steps 1/4 and 2/9. With 1/(1 + s) = 1/2 and an included
    gap of 3/2, B = 8 * 19 + 5 + 6 * 3/2 = 166 and D = 3. So ``Delta_1 = (3/4) 7 + 166/16 + 3/4 = 131/8``,
    ``Delta_2 = (7/9) 131/8 + (4/81) 166 + (2/9) 3 = 13997/648``, and the bound is half of it.

    >>> from fractions import Fraction as Q
    >>> recursion_gap(2, mu=Q(1), L=Q(1), local_steps=2, G2=19, sigma2=5, objective_gap=3, initial_distance2=7,
    ...               priority_weights=[Q(1, 2), Q(1, 2)], included_gaps=[Q(3, 2), Q(3, 2)])
    Fraction(13997, 1296)
    """
    gamma = delay(mu=mu, L=L, local_steps=local_steps)
    scale = L / (2 * (num_steps + gamma - 1) * (num_steps + gamma - 2))
    steady = sigma2 + 8 * G2 * (local_steps - 1) ** 2
    ones = paper.summed(priority_weights, num_steps, lambda i: (i + gamma - 1) / (i + gamma))
    gaps = paper.summed(included_gaps, num_steps, lambda i: i + gamma - 1)
    return {
        "initial": scale * (gamma - 1) * (gamma - 2) * initial_distance2,
        "drift and noise": scale * 4 / mu**2 * steady * _lengths(num_steps, gamma),
        "heterogeneity": scale * 24 * L * objective_gap / mu**2 * ones,
        "bias": scale * 4 / mu * gaps,
    }


def _lengths(num_steps, gamma):
    # sum over i < T of 1 - 1/(i + gamma)
    if hasattr(num_steps, "free_symbols"):
        from sympy import Sum, Symbol

        i = Symbol("i", integer=True)
        return Sum(1 - 1 / (i + gamma), (i, 0, num_steps - 1))
    return total(1 - 1 / (np.arange(num_steps) + gamma))
