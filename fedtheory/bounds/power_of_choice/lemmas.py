"""Power-of-Choice, Appendix B: lemmas."""

from fedtheory.arithmetic.functions import mean
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice.paper import ANY_MEAN, HALVING, LOWEST, MARGINAL_GRADIENTS, PAPER
from fedtheory.theorem import FEDTHEORY, BoundedGradients, LeftSide, Smooth, states

_ACTIVE_GRADIENTS = BoundedGradients(weights="1/m", at_starts=False)


@states(
    PAPER,
    "Lemma B.1",
    equation="eq. (9)",
    left=LeftSide("squared gradient", "|grad F_k(w)|^2", model="any", after="any time"),
    assumes=(Smooth(of="F_k"), LOWEST),
    options=("any",),
    worst_case=lambda: poc._worst_cases.GRADIENT_NORM,
)
def gradient_norm(excess, *, L):
    r"""Bound on a squared gradient norm, ``|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)``.

    .. math::
        2L(F_k(w)-F_k^*)

    Examples
    --------
    For F_k(w) = (L/2) w^2 it is an equality: with L = 3 and w = 2 both sides are 36.

    >>> gradient_norm(6.0, L=3.0)
    36.0
    """
    return {"smoothness": 2 * L * excess}


@states(
    PAPER,
    "Lemma B.2",
    equation="eq. (12)",
    left=LeftSide(
        "drift", "E 1/m sum_k |w_bar_t - w_k_t|^2", model="clients", after="step", over=("selection", "noise")
    ),
    assumes=(MARGINAL_GRADIENTS, HALVING),
    schemes=ANY_MEAN,
)
def _printed_client_drift(step_size, *, local_steps, G2):
    r"""Bound on ``E 1/m sum_k |w_bar_t - w_k_t|^2``, ``16 eta_t^2 tau^2 G2``, eq. (12) as printed.

    The statement needs step sizes that at most halve within a round.

    With eta = 1/2, tau = 4 and G2 = 7: 16 * 16 * 7 / 4.

    >>> client_drift.printed(0.5, local_steps=4, G2=7.0)
    448.0
    """
    return {"drift": 16 * step_size**2 * local_steps**2 * G2}


@states(
    FEDTHEORY,
    "the drift over the active clients with tau - 1 steps",
    related=(PAPER, "Lemma B.2, eq. (12)"),
    form="refined",
    assumes=(_ACTIVE_GRADIENTS, HALVING),
    printed=_printed_client_drift,
)
def client_drift(step_size, *, local_steps, G2):
    r"""Bound on ``E 1/m sum_k |w_bar_t - w_k_t|^2`` over the active clients, ``4 eta_t^2 (tau - 1)^2 G2``.

    .. math::
        4\eta_t^2(\tau-1)^2G^2

    Examples
    --------
    With eta = 1/2, tau = 4 and G2 = 7: 4 * 9 * 7 / 4.

    >>> client_drift(0.5, local_steps=4, G2=7.0)
    63.0
    """
    return {"drift": 4 * step_size**2 * (local_steps - 1) ** 2 * G2}


@states(
    PAPER,
    "Lemma B.3",
    equation="eq. (24)",
    left=LeftSide(
        "squared distance",
        "|1/m sum_k w_k - w*|^2",
        model="average",
        after="round",
        average="the selected clients' models with weights 1/m",
    ),
    schemes=ANY_MEAN,
    options=("any",),
)
def averaged_distance(distances2):
    r"""Bound on the squared distance of an average of models, ``|1/m sum_k w_k - w*|^2 <= 1/m sum_k |w_k - w*|^2``.

    .. math::
        \frac1m\sum_k\|w_k-w^*\|^2

    Examples
    --------
    Models 1 and 3 with w* = 0: the squared distance of the average is 4, and the bound is (1 + 9)/2.

    >>> averaged_distance([1.0, 9.0])
    5.0
    """
    return {"mean": _mean(distances2)}


def _mean(values):
    if hasattr(values, "free_symbols"):
        from sympy import IndexedBase, Sum, Symbol

        k, num_selected = Symbol("k", integer=True), Symbol("num_selected", integer=True, positive=True)
        return Sum(IndexedBase(values)[k], (k, 1, num_selected)) / num_selected
    return mean(values)
