"""Noises of two outcomes in the place of noises of many, for federations that come as near to a worst case as these do.

In the block of the s-th noise a vector depends on the outcomes so far: those before it choose one of ``2^s``
directions, its own outcome the sign.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.worst_case._embedding import Embedding, Places
from fedtheory.worst_case._function_classes import Point
from fedtheory.worst_case._gram import Vector
from fedtheory.worst_case.instances import Interpolant

__all__ = ["Noises"]

Outcomes = tuple[int, ...]


class Noises(NamedTuple):
    """The block of the first step's noise, and the number of steps."""

    first_block: int
    num_steps: int

    def along(self, outcomes: Outcomes, places: Places) -> Places:
        """Return the places of what depends on some outcomes; what comes later has none."""
        found = dict(places)
        for s in range(self.num_steps):
            signs = np.zeros(2**s)
            if s < len(outcomes):
                signs[int("0" + "".join(map(str, outcomes[:s])), 2)] = 1.0 - 2 * outcomes[s]
            found[self.first_block + s] = signs
        return found

    def noises(self, space: Embedding, places: Places) -> tuple[Array, ...]:
        """Return the noise of each step by the outcomes so far, shapes (2, ..., 2, v)."""
        found = []
        for s in range(self.num_steps):
            # The first vector of a noise's block is the noise.
            noise = Vector({(self.first_block + s, 0): Fraction(1)})
            every = product((0, 1), repeat=s + 1)
            placed = [space.place(noise, self.along(outcomes, places), 1) for outcomes in every]
            found.append(np.array(placed).reshape((2,) * (s + 1) + (-1,)))
        return tuple(found)

    def client(self, space: Embedding, points: Sequence[Point], places: Places) -> Interpolant:
        """Return the function of a client that is known at all models to which its noises may lead."""
        parts = [space.client([point], self.along(outcomes, places)) for point, outcomes in self._copies(points)]
        return Interpolant(
            points=np.concatenate([part.points for part in parts]),
            gradients=np.concatenate([part.gradients for part in parts]),
            values=np.concatenate([part.values for part in parts]),
            mu=parts[0].mu,
            L=parts[0].L,
        )

    def _copies(self, points: Sequence[Point]) -> Iterator[tuple[Point, Outcomes]]:
        """Yield each point with the outcomes that lead to it; the last points are those along the path."""
        first = len(points) - self.num_steps
        for number, point in enumerate(points):
            for outcomes in product((0, 1), repeat=max(number - first, 0)):
                yield point, outcomes
