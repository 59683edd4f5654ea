"""Programs of one step with the sampling probabilities that are best for its gradients.

With ``u_i = |w_i g_i|^2``, the least variance ``min_p sum u_i (1/p_i - 1)`` over ``p_i <= 1`` with sum m is a minimum
of linear functions of u, hence concave, and at least t if and only if
``t <= sum (2 z_i - nu_i - u_i) - m lambda`` for some ``lambda, nu_i >= 0`` and ``z_i^2 <= u_i (lambda + nu_i)``.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add

from fedtheory.worst_case._exchangeable import Scene, origin, start_of_round
from fedtheory.worst_case._function_classes import Point, interpolation
from fedtheory.worst_case._gram import Draft, Form, Value, Vector
from fedtheory.worst_case._settings import Setting

__all__ = ["sampled_step"]


def sampled_step(
    given: Setting,
    weights: Sequence[Fraction],
    expected_size: Fraction,
    probabilities: str,
    descent: Fraction = Fraction(0),
) -> Scene:
    """Maximize the expected squared distance after a step with independently sampled, unbiased gradients.

    ``descent`` times ``F(w) - F*``, w the model before the step, is added.
    """
    draft = Draft()
    clients = _weighted_clients(draft, given, weights)
    w = start_of_round(draft, given)
    for points in clients:
        points.append(Point(w, draft.vector(), Value()))
        draft.interpolate(interpolation(points, given.mu, Fraction(1)))
    updates = [weight * points[-1].gradient for weight, points in zip(weights, clients, strict=True)]
    [eta] = given.steps
    if probabilities == "uniform":
        excess = len(weights) / expected_size - 1
        variance = reduce(add, (excess * update.square for update in updates))
    else:
        variance = _least_variance(draft, updates, expected_size)
    mean = w - eta * reduce(add, updates)
    gaps = [weight * (points[-1].value - points[-2].value) for weight, points in zip(weights, clients, strict=True)]
    error = mean.square + eta**2 * variance + descent * reduce(add, gaps)
    return Scene(draft.maximize(error), tuple(map(tuple, clients)), w)


def _weighted_clients(draft: Draft, given: Setting, weights: Sequence[Fraction]) -> list[list[Point]]:
    gap = given["objective_gap"]
    if not gap:
        return [[Point(origin(), origin(), draft.zero())] for _ in weights]
    gradients = [draft.vector() for _ in weights[:-1]]
    total = reduce(add, (weight * g for weight, g in zip(weights[:-1], gradients, strict=True)), origin())
    gradients.append((-1 / weights[-1]) * total)
    clients = [
        [Point(draft.vector(), origin(), draft.zero()), Point(origin(), gradient, Value())] for gradient in gradients
    ]
    excess = [weight * (home.value - least.value) for weight, (least, home) in zip(weights, clients, strict=True)]
    draft.at_most(reduce(add, excess), gap, "objective_gap")
    return clients


def _least_variance(draft: Draft, updates: Sequence[Vector], expected_size: Fraction) -> Form:
    price = Value()
    draft.at_most(-1 * price)
    total = -expected_size * price
    for update in updates:
        cap, block = Value(), draft.block()
        size, root = draft.vector(block), draft.vector(block)
        draft.at_most(-1 * cap)
        draft.at_most(size.square - update.square)
        draft.at_most(root.square - price - cap)
        total = total + 2 * (size @ root) - cap - update.square
    return total
