"""Federated averaging with unbiased selection, as studied by Li, Huang, Yang, Wang, Zhang (2020).

The function of this file follows the form that Power-of-Choice says recovers their bound: its Theorem 3.1 at
rho_bar = rho_tilde = 1. Their own Theorems 2 and 3 have another form (step sizes ``2 / (mu (t + max(8 L/mu, tau)))``,
other constants, and the client drift and the selection variance apart); it is not evaluated here.
"""

from fedtheory.bounds.fedavg._words import PAPER
from fedtheory.paper import Hypothesis, Scheme, Summands, states

__all__ = ["decaying_steps_gap"]


_ASSUMES = (
    Hypothesis("every F_k is L-smooth and mu-strongly convex"),
    Hypothesis("stochastic gradients are unbiased, of variance at most sigma2 and expected squared norm at most G2"),
    Hypothesis("m clients drawn with replacement, client k with probability p_k, and a plain mean: all skews are 1"),
)


@states(
    PAPER,
    "Theorem 2",
    equation="in the form of Power-of-Choice, eq. (7)",
    form="derived",
    assumes=_ASSUMES,
    schemes=(Scheme("multinomial", "mean"),),
)
def decaying_steps_gap(
    num_steps, *, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, initial_distance2
) -> Summands:
    r"""Bound on ``E F(w_T) - F*`` for unbiased selection and step sizes ``1 / (mu (t + gamma))``, ``gamma = 4 L / mu``.

    .. math::
        \frac{1}{T+\gamma}\Big[\frac{4L(32\tau^2G^2+\sigma^2/m)}{3\mu^2}+\frac{8L^2\Gamma}{\mu^2}
        +\frac{L\gamma\|w_0-w^*\|^2}{2}\Big]

    This is Power-of-Choice's Theorem 3.1 at rho_bar = rho_tilde = 1, where its bias is 0; arguments and units are those
    of ``power_of_choice.decaying_steps_gap``.

    Examples
    --------
    With mu = L = m = tau = 1, G2 = 3, Gamma = 4, all else 0 and T = 12: (4 * 96 / 3 + 8 * 4) / 16 = 10.

    >>> decaying_steps_gap(12, mu=1.0, L=1.0, local_steps=1, num_selected=1, G2=3.0, sigma2=0.0, objective_gap=4.0,
    ...                    initial_distance2=0.0)
    10.0
    """
    gamma = 4 * L / mu
    per_variance = 4 * L / (3 * mu**2)
    return {
        "drift": per_variance * 32 * G2 * local_steps**2 / (num_steps + gamma),
        "noise": per_variance * sigma2 / num_selected / (num_steps + gamma),
        "heterogeneity": 8 * L**2 * objective_gap / mu**2 / (num_steps + gamma),
        "initial": L * gamma * initial_distance2 / 2 / (num_steps + gamma),
    }
