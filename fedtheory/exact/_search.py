"""Search for a model where a function, possibly piecewise constant, is small: the upper side of an infimum."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["Found", "smallest_over_models"]

_NUM_REFINED = 3


class Found(NamedTuple):
    """A value and the model that has it."""

    value: float
    model: Array


def smallest_over_models(
    objective: Callable[[Array], float],
    fed: QuadraticFederation,
    rng: np.random.Generator,
    num_models: int,
    starts: Iterable[Array] = (),
) -> list[Found]:
    """Evaluate given and random models at all distances from w*, then improve the best by adaptive random steps.

    The improved ones are returned, the best first.
    """
    spread = float(np.linalg.norm(fed.centers - fed.minimizer, axis=1).max()) or 1.0
    models = [fed.minimizer, *fed.centers, *starts]
    while len(models) < num_models // 2:
        direction = rng.standard_normal(fed.dim)
        distance = spread * 10.0 ** rng.uniform(-2.0, 2.0)
        models.append(fed.minimizer + distance * direction / np.linalg.norm(direction))
    tried = sorted((Found(objective(model), model) for model in models), key=lambda found: found.value)
    refined = [
        _improved(objective, found, spread, rng, (num_models - num_models // 2) // _NUM_REFINED)
        for found in tried[:_NUM_REFINED]
    ]
    return sorted(refined, key=lambda found: found.value)


def _improved(
    objective: Callable[[Array], float], best: Found, spread: float, rng: np.random.Generator, num_steps: int
) -> Found:
    """Take random steps that never go up; the step length grows on success and shrinks otherwise, then starts again."""
    start = step = 0.3 * spread
    for _ in range(num_steps):
        model = best.model + step * rng.standard_normal(best.model.size)
        value = objective(model)
        if value < best.value:
            step *= 1.8
        else:
            step *= 0.85
        if value <= best.value:
            best = Found(value, model)
        if step < 1e-7 * start:
            step = start
    return best
