"""Optimal Client Sampling: one round of DSGD with independent sampling."""

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.optimal_client_sampling import paper
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "a step for every step size, with the gap weighted by w_i",
    related=(paper.PAPER, "Theorem 13, eqs. (19), (20)"),
    form="derived",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="step", over=("selection", "noise")),
    assumes=(
        paper.SMOOTH,
        paper.STRONGLY_CONVEX,
        paper.MINIMA,
        paper.GRADIENT_NOISE,
        paper.GAMMA_AT_MOST_ONE,
        *paper.WEIGHTS,
    ),
    schemes=paper.SCHEMES,
    worst_case=lambda: ocs._worst_cases.STEP,
)
def dsgd_strongly_convex(
    distance2, *, gap, step_size, mu, L, gamma, max_weight, sum_squared_weights, relative_noise, sigma2, objective_gap
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` for every step size; the f_i need not be convex.

    .. math::
        \begin{aligned}
        &(1-\mu\eta)\|r^k\|^2-2\eta\Big(1-\frac{\eta(1+WM)L}\gamma\Big)R^k+\eta^2\Big(\frac{\beta_1}\gamma-\beta_2\Big),\\
        &\beta_1=2L(1+M)W\bar Z+\sigma^2S_2,\quad\beta_2=2LW\bar Z
        \end{aligned}

    Examples
    --------
    Clients x^2/2 and (x-1)^2/2 with weights 2/3 and 1/3, x = 1/2, eta = 1/10, M = 1, sigma2 = 3, gamma = 1/2:
    ``9/360 - 2/10 (1 - 2/6) / 72 + (2 (8/27 + 5/3) - 4/27) / 100 = (135 - 10 + 204) / 5400``.

    >>> from fractions import Fraction as Q
    >>> dsgd_strongly_convex(Q(1, 36), gap=Q(1, 72), step_size=Q(1, 10), mu=1, L=1, gamma=Q(1, 2), max_weight=Q(2, 3),
    ...                      sum_squared_weights=Q(5, 9), relative_noise=1, sigma2=3, objective_gap=Q(1, 9))
    Fraction(329, 5400)
    """
    W, M, S2, eta = max_weight, relative_noise, sum_squared_weights, step_size
    # beta_1/gamma - beta_2, written so that 2 L W Z_bar (1/gamma - 1) does not cancel
    offset = 2 * L * W * objective_gap * (M + (1 - gamma)) / gamma + sigma2 * S2 / gamma
    return {
        "contraction": (1 - mu * eta) * distance2,
        "descent": -2 * eta * (1 - eta * (1 + W * M) * L / gamma) * gap,
        "noise": eta**2 * offset,
    }


@states(
    FEDTHEORY,
    "variant with sum_i w_i^2 Z_i, false for unequal weights",
    related=(paper.PAPER, "Theorem 13"),
    form="variant",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="step", over=("selection", "noise")),
    assumes=(
        paper.SMOOTH,
        paper.STRONGLY_CONVEX,
        paper.MINIMA,
        paper.GRADIENT_NOISE,
        paper.GAMMA_AT_MOST_ONE,
        *paper.WEIGHTS,
    ),
    schemes=paper.SCHEMES,
)
def dsgd_per_client_variant(
    distance2, *, gap, step_size, mu, L, gamma, max_weight, sum_squared_weights, relative_noise, sigma2, per_client_gap
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` with ``sum_i w_i^2 Z_i`` in Theorem 13, which is FALSE for unequal weights.

    .. math::
        (1-\mu\eta)\|r^k\|^2-2\eta\Big(1-\frac{\eta(1+WM)L}\gamma\Big)R^k
        +\eta^2\,\frac{2L(M+1-\gamma)\sum_iw_i^2Z_i+\sigma^2S_2}\gamma

    Examples
    --------
    At the instance of ``dsgd_strongly_convex`` with all clients sampled, where ``E |r|^2`` is 73/1800 = 1314/32400:
    ``9/360 - 2/10 (1 - 1/6) / 72 + (16/81 + 5/3 - 8/81) / 100``.

    >>> from fractions import Fraction as Q
    >>> dsgd_per_client_variant(Q(1, 36), gap=Q(1, 72), step_size=Q(1, 10), mu=1, L=1, gamma=1, max_weight=Q(2, 3),
    ...                         sum_squared_weights=Q(5, 9), relative_noise=1, sigma2=3, per_client_gap=Q(4, 81))
    Fraction(1307, 32400)
    """
    W, M, S2, eta = max_weight, relative_noise, sum_squared_weights, step_size
    offset = 2 * L * per_client_gap * (M + (1 - gamma)) / gamma + sigma2 * S2 / gamma
    return {
        "contraction": (1 - mu * eta) * distance2,
        "descent": -2 * eta * (1 - eta * (1 + W * M) * L / gamma) * gap,
        "noise": eta**2 * offset,
    }


@states(
    FEDTHEORY,
    "a step of convex clients, for every step size",
    related=(paper.PAPER, "Theorem 13"),
    form="derived",
    left=LeftSide("squared distance", "E |x^{k+1} - x*|^2", after="step", over=("selection", "noise")),
    assumes=(
        paper.SMOOTH,
        paper.STRONGLY_CONVEX,
        paper.CONVEX_CLIENTS,
        paper.GRADIENT_NOISE,
        paper.GAMMA_AT_MOST_ONE,
        *paper.WEIGHTS,
    ),
    schemes=paper.SCHEMES,
    worst_case=lambda: ocs._worst_cases.STEP,
)
def dsgd_convex_clients(
    distance2,
    *,
    gap,
    step_size,
    mu,
    L,
    gamma,
    max_weight,
    sum_squared_weights,
    relative_noise,
    sigma2,
    squared_weight_optimum_gradient2,
):
    r"""Bound on ``E |x^{k+1} - x*|^2`` with the squared weights and without the minima f_i*.

    .. math::
        \begin{aligned}
        &(1-\mu\eta)\|r^k\|^2-2\eta(1-\eta L(1+2Wc))R^k
        +\eta^2\Big(2c\sum_iw_i^2\|\nabla f_i(x^*)\|^2+\frac{\sigma^2S_2}\gamma\Big),\\
        &c=\frac{1+M}\gamma-1
        \end{aligned}

    Examples
    --------
    The clients of ``dsgd_strongly_convex`` have gradients 1/3 and -2/3 at x* = 1/3, so the weighted squares sum to
    8/81, and c = 3: ``9/360 - 2/10 (1 - 5/10) / 72 + (6 * 8/81 + 2 * 15/9) / 100 = (270 - 15 + 424) / 10800``.

    >>> from fractions import Fraction as Q
    >>> dsgd_convex_clients(Q(1, 36), gap=Q(1, 72), step_size=Q(1, 10), mu=1, L=1, gamma=Q(1, 2), max_weight=Q(2, 3),
    ...                     sum_squared_weights=Q(5, 9), relative_noise=1, sigma2=3,
    ...                     squared_weight_optimum_gradient2=Q(8, 81))
    Fraction(679, 10800)
    """
    W, S2, eta = max_weight, sum_squared_weights, step_size
    c = (relative_noise + (1 - gamma)) / gamma
    return {
        "contraction": (1 - mu * eta) * distance2,
        "descent": -2 * eta * (1 - eta * L * (1 + 2 * W * c)) * gap,
        "heterogeneity": 2 * eta**2 * c * squared_weight_optimum_gradient2,
        "noise": eta**2 * sigma2 * S2 / gamma,
    }


@states(
    FEDTHEORY,
    "a step of non-convex clients, for every step size",
    related=(paper.PAPER, "Theorem 15, eq. (24)"),
    form="derived",
    left=LeftSide("loss", "E f(x^{k+1})", after="step", over=("selection", "noise")),
    assumes=(
        paper.SMOOTH,
        paper.BOUNDED_BELOW,
        paper.GRADIENT_NOISE,
        paper.SIMILAR_CLIENTS,
        paper.GAMMA_AT_MOST_ONE,
        *paper.WEIGHTS,
    ),
    schemes=paper.SCHEMES,
)
def dsgd_nonconvex(
    value, *, gradient2, step_size, L, gamma, max_weight, sum_squared_weights, relative_noise, sigma2, dissimilarity
):
    r"""Bound on ``E f(x^{k+1})`` from ``value = f(x^k)`` and ``gradient2 = |grad f(x^k)|^2``, for every step size.

    .. math::
        f(x^k)-\eta\Big(1-\frac{\eta L(1+Wc)}2\Big)\|\nabla f\|^2
        +\frac{\eta^2L}2\Big(Wc\rho+\frac{\sigma^2S_2}\gamma\Big),
        \quad c=\frac{1+M}\gamma-1

    Examples
    --------
    With eta = 1/2, L = 1, gamma = 1/2, M = 1 (c = 3), W = S2 = 1/2, rho = 2 and sigma2 = 5:
    ``10 - 1/2 (1 - 5/8) 4 + 1/8 (3 + 5)``.

    >>> dsgd_nonconvex(10, gradient2=4, step_size=0.5, L=1, gamma=0.5, max_weight=0.5, sum_squared_weights=0.5,
    ...                relative_noise=1, sigma2=5, dissimilarity=2)
    10.25
    """
    W, S2, eta = max_weight, sum_squared_weights, step_size
    c = (relative_noise + (1 - gamma)) / gamma
    return {
        "value": value,
        "descent": -eta * (1 - eta * L * (1 + W * c) / 2) * gradient2,
        "heterogeneity": eta**2 * L * W * c * dissimilarity / 2,
        "noise": eta**2 * L * sigma2 * S2 / (2 * gamma),
    }
