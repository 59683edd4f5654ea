"""FedNova, Theorem 2 of Wang et al. (2020): the gradient of F where the gradient of the surrogate is small.

Two clients have the weights 1/2 in F and ``1/2 - shift``, ``1/2 + shift`` in the surrogate, so that
``chi^2 = 4 shift^2/(1 - 4 shift^2)``. The theorem's second hypothesis bounds the clients' gradients.
"""

from fractions import Fraction
from typing import Any

from fedtheory.theorem import NONNEGATIVE, POSITIVE, Hypothesis, LeftSide, Paper, states
from fedtheory.worst_case import Problem

PAPER = Paper(
    "fednova",
    "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization",
    "Wang, Liu, Liang, Joshi, Poor",
    2020,
    "https://arxiv.org/abs/2007.07481",
)
SIMILAR = Hypothesis(
    "sum_k w_k |grad F_k|^2 <= dissimilarity2 |sum_k w_k grad F_k|^2 + heterogeneity2",
    lambda dissimilarity2: (dissimilarity2, ">=", 1),
)
FEWER = Hypothesis("shift < 1/2, since weights are positive", lambda shift: (shift, "<", Fraction(1, 2)))


@states(
    PAPER,
    "Theorem 2",
    left=LeftSide("squared gradient", "|grad F(w)|^2"),
    assumes=(SIMILAR, FEWER),
    domains={"surrogate2": NONNEGATIVE, "dissimilarity2": POSITIVE, "heterogeneity2": NONNEGATIVE, "shift": POSITIVE},
)
def gradient_of_objective(surrogate2, *, dissimilarity2, heterogeneity2, shift):
    """Bound on the squared gradient of F, for a squared gradient ``surrogate2`` of the surrogate."""
    chi2 = 4 * shift**2 / (1 - 4 * shift**2)
    return {
        "surrogate": 2 * (chi2 * (dissimilarity2 - 1) + 1) * surrogate2,
        "floor": 2 * chi2 * heterogeneity2,
    }


def method(dissimilarity2: Any, shift: Any, surrogate2: Any = 1, heterogeneity2: Any = 1) -> Problem:
    p = Problem()
    one, other = p.vector(), p.vector()
    p.name(one, "g_1"), p.name(other, "g_2")
    half, few, many = Fraction(1, 2), Fraction(1, 2) - shift, Fraction(1, 2) + shift
    mean = few * one + many * other
    p.at_most(mean.square, surrogate2, "surrogate2")
    p.at_most(few * one.square + many * other.square - dissimilarity2 * mean.square, heterogeneity2, "heterogeneity2")
    p.maximize((half * (one + other)).square)
    return p


def domain(dissimilarity2: Any, shift: Any) -> list[Any]:
    return [dissimilarity2 >= 1, dissimilarity2 <= 2, shift > 0, 5 * shift <= 2]
