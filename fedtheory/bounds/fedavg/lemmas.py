r"""Li et al.: one step with all clients, and the variance of a selection."""

from fedtheory.bounds import fedavg
from fedtheory.bounds.fedavg import paper
from fedtheory.theorem import Hypothesis, LeftSide, states

_SHORT_STEPS = Hypothesis(
    "step_size <= 1/(4 L)", lambda step_size, L: (step_size, "<=", 1 / (4 * L)), rtol=4 * 2.0**-52
)


@states(
    paper.PAPER,
    "Lemmas 1 to 3",
    left=LeftSide("squared distance", "E |w_{t+1} - w*|^2", after="step", over=("noise",)),
    assumes=(*paper.FUNCTIONS, paper.NOISE, paper.GRADIENTS, paper.HALVING, _SHORT_STEPS),
    schemes=paper.FULL_PARTICIPATION,
    worst_case=lambda: fedavg._worst_cases.ONE_STEP,
)
def one_step(distance2, *, step_size, mu, L, local_steps, G2, weighted_sigma2, objective_gap):
    r"""Bound on ``E |w_{t+1} - w*|^2`` from ``Delta_t = E |w_t - w*|^2``; w_t is the mean of all models (weights p_k).

    .. math::
        (1-\eta\mu)\Delta_t+\eta^2\Big(\sum_kp_k^2\sigma_k^2+6L\Gamma+8(E-1)^2G^2\Big)

    Examples
    --------
    With mu = 2, L = 3, eta = 1/16, E = 5, G2 = 100, weighted sigma2 7, Gamma = 11 and Delta_t = 24:
    24 (1 - 1/8) + (7 + 198 + 12800)/256.

    >>> one_step(24.0, step_size=1 / 16, mu=2.0, L=3.0, local_steps=5, G2=100.0, weighted_sigma2=7.0,
    ...          objective_gap=11.0) == 21 + 13005 / 256
    True
    """
    return {
        "contraction": (1 - step_size * mu) * distance2,
        "noise": step_size**2 * weighted_sigma2,
        "heterogeneity": 6 * L * objective_gap * step_size**2,
        "drift": 8 * step_size**2 * (local_steps - 1) ** 2 * G2,
    }


@states(
    paper.PAPER,
    "Lemma 5",
    equation="Scheme I",
    left=LeftSide("variance", "E |1/K sum_{k in S} w_k - sum_k p_k w_k|^2", after="round", over=("selection", "noise")),
    assumes=(paper.GRADIENTS, paper.HALVING, paper.DRAWS),
    schemes=paper.WITH_REPLACEMENT,
)
def with_replacement_variance(step_size, *, local_steps, num_selected, G2):
    r"""Bound on ``E |1/K sum_{k in S} w_k - sum_k p_k w_k|^2`` after a round.

    .. math::
        \frac4K\eta^2E^2G^2

    ``step_size`` is the last one of the round.

    Examples
    --------
    With eta = 1/2, E = 3, K = 5 and G2 = 7: 4/5 * 9/4 * 7.

    >>> with_replacement_variance(0.5, local_steps=3, num_selected=5, G2=7.0)
    12.6
    """
    return {"sampling": 4 * step_size**2 * local_steps**2 * G2 / num_selected}


@states(
    paper.PAPER,
    "Lemma 5",
    equation="Scheme II",
    left=LeftSide("variance", "E |1/K sum_{k in S} w_k - 1/N sum_k w_k|^2", after="round", over=("selection", "noise")),
    assumes=(paper.GRADIENTS, paper.HALVING, paper.SUBSET, paper.MEAN, paper.SEVERAL_CLIENTS),
    schemes=paper.SUBSETS,
)
def without_replacement_variance(step_size, *, local_steps, num_clients, num_selected, G2):
    r"""Bound on ``E |1/K sum_{k in S} w_k - 1/N sum_k w_k|^2`` after a round.

    .. math::
        \frac{N-K}{N-1}\cdot\frac4K\eta^2E^2G^2

    ``step_size`` is the last one of the round.

    Examples
    --------
    With eta = 1/2, E = 3, N = 11, K = 5 and G2 = 7: 6/10 * 12.6.

    >>> without_replacement_variance(0.5, local_steps=3, num_clients=11, num_selected=5, G2=7.0)
    7.56
    """
    left_out = num_clients - num_selected
    return {"sampling": 4 * left_out * step_size**2 * local_steps**2 * G2 / ((num_clients - 1) * num_selected)}
