"""Real functions in the plane with everything exact, in the place of a problem: the same lines can be run on them.

A vector is an array of rationals over the outcomes of noises, the clients and two coordinates, whether it differs over
the first two or not; a form is the mean over both. Functions are sums over the coordinates of convex functions whose
slopes are piecewise linear.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction as Q
from functools import reduce
from itertools import combinations, product
from operator import add
from typing import Any

import numpy as np

from tests.worst_case.members import Client, zero_of

NUM_NOISES = 2
"""Noises that a world has outcomes for, each of one sign or the other."""


class Vector:
    """Places, or gradients, in the plane: one for each outcome and client."""

    def __init__(self, entries: np.ndarray) -> None:
        self.entries = entries

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.entries + other.entries)

    def __sub__(self, other: "Vector") -> "Vector":
        return Vector(self.entries - other.entries)

    def __rmul__(self, factor: Q) -> "Vector":
        return Vector(self.entries * factor)

    def __matmul__(self, other: "Vector") -> Q:
        products = (self.entries * other.entries).sum(axis=2)
        return Q(products.sum()) / products.size

    @property
    def square(self) -> Q:
        return self @ self


class Real:
    """A mean of functions with weights; of clients, of which each has its own, row by row."""

    def __init__(self, world: "World", parts: Sequence[tuple[Q, Sequence[Sequence[Client]]]]) -> None:
        self.world, self.parts = world, list(parts)

    def __add__(self, other: "Real") -> "Real":
        return Real(self.world, [*self.parts, *other.parts])

    def __rmul__(self, factor: Q) -> "Real":
        return Real(self.world, [(factor * c, rows) for c, rows in self.parts])

    def _each(self, x: Vector, ask: Callable[[Client, Q], Q]) -> np.ndarray:
        """Ask each outcome's and client's function of a coordinate at its place."""
        found = np.zeros_like(x.entries)
        for (outcome, client, axis), place in np.ndenumerate(x.entries):
            found[outcome, client, axis] = sum(
                (c * ask(rows[client % len(rows)][axis], place) for c, rows in self.parts), Q(0)
            )
        return found

    def gradient(self, x: Vector) -> Vector:
        return Vector(self._each(x, Client.gradient))

    def value(self, x: Vector) -> Q:
        losses = self._each(x, Client.loss)
        return Q(losses.sum() * 2) / losses.size

    def minimizer(self) -> Vector:
        place = []
        for axis in range(2):
            clients = [(c / len(rows), row[axis]) for c, rows in self.parts for row in rows]
            place.append(zero_of([client for _, client in clients], [c for c, _ in clients]))
        return self.world.everywhere(place)

    def proximal(self, x: Vector, step: Q) -> Vector:
        """Return the zero of ``y - x + step f'(y)``, each coordinate's."""
        found = np.zeros_like(x.entries)
        for (outcome, client, axis), place in np.ndenumerate(x.entries):
            clients = [rows[client % len(rows)][axis] for _, rows in self.parts]
            shares = [step * c for c, _ in self.parts]
            found[outcome, client, axis] = zero_of([*clients, Client(place, Q(1), Q(1), Q(1))], [*shares, Q(1)])
        return Vector(found)

    def inexact_gradient(self, x: Vector, *, relative: Q) -> Vector:
        return self.world.disturbed(self.gradient(x), relative)

    def stochastic_gradient(self, x: Vector, *, variance: Q, name: str) -> Vector:
        self.world.limit(variance, name)
        return self.gradient(x) + self.world.noise(variance)

    def objective_gap(self) -> Q:
        # The least loss of every client is 0.
        return self.value(self.minimizer())

    # ---- what clients have besides

    def mean(self, v: Any) -> Any:
        if not isinstance(v, Vector):
            return v
        rows = v.entries.sum(axis=1, keepdims=True) / Q(v.entries.shape[1])
        return Vector(np.repeat(rows, v.entries.shape[1], axis=1))

    def sample(self, num_selected: int, how: str) -> "Sample":
        return Sample(num_selected, how)


class Sample:
    """Clients by chance, all sets or all sequences of which are gone through."""

    def __init__(self, num_selected: int, how: str) -> None:
        self.num_selected, self.how = num_selected, how

    def square(self, v: Vector) -> Q:
        clients = range(v.entries.shape[1])
        drawn: Iterable[tuple[int, ...]] = (
            combinations(clients, self.num_selected)
            if self.how == "distinct"
            else product(clients, repeat=self.num_selected)
        )
        means = [v.entries[:, list(some)].sum(axis=1) / Q(self.num_selected) for some in drawn]
        squares = [(mean * mean).sum() / Q(mean.shape[0]) for mean in means]
        return Q(sum(squares)) / len(squares)


class World:
    """Stands where a `Problem` may: what it is asked for is drawn, and what is limited is measured."""

    def __init__(self, rng: np.random.Generator, num_clients: int, *, noisy: bool) -> None:
        self.rng, self.num_clients = rng, num_clients
        bits = range(NUM_NOISES * num_clients if noisy else 0)
        signs = [[1 - 2 * (number >> bit & 1) for bit in bits] for number in range(2 ** len(bits))]
        self.signs = np.array(signs, dtype=object).reshape(len(signs), -1, num_clients)
        self.noises = 0
        self.measured: dict[str, Q] = {}
        self.reached: Q | None = None

    def number(self, largest: int = 20, parts: int = 8) -> Q:
        return Q(int(self.rng.integers(-largest, largest + 1)), int(self.rng.integers(1, parts)))

    def everywhere(self, place: Sequence[Q]) -> Vector:
        entries = np.empty((len(self.signs), self.num_clients, 2), dtype=object)
        entries[...] = np.array([*place], dtype=object)
        return Vector(entries)

    def point(self, name: str) -> Vector:
        return self.everywhere([self.number(), self.number()])

    def _functions(self, number: int, mu: Q, L: Q) -> list[list[Client]]:
        """Functions that are extreme as the worst ones are: of extreme slopes, and often alike, or of one minimizer."""
        center, slopes = [self.number(), self.number()], (mu, (mu + L) / 2, L)
        alike, together = self.rng.random(2) < 0.4
        rows = []
        for _ in range(number):
            near, far = sorted((slopes[self.rng.integers(3)], slopes[self.rng.integers(3)]), reverse=True)
            place = [*center] if together else [self.number(), self.number()]
            rows.append([Client(place[axis], near, far, abs(self.number()) + Q(1, 7)) for axis in range(2)])
        return rows[:1] * number if alike else rows

    def function(self, mu: Q, L: Q) -> Real:
        return Real(self, [(Q(1), self._functions(1, mu, L))])

    def clients(self, num_clients: int, mu: Q, L: Q) -> Real:
        return Real(self, [(Q(1), self._functions(num_clients, mu, L))])

    def mean(self, outcomes: Sequence[Any]) -> Any:
        return Q(1, len(outcomes)) * reduce(add, outcomes)

    def disturbed(self, v: Vector, relative: Q) -> Vector:
        """Entries made longer or shorter by a share, often all alike, and in clients alike where all have the same."""
        signs = self.rng.choice([-1, 1], size=(1, self.num_clients, 2))
        if self.rng.random() < 0.5:
            signs[...] = signs[0, 0, 0]
        if (v.entries == v.entries[:, :1]).all():
            signs = signs[:, :1]
        return Vector(v.entries * (1 + relative * signs.astype(object)))

    def compressed(self, v: Vector, eps: Q) -> Vector:
        root = Q(int(eps.numerator**0.5), int(eps.denominator**0.5))
        assert root**2 == eps, "shares are squares here"
        return self.disturbed(v, root)

    def noise(self, variance: Q) -> Vector:
        """Of another sign in half of the outcomes, and of a square of the variance."""
        assert variance == 1, "a noise along one axis"
        entries = np.zeros((len(self.signs), self.num_clients, 2), dtype=object) * Q(1)
        entries[:, :, int(self.rng.integers(2))] = self.signs[:, self.noises]
        self.noises += 1
        return Vector(entries)

    def limit(self, form: Q, name: str) -> None:
        self.measured[name] = form

    def maximize(self, *forms: Q) -> None:
        self.reached = min(forms)
