"""Linear convergence of normalized averaging on quadratics to its stationary point."""

from fedtheory.arithmetic.functions import geometric, maximum, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION, SHORT_STEPS
from fedtheory.bounds.sgd.paper import ASSUMES
from fedtheory.bounds.stationary.paper import PAPER
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, knows, method_is, states

_METHOD = Hypothesis("clients and server run FedNova", of_run=method_is("FedNova"))
_QUADRATIC = Hypothesis("every F_k is quadratic", of_run=knows("matrices"))
_SHORT_ROUNDS = Hypothesis(
    "step_size effective_steps L < 2", lambda step_size, effective_steps, L: (step_size * effective_steps * L, "<", 2)
)
_MEAN = Hypothesis(
    "effective_steps <= local_steps, since it is a mean of numbers of which local_steps is the largest",
    lambda effective_steps, local_steps: (effective_steps, "<=", local_steps),
    rtol=4 * 2.0**-52,
)


@states(
    FEDTHEORY,
    "a round of normalized averaging of quadratics",
    related=(PAPER, "Appendix"),
    form="derived",
    left=LeftSide("squared distance from the limit", "|w_+ - w_inf|^2", after="round"),
    assumes=(*ASSUMES, _METHOD, _QUADRATIC, SHORT_STEPS, _SHORT_ROUNDS, _MEAN),
    schemes=FULL_PARTICIPATION,
    options=("method",),
)
def normalized_round(stationary_distance2, *, step_size, mu, L, effective_steps, local_steps):
    r"""Bound on ``|w_+ - w_inf|^2`` after a round of normalized averaging, whose stationary point is w_inf.

    .. math::
        \max\Big\{1-\frac{\bar\tau}\tau(1-c^\tau),\ \eta\bar\tau L-1\Big\}^2\|w-w_\infty\|^2,
        \quad c=1-\eta\mu,

    Here ``tau_bar`` is the mean of the clients' numbers of steps. If ``eta tau_bar L`` exceeds 2, the method may
    diverge at step sizes at which averaging converges.

    Parameters
    ----------
    stationary_distance2
        Squared distance of the model before the round from w_inf.
    local_steps
        Largest number tau of local steps of a client.

    Examples
    --------
    With mu = 1, L = 4, eta = 1/8, tau = 2 and tau_bar = 3/2 the first number is ``1 - (3/4) (1 - 49/64) = 211/256``.

    >>> normalized_round(65536, step_size=1 / 8, mu=1, L=4, effective_steps=1.5, local_steps=2)
    44521.0
    """
    left, _ = geometric(step_size * mu, local_steps, short_of_one(step_size, mu))
    slowest = ((local_steps - effective_steps) + effective_steps * left) / local_steps
    factor = maximum(slowest, step_size * effective_steps * L - 1)
    return {"left": factor**2 * stationary_distance2}
