"""ProxSkip's theorem as printed."""

from fedtheory.arithmetic.functions import geometric, maximum, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION, SHORT_STEPS
from fedtheory.bounds.proxskip import _worst_cases
from fedtheory.bounds.proxskip.paper import ASSUMES, PAPER
from fedtheory.theorem import LeftSide, states


@states(
    PAPER,
    "Theorem 3.6",
    left=LeftSide(
        "potential", "E [mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - h_k*|^2]", model="clients", over=("selection",)
    ),
    assumes=(*ASSUMES, SHORT_STEPS),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.THEOREM,
)
def fixed_step_potential(num_steps, *, step_size, mu, L, probability, initial_distance2, control_error2):
    r"""Bound on ``E [mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - h_k*|^2]`` after T steps, ``h_k* = grad F_k(w*)``.

    .. math::
        \max\{1-\gamma\mu,1-p^2\}^T\left(\|w_0-w^*\|^2+\frac{\gamma^2}{p^2}E_0\right)

    The x_k are the clients' models, means are over the clients, gamma is ``step_size``, and E_0 is ``control_error2``.

    Examples
    --------
    With mu = 1, gamma = 1/4 and p = 1/2 both rates are 3/4; after two steps the bound is ``(9/16) (12 + 16/4)``.

    >>> fixed_step_potential(2, step_size=1 / 4, mu=1, L=4, probability=1 / 2, initial_distance2=12, control_error2=16)
    9.0
    """
    steps, _ = geometric(step_size * mu, num_steps, short_of_one(step_size, mu))
    coins, _ = geometric(probability**2, num_steps, short_of_one(probability, probability))
    factor = maximum(steps, coins)
    return {
        "models": factor * initial_distance2,
        "control variates": factor * (step_size / probability) ** 2 * control_error2,
    }
