"""Federations of diagonal quadratics in rational arithmetic: every constant of the theory without rounding."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedtheory._support.wording import short
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.rational import _checks
from fedtheory.rational.vectors import Vector, combination, inner

__all__ = ["RationalQuadratics"]


@final
@dataclass(frozen=True)
class RationalQuadratics:
    r"""Clients ``F_k(w) = 1/2 sum_i h_ki (w_i - c_ki)^2 + F_k*`` with rational curvatures, centers, weights and minima.

    ``curvatures`` and ``centers`` hold one vector per client, ``weights`` and ``minima`` one number per client;
    anything else is a ``ValueError``.

    Two clients at +1 and -1 with unit curvature:

    >>> fed = opposite_clients()
    >>> fed.minimizer, fed.objective_gap, fed.gap((Fraction(2),))
    ((Fraction(0, 1),), Fraction(1, 2), Fraction(2, 1))
    """

    curvatures: tuple[Vector, ...]
    centers: tuple[Vector, ...]
    weights: Vector
    minima: Vector

    def __post_init__(self) -> None:
        num_clients = len(_checks.vector("weights", self.weights))
        dim = len(_checks.vectors("curvatures", self.curvatures, num_clients)[0])
        _checks.vectors("centers", self.centers, num_clients, dim)
        _checks.vector("minima", self.minima, num_clients)

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
        self._check_model(w)
        curved = zip(self.curvatures[client], w, self.centers[client], strict=True)
        return sum((h * (x - c) * (x - c) for h, x, c in curved), start=Fraction(0)) / 2

    def excesses(self, w: Vector) -> Vector:
        """``F_k(w) - F_k*`` of all clients."""
        return tuple(self.excess(k, w) for k in range(self.num_clients))

    def losses(self, w: Vector) -> Vector:
        """All F_k at a model."""
        return tuple(excess + minimum for excess, minimum in zip(self.excesses(w), self.minima, strict=True))

    def gradient(self, client: int, w: Vector) -> Vector:
        """Gradient of one client's objective."""
        self._check_model(w)
        curved = zip(self.curvatures[client], w, self.centers[client], strict=True)
        return tuple(h * (x - c) for h, x, c in curved)

    def gradients(self, w: Vector) -> tuple[Vector, ...]:
        """Gradients of all clients' objectives."""
        return tuple(self.gradient(k, w) for k in range(self.num_clients))

    def total_excess(self, w: Vector) -> Fraction:
        """``sum_k p_k (F_k(w) - F_k*) = F(w) - F* + objective gap``."""
        return inner(self.weights, self.excesses(w))

    def gap(self, w: Vector) -> Fraction:
        """``F(w) - F*``."""
        return self.total_excess(w) - self.objective_gap

    @cached_property
    def minimizer(self) -> Vector:
        """Minimizer of F."""
        curvature = combination(self.weights, self.curvatures)
        pull = combination(self.weights, self.gradients((Fraction(0),) * self.dim))
        return tuple(-g / h for g, h in zip(pull, curvature, strict=True))

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

    def _check_model(self, w: Any) -> None:
        if not isinstance(w, tuple | list) or len(w) != self.dim:
            message = f"w must be a vector of {self.dim} rationals, got {short(w)}"
            raise ValueError(message)

    def rounded(self) -> QuadraticFederation:
        """Return the same federation in floating point."""
        curvatures, centers, weights, minima = (
            np.array(numbers, dtype=np.float64)
            for numbers in (self.curvatures, self.centers, self.weights, self.minima)
        )
        return QuadraticFederation(curvatures, centers, weights, minima, normalize=True)


def opposite_clients() -> RationalQuadratics:
    """Two equally weighted clients ``1/2 (w - 1)^2`` and ``1/2 (w + 1)^2``: minimizer 0, objective gap 1/2.

    >>> opposite_clients().objective_gap
    Fraction(1, 2)
    """
    one, half = Fraction(1), Fraction(1, 2)
    return RationalQuadratics(((one,), (one,)), ((one,), (-one,)), (half, half), (Fraction(0), Fraction(0)))


def prioritized(curvatures: Any, centers: Any, shares: Vector, num_priority: int, minima: Vector) -> RationalQuadratics:
    """Make the federation whose first clients are the priority clients, with weights p_k; the others have weight 0.

    Parameters
    ----------
    curvatures, centers
        Of all clients, shape (K, v); the priority clients come first.
    shares
        p_k of all clients, shape (K,).
    num_priority
        How many have priority.
    minima
        F_k* of all clients, shape (K,).

    Examples
    --------
    >>> one, two, five = Fraction(1), Fraction(2), Fraction(5)
    >>> fed = prioritized(((one,), (one,)), ((two,), (five,)), (one, two), 1, (two, five))
    >>> fed.weights, fed.minimizer
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(2, 1),))
    """
    weights = tuple(share if k < num_priority else Fraction(0) for k, share in enumerate(shares))
    return RationalQuadratics(curvatures, centers, weights, minima)
