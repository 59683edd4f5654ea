"""The largest step size that the hypotheses of a bound allow."""

import math
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem.bound import Bound

_DOUBLINGS = 200


def largest_step_size(bound: Bound, *args: Any, **constants: Any) -> float:
    """Largest step size at which the hypotheses of a bound hold and its value is finite.

    The hypotheses of all bounds of the library hold on an interval that begins at 0. Its end is found by bisection to a
    relative precision of 1e-12; it is infinity if every step size is allowed.

    Without bounded gradients the distance is bounded up to the step size 1/L:

    >>> from fedtheory.bounds.fedavg import one_round
    >>> round(largest_step_size(one_round, 1.0, mu=1.0, L=4.0, local_steps=3, objective_gap=0.5), 9)
    0.25
    """
    validate.instance("bound", bound, Bound, "a bound of fedtheory.bounds")
    if "step_size" not in bound.domains:
        how = "prescribes its step sizes (see step_sizes)" if bound.step_sizes else "has no step size"
        message = f"bound must have an argument step_size, got {bound.__name__}, which {how}"
        raise TypeError(message)

    def reasons(step_size: float) -> list[str]:
        value, unmet = bound(*args, strict=False, step_size=step_size, **constants)
        return unmet or ([] if np.all(np.isfinite(value)) else [f"the value is {value}"])

    low = 1.0
    for _ in range(_DOUBLINGS):
        unmet = reasons(low)
        if not unmet:
            break
        low /= 2
    else:
        message = f"the hypotheses must hold for some step size, got at step_size = {low:.3g}: {unmet[0]}"
        raise AssumptionViolated(message)
    high = 2 * low
    for _ in range(_DOUBLINGS):
        if reasons(high):
            break
        low, high = high, 2 * high
    else:
        return math.inf
    while high - low > 1e-12 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if reasons(middle) else (middle, high)
    return low
