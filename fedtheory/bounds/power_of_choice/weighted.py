r"""Power-of-Choice, Appendix E: averaging with weights q_k of sum one.

The skews are those of eq. (76), with ``E sum_{k in S} q_k (F_k - F_k*)`` in the numerator. Step sizes are
``eta_t = m / (mu (t + gamma))`` with ``gamma = 4 m (1 + m) L / mu``.

Eq. (85) is false as printed for m = 1, and for the weights ``q_k = p_k K / m`` that the paper gives as an example. They
sum to one only if all p_k are equal. ``derived_weighted_average_gap`` is the part of it that is true for m >= 2;
``weighted_average_gap`` holds for every m.
"""

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.arithmetic.functions import maximum
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds._step_sizes import curvatures, for_each_step
from fedtheory.bounds.power_of_choice import paper
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

_NOT_VACUOUS = Hypothesis(
    "num_selected (1 + 3 rho_diagonal/8) > 1 (holds unless num_selected = 1 and rho_diagonal = 0)",
    lambda num_selected, rho_diagonal: (3 * num_selected * rho_diagonal / 8, ">", 1 - num_selected),
)
_SEVERAL = Hypothesis(
    "num_selected >= 2 (eq. (85) has no drift for a single client)", lambda num_selected: (num_selected, ">=", 2)
)
_FEASIBLE = Hypothesis(
    "rho_bar <= L/mu (the infimum satisfies this)", lambda rho_bar, L, mu: (rho_bar, "<=", L / mu), rtol=paper.ROUNDING
)


def weighted_step_sizes(num_steps: int, *, mu: float, L: float, num_selected: int) -> Array:
    """Step sizes of (85), ``m / (mu (t + 4 m (1 + m) L / mu))`` for t = 0, ..., T - 1; shape (T,).

    >>> weighted_step_sizes(2, mu=2.0, L=3.0, num_selected=2) == [2 / 72, 2 / 74]
    array([ True,  True])
    """
    mu, L = curvatures(mu, L)
    m = validate.double("num_selected", validate.count("num_selected", num_selected))
    return for_each_step(num_steps, lambda t: 1.0 / (mu * t / m + 4 * (1 + m) * L))


@states(
    paper.PAPER,
    "Appendix E",
    equation="eq. (85)",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise")),
    assumes=(*paper.WEIGHTED_PRINTED, paper.POSITIVE_SKEW),
    schemes=paper.WEIGHTED_AS_PRINTED,
    step_sizes=weighted_step_sizes,
)
def _printed_weighted_average_gap(
    num_steps, *, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, rho_bar, rho_tilde, initial_distance2
):
    r"""Bound on ``E F(w_T) - F*`` for step sizes ``m / (mu (t + gamma))``, eq. (85) as printed (false for m = 1).

    .. math::
        \frac1{T+\gamma}\Big[\frac{Lm^2(32m(m-1)\tau^2G^2+\sigma^2)}{\mu^2\bar\rho}+\frac{2L^2m(m+2)\Gamma}{\mu^2}
        +\frac{L\gamma\|w_0-w^*\|^2}2\Big]+\frac{2L\Gamma}{\bar\rho\mu}\Big(\frac{\tilde\rho}{\bar\rho}-1\Big)

    With mu = 1, L = 4, m = 2 (so gamma = 96), rho_bar = 2, rho_tilde = 3, tau = 3 and T = 32:
    ``(8 (32 * 2 * 9 * 43 + 32) + 2 * 16 * 2 * 4 * 3 + 4 * 96 * 2 / 2) / 128 + 2 * 4 * 3 / 2 (3/2 - 1) = 1559 + 6``.

    >>> weighted_average_gap.printed(32, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32, objective_gap=3,
    ...                              rho_bar=2, rho_tilde=3, initial_distance2=2)
    1565.0
    """
    m = num_selected
    gamma = 4 * m * (1 + m) * L / mu
    per_variance = L * m**2 / (mu**2 * rho_bar)
    return {
        "drift": per_variance * 32 * m * (m - 1) * G2 * local_steps**2 / (num_steps + gamma),
        "noise": per_variance * sigma2 / (num_steps + gamma),
        "heterogeneity": 2 * L**2 * m * (m + 2) * objective_gap / mu**2 / (num_steps + gamma),
        "initial": L * gamma * initial_distance2 / 2 / (num_steps + gamma),
        "bias": 2 * L * objective_gap / (rho_bar * mu) * (rho_tilde - rho_bar) / rho_bar,
    }


@states(
    FEDTHEORY,
    "the bound that follows from the printed recursion",
    related=(paper.PAPER, "Appendix E, eqs. (82)-(85)"),
    form="derived",
    assumes=(*paper.WEIGHTED_FUNCTIONS, paper.POSITIVE_SKEW, paper.ORDERED_SKEWS, _SEVERAL, _FEASIBLE),
    schemes=paper.WEIGHTED,
    printed=_printed_weighted_average_gap,
    worst_case=lambda: poc._worst_cases.DERIVED_WEIGHTED_AVERAGE,
)
def derived_weighted_average_gap(
    num_steps, *, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, rho_bar, rho_tilde, initial_distance2
):
    r"""Bound on ``E F(w_T) - F*`` from the recursion (82)-(84), for m >= 2.

    .. math::
        \begin{aligned}
        &\frac1{T+\gamma}\Big[\frac{Lm}{\mu^2\bar\rho}\big(32m^2(m-1)\tau^2G^2+m\sigma^2+2(2+m)\bar\rho L\Gamma\big)
        +\frac{L\gamma}2\|w_0-w^*\|^2\Big]\\
        &\quad+\frac{2L\Gamma}\mu\Big(\frac{\tilde\rho}{\bar\rho}-1\Big),\quad\gamma=\frac{4m(1+m)L}\mu
        \end{aligned}

    The printed bias has an extra factor 1/rho_bar. The diagonal skew may be used for rho_bar.

    Examples
    --------
    The instance of ``weighted_average_gap.printed``; the bias is now 2 * 4 * 3 (3/2 - 1), and the bound 1559 + 12.

    >>> derived_weighted_average_gap(32, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32, objective_gap=3,
    ...                              rho_bar=2, rho_tilde=3, initial_distance2=2)
    1571.0
    """
    # Written from the recursion: beta = m/mu, B = 1/m + rho/2, and L/2 (beta^2 C / (beta mu B - 1)) / (T + gamma).
    m = num_selected
    gamma = 4 * m * (1 + m) * L / mu
    per_variance = L * m / (mu**2 * rho_bar)
    return {
        "drift": per_variance * 32 * m**2 * (m - 1) * G2 * local_steps**2 / (num_steps + gamma),
        "noise": per_variance * m * sigma2 / (num_steps + gamma),
        "heterogeneity": per_variance * 2 * L * (2 + m) * rho_bar * objective_gap / (num_steps + gamma),
        "initial": L * gamma * initial_distance2 / 2 / (num_steps + gamma),
        "bias": 2 * L * objective_gap / mu * (rho_tilde - rho_bar) / rho_bar,
    }


@states(
    paper.PAPER,
    "Appendix E",
    equation="eq. (85)",
    form="corrected",
    assumes=(*paper.WEIGHTED_REPAIRED, paper.UNIT_SQUARES, _NOT_VACUOUS),
    schemes=paper.WEIGHTED,
    printed=_printed_weighted_average_gap,
    worst_case=lambda: poc._worst_cases.WEIGHTED_AVERAGE,
)
def weighted_average_gap(
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
    squared_weights=1,
):
    r"""Bound on ``E F(w_T) - F*`` for step sizes ``m / (mu (t + gamma))`` and weights of sum one, for every m.

    .. math::
        \begin{aligned}
        &\frac1{T+\gamma}\max\Big\{\frac{L\gamma}2\|w_0-w^*\|^2,\ \frac{Lm^2C}{2\mu^2(mB-1)}\Big\}
        +\frac{8L\Gamma(\tilde\rho-\rho)}{\mu(8+3\rho)},\\
        &B=1+\tfrac{3\rho}8,\quad C=32\tau^2G^2+\sigma^2q_2+6\rho L\Gamma
        \end{aligned}

    Here q_2 is ``squared_weights``.

    Examples
    --------
    With mu = 1, L = 4, m = 2 (so gamma = 96), rho = 8/3 (so B = 2), rho_tilde = 4, tau = 3 and T = 32:
    C = 32 * 9 * 43 + 32 (3/4) + 6 (8/3) 4 * 3 = 12600, and
    ``max(4 * 96 * 2 / 2, 4 * 4 * 12600 / (2 * 3)) / 128 + 8 * 4 * 3 (4/3) / 16 = 33600/128 + 8``.

    >>> weighted_average_gap(32, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32, objective_gap=3,
    ...                      rho_diagonal=8 / 3, rho_tilde=4, initial_distance2=2, squared_weights=3 / 4)
    270.5
    """
    m, rho = num_selected, rho_diagonal
    gamma = 4 * m * (1 + m) * L / mu
    C = 32 * G2 * local_steps**2 + sigma2 * squared_weights + 6 * rho * L * objective_gap
    initial = L * gamma * initial_distance2 / 2
    steady = 4 * L * m**2 * C / (mu**2 * (8 * (m - 1) + 3 * m * rho))
    return {
        "vanishing": maximum(initial, steady) / (num_steps + gamma),
        "bias": 8 * L * objective_gap * (rho_tilde - rho) / (mu * (8 + 3 * rho)),
    }
