"""Expectations known from samples, compared with a bound on the unfavorable side of their confidence limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import short
from fedtheory.statistics.interval import Interval
from fedtheory.verification.findings import Finding, is_number

__all__ = ["mean_at_most", "sequential_mean_at_most"]


def mean_at_most(
    interval: Interval[Any], predicted: float, *, confidence: float, instance: Mapping[str, Any] | None = None
) -> Finding:
    """Compare an expectation with a bound: it holds if the upper limit does, fails if the lower limit exceeds it.

    The limits cover the expectation with the given confidence; what is left is the risk of the finding.

    Parameters
    ----------
    interval
        Confidence limits of the expectation.
    predicted
        The bound.
    confidence
        Of the interval, in (0, 1).
    instance
        What the finding shows.

    Returns
    -------
    Finding
        Undecided if the bound lies between the limits, or is infinite.

    Raises
    ------
    ValueError
        If the confidence is not in (0, 1).

    Examples
    --------
    >>> [mean_at_most(Interval(1.0, 2.0), bound, confidence=0.999).holds for bound in (3.0, 0.5, 1.5)]
    [True, False, None]
    """
    lower, upper = map(float, interval)
    if not is_number(predicted):
        message = f"predicted must be a number, got {short(predicted)}"
        raise ValueError(message)
    predicted = float(predicted)
    holds = False if lower > predicted else True if upper <= predicted < math.inf else None
    measured, side = (lower, "lower") if holds is False else (upper, "upper")
    reason = f"limits {lower:.6g} and {upper:.6g} do not decide about {predicted:.6g}" if holds is None else ""
    return Finding(
        measured,
        predicted,
        "<=",
        holds,
        f"{side} confidence limit",
        dict(instance or {}),
        reason=reason,
        risk=1 - validate.confidence(confidence),
    )


def sequential_mean_at_most(
    draw: Callable[[int], Array],
    predicted: float,
    interval: Callable[..., Interval[Any]],
    *,
    confidence: float = 0.999,
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
        Limits that are valid at every sample size, called with the samples and the confidence: ``bounded_mean`` with
        its range, say.
    confidence
        Probability that the limits cover the mean at all sizes.
    batch, most
        Samples drawn at a time, and in all.
    instance
        What the finding shows, beside the number of samples.

    Returns
    -------
    Finding
        Its risk is ``1 - confidence``, whenever sampling stops.

    Raises
    ------
    ValueError
        If ``batch`` or ``most`` is not positive, or ``draw`` returns another number of samples.

    Examples
    --------
    Fair coins, 0 or 1, have a mean of at most 3/4; a few hundred of them show it.

    >>> from functools import partial
    >>> from fedtheory.statistics import bounded_mean
    >>> coins = partial(np.random.default_rng(0).integers, 0, 2)
    >>> found = sequential_mean_at_most(coins, 0.75, partial(bounded_mean, lower=0.0, upper=1.0))
    >>> found.holds, found.side, round(found.risk, 3), found.instance["num_samples"] < 1000
    (True, 'upper confidence limit', 0.001, True)
    """
    validate.count("batch", batch)
    samples = np.empty(0)
    finding = mean_at_most(Interval(-np.inf, np.inf), predicted, confidence=confidence)
    while finding.holds is None and len(samples) < validate.count("most", most):
        size = min(batch, most - len(samples))
        samples = np.concatenate([samples, validate.array("draws", draw(size), shape=(size,))])
        limits, words = interval(samples, confidence=confidence), {**(instance or {}), "num_samples": len(samples)}
        finding = mean_at_most(limits, predicted, confidence=confidence, instance=words)
    return finding
