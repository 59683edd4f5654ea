"""Programs whose clients cannot be told apart: one representative stands for any number of them.

Averaging a solution over all orders of the clients changes neither constraints nor objective, so that inner products
may be taken to depend only on whether two clients are the same. Then a client's vector is a mean (block 0) and a
deviation (block 1), an average over clients of products is the sum over both blocks, and the squared length of an
average over m selected clients is that of the mean plus alpha times that of the deviation. Noise of the s-th local
step, and all that follows from it, lives in block ``2 + s``.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from fedtheory.worst_case._function_classes import Point, impose_quadratic, interpolation, interpolation_of_copies
from fedtheory.worst_case._gram import Draft, Program, Value, Vector
from fedtheory.worst_case._settings import Setting

__all__ = [
    "FIRST_NOISE",
    "MEAN",
    "Scene",
    "accelerated_round",
    "averaged_rounds",
    "drifting_round",
    "fixed_round",
    "local_steps",
    "origin",
    "start_of_round",
]

MEAN, _DEVIATION, FIRST_NOISE = 0, 1, 2


class Scene(NamedTuple):
    """A program and who plays in it.

    Attributes
    ----------
    program
        The program.
    points
        Of each client, or of the representative, all points where its function is known.
    start
        The first model.
    """

    program: Program
    points: tuple[tuple[Point, ...], ...]
    start: Vector


def origin() -> Vector:
    """Return the zero vector, which is where w* lies."""
    return Vector({})


def start_of_round(draft: Draft, given: Setting) -> Vector:
    """Return a model at squared distance at most distance2 from w*."""
    w = draft.vector(MEAN)
    draft.at_most(w.square, given["distance2"], "distance2")
    return w


def representative(draft: Draft, given: Setting) -> list[Point]:
    """Return a client at its minimizer and at w*, where clients' gradients have mean zero."""
    gap = given["objective_gap"]
    home = Point(origin(), draft.vector(_DEVIATION) if gap else origin(), draft.zero())
    if not gap:
        return [home]
    minimum = Point(draft.vector(MEAN, _DEVIATION), origin(), Value())
    draft.at_most(home.value - minimum.value, gap, "objective_gap")
    return [minimum, home]


def local_steps(
    draft: Draft, w: Vector, steps: Sequence[Fraction], blocks: Sequence[int], noise: Fraction = Fraction(0)
) -> tuple[list[Point], Vector]:
    """Take local steps from w: the points where a client computes gradients, and the model at the end."""
    points = []
    for eta in steps:
        points.append(Point(w, draft.vector(*blocks), Value()))
        w = w - eta * points[-1].gradient
        if noise:
            block = draft.block()
            disturbance = draft.vector(block)
            draft.at_most(disturbance.square, noise, "gradient_noise")
            w, blocks = w - eta * disturbance, (*blocks, block)
    return points, w


def averaged_rounds(
    given: Setting,
    num_rounds: int,
    objective: str,
    functions: str,
    sampling: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0)),
) -> Scene:
    """Maximize the error after rounds in which the server averages all clients, or, in one round, some of them.

    ``sampling`` holds the factors of deviations and of noise in the squared length of an average.
    """
    draft = Draft(num_blocks=2)
    points = representative(draft, given)
    home = points[-1]
    start = w = start_of_round(draft, given)
    noise, per_round = given["gradient_noise"], len(given.steps) // num_rounds
    for first in range(0, len(given.steps), per_round):
        path, y = local_steps(draft, w, given.steps[first : first + per_round], (MEAN, _DEVIATION), noise)
        points += path
        w = y.within((MEAN,))
    if objective == "gap":
        points.append(Point(w, draft.vector(MEAN, _DEVIATION), Value()))
    _impose(draft, points, path if noise else (), given.mu, functions)
    error = points[-1].value - home.value if objective == "gap" else w.square
    if objective == "distance":
        apart, noisy = y.within((_DEVIATION,)), y.within(range(FIRST_NOISE, draft.num_blocks))
        for part, factor in zip((apart, noisy), sampling, strict=True):
            error = error + factor * part.square if factor and part.coordinates else error
    return Scene(draft.maximize(error), (tuple(points),), start)


def _impose(draft: Draft, points: Sequence[Point], noisy: Sequence[Point], mu: Fraction, functions: str) -> None:
    if functions == "quadratic":
        impose_quadratic(draft, points[0], points[1:], mu, Fraction(1))
        return
    draft.interpolate(interpolation(points, mu, Fraction(1)))
    draft.interpolate(interpolation_of_copies(noisy, FIRST_NOISE, mu, Fraction(1)))


def accelerated_round(given: Setting, server_step_size: Fraction, descent: Fraction) -> Scene:
    """Maximize the squared distance after a round of all clients with a step size of the server.

    ``descent`` times ``F(w) - F*``, w the model before the round, is added.
    """
    draft = Draft(num_blocks=2)
    points = representative(draft, given)
    home, w = points[-1], start_of_round(draft, given)
    path, y = local_steps(draft, w, given.steps, (MEAN, _DEVIATION))
    points += path
    draft.interpolate(interpolation(points, given.mu, Fraction(1)))
    after = w + server_step_size * (y.within((MEAN,)) - w)
    error = after.square + descent * (path[0].value - home.value)
    return Scene(draft.maximize(error), (tuple(points),), w)


def drifting_round(given: Setting) -> Scene:
    """Maximize the mean squared distance of the clients' models from their mean, just before the last step.

    Gradients at the round's start are bounded by G2; where the model and w* lie does not matter.
    """
    draft = Draft(num_blocks=2)
    path, y = local_steps(draft, origin(), given.steps[:-1], (MEAN, _DEVIATION))
    draft.at_most(path[0].gradient.square, given["G2"], "G2")
    draft.interpolate(interpolation(path, given.mu, Fraction(1)))
    return Scene(draft.maximize(y.within((_DEVIATION,)).square), (tuple(path),), origin())


def fixed_round(given: Setting, objective: str) -> Scene:
    """Maximize the error of a model that a round of all clients does not change: mean gradients sum to zero."""
    draft = Draft(num_blocks=2)
    points = representative(draft, given)
    home, w = points[-1], draft.vector(MEAN)
    points += _closed_path(draft, w, given.steps)
    start = len(points) - len(given.steps)
    draft.interpolate(interpolation(points, given.mu, Fraction(1)))
    error = points[start].value - home.value if objective == "gap" else w.square
    return Scene(draft.maximize(error), (tuple(points),), w)


def _closed_path(draft: Draft, w: Vector, steps: Sequence[Fraction]) -> list[Point]:
    """Take local steps whose means, weighted by step sizes, cancel: the last mean gradient is given by the others."""
    points, y, moved = [], w, origin()
    for eta in steps[:-1]:
        points.append(Point(y, draft.vector(MEAN, _DEVIATION), Value()))
        y = y - eta * points[-1].gradient
        moved = moved + eta * points[-1].gradient.within((MEAN,))
    last = draft.vector(_DEVIATION) - (1 / steps[-1]) * moved
    return [*points, Point(y, last, Value())]
