"""Li et al.: sampling without replacement for unequal weights, with transformed objectives (after Theorem 3)."""

from fedtheory.bounds.fedavg.paper import FUNCTIONS, GRADIENTS, NOISE, PAPER, SEVERAL_CLIENTS, SUBSET, SUBSETS
from fedtheory.bounds.fedavg.theorems import subset_variance, summands
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, Noise, states

_LEFT = LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise"))
_ASSUMES = (
    *FUNCTIONS,
    SUBSET,
    SEVERAL_CLIENTS,
    Hypothesis("client k takes its steps on num_clients p_k F_k, of step size 2/(mu' (t + max(8 L'/mu', E)))"),
    Hypothesis("num_clients max_weight >= 1", lambda num_clients, max_weight: (num_clients * max_weight, ">=", 1)),
    Hypothesis("num_clients min_weight <= 1", lambda num_clients, min_weight: (num_clients * min_weight, "<=", 1)),
)
_MEAN_GRADIENTS = Hypothesis("num_clients sum_k p_k^2 E |g_k|^2 <= weighted_G2 in every step")


@states(
    PAPER,
    "Theorem 3",
    equation="transformed Scheme II",
    basis="printed",
    left=_LEFT,
    assumes=(*_ASSUMES, Noise(source="Assumption 3"), GRADIENTS),
    schemes=SUBSETS,
)
def _printed_transformed_gap(
    num_steps, *, mu, L, local_steps, num_clients, num_selected, max_weight, min_weight, G2, sigma2, objective_gap,
    initial_distance2,
):  # fmt: skip
    r"""Bound on ``E F(w_T) - F*`` as printed, with ``sqrt(nu) G`` and ``sqrt(nu) sigma`` for every client.

    It is the bound of ``without_replacement_gap`` with ``nu L``, ``s mu``, ``nu G^2`` and ``nu sigma^2``, where ``nu =
    N max_k p_k`` and ``s = N min_k p_k``.

    With N = 11 and weights from 1/12 to 1/10, mu' = 2 and L' = 3 as in the example of ``without_replacement_gap``. Also
    as there, ``nu G^2`` is 100 and ``nu sigma^2/N`` is 5; Gamma and the distance are 1.

    >>> from fractions import Fraction as Q
    >>> transformed_gap.printed(
    ...     7, mu=Q(24, 11), L=Q(30, 11), local_steps=14, num_clients=11, num_selected=7, max_weight=Q(1, 10),
    ...     min_weight=Q(1, 12), G2=Q(1000, 11), sigma2=50, objective_gap=1, initial_distance2=1,
    ... ) == Q(5 + 18 + 135200 + 4480 + 14, 14)
    True
    """
    mu, L, G2 = num_clients * min_weight * mu, num_clients * max_weight * L, num_clients * max_weight * G2
    C = subset_variance(local_steps, num_clients, num_selected, G2)
    return summands(num_steps, mu, L, local_steps, G2, max_weight * sigma2, objective_gap, initial_distance2, C)


@states(
    FEDTHEORY,
    "sampling without replacement for unequal weights",
    related=(PAPER, "Theorem 3"),
    form="derived",
    assumes=(*_ASSUMES, NOISE, _MEAN_GRADIENTS),
    printed=_printed_transformed_gap,
)
def transformed_gap(
    num_steps, *, mu, L, local_steps, num_clients, num_selected, max_weight, min_weight, weighted_G2, weighted_sigma2,
    objective_gap, initial_distance2,
):  # fmt: skip
    r"""Bound on ``E F(w_T) - F*`` when K of N clients take steps on ``N p_k F_k`` and are averaged by a plain mean.

    .. math::
        \frac{L'/\mu'}{\gamma+T}\Big(\frac2{\mu'}\Big(\sum_kp_k^2\sigma_k^2+6L'\Gamma
        +\Big(8(E-1)^2+\frac{N-K}{N-1}\cdot\frac4KE^2\Big)N\sum_kp_k^2G_k^2\Big)
        +\frac{\mu'\gamma}2\|w_0-w^*\|^2\Big)

    Here ``L' = N L max_k p_k``, ``mu' = N mu min_k p_k`` and ``gamma = max(8 L'/mu', E)``.

    Examples
    --------
    With N = 11 and weights from 1/12 to 1/10, mu' = 2 and L' = 3 as in the example of ``without_replacement_gap``.
    Gamma and the distance are 1.

    >>> from fractions import Fraction as Q
    >>> transformed_gap(
    ...     7, mu=Q(24, 11), L=Q(30, 11), local_steps=14, num_clients=11, num_selected=7, max_weight=Q(1, 10),
    ...     min_weight=Q(1, 12), weighted_G2=100, weighted_sigma2=5, objective_gap=1, initial_distance2=1,
    ... ) == Q(5 + 18 + 135200 + 4480 + 14, 14)
    True
    """
    mu, L, G2 = num_clients * min_weight * mu, num_clients * max_weight * L, weighted_G2
    C = subset_variance(local_steps, num_clients, num_selected, G2)
    return summands(num_steps, mu, L, local_steps, G2, weighted_sigma2, objective_gap, initial_distance2, C)
