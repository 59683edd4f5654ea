"""Federations of diagonal quadratics in rational arithmetic: every constant of the theory without rounding."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["RationalQuadratics", "Vector", "combination", "difference", "norm2", "vector"]

Vector = tuple[Fraction, ...]


def vector(*numbers: Fraction | int | str) -> Vector:
    """Make a vector of exact rationals.

    >>> vector(1, "1/2")
    (Fraction(1, 1), Fraction(1, 2))
    """
    return tuple(Fraction(number) for number in numbers)


def difference(left: Vector, right: Vector) -> Vector:
    """Entrywise difference."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


def norm2(x: Vector) -> Fraction:
    """Squared Euclidean norm."""
    return sum((entry * entry for entry in x), start=Fraction(0))


def combination(coefficients: Sequence[Fraction], vectors: Sequence[Vector]) -> Vector:
    """Sum of coefficient times vector; there must be at least one vector."""
    return tuple(
        sum((c * entry for c, entry in zip(coefficients, entries, strict=True)), start=Fraction(0))
        for entries in zip(*vectors, strict=True)
    )


@final
@dataclass(frozen=True)
class RationalQuadratics:
    r"""Clients ``F_k(w) = 1/2 sum_i h_ki (w_i - c_ki)^2 + F_k*`` with rational curvatures, centers, weights and minima.

    ``curvatures`` and ``centers`` hold one vector per client, ``weights`` and ``minima`` one number per client.

    Two clients at +1 and -1 with unit curvature:

    >>> fed = RationalQuadratics((vector(1), vector(1)), (vector(1), vector(-1)), vector("1/2", "1/2"), vector(0, 0))
    >>> fed.minimizer, fed.objective_gap, fed.gap(vector(2))
    ((Fraction(0, 1),), Fraction(1, 2), Fraction(2, 1))
    """

    curvatures: tuple[Vector, ...]
    centers: tuple[Vector, ...]
    weights: Vector
    minima: Vector

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return len(self.weights)

    @property
    def dim(self) -> int:
        """Number of model parameters v."""
        return len(self.centers[0])

    def excess(self, client: int, w: Vector) -> Fraction:
        """``F_k(w) - F_k*`` of one client."""
        curved = zip(self.curvatures[client], w, self.centers[client], strict=True)
        return sum((h * (x - c) * (x - c) for h, x, c in curved), start=Fraction(0)) / 2

    def losses(self, w: Vector) -> Vector:
        """All F_k at a model."""
        return tuple(self.excess(k, w) + minimum for k, minimum in enumerate(self.minima))

    def gradient(self, client: int, w: Vector) -> Vector:
        """Gradient of one client's objective."""
        curved = zip(self.curvatures[client], w, self.centers[client], strict=True)
        return tuple(h * (x - c) for h, x, c in curved)

    def total_excess(self, w: Vector) -> Fraction:
        """``sum_k p_k (F_k(w) - F_k*) = F(w) - F* + objective gap``."""
        return sum((p * self.excess(k, w) for k, p in enumerate(self.weights)), start=Fraction(0))

    def gap(self, w: Vector) -> Fraction:
        """``F(w) - F*``."""
        return self.total_excess(w) - self.objective_gap

    @cached_property
    def minimizer(self) -> Vector:
        """Minimizer of F."""
        curvature = combination(self.weights, self.curvatures)
        pulls = [self.gradient(k, tuple(Fraction(0) for _ in curvature)) for k in range(self.num_clients)]
        return tuple(-pull / h for pull, h in zip(combination(self.weights, pulls), curvature, strict=True))

    @cached_property
    def objective_gap(self) -> Fraction:
        """Local-global objective gap, ``F* - sum_k p_k F_k*``."""
        return self.total_excess(self.minimizer)

    @cached_property
    def smoothness(self) -> Fraction:
        """Largest curvature L."""
        return max(max(diagonal) for diagonal in self.curvatures)

    @cached_property
    def strong_convexity(self) -> Fraction:
        """Smallest curvature mu."""
        return min(min(diagonal) for diagonal in self.curvatures)

    def rounded(self) -> QuadraticFederation:
        """Return the same federation in floating point."""
        curvatures, centers, weights, minima = (
            np.array(numbers, dtype=np.float64)
            for numbers in (self.curvatures, self.centers, self.weights, self.minima)
        )
        return QuadraticFederation(curvatures, centers, weights, minima, normalize=True)
