"""Expectations known from samples: confidence limits, and their comparison with a bound on the unfavorable side."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.verification.claim import Finding

__all__ = ["Interval", "bounded_mean", "mean_at_most", "sequential_mean_at_most", "student_mean", "subgaussian_mean"]


class Interval(NamedTuple):
    """A confidence interval; numbers, or arrays of equal shape."""

    lower: Any
    upper: Any


def student_mean(samples: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """Student's two-sided interval for the mean over the first axis; shape (R, ...) gives limits of shape (...).

    It is exact for normal samples and a fixed R, approximate otherwise, and not valid under optional stopping. One
    sample gives the whole line.

    With samples 1 and 3 the mean is 2 and its standard error 1; the quantile at confidence 1/2 and one degree of
    freedom is tan(pi/4) = 1.

    >>> [round(float(limit), 12) for limit in student_mean([1.0, 3.0], confidence=0.5)]
    [1.0, 3.0]
    """
    from scipy.special import stdtrit

    values = _sampled(samples)
    mean = values.mean(axis=0)
    if len(values) == 1:
        return Interval(np.full_like(mean, -np.inf)[()], np.full_like(mean, np.inf)[()])
    quantile = float(stdtrit(len(values) - 1, 0.5 + 0.5 * _confidence(confidence)))
    half = quantile * values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return Interval(mean - half, mean + half)


def bounded_mean(samples: npt.ArrayLike, low: float, high: float, confidence: float = 0.999) -> Interval:
    """Empirical Bernstein interval for the mean of samples in [low, high], valid at every sample size at once.

    The limits at all sizes up to the present one are intersected, so that sampling may stop whenever they decide. The
    samples need not be independent: a common conditional mean is enough.

    Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", Theorem 2, with
    its predictable plug-in step sizes, truncated at 1/2.

    Raises
    ------
    ValueError
        If a sample lies outside the range.

    Examples
    --------
    >>> interval = bounded_mean(np.tile([0.0, 1.0], 2000), 0.0, 1.0)
    >>> bool(interval.lower < 0.5 < interval.upper), bool(interval.upper - interval.lower < 0.1)
    (True, True)
    """
    values = _sampled(samples)
    if values.ndim != 1 or values.min() < low or values.max() > high:
        message = (
            f"samples must be one row of numbers in [{low}, {high}], "
            f"got shape {values.shape} in [{values.min()}, {values.max()}]"
        )
        raise ValueError(message)
    x = (values - low) / (high - low)
    penalty = math.log(2 / (1 - _confidence(confidence)))
    counts = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (counts + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (counts + 1)
    before_mean = np.concatenate([[0.5], means[:-1]])
    before_variance = np.concatenate([[0.25], variances[:-1]])
    bets = np.minimum(np.sqrt(2 * penalty / (before_variance * counts * np.log1p(counts))), 0.5)
    spent = np.cumsum((x - before_mean) ** 2 * (-np.log1p(-bets) - bets))
    staked = np.cumsum(bets)
    centers, radii = np.cumsum(bets * x) / staked, (penalty + spent) / staked
    lower, upper = (centers - radii).max(), (centers + radii).min()
    return Interval(low + (high - low) * max(lower, 0.0), low + (high - low) * min(upper, 1.0))


def subgaussian_mean(
    samples: npt.ArrayLike, scale: float, confidence: float = 0.999, *, tuned_for: int = 1000
) -> Interval:
    """Interval for the mean of sub-Gaussian samples of a known scale, valid at every sample size at once.

    It is Robbins' normal mixture: with alpha = 1 - confidence and a precision r, proportional to 1/tuned_for, the
    half-width after n samples is ``scale sqrt(2 (n r + 1)/(n^2 r) log(sqrt(n r + 1)/alpha))``; relative to an interval
    for a fixed size it is narrowest at about n = tuned_for.

    >>> lower, upper = subgaussian_mean(np.zeros(1000), 1.0)
    >>> bool(lower == -upper), bool(0.1 < upper < 0.16)  # the fixed-size half-width is 3.29/sqrt(1000) = 0.104
    (True, True)
    """
    values = _sampled(samples)
    alpha = 1 - _confidence(confidence)
    precision = (2 * math.log(1 / alpha) + math.log(1 + 2 * math.log(1 / alpha))) / tuned_for
    counts = np.arange(1, len(values) + 1)
    growth = counts * precision + 1
    radii = scale * np.sqrt(2 * growth / (counts**2 * precision) * np.log(np.sqrt(growth) / alpha))
    centers = np.cumsum(values) / counts
    return Interval((centers - radii).max(), (centers + radii).min())


def mean_at_most(interval: Interval, predicted: float, *, instance: Mapping[str, Any] | None = None) -> Finding:
    """Compare an expectation with a bound: it holds if the upper limit does, fails if the lower limit exceeds it.

    >>> [mean_at_most(Interval(1.0, 2.0), bound).holds for bound in (3.0, 0.5, 1.5)]
    [True, False, None]
    """
    holds = True if interval.upper <= predicted else False if interval.lower > predicted else None
    measured, side = (interval.lower, "lower") if holds is False else (interval.upper, "upper")
    return Finding(float(measured), float(predicted), "<=", holds, f"{side} confidence limit", dict(instance or {}))


def sequential_mean_at_most(
    draw: Callable[[int], Array],
    predicted: float,
    interval: Callable[[Array], Interval],
    *,
    batch: int = 100,
    most: int = 10_000,
    instance: Mapping[str, Any] | None = None,
) -> Finding:
    """Sample in batches until the comparison with the bound is decided, or ``most`` samples are drawn.

    Parameters
    ----------
    draw
        Returns that many new samples, shape (batch,).
    predicted
        The bound on their mean.
    interval
        Limits that are valid at every sample size, such as ``bounded_mean`` with its range.
    """
    samples = np.empty(0)
    finding = mean_at_most(Interval(-np.inf, np.inf), predicted)
    while finding.holds is None and len(samples) < most:
        samples = np.concatenate([samples, draw(min(batch, most - len(samples)))])
        finding = mean_at_most(interval(samples), predicted, instance={**(instance or {}), "num_samples": len(samples)})
    return finding


def _sampled(samples: npt.ArrayLike) -> Array:
    values = _validate.array("samples", samples)
    if values.ndim == 0 or len(values) == 0:
        message = f"samples must have at least one entry along the first axis, got shape {values.shape}"
        raise ValueError(message)
    return values


def _confidence(value: float) -> float:
    if not 0 < value < 1:
        message = f"confidence must be between 0 and 1, got {value}"
        raise ValueError(message)
    return value
