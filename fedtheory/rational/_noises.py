"""Gradient noises of mean zero, as finite laws."""

from fractions import Fraction

from fedtheory._support import validate
from fedtheory.rational.vectors import Vector, norm2, scaled
from fedtheory.statistics.law import Law

Noise = Law[Vector]
"""The law of a gradient noise of mean zero."""


def no_noise(dim: int) -> Noise:
    """Return the noise that is always zero.

    Returns
    -------
    Noise
        The law that is certain of the zero vector, shape (v,).

    Examples
    --------
    >>> no_noise(2)
    Law({(Fraction(0, 1), Fraction(0, 1)): 1})
    """
    return Law.certain((Fraction(0),) * validate.size("dim", dim))


def two_point_noise(high: Vector, odds: Fraction = Fraction(1)) -> Noise:
    """Noise that is ``high`` with probability 1/(1 + odds), else ``-high/odds``; its variance is ``|high|^2/odds``.

    Parameters
    ----------
    high
        The rarer vector (for odds above 1), shape (v,).
    odds
        Of the other one, positive.

    Examples
    --------
    >>> two_point_noise((Fraction(3),), Fraction(2))
    Law({(Fraction(3, 1),): 1/3, (Fraction(-3, 2),): 2/3})
    """
    odds = Fraction(validate.one("odds", validate.positive("odds", odds)))
    high = scaled(1, high)
    return Law([(high, 1 / (1 + odds)), (scaled(-1 / odds, high), odds / (1 + odds))])


def variance_of(noise: Noise) -> Fraction:
    """Return ``E |noise|^2``.

    >>> variance_of(two_point_noise((Fraction(3),), Fraction(2)))
    Fraction(9, 2)
    """
    return Fraction(noise.mean(norm2))
