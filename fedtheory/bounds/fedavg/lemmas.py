r"""Li et al.: one step with all clients, and the variance of a selection."""

from fedtheory.bounds import fedavg
from fedtheory.bounds.fedavg.paper import (
    DRAWS,
    FULL_PARTICIPATION,
    FUNCTIONS,
    GRADIENTS,
    HALVING,
    MEAN,
    NOISE,
    PAPER,
    SEVERAL_CLIENTS,
    SUBSET,
    SUBSETS,
    WITH_REPLACEMENT,
)
from fedtheory.theorem.assumptions import Hypothesis
from fedtheory.theorem.bound import Scalar, Summands, states
from fedtheory.theorem.left_side import LeftSide

__all__ = ["one_step", "with_replacement_variance", "without_replacement_variance"]

_SHORT_STEPS = Hypothesis(
    "step_size <= 1/(4 L)", lambda step_size, L: (step_size, "<=", 1 / (4 * L)), rtol=4 * 2.0**-52
)


@states(
    PAPER,
    "Lemmas 1 to 3",
    left=LeftSide("squared distance", "E |w_{t+1} - w*|^2", after="step", over=("noise",)),
    assumes=(*FUNCTIONS, NOISE, GRADIENTS, HALVING, _SHORT_STEPS),
    schemes=FULL_PARTICIPATION,
    worst_case=lambda: fedavg._worst_cases.ONE_STEP,
)
def one_step(
    distance2: Scalar,
    *,
    step_size: Scalar,
    mu: Scalar,
    L: Scalar,
    local_steps: Scalar,
    G2: Scalar,
    weighted_sigma2: Scalar,
    objective_gap: Scalar,
) -> Summands:
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
    PAPER,
    "Lemma 5",
    equation="Scheme I",
    left=LeftSide("variance", "E |1/K sum_{k in S} w_k - sum_k p_k w_k|^2", after="round", over=("selection", "noise")),
    assumes=(GRADIENTS, HALVING, DRAWS),
    schemes=WITH_REPLACEMENT,
)
def with_replacement_variance(step_size: Scalar, *, local_steps: Scalar, num_selected: Scalar, G2: Scalar) -> Summands:
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
    PAPER,
    "Lemma 5",
    equation="Scheme II",
    left=LeftSide("variance", "E |1/K sum_{k in S} w_k - 1/N sum_k w_k|^2", after="round", over=("selection", "noise")),
    assumes=(GRADIENTS, HALVING, SUBSET, MEAN, SEVERAL_CLIENTS),
    schemes=SUBSETS,
)
def without_replacement_variance(
    step_size: Scalar, *, local_steps: Scalar, num_clients: Scalar, num_selected: Scalar, G2: Scalar
) -> Summands:
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
