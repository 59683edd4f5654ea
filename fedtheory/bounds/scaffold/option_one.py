"""One round of SCAFFOLD with Option I: control variates are gradients at the server's model."""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.scaffold import _worst_cases
from fedtheory.bounds.scaffold.paper import FUNCTIONS, PAPER, STABLE, steepness, ways
from fedtheory.theorem import EXACT_GRADIENTS, FEDTHEORY, Hypothesis, LeftSide, states

METHOD = Hypothesis("clients and server run SCAFFOLD with Option I")
CURVED = Hypothesis("mu < L", lambda mu, L: (mu, "<", L))


@states(
    FEDTHEORY,
    "a round of all clients, Option I",
    related=(PAPER, "Algorithm 1"),
    form="derived",
    left=LeftSide("potential", "|w_+ - w*|^2 + omega E_+", after="round"),
    assumes=(*FUNCTIONS, EXACT_GRADIENTS, METHOD, STABLE, CURVED),
    schemes=FULL_PARTICIPATION,
    worst_case=_worst_cases.ROUND,
)
def option_one_round(distance2, *, control_error2, step_size, mu, L, local_steps):
    r"""Bound on ``|w_+ - w*|^2 + omega E_+`` after a round with ``c_k+ = grad F_k(w)``; E is ``control_error2``.

    .. math::
        c^{2\tau}\Delta+\frac{\eta^2}\beta\sum_{s<\tau}d_s^2E\le\max\{c^{2\tau},\kappa\}(\Delta+\omega E),\quad
        \omega=\eta^2\beta c^{2\tau-2},\ \kappa=\frac{\sum_{s<\tau}d_s^2}{\beta^2c^{2\tau-2}},\
        d_s=\sum_{r<s}c^{\tau-1-r}

    c and beta are those of ``one_round``. Option I converges only for much shorter steps than Option II.

    Examples
    --------
    With mu = 1, L = 4, eta = 1/8 and tau = 2: c = 7/8, beta = 11/3 and d = (0, 7/8). From a distance of 4096 and
    E = 11264 the bound is ``2401/4096 * 4096 + (1/64) (3/11) (49/64) 11264``.

    >>> option_one_round(4096, control_error2=11264, step_size=1 / 8, mu=1, L=4, local_steps=2)
    2437.75
    """
    left, _ = geometric(step_size * mu, 2 * local_steps, short_of_one(step_size, mu))
    _, squares = ways(step_size, mu=mu, local_steps=local_steps)
    slope = steepness(step_size, mu=mu, L=L)
    return {"models": left * distance2, "control variates": step_size**2 * slope * squares * control_error2}
