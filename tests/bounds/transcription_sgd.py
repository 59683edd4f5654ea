"""Transcription of bounds for clients that differ at w*, derived from Minkowski's inequality."""

from fractions import Fraction as Q
from math import isqrt

LETTERS = {
    "num_steps": "T", "mu": "mu", "L": "L", "local_steps": "tau", "step_size": "eta", "num_clients": "K",
    "num_selected": "m", "zeta2": "zeta2", "distance2": "Delta", "initial_distance2": "Delta_0",
}  # fmt: skip


def root(square):
    """The root of a rational that is a square."""
    square = Q(square)
    found = Q(isqrt(square.numerator), isqrt(square.denominator))
    assert found**2 == square
    return found


def minkowski(Delta, variance, eta, mu, L):
    """The length of what curvature adds, and the root of the mean square of the rest."""
    added = eta * (L - mu) / 2 * root(Delta)
    rest = (1 - eta * mu / 2 - eta * L / 2) ** 2 * Delta + eta**2 * variance
    return (added + root(rest)) ** 2


def drawn_step__derived(Delta, eta, mu, L, m, zeta2):
    return minkowski(Delta, zeta2 / m, eta, mu, L)


def subset_step__derived(Delta, eta, mu, L, K, m, zeta2):
    """Sampling without replacement: 1/m of the variance, times (K - m)/(K - 1)."""
    return minkowski(Delta, zeta2 * Q(K - m, m * (K - 1)), eta, mu, L)


def fixed_step_distance__derived(T, eta, mu, L, m, zeta2, Delta_0):
    """Fixed point and slope of the step, found by differentiating W = (k x + (a^2 x^2 + v)^(1/2))^2 at x^2 = floor.

    At the fixed point the root is (1 - k) x, and dW/d(x^2) = (k x + (1 - k) x) (k/x + a^2/((1 - k) x)).
    """
    k, a = eta * (L - mu) / 2, 1 - eta * (L + mu) / 2
    floor = eta**2 * zeta2 / m / ((1 - k) ** 2 - a**2)
    slope = k + a**2 / (1 - k)
    for _ in range(T):
        Delta_0 = floor + slope * (Delta_0 - floor)
    return Delta_0


def local_steps_round__derived(Delta, eta, mu, L, tau, zeta2):
    """The largest 2 sum d_s a_s - (sum a_s)^2 - beta sum a_s^2, where a_s = (d_s - A)/beta and A is their sum."""
    c = 1 - eta * mu
    beta = 2 * c / (eta * (L - mu)) - 1
    d = [sum(c ** (tau - 1 - r) for r in range(s)) for s in range(tau)]
    A = sum(d) / (beta + tau)
    a = [(one - A) / beta for one in d]
    largest = sum(2 * x * y for x, y in zip(d, a, strict=True)) - A**2 - beta * sum(x**2 for x in a)
    return c ** (2 * tau) * Delta + eta**2 * zeta2 * largest
