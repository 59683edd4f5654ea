"""Exact bounds for one step of stochastic gradients, for every step size; PEPit states one for the step size 1/L."""

from fedtheory.arithmetic.functions import short_of_one, square_root
from fedtheory.bounds.fedavg.paper import BALANCED, DRAWS, SEVERAL_CLIENTS, SUBSET, SUBSETS, WITH_REPLACEMENT
from fedtheory.bounds.sgd import _worst_cases
from fedtheory.bounds.sgd.paper import ASSUMES, PAPER
from fedtheory.theorem import FEDTHEORY, LeftSide, states


def step_with_noise(distance2, noise2, *, step_size, mu, L):
    """Return ``(k |z| + (a^2 |z|^2 + noise2)^(1/2))^2``, expanded."""
    k, a = step_size * (L - mu) / 2, (short_of_one(step_size, mu) + short_of_one(step_size, L)) / 2
    noisy = a**2 * distance2 + noise2
    return {
        "curvature": k**2 * distance2,
        "contraction": a**2 * distance2,
        "heterogeneity": noise2,
        "both": 2 * k * square_root(distance2) * square_root(noisy),
    }


@states(
    FEDTHEORY,
    "a step of m drawn clients, for every step size",
    related=(PAPER, "Example wc_sgd"),
    form="derived",
    left=LeftSide("squared distance", "E |w_+ - w*|^2", after="step", over=("selection",)),
    assumes=(*ASSUMES, DRAWS),
    schemes=WITH_REPLACEMENT,
    worst_case=_worst_cases.DRAWN_STEP,
)
def drawn_step(distance2, *, step_size, mu, L, num_selected, zeta2):
    r"""Bound on ``E |w_+ - w*|^2`` after a step of m clients drawn with replacement in proportion to p_k.

    .. math::
        \Big(k\sqrt\Delta+\sqrt{a^2\Delta+\eta^2\zeta^2/m}\Big)^2,\quad k=\frac{\eta(L-\mu)}2,\
        a=1-\frac{\eta(L+\mu)}2

    For m = 1 the bound is tight. It is concave in Delta, so that it also holds for expected distances.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4: k = 1/4, a = 1/2. With Delta = 4 and zeta2 = 9 the radicand is ``1 + 9/16``, and the
    bound is ``(1/4 * 2 + 5/4)^2``.

    >>> drawn_step(4, step_size=1 / 4, mu=1, L=3, num_selected=1, zeta2=9)
    3.0625
    """
    return step_with_noise(distance2, step_size**2 * zeta2 / num_selected, step_size=step_size, mu=mu, L=L)


@states(
    FEDTHEORY,
    "a step of m of K clients, for every step size",
    related=(PAPER, "Example wc_sgd"),
    form="derived",
    left=LeftSide("squared distance", "E |w_+ - w*|^2", after="step", over=("selection",)),
    assumes=(*ASSUMES, SUBSET, BALANCED, SEVERAL_CLIENTS),
    schemes=SUBSETS,
    worst_case=_worst_cases.SUBSET_STEP,
)
def subset_step(distance2, *, step_size, mu, L, num_clients, num_selected, zeta2):
    r"""Bound on ``E |w_+ - w*|^2`` after a step of m of K equally weighted clients, drawn without replacement.

    .. math::
        \Big(k\sqrt\Delta+\sqrt{a^2\Delta+\alpha\eta^2\zeta^2}\Big)^2,\quad k=\frac{\eta(L-\mu)}2,\
        a=1-\frac{\eta(L+\mu)}2,\ \alpha=\frac{K-m}{m(K-1)}

    For m > 1 the worst case is smaller than the bound.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4: k = 1/4, a = 1/2. For K = 5 clients and m = 2, alpha = 3/8. With Delta = 4 and zeta2
    = 24 the radicand is ``1 + 9/16``, and the bound is ``(1/4 * 2 + 5/4)^2``.

    >>> subset_step(4, step_size=1 / 4, mu=1, L=3, num_clients=5, num_selected=2, zeta2=24)
    3.0625
    """
    share = step_size**2 * zeta2 / (num_selected * (num_clients - 1)) * (num_clients - num_selected)
    return step_with_noise(distance2, share, step_size=step_size, mu=mu, L=L)
