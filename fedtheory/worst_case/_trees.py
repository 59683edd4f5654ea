"""Programs with every client for itself, whose rounds branch over the sets of clients that may be selected."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, combinations_with_replacement, pairwise, repeat
from operator import add
from typing import NamedTuple

from fedtheory.worst_case._exchangeable import Scene, local_steps, origin, start_of_round
from fedtheory.worst_case._function_classes import Point, impose_quadratic, interpolation
from fedtheory.worst_case._gram import Draft, Form, Value, Vector
from fedtheory.worst_case._settings import Setting

__all__ = ["Branch", "Ranking", "independent_draws", "largest_block", "ranked_subsets", "tree", "uniform_subsets"]


class Branch(NamedTuple):
    """An outcome of a selection: its probability, and how often each client's model is counted."""

    probability: Fraction
    counts: tuple[int, ...]

    def mean(self, models: Sequence[Vector]) -> Vector:
        """Average the selected models."""
        share = Fraction(1, sum(self.counts))
        total = origin()
        for count, model in zip(self.counts, models, strict=True):
            total = total + share * count * model if count else total
        return total


Ranking = tuple[int, ...]
"""Clients in the order of their losses, the largest first."""
Law = Callable[[Ranking], list[Branch]]
"""Selection law of a node, from the ranking of the losses there."""


def uniform_subsets(num_clients: int, num_selected: int) -> list[Branch]:
    """Return all subsets of a size, equally likely."""
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

    Of ranks ``s_1 < ... < s_m``, the other candidates are below the last: ``C(K - s_m, d - m) / C(K, d)``.
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
    """Return the number of rows of a tree's block, without building it, at most."""
    nodes = sum(int(num_branches**depth) for depth in range(num_rounds))
    ends = num_branches**num_rounds if objective == "gap" else 0  # at which gradients bound the losses
    return num_clients * (2 + nodes * num_steps + ends)


def tree(
    given: Setting,
    num_clients: int,
    num_rounds: int,
    law: Law,
    *,
    objective: str = "distance",
    functions: str = "all",
    minima: str = "equal",
    rankings: Sequence[Ranking] | None = None,
) -> Scene:
    """Maximize the expected error after some rounds; ``rankings`` has that of each node's losses, parents first."""
    draft = Draft()
    clients = _clients(draft, given, num_clients, minima)
    homes = [points[-1] for points in clients]
    start = start_of_round(draft, given)
    per_round = len(given.steps) // num_rounds
    orders = repeat(tuple(range(num_clients))) if rankings is None else iter(rankings)

    def play(w: Vector, first: int) -> Form:
        if first == len(given.steps):
            return w.square if objective == "distance" else _loss(draft, w, clients, homes)
        order = next(orders)
        branches = law(order)
        starts, models = _train(draft, w, given.steps[first : first + per_round], clients, branches)
        if rankings is not None:
            for larger, smaller in pairwise(order):
                draft.at_most(starts[smaller].value - starts[larger].value)
        return _sum(branch.probability * play(branch.mean(models), first + per_round) for branch in branches)

    error = play(start, 0)
    for points in clients:
        _impose(draft, points, given.mu, functions)
    return Scene(draft.maximize(error), tuple(map(tuple, clients)), start)


def _clients(draft: Draft, given: Setting, num_clients: int, minima: str) -> list[list[Point]]:
    """Return each client at its minimizer and at w*, where the gradients sum to zero."""
    gap, first = given["objective_gap"], draft.zero()
    levels = [first if minima == "equal" or k == 0 else Value() for k in range(num_clients)]
    if not gap:
        return [[Point(origin(), origin(), value)] for value in levels]
    gradients = [draft.vector() for _ in range(num_clients - 1)]
    gradients.append(_total(-1 * gradient for gradient in gradients))
    clients = [
        [Point(draft.vector(), origin(), value), Point(origin(), gradient, Value())]
        for value, gradient in zip(levels, gradients, strict=True)
    ]
    share = Fraction(1, num_clients)
    draft.at_most(_sum(share * (home.value - minimum.value) for minimum, home in clients), gap, "objective_gap")
    return clients


def _train(
    draft: Draft, w: Vector, steps: Sequence[Fraction], clients: Sequence[list[Point]], branches: Sequence[Branch]
) -> tuple[list[Point], list[Vector]]:
    """Let the clients that may be selected take local steps, and the others show their loss."""
    starts, models = [], []
    for k, points in enumerate(clients):
        busy = any(branch.counts[k] for branch in branches)
        path, y = local_steps(draft, w, steps if busy else steps[:1], (0,))
        points.extend(path)
        starts.append(path[0])
        models.append(y)
    return starts, models


def _loss(draft: Draft, w: Vector, clients: Sequence[list[Point]], homes: Sequence[Point]) -> Form:
    share, parts = Fraction(1, len(clients)), []
    for points, home in zip(clients, homes, strict=True):
        points.append(Point(w, draft.vector(), Value()))
        parts.append(share * (points[-1].value - home.value))
    return _sum(parts)


def _impose(draft: Draft, points: Sequence[Point], mu: Fraction, functions: str) -> None:
    if functions == "quadratic":
        impose_quadratic(draft, points[0], points[1:], mu, Fraction(1))
    else:
        draft.interpolate(interpolation(points, mu, Fraction(1)))


def _sum(forms: Iterable[Form]) -> Form:
    return reduce(add, forms)


def _total(vectors: Iterable[Vector]) -> Vector:
    return reduce(add, vectors)
