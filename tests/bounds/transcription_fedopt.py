"""FedAdam: the descent of a round in the worst coordinate, solved for the mean squared gradient."""

from fractions import Fraction
from math import isqrt

LETTERS = {
    "num_rounds": "T", "step_size": "eta", "L": "L", "adaptive_step_size": "s", "epsilon": "eps",
    "initial_gap": "delta",
}  # fmt: skip


def mean_gradient2__derived(T, eta, L, s, eps, delta):
    """T descents of c G2 each, ``c = s eta/d (1 - s eta L/(2 eps))``, are at most delta; d belongs to the largest v."""
    square = Fraction(2 * L * delta)
    largest_v = max(eps**2, eta**2 * square)
    root = eps if largest_v == eps**2 else eta * Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return delta / (T * (s * eta / (root + eps)) * (1 - s * eta * L / (2 * eps)))
