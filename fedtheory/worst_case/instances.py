"""Functions and points that attain a worst case."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import root
from fedtheory.worst_case._certificates import FeasiblePoint
from fedtheory.worst_case._names import Names
from fedtheory.worst_case._numeric_run import Outcome, Run
from fedtheory.worst_case._record import Declared, Record, Step
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Form, Vector
from fedtheory.worst_case.function_classes.interface import Samples

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
class Instance(Mapping[str, Array]):
    """Functions and points, by name, that attain a worst case.

    A point that is the same for all clients and outcomes has the shape (v,), v = ``dim``. Other points have an axis for
    each group of clients and for each noise. Noises have two outcomes, which approximate noises with many outcomes. The
    earlier outcomes determine the direction of a noise, and its outcome the sign. ``functions`` are the functions of
    the clients by name.
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
                rows += [(x, g, value) for x, g in zip(*(some.reshape(-1, self.dim) for some in own), strict=True)]
            found.append(_function(one, rows, self.dim))
        return tuple(found)

    @property
    def clients(self) -> list[Any]:
        """The functions of all clients, as one list."""
        return [function for functions in self.functions.values() for function in functions]

    @cached_property
    def _points(self) -> dict[str, Array]:
        return {
            name: placed.reshape(-1) if (placed := self.place(vector)).size == self.dim else placed
            for name, vector in Names(self._record).points.items()
        }

    def __getitem__(self, name: str) -> Array:
        return self._points[name]

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


def is_attained(
    record: Record, objectives: Sequence[Form], program: Program, point: FeasiblePoint, lower: Fraction
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


def _function(one: Declared, rows: Sequence[tuple[Array, Array, float]], dim: int) -> Any:
    """Return a function of the class with given points, gradients and values, or ``Samples`` if there is none here."""
    points, gradients = (np.array([row[side] for row in rows]).reshape(-1, dim) for side in (0, 1))
    values = np.array([row[2] for row in rows])
    if one.of.member is None or not one.of.exact or not len(rows):
        return Samples(points, gradients, values)
    return one.of.member(points, gradients, values, one.minimum)


def vertices(num: int) -> Array:
    """Return unit vectors with sum zero, the vertices of a regular simplex, shape (num, num - 1)."""
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


def _as_data(client: Any) -> dict[str, Any]:
    known = {field.name: getattr(client, field.name) for field in fields(client)}
    numbers = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in known.items()}
    return {"kind": type(client).__name__.lower(), **numbers}
