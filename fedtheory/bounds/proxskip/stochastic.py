r"""ProxSkip with stochastic gradients, as authors of ProxSkip state it elsewhere, with a faster rate."""

from functools import reduce

from fedtheory.arithmetic.functions import geometric, maximum, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.proxskip import _worst_cases
from fedtheory.bounds.proxskip.paper import PAPER, PROBABILITY
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, StronglyConvex, states

_BREGMAN = "with D the mean of F_k(x_k) - F_k(w*) - <grad F_k(w*), x_k - w*>"
_METHOD = Hypothesis("clients and server run Scaffnew with unbiased gradients and one coin common to all clients")
_ASSUMES = (StronglyConvex(), _METHOD, PROBABILITY)


def _potential(num_steps, *, step_size, mu, probability, growth, floor, start, settled=()):
    """Return the summands after T steps; the last ones are of a memory, which settles by at least this share."""
    rates = (step_size * mu * (1 + short_of_one(step_size, growth)), probability**2, *settled)
    slowest = -reduce(maximum, [-rate for rate in rates])
    left, gone = geometric(slowest, num_steps)
    return {name: left * value for name, value in start.items()} | {"noise": step_size**2 * floor * gone / slowest}


@states(
    FEDTHEORY,
    "Scaffnew with stochastic gradients",
    related=(PAPER, "SProxSkip, in arXiv:2207.04338"),
    form="refined",
    left=LeftSide(
        "potential",
        "E [mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - h_k*|^2]",
        model="clients",
        over=("selection", "noise"),
    ),
    assumes=(
        *_ASSUMES,
        Hypothesis(f"E mean |g_k - grad F_k(w*)|^2 <= 2 A D + C, {_BREGMAN}"),
        Hypothesis("mu <= A", lambda mu, growth: (mu, "<=", growth)),
        Hypothesis("step_size A <= 1", lambda step_size, growth: (step_size * growth, "<=", 1)),
    ),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.STOCHASTIC,
)
def stochastic_potential(
    num_steps, *, step_size, mu, probability, growth, noise_floor, initial_distance2, control_error2
):
    r"""Bound on ``E [mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - h_k*|^2]`` after T steps with stochastic gradients.

    .. math::
        r^T\Big(\|w_0-w^*\|^2+\frac{\gamma^2}{p^2}E_0\Big)+\gamma^2C\,\frac{1-r^T}{1-r},\quad
        r=\max\{1-\gamma\mu(2-\gamma A),\,1-p^2\}

    A is ``growth``, and C is ``noise_floor``. The theorem has ``1 - gamma mu`` in r, and 1 in place of ``1 - r^T``. It
    is false if A bounds the difference of the same stochastic gradient at x_k and w* only; 2 A and 2 C then suffice.

    Notes
    -----
    A step adds ``-2 gamma <grad F_k(x_k) - h_k*, x_k - w*> + gamma^2 |g_k - h_k*|^2`` to the squared distance, in the
    mean at most ``-2 gamma (1 - gamma A) D - gamma mu |x_k - w*|^2 + gamma^2 C``, and ``2 D >= mu |x_k - w*|^2``. The
    rest is the proof of ``refined_fixed_step_potential``.

    Examples
    --------
    With mu = 1, A = 4, gamma = 1/4 and p = 1/2, r = 3/4; after two steps the bound is ``(9/16) (12 + 16/4) + 64/16 *
    7/4``.

    >>> stochastic_potential(
    ...     2, step_size=1 / 4, mu=1, probability=1 / 2, growth=4, noise_floor=64, initial_distance2=12,
    ...     control_error2=16,
    ... )
    16.0
    """
    start = {"models": initial_distance2, "control variates": (step_size / probability) ** 2 * control_error2}
    known = {"step_size": step_size, "mu": mu, "probability": probability}
    return _potential(num_steps, **known, growth=growth, floor=noise_floor, start=start)


@states(
    FEDTHEORY,
    "Scaffnew with stochastic gradients that a memory corrects",
    related=(PAPER, "SProxSkip with a memory, in arXiv:2207.04338"),
    form="refined",
    left=LeftSide(
        "potential",
        "E [mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - h_k*|^2 + gamma^2 W s]",
        model="clients",
        over=("selection", "noise"),
    ),
    assumes=(
        *_ASSUMES,
        Hypothesis(
            "E mean |g_k - grad F_k(w*)|^2 <= 2 A D + B s + C and E s_+ <= 2 A' D + B' s + C' for an error s, "
            + _BREGMAN
        ),
        Hypothesis(
            "W (1 - B') > B",
            lambda memory_weight, memory_rate, memory_share: (memory_weight * (1 - memory_rate), ">", memory_share),
        ),
        Hypothesis(
            "mu <= A + W A'",
            lambda mu, growth, memory_weight, memory_growth: (mu, "<=", growth + memory_weight * memory_growth),
        ),
        Hypothesis(
            "step_size (A + W A') <= 1",
            lambda step_size, growth, memory_weight, memory_growth: (
                step_size * (growth + memory_weight * memory_growth),
                "<=",
                1,
            ),
        ),
    ),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.STOCHASTIC,
)
def corrected_potential(
    num_steps, *, step_size, mu, probability, growth, noise_floor, memory_weight, memory_share, memory_growth,
    memory_rate, memory_floor, initial_distance2, control_error2, initial_memory_error,
):  # fmt: skip
    r"""Bound on the expected potential of ``stochastic_potential`` plus ``gamma^2 W s``, with the error s of a memory.

    .. math::
        \begin{aligned}
        &r^T\Big(\|w_0-w^*\|^2+\frac{\gamma^2}{p^2}E_0+\gamma^2Ws_0\Big)+\gamma^2(C+WC')\frac{1-r^T}{1-r},\\
        &r=\max\big\{1-\gamma\mu(2-\gamma(A+WA')),\,1-p^2,\,B'+\tfrac BW\big\}
        \end{aligned}

    W is ``memory_weight``; B, A', B' and C' are ``memory_share``, ``memory_growth``, ``memory_rate`` and
    ``memory_floor``. The theorem has ``1 - gamma mu`` in r, and 1 in place of ``1 - r^T``. The proof is that of
    ``stochastic_potential`` with ``A + W A'`` and ``C + W C'``.

    Examples
    --------
    With A + W A' = 2 + 2 * 1, gamma = 1/4, p = 1/2, B' = 1/4 and B/W = 1/2, r = 3/4; after two steps the bound is
    ``(9/16) (11 + 16/4 + 2 * 8/16) + (32 + 2 * 16)/16 * 7/4``.

    >>> corrected_potential(
    ...     2, step_size=1 / 4, mu=1, probability=1 / 2, growth=2, noise_floor=32, memory_weight=2, memory_share=1,
    ...     memory_growth=1, memory_rate=1 / 4, memory_floor=16, initial_distance2=11, control_error2=16,
    ...     initial_memory_error=8,
    ... )
    16.0
    """
    start = {
        "models": initial_distance2,
        "control variates": (step_size / probability) ** 2 * control_error2,
        "memory": step_size**2 * memory_weight * initial_memory_error,
    }
    known = {"step_size": step_size, "mu": mu, "probability": probability, "start": start}
    growth, floor = growth + memory_weight * memory_growth, noise_floor + memory_weight * memory_floor
    settled = 1 - memory_rate - memory_share / memory_weight
    return _potential(num_steps, **known, growth=growth, floor=floor, settled=(settled,))
