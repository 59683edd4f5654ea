r"""Federated averaging without bounded gradients: rounds of all clients, and sampled steps.

They are not in the paper; the proofs are on the theory page about worst cases.
"""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds import fedavg
from fedtheory.bounds.fedavg import paper
from fedtheory.bounds.scaffold.paper import drift_of_a_round
from fedtheory.theorem import EXACT_GRADIENTS, FEDTHEORY, LeftSide, states

_ASSUMES = (*paper.FUNCTIONS, EXACT_GRADIENTS, paper.SHORT_STEPS)


def _per_round(step_size, *, mu, L, local_steps):
    """Return the contraction of a distance by one step, and what a round adds per unit of the objective gap."""
    # The mean of |grad F_k(w*)|^2 is at most 2 L Gamma.
    drift = drift_of_a_round(step_size, mu=mu, L=L, local_steps=local_steps)
    return short_of_one(step_size, mu), 2 * L * drift


@states(
    FEDTHEORY,
    "a round, without Assumption 4",
    related=(paper.PAPER, "Theorem 1"),
    form="derived",
    left=LeftSide("squared distance", "|w_+ - w*|^2", after="round"),
    assumes=_ASSUMES,
    schemes=paper.FULL_PARTICIPATION,
    worst_case=lambda: fedavg._worst_cases.ONE_ROUND,
)
def one_round(distance2, *, step_size, mu, L, local_steps, objective_gap):
    r"""Bound on ``|w_+ - w*|^2`` after a round of all clients from ``Delta = |w - w*|^2``, without bounded gradients.

    .. math::
        c^{2\tau}\Delta+\frac{2\eta^2L\Gamma}\beta\Big(\sum_{s<\tau}d_s^2-\frac{(\sum_{s<\tau}d_s)^2}{\beta+\tau}\Big),
        \quad c=1-\eta\mu,\ \beta=\frac{2c}{\eta(L-\mu)}-1,\ d_s=\sum_{r<s}c^{\tau-1-r}

    It holds for any number of clients with any weights. Here tau is ``local_steps``. At the step size 1/L the value is
    infinite if mu = L.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4 and tau = 2: c = 3/4, beta = 2 and d = (0, 3/4). From Delta = 256 with Gamma = 7 the
    bound is ``(81/256) 256 + 2 (1/16) (3 * 7/2) (9/16 - (9/16)/4) = 81 + 567/1024``.

    >>> one_round(256, step_size=1 / 4, mu=1, L=3, local_steps=2, objective_gap=7)
    81.5537109375
    """
    rest, drift = _per_round(step_size, mu=mu, L=L, local_steps=local_steps)
    left, _ = geometric(step_size * mu, 2 * local_steps, rest)
    return {"contraction": left * distance2, "drift": drift * objective_gap}


@states(
    FEDTHEORY,
    "rounds with a fixed step size, without Assumption 4",
    related=(paper.PAPER, "Theorem 1"),
    form="derived",
    left=LeftSide("squared distance", "|w_T - w*|^2"),
    assumes=_ASSUMES,
    schemes=paper.FULL_PARTICIPATION,
    worst_case=lambda: fedavg._worst_cases.FIXED_ROUNDS,
)
def fixed_step_distance(num_rounds, *, step_size, mu, L, local_steps, objective_gap, initial_distance2):
    r"""Bound on ``|w_T - w*|^2`` after R rounds of all clients with a fixed step size, without bounded gradients.

    .. math::
        c^{2\tau R}\Delta_0+\frac{1-c^{2\tau R}}{1-c^{2\tau}}\,b\,\Gamma

    It is ``one_round`` applied R times, and b is the coefficient of Gamma there.

    Examples
    --------
    The round of ``one_round`` applied twice from 65536: ``(81/256)^2 65536 + (1 + 81/256) 567/1024``.

    >>> fixed_step_distance(2, step_size=1 / 4, mu=1, L=3, local_steps=2, objective_gap=7, initial_distance2=65536)
    6561.728908538818
    """
    rest, drift = _per_round(step_size, mu=mu, L=L, local_steps=local_steps)
    left, settled = geometric(step_size * mu, 2 * local_steps * num_rounds, rest)
    _, lost = geometric(step_size * mu, 2 * local_steps, rest)
    return {"vanishing": left * initial_distance2, "drift": settled / lost * drift * objective_gap}


@states(
    FEDTHEORY,
    "one local step, without Assumption 4",
    related=(paper.PAPER, "Theorem 3"),
    form="derived",
    left=LeftSide("squared distance", "E |w_+ - w*|^2", after="step", over=("selection",)),
    assumes=(*_ASSUMES, paper.SUBSET, paper.BALANCED, paper.SEVERAL_CLIENTS),
    schemes=paper.SUBSETS,
    worst_case=lambda: fedavg._worst_cases.SAMPLED_STEP,
)
def sampled_step(distance2, *, step_size, mu, L, num_clients, num_selected, objective_gap):
    r"""Bound on ``E |w_+ - w*|^2`` after a local step of m of N equally weighted clients, without bounded gradients.

    .. math::
        c^2\Delta+\frac{2\alpha\eta^2L\Gamma}{1-\alpha\eta(L-\mu)/(2c)},\quad c=1-\eta\mu,\
        \alpha=\frac{N-m}{m(N-1)}

    The coefficient of Gamma is the smallest one with the coefficient ``c^2`` of Delta: the bound is attained in the
    limit of small Gamma/Delta. Draws with replacement in proportion to any weights are the limit of many clients, alpha
    = 1/m. Here m is ``num_selected``. At the step size 1/L the value is infinite if mu = L.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4, N = 5 and m = 2: c = 3/4, alpha = 3/8, and 1 - (3/16)/(3/2) = 7/8. With Delta = 16
    and Gamma = 7 the bound is ``9 + (2 (3/8) (3/16) 7)/(7/8)``.

    >>> sampled_step(16, step_size=1 / 4, mu=1, L=3, num_clients=5, num_selected=2, objective_gap=7)
    10.125
    """
    rest, away = short_of_one(step_size, mu), short_of_one(step_size, L)
    kept = num_clients * (num_selected - 1) * (step_size * (L - mu))
    sampled = 4 * (num_clients - num_selected) * rest / (num_selected * (num_clients - 1) * (rest + away) + kept)
    return {"contraction": rest**2 * distance2, "sampling": step_size**2 * sampled * L * objective_gap}


@states(
    FEDTHEORY,
    "the loss after one local step, without Assumption 4",
    related=(paper.PAPER, "Theorem 1"),
    form="derived",
    left=LeftSide("gap", "F(w_+) - F*", after="step"),
    assumes=_ASSUMES,
    schemes=paper.FULL_PARTICIPATION,
    worst_case=lambda: fedavg._worst_cases.GAP_AFTER_STEP,
)
def gap_after_step(distance2, *, step_size, mu, L):
    r"""Bound on ``F(w_+) - F*`` after one local step of all clients from ``Delta = |w - w*|^2``; some F attains it.

    .. math::
        \frac L2\cdot\frac{c^2}{c^2+\eta L(1+c)}\Delta,\quad c=1-\eta\mu

    Examples
    --------
    With mu = 1, L = 2, eta = 1/2 and Delta = 28: c = 1/2, and ``(1/4)/(1/4 + 3/2) 28``.

    >>> gap_after_step(28, step_size=1 / 2, mu=1, L=2)
    4.0
    """
    rest = short_of_one(step_size, mu)
    return {"left": L * rest**2 * distance2 / (2 * (rest**2 + step_size * L * (1 + rest)))}
