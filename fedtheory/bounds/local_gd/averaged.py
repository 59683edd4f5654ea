r"""Khaled, Mishchenko and Richtarik, Theorem 1: the loss at the mean of all models."""

from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION, SHORT_STEPS
from fedtheory.bounds.local_gd import _worst_cases
from fedtheory.bounds.local_gd.paper import ASSUMES, PAPER, SHORT_ROUNDS
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

_GAP = LeftSide("gap", "F(1/T sum_{t<T} w_bar_t) - F*", model="average", average="equal weights for all local steps")
_CONTRACTING = Hypothesis(
    "step_size^2 L^2 local_steps (local_steps - 1) < 1",
    lambda step_size, local_steps, L: (step_size**2 * L**2 * local_steps * (local_steps - 1), "<", 1),
)


@states(PAPER, "Theorem 1", left=_GAP, assumes=(*ASSUMES, SHORT_ROUNDS), schemes=FULL_PARTICIPATION)
def _printed_averaged_gap(num_steps, *, step_size, L, local_steps, zeta2, initial_distance2):
    r"""Bound on ``F(1/T sum_{t<T} w_bar_t) - F*`` as printed, where w_bar_t is the mean of the clients' models.

    .. math::
        \frac{2\|w_0-w^*\|^2}{\eta T}+24\eta^2H^2L\zeta^2

    With eta = 1/16, L = 2, H = 2, T = 8, zeta2 = 4 and the distance 3: ``2 * 3 * 2 + 24 * 4 * 2 * 4/256``.

    >>> averaged_gap.printed(8, step_size=1 / 16, L=2, local_steps=2, zeta2=4, initial_distance2=3)
    15.0
    """
    return {
        "initial": 2 * initial_distance2 / (step_size * num_steps),
        "heterogeneity": 24 * step_size**2 * local_steps**2 * L * zeta2,
    }


@states(
    FEDTHEORY,
    "the loss at the mean of all models of convex clients",
    related=(PAPER, "Theorem 1"),
    form="derived",
    assumes=(*ASSUMES, SHORT_STEPS, _CONTRACTING),
    printed=_printed_averaged_gap,
    worst_case=_worst_cases.AVERAGED_GAP,
)
def averaged_gap(num_steps, *, step_size, L, local_steps, zeta2, initial_distance2):
    r"""Bound on ``F(1/T sum_{t<T} w_bar_t) - F*``, where w_bar_t is the mean of the clients' models.

    .. math::
        \frac1{1-\eta^2L^2H(H-1)}\Big(\frac{\|w_0-w^*\|^2}{2\eta T}+\frac{(H-1)(2H-1)}6\eta^2L\zeta^2\Big)

    At the printed step sizes the first factor is at most 16/15. The last round may be incomplete.

    Examples
    --------
    With eta = 1/4, L = 2, H = 2, T = 8, zeta2 = 4 and the distance 3: ``2 (3/4 + (3/6) 2 * 4/16)``.

    >>> averaged_gap(8, step_size=1 / 4, L=2, local_steps=2, zeta2=4, initial_distance2=3)
    2.0
    """
    left = 1 - (step_size * L) ** 2 * local_steps * (local_steps - 1)
    spread = (local_steps - 1) * (2 * local_steps - 1)
    return {
        "initial": initial_distance2 / (2 * step_size * num_steps * left),
        "heterogeneity": spread * step_size**2 * L * zeta2 / (6 * left),
    }
