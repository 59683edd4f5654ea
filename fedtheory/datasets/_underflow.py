"""Dirichlet shares as gamma variables make them in double precision, where a small concentration underflows."""

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array

__all__ = ["SMALLEST", "checked_concentration", "underflowing_shares"]

LARGEST = 1e100
"""Largest concentration: sums of gamma variables of much larger shapes overflow."""

SMALLEST = float(np.finfo(np.float64).tiny)
"""2^-1022, the smallest normal number, to which libraries raise a gamma variable so that a sum is not 0."""


def checked_concentration(concentration: float) -> float:
    """Return the concentration of a symmetric Dirichlet law."""
    number = validate.double("concentration", validate.positive("concentration", concentration))
    if number > LARGEST:
        message = f"concentration must be at most {LARGEST:g}, got {number:g}"
        raise ValueError(message)
    return number


def underflowing_shares(draw: np.random.Generator, concentration: float, num_draws: int, num_shares: int) -> Array:
    """Draw normalized gamma variables that are at least 2^-1022, shape (num_draws, num_shares).

    A gamma variable of shape a is one of shape 1 + a times ``u^(1/a)``, u uniform on (0, 1): for a = 1e-4 that power is
    below 2^-1022 unless u is above exp(-1022 log(2) a) = 0.932. Where all of a draw are, all shares are equal.
    """
    shape = (num_draws, num_shares)
    with np.errstate(under="ignore"):
        powers = (1.0 - draw.random(shape)) ** (1.0 / concentration)
        gammas = np.maximum(draw.standard_gamma(1.0 + concentration, shape) * powers, SMALLEST)
        shares: Array = gammas / gammas.sum(axis=1, keepdims=True)
    return shares
