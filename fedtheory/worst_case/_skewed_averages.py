"""The class of the theorems on biased selection, judged by the objective: all rounds are one program.

Between rounds the objective F is known at the rounds' starts only, so that its values and gradients there tie the
rounds together. Each round selects a fresh client of vanishing weight, as in the composition of distances.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add

from fedtheory.worst_case._exchangeable import MEAN, Scene, local_steps, origin, start_of_round
from fedtheory.worst_case._function_classes import Point, interpolation
from fedtheory.worst_case._gram import Draft, Form, Value
from fedtheory.worst_case._settings import Setting

__all__ = ["averaged_gap"]


def averaged_gap(given: Setting, rho: Fraction, rho_tilde: Fraction, weights: Sequence[Fraction]) -> Scene:
    """Maximize the weighted mean of ``F(w) - F*`` over rounds' starts; exact gradients, a weight for each round."""
    draft, gap = Draft(), given["objective_gap"]
    w = start_of_round(draft, given)
    start, objective, casts = w, [Point(origin(), origin(), draft.zero())], list[tuple[Point, ...]]()
    per_round = len(given.steps) // len(weights)
    for first in range(0, len(given.steps), per_round):
        objective.append(Point(w, draft.vector(), Value()))
        minimum = Point(draft.vector(), origin(), draft.zero())
        home = Point(origin(), draft.vector(), Value())
        draft.at_most(home.value - minimum.value, gap, "objective_gap", rho_tilde)
        path, w = local_steps(draft, w, given.steps[first : first + per_round], (MEAN,))
        above = rho * objective[-1].value - (path[0].value - minimum.value)
        draft.at_most(above, gap, "objective_gap", -rho)
        casts.append((minimum, home, *path))
    for points in (objective, *casts):
        draft.interpolate(interpolation(points, given.mu, Fraction(1)))
    parts = [weight * point.value for weight, point in zip(weights, objective[1:], strict=True)]
    error: Form = reduce(add, parts)
    share = Fraction(1) / sum(weights)
    return Scene(draft.maximize(share * error), (tuple(objective), *casts), start)
