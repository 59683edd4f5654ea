r"""Power-of-Choice without Assumption 3.4: convergence over many rounds.

With a fixed step size, ``x = eta L``, ``c = 1 - eta mu`` and

.. math::
    A=\sum_{j<\tau}c^j,\qquad\theta=\frac{1-x}A\sum_{s<\tau}c^{\tau-1-s}(1-x)^{2s}\in[0,1],

several local steps multiply rho by theta. These theorems are not in the paper; the proofs are on the theory page about
worst cases.
"""

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.arithmetic.functions import geometric, maximum
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds._step_sizes import for_each_step
from fedtheory.bounds.power_of_choice import paper
from fedtheory.bounds.power_of_choice.whole_rounds import of_a_round
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

_SHORTER_STEPS = Hypothesis("step_size < 1/L (at 1/L theta is 0)", lambda step_size, L: (step_size, "<", 1 / L))
_LATE = Hypothesis(
    "gamma >= 2 local_steps L/mu",
    lambda gamma, local_steps, L, mu: (gamma, ">=", 2 * local_steps * L / mu),
    rtol=paper.ROUNDING,
)


@states(
    FEDTHEORY,
    "a fixed step size, without Assumption 3.4",
    related=(paper.PAPER, "Theorem A.1"),
    form="derived",
    left=LeftSide("squared distance", "E |w_T - w*|^2", over=("selection", "noise")),
    assumes=(*paper.WITHOUT_GRADIENTS, paper.short_steps(1)),
    schemes=paper.MEAN,
    worst_case=lambda: poc._worst_cases.FIXED_ROUNDS,
)
def fixed_step_distance(
    num_rounds,
    *,
    step_size,
    mu,
    L,
    local_steps,
    num_selected,
    sigma2,
    objective_gap,
    rho_diagonal,
    rho_tilde,
    initial_distance2,
):
    r"""Bound on ``E |w_T - w*|^2`` after R rounds of a fixed step size up to 1/L, without bounded gradients.

    .. math::
        a^R\Delta_0+(1-a^R)\Big[\frac{2\Gamma}\mu\cdot\frac{\tilde\rho-\rho\theta}{1+\rho\theta}
        +\frac{\eta\sigma^2(A-1+1/m)}{\mu A(1+\rho\theta)}\Big],\quad a=1-(1-c^\tau)(1+\rho\theta)

    It is ``one_round`` applied R times. At the step size 1/L the value is infinite if mu = L, where theta is 0/0.

    Examples
    --------
    The round of ``one_round`` twice from Delta_0 = 256: a = 7/16, its fixed point is (95/8 + 35/64) / (9/16), and
    ``(49/256) 256 + (207/256) (190/9 + 35/36)``.

    >>> fixed_step_distance(2, step_size=1 / 4, mu=1, L=2, local_steps=2, num_selected=2, sigma2=7, objective_gap=5,
    ...                     rho_diagonal=1, rho_tilde=3, initial_distance2=256)
    66.8564453125
    """
    _, lost, moved, high = of_a_round(step_size, local_steps, mu=mu, L=L)
    rate = lost + rho_diagonal * mu * step_size * high
    left, settled = geometric(rate, num_rounds)
    bias = 2 * step_size * objective_gap * (rho_tilde * moved - rho_diagonal * high)
    return {
        "vanishing": left * initial_distance2,
        "bias": settled * bias / rate,
        "noise": settled * step_size**2 * (sigma2 * (moved - 1) + sigma2 / num_selected) / rate,
    }


def delayed_step_sizes(num_steps: int, *, mu: float, gamma: float) -> Array:
    """Step sizes of ``decaying_steps_distance``, ``eta_t = 1 / (mu (t + gamma))`` for t = 0, ..., T - 1; shape (T,).

    >>> delayed_step_sizes(3, mu=2.0, gamma=8.0) == [1 / 16, 1 / 18, 1 / 20]
    array([ True,  True,  True])
    """
    known = {"mu": mu, "gamma": gamma}
    mu, gamma = (validate.double(name, validate.positive(name, value)) for name, value in known.items())
    return for_each_step(num_steps, lambda t: 1.0 / (mu * (t + gamma)))


@states(
    FEDTHEORY,
    "decaying step sizes, without Assumption 3.4",
    related=(paper.PAPER, "Theorem 3.1"),
    form="derived",
    left=LeftSide("squared distance", "E |w_T - w*|^2", over=("selection", "noise")),
    assumes=(*paper.WITHOUT_GRADIENTS, paper.POSITIVE_DIAGONAL, _LATE),
    schemes=paper.MEAN,
    step_sizes=delayed_step_sizes,
    worst_case=lambda: poc._worst_cases.DECAYING_ROUNDS,
)
def decaying_steps_distance(
    num_rounds,
    *,
    gamma,
    mu,
    L,
    local_steps,
    num_selected,
    sigma2,
    objective_gap,
    rho_diagonal,
    rho_tilde,
    initial_distance2,
):
    r"""Bound on ``E |w_T - w*|^2`` for steps ``1 / (mu (t + gamma))`` and ``T = tau R``, without bounded gradients.

    .. math::
        \frac1{T+\gamma}\max\Big\{\gamma(\Delta_0-\delta),\ \frac{4\tau L\Gamma}{\mu^2}\cdot\frac{1+\tilde\rho}{1+\rho}
        +\frac{2\sigma^2(\tau-1+1/m)}{\tau\rho\mu^2}\Big\}+\delta,\quad
        \delta=\frac{2\Gamma(\tilde\rho-\rho)}{\mu(1+\rho)}

    Examples
    --------
    With mu = 1, L = 2, tau = 2, gamma = 8, rho = 1, rho_tilde = 3, m = 2: delta = 10, the second number is
    ``16 * 5 * 2 + 7 (1 + 1/2) = 341/2``, and the bounds after four rounds are ``8 (48 - 10) / 16 + 10`` from 48 and
    ``341/32 + 10`` from 12.

    >>> decaying_steps_distance(4, gamma=8, mu=1, L=2, local_steps=2, num_selected=2, sigma2=7, objective_gap=5,
    ...                         rho_diagonal=1, rho_tilde=3, initial_distance2=48)
    29.0
    >>> decaying_steps_distance(4, gamma=8, mu=1, L=2, local_steps=2, num_selected=2, sigma2=7, objective_gap=5,
    ...                         rho_diagonal=1, rho_tilde=3, initial_distance2=12)
    20.65625
    """
    rho, tau = rho_diagonal, local_steps
    bias = 2 * objective_gap * (rho_tilde - rho) / (mu * (1 + rho))
    steady = 4 * tau * L * objective_gap * (1 + rho_tilde) / (mu**2 * (1 + rho))
    noise = 2 * (sigma2 * (tau - 1) + sigma2 / num_selected) / (tau * rho * mu**2)
    return {
        "vanishing": maximum(gamma * (initial_distance2 - bias), steady + noise) / (tau * num_rounds + gamma),
        "bias": bias,
    }


@states(
    FEDTHEORY,
    "the average of models, without Assumption 3.4",
    related=(paper.PAPER, "Theorem A.1"),
    form="derived",
    left=LeftSide(
        "gap",
        "E F(w~) - F*",
        model="average",
        over=("selection", "noise"),
        average="the rounds' starting models with weights c^(-tau r)",
    ),
    assumes=(*paper.WITHOUT_GRADIENTS, paper.POSITIVE_DIAGONAL, _SHORTER_STEPS),
    schemes=paper.MEAN,
    worst_case=lambda: poc._worst_cases.AVERAGED_ROUNDS,
)
def averaged_rounds_gap(
    num_rounds,
    *,
    step_size,
    mu,
    L,
    num_selected,
    local_steps,
    sigma2,
    objective_gap,
    rho_diagonal,
    rho_tilde,
    initial_distance2,
):
    r"""Bound on ``E F(w~) - F*`` of the mean of R >= 1 rounds' starting models with weights ``c^(-tau r)``.

    .. math::
        \frac{\mu\Delta_0}{2\rho\theta}\cdot\frac{c^{\tau R}}{1-c^{\tau R}}
        +\Gamma\Big(\frac{\tilde\rho}{\rho\theta}-1\Big)+\frac{\eta\sigma^2(1-(1-1/m)/A)}{2\rho\theta}

    Examples
    --------
    The round of ``one_round``: c^tau = 9/16, theta = 2/7. Two rounds from Delta_0 = 50 give
    ``50 (7/4) (81/175) + 5 (3 * 7/2 - 1) + (7/4) (5/4)``, that is 81/2 + 95/2 + 35/16.

    >>> averaged_rounds_gap(2, step_size=1 / 4, mu=1, L=2, local_steps=2, num_selected=2, sigma2=7, objective_gap=5,
    ...                     rho_diagonal=1, rho_tilde=3, initial_distance2=50)
    90.1875
    """
    _, lost, moved, high = of_a_round(step_size, local_steps, mu=mu, L=L)
    left, gone = geometric(lost, num_rounds)
    scale = 1 / (2 * rho_diagonal * high)
    return {
        "initial": scale * mu * moved * initial_distance2 * left / gone,
        "bias": objective_gap * (2 * rho_tilde * moved * scale - 1),
        "noise": scale * step_size * (sigma2 * (moved - 1) + sigma2 / num_selected),
    }
