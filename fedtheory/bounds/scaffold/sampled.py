r"""A round of SCAFFOLD with some of the clients and noise: the recursion behind Lemma 15, for longer steps."""

from fedtheory.arithmetic.functions import maximum
from fedtheory.bounds.fedavg.paper import BALANCED, SEVERAL_CLIENTS, SUBSET, SUBSETS
from fedtheory.bounds.scaffold import _worst_cases
from fedtheory.bounds.scaffold.paper import FUNCTIONS, METHOD, PAPER
from fedtheory.theorem.assumptions import Hypothesis, Noise
from fedtheory.theorem.bound import states
from fedtheory.theorem.domains import POSITIVE
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.paper import FEDTHEORY


def _second(eta, tau, L, N, m):
    """Return ``m (N - 1) (2 v + (1 - 1/tau) h L)``: what c_k adds to the distance, with v the variance of a mean."""
    return 2 * (N - m) + m * (N - 1) * eta * (tau - 1) * L


_DAMPED = Hypothesis(
    "h L (1 + omega + 2 v + (1 - 1/tau) h L) <= 1 with h = tau eta and v = (N - m)/(m (N - 1))",
    lambda eta, tau, L, N, m, omega: (
        tau * eta * L * (m * (N - 1) * (1 + omega) + _second(eta, tau, L, N, m)),
        "<=",
        m * (N - 1),
    ),
    ("step_size", "local_steps", "L", "num_clients", "num_selected", "control_weight"),
)
_HEAVY = Hypothesis(
    "2 v + (1 - 1/tau) h L <= omega (1 - mu h N/(2 m))",
    lambda eta, tau, mu, L, N, m, omega: (
        _second(eta, tau, L, N, m),
        "<=",
        omega * (N - 1) * (m - mu * tau * eta * N / 2),
    ),
    ("step_size", "local_steps", "mu", "L", "num_clients", "num_selected", "control_weight"),
)


@states(
    FEDTHEORY,
    "a round of some clients, Option II",
    related=(PAPER, "recursion behind Lemma 15"),
    form="derived",
    left=LeftSide(
        "potential", "E [|w_+ - w*|^2 + omega h^2 N/m C_+] + h (F(w) - F*)", after="round", over=("selection", "noise")
    ),
    assumes=(*FUNCTIONS, Noise(), METHOD, SUBSET, BALANCED, SEVERAL_CLIENTS, _DAMPED, _HEAVY),
    schemes=SUBSETS,
    options=("method",),
    domains={"control_weight": POSITIVE},
    worst_case=_worst_cases.SAMPLED_ROUND,
)
def sampled_round(
    distance2, *, variate_error2, control_weight, step_size, mu, L, local_steps, num_clients, num_selected, sigma2
):
    r"""Bound on ``E [|w_+ - w*|^2 + omega h^2 N/m C_+] + h (F(w) - F*)`` after a round of m of N clients.

    .. math::
        \Big(1-\frac{\mu h}2\Big)\Big(\Delta+\omega\,\frac Nm\,h^2C\Big)
        +\frac{h^2\sigma^2}\tau\Big(\kappa+\max\{0,1-\kappa\}\Big(1-\frac1\tau\Big)\frac{hL}2\Big),\quad h=\tau\eta,\
        \kappa=\frac1m+\omega

    C is ``variate_error2``. The paper has the weight omega = 9, ``12 (1/m + 1)`` in place of kappa, ``h <= 1/(81 L)``
    and ``15 mu h N <= m``. With this weight ``h <= 1/(13 L)`` and ``mu h N <= m`` suffice, and no such bound holds for
    ``h > 3/(20 L)`` and all mu. Clients of vanishing curvature attain ``kappa``, since C_+ includes the noise of c_k+.

    Parameters
    ----------
    control_weight
        Weight omega of the control variates in the potential.

    Notes
    -----
    Take w* = 0 and grad F_k(0) = 0. With the mean u_k of the gradients of client k, ``|w_+|^2`` is at most
    ``|w|^2 - 2 h <w, u> + h^2 |u|^2 + h^2 v mean |u_k - c_k|^2`` in expectation, and C_+ is ``(1 - m/N) C + m/N mean
    |u_k|^2``. For a model y on the path of a client with gradient g, ``-2 <w, g>`` is at most ``-2 (F_k(w) - F_k(0)) -
    |g|^2/L + L |w - y|^2``, and the mean of ``|w - y|^2`` is at most ``(1 - 1/tau) h^2 (C + mean |g|^2)``. The two
    hypotheses are that the coefficients of ``mean |g|^2`` and C are not positive. With noise this holds for means of
    models and gradients. Noise adds kappa times the variance of the last y, which a step increases by at most ``eta^2
    sigma2 - 2 eta cov(y, g) + eta^2 var(g)``. To ``-2 eta <w, g>`` it adds at most ``2 eta (cov(y, g) - var(g)/L)``,
    and at most ``eta (L var(y) - var(g)/L)``, of which the part ``1 - kappa`` is taken if kappa < 1.

    Examples
    --------
    With tau = 1, h = 1/8 and omega = 4, for mu = 1 and one of two clients: ``(15/16) (8 + 4 * 2 * 64/64) + 64/64 * 5``.

    >>> sampled_round(
    ...     8, variate_error2=64, control_weight=4, step_size=1 / 8, mu=1, L=1, local_steps=1, num_clients=2,
    ...     num_selected=1, sigma2=64,
    ... )
    20.0
    """
    h = step_size * local_steps
    left, kappa = 1 - mu * h / 2, 1 + num_selected * control_weight  # num_selected times kappa
    drift = maximum(0, num_selected - kappa) * step_size * (local_steps - 1) * L / 2
    return {
        "models": left * distance2,
        "control variates": left * control_weight * h**2 * num_clients * variate_error2 / num_selected,
        "noise": step_size * h * sigma2 / num_selected * (kappa + drift),
    }
