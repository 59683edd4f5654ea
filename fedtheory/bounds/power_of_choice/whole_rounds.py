"""Power-of-Choice without Assumption 3.4: inequality of a whole round, which is not in the paper."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fedtheory._support import validate
from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice.paper import MEAN, PAPER, WITHOUT_GRADIENTS, short_steps
from fedtheory.theorem import FEDTHEORY, LeftSide, states


class RoundCoefficients(NamedTuple):
    """Coefficients of a round's bound ``distance2 * E |u - w*|^2 + objective_gap * Gamma + sigma2 * sigma^2``."""

    distance2: Any
    objective_gap: Any
    sigma2: Any


def round_coefficients(
    step_sizes: Sequence[Any], *, mu: Any, L: Any, num_selected: int, rho_diagonal: Any, rho_tilde: Any
) -> RoundCoefficients:
    r"""Coefficients of ``one_round`` for step sizes that change within the round, each at most 1/L.

    .. math::
        \begin{aligned}
        \Delta^+\le{}&\Big(\prod_sc_s\Big)\Delta-2\rho\big(\tfrac\mu2\Delta+\Gamma\big)
        \sum_s\eta_s(1-x_s)\prod_{i<s}(1-x_i)^2\prod_{i>s}c_i\\
        &+2\tilde\rho\Gamma\sum_s\eta_s\prod_{i>s}c_i
        +\sigma^2\Big[\sum_{s<\tau-1}\eta_s^2\prod_{i>s}c_i+\frac{\eta_{\tau-1}^2}m\Big]
        \end{aligned}

    ``step_sizes`` are the eta_s of the round; the other arguments are as in ``one_round``.

    Two equal steps, as in ``one_round``:

    >>> round_coefficients([0.25, 0.25], mu=1, L=2, num_selected=2, rho_diagonal=1, rho_tilde=3)
    RoundCoefficients(distance2=0.4375, objective_gap=2.375, sigma2=0.078125)
    """
    mu, L = validate.positive("mu", mu), validate.positive("L", L)
    skews = {"rho_diagonal": rho_diagonal, "rho_tilde": rho_tilde}
    rho_diagonal, rho_tilde = (validate.nonnegative(name, skew) for name, skew in skews.items())
    num_selected = validate.count("num_selected", num_selected)
    steps = [validate.positive("step_sizes", eta) for eta in validate.sequence("step_sizes", step_sizes)]
    contraction, moved, kept, noise, loss = 1, 0, 0, 0, 1
    for s, eta in enumerate(steps):
        c, x = 1 - eta * mu, eta * L
        last = s == len(steps) - 1
        contraction, moved = c * contraction, c * moved + eta
        kept = c * kept + eta * (1 - x) * loss
        noise = c * noise + eta**2 / (num_selected if last else 1)
        loss = loss * (1 - x) ** 2
    rho = rho_diagonal
    return RoundCoefficients(contraction - rho * mu * kept, 2 * (rho_tilde * moved - rho * kept), noise)


@states(
    FEDTHEORY,
    "a whole round, without Assumption 3.4",
    related=(PAPER, "Appendix C"),
    form="derived",
    left=LeftSide("squared distance", "E |w_{t+tau} - w*|^2", after="round", over=("selection", "noise")),
    assumes=(*WITHOUT_GRADIENTS, short_steps(1)),
    schemes=MEAN,
    worst_case=lambda: poc._worst_cases.ONE_ROUND,
)
def one_round(
    distance2, *, step_size, mu, L, local_steps, num_selected, sigma2, objective_gap, rho_diagonal, rho_tilde
):
    r"""Bound on ``E |w_{t+tau} - w*|^2`` after a round from ``Delta = E |w_t - w*|^2``, without bounded gradients.

    .. math::
        \begin{aligned}
        &[1-(1-c^\tau)(1+\rho\theta)]\Delta+2\eta A\Gamma(\tilde\rho-\rho\theta)
        +\eta^2\sigma^2\big(A-1+\tfrac1m\big),\\
        &A=\sum_{j<\tau}c^j,\quad\theta=\frac{1-x}A\sum_{s<\tau}c^{\tau-1-s}(1-x)^{2s}
        \end{aligned}

    Here ``x = eta L`` and ``c = 1 - eta mu``. All steps of the round are equal (see ``round_coefficients`` for others);
    at 1/L the value is infinite if mu = L, where theta is 0/0.

    Examples
    --------
    With mu = 1, L = 2, eta = 1/4, tau = 2: x = 1/2, c = 3/4, A = 7/4, theta A = (3/4 + 1/4)/2. With rho = 1,
    rho_tilde = 3, m = 2 and Delta = 48: ``(9/16 - 1/8) 48 + (2/4) 5 (3 * 7/4 - 1/2) + (7/16) (7/4 - 1 + 1/2)``,
    that is 21 + 95/8 + 35/64.

    >>> one_round(48, step_size=1 / 4, mu=1, L=2, local_steps=2, num_selected=2, sigma2=7, objective_gap=5,
    ...           rho_diagonal=1, rho_tilde=3)
    33.421875
    """
    kept, _, moved, high = of_a_round(step_size, local_steps, mu=mu, L=L)
    return {
        "contraction": (kept - rho_diagonal * mu * step_size * high) * distance2,
        "bias": 2 * step_size * objective_gap * (rho_tilde * moved - rho_diagonal * high),
        "noise": step_size**2 * (sigma2 * (moved - 1) + sigma2 / num_selected),
    }


def of_a_round(step_size, local_steps, *, mu, L):
    """Compute c^tau, 1 - c^tau, A and theta A."""
    rest, away = short_of_one(step_size, mu), short_of_one(step_size, L)
    kept, lost = geometric(step_size * mu, local_steps, rest)
    # theta A = (1 - x) (c^tau - b^tau)/(c - b) with b = (1 - x)^2; b/c = 1 - ratio avoids cancellation for short steps.
    difference = step_size * ((L - mu) + L * away)
    _, below = geometric(difference / rest, local_steps)
    return kept, lost, lost / (step_size * mu), away * kept * below / difference
