"""Stationary points of averaging on quadratics with a fixed step size, in exact arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.arithmetic.matrices import solved
from fedtheory.instances import _checks
from fedtheory.instances.vectors import Vector, combination, inner

__all__ = ["StationaryPoints"]

Matrix = tuple[Vector, ...]


@final
@dataclass(frozen=True)
class StationaryPoints:
    r"""Quadratic clients ``F_k(w) = 1/2 (w - a_k)' H_k (w - a_k)`` and the limits of averaging methods on them.

    ``hessians`` (K, v, v), ``centers`` (K, v), ``weights`` (K,). With ``Q_k(t) = sum_{s<t} (I - eta H_k)^s H_k``, t
    steps of client k map w to ``w - eta Q_k(t) (w - a_k)``, so that the stationary point for weights q_k is ``(sum q_k
    Q_k)^-1 sum q_k Q_k a_k``. Inconsistent shapes raise a ``ValueError``.

    Two parabolas of curvature 1 around 0 and 1, of which the second takes four steps of size 1/10:

    >>> one, tenth = Fraction(1), Fraction(1, 10)
    >>> fed = StationaryPoints((((one,),),) * 2, ((Fraction(0),), (one,)), (Fraction(1, 2),) * 2)
    >>> fed.averaging(tenth, (1, 4)), fed.normalized(tenth, (1, 4))
    ((Fraction(3439, 4439),), (Fraction(3439, 7439),))
    """

    hessians: tuple[Matrix, ...]
    centers: tuple[Vector, ...]
    weights: Vector

    def __post_init__(self) -> None:
        weights = _checks.vector("weights", self.weights)
        centers = _checks.vectors("centers", self.centers, len(weights))
        hessians: Any = self.hessians
        if not isinstance(hessians, tuple | list) or len(hessians) != len(weights):
            message = f"hessians must be {len(weights)} matrices of rationals, got {truncate(hessians)}"
            raise ValueError(message)
        dim = len(centers[0])
        matrices = tuple(_checks.vectors("each of hessians", hessian, dim, dim) for hessian in hessians)
        for name, value in {"weights": weights, "centers": centers, "hessians": matrices}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def minimizer(self) -> Vector:
        """Minimizer of F."""
        return self._rest(self.weights, self.hessians)

    @cached_property
    def gradients(self) -> tuple[Vector, ...]:
        """Gradients of the clients at the minimizer, shape (K, v)."""
        return tuple(_times(h, self.minimizer - a) for h, a in zip(self.hessians, self.centers, strict=True))

    def averaging(self, step_size: Fraction, local_steps: Sequence[int]) -> Vector:
        """Return the stationary point of federated averaging; client k takes ``local_steps[k]`` steps."""
        pulls = [self.pull(k, step_size, t) for k, t in enumerate(self._counts(local_steps))]
        return self._rest(self.weights, pulls)

    def normalized(self, step_size: Fraction, local_steps: Sequence[int]) -> Vector:
        """Return the stationary point of FedNova, which does not depend on tau_eff."""
        counts = self._counts(local_steps)
        pulls = [self.pull(k, step_size, t) for k, t in enumerate(counts)]
        return self._rest([p / t for p, t in zip(self.weights, counts, strict=True)], pulls)

    def drift(self, step_size: Fraction, local_steps: int) -> Vector:
        """Return the average drift at the minimizer w*, ``sum_k p_k Q_k(tau) (w* - a_k) / tau``."""
        tau = validate.count("local_steps", local_steps)
        pulls = [self.pull(k, step_size, tau) for k in range(len(self.weights))]
        moves = [_times(pull, self.minimizer - a) for pull, a in zip(pulls, self.centers, strict=True)]
        return combination(self.weights, moves) / tau

    def romberg(self, step_size: Fraction, local_steps: int) -> Vector:
        """Return ``2 w(eta) - w(2 eta)``, the extrapolation of Richardson and Romberg of two stationary points."""
        steps = [validate.size("local_steps", local_steps)] * len(self.weights)
        return 2 * self.averaging(step_size, steps) - self.averaging(2 * step_size, steps)

    def round(
        self, model: Vector, step_size: Fraction, local_steps: Sequence[int], *, normalize: bool = False
    ) -> Vector:
        """Return the model after a round of averaging, or of FedNova, step by step."""
        counts, moves, eta = self._counts(local_steps), [], _checks.positive("step_size", step_size)
        model = _checks.vector("model", model, len(self.centers[0]))
        for k, t in enumerate(counts):
            y = model
            for _ in range(t):
                y -= eta * _times(self.hessians[k], y - self.centers[k])
            moves.append(y - model)
        if not validate.boolean("normalize", normalize):
            return model + combination(self.weights, moves)
        effective = inner(self.weights, [Fraction(t) for t in counts])
        return model + combination([effective * p / t for p, t in zip(self.weights, counts, strict=True)], moves)

    def inconsistent_minimizer(self, local_steps: Sequence[int]) -> Vector:
        """Return the limit of averaging for short steps, the minimizer of ``sum p_k tau_k F_k``."""
        counts = self._counts(local_steps)
        return self._rest([p * t for p, t in zip(self.weights, counts, strict=True)], self.hessians)

    def pull(self, client: int, step_size: Fraction, num_steps: int) -> Matrix:
        """Return ``Q_k(t)``, the displacement of a client in t steps divided by eta."""
        h, eta = self.hessians[client], _checks.positive("step_size", step_size)
        identity = [Vector(Fraction(int(i == j)) for j in range(len(h))) for i in range(len(h))]
        kept = tuple(row - eta * other for row, other in zip(identity, h, strict=True))
        total, power = h, h
        for _ in range(validate.size("num_steps", num_steps) - 1):
            power = _product(kept, power)
            total = tuple(row + other for row, other in zip(total, power, strict=True))
        return total

    def _counts(self, local_steps: Sequence[int]) -> tuple[int, ...]:
        counts = tuple(validate.size("local_steps", t) for t in validate.sequence("local_steps", local_steps))
        if len(counts) != len(self.weights):
            message = f"local_steps must be a number for each of {len(self.weights)} clients, got {len(counts)}"
            raise ValueError(message)
        return counts

    def _rest(self, weights: Sequence[Fraction], pulls: Sequence[Matrix]) -> Vector:
        moved = [_times(pull, a) for pull, a in zip(pulls, self.centers, strict=True)]
        return Vector(solved(_mixed(weights, pulls), combination(weights, moved)))


def _times(matrix: Matrix, x: Vector) -> Vector:
    return Vector(row @ x for row in matrix)


def _product(left: Matrix, right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return tuple(Vector(inner(row, column) for column in columns) for row in left)


def _mixed(weights: Sequence[Fraction], matrices: Sequence[Matrix]) -> Matrix:
    return tuple(combination(weights, rows) for rows in zip(*matrices, strict=True))
