"""Exact one-dimensional federations, members of classes that no proof may refute.

A client's gradient is linear, or piecewise linear and steeper near the minimizer than far from it, like the functions
that are worst for long steps. Models, minimizers, gaps and losses are rationals.
"""

from collections.abc import Sequence
from fractions import Fraction as Q
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Client(NamedTuple):
    """``F'(w)`` has slope ``near`` within ``reach`` of the center and ``far`` beyond; the least loss is 0."""

    center: Q
    near: Q
    far: Q
    reach: Q

    def gradient(self, w: Q) -> Q:
        t = w - self.center
        inside = max(-self.reach, min(self.reach, t))
        return self.far * t + (self.near - self.far) * inside

    def loss(self, w: Q) -> Q:
        t = abs(w - self.center)
        inside = min(self.reach, t)
        return self.far / 2 * t**2 + (self.near - self.far) * (inside * t - inside**2 / 2)

    @property
    def kinks(self) -> tuple[Q, Q]:
        return self.center - self.reach, self.center + self.reach


def zero_of(clients: Sequence[Client], shares: Sequence[Q]) -> Q:
    """Where a weighted sum of gradients, which is piecewise linear and increases, is 0."""

    def slope(w: Q) -> Q:
        return sum((share * client.gradient(w) for share, client in zip(shares, clients, strict=True)), start=Q(0))

    kinks = sorted({kink for client in clients for kink in client.kinks})
    places = [kinks[0] - 1, *kinks, kinks[-1] + 1]
    for low, high in pairwise(places):
        at_low, at_high = slope(low), slope(high)
        if at_low <= 0 <= at_high:
            return low - at_low * (high - low) / (at_high - at_low)
    low, high = places[:2] if slope(places[0]) > 0 else places[-2:]
    return low - slope(low) * (high - low) / (slope(high) - slope(low))


class Member(NamedTuple):
    """Clients whose mean of the first few is the objective, and a first model."""

    clients: tuple[Client, ...]
    num_weighted: int
    start: Q

    @property
    def weighted(self) -> tuple[Client, ...]:
        return self.clients[: self.num_weighted]

    @property
    def minimizer(self) -> Q:
        """Where the mean gradient is 0."""
        return zero_of(self.weighted, [Q(1)] * self.num_weighted)

    def objective(self, w: Q) -> Q:
        return sum((client.loss(w) for client in self.weighted), start=Q(0)) / self.num_weighted

    def trained(self, number: int, steps: int, eta: Q) -> Q:
        w = self.start
        for _ in range(steps):
            w -= eta * self.clients[number].gradient(w)
        return w

    def constants(self) -> dict[str, Q]:
        """The class that just holds it, but for smoothness."""
        home = self.minimizer
        slopes = [slope for client in self.clients for slope in (client.near, client.far)]
        return {
            "mu": min(slopes),
            "L": max(slopes),
            "distance2": (self.start - home) ** 2,
            "objective_gap": self.objective(home),
        }


def member(rng: np.random.Generator, num_clients: int, num_weighted: int) -> Member:
    """Draw clients of curvatures that differ, near to each other or far apart, and a start near or far."""

    def number(low: float, high: float) -> Q:
        return Q(f"{10 ** rng.uniform(low, high):.3g}")

    unit, flat = number(-6, 2), number(-3, -0.01) if rng.random() < 0.7 else 1 - number(-9, -1)
    clients = []
    for _ in range(num_clients):
        steep = 1 - (1 - flat) * Q(int(rng.integers(0, 5)), 4)
        soft = flat + (steep - flat) * Q(int(rng.integers(0, 3)), 2)
        center = unit * Q(int(rng.integers(-50, 51)), int(rng.integers(1, 40)))
        clients.append(Client(center, steep, soft, unit * number(-3, 1)))
    # Smoothness and strong convexity are attained, and differ.
    clients[0] = clients[0]._replace(near=Q(1), far=flat if rng.random() < 0.5 else Q(1))
    clients[-1] = clients[-1]._replace(near=flat, far=flat)
    # A start at w* has a distance of 0, which no class has.
    return Member(tuple(clients), num_weighted, unit * Q(int(rng.integers(-500, 500)), 7) + unit / 1009)
