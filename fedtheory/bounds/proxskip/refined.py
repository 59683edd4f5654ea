"""ProxSkip with the exact contraction of gradient steps: a sharper bound for every step size."""

from fedtheory.arithmetic.functions import geometric, maximum, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.proxskip import _worst_cases
from fedtheory.bounds.proxskip.paper import ASSUMES, PAPER
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "Scaffnew for any step size",
    related=(PAPER, "Theorem 3.6"),
    form="refined",
    left=LeftSide(
        "potential", "E [mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - h_k*|^2]", model="clients", over=("selection",)
    ),
    assumes=ASSUMES,
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.REFINED,
)
def refined_fixed_step_potential(num_steps, *, step_size, mu, L, probability, initial_distance2, control_error2):
    r"""Bound on ``E [mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - h_k*|^2]`` for every step size gamma.

    .. math::
        \max\{q^2,1-p^2\}^T\left(\|w_0-w^*\|^2+\frac{\gamma^2}{p^2}E_0\right),\quad
        q=\max\{|1-\gamma\mu|,|1-\gamma L|\}

    T steps attain the bound if ``q^2 >= 1 - p^2``.

    Examples
    --------
    With mu = 1, L = 4, gamma = 1/4 and p = 1/2, q^2 = 9/16 is below 3/4. With p = 1 the rate is q^2: after two steps
    the bound is ``(81/256) (240 + 256/16)``.

    >>> refined_fixed_step_potential(2, step_size=1 / 4, mu=1, L=4, probability=1, initial_distance2=240,
    ...                              control_error2=256)
    81.0
    """
    slow, _ = geometric(step_size * mu, 2 * num_steps, short_of_one(step_size, mu))
    fast, _ = geometric(step_size * L, 2 * num_steps, short_of_one(step_size, L))
    coins, _ = geometric(probability**2, num_steps, short_of_one(probability, probability))
    factor = maximum(maximum(slow, fast), coins)
    return {
        "models": factor * initial_distance2,
        "control variates": factor * (step_size / probability) ** 2 * control_error2,
    }
