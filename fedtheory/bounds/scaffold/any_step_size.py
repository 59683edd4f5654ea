"""One round of SCAFFOLD, for every step size with stable gradient descent; not in the paper."""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.scaffold import _worst_cases
from fedtheory.bounds.scaffold.paper import CONTROL, PAPER, STABLE, lags, steepness
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    FEDTHEORY,
    "a round of all clients, Option II",
    related=(PAPER, "Algorithm 1"),
    form="derived",
    left=LeftSide("potential", "|w_+ - w*|^2 + eta^2 tau^2 E_+", after="round"),
    assumes=(*CONTROL, STABLE),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.ROUND,
)
def one_round(distance2, *, control_error2, step_size, mu, L, local_steps):
    r"""Bound on ``|w_+ - w*|^2 + eta^2 tau^2 E_+`` after a round; E is ``control_error2``, and ``E_+`` its next value.

    .. math::
        \begin{aligned}
        &c^{2\tau}\Delta+\kappa\,\eta^2\tau^2E,\quad
        \kappa=\frac{(\tau-C)^2+\frac1\beta\sum_{k=1}^\tau(\tau-C_k)^2}{\tau^2},\\
        &C_k=\sum_{i<k}c^i,\quad C=C_\tau,\quad c=1-\eta\mu,\quad\beta=\frac{2c}{\eta(L-\mu)}-1
        \end{aligned}

    Examples
    --------
    With mu = 1, L = 4, eta = 1/8 and tau = 2: c = 7/8, C = 15/8 and beta = 11/3. The lags 1/8 and 1 give kappa =
    (1/64 + (1/64 + 1) 3/11)/4 = 103/1408. From distance 4096 and E = 22528: ``2401/4096 * 4096 + 103/1408 * 22528/16``.

    >>> one_round(4096, control_error2=22528, step_size=1 / 8, mu=1, L=4, local_steps=2)
    2504.0
    """
    lag, squares = lags(step_size, mu=mu, local_steps=local_steps)
    left, _ = geometric(step_size * mu, 2 * local_steps, short_of_one(step_size, mu))
    return {
        "models": left * distance2,
        "lag of control variates": step_size**2 * lag**2 * control_error2,
        "curvature": step_size**2 * steepness(step_size, mu=mu, L=L) * squares * control_error2,
    }
