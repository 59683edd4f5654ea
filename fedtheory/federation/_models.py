"""Validation of the models at which a federation is evaluated, and attributes that a family does not have."""

from typing import Any, NoReturn

import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated


def models_of(w: npt.ArrayLike, dim: int) -> Array:
    """Return models of shape (..., v)."""
    models = validate.array("w", w)
    if models.ndim == 0 or models.shape[-1] != dim:
        message = f"w must have shape (..., {dim}), got {models.shape}"
        raise ValueError(message)
    return models


def lacking(why: str) -> Any:
    """Return a property that raises AssumptionViolated, for an attribute that a family does not have."""

    def refuse(fed: Any) -> NoReturn:
        message = f"{why}, got a {type(fed).__name__}"
        raise AssumptionViolated(message)

    return property(refuse, doc=f"Not available: {why}.")
