"""Validation of the models at which a federation is evaluated."""

import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array

__all__ = ["models_of"]


def models_of(w: npt.ArrayLike, dim: int) -> Array:
    """Return models of shape (..., v)."""
    models = validate.array("w", w)
    if models.ndim == 0 or models.shape[-1] != dim:
        message = f"w must have shape (..., {dim}), got {models.shape}"
        raise ValueError(message)
    return models
