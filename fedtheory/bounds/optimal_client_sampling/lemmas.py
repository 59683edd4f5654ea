"""Optimal Client Sampling: second moments, client drift and Lemma 21.

The server moves by ``-eta G`` with ``G = sum_{i in S} (w_i / p_i) Delta_i``. ``Delta_i`` is the gradient g_i (DSGD) or
the local change divided by ``R eta_l`` (FedAvg with R local steps, ``eta = R eta_l eta_g``).
"""

from fedtheory.bounds.optimal_client_sampling import paper
from fedtheory.theorem import FEDTHEORY, NONNEGATIVE, Hypothesis, LeftSide, Smooth, StronglyConvex, states

_SERVER_STEP, _, _LOCAL_STEP, _ = paper.FEDAVG_STEPS
_UNBIASED = Hypothesis(
    "E [G | updates] = sum_i w_i Delta_i, and the updates are unbiased: E Delta_i = grad f_i (DSGD)",
    of_run=lambda run: None if run.steps_of_round == 1 else f"local_steps = {run.steps_of_round}",
)


@states(
    paper.PAPER,
    "Section 2",
    equation="eq. (3)",
    left=LeftSide(
        "variance", "E |G - grad f|^2", model="none", after="step", over=("selection", "noise"), is_equal=True
    ),
    assumes=(_UNBIASED,),
    schemes=paper.SCHEMES,
    options=("gradient_noise", "relative_noise"),
)
def estimator_error(*, sampling_error, update_error):
    r"""Return ``E |G - grad f|^2``: sampling variance plus variance of the average over all clients.

    .. math::
        \mathbb E\,\|G-\sum_iw_iU_i\|^2+\mathbb E\,\|\sum_iw_iU_i-\nabla f\|^2

    Examples
    --------
    >>> estimator_error(sampling_error=3, update_error=1)
    4.0
    """
    return {"sampling": sampling_error, "updates": update_error}


@states(
    FEDTHEORY,
    "the second moment in terms of the improvement factor",
    related=(paper.PAPER, "Section 2, eqs. (6), (15), (16)"),
    form="derived",
    left=LeftSide("second moment", "E |G|^2", model="none", after="round", over=("selection", "noise"), is_equal=True),
    assumes=(paper.GAMMA_AT_MOST_ONE,),
    schemes=paper.SCHEMES,
    options=("any",),
)
def estimator_second_moment(*, squared_weight_update2, mean_update2, gamma):
    r"""Return ``E |G|^2`` for independent sampling: identity (6) in terms of gamma.

    .. math::
        (1/\gamma-1)\sum_iw_i^2\,\mathbb E\,\|\Delta_i\|^2+\mathbb E\,\|\sum_iw_i\Delta_i\|^2

    Examples
    --------
    Two clients of weight 1/2 with updates 1 and 1, sampled with probability 1/2 each (gamma = 1/2): G is 0, 1 or 2
    with probabilities 1/4, 1/2, 1/4.

    >>> estimator_second_moment(squared_weight_update2=0.5, mean_update2=1, gamma=0.5)
    1.5
    """
    return {"sampling": (1 - gamma) / gamma * squared_weight_update2, "updates": mean_update2}


@states(
    FEDTHEORY,
    "the second moment of one step",
    related=(paper.PAPER, "Theorems 13 and 15, in their proofs"),
    form="derived",
    left=LeftSide("second moment", "E |G|^2", model="none", after="step", over=("selection", "noise")),
    assumes=(paper.GRADIENT_NOISE, paper.GAMMA_AT_MOST_ONE, *paper.WEIGHTS),
    schemes=paper.SCHEMES,
)
def dsgd_second_moment(
    *, squared_weight_gradient2, gradient2, gamma, max_weight, sum_squared_weights, relative_noise, sigma2
):
    r"""Bound on ``E |G|^2`` for DSGD; an equality if Assumption 7 is an equality.

    .. math::
        \Big(\frac{1+M}\gamma-1\Big)\sum_iw_i^2\|\nabla f_i\|^2+\|\nabla f\|^2
        +\frac{\sigma^2}\gamma\sum_iw_i^2

    Examples
    --------
    With M = 1, gamma = 1/2: c = 3; 3 * 2 + 4 + 2 * 5 / 4.

    >>> dsgd_second_moment(squared_weight_gradient2=2, gradient2=4, gamma=0.5, max_weight=0.5,
    ...                    sum_squared_weights=0.25, relative_noise=1, sigma2=5)
    12.5
    """
    return {
        "clients": (relative_noise + (1 - gamma)) / gamma * squared_weight_gradient2,
        "gradient": gradient2,
        "noise": sigma2 * sum_squared_weights / gamma,
    }


@states(
    paper.PAPER,
    "Lemma 21",
    equation="eq. (35)",
    basis="quoted",
    left=LeftSide("inner product", "<grad h(x), z - y>", model="any", after="any time"),
    assumes=(Smooth(of="h"), StronglyConvex(of="h", source="mu = 0 is allowed: convex")),
    domains={"mu": NONNEGATIVE},
    side="lower",
)
def perturbed_inner_product(value_difference, *, distance2, displacement2, mu, L):
    r"""Lower bound on ``<grad h(x), z - y>`` with ``value_difference = h(z) - h(y)``.

    .. math::
        h(z)-h(y)+\tfrac\mu4\|y-z\|^2-L\|z-x\|^2

    Parameters
    ----------
    distance2
        ``|y - z|^2``.
    mu
        Strong convexity of h, which may be 0.
    L
        Smoothness of h.

    Examples
    --------
    For h = x^2/2, y = 0, z = 2, x = 1 both sides are 2: the right-hand side is 2 + 1 - 1.

    >>> perturbed_inner_product(2, distance2=4, displacement2=1, mu=1, L=1)
    2.0
    """
    return {"values": value_difference, "convexity": mu * distance2 / 4, "displacement": -L * displacement2}


@states(
    FEDTHEORY,
    "the drift in a round of local steps",
    related=(paper.PAPER, "Theorems 17 and 18, the drift (36) in their proofs"),
    form="derived",
    left=LeftSide(
        "drift", "(1/R) sum_i sum_{s<R} w_i E |y_{i,s} - x|^2", model="clients", after="round", over=("noise",)
    ),
    assumes=(paper.SMOOTH, paper.LOCAL_GRADIENT_NOISE, _SERVER_STEP, _LOCAL_STEP),
    schemes=paper.SCHEMES,
    domains=paper.WHOLE_MOVE,
)
def client_drift(mean_gradient2, *, step_size, server_step_size, local_steps, L, relative_noise, sigma2):
    r"""Bound on the drift, ``(1/R) sum_i sum_{s<R} w_i E |y_{i,s} - x|^2``.

    .. math::
        \tfrac78\Big(1-\tfrac1R\Big)\frac{\eta^2}{\eta_g^2}
        \Big[2\big(1+\tfrac MR\big)\sum_iw_i\|\nabla f_i(x)\|^2+\frac{\sigma^2}R\Big]

    Examples
    --------
    With R = 2, M = 2, eta = 1/32, eta_g = 1, L = 1: ``7/16 / 1024 * (4 * 8 + 64 / 2) = 7/256``.

    >>> client_drift(8, step_size=1 / 32, server_step_size=1, local_steps=2, L=1, relative_noise=2, sigma2=64) * 256
    7.0
    """
    R = local_steps
    scale = 7 * (R - 1) * (step_size / server_step_size) ** 2 / (8 * R)
    return {
        "gradients": scale * 2 * (R + relative_noise) * mean_gradient2 / R,
        "noise": scale * sigma2 / R,
    }


@states(
    FEDTHEORY,
    "the second moment of a round of local steps",
    related=(paper.PAPER, "Theorems 17 and 18"),
    form="derived",
    left=LeftSide("second moment", "E |G|^2", model="none", after="round", over=("selection", "noise")),
    assumes=(paper.SMOOTH, paper.LOCAL_GRADIENT_NOISE, paper.GAMMA_AT_MOST_ONE, *paper.WEIGHTS),
    schemes=paper.SCHEMES,
)
def fedavg_second_moment(
    drift,
    *,
    squared_weight_gradient2,
    gradient2,
    gamma,
    local_steps,
    L,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
):
    r"""Bound on ``E |G|^2`` for FedAvg with R local steps, where local noise and local gradients are correlated.

    .. math::
        2\Big(\frac{1+M/R}\gamma-1\Big)\sum_iw_i^2\|\nabla f_i\|^2+\tfrac32\|\nabla f\|^2
        +6L^2\frac{1+WM/R}\gamma\,\mathcal E+\frac{4\sigma^2}{3R\gamma}\sum_iw_i^2

    Examples
    --------
    With drift 1, M = 2 and R = 2 (so M/R = 1), gamma = 1/2, W = S2 = 1, L = 1:
    ``2 * 3 * 1 + 3/2 * 2 + 6 * 4 * 1 + 4 * 3 / (3 * 2 / 2) = 37``.

    >>> fedavg_second_moment(1, squared_weight_gradient2=1, gradient2=2, gamma=0.5, local_steps=2, L=1, max_weight=1,
    ...                      sum_squared_weights=1, relative_noise=2, sigma2=3)
    37.0
    """
    R, M = local_steps, relative_noise
    return {
        "clients": 2 * (M + R * (1 - gamma)) / (R * gamma) * squared_weight_gradient2,
        "gradient": 3 * gradient2 / 2,
        "drift": 6 * L**2 * (R + max_weight * M) / (R * gamma) * drift,
        "noise": 4 * sigma2 * sum_squared_weights / (3 * R * gamma),
    }
