"""Evaluation of a recorded problem on given functions, points and noises in NumPy.

Arrays have an axis for each group of clients, an axis for each noise, whose outcomes are equally likely, and the
coordinates as last axis. Axes along which nothing varies have the length 1. The caller provides points, noises, and the
results of implicit and inexact steps, which the problem only constrains. The run measures the violation of each
constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.worst_case._record import SERVER, Declared, Record, Step
from fedtheory.worst_case._vectors import Basis, Form, Value, Vector

Choose = Callable[[Step, Sequence[Array]], Array]
"""Function that returns the vector of a step from its input vectors."""


class Outcome(NamedTuple):
    """The objective of a run, and by name the violations of constraints and the errors of gradients and values."""

    objective: float
    broken: Mapping[str, float]


class Run:
    """The vectors of a record as arrays."""

    def __init__(
        self,
        record: Record,
        functions: Mapping[str, Sequence[Any]],
        choose: Choose,
        numbers: Mapping[Value, float],
        part: Callable[[Array, int], Array] | None = None,
    ) -> None:
        self.record, self.functions, self.values, self.given = record, functions, dict(numbers), numbers
        groups = [one.blocks[1] for one in record.declared if one.num_clients > 1]
        self.axes = {block: axis for axis, block in enumerate([*groups, *record.noises])}
        self.parts: dict[Basis, Array] = {}
        for step in record.steps:
            inputs = [self.array(vector) for vector in step.inputs]
            explicit = step.verb == "gradient" and self._has_gradient(step.of[0][1])
            found = self._called(step.of[0][1], inputs[0]) if explicit else choose(step, inputs)
            for place in step.made.coordinates:
                self.parts[place] = (part or self._part)(found, place[0])
        for one in record.declared:
            for call in one.calls if one.name in functions else ():
                if call.value not in record.zeros:
                    self.values[call.value] = float(self._called(one.name, self.array(call.at), "loss").mean())

    def array(self, vector: Vector) -> Array:
        """Return the array of a vector, the sum of its parts in the blocks."""
        parts = (float(c) * self.parts[place] for place, c in vector.coordinates.items())
        return sum(parts, np.zeros((1,) * (len(self.axes) + 1)))

    def _part(self, found: Array, block: int) -> Array:
        """Return the part of a vector in a block, a difference of conditional means with and without its source."""
        noise = next((noise for (_, noise), other in self.record.crossings.items() if other == block), block)
        if noise not in self.axes and block:
            return found
        places = tuple(range(self.axes[noise] if block else 0, len(self.axes)))
        known = found.mean(axis=places, keepdims=True)
        part: Array = found.mean(axis=places[1:], keepdims=True) - known if block else known
        if self.record.sources[noise].owner == SERVER:
            # the part that is the same for all clients, or the difference from it
            groups = tuple(self.axes[one.blocks[1]] for one in self.record.declared if one.num_clients > 1)
            same = part.mean(axis=groups, keepdims=True)
            part = same if noise == block else part - same
        return part

    def _called(self, name: str, at: Array, what: str = "gradient") -> Array:
        """Return the results of functions, one per client, at points."""
        own = self.functions[name]
        axis = self.axes[next(one.blocks for one in self.record.declared if one.name == name)[1]] if len(own) > 1 else 0
        rows = np.broadcast_to(at, (*at.shape[:axis], len(own), *at.shape[axis + 1 :])) if len(own) > 1 else at
        found = [
            np.apply_along_axis(getattr(one, what), -1, np.take(rows, [k], axis=axis) if len(own) > 1 else rows)
            for k, one in enumerate(own)
        ]
        joined: Array = np.concatenate(found, axis=axis) if len(own) > 1 else found[0]
        return joined

    def form(self, form: Form) -> float:
        """Return the value of a form; products and values are means over clients and outcomes."""
        products = sum(
            float(c) * float((self.array(u) * self.array(v)).sum(axis=-1).mean())
            for (u, v), c in form.products.items()
            if u.coordinates and v.coordinates
        )
        return float(products + sum(float(c) * self.values.get(value, 0.0) for value, c in form.values.items()))

    def _has_gradient(self, name: str) -> bool:
        """Whether a function is given whose gradient at a point is unique."""
        return all(one.has_gradient for one in self.functions.get(name, [])) and name in self.functions

    def _missed(self, one: Declared) -> dict[str, float]:
        """Return the differences between the gradients and values of a function and those of the problem."""
        found = {f"{one.name}, values": 0.0}
        least = -np.inf if one.minimum is None else self.values.get(one.calls[one.minimum].value, 0.0)
        for call in one.calls:
            value = self.values.get(call.value, 0.0)
            off = max(abs(value - float(self.given.get(call.value, value))), least - value)
            found[f"{one.name}, values"] = max(found[f"{one.name}, values"], off)
            if self._has_gradient(one.name):
                missed = self._called(one.name, self.array(call.at)) - self.array(call.gradient)
                found[one.name] = max(found.get(one.name, 0.0), float(np.abs(missed).max(initial=0.0)))
        return found

    def outcome(self, objectives: Sequence[Form]) -> Outcome:
        """Return the least objective and all violations."""
        broken: dict[str, float] = {}
        for number, one in enumerate(self.record.constraints):
            off = self.form(one.form) - float(one.bound)
            broken[one.name or f"constraint {number}"] = abs(off) if one.is_equality else max(off, 0.0)
        for declared in self.record.declared:
            if declared.name in self.functions:
                broken |= self._missed(declared)
        return Outcome(min(map(self.form, objectives)), broken)
