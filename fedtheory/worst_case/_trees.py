"""Problems with individual clients, whose rounds branch over the sets of clients that may be selected."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, combinations_with_replacement, pairwise, repeat
from operator import add
from typing import NamedTuple

from fedtheory.worst_case._vectors import Form, Vector
from fedtheory.worst_case.arguments import Constants
from fedtheory.worst_case.problem import Problem


class Branch(NamedTuple):
    """An outcome of a selection: its probability, and the multiplicity of each client's model."""

    probability: Fraction
    counts: tuple[int, ...]

    def mean(self, models: Sequence[Vector]) -> Vector:
        share = Fraction(1, sum(self.counts))
        return reduce(add, (share * c * y for c, y in zip(self.counts, models, strict=True) if c))


Ranking = tuple[int, ...]
"""Clients in the order of their losses, the largest first."""
Law = Callable[[Ranking], list[Branch]]
"""Function from the ranking of the losses at a node to the selection law."""


def uniform_subsets(num_clients: int, num_selected: int) -> list[Branch]:
    """Return all subsets of a size with equal probabilities."""
    share = Fraction(1, math.comb(num_clients, num_selected))
    return [
        Branch(share, tuple(int(k in subset) for k in range(num_clients)))
        for subset in combinations(range(num_clients), num_selected)
    ]


def independent_draws(num_clients: int, num_selected: int) -> list[Branch]:
    """Return all outcomes of independent draws of one client each, uniformly."""
    found = []
    for drawn in combinations_with_replacement(range(num_clients), num_selected):
        counts = tuple(drawn.count(k) for k in range(num_clients))
        ways = math.factorial(num_selected) // math.prod(map(math.factorial, counts))
        found.append(Branch(Fraction(ways, num_clients**num_selected), counts))
    return found


def ranked_subsets(num_clients: int, num_candidates: int, num_selected: int, ranking: Ranking) -> list[Branch]:
    """Return the law of the largest losses among candidates drawn uniformly without replacement.

    The ranks ``s_1 < ... < s_m`` have the probability ``C(K - s_m, d - m) / C(K, d)``, since the other candidates rank
    below the last of them.
    """
    found = []
    for ranks in combinations(range(num_clients), num_selected):
        below = math.comb(num_clients - 1 - ranks[-1], num_candidates - num_selected)
        if below:
            chosen = {ranking[rank] for rank in ranks}
            counts = tuple(int(k in chosen) for k in range(num_clients))
            found.append(Branch(Fraction(below, math.comb(num_clients, num_candidates)), counts))
    return found


def largest_block(
    num_clients: int, num_steps: int, num_rounds: int, num_branches: int, objective: str = "distance"
) -> int:
    """Return an upper bound of the number of rows of a tree's block, without building it."""
    nodes = sum(int(num_branches**depth) for depth in range(num_rounds))
    ends = num_branches**num_rounds if objective == "gap" else 0  # models whose gradients bound the losses
    return num_clients * (2 + nodes * num_steps + ends)


def tree(
    given: Constants,
    num_clients: int,
    num_rounds: int,
    law: Law,
    *,
    objective: str = "distance",
    minima: str = "equal",
    rankings: Sequence[Ranking] | None = None,
) -> Problem:
    """Maximize the expected error after some rounds; ``rankings`` orders the losses at each node, parents first."""
    p, per_round = Problem(), len(given.steps) // num_rounds
    levels = [0 if minima == "equal" or k == 0 else None for k in range(num_clients)]
    clients = [p.function(given.mu, given.L, minimum=level) for level in levels]
    F = p.mean(clients)
    w_star, start = F.minimizer(p.origin, objective_gap=given.objective_gap), p.point("start")
    p.at_most((start - w_star).square, given.distance2, "distance2")
    orders = repeat(tuple(range(num_clients))) if rankings is None else iter(rankings)

    def expected(w: Vector, steps: Sequence[Fraction]) -> Form:
        if not steps:
            return (w - w_star).square if objective == "distance" else F.value(w) - F.value(w_star)
        order = next(orders)
        branches = law(order)
        if rankings is not None:
            for larger, smaller in pairwise(order):
                p.at_most(clients[smaller].value(w) - clients[larger].value(w), 0)
        models = [w] * num_clients
        for k in range(num_clients):
            if any(branch.counts[k] for branch in branches):
                for eta in steps[:per_round]:
                    models[k] = clients[k].step(models[k], eta)
        errors = [expected(branch.mean(models), steps[per_round:]) for branch in branches]
        return p.mean(errors, [branch.probability for branch in branches])

    p.maximize(expected(start, given.steps))
    return p
