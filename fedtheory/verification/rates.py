"""Rates of decay measured by regression in double-logarithmic scale, and their comparison with a stated order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.statistics.interval import Interval
from fedtheory.statistics.limits import student_interval
from fedtheory.verification.findings import Finding

__all__ = ["fitted_order", "order_at_least", "order_equal_to"]


class Fit(NamedTuple):
    """A fitted power law ``error = factor * size**(-order)``."""

    order: float
    standard_error: float
    factor: float
    num_points: int

    def limits(self, confidence: float = 0.99) -> Interval[float]:
        """Student's confidence interval of the order; with two points it is the whole line."""
        return student_interval(self.order, self.standard_error, self.num_points - 2, confidence)


def fitted_order(sizes: npt.ArrayLike, errors: npt.ArrayLike) -> Fit:
    """Fit ``error = factor * size**(-order)`` by least squares on logarithms; at least three points.

    Parameters
    ----------
    sizes
        Positive, shape (n,).
    errors
        Positive, shape (n,).

    Returns
    -------
    Fit
        The ``order`` with its ``standard_error``, the ``factor``, and ``limits(confidence)`` of the order.

    Raises
    ------
    ValueError
        If there are fewer than three points, their numbers differ, or one is not positive.

    Examples
    --------
    >>> fit = fitted_order([1.0, 2.0, 4.0, 8.0], [6.0, 3.0, 1.5, 0.75])
    >>> round(fit.order, 12), round(fit.factor, 12), fit.standard_error < 1e-12
    (1.0, 6.0, True)
    """
    x = validate.array("sizes", sizes, ndim=1)
    y = validate.array("errors", errors, shape=x.shape)
    if len(x) < 3:
        message = f"sizes must have at least 3 entries, got {len(x)}"
        raise ValueError(message)
    log_x = np.log(validate.positive("sizes", x))
    log_y = np.log(validate.positive("errors", y))
    centered = log_x - log_x.mean()
    spread = float(centered @ centered)
    slope = float(centered @ log_y) / spread
    intercept = float(log_y.mean() - slope * log_x.mean())
    residuals = log_y - intercept - slope * log_x
    variance = float(residuals @ residuals) / (len(x) - 2)
    return Fit(-slope, math.sqrt(variance / spread), math.exp(intercept), len(x))


def order_at_least(
    fit: Fit, stated: float, *, allowance: float, confidence: float = 0.99, instance: Mapping[str, Any] | None = None
) -> Finding:
    """Compare "decays at least as fast as ``size**(-stated)``" with a fit.

    It holds if the whole confidence interval of the order lies above ``stated - allowance``, fails if all of it lies
    below, and decides nothing otherwise. The allowance is for lower-order terms that the range of sizes still shows;
    say in the claim where it comes from.

    Parameters
    ----------
    fit
        As of ``fitted_order``.
    stated
        The order that is claimed.
    allowance
        At least 0.
    confidence
        Of the interval of the order.
    instance
        What the finding shows beside the fit.

    Returns
    -------
    Finding
        Measured and predicted are orders.

    Raises
    ------
    ValueError
        If the allowance is negative, or the confidence is not in (0, 1).

    Examples
    --------
    >>> exact = Fit(order=1.0, standard_error=0.0, factor=1.0, num_points=5)
    >>> order_at_least(exact, 1.0, allowance=0.05).holds, order_at_least(exact, 2.0, allowance=0.05).holds
    (True, False)
    """
    lower, upper = fit.limits(confidence)
    stated, allowance = _stated(stated, allowance)
    threshold = stated - allowance
    holds = True if lower >= threshold else False if upper < threshold else None
    measured, side = (upper, "upper") if holds is False else (lower, "lower")
    return Finding(
        measured,
        threshold,
        ">=",
        holds,
        f"{side} confidence limit",
        {**_described(fit), **(instance or {})},
        reason="" if holds is not None else _undecided(lower, upper, threshold),
        risk=1 - confidence,
    )


def order_equal_to(
    fit: Fit, stated: float, *, allowance: float, confidence: float = 0.99, instance: Mapping[str, Any] | None = None
) -> Finding:
    """Compare "decays like ``size**(-stated)``" with a fit: its confidence interval against stated +- allowance.

    Parameters
    ----------
    fit
        As of ``fitted_order``.
    stated
        The order that is claimed.
    allowance
        At least 0.
    confidence
        Of the interval of the order.
    instance
        What the finding shows beside the fit.

    Returns
    -------
    Finding
        Measured and predicted are orders.

    Raises
    ------
    ValueError
        If the allowance is negative, or the confidence is not in (0, 1).

    Examples
    --------
    >>> exact = Fit(order=1.5, standard_error=0.0, factor=1.0, num_points=5)
    >>> order_equal_to(exact, 1.0, allowance=0.05).holds
    False
    """
    lower, upper = fit.limits(confidence)
    stated, allowance = _stated(stated, allowance)
    nearer, farther = sorted((lower, upper), key=lambda limit: abs(limit - stated))
    outside = not lower <= stated <= upper and abs(nearer - stated) > allowance
    holds = False if outside else True if abs(farther - stated) <= allowance else None
    return Finding(
        nearer if outside else farther,
        stated,
        "==",
        holds,
        f"{'nearer' if outside else 'farther'} confidence limit",
        {**_described(fit), **(instance or {})},
        slack=allowance,
        reason="" if holds is not None else _undecided(lower, upper, stated),
        risk=1 - confidence,
    )


def _stated(order: float, allowance: float) -> tuple[float, float]:
    return validate.double("stated", order), validate.double("allowance", validate.nonnegative("allowance", allowance))


def _undecided(lower: float, upper: float, stated: float) -> str:
    return f"limits {lower:.6g} and {upper:.6g} of the order do not decide about {stated:.6g}"


def _described(fit: Fit) -> dict[str, Any]:
    return {"order": fit.order, "standard_error": fit.standard_error, "num_points": fit.num_points}
