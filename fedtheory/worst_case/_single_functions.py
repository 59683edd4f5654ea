"""Programs about one function and one step: what lemmas say that know no federation."""

from fractions import Fraction

from fedtheory.worst_case._exchangeable import Scene, local_steps, origin
from fedtheory.worst_case._function_classes import Point, interpolation
from fedtheory.worst_case._gram import Draft, Form, Value
from fedtheory.worst_case._settings import Setting

__all__ = ["largest_gradient", "largest_loss_removed"]


def _start(given: Setting, num_steps: int) -> tuple[Draft, list[Point]]:
    draft = Draft()
    minimum, w = Point(origin(), origin(), draft.zero()), draft.vector()
    path, end = local_steps(draft, w, given.steps[:num_steps], (0,))
    path.append(Point(end, draft.vector(), Value()))
    draft.at_most(path[0].value, given["excess"], "excess")
    points = [minimum, *path]
    draft.interpolate(interpolation(points, given.mu, Fraction(1)))
    return draft, points


def largest_gradient(given: Setting) -> Scene:
    """Maximize the squared gradient at a model whose loss is at most ``excess`` above the least."""
    draft, points = _start(given, 0)
    return Scene(draft.maximize(points[1].gradient.square), (tuple(points),), points[1].at)


def largest_loss_removed(given: Setting) -> Scene:
    """Maximize by how much a step of gradient descent lowers the loss."""
    draft, points = _start(given, 1)
    return Scene(draft.maximize(Form.of(points[1].value) - points[2].value), (tuple(points),), points[1].at)
