"""Power-of-Choice, Theorem A.1: fixed step size; printed, corrected and refined forms."""

from fedtheory.arithmetic.functions import geometric
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice import paper
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

# Implied by step_size <= 1/(4 L), since rho_bar <= L/mu, but stated in the paper.
_CONTRACTION = Hypothesis(
    "step_size <= 1/(2 mu (1 + 3 rho_bar/8))",
    lambda step_size, mu, rho_bar: (step_size, "<=", 4 / (mu * (8 + 3 * rho_bar))),
    rtol=paper.ROUNDING,
)


@states(
    paper.PAPER,
    "Theorem A.1",
    equation="eq. (8)",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise")),
    assumes=(*paper.PRINTED, paper.NONNEGATIVE_SKEW, paper.short_steps(), _CONTRACTION),
    schemes=paper.MEAN,
)
def _printed_fixed_step_gap(
    num_steps,
    *,
    step_size,
    mu,
    L,
    local_steps,
    num_selected,
    G2,
    sigma2,
    objective_gap,
    rho_bar,
    rho_tilde,
    initial_gap,
):
    r"""Bound on ``F(w_T) - F*`` for a fixed step size, eq. (8) as printed.

    The paper omits the expectation, which must be meant.

    .. math::
        \begin{aligned}
        &\frac L\mu\big[1-\eta\mu(1+\tfrac{3\bar\rho}8)\big]^T\Big(F(w_0)-F^*-\frac{4[\eta C+D]}{8+3\bar\rho}\Big)
        +\frac{4L\eta C}{\mu(8+3\bar\rho)}+\frac{8L\Gamma(\tilde\rho-\bar\rho)}{\mu(8+3\bar\rho)},\\
        &C=32\tau^2G^2+\frac{\sigma^2}m+6\bar\rho L\Gamma,\quad D=2\Gamma(\tilde\rho-\bar\rho)
        \end{aligned}

    With mu = 1, L = 4, eta = 1/16, rho_bar = 8/3, rho_tilde = 4, tau = 3, m = 2 and T = 2: the contraction is 7/8,
    ``eta C = (32 * 9 * 43 + 32/2 + 6 (8/3) 4 * 3) / 16 = 787``, D = 8, and ``4 (7/8)^2 (5 - 795/4) + 787 + 8``.

    >>> fixed_step_gap.printed(2, step_size=1 / 16, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32,
    ...                        objective_gap=3, rho_bar=8 / 3, rho_tilde=4, initial_gap=5)
    201.640625
    """
    C = 32 * G2 * local_steps**2 + sigma2 / num_selected + 6 * rho_bar * L * objective_gap
    D = 2 * objective_gap * (rho_tilde - rho_bar)
    contraction, settled = geometric(step_size * mu * (8 + 3 * rho_bar) / 8, num_steps)
    # Combined, because the first summand of eq. (8) cancels most of the others if they are evaluated separately.
    return {
        "vanishing": contraction * L * initial_gap / mu,
        "step floor": settled * _floor(step_size * C, mu=mu, L=L, rho=rho_bar),
        "bias": settled * _floor(D, mu=mu, L=L, rho=rho_bar),
    }


@states(
    paper.PAPER,
    "Theorem A.1",
    equation="eq. (8)",
    form="corrected",
    assumes=(*paper.REPAIRED, paper.short_steps()),
    printed=_printed_fixed_step_gap,
    worst_case=lambda: poc._worst_cases.FIXED_STEPS,
)
def fixed_step_gap(
    num_steps,
    *,
    step_size,
    mu,
    L,
    local_steps,
    num_selected,
    G2,
    sigma2,
    objective_gap,
    rho_diagonal,
    rho_tilde,
    initial_gap,
):
    r"""Bound on ``E F(w_T) - F*`` for a fixed step size up to ``1/(4L)``, any selection law and the plain mean.

    .. math::
        \begin{aligned}
        &\frac L\mu x^T(F(w_0)-F^*)+(1-x^T)\Big[\frac{4L\eta C}{\mu(8+3\rho)}
        +\frac{8L\Gamma(\tilde\rho-\rho)}{\mu(8+3\rho)}\Big],\\
        &x=1-\eta\mu(1+\tfrac{3\rho}8),\quad C=32\tau^2G^2+\frac{\sigma^2}m+6\rho L\Gamma
        \end{aligned}

    This is eq. (8) with rho_diagonal for rho_bar, without the redundant second condition on the step size.

    Examples
    --------
    With mu = 1, L = 4, eta = 1/16, rho = 8/3, rho_tilde = 4, tau = 3, m = 2 and T = 2: x = 7/8,
    ``eta C = (32 * 9 * 43 + 32/2 + 6 (8/3) 4 * 3) / 16 = 787``, and ``4 (49/64) 5 + (15/64) (787 + 8)``.

    >>> fixed_step_gap(2, step_size=1 / 16, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32,
    ...                objective_gap=3, rho_diagonal=8 / 3, rho_tilde=4, initial_gap=5)
    201.640625
    """
    drift = 32 * G2 * local_steps**2
    C = drift + sigma2 / num_selected + 6 * rho_diagonal * L * objective_gap
    D = 2 * objective_gap * (rho_tilde - rho_diagonal)
    contraction, settled = geometric(step_size * mu * (8 + 3 * rho_diagonal) / 8, num_steps)
    return {
        "vanishing": contraction * L * initial_gap / mu,
        "step floor": settled * _floor(step_size * C, mu=mu, L=L, rho=rho_diagonal),
        "bias": settled * _floor(D, mu=mu, L=L, rho=rho_diagonal),
    }


@states(
    FEDTHEORY,
    "Theorem A.1 with the exact drift of its proof",
    related=(paper.PAPER, "Theorem A.1, eq. (8)"),
    form="refined",
    assumes=(*paper.REPAIRED, paper.short_steps()),
    printed=_printed_fixed_step_gap,
    worst_case=lambda: poc._worst_cases.FIXED_STEPS,
)
def refined_fixed_step_gap(
    num_steps,
    *,
    step_size,
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
    r"""Bound on ``E F(w_T) - F*`` like ``fixed_step_gap``, with the initial distance and the exact drift.

    .. math::
        \begin{aligned}
        &\frac L2x^T\|w_0-w^*\|^2+(1-x^T)\Big[\frac{4L\eta C}{\mu(8+3\rho)}
        +\frac{8L\Gamma(\tilde\rho-\rho)}{\mu(8+3\rho)}\Big],\\
        &x=1-\eta\mu(1+\tfrac{3\rho}8),\quad
        C=\tfrac1{32}\big(67(\tau-1)^2+24\rho(\tau-1)\big)G^2+\frac{\sigma^2}m+6\rho L\Gamma
        \end{aligned}

    Examples
    --------
    The instance of ``fixed_step_gap`` with tau = 5: ``eta C = (((67/32) 16 + (3/4) (8/3) 4) 43 + 32/2 + 192) / 16``,
    which is 124.53125, and ``(49/64) (4/2) 2 + (15/64) (124.53125 + 8)``.

    >>> refined_fixed_step_gap(2, step_size=1 / 16, mu=1, L=4, local_steps=5, num_selected=2, G2=43, sigma2=32,
    ...                        objective_gap=3, rho_diagonal=8 / 3, rho_tilde=4, initial_distance2=2)
    34.12451171875
    """
    extra = local_steps - 1
    drift = (67 * extra**2 + 24 * rho_diagonal * extra) * G2 / 32
    C = drift + sigma2 / num_selected + 6 * rho_diagonal * L * objective_gap
    D = 2 * objective_gap * (rho_tilde - rho_diagonal)
    contraction, settled = geometric(step_size * mu * (8 + 3 * rho_diagonal) / 8, num_steps)
    return {
        "vanishing": contraction * L * initial_distance2 / 2,
        "step floor": settled * _floor(step_size * C, mu=mu, L=L, rho=rho_diagonal),
        "bias": settled * _floor(D, mu=mu, L=L, rho=rho_diagonal),
    }


def _floor(offset, *, mu, L, rho):
    # L/2 times the fixed point of Delta = (1 - eta mu B) Delta + eta offset, B = 1 + 3 rho / 8.
    return 4 * L * offset / (mu * (8 + 3 * rho))
