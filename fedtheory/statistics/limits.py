"""Confidence limits of means, for a fixed sample size or for all sample sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.statistics.interval import Interval

__all__ = ["bounded_mean", "student_mean"]


def student_interval(estimate: Any, standard_error: Any, degrees: int, confidence: float = 0.95) -> Interval[Any]:
    """Student's two-sided interval ``estimate -+ t standard_error`` with the quantile t of (1 + confidence)/2.

    Parameters
    ----------
    estimate, standard_error
        Numbers, or arrays of equal shape.
    degrees
        Degrees of freedom; 0 (one sample, or as many points as parameters) gives the whole line.
    confidence
        Pointwise coverage probability, between 0 and 1.

    Examples
    --------
    The quantile of 3/4 at one degree of freedom is tan(pi/4) = 1.

    >>> [round(float(limit), 12) for limit in student_interval(2.0, 3.0, degrees=1, confidence=0.5)]
    [-1.0, 5.0]
    """
    from scipy.special import stdtrit

    upper_tail = 0.5 + 0.5 * validate.confidence(confidence)
    estimate, standard_error = _extended("estimate", estimate), _extended("standard_error", standard_error)
    if validate.one("degrees", validate.nonnegative("degrees", degrees)) == 0:
        return Interval(np.full_like(estimate, -np.inf)[()], np.full_like(estimate, np.inf)[()])
    if np.ndim(standard_error) and np.shape(standard_error) != np.shape(estimate):
        message = f"standard_error must have shape {np.shape(estimate)}, got {np.shape(standard_error)}"
        raise ValueError(message)
    half = float(stdtrit(float(degrees), upper_tail)) * standard_error
    return Interval(estimate - half, estimate + half)


def student_mean(samples: npt.ArrayLike, confidence: float = 0.95) -> Interval[Any]:
    """Student's two-sided interval for the mean over the first axis; shape (R, ...) gives limits of shape (...).

    It is exact for normal samples and a fixed R, approximate otherwise, and invalid under optional stopping. One
    sample gives the whole line.

    With samples 1 and 3 the mean is 2 and its standard error 1; the quantile at confidence 1/2 and one degree of
    freedom is tan(pi/4) = 1.

    >>> [round(float(limit), 12) for limit in student_mean([1.0, 3.0], confidence=0.5)]
    [1.0, 3.0]
    """
    values = _sampled(samples)
    # In units of a power of two, so that no square overflows; this changes no bit of other results.
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    scaled, count = np.ldexp(values, -exponent), len(values)
    mean = scaled.mean(axis=0)
    standard_error = mean if count == 1 else scaled.std(axis=0, ddof=1) / math.sqrt(count)
    lower, upper = student_interval(mean, standard_error, count - 1, confidence)
    with np.errstate(over="ignore"):
        return Interval(np.ldexp(lower, exponent), np.ldexp(upper, exponent))


def bounded_mean(samples: npt.ArrayLike, lower: float, upper: float, confidence: float = 0.999) -> Interval[float]:
    """Empirical Bernstein interval for the mean of samples in [lower, upper], valid at all sample sizes at once.

    The limits at all sizes so far are intersected, so that sampling may stop at any time. The samples need not be
    independent if they have a common conditional mean.

    Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", Theorem 2, with
    its predictable plug-in step sizes, truncated at 1/2.

    Parameters
    ----------
    samples
        Samples in the order of drawing, shape (n,).
    confidence
        Probability that the limits cover the mean at all sizes.

    Raises
    ------
    ValueError
        If the limits at different sizes are disjoint; for samples with a common mean the probability of this is at most
        1 - confidence.

    Examples
    --------
    >>> interval = bounded_mean(np.tile([0.0, 1.0], 2000), 0.0, 1.0)
    >>> bool(interval.lower < 0.5 < interval.upper), bool(interval.width < 0.1)
    (True, True)
    """
    values = _sampled(samples)
    if values.ndim > 1:
        message = f"samples must be one row of numbers, got shape {values.shape}"
        raise ValueError(message)
    lower, upper = validate.double("lower", lower), validate.double("upper", upper)
    width = validate.positive("upper - lower", upper - lower)
    if values.min() < lower or values.max() > upper:
        message = f"samples must lie in [{lower}, {upper}], got numbers in [{values.min()}, {values.max()}]"
        raise ValueError(message)
    x = (values - lower) / width
    penalty = math.log(2 / (1 - validate.confidence(confidence)))
    counts = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (counts + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (counts + 1)
    before_mean = np.concatenate([[0.5], means[:-1]])
    before_variance = np.concatenate([[0.25], variances[:-1]])
    bets = np.minimum(np.sqrt(2 * penalty / (before_variance * counts * np.log1p(counts))), 0.5)
    spent = np.cumsum((x - before_mean) ** 2 * (-np.log1p(-bets) - bets))
    staked = np.cumsum(bets)
    # Rounding errors: a sum has at most its number of terms in units of the last place, and each x a few.
    rounding = 2 * np.finfo(np.float64).eps * (counts + 8)
    centers, radii = np.cumsum(bets * x) / staked, (penalty + spent) / staked * (1 + rounding) + rounding
    by = "limit at some sample size"
    common = Interval(float((centers - radii).max()), float((centers + radii).min()), by, by)
    least, most = lower + width * max(common.lower, 0.0), lower + width * min(common.upper, 1.0)
    lost = 4 * np.finfo(np.float64).eps * max(abs(lower), abs(upper))
    return Interval(float(max(lower, least - lost)), float(min(upper, most + lost)))


def _sampled(samples: npt.ArrayLike) -> Array:
    values = validate.array("samples", samples)
    if values.ndim == 0 or len(values) == 0:
        message = f"samples must have at least one entry along the first axis, got shape {values.shape}"
        raise ValueError(message)
    return values


def _extended(name: str, value: Any) -> Any:
    return validate.extended(name, value)[()]
