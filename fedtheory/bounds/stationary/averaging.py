"""Linear convergence of federated averaging with a fixed step size to its stationary point."""

from fedtheory.arithmetic.functions import geometric, maximum, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.sgd.paper import ASSUMES, CONVERGENT_STEPS
from fedtheory.bounds.stationary.paper import PAPER
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "distance from the stationary point of averaging",
    related=(PAPER, "Appendix"),
    form="derived",
    left=LeftSide("squared distance from the limit", "|w_R - w_inf|^2"),
    assumes=(*ASSUMES, CONVERGENT_STEPS),
    schemes=FULL_PARTICIPATION,
)
def averaging_distance(num_rounds, *, step_size, mu, L, local_steps, stationary_distance2):
    r"""Bound on ``|w_R - w_inf|^2``, the squared distance from the stationary point of averaging all clients.

    .. math::
        \max\{|1-\eta\mu|,|1-\eta L|\}^{2\tau R}\|w_0-w_\infty\|^2

    If clients take different numbers of steps, tau is the smallest.

    Examples
    --------
    >>> averaging_distance(2, step_size=1 / 4, mu=1, L=3, local_steps=1, stationary_distance2=256)
    81.0
    """
    steps = 2 * local_steps * num_rounds
    slow, _ = geometric(step_size * mu, steps, short_of_one(step_size, mu))
    fast, _ = geometric(step_size * L, steps, short_of_one(step_size, L))
    return {"left": maximum(slow, fast) * stationary_distance2}
