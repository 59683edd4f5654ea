"""What studies of repeated runs share: means with confidence limits, and seeds that serve more than once."""

from typing import Any

import numpy as np

from fedtheory.statistics import student_mean


def mean_and_limits(samples: Any) -> Any:
    """Mean over the first axis with 95% Student-t limits, shape (3, ...) for samples of shape (R, ...)."""
    values = np.asarray(samples, dtype=np.float64)
    return np.stack([values.mean(axis=0), *student_mean(values)])


def with_limits(samples: Any, digits: int = 1, *, signed: bool = False) -> str:
    """Mean and limits as words."""
    sign = "+" if signed else ""
    mean, lower, upper = mean_and_limits(samples)
    return f"{mean:{sign}.{digits}f} [{lower:{sign}.{digits}f}, {upper:{sign}.{digits}f}]"


def span(values: Any, digits: int = 1, *, between: str = " to ") -> str:
    """Smallest and largest number as words; what is missing is left out."""
    found = np.asarray(values, dtype=np.float64)
    return between.join(f"{end:,.{digits}f}" for end in (np.nanmin(found), np.nanmax(found)))


def fresh(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """Copy a seed sequence that remembers nothing of what was spawned from it."""
    return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
