"""Compressed communication: rates as the largest root of the characteristic polynomial on a parabola."""

from fractions import Fraction as Q
from math import isqrt

LETTERS = {
    "num_rounds": "R", "mu": "mu", "L": "L", "step_size": "eta", "compression_error": "s", "potential": "V",
    "initial_potential": "V_0", "initial_distance2": "Delta_0", "initial_gap": "gap_0",
}  # fmt: skip


def spectral_radius(eta, mu, L, s):
    """Both methods with C(v) = (1 + s) v on k w^2/2 have the polynomial Z^2 - (1 - s - (1 + s) eta k) Z - s.

    The larger root in size grows with the size of the middle coefficient.
    """
    middle = max(abs(1 - s - (1 + s) * eta * k) for k in (mu, L))
    square = Q(middle**2 + 4 * s)
    root = Q(isqrt(square.numerator), isqrt(square.denominator))
    assert root**2 == square
    return (middle + root) / 2


def ef_round__derived(V, eta, mu, L, s):
    return spectral_radius(eta, mu, L, s) ** 2 * V


def ef21_round__derived(V, eta, mu, L, s):
    return spectral_radius(eta, mu, L, s) ** 2 * V


def ef_distance__derived(R, eta, mu, L, s, Delta_0):
    return spectral_radius(eta, mu, L, s) ** (2 * R) * (1 + s) * Delta_0


def ef21_gradient2__derived(R, eta, mu, L, s, V_0):
    """V is at least s times the squared gradient."""
    return spectral_radius(eta, mu, L, s) ** (2 * R) * V_0 / s


def cgd_gap__derived(R, eta, mu, L, s, gap_0):
    """The worse of the two parabolas with the worse compressor of each: 1 - eta k share."""
    worst = max(abs(1 - eta * k * share) for k in (mu, L) for share in (1 - s, 1 + s))
    return worst ** (2 * R) * gap_0
