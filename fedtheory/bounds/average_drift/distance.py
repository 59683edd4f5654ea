"""Federated averaging with a fixed step size, in terms of the average drift at the minimizer."""

from fedtheory.arithmetic.functions import geometric, short_of_one, square_root
from fedtheory.bounds.average_drift.paper import PAPER
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.scaffold.paper import STABLE
from fedtheory.bounds.sgd.paper import ASSUMES
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "rounds of all clients in terms of the average drift at the minimizer",
    related=(PAPER, "Abstract"),
    form="derived",
    left=LeftSide("squared distance", "|w_R - w*|^2"),
    assumes=(*ASSUMES, STABLE),
    schemes=FULL_PARTICIPATION,
)
def fixed_step_distance(num_rounds, *, step_size, mu, L, local_steps, drift2, initial_distance2):
    r"""Bound on ``|w_R - w*|^2`` after R rounds of all clients.

    .. math::
        \Big(c^{\tau R}\|w_0-w^*\|+(1-c^{\tau R})\frac{\eta\tau\rho}{1-c^\tau}\Big)^2,\quad c=1-\eta\mu

    The drift rho is 0 if all Hessians are equal and constant, and for one local step.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4 and tau = 2, ``c^tau = 9/16``. After one round from the distance 16 with rho = 14 the
    bound is ``(9 + 1/4 * 2 * 14)^2``.

    >>> fixed_step_distance(1, step_size=1 / 4, mu=1, L=3, local_steps=2, drift2=196, initial_distance2=256)
    256.0
    """
    left, gone = geometric(step_size * mu, local_steps * num_rounds, short_of_one(step_size, mu))
    _, gone_of_round = geometric(step_size * mu, local_steps, short_of_one(step_size, mu))
    moved = gone * step_size * local_steps / gone_of_round
    return {
        "contraction": left**2 * initial_distance2,
        "both": 2 * left * moved * square_root(initial_distance2) * square_root(drift2),
        "drift": moved**2 * drift2,
    }
