"""Power-of-Choice, Appendices C and E: one-step recursions, printed and corrected."""

from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice import paper
from fedtheory.theorem import Hypothesis, LeftSide, states

_CONTRACTS_AS_PRINTED, _CONTRACTS = (
    Hypothesis(
        f"step_size <= 1/(mu (1 + 3 {rho}/8)) (implied by step_size <= 1/(4 L) and {rho} <= L/mu)",
        lambda step_size, mu, rho: (step_size, "<=", 8 / (mu * (8 + 3 * rho))),
        ("step_size", "mu", rho),
        rtol=paper.ROUNDING,
    )
    for rho in ("rho_bar", "rho_diagonal")
)
_SHORT_STEPS_AS_PRINTED = Hypothesis(
    "step_size < 1/(2 (1 + num_selected) L) (eq. (80) needs half of that)",
    lambda step_size, num_selected, L: (step_size, "<", 1 / (2 * (1 + num_selected) * L)),
)


@states(
    paper.PAPER,
    "Appendix C",
    equation="eqs. (64)-(65)",
    left=LeftSide("squared distance", "E |w_{t+1} - w*|^2", after="step", over=("selection", "noise")),
    assumes=(*paper.PRINTED, paper.NONNEGATIVE_SKEW, paper.HALVING, paper.short_steps(), _CONTRACTS_AS_PRINTED),
    schemes=paper.MEAN,
)
def _printed_one_step(
    distance2, *, step_size, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, rho_bar, rho_tilde
):
    r"""Bound on ``E |w_{t+1} - w*|^2``, eqs. (64)-(65) as printed, with the first rho_bar of ``D`` read as rho_tilde.

    The paper does not say that step sizes must at most halve within a round, but this is needed.

    .. math::
        (1-\eta\mu(1+\tfrac{3\bar\rho}8))\Delta_t+\eta^2(32\tau^2G^2+\tfrac{\sigma^2}m+6\bar\rho L\Gamma)
        +2\eta\Gamma(\tilde\rho-\bar\rho)

    With mu = 1, L = 4, eta = 1/16, rho_bar = 8/3, rho_tilde = 4, tau = 3, m = 2 and Delta_t = 2:
    ``(1 - 2/16) 2 + (32 * 9 * 43 + 32/2 + 6 (8/3) 4 * 3) / 256 + (2/16) 3 (4/3) = 7/4 + 12592/256 + 1/2``.

    >>> one_step.printed(2, step_size=1 / 16, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32,
    ...                  objective_gap=3, rho_bar=8 / 3, rho_tilde=4)
    51.4375
    """
    return {
        "contraction": (1 - step_size * mu * (8 + 3 * rho_bar) / 8) * distance2,
        "drift": 32 * G2 * step_size**2 * local_steps**2,
        "noise": step_size**2 * sigma2 / num_selected,
        "heterogeneity": 6 * rho_bar * L * objective_gap * step_size**2,
        "bias": 2 * step_size * objective_gap * (rho_tilde - rho_bar),
    }


@states(
    paper.PAPER,
    "Appendix C",
    equation="eqs. (64)-(65)",
    form="corrected",
    assumes=(*paper.REPAIRED, paper.short_steps(), _CONTRACTS),
    printed=_printed_one_step,
    options=paper.ANY_STEP,
    worst_case=lambda: poc._worst_cases.ONE_STEP,
)
def one_step(
    distance2, *, step_size, elapsed_step_size, mu, L, num_selected, G2, sigma2, objective_gap, rho_diagonal, rho_tilde
):
    r"""Bound on ``E |w_{t+1} - w*|^2`` from ``Delta_t = E |w_t - w*|^2``, for any step sizes up to ``1/(4L)``.

    .. math::
        (1-\eta\mu B)\Delta_t+\big(2s^2+\tfrac34\eta\rho s+\tfrac38\eta\mu\rho s^2\big)G^2
        +\eta^2(\tfrac{\sigma^2}m+6\rho L\Gamma)+2\eta\Gamma(\tilde\rho-\rho),\quad B=1+\tfrac{3\rho}8

    Here w_t is the average of the active clients' models, and s the sum of the round's earlier step sizes.

    Examples
    --------
    With mu = 1, L = 4, eta = 1/16, s = 1/8, rho = 8/3, rho_tilde = 4, m = 2 and Delta_t = 2:
    ``(1 - 2/16) 2 + (2/64 + 1/64 + 1/1024) 43 + (32/2 + 6 (8/3) 4 * 3) / 256 + (2/16) 3 (4/3)``, that is
    7/4 + 2107/1024 + 208/256 + 1/2.

    >>> one_step(2, step_size=1 / 16, elapsed_step_size=1 / 8, mu=1, L=4, num_selected=2, G2=43, sigma2=32,
    ...          objective_gap=3, rho_diagonal=8 / 3, rho_tilde=4)
    5.1201171875
    """
    B = 1 + 3 * rho_diagonal / 8
    return {
        "contraction": (1 - step_size * mu * B) * distance2,
        "drift": _drift(step_size, elapsed_step_size, rho_diagonal, mu=mu) * G2,
        "noise": step_size**2 * sigma2 / num_selected,
        "heterogeneity": 6 * rho_diagonal * L * objective_gap * step_size**2,
        "bias": 2 * step_size * objective_gap * (rho_tilde - rho_diagonal),
    }


@states(
    paper.PAPER,
    "Appendix E",
    equation="eq. (81)",
    left=LeftSide("squared distance", "E |w_{t+1} - w*|^2", after="step", over=("selection", "noise")),
    assumes=(*paper.WEIGHTED_PRINTED, paper.NONNEGATIVE_SKEW, paper.HALVING, _SHORT_STEPS_AS_PRINTED),
    schemes=paper.WEIGHTED_AS_PRINTED,
)
def _printed_weighted_one_step(
    distance2, *, step_size, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, rho_bar, rho_tilde
):
    r"""Bound on ``E |w_{t+1} - w*|^2``, eq. (81) as printed; false for m = 1, where it has no drift term.

    For m >= 2 it also needs step sizes that at most halve within a round, which the paper does not state.

    .. math::
        (1-\eta\mu(\tfrac1m+\tfrac{\bar\rho}2))\Delta_t+2\eta\Gamma(\tilde\rho-\bar\rho)
        +\eta^2[32m^2(m-1)\tau^2G^2+\sigma^2m+2L(2+m)\bar\rho\Gamma]

    With m = 2, mu = 1, L = 4, eta = 1/32, rho_bar = 3, rho_tilde = 5, tau = 3 and Delta_t = 2:
    ``(1 - 2/32) 2 + (2/32) 3 * 2 + (32 * 4 * 9 * 43 + 32 * 2 + 2 * 4 * 4 * 3 * 3) / 1024``, that is
    15/8 + 3/8 + 49888/1024.

    >>> weighted_one_step.printed(2, step_size=1 / 32, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32,
    ...                           objective_gap=3, rho_bar=3, rho_tilde=5)
    50.96875
    """
    m = num_selected
    return {
        "contraction": (1 - step_size * mu * (2 + m * rho_bar) / (2 * m)) * distance2,
        "drift": 32 * m**2 * (m - 1) * G2 * step_size**2 * local_steps**2,
        "noise": step_size**2 * sigma2 * m,
        "heterogeneity": 2 * L * (2 + m) * rho_bar * objective_gap * step_size**2,
        "bias": 2 * step_size * objective_gap * (rho_tilde - rho_bar),
    }


@states(
    paper.PAPER,
    "Appendix E",
    equation="eq. (81)",
    form="corrected",
    assumes=(*paper.WEIGHTED_REPAIRED, paper.short_steps(), _CONTRACTS, paper.UNIT_SQUARES),
    schemes=paper.WEIGHTED,
    printed=_printed_weighted_one_step,
    options=paper.ANY_STEP,
    worst_case=lambda: poc._worst_cases.WEIGHTED_STEP,
)
def weighted_one_step(
    distance2,
    *,
    step_size,
    elapsed_step_size,
    mu,
    L,
    G2,
    sigma2,
    objective_gap,
    rho_diagonal,
    rho_tilde,
    squared_weights=1,
):
    r"""Bound on ``E |w_{t+1} - w*|^2`` for any step sizes up to ``1/(4L)`` and weights of sum one.

    .. math::
        (1-\eta\mu B)\Delta_t+\big(2s^2+\tfrac34\eta\rho s+\tfrac38\eta\mu\rho s^2\big)G^2
        +\eta^2(\sigma^2q_2+6\rho L\Gamma)+2\eta\Gamma(\tilde\rho-\rho),\quad B=1+\tfrac{3\rho}8

    It is ``one_step`` with sigma2/m replaced by ``sigma2 squared_weights``.

    Examples
    --------
    The instance of ``one_step`` with weights 3/4 and 1/4, whose squares sum to 5/8:
    7/4 + 2107/1024 + (32 (5/8) + 192) / 256 + 1/2.

    >>> weighted_one_step(2, step_size=1 / 16, elapsed_step_size=1 / 8, mu=1, L=4, G2=43, sigma2=32, objective_gap=3,
    ...                   rho_diagonal=8 / 3, rho_tilde=4, squared_weights=5 / 8)
    5.1357421875
    """
    B = 1 + 3 * rho_diagonal / 8
    return {
        "contraction": (1 - step_size * mu * B) * distance2,
        "drift": _drift(step_size, elapsed_step_size, rho_diagonal, mu=mu) * G2,
        "noise": step_size**2 * sigma2 * squared_weights,
        "heterogeneity": 6 * rho_diagonal * L * objective_gap * step_size**2,
        "bias": 2 * step_size * objective_gap * (rho_tilde - rho_diagonal),
    }


def _drift(eta, s, rho, *, mu):
    return 2 * s**2 + 3 * eta * rho * s / 4 + 3 * eta * mu * rho * s**2 / 8
