r"""FedSplit (Pathak, Wainwright 2020): clients reflect through their proximal operators, and the server averages."""

from collections.abc import Mapping
from typing import Any

from fedtheory import worst_case
from fedtheory.arithmetic.functions import maximum, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.bounds.scaffold.paper import FUNCTIONS
from fedtheory.theorem.assumptions import Hypothesis
from fedtheory.theorem.bound import Bound, states
from fedtheory.theorem.domains import NONNEGATIVE
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.paper import FEDTHEORY, Paper
from fedtheory.theorem.symbols import Symbol
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__ = ["PAPER", "split_round"]

PAPER = Paper(
    key="fedsplit",
    title="FedSplit: an algorithmic framework for fast federated optimization",
    authors="Pathak, Wainwright",
    year=2020,
    url="https://arxiv.org/abs/2005.05238",
    basis="remembered",
    symbols=(
        Symbol(
            "distance2",
            "Mean squared distance of the clients' variables z_k from their limits",
            NONNEGATIVE,
            "distance^2",
            r"\Delta",
        ),
    ),
)
_METHOD = Hypothesis("clients and server run FedSplit with exact proximal steps")
_LEFT = LeftSide("potential", "sum_k p_k |z_k - z_k*|^2", model="clients", after="round")


def problem(*, mu: Any, L: Any, step_size: Any, distance2: Any) -> Any:
    """Return the worst-case problem of a round.

    >>> worst = problem(mu=1, L=2, step_size=1, distance2=9).solve()  # (1/3)^2 9
    >>> 0.999 <= worst.upper <= 1.001
    True
    """
    p = worst_case.Problem()
    clients = p.clients(2, mu, L)
    # Linear functions that are added to the F_k move their z_k* only: the clients may share a minimizer.
    best, z = clients.minimizer(objective_gap=0), p.point("w") + clients.deviation(name="z")
    p.at_most((z - best).square, distance2, "distance2")
    w = clients.mean(z)
    p.maximize((z + 2 * (clients.proximal(2 * w - z, step_size) - w) - best).square)
    return p


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    return problem(**given).solve()


@states(
    FEDTHEORY,
    "a round of FedSplit, for every step size",
    related=(PAPER, "Theorem 1"),
    form="derived",
    left=_LEFT,
    assumes=(*FUNCTIONS, _METHOD),
    schemes=FULL_PARTICIPATION,
    worst_case=WorstCaseProblem(_solve, {"step_size": lambda c: 3 * c.share() / c["L"]}, num_draws=20),
)
def split_round(distance2, *, mu, L, step_size):
    r"""Bound on ``sum_k p_k |z_k - z_k*|^2`` after a round of ``z_k <- z_k + 2 (prox_k(2 w - z_k) - w)``, w their mean.

    .. math::
        \max\Big\{\frac{1-s\mu}{1+s\mu},\frac{sL-1}{1+sL}\Big\}^2\Delta

    The step size s is that of the proximal operators. The theorem has the best one, ``1/(mu L)^(1/2)``, for which the
    factor is ``(1 - 2/(kappa^(1/2) + 1))^2``. If all F_k are ``mu/2 |w|^2``, or all are ``L/2 |w|^2``, they attain the
    bound in every round.

    Notes
    -----
    The reflection ``2 prox_k - I`` contracts distances by the maximum, since ``s grad F_k`` lies between s mu and s L.
    The map from the z_k to ``2 w - z_k`` preserves mean squared distances.

    Examples
    --------
    With mu = 1, L = 7 and s = 1 the second number is ``6/8``.

    >>> split_round(16, mu=1, L=7, step_size=1)
    9.0
    """
    slow = short_of_one(step_size, mu) / (1 + step_size * mu)
    fast = -short_of_one(step_size, L) / (1 + step_size * L)
    return {"left": maximum(slow, fast) ** 2 * distance2}
