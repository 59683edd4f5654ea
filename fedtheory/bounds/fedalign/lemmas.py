"""FedALIGN, Appendix A: lemmas."""

from fedtheory.arithmetic.functions import total
from fedtheory.bounds import fedalign
from fedtheory.bounds.fedalign import paper
from fedtheory.theorem import FEDTHEORY, LeftSide, Smooth, states


@states(
    paper.PAPER,
    "Lemma A.2",
    equation="eq. (21)",
    left=LeftSide("squared gradient", "|grad F_k(w)|^2", model="any", after="any time"),
    assumes=(Smooth(source="Assumption 1"),),
    options=("any",),
    worst_case=lambda: fedalign._worst_cases.GRADIENT_NORM,
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
    paper.PAPER,
    "Lemma A.3",
    equation="eq. (23)",
    left=LeftSide(
        "squared distance",
        "|w_t - w*|^2",
        model="average",
        after="round",
        average="the clients' models with weights p'_k I_k",
    ),
    assumes=(paper.WEIGHTS,),
    schemes=paper.PARTIAL,
    options=("any",),
)
def aggregated_distance(distances2, *, weights):
    r"""Bound on the squared distance of the aggregated model, ``|w_t - w*|^2 <= sum_k p'_k I_k |w_t^k - w*|^2``.

    .. math::
        \sum_kp'_kI_k\|w_t^k-w^*\|^2

    Examples
    --------
    Models 2 and -4 with weights 3/4 and 1/4, w* = 0: the average is 1/2 and 1/4 <= 3 + 4.

    >>> aggregated_distance([4, 16], weights=[0.75, 0.25])
    7.0
    """
    if hasattr(weights, "free_symbols"):
        from sympy import IndexedBase, Symbol

        clients = Symbol("num_included", integer=True, positive=True)
        distances = IndexedBase(distances2)
        return {"mean": paper.summed(weights, clients, lambda k: distances[k])}
    if len(weights) != len(distances2):
        message = f"weights must have {len(distances2)} entries, as distances2 has, got {len(weights)}"
        raise ValueError(message)
    if isinstance(weights, tuple) and isinstance(distances2, tuple):
        return {"mean": sum(p * d for p, d in zip(weights, distances2, strict=True))}
    return {"mean": total(weights * distances2)}


@states(
    paper.PAPER,
    "Lemma A.4",
    equation="eq. (25)",
    left=LeftSide("drift", "E sum_k p'_k I_k |w_t^k - w_t|^2", model="clients", after="step", over=("noise",)),
    assumes=(paper.GRADIENTS, paper.FROZEN_INDICATORS, paper.HALVING),
    schemes=paper.PARTIAL,
)
def client_drift(step_size, *, local_steps, G2):
    r"""Bound on ``E sum_k p'_k I_k |w_t^k - w_t|^2``, ``4 eta_t^2 (E - 1)^2 G2``.

    .. math::
        4\eta_t^2(E-1)^2G^2

    Examples
    --------
    With eta = 1/2, E = 4 and G2 = 7: 4 * 9 * 7 / 4.

    >>> client_drift(0.5, local_steps=4, G2=7.0)
    63.0
    """
    return {"drift": 4 * step_size**2 * (local_steps - 1) ** 2 * G2}


@states(
    paper.PAPER,
    "Lemma A.5",
    equation="eq. (27)",
    left=LeftSide("variance", "E |g_t - mean g_t|^2", model="none", after="step", over=("noise",)),
    assumes=(paper.NOISE, paper.WEIGHTS),
    schemes=paper.PARTIAL,
    options=paper.ANY_STEP,
)
def _printed_gradient_variance(sigma2):
    """Bound on ``E |g_t - mean g_t|^2`` as printed, ``sigma2``.

    >>> gradient_variance.printed(3.0)
    3.0
    """
    return {"noise": sigma2}


@states(
    FEDTHEORY,
    "the variance in terms of the squared weights",
    related=(paper.PAPER, "Lemma A.5, eqs. (28)-(29)"),
    form="refined",
    assumes=(paper.NOISE, paper.WEIGHTS, paper.SQUARED_WEIGHTS),
    printed=_printed_gradient_variance,
    options=paper.ANY_STEP,
)
def gradient_variance(sigma2, *, squared_weights):
    r"""Bound on ``E |g_t - mean g_t|^2``, ``sigma2 E sum_k p'_k^2 I_k``.

    .. math::
        \sigma^2\,\mathbb E\sum_kp_k'^2I_k

    Examples
    --------
    It is an equality when every client's noise has the variance sigma2.

    >>> gradient_variance(3.0, squared_weights=0.5)
    1.5
    """
    return {"noise": sigma2 * squared_weights}


@states(
    paper.PAPER,
    "Lemma A.8",
    equation="eq. (57)",
    left=LeftSide("variance", "E |w'_t - w_t|^2", after="round", over=("selection", "noise")),
    assumes=(paper.GRADIENTS, paper.FROZEN_INDICATORS, paper.HALVING, paper.PRIORITY_DRAWS),
    schemes=paper.PARTIAL,
)
def _printed_sampling_variance(step_size, *, local_steps, num_draws, G2):
    """Bound on ``E |w'_t - w_t|^2`` at the end of a round, ``4 eta^2 E^2 G2/K`` with the round's last step size.

    With eta = 1/2, E = 3, K = 7 and G2 = 14: 4 * 9 * 14 / (4 * 7).

    >>> sampling_variance.printed(0.5, local_steps=3, num_draws=7, G2=14.0)
    18.0
    """
    return {"sampling": 4 * step_size**2 * local_steps**2 * G2 / num_draws}


@states(
    FEDTHEORY,
    "the variance in terms of the step sizes of the round",
    related=(paper.PAPER, "Lemma A.8, eq. (57)"),
    form="refined",
    assumes=(paper.GRADIENTS, paper.FROZEN_INDICATORS, paper.PRIORITY_DRAWS, paper.PRIORITY_WEIGHT),
    printed=_printed_sampling_variance,
    options=paper.ANY_STEP,
)
def sampling_variance(elapsed_step_size, *, num_draws, priority_weight, G2):
    r"""Bound on ``E |w'_t - w_t|^2`` at the end of a round, ``(step sizes of the round)^2 G2/(K (1 + s)^2)``.

    .. math::
        \frac{S^2G^2}{K(1+s)^2},\quad S=\sum_i\eta_i

    Parameters
    ----------
    elapsed_step_size
        Sum of the step sizes of the whole round.
    priority_weight
        ``1/(1 + s)``.

    Examples
    --------
    With step sizes of sum 3, K = 5, a priority weight of 1/2 and G2 = 20: (3/2)^2 20/5.

    >>> sampling_variance(3.0, num_draws=5, priority_weight=0.5, G2=20.0)
    9.0
    """
    return {"sampling": (elapsed_step_size * priority_weight) ** 2 * G2 / num_draws}
