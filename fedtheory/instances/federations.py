"""Federations in exact arithmetic: diagonal quadratics and non-convex clients."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedtheory import federation
from fedtheory._support.wording import truncate
from fedtheory.instances import _checks
from fedtheory.instances.vectors import Vector, combination, inner, vector

__all__ = ["RationalQuadratics"]


@final
@dataclass(frozen=True)
class RationalQuadratics:
    r"""Clients ``F_k(w) = 1/2 sum_i h_ki (w_i - c_ki)^2 + F_k*`` with rational curvatures, centers, weights and minima.

    ``curvatures`` and ``centers`` contain one vector per client, ``weights`` and ``minima`` one number per client.

    Two clients at +1 and -1 with unit curvature:

    >>> fed = opposite_clients()
    >>> fed.minimizer, fed.objective_gap, fed.gap(vector(2))
    ((Fraction(0, 1),), Fraction(1, 2), Fraction(2, 1))
    """

    curvatures: tuple[Vector, ...]
    centers: tuple[Vector, ...]
    weights: Vector
    minima: Vector

    def __post_init__(self) -> None:
        weights = _checks.vector("weights", self.weights)
        curvatures = _checks.vectors("curvatures", self.curvatures, len(weights))
        exact = {
            "weights": weights,
            "curvatures": curvatures,
            "centers": _checks.vectors("centers", self.centers, len(weights), len(curvatures[0])),
            "minima": _checks.vector("minima", self.minima, len(weights)),
        }
        for name, value in exact.items():
            object.__setattr__(self, name, value)

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
        return Vector(self.excess(k, w) for k in range(self.num_clients))

    def losses(self, w: Vector) -> Vector:
        """All F_k at a model."""
        return self.excesses(w) + self.minima

    def gradient(self, client: int, w: Vector) -> Vector:
        """Gradient of one client's objective."""
        self._check_model(w)
        return Vector(h * (x - c) for h, x, c in zip(self.curvatures[client], w, self.centers[client], strict=True))

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
        pull = combination(self.weights, self.gradients(vector(*[0] * self.dim)))
        return Vector(-g / h for g, h in zip(pull, curvature, strict=True))

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
            message = f"w must be a vector of {self.dim} rationals, got {truncate(w)}"
            raise ValueError(message)

    def rounded(self) -> "federation.QuadraticFederation":
        """Return the same federation in floating point."""
        import numpy as np

        numbers = (self.curvatures, self.centers, self.weights, self.minima)
        return federation.QuadraticFederation(*(np.array(each, dtype=np.float64) for each in numbers), normalize=True)


def opposite_clients() -> RationalQuadratics:
    """Two equally weighted clients ``1/2 (w - 1)^2`` and ``1/2 (w + 1)^2``: minimizer 0, objective gap 1/2."""
    return RationalQuadratics((vector(1),) * 2, (vector(1), vector(-1)), vector("1/2", "1/2"), vector(0, 0))


def prioritized(curvatures: Any, centers: Any, shares: Vector, num_priority: int, minima: Vector) -> RationalQuadratics:
    """Make the federation whose first clients are the priority clients, with weights p_k; the others have weight 0."""
    weights = Vector(share if k < num_priority else Fraction(0) for k, share in enumerate(shares))
    return RationalQuadratics(curvatures, centers, weights, minima)


@final
@dataclass(frozen=True)
class Wells:
    r"""Non-convex clients ``f_i(x) = a_i phi(x - c_i) + b_i x`` in one dimension, ``phi(t) = t^2 / (1 + t^2)``.

    ``phi''`` is between -1/2 and 2, so that every f_i is L-smooth with ``L = 2 max a_i``. The fields contain the a_i,
    c_i, b_i and w_i, one number per client.

    One client with a = 3, c = 1 and b = 1/5 at x = 2: t = 1, so 3/2 + 2/5, and the slope 3 * 2/4 + 1/5.

    >>> clients = Wells(vector(3), vector(1), vector("1/5"), vector(1))
    >>> clients.value(vector(2)), clients.gradient(0, vector(2)), clients.smoothness
    (Fraction(19, 10), (Fraction(17, 10),), Fraction(6, 1))
    """

    amplitudes: Vector
    centers: Vector
    slopes: Vector
    weights: Vector

    def gradient(self, client: int, w: Vector) -> Vector:
        """Gradient of one client's objective."""
        t = w[0] - self.centers[client]
        return Vector((self.amplitudes[client] * 2 * t / (1 + t * t) ** 2 + self.slopes[client],))

    def value(self, w: Vector) -> Fraction:
        """Objective ``sum_i w_i f_i``."""
        clients = zip(self.amplitudes, (w[0] - c for c in self.centers), self.slopes, strict=True)
        return inner(self.weights, [a * t * t / (1 + t * t) + b * w[0] for a, t, b in clients])

    @property
    def smoothness(self) -> Fraction:
        """L."""
        return 2 * max(self.amplitudes)

    @property
    def dissimilarity(self) -> Fraction:
        """Bound on ``sum_i w_i |grad f_i - grad f|^2``.

        With equal a_i and equal c_i it is the exact value for all w; otherwise, with slopes 0, it follows from
        ``|phi'|^2 <= 27/64``.
        """
        if len(set(self.amplitudes)) == len(set(self.centers)) == 1:
            return inner(self.weights, [b * b for b in self.slopes])
        return Fraction(27, 64) * inner(self.weights, [a * a for a in self.amplitudes])
