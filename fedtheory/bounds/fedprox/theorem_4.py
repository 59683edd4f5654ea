r"""FedProx, Theorem 4: change of the loss in a round, as printed and with smaller constants."""

from fedtheory.arithmetic.functions import square_root
from fedtheory.bounds.fedavg.paper import DRAWS, WITH_REPLACEMENT
from fedtheory.bounds.fedprox import _worst_cases
from fedtheory.bounds.fedprox.paper import ASSUMES, PAPER
from fedtheory.theorem import FEDTHEORY, LeftSide, states


@states(
    PAPER,
    "Theorem 4",
    left=LeftSide("loss change", "E F(w_+) - F(w)", after="round", over=("selection",)),
    assumes=(*ASSUMES, DRAWS),
    schemes=WITH_REPLACEMENT,
)
def _printed_loss_change(
    gradient2, *, L, negative_curvature, proximal_weight, gradient_dissimilarity, inexactness, num_selected
):
    r"""Bound on ``E F(w_+) - F(w)`` as printed, ``-rho |grad F(w)|^2``.

    .. math::
        \begin{aligned}
        &-\rho\|\nabla F(w)\|^2,\quad\bar\mu=\mu-L_-,\\
        &\rho=\frac{1-\gamma B}\mu-\frac{B(1+\gamma)\sqrt2}{\bar\mu\sqrt K}-\frac{LB(1+\gamma)}{\bar\mu\mu}
        -\frac{L(1+\gamma)^2B^2}{2\bar\mu^2}-\frac{LB^2(1+\gamma)^2(2\sqrt{2K}+2)}{\bar\mu^2K}
        \end{aligned}

    It is negative only if ``K > 2 B^2 (1 + gamma)^2/(1 - gamma B)^2``, and never for K <= 2.

    With ``L = L_ = 1``, mu = 17, B = 2, gamma = 1/4 and K = 8 the bound is ``-512 + 160 + 425/2``, as in
    ``loss_change``, plus ``17408 (5/64 + 10 (25/1024)/8)`` for the draws.

    >>> from fractions import Fraction as Q
    >>> loss_change.printed(
    ...     17408, proximal_weight=17, num_selected=8, L=1, negative_curvature=1, gradient_dissimilarity=2,
    ...     inexactness=Q(1, 4),
    ... )
    Fraction(7007, 4)
    """
    B, K, reach = gradient_dissimilarity, num_selected, 1 + inexactness
    strength = proximal_weight - negative_curvature
    far2 = (reach * B / strength) ** 2 * gradient2
    return {
        "descent": -(1 - inexactness * B) / proximal_weight * gradient2,
        "selection": B * reach * square_root(2 * K) / (strength * K) * gradient2,
        "drift": L * B * reach / (strength * proximal_weight) * gradient2,
        "curvature": L / 2 * far2,
        "spread": L * far2 * (2 * square_root(2 * K) + 2) / K,
    }


@states(
    FEDTHEORY,
    "a round of FedProx, by smoothness at the server's model",
    related=(PAPER, "Theorem 4"),
    form="derived",
    assumes=(*ASSUMES, DRAWS),
    printed=_printed_loss_change,
    worst_case=_worst_cases.LOSS_CHANGE,
)
def loss_change(gradient2, *, L, negative_curvature, proximal_weight, gradient_dissimilarity, inexactness):
    r"""Bound on ``E F(w_+) - F(w)`` after a round of FedProx with any number of sampled clients.

    .. math::
        -\Big(\frac{1-\gamma B}\mu-\frac{LB(1+\gamma)}{\bar\mu\mu}-\frac{L(1+\gamma)^2B^2}{2\bar\mu^2}\Big)
        \|\nabla F(w)\|^2,\quad\bar\mu=\mu-L_-

    The printed form has two more summands for the draws and is never smaller.

    Examples
    --------
    With ``L = L_ = 1``, mu = 17, B = 2 and gamma = 1/4: ``-(1/2)/17 + (5/2)/(16 * 17) + (25/4)/512`` times
    17408 = 17 * 1024.

    >>> from fractions import Fraction as Q
    >>> loss_change(17408, proximal_weight=17, L=1, negative_curvature=1, gradient_dissimilarity=2, inexactness=Q(1, 4))
    Fraction(-279, 2)
    """
    B, reach = gradient_dissimilarity, 1 + inexactness
    strength = proximal_weight - negative_curvature
    return {
        "descent": -(1 - inexactness * B) / proximal_weight * gradient2,
        "drift": L * B * reach / (strength * proximal_weight) * gradient2,
        "curvature": L / 2 * (reach * B / strength) ** 2 * gradient2,
    }
