"""Power-of-Choice, Theorem 3.1: decaying step sizes, any selection law, plain mean."""

from fedtheory._support.validate import Array
from fedtheory.arithmetic.functions import maximum
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds._step_sizes import curvatures, for_each_step
from fedtheory.bounds.power_of_choice import paper
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

_SHORT_ROUNDS = Hypothesis(
    "local_steps <= 4 L/mu + 1 (so that step sizes at most halve within a round)",
    lambda local_steps, L, mu: (local_steps, "<=", 4 * L / mu + 1),
    rtol=paper.ROUNDING,
)


def decaying_step_sizes(num_steps: int, *, mu: float, L: float) -> Array:
    """Step sizes of Theorem 3.1, ``eta_t = 1 / (mu (t + 4 L / mu))`` for t = 0, ..., T - 1; shape (T,).

    >>> decaying_step_sizes(3, mu=2.0, L=3.0) == [1 / 12, 1 / 14, 1 / 16]
    array([ True,  True,  True])
    """
    mu, L = curvatures(mu, L)
    return for_each_step(num_steps, lambda t: 1.0 / (mu * t + 4 * L))


@states(
    paper.PAPER,
    "Theorem 3.1",
    equation="eq. (7)",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise")),
    assumes=(*paper.PRINTED, paper.POSITIVE_SKEW),
    schemes=paper.MEAN,
    step_sizes=decaying_step_sizes,
)
def _printed_decaying_steps_gap(
    num_steps, *, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, rho_bar, rho_tilde, initial_distance2
):
    r"""Bound on ``E F(w_T) - F*`` for step sizes ``1 / (mu (t + gamma))``, eq. (7) as printed.

    Its proof has a gap; under the hypotheses of ``decaying_steps_gap`` the bound is true.

    .. math::
        \frac{1}{T+\gamma}\Big[\frac{4L(32\tau^2G^2+\sigma^2/m)}{3\mu^2\bar\rho}+\frac{8L^2\Gamma}{\mu^2}
        +\frac{L\gamma\|w_0-w^*\|^2}{2}\Big]+\frac{8L\Gamma}{3\mu}\Big(\frac{\tilde\rho}{\bar\rho}-1\Big)

    With mu = 1, L = 4 (so gamma = 16), rho_bar = 8/3, rho_tilde = 4, tau = 3, m = 2 and T = 16:
    ``(2 (32 * 9 * 43 + 32/2) + 8 * 16 * 3 + 4 * 16 * 2 / 2) / 32 + 8 * 4 * 3 / 3 (3/2 - 1) = 789 + 16``.

    >>> decaying_steps_gap.printed(16, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32, objective_gap=3,
    ...                            rho_bar=8 / 3, rho_tilde=4, initial_distance2=2)
    805.0
    """
    gamma = 4 * L / mu
    per_variance = 4 * L / (3 * mu**2 * rho_bar)
    return {
        "drift": per_variance * 32 * G2 * local_steps**2 / (num_steps + gamma),
        "noise": per_variance * sigma2 / num_selected / (num_steps + gamma),
        "heterogeneity": 8 * L**2 * objective_gap / mu**2 / (num_steps + gamma),
        "initial": L * gamma * initial_distance2 / 2 / (num_steps + gamma),
        "bias": 8 * L * objective_gap / (3 * mu) * (rho_tilde - rho_bar) / rho_bar,
    }


@states(
    paper.PAPER,
    "Theorem 3.1",
    equation="eq. (7)",
    form="corrected",
    assumes=(*paper.REPAIRED, paper.POSITIVE_DIAGONAL),
    printed=_printed_decaying_steps_gap,
    worst_case=lambda: poc._worst_cases.DECAYING_STEPS,
)
def decaying_steps_gap(
    num_steps,
    *,
    mu,
    L,
    local_steps,
    num_selected,
    G2,
    sigma2,
    objective_gap,
    rho_diagonal,
    rho_tilde,
    initial_distance2,
):
    r"""Bound on ``E F(w_T) - F*`` for step sizes ``1 / (mu (t + gamma))``, any selection law and the plain mean.

    .. math::
        \frac{1}{T+\gamma}\max\Big\{\frac{L\gamma}{2}\|w_0-w^*\|^2,\ \frac{4L(32\tau^2G^2+\sigma^2/m)}{3\mu^2\rho}
        +\frac{8L^2\Gamma}{\mu^2}\Big\}+\frac{8L\Gamma(\tilde\rho-\rho)}{\mu(8+3\rho)}

    Examples
    --------
    With mu = 1, L = 4 (so gamma = 16), rho = 8/3, rho_tilde = 4, tau = 3, m = 2 and T = 16:
    ``max(4 * 16 * 2 / 2, 2 (32 * 9 * 43 + 32/2) + 8 * 16 * 3) / 32 + 8 * 4 * 3 (4/3) / 16 = 787 + 8``.

    >>> decaying_steps_gap(16, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32, objective_gap=3,
    ...                    rho_diagonal=8 / 3, rho_tilde=4, initial_distance2=2)
    795.0
    """
    variance = 32 * G2 * local_steps**2 + sigma2 / num_selected
    return _summands(num_steps, variance, mu, L, objective_gap, rho_diagonal, rho_tilde, initial_distance2)


@states(
    FEDTHEORY,
    "Theorem 3.1 with the exact drift of its proof",
    related=(paper.PAPER, "Theorem 3.1, eq. (7)"),
    form="refined",
    assumes=(*paper.REPAIRED, paper.POSITIVE_DIAGONAL, _SHORT_ROUNDS),
    printed=_printed_decaying_steps_gap,
    worst_case=lambda: poc._worst_cases.REFINED_DECAYING_STEPS,
)
def refined_decaying_steps_gap(
    num_steps,
    *,
    mu,
    L,
    local_steps,
    num_selected,
    G2,
    sigma2,
    objective_gap,
    rho_diagonal,
    rho_tilde,
    initial_distance2,
):
    r"""Bound on ``E F(w_T) - F*`` like ``decaying_steps_gap``, with the exact drift of its proof.

    .. math::
        \begin{aligned}
        &\frac1{T+\gamma}\max\Big\{\frac{L\gamma}2\|w_0-w^*\|^2,\ \frac{4L(D+\sigma^2/m)}{3\mu^2\rho}
        +\frac{8L^2\Gamma}{\mu^2}\Big\}+\frac{8L\Gamma(\tilde\rho-\rho)}{\mu(8+3\rho)},\\
        &D=\tfrac18\big(67(\tau-1)^2+12\rho(\tau-1)\big)G^2,\quad\gamma=\frac{4L}\mu
        \end{aligned}

    Examples
    --------
    The instance of ``decaying_steps_gap``, with the drift ``(8.375 * 4 + 1.5 (8/3) 2) 43 = 41.5 * 43``:
    ``(2 (41.5 * 43 + 32/2) + 8 * 16 * 3) / 32 + 8 = 3985/32 + 8``.

    >>> refined_decaying_steps_gap(16, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32, objective_gap=3,
    ...                            rho_diagonal=8 / 3, rho_tilde=4, initial_distance2=2)
    132.53125
    """
    extra = local_steps - 1
    variance = (67 * extra**2 + 12 * rho_diagonal * extra) * G2 / 8 + sigma2 / num_selected
    return _summands(num_steps, variance, mu, L, objective_gap, rho_diagonal, rho_tilde, initial_distance2)


def _summands(num_steps, variance, mu, L, objective_gap, rho, rho_tilde, initial_distance2):
    gamma = 4 * L / mu
    steady = 4 * L * variance / (3 * mu**2 * rho) + 8 * L**2 * objective_gap / mu**2
    return {
        "vanishing": maximum(L * gamma * initial_distance2 / 2, steady) / (num_steps + gamma),
        "bias": 8 * L * objective_gap * (rho_tilde - rho) / (mu * (8 + 3 * rho)),
    }
