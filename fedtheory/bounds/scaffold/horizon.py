"""SCAFFOLD over many rounds with step sizes up to 1/(tau L)."""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.scaffold import _worst_cases
from fedtheory.bounds.scaffold.paper import CONTROL, PAPER
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

SHORT_ROUNDS = Hypothesis(
    "step_size local_steps L <= 1",
    lambda step_size, local_steps, L: (step_size * local_steps * L, "<=", 1),
    rtol=4 * 2.0**-52,
)


@states(
    FEDTHEORY,
    "R rounds of all clients, Option II",
    related=(PAPER, "Algorithm 1"),
    form="derived",
    left=LeftSide("potential", "|w_R - w*|^2 + eta^2 tau^2 E_R"),
    assumes=(*CONTROL, SHORT_ROUNDS),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.ROUNDS,
)
def fixed_step_potential(num_rounds, *, step_size, mu, L, local_steps, initial_distance2, control_error2):
    r"""Bound on ``|w_R - w*|^2`` and ``|w_R - w*|^2 + eta^2 tau^2 E_R``: ``c^(2 tau R)`` times the initial potential.

    .. math::
        c^{2\tau R}\left(\|w_0-w^*\|^2+\eta^2\tau^2E_0\right),\quad c=1-\eta\mu

    E is ``control_error2``. Clients ``F_k = mu/2 |w - w*|^2`` with exact control variates attain the bound.

    Examples
    --------
    With eta = 1/8, mu = 1 and tau = 2, c = 7/8; after one round the bound is ``(7/8)^4 (3840 + 4096/16)``.

    >>> fixed_step_potential(1, step_size=1 / 8, mu=1, L=4, local_steps=2, initial_distance2=3840, control_error2=4096)
    2401.0
    """
    left, _ = geometric(step_size * mu, 2 * local_steps * num_rounds, short_of_one(step_size, mu))
    return {
        "models": left * initial_distance2,
        "control variates": left * (step_size * local_steps) ** 2 * control_error2,
    }
