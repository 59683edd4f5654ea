"""A round with an extrapolated server step, if all clients have a common minimizer."""

from fedtheory.arithmetic.functions import short_of_one
from fedtheory.bounds.error_feedback.ef import COMMON_MINIMIZER
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.fedexp.paper import PAPER
from fedtheory.bounds.sgd.paper import CONVERGENT_STEPS
from fedtheory.theorem import EXACT_GRADIENTS, FEDTHEORY, Convex, Hypothesis, LeftSide, Smooth, states

_JENSEN = Hypothesis(
    "mean_update2 <= update2, by Jensen's inequality",
    lambda mean_update2, update2: (mean_update2, "<=", update2),
    rtol=8 * 2.0**-52,
)

_NEAR = Hypothesis(
    "update2 <= 4 distance2, since no step of a client increases its distance from w*",
    lambda update2, distance2: (update2, "<=", 4 * distance2),
    rtol=8 * 2.0**-52,
)


@states(
    FEDTHEORY,
    "a round with extrapolation, if all clients share a minimizer",
    related=(PAPER, "Abstract"),
    form="derived",
    left=LeftSide("squared distance", "|w_+ - w*|^2", after="round"),
    assumes=(Smooth(), Convex(of="F_k"), EXACT_GRADIENTS, COMMON_MINIMIZER, CONVERGENT_STEPS, _JENSEN, _NEAR),
    schemes=FULL_PARTICIPATION,
)
def one_round(distance2, *, step_size, L, local_steps, server_step_size, update2, mean_update2):
    r"""Bound on ``|w_+ - w*|^2`` after a round whose server moves by alpha times the mean update.

    .. math::
        \Delta-\alpha\Big(1+\frac{2-\eta L}{\tau\eta L}\Big)\sum_kp_k\|u_k\|^2+\alpha^2\Big\|\sum_kp_ku_k\Big\|^2

    The u_k are the measured updates of the clients, and alpha is ``server_step_size``. FedExP takes
    ``update2/(2 mean_update2)`` if that is more than 1.

    Examples
    --------
    With L = 1, eta = 1/2 and tau = 3: a = 3, and the factor is 2. From Delta = 16 with alpha = 2, update2 = 3 and
    mean_update2 = 1 the bound is ``16 - 2 * 2 * 3 + 4``.

    >>> one_round(16, step_size=1 / 2, L=1, local_steps=3, server_step_size=2, update2=3, mean_update2=1)
    8.0
    """
    slack = (1 + short_of_one(step_size, L)) / (step_size * L * local_steps)
    return {
        "distance": distance2,
        "updates": -server_step_size * (1 + slack) * update2,
        "mean update": server_step_size**2 * mean_update2,
    }
