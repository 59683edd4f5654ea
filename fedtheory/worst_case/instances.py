"""Functions and points that attain a worst case."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import root
from fedtheory.worst_case._certificates import FeasiblePoint
from fedtheory.worst_case._interpolation import FunctionClass
from fedtheory.worst_case._names import Names
from fedtheory.worst_case._numeric_run import Outcome, Run
from fedtheory.worst_case._record import Declared, Record, Step
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Form, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Instance"]

_NEGLIGIBLE = 1e-5
"""Directions are dropped if no vector has a larger component along them than this share of the longest vector."""
_MOST_COPIES = 4
"""Largest number of noises, which have two outcomes each, in a representative run."""
_ROUNDING = 1e-9
"""Rounding error of a run as a share of the longest vectors."""
_MISSED = 1e-4
"""Largest difference between a run and the proved bound, as a share of the bounds."""


@final
@dataclass(frozen=True)
class Interpolant:
    r"""The largest L-smooth, mu-strongly convex function with given values and gradients at some points.

    With ``l = L - mu``, ``h_i = f_i - mu/2 |x_i|^2`` and ``s_i = g_i - mu x_i``, it is

    .. math::
        F(x)=\frac\mu2\|x\|^2+\min_a\ \frac l2\Big\|x-\sum_ia_i\big(x_i-\tfrac{s_i}l\big)\Big\|^2
        +\sum_ia_i\big(h_i-\tfrac{\|s_i\|^2}{2l}\big)

    over weights ``a_i >= 0`` of sum 1 (Taylor, Hendrickx, Glineur 2017).

    Attributes
    ----------
    points, gradients, values
        Interpolated points, gradients and values, shapes (n, v), (n, v), (n,). The minimizer is one of the points.
    mu, L
        Strong convexity and smoothness.
    """

    points: Array
    gradients: Array
    values: Array
    mu: float
    L: float

    has_gradient: ClassVar[bool] = True

    @property
    def minimum(self) -> float:
        """The least loss."""
        return float(self.values.min())

    def loss(self, w: Array) -> float:
        """Return the loss of a model."""
        bulge, corners, levels = self.L - self.mu, self._corners, self._levels
        weights = self._weights(w)
        away = w - weights @ corners
        return float(self.mu / 2 * w @ w + bulge / 2 * away @ away + weights @ levels)

    def gradient(self, w: Array) -> Array:
        """Return the gradient of the loss at a model."""
        found: Array = self.mu * w + (self.L - self.mu) * (w - self._weights(w) @ self._corners)
        return found

    @property
    def _corners(self) -> Array:
        found: Array = self.points - (self.gradients - self.mu * self.points) / (self.L - self.mu)
        return found

    @property
    def _levels(self) -> Array:
        slopes = self.gradients - self.mu * self.points
        heights = self.values - self.mu / 2 * (self.points**2).sum(axis=1)
        found: Array = heights - (slopes**2).sum(axis=1) / (2 * (self.L - self.mu))
        return found

    def _weights(self, w: Array) -> Array:
        bulge = self.L - self.mu
        away = w - self._corners
        linear = self._levels / bulge
        return _on_simplex(away, linear)


def _on_simplex(vectors: Array, linear: Array) -> Array:
    """Minimize ``|sum a_i v_i|^2 / 2 + sum a_i c_i`` over ``a_i >= 0`` with sum 1 (Wolfe 1976)."""
    inside = [int(np.argmin((vectors**2).sum(axis=1) / 2 + linear))]
    weights = np.zeros(linear.size)
    weights[inside] = 1.0
    for _ in range(50 * linear.size):
        slope = vectors @ (weights @ vectors) + linear
        best = int(np.argmin(slope))
        if best in inside or slope[best] >= slope @ weights:
            break
        inside.append(best)
        inside = _settled(weights, inside, vectors, linear)
    return weights


def _settled(weights: Array, inside: list[int], vectors: Array, linear: Array) -> list[int]:
    """Move to the minimum over a face; leave the face if a weight becomes negative."""
    while True:
        here = weights[inside]
        away, is_whole = _descent(here, vectors[inside], linear[inside])
        below = here + away < 0 if is_whole else away < 0
        share = float((here[below] / -away[below]).min()) if below.any() else 1.0
        weights[inside] = np.where(below & (here + share * away <= 1e-15), 0.0, here + share * away)
        if is_whole and not below.any():
            return inside
        inside = [k for k in inside if weights[k] > 0]


def _descent(here: Array, vectors: Array, linear: Array) -> tuple[Array, bool]:
    """Return the step to the minimum and True; if there is no unique minimum, a direction of descent and False.

    Along a direction of descent the objective is linear, so the step ends when a weight becomes 0.
    """
    edges, rise = vectors[1:] - vectors[0], linear[1:] - linear[0]
    turns, lengths, _ = np.linalg.svd(edges)
    idle = turns[:, np.count_nonzero(lengths > 1e-12 * np.linalg.norm(edges)) :]
    if idle.size:
        down = -idle @ (idle.T @ rise)
        change = down if down.any() else idle[:, 0]
    else:
        slope = edges @ (here @ vectors) + rise
        change = -turns @ (turns.T @ slope / lengths**2)
    return np.append(-change.sum(), change), not idle.size


@final
@dataclass(frozen=True)
class Parabola:
    """The quadratic loss ``(w - c)' H (w - c) / 2 + minimum``; shapes (v, v) and (v,)."""

    curvature: Array
    center: Array
    minimum: float = 0.0

    has_gradient: ClassVar[bool] = True

    def loss(self, w: Array) -> float:
        """Return the loss of a model."""
        away = w - self.center
        return float(away @ self.curvature @ away / 2 + self.minimum)

    def gradient(self, w: Array) -> Array:
        """Return the gradient of the loss at a model."""
        found: Array = self.curvature @ (w - self.center)
        return found


@final
@dataclass(frozen=True)
class Envelope:
    r"""The least convex function with given values and subgradients at some points, plus a parabola if mu is not 0.

    With the least curvature mu, which may be negative, it is the maximum of the functions

    .. math::
        f_i+\langle g_i,x-x_i\rangle+\frac\mu2\|x-x_i\|^2

    Attributes
    ----------
    points, gradients, values
        Interpolated points, subgradients and values, shapes (n, v), (n, v), (n,).
    mu
        Least curvature.
    """

    points: Array
    gradients: Array
    values: Array
    mu: float

    has_gradient: ClassVar[bool] = False

    @property
    def minimum(self) -> float:
        """The least of the given values."""
        return float(self.values.min())

    def loss(self, w: Array) -> float:
        """Return the value at a point."""
        return float(self._pieces(w).max())

    def gradient(self, w: Array) -> Array:
        """Return a subgradient at a point."""
        best = int(self._pieces(w).argmax())
        found: Array = self.gradients[best] + self.mu * (w - self.points[best])
        return found

    def _pieces(self, w: Array) -> Array:
        away = w - self.points
        found: Array = self.values + (self.gradients * away).sum(axis=1) + self.mu / 2 * (away**2).sum(axis=1)
        return found


@final
@dataclass(frozen=True)
class Samples:
    """Function or operator with given values at finitely many points; elsewhere the value of the nearest point.

    Attributes
    ----------
    points, gradients, values
        Shapes (n, v), (n, v), (n,).
    """

    points: Array
    gradients: Array
    values: Array

    has_gradient: ClassVar[bool] = False

    @property
    def minimum(self) -> float:
        """The least of the given values."""
        return float(self.values.min())

    def loss(self, w: Array) -> float:
        """Return the value at the nearest point."""
        return float(self.values[self._nearest(w)])

    def gradient(self, w: Array) -> Array:
        """Return the gradient at the nearest point."""
        found: Array = self.gradients[self._nearest(w)]
        return found

    def _nearest(self, w: Array) -> int:
        return int(((self.points - w) ** 2).sum(axis=1).argmin())


@final
class Instance(Mapping[str, Array]):
    """Functions and points, by name, that attain a worst case.

    A point that is the same for all clients and outcomes has the shape (v,). Other points have an axis for each group
    of clients and for each noise. Noises have two outcomes, which approximate noises with many outcomes. The earlier
    outcomes determine the direction of a noise, and its outcome determines the sign.

    Attributes
    ----------
    functions
        Functions of the clients, by name.
    dim
        Number of coordinates.
    """

    def __init__(
        self,
        record: Record,
        objectives: Sequence[Form],
        program: Program,
        point: FeasiblePoint,
        *,
        representative: bool = False,
    ) -> None:
        self._record, self._objectives, self._representative = record, objectives, representative
        numbers = zip(program.values, map(float, point.values), strict=True)
        self._values = dict(numbers)
        groups = [one for one in record.declared if one.num_clients > 1]
        self.axes = {one.blocks[1]: axis for axis, one in enumerate(groups)}
        self.axes |= {block: len(groups) + s for s, block in enumerate(record.noises)}
        several = [1 if representative and s >= _MOST_COPIES else 2 for s, _ in enumerate(record.noises)]
        self._lengths = [*(1 if representative else one.num_clients for one in groups), *several]
        grams = point.grams[: len(record.sources)]
        factors = [np.array(root(gram)).reshape(len(gram), -1).T for gram in grams]
        longest = max((float(np.linalg.norm(factor, 2)) for factor in factors if factor.size), default=0.0)
        negligible = _ROUNDING if representative else _NEGLIGIBLE
        self._factors = [_compressed(factor, negligible * longest) for factor in factors]
        if not any(map(len, self._factors)):  # a space has at least one dimension, even if all vectors are 0
            self._factors[0] = np.zeros((1, factors[0].shape[1]))
        self.dim = sum(self._spots[block].shape[-1] * len(factor) for block, factor in enumerate(self._factors))
        self.functions = {one.name: self._functions_of(one) for one in record.declared}

    @cached_property
    def _spots(self) -> list[Array]:
        """Unit vectors, along the last axis, in which a block's vectors are represented, by client and outcomes."""
        found: list[Array] = []
        every = len(self.axes)
        for block, source in enumerate(self._record.sources):
            spot: Array = np.ones((1,) * (every + 1))
            if source.is_noise:
                behind = [other for other in self._record.noises if other in source.behind]
                before = [self._lengths[self.axes[other]] for other in behind]
                own = self._lengths[self.axes[block]]
                shape = [1] * every
                for one in (*behind, block):
                    shape[self.axes[one]] = self._lengths[self.axes[one]]
                # Each history has its direction, along which the outcomes are two signs, or orthogonal directions.
                signs = np.eye(own) if self._representative else np.array([[1.0], [-1.0]])
                spot = np.kron(np.eye(math.prod(before)), signs).reshape(*shape, -1)
            elif pair := next((pair for pair, other in self._record.crossings.items() if other == block), None):
                client, outcome = (found[number] for number in pair)
                spot = client[..., :, None] * outcome[..., None, :]
                spot = spot.reshape(*spot.shape[:-2], -1)
            elif block in self.axes and not self._representative:
                corners = vertices(self._lengths[self.axes[block]])
                shape = [1] * every
                shape[self.axes[block]] = len(corners)
                spot = corners.reshape(*shape, -1)
            found.append(spot)
        return found

    def place(self, vector: Vector) -> Array:
        """Return a vector in space, with axes for clients and outcomes."""
        parts: list[Array] = []
        for block, (factor, spot) in enumerate(zip(self._factors, self._spots, strict=True)):
            inside = np.zeros(factor.shape[1])
            for (home, number), c in vector.coordinates.items():
                if home == block:
                    inside[number] = float(c)
            spread = (spot[..., :, None] * (factor @ inside)).reshape(*spot.shape[:-1], -1)
            parts.append(spread if inside.any() else 0 * spread[(slice(0, 1),) * len(self.axes)])
        shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        found: Array = np.concatenate([np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts], axis=-1)
        return found

    def _functions_of(self, one: Declared) -> tuple[Any, ...]:
        every = len(self.axes)
        known = []
        for call in one.calls:
            at, gradient = np.broadcast_arrays(self.place(call.at), self.place(call.gradient))
            known.append((at, gradient, self._values.get(call.value, 0.0)))
        found = []
        for client in range(1 if self._representative else one.num_clients):
            rows = []
            axis = self.axes[one.blocks[1]] if one.num_clients > 1 else every
            for at, gradient, value in known:
                own = (
                    np.take(some, client % some.shape[axis], axis=axis) if axis < every else some
                    for some in (at, gradient)
                )
                rows += [(x, g, value) for x, g in zip(*map(_rows, own), strict=True)]
            found.append(_function(one, rows, self.dim))
        return tuple(found)

    @property
    def clients(self) -> list[Any]:
        """The functions of all clients, as one list."""
        return [function for functions in self.functions.values() for function in functions]

    @cached_property
    def _points(self) -> dict[str, Array]:
        return {
            name: np.squeeze(self.place(vector)) if self.place(vector).size == self.dim else self.place(vector)
            for name, vector in Names(self._record).points.items()
        }

    def __getitem__(self, name: str) -> Array:
        return self._points[name].reshape(-1) if self._points[name].size == self.dim else self._points[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        some, functions = [*self], sum(map(len, self.functions.values()))
        shown = ", ".join([*some[:6], "..."] if len(some) > 6 else some)
        what = "function" if functions == 1 else "functions"
        return f"Instance({functions} {what} and {len(some)} points in dimension {self.dim}: {shown})"

    def run(self) -> float:
        """Run the problem with these functions, points and noises, step by step, and return the objective."""
        return self.outcome().objective

    def outcome(self) -> Outcome:
        """Run the problem; return the objective and the violations of the constraints."""

        def choose(step: Step, inputs: Sequence[Array]) -> Array:  # noqa: ARG001
            return self.place(step.made)

        part = self._part if self._representative else None
        return Run(self._record, self.functions, choose, self._values, part).outcome(self._objectives)

    def _part(self, found: Array, block: int) -> Array:
        """Return the part of a vector in a block: its coordinates in the directions of the block."""
        widths = [spot.shape[-1] * len(factor) for spot, factor in zip(self._spots, self._factors, strict=True)]
        first = sum(widths[:block])
        kept: Array = np.zeros_like(found)
        kept[..., first : first + widths[block]] = found[..., first : first + widths[block]]
        return kept

    def as_data(self) -> dict[str, Any]:
        """Return functions, points and the objective of the run as JSON-serializable lists."""
        return {
            "functions": {name: [_as_data(one) for one in own] for name, own in self.functions.items()},
            "points": {name: self[name].tolist() for name in self},
            "objective": self.run(),
        }

    def plot_functions(self, axes: Axes) -> Axes:
        """Plot the smooth convex functions along the line from the first point to the minimizer; return the Axes.

        The curve is the largest function of the class with the values and gradients of the worst case. Dots are the
        points of the run, projected onto the line.

        Parameters
        ----------
        axes
            The Axes to draw on.

        Returns
        -------
        Axes
            The same Axes.

        Raises
        ------
        ValueError
            If there is no smooth convex function.
        """
        smooth = {
            f"{name}, client {k}" if len(own) > 1 else name: f
            for name, own in self.functions.items()
            for k, f in enumerate(own)
            if isinstance(f, Interpolant) and f.mu >= 0
        }
        if not smooth or len(self) < 2:
            message = "a function that is drawn must be smooth and convex, got none"
            raise ValueError(message)
        for name, f in smooth.items():
            start, end = self[next(iter(self))].reshape(-1, self.dim)[0], f.points[int(f.values.argmin())]
            way = end - start
            length = float(np.linalg.norm(way)) or 1.0
            nearest = (f.points - start) @ way / length
            along = np.linspace(min(nearest) - 0.1 * length, max(nearest) + 0.1 * length, 151)
            axes.plot(along, [f.loss(start + step / length * way) for step in along], label=name)
            axes.plot(nearest, f.values, "o", color=axes.get_lines()[-1].get_color())
        axes.set_xlabel("along the line from the start to the minimizer")
        axes.set_ylabel("value")
        axes.legend()
        return axes

    def plot_plane(self, axes: Axes) -> Axes:
        """Plot the points in the plane of the first two coordinates; return the Axes.

        Parameters
        ----------
        axes
            The Axes to draw on. The label states the share of all squared distances that lies in the plane. It is 1 if
            the worst case has at most two dimensions.

        Returns
        -------
        Axes
            The same Axes.
        """
        known = [(name, row) for name in self for row in self[name].reshape(-1, self.dim)]
        places = np.array([row for _, row in known])
        apart = places - places.mean(axis=0)
        _, lengths, turned = np.linalg.svd(apart, full_matrices=False)
        flat = np.zeros((len(places), 2))
        flat[:, : min(2, len(turned))] = apart @ turned[:2].T
        axes.plot(*flat.T, "o")
        for (name, _), spot in zip(known, flat, strict=True):
            axes.annotate(name, (spot[0], spot[1]), xytext=(4, 4), textcoords="offset points")
        total = float((lengths**2).sum())
        axes.set_xlabel(f"{float((lengths[:2] ** 2).sum()) / (total or 1.0):.0%} of the squared distances")
        axes.set_aspect("equal", adjustable="datalim")
        return axes


def instance_of(record: Record, objectives: Sequence[Form], program: Program, point: FeasiblePoint) -> Instance:
    """Return the instance of a feasible point."""
    return Instance(record, objectives, program, point)


def is_attained(
    record: Record,
    objectives: Sequence[Form],
    program: Program,
    point: FeasiblePoint,
    lower: Fraction,
) -> bool:
    """Whether a run of the problem, on the functions of a feasible point, attains the lower side.

    The run has one client of each group, since all clients have the same products, and orthogonal outcomes of noises,
    like noises with many outcomes. Deviations of a small share of the bounds, and rounding errors of long vectors, are
    tolerated.
    """
    instance = Instance(record, objectives, program, point, representative=True)
    found = instance.outcome()
    sizes = [abs(float(lower)), *(abs(float(one.bound)) for one in record.constraints)]
    lengths = (float((instance.place(step.made) ** 2).sum(axis=-1).max(initial=0.0)) for step in record.steps)
    longest = max(lengths, default=0.0)
    missed = max(_MISSED * max(sizes), _ROUNDING * longest)
    gradients = max((found.broken.get(one.name, 0.0) for one in record.declared), default=0.0)
    functions = {one.name for one in record.declared}
    squares = max((off for name, off in found.broken.items() if name not in functions), default=0.0)
    return max(float(lower) - found.objective, squares, gradients * math.sqrt(max(sizes))) <= missed


def _rows(some: Array) -> Array:
    found: Array = some.reshape(math.prod(some.shape[:-1]), some.shape[-1])
    return found


def _function(one: Declared, rows: Sequence[tuple[Array, Array, float]], dim: int) -> Any:
    """Return a function of the class with given points, gradients and values, or ``Samples`` if there is none here."""
    of = one.of
    points, gradients = (np.array([row[side] for row in rows]).reshape(-1, dim) for side in (0, 1))
    values = np.array([row[2] for row in rows])
    is_known = isinstance(of, FunctionClass) and of.exact and not (of.indicator or of.names_minimizer)
    if not isinstance(of, FunctionClass) or not is_known or not len(rows):
        return Samples(points, gradients, values)
    mu = float(of.mu)
    if of.L is None:
        return Envelope(points, gradients, values, mu)
    L = float(of.L)
    if not of.quadratic:
        return Interpolant(points, gradients, values, mu, L)
    first = one.minimum or 0
    curvature = completed((points - points[first]).T, (gradients - gradients[first]).T, mu, L)
    if gradients[first].any():
        return Samples(points, gradients, values)
    return Parabola(curvature, points[first], float(values[first]))


def vertices(num: int) -> Array:
    """Return unit vectors with sum zero, the vertices of a regular simplex, shape (num, num - 1).

    >>> vertices(2) @ vertices(2).T
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    centered = np.eye(num) - 1 / num
    _, _, rows = np.linalg.svd(centered)
    found: Array = centered @ rows[:-1].T * np.sqrt(num / max(num - 1, 1))
    return found


def _compressed(factor: Array, negligible: float) -> Array:
    """Rotate the space and drop unused dimensions."""
    _, lengths, rows = np.linalg.svd(factor)
    used = lengths > negligible
    found: Array = lengths[used, None] * rows[: lengths.size][used]
    return found


def completed(x: Array, y: Array, low: float, high: float) -> Array:
    """Complete a symmetric matrix H with eigenvalues in [low, high] from ``H x = y``, shapes (v, n)."""
    basis, lengths, rows = np.linalg.svd(x)
    rank = int((lengths > _NEGLIGIBLE * lengths[0]).sum())
    inside, outside = basis[:, :rank], basis[:, rank:]
    image = y @ (rows[:rank].T / lengths[:rank])
    A, B = inside.T @ image, outside.T @ image
    A = (A + A.T) / 2
    # The unknown block lies between two Schur complements; the middle has the largest distance from both.
    least = low * np.eye(len(B)) + B @ np.linalg.pinv(A - low * np.eye(rank), rcond=1e-6) @ B.T
    most = high * np.eye(len(B)) - B @ np.linalg.pinv(high * np.eye(rank) - A, rcond=1e-6) @ B.T
    H = basis @ np.block([[A, B.T], [B, (least + most) / 2]]) @ basis.T
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    found: Array = (vectors * np.clip(values, low, high)) @ vectors.T
    return found


def _as_data(client: Any) -> dict[str, Any]:
    known = {field.name: getattr(client, field.name) for field in fields(client)}
    numbers = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in known.items()}
    return {"kind": type(client).__name__.lower(), **numbers}
