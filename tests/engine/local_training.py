"""Local steps of clients by a family's kernel, and by the losses and gradients of its federation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.engine.contract import Family, LocalWork


def by_kernel(family: Family, work: LocalWork, chosen: Any, start: Any, steps: Any) -> tuple[Any, Any]:
    """Return the updates and the reports of the chosen clients, shapes (m, v) and (m,)."""
    updates, reports = np.empty((chosen.size, start.size)), np.empty(chosen.size)
    scratch = np.zeros(start.size), np.zeros(start.size)
    family.train(family.arrays, chosen, start, steps, work, np.random.default_rng(0), *scratch, updates, reports)
    return updates, reports


def by_hand(loss: Callable[[Any], Any], gradient: Callable[[Any], Any], start: Any, steps: Any) -> tuple[Any, float]:
    """Return the update of one client, and the mean of its losses where the steps begin."""
    model, losses = start.copy(), []
    for step in steps:
        losses.append(loss(model))
        model -= step * gradient(model)
    return model - start, float(np.mean(losses))
