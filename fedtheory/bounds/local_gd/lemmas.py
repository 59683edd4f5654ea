r"""Khaled, Mishchenko and Richtarik, Lemmas 1 and 2: a local step, and the drift of a round."""

from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION, SHORT_STEPS
from fedtheory.bounds.local_gd import _worst_cases
from fedtheory.bounds.local_gd.paper import ASSUMES, PAPER, SHORT_ROUNDS
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

_STEP = LeftSide("squared distance", "|w_bar_+ - w*|^2", after="step")
_DRIFT = LeftSide("drift", "sum_t sum_k p_k |w_k_t - w_bar_t|^2", model="clients", after="round")
_QUARTER = Hypothesis("step_size <= 1/(4 L)", lambda step_size, L: (step_size, "<=", 1 / (4 * L)), rtol=4 * 2.0**-52)
_STABLE = Hypothesis("step_size <= 2/L", lambda step_size, L: (step_size, "<=", 2 / L), rtol=4 * 2.0**-52)


@states(
    PAPER,
    "Lemma 1",
    equation="any step size",
    left=_STEP,
    assumes=ASSUMES,
    schemes=FULL_PARTICIPATION,
    options=("local_steps",),
    worst_case=_worst_cases.LONG_STEP,
)
def long_step(distance2, *, step_size, L, drift, gap):
    r"""Bound on ``|w_bar_+ - w*|^2`` after a local step of all clients with any step size.

    .. math::
        \Delta+\eta L(1+2\eta L)V-2\eta(1-2\eta L)(F(\bar w)-F^*)

    The weights are equal in the paper; the proof allows any.

    Examples
    --------
    With eta = 1/8, L = 2, Delta = 9, V = 16 and the gap 4: ``9 + (1/4)(3/2) 16 - (1/4)(1/2) 4``.

    >>> long_step(9, step_size=1 / 8, L=2, drift=16, gap=4)
    14.5
    """
    rate = step_size * L
    return {
        "distance": distance2,
        "drift": rate * (1 + 2 * rate) * drift,
        "descent": -2 * step_size * (1 - 2 * rate) * gap,
    }


@states(
    PAPER,
    "Lemma 1",
    equation="short steps",
    left=_STEP,
    assumes=(*ASSUMES, _QUARTER),
    schemes=FULL_PARTICIPATION,
    options=("local_steps",),
)
def _printed_one_step(distance2, *, step_size, L, drift, gap):
    r"""Bound on ``|w_bar_+ - w*|^2`` after a local step of all clients with a short step size, as printed.

    .. math::
        \Delta+\tfrac32\eta LV-\eta(F(\bar w)-F^*)

    With eta = 1/8, L = 2, Delta = 9, V = 16 and the gap 4: ``9 + (3/2)(1/4) 16 - 4/8``.

    >>> one_step.printed(9, step_size=1 / 8, L=2, drift=16, gap=4)
    14.5
    """
    return {"distance": distance2, "drift": 3 * step_size * L * drift / 2, "descent": -step_size * gap}


@states(
    FEDTHEORY,
    "a local step of convex clients",
    related=(PAPER, "Lemma 1"),
    form="derived",
    assumes=(*ASSUMES, SHORT_STEPS),
    options=("local_steps",),
    printed=_printed_one_step,
    worst_case=_worst_cases.ONE_STEP,
)
def one_step(distance2, *, step_size, L, drift, gap):
    r"""Bound on ``|w_bar_+ - w*|^2`` after a local step of all clients with a step size up to 1/L.

    .. math::
        \Delta+\eta LV-2\eta(F(\bar w)-F^*)

    Neither coefficient can be smaller.

    Examples
    --------
    With eta = 1/8, L = 2, Delta = 9, V = 16 and the gap 4: ``9 + (1/4) 16 - (1/4) 4``.

    >>> one_step(9, step_size=1 / 8, L=2, drift=16, gap=4)
    12.0
    """
    return {"distance": distance2, "drift": step_size * L * drift, "descent": -2 * step_size * gap}


@states(PAPER, "Lemma 2", left=_DRIFT, assumes=(*ASSUMES, SHORT_ROUNDS), schemes=FULL_PARTICIPATION)
def _printed_round_drift(gap_sum, *, step_size, L, local_steps, zeta2):
    r"""Bound on the sum of the drifts V_t over the H local steps of a round, as printed.

    .. math::
        5L\eta^2H^2\sum_t(F(\bar w_t)-F^*)+8\eta^2H^3\zeta^2

    With eta = 1/16, L = 2, H = 2, zeta2 = 8 and the sum 32: ``(10 * 4 * 32 + 8 * 8 * 8)/256``.

    >>> round_drift.printed(32, step_size=1 / 16, L=2, local_steps=2, zeta2=8)
    7.0
    """
    return {
        "gaps": 5 * L * step_size**2 * local_steps**2 * gap_sum,
        "heterogeneity": 8 * step_size**2 * local_steps**3 * zeta2,
    }


@states(
    FEDTHEORY,
    "the drift of a round of convex clients",
    related=(PAPER, "Lemma 2"),
    form="derived",
    assumes=(*ASSUMES, _STABLE),
    printed=_printed_round_drift,
    worst_case=_worst_cases.DRIFT,
)
def round_drift(gap_sum, *, step_size, L, local_steps, zeta2):
    r"""Bound on the sum of the drifts V_t over the H local steps of a round, for step sizes up to 2/L.

    .. math::
        \eta^2H(H-1)\Big(2L\sum_t(F(\bar w_t)-F^*)+\frac{2H-1}3\zeta^2\Big)

    Examples
    --------
    With eta = 1/16, L = 2, H = 2, zeta2 = 8 and the sum 32: ``2 (4 * 32 + 8)/256``.

    >>> round_drift(32, step_size=1 / 16, L=2, local_steps=2, zeta2=8)
    1.0625
    """
    pairs = step_size**2 * local_steps * (local_steps - 1)
    return {"gaps": 2 * L * pairs * gap_sum, "heterogeneity": pairs * (2 * local_steps - 1) * zeta2 / 3}
