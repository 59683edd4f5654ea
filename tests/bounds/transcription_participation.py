"""Arbitrary participation: each local step contracts the squared distance from a shifted point and adds a constant."""

from tests.bounds.transcription_average_drift import root

LETTERS = {
    "num_rounds": "R", "mu": "mu", "L": "L", "local_steps": "tau", "step_size": "eta", "imbalance2": "delta2",
    "initial_distance2": "Delta_0",
}  # fmt: skip


def fixed_step_distance__derived(R, mu, L, tau, eta, delta2, Delta_0):
    """A step adds eta^3 L delta^2, and the shifted point is at most eta delta from w*."""
    distance2 = Delta_0
    for _ in range(R * tau):
        distance2 = (1 - eta * mu) * distance2 + eta**3 * L * delta2
    return (root(distance2) + eta * root(delta2)) ** 2
