"""Optimal Client Sampling: one round of FedAvg with R local steps and independent sampling.

``step_size`` is the effective step size ``eta = R eta_l eta_g``; ``server_step_size`` is eta_g.
"""

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.optimal_client_sampling import paper
from fedtheory.theorem import FEDTHEORY, LeftSide, StronglyConvex, states

_STRONGLY_CONVEX_CLIENTS = StronglyConvex(of="every f_i")
_ONE_ROUND = (paper.SMOOTH, paper.LOCAL_GRADIENT_NOISE, paper.GAMMA_AT_MOST_ONE, *paper.WEIGHTS, *paper.FEDAVG_STEPS)


@states(
    FEDTHEORY,
    "a round of local steps, strongly convex objective",
    related=(paper.PAPER, "Theorem 17"),
    form="derived",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="round", over=("selection", "noise")),
    assumes=(_STRONGLY_CONVEX_CLIENTS, paper.MINIMA, *_ONE_ROUND),
    schemes=paper.SCHEMES,
    domains=paper.WHOLE_MOVE,
    worst_case=lambda: ocs._worst_cases.ROUND,
)
def fedavg_strongly_convex(
    distance2,
    *,
    gap,
    step_size,
    server_step_size,
    local_steps,
    mu,
    L,
    gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    objective_gap,
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` after one round.

    .. math::
        \Big(1-\frac{\mu\eta}2\Big)\|r^k\|^2-\tfrac{23}{16}\eta R^k
        +\eta^2\Big[4L\frac{M/R+1-\gamma}\gamma W\bar Z+\frac{3\sigma^2S_2}{2\gamma R}\Big]
        +\tfrac{77}8L^2\Big(1+\frac MR\Big)\bar Z\frac{\eta^3}{\eta_g^2}

    Examples
    --------
    With eta = 1/64, eta_g = 2, R = M = 2, mu = 1, L = 2, gamma = 1/2 and the weights 1/2, 1/4, 1/4 (W = 1/2, S2 = 3/8):
    ``64 (1 - 1/128) - (23/16) 48/64 + (8 * 3 * 512 + 3 * 3072 / 2) / 4096 + (77/8) 4 * 2 * 1024 / (64^3 * 4)``.

    >>> fedavg_strongly_convex(64, gap=48, step_size=1 / 64, server_step_size=2, local_steps=2, mu=1, L=2, gamma=0.5,
    ...                        max_weight=0.5, sum_squared_weights=0.375, relative_noise=2, sigma2=8192,
    ...                        objective_gap=1024) == 63.5 - 69 / 64 + 3 + 9 / 8 + 77 / 1024
    True
    """
    eta, R, M = step_size, local_steps, relative_noise
    return {
        "contraction": (1 - mu * eta / 2) * distance2,
        "descent": -23 * eta * gap / 16,
        "heterogeneity": eta**2 * 4 * L * (M + R * (1 - gamma)) / (R * gamma) * max_weight * objective_gap,
        "noise": 3 * eta**2 * sigma2 * sum_squared_weights / (2 * gamma * R),
        "drift": 77 * L**2 * (R + M) * objective_gap * eta**3 / (8 * R * server_step_size**2),
    }


@states(
    FEDTHEORY,
    "a round of local steps, with sum_i w_i^2 Z_i",
    related=(paper.PAPER, "Theorem 17"),
    form="derived",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="round", over=("selection", "noise")),
    assumes=(_STRONGLY_CONVEX_CLIENTS, paper.MINIMA, *_ONE_ROUND),
    schemes=paper.SCHEMES,
    domains=paper.WHOLE_MOVE,
    worst_case=lambda: ocs._worst_cases.ROUND_PER_CLIENT,
)
def fedavg_strongly_convex_per_client(
    distance2,
    *,
    gap,
    step_size,
    server_step_size,
    local_steps,
    mu,
    L,
    gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    objective_gap,
    per_client_gap,
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` after one round, with ``per_client_gap = sum_i w_i^2 (f_i(x*) - f_i*)``.

    .. math::
        \Big(1-\frac{\mu\eta}2\Big)\|r^k\|^2-\tfrac58\eta R^k
        +\eta^2\Big[4L\frac{M/R+1-\gamma}\gamma\sum_iw_i^2Z_i+\frac{3\sigma^2S_2}{2\gamma R}\Big]
        +12L^2\Big(1+\frac MR\Big)\bar Z\frac{\eta^3}{\eta_g^2}

    Examples
    --------
    The instance of ``fedavg_strongly_convex`` with 256 per client:
    ``63.5 - (5/8) 48/64 + (8 * 3 * 256 + 3 * 3072 / 2) / 4096 + 12 * 4 * 2 * 1024 / (64^3 * 4)``.

    >>> fedavg_strongly_convex_per_client(64, gap=48, step_size=1 / 64, server_step_size=2, local_steps=2, mu=1, L=2,
    ...                                   gamma=0.5, max_weight=0.5, sum_squared_weights=0.375, relative_noise=2,
    ...                                   sigma2=8192, objective_gap=1024, per_client_gap=256)
    65.75
    """
    eta, R, M = step_size, local_steps, relative_noise
    return {
        "contraction": (1 - mu * eta / 2) * distance2,
        "descent": -5 * eta * gap / 8,
        "heterogeneity": eta**2 * 4 * L * (M + R * (1 - gamma)) / (R * gamma) * per_client_gap,
        "noise": 3 * eta**2 * sigma2 * sum_squared_weights / (2 * gamma * R),
        "drift": 12 * L**2 * (R + M) * objective_gap * eta**3 / (R * server_step_size**2),
    }


@states(
    FEDTHEORY,
    "a round of local steps of convex clients",
    related=(paper.PAPER, "Theorem 17"),
    form="derived",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="round", over=("selection", "noise")),
    assumes=(paper.STRONGLY_CONVEX, paper.CONVEX_CLIENTS, paper.MINIMA, *_ONE_ROUND),
    schemes=paper.SCHEMES,
    domains=paper.WHOLE_MOVE,
    worst_case=lambda: ocs._worst_cases.ROUND,
)
def fedavg_convex_clients(
    distance2,
    *,
    gap,
    step_size,
    server_step_size,
    local_steps,
    mu,
    L,
    gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    objective_gap,
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` after one round if f is strongly convex and the f_i are convex.

    .. math::
        \Big(1-\frac{\mu\eta}2\Big)\|r^k\|^2-\tfrac7{16}\eta R^k
        +\eta^2\Big[4L\frac{M/R+1-\gamma}\gamma W\bar Z+\frac{3\sigma^2S_2}{2\gamma R}\Big]
        +\tfrac{77}8L^2\Big(1+\frac MR\Big)\bar Z\frac{\eta^3}{\eta_g^2}

    Examples
    --------
    The instance of ``fedavg_strongly_convex``, with 7/16 in place of 23/16.

    >>> fedavg_convex_clients(64, gap=48, step_size=1 / 64, server_step_size=2, local_steps=2, mu=1, L=2, gamma=0.5,
    ...                       max_weight=0.5, sum_squared_weights=0.375, relative_noise=2, sigma2=8192,
    ...                       objective_gap=1024) == 63.5 - 21 / 64 + 3 + 9 / 8 + 77 / 1024
    True
    """
    eta, R, M = step_size, local_steps, relative_noise
    return {
        "contraction": (1 - mu * eta / 2) * distance2,
        "descent": -7 * eta * gap / 16,
        "heterogeneity": eta**2 * 4 * L * (M + R * (1 - gamma)) / (R * gamma) * max_weight * objective_gap,
        "noise": 3 * eta**2 * sigma2 * sum_squared_weights / (2 * gamma * R),
        "drift": 77 * L**2 * (R + M) * objective_gap * eta**3 / (8 * R * server_step_size**2),
    }


@states(
    FEDTHEORY,
    "a round of local steps of non-convex clients",
    related=(paper.PAPER, "Theorem 18"),
    form="derived",
    left=LeftSide("loss", "E f(x^{k+1})", after="round", over=("selection", "noise")),
    assumes=(paper.BOUNDED_BELOW, paper.SIMILAR_CLIENTS, *_ONE_ROUND),
    schemes=paper.SCHEMES,
    domains=paper.WHOLE_MOVE,
)
def fedavg_nonconvex(
    value,
    *,
    gradient2,
    step_size,
    server_step_size,
    local_steps,
    L,
    gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    dissimilarity,
):
    r"""Bound on ``E f(x^{k+1})`` from ``value = f(x^k)`` and ``gradient2 = |grad f(x^k)|^2``.

    .. math::
        f(x^k)-\tfrac{23}{64}\eta\|\nabla f\|^2
        +L\eta^2\Big[\frac{M/R+1-\gamma}\gamma W\rho+\frac{3\sigma^2S_2}{4\gamma R}\Big]
        +\tfrac{49}{32}L^2\Big(1+\frac MR\Big)\rho\frac{\eta^3}{\eta_g^2}

    Examples
    --------
    With eta = 1/64, eta_g = 2, R = M = 2, L = 2, gamma = 1/2, W = 1/2, S2 = 3/8, rho = 1024 and sigma2 = 8192:
    ``20 - (23/64) 64/64 + 2 (3 * 512 + 3 * 3072 / 4) / 4096 + (49/32) 4 * 2 * 1024 / (64^3 * 4)``.

    >>> fedavg_nonconvex(20, gradient2=64, step_size=1 / 64, server_step_size=2, local_steps=2, L=2, gamma=0.5,
    ...                  max_weight=0.5, sum_squared_weights=0.375, relative_noise=2, sigma2=8192,
    ...                  dissimilarity=1024) == 20 - 23 / 64 + 3 / 4 + 9 / 8 + 49 / 4096
    True
    """
    eta, R, M = step_size, local_steps, relative_noise
    return {
        "value": value,
        "descent": -23 * eta * gradient2 / 64,
        "heterogeneity": L * eta**2 * (M + R * (1 - gamma)) / (R * gamma) * max_weight * dissimilarity,
        "noise": 3 * L * eta**2 * sigma2 * sum_squared_weights / (4 * gamma * R),
        "drift": 49 * L**2 * (R + M) * dissimilarity * eta**3 / (32 * R * server_step_size**2),
    }
