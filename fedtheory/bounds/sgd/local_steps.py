r"""Local steps of all clients that differ at w*: heterogeneity at the minimizer in place of the objective gap."""

from fedtheory.bounds.fedavg._words import EVERYBODY
from fedtheory.bounds.scaffold._words import STABLE
from fedtheory.bounds.sgd._words import ASSUMES, PAPER
from fedtheory.theorem.arithmetic import geometric, short_of_one
from fedtheory.theorem.paper import Summands, states

__all__ = ["local_steps_round"]


@states(
    PAPER,
    "Example wc_sgd",
    equation="a round of local steps of all clients",
    form="derived",
    assumes=(*ASSUMES, STABLE),
    schemes=EVERYBODY,
)
def local_steps_round(distance2, *, step_size, mu, L, local_steps, zeta2) -> Summands:
    r"""Bound on ``|w_+ - w*|^2`` after a round of all clients from ``Delta = |w - w*|^2``.

    .. math::
        c^{2\tau}\Delta+\frac{(\tau-1)\tau(2\tau-1)}6\eta^2c^2\zeta^2\cdot\frac sr\cdot\frac{r+(\tau-1)s}{r+\tau s},
        \quad c=1-\eta\mu,\ s=\eta(L-\mu),\ r=2c-s

    It is ``fedavg.one_round`` with ``zeta^2`` in place of ``2 L Gamma``, which is never smaller, and for longer steps,
    for any number of clients with any weights; a single local step costs no heterogeneity.

    Parameters
    ----------
    step_size
        eta, with ``eta (L + mu) < 2``.
    local_steps
        Local steps per round tau.

    Notes
    -----
    The proof of ``fedavg.one_round`` ends with a multiple of the mean of ``|grad F_k(w*)|^2``, which is zeta2; only for
    the step from there to Gamma it needs smoothness of each client once more, and all that it needs of eta is r > 0.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4 and tau = 2: c = 3/4, s = 1/2, r = 1, and from Delta = 256 with zeta2 = 42 that is
    ``(81/256) 256 + (1/16) (9/16) 42 (1/2) (3/2)/2 = 81 + 567/1024``.

    >>> local_steps_round(256, step_size=1 / 4, mu=1, L=3, local_steps=2, zeta2=42)
    81.5537109375
    """
    c, s = short_of_one(step_size, mu), step_size * (L - mu)
    r = c + short_of_one(step_size, L)
    steps = (local_steps - 1) * local_steps * (2 * local_steps - 1)
    share = (r + (local_steps - 1) * s) / (r + local_steps * s)
    left, _ = geometric(step_size * mu, 2 * local_steps, c)
    return {"contraction": left * distance2, "drift": steps * step_size**2 * c**2 * zeta2 * s * share / (6 * r)}
