"""The gradient of the objective where the gradient of a surrogate objective with other weights is small."""

from fedtheory.arithmetic.functions import square_root
from fedtheory.bounds.stationary import _worst_cases
from fedtheory.bounds.stationary.paper import PAPER
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states

_LEFT = LeftSide("squared gradient", "|grad F(w)|^2", model="any", after="any time")
_ASSUMES = (
    Hypothesis(
        "sum_k q_k |grad F_k(w)|^2 <= beta2 |sum_k q_k grad F_k(w)|^2 + kappa2, beta2 >= 1 (Assumption 3)",
        lambda beta2: (beta2, ">=", 1),
    ),
    Hypothesis("the weights q_k of the surrogate are positive with sum 1, and chi2 = sum_k (p_k - q_k)^2/q_k"),
)


@states(PAPER, "Theorem 2", left=_LEFT, assumes=_ASSUMES)
def _printed_inconsistency(surrogate_gradient2, *, chi2, beta2, kappa2):
    r"""Bound on ``|grad F(w)|^2`` as printed, where the surrogate ``sum_k q_k F_k`` has a small gradient.

    .. math::
        2(\chi^2(\beta^2-1)+1)\|\nabla\tilde F(w)\|^2+2\chi^2\kappa^2

    With ``|grad F~|^2 = 3``, chi2 = 3, beta2 = 2 and kappa2 = 1: ``2 (3 + 1) 3 + 2 * 3``.

    >>> inconsistency.printed(3, chi2=3, beta2=2, kappa2=1)
    30.0
    """
    return {"surrogate": 2 * (chi2 * (beta2 - 1) + 1) * surrogate_gradient2, "floor": 2 * chi2 * kappa2}


@states(
    FEDTHEORY,
    "the gradient at a model where that of a surrogate is small",
    related=(PAPER, "Theorem 2"),
    form="derived",
    assumes=_ASSUMES,
    printed=_printed_inconsistency,
    worst_case=_worst_cases.INCONSISTENCY,
)
def inconsistency(surrogate_gradient2, *, chi2, beta2, kappa2):
    r"""Bound on ``|grad F(w)|^2``, where the surrogate ``sum_k q_k F_k`` has a small gradient.

    .. math::
        \Big(\|\nabla\tilde F(w)\|+\chi\sqrt{(\beta^2-1)\|\nabla\tilde F(w)\|^2+\kappa^2}\Big)^2

    At a stationary point of the surrogate it is ``chi2 kappa2``, half of the printed value; two parabolas attain it.

    Examples
    --------
    With ``|grad F~|^2 = 3``, chi2 = 3, beta2 = 2 and kappa2 = 1: ``3 + 3 (3 + 1) + 2 (3 * 3 * 4)^(1/2)``.

    >>> inconsistency(3, chi2=3, beta2=2, kappa2=1)
    27.0
    """
    spread = chi2 * ((beta2 - 1) * surrogate_gradient2 + kappa2)
    return {
        "surrogate": surrogate_gradient2,
        "spread": spread,
        "product": 2 * square_root(surrogate_gradient2 * spread),
    }
