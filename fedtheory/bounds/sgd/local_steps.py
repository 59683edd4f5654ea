r"""Local steps of all clients with bounded heterogeneity at the minimizer."""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.scaffold.paper import STABLE, drift_of_a_round
from fedtheory.bounds.sgd import _worst_cases
from fedtheory.bounds.sgd.paper import ASSUMES, PAPER
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "a round of local steps of all clients",
    related=(PAPER, "Example wc_sgd"),
    form="derived",
    left=LeftSide("squared distance", "|w_+ - w*|^2", after="round"),
    assumes=(*ASSUMES, STABLE),
    schemes=FULL_PARTICIPATION,
    worst_case=_worst_cases.ROUND,
)
def local_steps_round(distance2, *, step_size, mu, L, local_steps, zeta2):
    r"""Bound on ``|w_+ - w*|^2`` after a round of all clients from ``Delta = |w - w*|^2``.

    .. math::
        c^{2\tau}\Delta+\frac{\eta^2\zeta^2}\beta\Big(\sum_{s<\tau}d_s^2-\frac{(\sum_{s<\tau}d_s)^2}{\beta+\tau}\Big),
        \quad c=1-\eta\mu,\ \beta=\frac{2c}{\eta(L-\mu)}-1,\ d_s=\sum_{r<s}c^{\tau-1-r}

    It is at most ``fedavg.one_round``, which has ``2 L Gamma`` in place of zeta2.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4 and tau = 2: c = 3/4, beta = 2 and d = (0, 3/4). From Delta = 256 with zeta2 = 42 the
    bound is ``(81/256) 256 + (1/16) 42/2 (9/16 - (9/16)/4) = 81 + 567/1024``.

    >>> local_steps_round(256, step_size=1 / 4, mu=1, L=3, local_steps=2, zeta2=42)
    81.5537109375
    """
    left, _ = geometric(step_size * mu, 2 * local_steps, short_of_one(step_size, mu))
    drift = drift_of_a_round(step_size, mu=mu, L=L, local_steps=local_steps)
    return {"contraction": left * distance2, "drift": drift * zeta2}
