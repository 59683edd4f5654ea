"""Repeated runs: means with confidence limits, and seeds for repeated use."""

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


def mean_words(samples: Any, digits: int = 1) -> str:
    """Mean and limits as words, with the number of samples if some are missing."""
    arrived = int(np.isfinite(samples).sum())
    return with_limits(samples, digits) if arrived == len(samples) else f"reached in {arrived} of {len(samples)}"


def span(values: Any, digits: int = 1, *, between: str = " to ") -> str:
    """Smallest and largest number as words, without missing ones; one of them if they do not differ in these digits."""
    found = np.asarray(values, dtype=np.float64)
    ends = dict.fromkeys(f"{end:,.{digits}f}" for end in (np.nanmin(found), np.nanmax(found)))
    return between.join(ends)


def fresh(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """Copy a seed sequence as it was before any spawning."""
    return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)


def geometric_limits(ratios: Any) -> Any:
    """Geometric mean over the first axis with 95% Student-t limits of the logarithms, shape (3, ...)."""
    return np.exp(mean_and_limits(np.log(np.asarray(ratios))))


def geometric_words(ratios: Any, form: str = ".3g") -> str:
    """Geometric mean and limits as words, with the number of samples if some are missing."""
    found = np.asarray(ratios)
    arrived = int(np.isfinite(found).sum())
    if arrived < found.size:
        return f"reached in {arrived} of {found.size}"
    if found.size == 1:
        return f"{float(found.item()):{form}}"
    mean, lower, upper = geometric_limits(found)
    return f"{mean:{form}} [{lower:{form}}, {upper:{form}}]"


def paired(first: Any, second: Any) -> Any:
    """Differences seed by seed, shape (R,); both sides must have run with the same seeds.

    Raises
    ------
    ValueError
        If a number is missing on one side only.
    """
    values = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    there = [np.isfinite(one) for one in values]
    if values[0].shape != values[1].shape or not np.array_equal(there[0], there[1]):
        message = (
            "a comparison must be of the same seeds on both sides, got "
            f"{int(there[0].sum())} of {values[0].size} and {int(there[1].sum())} of {values[1].size}"
        )
        raise ValueError(message)
    differences: Any = (values[0] - values[1])[there[0]]
    return differences
