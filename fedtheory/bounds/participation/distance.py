"""Federated averaging with a fixed step size and arbitrary clients in each round."""

from fedtheory.arithmetic.functions import geometric, short_of_one, square_root
from fedtheory.bounds.fedavg.paper import MEAN, SHORT_STEPS
from fedtheory.bounds.participation import _worst_cases
from fedtheory.bounds.participation.paper import PAPER
from fedtheory.bounds.sgd.paper import ASSUMES
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "rounds with arbitrary participation",
    related=(PAPER, "Abstract"),
    form="derived",
    left=LeftSide("squared distance", "|w_R - w*|^2"),
    assumes=(*ASSUMES, MEAN, SHORT_STEPS),
    options=("strategy",),
    worst_case=_worst_cases.TURNS,
)
def fixed_step_distance(num_rounds, *, step_size, mu, L, local_steps, imbalance2, initial_distance2):
    r"""Bound on ``|w_R - w*|^2`` after R rounds with arbitrary clients and aggregation weights.

    .. math::
        \Big(\sqrt{c^{\tau R}\|w_0-w^*\|^2+(1-c^{\tau R})\eta^2\frac L\mu\delta^2}+\eta\delta\Big)^2,\quad c=1-\eta\mu

    The clients of a round may depend on anything, for example on losses.

    Examples
    --------
    With mu = 1, L = 4, eta = 1/4 and tau = 2, ``c^tau = 9/16``. With delta = 4 the floor is ``4 * 16/16``. After one
    round from the distance 2 the radicand is ``(9/16) 4 + (7/16) 4``, and the bound is ``(2 + 1/4 * 4)^2``.

    >>> fixed_step_distance(1, step_size=1 / 4, mu=1, L=4, local_steps=2, imbalance2=16, initial_distance2=4)
    9.0
    """
    left, gone = geometric(step_size * mu, local_steps * num_rounds, short_of_one(step_size, mu))
    start, floor = left * initial_distance2, gone * step_size**2 * (L / mu) * imbalance2
    return {
        "contraction": start,
        "floor": floor,
        "both": 2 * step_size * square_root(start + floor) * square_root(imbalance2),
        "shift": step_size**2 * imbalance2,
    }
