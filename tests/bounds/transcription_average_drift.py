"""Average drift: a round multiplies the distance by the step's factor tau times, and then adds what it moves w*."""

from fractions import Fraction as Q
from math import isqrt

LETTERS = {
    "num_rounds": "R", "mu": "mu", "L": "L", "local_steps": "tau", "step_size": "eta", "drift2": "rho2",
    "initial_distance2": "Delta_0",
}  # fmt: skip


def root(square):
    square = Q(square)
    found = Q(isqrt(square.numerator), isqrt(square.denominator))
    assert found**2 == square
    return found


def fixed_step_distance__derived(R, mu, L, tau, eta, rho2, Delta_0):
    """Of eta mu and eta L, with a sum of at most 2, the smaller one leaves the larger factor."""
    factor, distance = max(abs(1 - eta * mu), abs(1 - eta * L)), root(Delta_0)
    for _ in range(R):
        for _ in range(tau):
            distance *= factor
        distance += eta * tau * root(rho2)
    return distance**2
