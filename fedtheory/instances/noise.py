"""Gradient noises with mean zero, as finite laws."""

from fractions import Fraction

from fedtheory.instances.vectors import Vector, norm2, vector
from fedtheory.statistics.law import Law

__all__: list[str] = []

Noise = Law[Vector]
"""The law of a gradient noise with mean zero."""


def no_noise(dim: int) -> Noise:
    """Return the noise that is always zero."""
    return Law.certain(vector(*[0] * dim))


def two_point_noise(high: Vector, odds: Fraction | int = 1) -> Noise:
    """Noise that is ``high`` with probability 1/(1 + odds), else ``-high/odds``; its variance is ``|high|^2/odds``."""
    return Law([(high, Fraction(1, 1 + odds)), (Fraction(-1, odds) * high, Fraction(odds, 1 + odds))])


def variance_of(noise: Noise) -> Fraction:
    """Return ``E |noise|^2``."""
    return Fraction(noise.mean(norm2))
