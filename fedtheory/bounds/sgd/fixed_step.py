r"""Stochastic gradients with a fixed step size: convergence rate and error floor."""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds.fedavg.paper import DRAWS, WITH_REPLACEMENT
from fedtheory.bounds.sgd.paper import ASSUMES, CONVERGENT_STEPS, PAPER
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "T steps of drawn clients, for a fixed step size",
    related=(PAPER, "Example wc_sgd"),
    form="derived",
    left=LeftSide("squared distance", "E |w_T - w*|^2", over=("selection",)),
    assumes=(*ASSUMES, DRAWS, CONVERGENT_STEPS),
    schemes=WITH_REPLACEMENT,
)
def fixed_step_distance(num_steps, *, step_size, mu, L, num_selected, zeta2, initial_distance2):
    r"""Bound on ``E |w_T - w*|^2`` after T steps, one per round, of m clients drawn with replacement.

    .. math::
        q^T\Delta_0+(1-q^T)\frac{\eta\zeta^2}{m\mu(2-\eta L)},\quad q=k+\frac{a^2}{1-k},\ k=\frac{\eta(L-\mu)}2,\
        a=1-\frac{\eta(L+\mu)}2

    Examples
    --------
    With mu = 1, L = 3, eta = 1/2: k = 1/2, a = 0 and q = 1/2. The floor for zeta2 = 8 is ``4/(2 - 3/2) = 8``, and the
    bound is ``(1/4) 40 + (3/4) 8``.

    >>> fixed_step_distance(2, step_size=1 / 2, mu=1, L=3, num_selected=1, zeta2=8, initial_distance2=40)
    16.0
    """
    k, room = step_size * (L - mu) / 2, 1 + short_of_one(step_size, L)
    # 1 - q = ((1 - k)^2 - a^2)/(1 - k), whose numerator is a product.
    left, settled = geometric(step_size * mu * room / (1 - k), num_steps)
    floor = step_size * zeta2 / (num_selected * mu * room)
    return {"vanishing": left * initial_distance2, "floor": settled * floor}
