r"""FedLin (Mitra, Jaafar, Pappas, Hassani 2021): gradients corrected by those at the server's model."""

from collections.abc import Mapping
from typing import Any

from fedtheory import worst_case
from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.scaffold.paper import FUNCTIONS, STABLE
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis
from fedtheory.theorem.bound import Bound, states
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.paper import FEDTHEORY, Paper
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__ = ["PAPER", "corrected_round"]

PAPER = Paper(
    key="fedlin",
    title="Linear Convergence in Federated Learning: Tackling Client Heterogeneity and Sparse Gradients",
    authors="Mitra, Jaafar, Pappas, Hassani",
    year=2021,
    url="https://arxiv.org/abs/2102.07053",
    basis="remembered",
)
_METHOD = Hypothesis("clients and server run FedLin")
_ASSUMES = (*FUNCTIONS, EXACT_GRADIENTS, _METHOD)
_LEFT = LeftSide("squared distance", "|w_+ - w*|^2", after="round")
_STABLE = Hypothesis("eta (L + mu) < 2", STABLE.sides)


def _lags(step_size, local_steps, L, mu):
    curvature, left = step_size * (L - mu), 2 - step_size * (L + mu)
    pairs = (local_steps - 1) * local_steps * (2 * local_steps - 1)
    return curvature * curvature * pairs, "<=", 6 * left * left * (1 - 2 * (local_steps - 2) * step_size * mu)


_FRESH = Hypothesis(
    "(eta (L - mu))^2 (tau - 1) tau (2 tau - 1) <= 6 (2 - eta (L + mu))^2 (1 - 2 (tau - 2) eta mu)", _lags
)


def problem(*, mu: Any, L: Any, step_size: Any, local_steps: int) -> tuple[Any, Any, Any]:
    """Return the worst-case problem of a round, and the model less the minimizer before and after it.

    >>> p, before, after = problem(mu=1, L=2, step_size=1, local_steps=1)
    >>> p.at_most(before.square, 4)
    >>> p.maximize(after.square)  # the larger of 0 and (1 - 2)^2, times 4
    >>> 3.999 <= p.solve().upper <= 4.001
    True
    """
    p = worst_case.Problem()
    clients = p.clients(2, mu, L)
    # Linear functions added to the F_k do not change the method, so that the clients may share a minimizer.
    best, w = clients.minimizer(objective_gap=0), p.point("w")
    start, y = clients.gradient(w), w
    for _ in range(local_steps):
        y = y - step_size * (clients.gradient(y) - start + clients.mean(start))
    return p, w - best, clients.mean(y) - best


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    distance2 = given["distance2"]
    p, before, after = problem(**{name: value for name, value in given.items() if name != "distance2"})
    p.at_most(before.square, distance2, "distance2")
    p.maximize(after.square)
    return p.solve()


@states(
    FEDTHEORY,
    "a round of FedLin",
    related=(PAPER, "Theorem 1"),
    form="derived",
    left=_LEFT,
    assumes=(*_ASSUMES, _STABLE, _FRESH),
    schemes=FULL_PARTICIPATION,
    worst_case=WorstCaseProblem(
        _solve,
        {
            "local_steps": lambda c: c.whole(1, 3),
            "step_size": lambda c: c.share() / (max(c["local_steps"] - 1, 1) * c["L"]),
        },
        num_draws=20,
    ),
)
def corrected_round(distance2, *, mu, L, step_size, local_steps):
    r"""Bound on ``|w_+ - w*|^2`` after a round, that of tau steps of gradient descent.

    .. math::
        c^{2\tau}\Delta,\quad c=1-\eta\mu

    The last hypothesis holds for two local steps if ``eta <= 1/L``, and for up to 400 of them if ``eta tau <= 1/(6
    L)``. All ``F_k = mu/2 |w|^2`` attain the bound. The theorem, as remembered, has ``1 - tau eta mu`` for such steps.

    Notes
    -----
    FedLin's error of the control variates is the deviation of the first gradients. With this error the proof of
    ``scaffold.option_one_round`` leaves ``sum_s d_s^2/(beta^2 c^(2 tau - 2)) - 1`` times a square, where ``d_s <= s
    c^(tau - s)`` and ``c^(2 tau - 4) >= 1 - 2 (tau - 2) eta mu``.

    Examples
    --------
    With mu = 1, eta = 1/2 and tau = 2: ``(1/2)^4 16``.

    >>> corrected_round(16, mu=1, L=2, step_size=1 / 2, local_steps=2)
    1.0
    """
    left, _ = geometric(step_size * mu, 2 * local_steps, short_of_one(step_size, mu))
    return {"left": left * distance2}
