"""Programs in which the m clients with the largest losses are selected, all clients being candidates.

Clients cannot be told apart within the selected ones, nor within the others: one representative of each class is
enough, with a block for means and one block for the deviations of each class. A class of one has no deviations.
"""

from collections.abc import Sequence
from fractions import Fraction

from fedtheory.worst_case._exchangeable import MEAN, Scene, local_steps, origin, start_of_round
from fedtheory.worst_case._function_classes import Point, interpolation
from fedtheory.worst_case._gram import Draft, Value, Vector
from fedtheory.worst_case._settings import Setting

__all__ = ["top_clients"]


def top_clients(given: Setting, num_clients: int, num_selected: int, *, ranked: bool) -> Scene:
    """Maximize the squared distance after a round of the clients with the largest losses."""
    draft = Draft()
    share = Fraction(num_selected, num_clients)
    top, rest = (_blocks(draft, size) for size in (num_selected, num_clients - num_selected))
    selected, others = _classes(draft, given, share, top, rest)
    w = start_of_round(draft, given)
    path, y = local_steps(draft, w, given.steps, top)
    selected += path
    if ranked:
        others.append(Point(w, draft.vector(*rest), Value()))
        draft.at_most(others[-1].value - path[0].value)
    for points in (selected, others):
        draft.interpolate(interpolation(points, given.mu, Fraction(1)))
    return Scene(draft.maximize(y.within((MEAN,)).square), (tuple(selected), tuple(others)), w)


def _blocks(draft: Draft, size: int) -> Sequence[int]:
    """Return where the vectors of a class have their means and, of more than one client, their deviations."""
    return [MEAN, draft.block()] if size > 1 else [MEAN]


def _classes(
    draft: Draft, given: Setting, share: Fraction, top: Sequence[int], rest: Sequence[int]
) -> tuple[list[Point], list[Point]]:
    """Return a client of each class at its minimizer and at w*; minima are equal, as they may be without a ranking."""
    gap, level = given["objective_gap"], draft.zero()
    if not gap:
        return [Point(origin(), origin(), level)], [Point(origin(), origin(), level)]
    shared = draft.vector(MEAN)
    gradients = (
        shared + _deviation(draft, top),
        -share / (1 - share) * shared + _deviation(draft, rest),
    )
    classes = [
        [Point(draft.vector(*blocks), origin(), level), Point(origin(), gradient, Value())]
        for blocks, gradient in zip((top, rest), gradients, strict=True)
    ]
    shares = (share, 1 - share)
    excess = [s * (home.value - minimum.value) for s, (minimum, home) in zip(shares, classes, strict=True)]
    draft.at_most(excess[0] + excess[1], gap, "objective_gap")
    return classes[0], classes[1]


def _deviation(draft: Draft, blocks: Sequence[int]) -> Vector:
    return draft.vector(*blocks[1:]) if len(blocks) > 1 else origin()
