"""Optimal Client Sampling over many rounds, with random gamma^k.

``smallest_gamma``, which limits the step size, must be a lower bound in every round (m/n always is).
``mean_inverse_gamma`` must be at least ``E[1/gamma^k]``; ``1/E[gamma^k]`` is smaller.
"""

from fedtheory.arithmetic.functions import geometric
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.optimal_client_sampling import paper
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, Noise, Scheme, states

_DSGD = (paper.SMOOTH, paper.GRADIENT_NOISE, paper.SHORT_DSGD_STEPS, *paper.INVERSE_GAMMA, *paper.WEIGHTS)
_FEDAVG = (
    paper.SMOOTH,
    paper.LOCAL_GRADIENT_NOISE,
    *paper.INVERSE_GAMMA,
    *paper.WEIGHTS,
    *paper.FEDAVG_STEPS_FOR_ALL_ROUNDS,
)
_FULL = (
    paper.SMOOTH,
    paper.STRONGLY_CONVEX,
    Noise(across="uncorrelated across clients", source="Assumption 7 with M = 0"),
    Hypothesis("step_size <= 1/L", lambda step_size, L: (step_size, "<=", 1 / L), rtol=paper.ROUNDING),
)
_FULL_PARTICIPATION = (Scheme("all", "weighted"),)


@states(
    FEDTHEORY,
    "a step, expected over all rounds so far",
    related=(paper.PAPER, "Theorem 13, eqs. (18)-(20), expected over all rounds so far"),
    form="derived",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="step", over=("selection", "noise")),
    assumes=(paper.STRONGLY_CONVEX, paper.MINIMA, *_DSGD),
    schemes=paper.SCHEMES,
    worst_case=lambda: ocs._worst_cases.STEP,
)
def dsgd_contraction(
    distance2,
    *,
    step_size,
    mu,
    L,
    smallest_gamma,
    mean_inverse_gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    objective_gap,
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` from ``E |x^k - x*|^2``, for repeated application over rounds.

    .. math::
        (1-\mu\eta)E\|r^k\|^2+\eta^2(\beta_1E[1/\gamma^k]-\beta_2)

    Examples
    --------
    With eta = 1/4, mu = L = 1, M = 2, E[1/gamma] = 3/2 and the weights 1/2, 1/4, 1/4:
    ``8 (3/4) + ((2 * 3 * 5/2 + 8 * 3/8) 3/2 - 2 * 5/2) / 16 = 6 + (27 - 5)/16``.

    >>> dsgd_contraction(8, step_size=0.25, mu=1, L=1, smallest_gamma=0.5, mean_inverse_gamma=1.5, max_weight=0.5,
    ...                  sum_squared_weights=0.375, relative_noise=2, sigma2=8, objective_gap=5)
    7.375
    """
    W, S2, eta = max_weight, sum_squared_weights, step_size
    # beta_1 E[1/gamma] - beta_2, written so that 2 L W Z_bar (E[1/gamma] - 1) does not cancel
    excess = relative_noise * mean_inverse_gamma + (mean_inverse_gamma - 1)
    offset = 2 * L * W * objective_gap * excess + sigma2 * S2 * mean_inverse_gamma
    return {
        "contraction": (1 - mu * eta) * distance2,
        "noise": eta**2 * offset,
    }


@states(
    FEDTHEORY,
    "the mean squared gradient of all rounds",
    related=(paper.PAPER, "Theorem 15, eq. (24) summed over rounds"),
    form="derived",
    left=LeftSide("squared gradient", "1/K sum_{k<K} E |grad f(x^k)|^2", model="all", over=("selection", "noise")),
    assumes=(paper.BOUNDED_BELOW, paper.SIMILAR_CLIENTS, *_DSGD),
    schemes=paper.SCHEMES,
)
def dsgd_average_gradient(
    num_rounds,
    *,
    initial_gap,
    step_size,
    L,
    smallest_gamma,
    mean_inverse_gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    dissimilarity,
):
    r"""Bound on ``1/K sum_{k<K} E |grad f(x^k)|^2``, the mean over the first K rounds, with a constant step size.

    .. math::
        \frac{2(f(x^0)-f_{\inf})}{K\eta}+\eta L\big(W((1+M)E[1/\gamma]-1)\rho+\sigma^2S_2E[1/\gamma]\big)

    Examples
    --------
    With K = 8, eta = 1/2 and the constants of ``dsgd_nonconvex``, but L = 1/2 since M = 1 and W = 1/2 require step
    sizes of at most gamma / (3 L/2): ``2 * 4 / 4 + 1/4 (3 + 5)``.

    >>> dsgd_average_gradient(8, initial_gap=4, step_size=0.5, L=0.5, smallest_gamma=0.5, mean_inverse_gamma=2,
    ...                       max_weight=0.5, sum_squared_weights=0.5, relative_noise=1, sigma2=5, dissimilarity=2)
    4.0
    """
    W, S2, eta = max_weight, sum_squared_weights, step_size
    c = relative_noise * mean_inverse_gamma + (mean_inverse_gamma - 1)
    return {
        "start": 2 * initial_gap / (num_rounds * eta),
        "heterogeneity": eta * L * W * c * dissimilarity,
        "noise": eta * L * sigma2 * S2 * mean_inverse_gamma,
    }


@states(
    FEDTHEORY,
    "a round of local steps, expected over all rounds so far",
    related=(paper.PAPER, "Theorem 17"),
    form="derived",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="round", over=("selection", "noise")),
    assumes=(paper.STRONGLY_CONVEX, paper.CONVEX_CLIENTS, paper.MINIMA, *_FEDAVG),
    schemes=paper.SCHEMES,
    domains=paper.WHOLE_MOVE,
    worst_case=lambda: ocs._worst_cases.ROUND,
)
def fedavg_contraction(
    distance2,
    *,
    step_size,
    server_step_size,
    local_steps,
    mu,
    L,
    smallest_gamma,
    mean_inverse_gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    objective_gap,
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` from ``E |x^k - x*|^2``, for repeated application over rounds.

    .. math::
        \Big(1-\frac{\mu\eta}2\Big)E\|r^k\|^2
        +\eta^2\Big[4L\big((1+\tfrac MR)E[1/\gamma^k]-1\big)W\bar Z+\frac{3\sigma^2S_2}{2R}E[1/\gamma^k]\Big]
        +\tfrac{77}8L^2\Big(1+\frac MR\Big)\bar Z\frac{\eta^3}{\eta_g^2}

    Examples
    --------
    With E[1/gamma] = 3/2: ``63.5 + (8 * 2 * 512 + 3 * 3072 (3/2) / 4) / 4096 + 77/1024``.

    >>> fedavg_contraction(64, step_size=1 / 64, server_step_size=2, local_steps=2, mu=1, L=2, smallest_gamma=0.5,
    ...                    mean_inverse_gamma=1.5, max_weight=0.5, sum_squared_weights=0.375, relative_noise=2,
    ...                    sigma2=8192, objective_gap=1024) == 63.5 + 2 + 27 / 32 + 77 / 1024
    True
    """
    eta, R, M = step_size, local_steps, relative_noise
    c = M * mean_inverse_gamma / R + (mean_inverse_gamma - 1)
    return {
        "contraction": (1 - mu * eta / 2) * distance2,
        "heterogeneity": eta**2 * 4 * L * c * max_weight * objective_gap,
        "noise": 3 * eta**2 * sigma2 * sum_squared_weights * mean_inverse_gamma / (2 * R),
        "drift": 77 * L**2 * (R + M) * objective_gap * eta**3 / (8 * R * server_step_size**2),
    }


@states(
    FEDTHEORY,
    "the mean squared gradient of all rounds of local steps",
    related=(paper.PAPER, "Theorem 18"),
    form="derived",
    left=LeftSide("squared gradient", "1/K sum_{k<K} E |grad f(x^k)|^2", model="all", over=("selection", "noise")),
    assumes=(paper.BOUNDED_BELOW, paper.SIMILAR_CLIENTS, *_FEDAVG),
    schemes=paper.SCHEMES,
    domains=paper.WHOLE_MOVE,
)
def fedavg_average_gradient(
    num_rounds,
    *,
    initial_gap,
    step_size,
    server_step_size,
    local_steps,
    L,
    smallest_gamma,
    mean_inverse_gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    dissimilarity,
):
    r"""Bound on ``1/K sum_{k<K} E |grad f(x^k)|^2``, the mean over the first K rounds, with a constant step size.

    .. math::
        \tfrac{64}{23}\Big[\frac{f(x^0)-f_{\inf}}{K\eta}
        +L\eta\Big(\big((1+\tfrac MR)E[1/\gamma]-1\big)W\rho+\frac{3\sigma^2S_2}{4R}E[1/\gamma]\Big)
        +\tfrac{49}{32}L^2\Big(1+\frac MR\Big)\rho\frac{\eta^2}{\eta_g^2}\Big]

    Examples
    --------
    With K = 32, eta = 1/64, eta_g = R = M = L = 2, E[1/gamma] = 3/2, W = 1/2, S2 = 3/8, initial gap 23/2, rho = 23 and
    sigma2 = 46: ``64/23 (23/2 * 2 + 2 (2 * 23/2 + 3 * 46 (3/8) (3/2) / 8) / 64 + (49/32) 4 * 2 * 23 / (64^2 * 4))``.

    >>> fedavg_average_gradient(32, initial_gap=11.5, step_size=1 / 64, server_step_size=2, local_steps=2, L=2,
    ...                         smallest_gamma=0.5, mean_inverse_gamma=1.5, max_weight=0.5, sum_squared_weights=0.375,
    ...                         relative_noise=2, sigma2=46, dissimilarity=23) == 64 + 2 + 27 / 32 + 49 / 1024
    True
    """
    eta, R, M = step_size, local_steps, relative_noise
    c = M * mean_inverse_gamma / R + (mean_inverse_gamma - 1)
    return {
        "start": 64 * initial_gap / (23 * num_rounds * eta),
        "heterogeneity": 64 * L * eta * c * max_weight * dissimilarity / 23,
        "noise": 48 * L * eta * sigma2 * sum_squared_weights * mean_inverse_gamma / (23 * R),
        "drift": 98 * L**2 * (R + M) * dissimilarity * (eta / server_step_size) ** 2 / (23 * R),
    }


@states(
    paper.PAPER,
    "Corollary of Theorem 13",
    equation="eq. (21)",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="step", over=("noise",)),
    assumes=_FULL,
    schemes=_FULL_PARTICIPATION,
    worst_case=lambda: ocs._worst_cases.ALL_CLIENTS,
)
def full_participation(distance2, *, step_size, mu, L, sum_squared_weights, sigma2):
    r"""Bound on ``E |x^{k+1} - x*|^2`` with all clients and M = 0.

    .. math::
        (1-\mu\eta)E\|r^k\|^2+\eta^2\sigma^2\sum_iw_i^2

    Examples
    --------
    With eta = 1/2 and two equal weights: 8/2 + 4/(4 * 2).

    >>> full_participation(8, step_size=0.5, mu=1, L=1, sum_squared_weights=0.5, sigma2=4)
    4.5
    """
    return {
        "contraction": (1 - mu * step_size) * distance2,
        "noise": step_size**2 * sigma2 * sum_squared_weights,
    }


@states(
    paper.PAPER,
    "Corollary of Theorem 13",
    equation="eq. (22)",
    left=LeftSide("squared distance", "E |x^K - x*|^2", over=("noise",)),
    assumes=_FULL,
    schemes=_FULL_PARTICIPATION,
    worst_case=lambda: ocs._worst_cases.ALL_CLIENTS_ROUNDS,
)
def full_participation_distance(num_rounds, *, initial_distance2, step_size, mu, L, sum_squared_weights, sigma2):
    r"""Bound on ``E |x^K - x*|^2`` with all clients, M = 0 and a constant step size.

    .. math::
        (1-\mu\eta)^K\|r^0\|^2+\frac{\eta\sigma^2}\mu\sum_iw_i^2

    Examples
    --------
    With eta = 1/2, two equal weights and K = 2: 8/4 + 4/(2 * 2).

    >>> full_participation_distance(2, initial_distance2=8, step_size=0.5, mu=1, L=1, sum_squared_weights=0.5, sigma2=4)
    3.0
    """
    return {
        "start": geometric(mu * step_size, num_rounds)[0] * initial_distance2,
        "noise": step_size * sigma2 * sum_squared_weights / mu,
    }
