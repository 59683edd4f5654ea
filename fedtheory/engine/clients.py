"""Differences between clients: numbers of local steps, and noise on returned models."""

from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.engine.heterogeneity import Stragglers

__all__ = ["noise_variances", "own_steps"]

Whole = npt.NDArray[np.int64]


def own_steps(local_steps: Any, num_clients: int, num_rounds: int) -> tuple[int, Whole]:
    """Return the largest number of local steps, and those of clients, in one row or one per round, if they differ."""
    if isinstance(local_steps, Stragglers):
        all_epochs = local_steps.num_epochs * local_steps.num_batches
        return all_epochs, np.atleast_2d(local_steps.local_steps(num_clients, num_rounds))
    given = validate.unmasked("local_steps", local_steps)
    if given.ndim == 0:
        return validate.count("local_steps", local_steps), np.empty((0, num_clients), dtype=np.int64)
    counts: Whole = validate.counts("local_steps", given)
    validate.array("local_steps", counts, shape=(num_clients,) if counts.ndim == 1 else (num_rounds, num_clients))
    # the loop is compiled for writable arrays, although it does not write to this one
    return int(counts.max(initial=1)), np.array(np.atleast_2d(counts), order="C")


def noise_variances(variance: Any, num_clients: int) -> Array:
    """Return the variance of the noise on each client's returned parameters, shape (K,); empty if there is no noise."""
    variances = validate.array("returned_noise", validate.nonnegative("returned_noise", variance))
    if not variances.any():
        return np.empty(0)
    if variances.ndim == 0:
        return np.full(num_clients, float(variances))
    return validate.array("returned_noise", variances, shape=(num_clients,))
