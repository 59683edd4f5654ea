"""Exact worst cases of Power-of-Choice."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any, Literal, NamedTuple

from fedtheory._support import validate
from fedtheory.worst_case._trees import Ranking, largest_block, ranked_subsets, tree
from fedtheory.worst_case.arguments import DISTANCE, Constants, check_block, constants
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["power_of_choice"]

# Largest number of programs for one worst case.
_MOST_PROGRAMS = 1000


class _Choice(NamedTuple):
    num_clients: int
    num_candidates: int
    num_selected: int

    @property
    def num_branches(self) -> int:
        return math.comb(self.num_clients - self.num_candidates + self.num_selected, self.num_selected)


@validate.names
def power_of_choice(
    num_clients: int,
    num_candidates: int,
    num_selected: int,
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    minima: Literal["equal", "free"] = "equal",
    num_rounds: int = 1,
) -> WorstCase:
    r"""Exact worst case of pow-d over all federations of equally weighted clients with these constants.

    The largest ``E |w_T - w*|^2`` over all L-smooth, mu-strongly convex clients with ``|w_0 - w*|^2 <= distance2`` and
    ``F* - mean F_k* <= objective_gap``, where each round the ``num_selected`` clients with the largest losses among
    ``num_candidates``, drawn uniformly without replacement, are averaged. Several rounds take one program for each
    order of the losses at each later node; the worst case is the largest value, and the lemma, with the largest
    multipliers over all orders, may be looser. Raises OracleError if no proof was found.

    Parameters
    ----------
    num_clients, num_candidates, num_selected
        K, d and m, ``m <= d <= K``. One round with ``d = K`` has three small blocks for any K and m.
    local_steps, step_size, mu, L, distance2, objective_gap, num_rounds
        As in ``fedavg``.
    minima
        ``equal``: all clients have the same minimum loss. ``free``: minimum losses may differ. Then pow-d is as bad in
        a single round as any fixed biased law.

    Examples
    --------
    With two clients, selecting the larger loss is worse if their minimum losses may differ:

    >>> from fractions import Fraction as Q
    >>> constants = dict(mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2))
    >>> [round(power_of_choice(2, 2, 1, 1, Q(1, 4), **constants, minima=m).value, 5) for m in ("equal", "free")]
    [1.16156, 1.30354]
    """
    steps = validate.count("local_steps", local_steps) * validate.count("num_rounds", num_rounds)
    given = constants(steps, step_size, mu=mu, L=L, distance2=distance2, objective_gap=objective_gap)
    clients = validate.count("num_clients", num_clients, low=2)
    candidates = validate.count("num_candidates", num_candidates, high=clients)
    choice = _Choice(clients, candidates, validate.count("num_selected", num_selected, high=candidates))
    validate.choice("minima", minima, ("equal", "free"))
    ranked = minima == "equal" or num_rounds > 1
    halves = candidates == clients and num_rounds == 1 and choice.num_selected < clients
    size = largest_block(clients, local_steps, num_rounds, choice.num_branches)
    check_block(steps + 5 if halves else size)
    cases = []
    for rankings in _orders(choice, num_rounds):
        if halves:
            p = _top_clients(given, clients, choice.num_selected, ranked=ranked)
        else:
            orders = rankings if ranked else None
            law = partial(ranked_subsets, *choice)
            p = tree(given, clients, num_rounds, law, minima=minima if ranked else "equal", rankings=orders)
        cases.append(p.case())
    return worst_of(cases, DISTANCE)


def _orders(choice: _Choice, num_rounds: int) -> Iterator[tuple[Ranking, ...]]:
    """Return all orders of the losses at the nodes of a tree; the order at the first node names the clients."""
    first = tuple(range(choice.num_clients))
    later = sum(choice.num_branches**depth for depth in range(1, num_rounds))
    if math.factorial(choice.num_clients) ** later > _MOST_PROGRAMS:
        message = f"the orders of the losses must be at most {_MOST_PROGRAMS}, got {choice.num_clients}!^{later}"
        raise ValueError(message)
    return ((first, *orders) for orders in product(permutations(first), repeat=later))


def _top_clients(given: Constants, num_clients: int, num_selected: int, *, ranked: bool) -> Problem:
    """Maximize the squared distance after a round of the clients with the largest losses among all clients."""
    p, share = Problem(), Fraction(num_selected, num_clients)
    top = p.clients(num_selected, given.mu, given.L, minimum=0)
    rest = p.clients(num_clients - num_selected, given.mu, given.L, minimum=0)
    w_star = (share * top + (1 - share) * rest).minimizer(p.origin, objective_gap=given.objective_gap)
    y = w = p.point("start")
    p.at_most((w - w_star).square, given.distance2, "distance2")
    for eta in given.steps:
        y = top.step(y, eta)
    if ranked:
        p.at_most(rest.value(w) - top.value(w), 0)
    p.maximize((top.mean(y) - w_star).square)
    return p
