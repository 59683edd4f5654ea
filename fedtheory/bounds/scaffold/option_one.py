"""A round of SCAFFOLD with Option I, whose control variates are gradients at the server's model."""

from fedtheory.bounds.scaffold._words import ALL_CLIENTS, FUNCTIONS, PAPER, SHORT_ROUNDS, squared_ways, steepness
from fedtheory.theorem.arithmetic import geometric, maximum, short_of_one
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis
from fedtheory.theorem.paper import Summands, states

__all__ = ["option_one_round"]

METHOD = Hypothesis("clients and server run SCAFFOLD with Option I")
CURVED = Hypothesis("mu < L", lambda mu, L: (mu, "<", L))


@states(
    PAPER,
    "Algorithm 1",
    equation="a round of all clients, Option I",
    form="derived",
    assumes=(*FUNCTIONS, EXACT_GRADIENTS, METHOD, SHORT_ROUNDS, CURVED),
    schemes=ALL_CLIENTS,
)
def option_one_round(distance2, *, control_error2, step_size, mu, L, local_steps) -> Summands:
    r"""Bound on ``|w_+ - w*|^2 + weight E_+`` after a round with ``c_k+ = grad F_k(w)``; E is ``control_error2``.

    .. math::
        \max\{c^{2\tau},\kappa\}\left(\Delta+\omega E\right),\quad \omega=\eta^2\beta c^{2\tau-2},\
        \kappa=\frac{\sum_{s<\tau}d_s^2}{\beta^2c^{2\tau-2}},\ d_s=\sum_{r<s}c^{\tau-1-r}

    with c and beta as of ``one_round``. For short steps kappa is about ``tau (eta tau L)^2/12``: Option I tolerates
    only much shorter steps than Option II.

    Parameters
    ----------
    step_size
        eta, at most ``1/(tau L)``.
    local_steps
        Local steps per round tau.

    Examples
    --------
    With mu = 1, L = 4, eta = 1/8 and tau = 2: c = 7/8, beta = 11/3, d = (0, 7/8), so that kappa = 9/121 and omega =
    539/12288. A distance of 4096 and E = 12288 leave ``(2401/4096) (4096 + 539)``.

    >>> option_one_round(4096, control_error2=12288, step_size=1 / 8, mu=1, L=4, local_steps=2)
    2716.951904296875
    """
    slope, squares = steepness(step_size, mu=mu, L=L), squared_ways(step_size, mu=mu, local_steps=local_steps)
    rest = short_of_one(step_size, mu)
    left, _ = geometric(step_size * mu, 2 * local_steps, rest)
    before_last, _ = geometric(step_size * mu, 2 * local_steps - 2, rest)
    ways = slope**2 * squares
    return {
        "models": maximum(left, ways / before_last) * distance2,
        "control variates": maximum(left * before_last, ways) * step_size**2 / slope * control_error2,
    }
