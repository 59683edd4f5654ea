"""Programs of a FedALIGN round: two priority clients, whose mean is the objective, and one other client.

Whether the other client is included compares its loss with the objective, so that each outcome of the comparison is a
program of its own: the loss lies within the threshold, above it, or below it.
"""

from fractions import Fraction
from typing import NamedTuple

from fedtheory.worst_case._exchangeable import MEAN, Scene, local_steps, origin, start_of_round
from fedtheory.worst_case._function_classes import Point, interpolation
from fedtheory.worst_case._gram import Draft, Form, Value, Vector
from fedtheory.worst_case._settings import Setting

__all__ = ["CELLS", "aligned_round"]

CELLS = ("included", "above", "below")
_HALF = Fraction(1, 2)


class _Cast(NamedTuple):
    """Each client's points, its minimizer first and w* second (the same point without a gap)."""

    priority: tuple[list[Point], list[Point]]
    other: list[Point]

    def loss(self, number: int) -> Form:
        """Return the objective at the points of some number."""
        return _HALF * self.priority[0][number].value + _HALF * self.priority[1][number].value


def aligned_round(given: Setting, cell: str, share: Fraction, objective: str, *, ruled: bool) -> Scene:
    """Maximize the error after a round; the other client's share is that of its data among the priority clients'."""
    draft = Draft()
    cast = _cast(draft, given)
    w = start_of_round(draft, given)
    models = []
    for points in (*cast.priority, cast.other):
        path, y = local_steps(draft, w, given.steps, (MEAN,))
        points.extend(path)
        models.append(y)
    if ruled:
        _obey(draft, cast, -len(given.steps), cell, given["threshold"])
    weight = share if cell == "included" else Fraction(0)
    after = (1 / (1 + weight)) * (_HALF * models[0] + _HALF * models[1] + weight * models[2])
    error = after.square if objective == "distance" else _gap(draft, cast, after)
    for points in (*cast.priority, cast.other):
        draft.interpolate(interpolation(points, given.mu, Fraction(1)))
    return Scene(draft.maximize(error), tuple(map(tuple, (*cast.priority, cast.other))), w)


def _cast(draft: Draft, given: Setting) -> _Cast:
    gradient = draft.vector() if given["objective_gap"] else origin()
    level = draft.zero()
    priority = [_client(draft, level, g, given["objective_gap"]) for g in (gradient, -1 * gradient)]
    other = _client(draft, level, draft.vector() if given["client_gap"] else origin(), given["client_gap"])
    excess = [points[-1].value - points[0].value for points in priority]
    if given["objective_gap"]:
        draft.at_most(_HALF * excess[0] + _HALF * excess[1], given["objective_gap"], "objective_gap")
    if given["client_gap"]:
        draft.at_most(other[1].value - other[0].value, given["client_gap"], "client_gap")
    return _Cast((priority[0], priority[1]), other)


def _client(draft: Draft, level: Value, gradient: Vector, gap: Fraction) -> list[Point]:
    """Return a client at its minimizer, where all clients' losses are the same, and at w*."""
    if not gap:
        return [Point(origin(), origin(), level)]
    return [Point(draft.vector(), origin(), level), Point(origin(), gradient, Value())]


def _obey(draft: Draft, cast: _Cast, start: int, cell: str, threshold: Fraction) -> None:
    above = cast.other[start].value - cast.loss(start)
    if cell == "included":
        draft.at_most(above, threshold, "threshold")
        draft.at_most(-1 * above, threshold, "threshold")
    else:
        draft.at_most(-1 * above if cell == "above" else above, threshold, "threshold", -1)


def _gap(draft: Draft, cast: _Cast, w: Vector) -> Form:
    homes = [points[1] if len(points) > 1 and not points[1].at.coordinates else points[0] for points in cast.priority]
    ends = [Point(w, draft.vector(), Value()) for _ in homes]
    for points, end in zip(cast.priority, ends, strict=True):
        points.append(end)
    return _HALF * (ends[0].value - homes[0].value) + _HALF * (ends[1].value - homes[1].value)
