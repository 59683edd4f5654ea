"""Orders of growth or decay, measured by regression on logarithms."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.statistics.interval import Interval
from fedtheory.statistics.limits import student_interval

__all__ = ["fitted_order"]


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
