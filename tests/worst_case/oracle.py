"""Comparison of a recorded program with a run on real functions.

Every step is computed twice, by the problem and in NumPy. Arrays have an axis for each group of clients and for each
noise, and the coordinates as last axis. A noise has two outcomes, which are the negatives of each other. Each vector of
the problem is associated with an array of the run. Then every vector, form and constraint of the recorded program is
computed from its parts in the blocks, and compared with the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction as Q
from itertools import combinations, product
from typing import Any, Self

import numpy as np

from fedtheory.worst_case import Problem
from fedtheory.worst_case._record import SERVER
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Form, Value, Vector
from tests.worst_case.members_in_space import (
    Array,
    Curve,
    Map,
    Member,
    Nowhere,
    above,
    box,
    curve,
    least,
    minimum_of,
    operator,
    snapped,
)  # fmt: skip

DIM, CLIENTS, GROUPS, NOISES = 2, 3, 2, 3
AXES = (*(CLIENTS,) * GROUPS, *(2,) * NOISES)
CLOSE = 1e-7


@dataclass(frozen=True)
class Pair:
    """A vector or a form of the problem, and what it is in the run."""

    said: Any
    true: Any

    def __add__(self, other: Self) -> Self:
        return type(self)(self.said + other.said, self.true + other.true)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.said - other.said, self.true - other.true)

    def __rmul__(self, factor: Q) -> Self:
        return type(self)(factor * self.said, float(factor) * self.true)


class V(Pair):
    """A vector of the problem, and its array."""

    def __matmul__(self, other: "V") -> "F":
        return F(self.said @ other.said, float((self.true * other.true).sum(axis=-1).mean()))

    @property
    def square(self) -> "F":
        return self @ self


class F(Pair):
    """A form of the problem, and its number."""


class Run:
    """A problem beside its run."""

    def __init__(self, seed: Any) -> None:
        self.rng, self.problem = np.random.default_rng(seed), Problem()
        self.parts: dict[tuple[int, int], Array] = {}
        self.values: dict[Value, float] = {}
        self.axes: dict[int, int] = {}
        self.own_noises: dict[int, int] = {}
        self.real: dict[Any, Any] = {}
        self.floors: list[tuple[Any, Vector]] = []
        self.forms: list[F] = []
        self.numbers: dict[str, Q] = {}
        self.objective: F | None = None

    # ---- what is given

    def fixed(self, place: Array) -> Array:
        return np.broadcast_to(place, (*AXES, DIM)) + 0.0

    def point(self, name: str = "") -> V:
        return self.bound(self.problem.point(name), self.fixed(self.rng.normal(size=DIM) * 2))

    def function(self, **kind: Any) -> "Term":
        said = self.problem.function(**kind)
        return self._term(said, [curve(self.rng, DIM, kind)], None, kind)

    def indicator(self, diameter: Any = None) -> "Term":
        return self._term(self.problem.indicator(diameter), [box(self.rng, DIM, diameter)], None, {})

    def clients(self, **kind: Any) -> "Term":
        said = self.problem.clients(CLIENTS, **kind)
        axis = self.axes[said.blocks[1]] = sum(other < GROUPS for other in self.axes.values())
        return self._term(said, [curve(self.rng, DIM, kind) for _ in range(CLIENTS)], axis, kind)

    def _term(self, said: Any, curves: Sequence[Curve], axis: int | None, kind: dict[str, Any]) -> "Term":
        if kind.get("minimum") == 0:
            shifted = [c.__class__(**{**vars(c), "level": c.level - float(c.value(self.lowest(c)))}) for c in curves]
            curves = shifted
        member = self.real[said] = Member(curves, axis)
        return Term(self, said, [(Q(1), member)])

    @staticmethod
    def lowest(c: Curve) -> Array:
        return least(c) if (c.slopes < 0).any() else minimum_of([(1.0, Member([c]))], np.zeros(DIM), 0, 0, mean=False)

    def operator(self, **kind: Any) -> "Operator":
        return Operator(self, self.problem.operator(**kind), operator(self.rng, DIM, kind))

    def unbiased(self, v: V, omega: Q, clients: "Term | None" = None) -> V:
        said = self.problem.unbiased(v.said, omega, clients=None if clients is None else clients.said)
        groups = {called.name: real.axis for called, real in self.real.items() if isinstance(real, Member)}
        own = groups.get(self.problem.record.sources[max((said - v.said).blocks)].owner)
        noise = self.noise(said, v.said, v.true, own)
        length, most = (np.linalg.norm(some, axis=-1, keepdims=True) for some in (noise, v.true))
        return self.bound(said, v.true + float(omega) ** 0.5 * most * noise / length)

    def compressed(self, v: V, eps: Q) -> V:
        return self.bound(self.problem.compressed(v.said, eps), v.true + float(eps) ** 0.5 * wobble(v.true))

    def geometric_mean(self, one: F, other: F) -> F:
        said = self.problem.geometric_mean(one.said, other.said)
        [(u, v)] = said.products
        for vector, form in ((u, one), (v, other)):
            [place] = vector.coordinates
            self.parts[place] = self.fixed(np.array([max(form.true, 0) ** 0.5, *[0.0] * (DIM - 1)]))
        return F(said, (one.true * other.true) ** 0.5)

    # ---- what is demanded

    def limit(self, form: F, name: str = "") -> None:
        """Demand that a form is at most what it is in this run."""
        number = above(form.true)
        self.numbers[name] = number
        self.forms.append(form)
        self.problem.at_most(form.said, number, name)

    def limited(self, form: F, name: str, v: V) -> V:
        self.limit(form, name)
        return v

    def fix(self, form: F, name: str = "") -> None:
        """Demand that a form equals, up to rounding, what it is in this run."""
        self.numbers[name] = above(form.true)
        self.forms.append(form)
        self.problem.equal_to(form.said, above(form.true), name)

    def maximize(self, form: F) -> None:
        self.objective = form
        self.forms.append(form)
        self.problem.maximize(form.said)

    # ---- what the run has, in the blocks of the problem

    def noise(self, stochastic: Vector, slope: Vector, at: Array, own: int | None) -> Array:
        """Draw a noise whose direction may depend on the point, and on the client; its block has an axis now."""
        [block] = (stochastic - slope).blocks
        axis = self.axes[block] = GROUPS + sum(other >= GROUPS for other in self.axes.values())
        if own is not None:
            self.own_noises[axis] = own
        averaged = {self.axes[one] for one in self.problem.record.averaged}
        own_axes = [a for a in self.axes.values() if GROUPS <= a < axis and self.own_noises.get(a) == own]
        before = [a for a in own_axes if a not in averaged]
        turned = (
            wobble(at + 1.3)
            + sum((0.2 * along(a) for a in before), 0)
            + (0.3 * np.arange(CLIENTS).reshape(-1, *(1,) * (len(AXES) - own)) if own is not None else 0)
        )
        return turned * along(axis)

    def mean_noise(self, block: int, image: Vector) -> None:
        """Draw the mean of the clients' independent noises, as long as is expected, along an axis of its own."""
        [mean] = image.blocks
        axis = self.axes[mean] = GROUPS + sum(other >= GROUPS for other in self.axes.values())
        noise = self.parts[block, 0]
        length2 = (noise**2).sum(axis=-1).mean() / CLIENTS
        turned = np.full(DIM, (length2 / DIM) ** 0.5) * np.array([1.0, -1.0])[:DIM]
        self.parts[mean, 0] = self.fixed(turned) * along(axis)

    def part(self, v: Array, block: int) -> Array:
        """Return what a block holds of a vector: the mean given the sources up to its own, less that without it."""
        record = self.problem.record
        noise = next((noise for (_, noise), other in record.crossings.items() if other == block), block)
        places = range(len(AXES)) if block == 0 else range(self.axes[noise], len(AXES))
        known = v.mean(axis=tuple(places), keepdims=True)
        if block == 0:
            return known + 0 * v
        found = v.mean(axis=tuple(places)[1:], keepdims=True) - known + 0 * v
        if record.sources[noise].owner == SERVER:  # what all clients share, or what differs among them
            shared = found.mean(axis=tuple(range(GROUPS)), keepdims=True) + 0 * v
            return shared if noise == block else found - shared
        return found

    def bound(self, said: Vector, true: Array) -> V:
        """Let the new basis vectors of a vector stand for what the run has; refuse a vector that misses some."""
        for block in said.blocks:
            rest, new = self.part(true, block), []
            for place, c in said.coordinates.items():
                if place[0] == block and place in self.parts:
                    rest = rest - float(c) * self.parts[place]
                elif place[0] == block:
                    new.append(place)
            assert len(new) <= 1
            for place in new:
                self.parts[place] = rest / float(said.coordinates[place])
        assert np.abs(self.told(said) - true).max() < CLOSE * (1 + np.abs(true).max()), "a vector misses a source"
        return V(said, true)

    def told(self, said: Vector) -> Array:
        """Return a vector as its blocks hold it."""
        return sum((float(c) * self.parts[place] for place, c in said.coordinates.items()), self.fixed(np.zeros(DIM)))

    def settled(self) -> None:
        """Bind the gradients and values of all points, after checking that they are those of the functions."""
        points = [(real, point) for called, real in self.real.items() for point in called.declared.calls]
        # First those with a gradient of their own, then those whose gradients balance others.
        for fresh in (True, False):
            for real, point in points:
                own = {*point.gradient.coordinates.values()} == {1}
                if own != fresh or not point.at.coordinates.keys() <= self.parts.keys():
                    continue
                at = self.told(point.at)
                if isinstance(real, Map):
                    self.bound(point.gradient, real(at))
                    continue
                if all(place in self.parts for place in point.gradient.coordinates):
                    slope = self.told(point.gradient)
                    left, right = real.slope(at - CLOSE, -1) - 9 * CLOSE, real.slope(at + CLOSE, 1) + 9 * CLOSE
                    assert ((left <= slope) & (slope <= right)).all(), "no subgradient of the function"
                else:
                    self.bound(point.gradient, real.gradient(at))
                if point.value not in self.problem.record.zeros:
                    self.values[point.value] = float(real.value(at).mean())

    def check(self) -> tuple[Program, float]:
        """Compare the recorded program with the run; return it, and the objective that the run has."""
        for called, real in [*self.real.items()]:
            one = called.declared
            if one.of.needs_minimizer or one.least is not None:
                Term(self, called, [(Q(1), real)]).local_minimizer()
        program = self.problem.program()
        self.settled()
        grams = [np.full((size, size), np.nan) for size in program.sizes]
        for (block, i), one in self.parts.items():
            for (other, j), two in self.parts.items():
                if block == other:
                    grams[block][i, j] = (one * two).sum(axis=-1).mean()
        said = self._forms(program, grams)
        assert self.objective is not None
        for (u, v), _ in ((pair, 0) for form in self.forms for pair in form.said.products):
            assert {*u.coordinates, *v.coordinates} <= self.parts.keys()
        for form in self.forms:
            assert abs(self.worth(form.said) - form.true) < CLOSE * (1 + abs(form.true)), "a form says something else"
        bounds = [float(one.bound) for one in (*program.equalities, *program.inequalities)]
        for number, (value, limit) in enumerate(zip(said[1:], bounds, strict=True)):
            slack = CLOSE * (1 + abs(limit))
            assert value <= limit + slack, f"constraint {number} does not hold"
            assert number >= len(program.equalities) or value >= limit - 3e-9 - slack, f"equality {number}"
        for gram in grams:
            filled = np.where(np.isnan(gram), 0, gram)
            assert np.linalg.eigvalsh(filled).min() >= -CLOSE * (1 + np.abs(filled).max()), "a block is not positive"
        return program, self.objective.true

    def worth(self, form: Form) -> float:
        products = sum(
            float(c) * (self.told(u) * self.told(v)).sum(axis=-1).mean() for (u, v), c in form.products.items()
        )
        return float(products + sum(float(c) * self.values.get(f, 0.0) for f, c in form.values.items()))

    def _forms(self, program: Program, grams: list[Array]) -> list[float]:
        """Return all forms at the run's Gram matrices; slack matrices are what their equalities say."""
        said = np.zeros(len(program.forms))
        open_entries: dict[int, tuple[int, int, int, float]] = {}
        for number, block in enumerate(program.rows.blocks):
            for form, i, j, whole in zip(block.forms, block.rows, block.columns, block.wholes, strict=True):
                c = int(whole) / program.rows.denominator
                if np.isnan(grams[number][i, j]):
                    assert form not in open_entries
                    open_entries[int(form)] = (number, int(i), int(j), c)
                else:
                    said[form] += c * grams[number][i, j]
        numbers = {place: self.values[value] for value, place in program.values.items() if value in self.values}
        for form, place, level in program.levels:
            said[form] += float(level) * numbers[place]
        for form, (number, i, j, c) in open_entries.items():
            assert 1 <= form <= len(program.equalities)
            grams[number][i, j] = grams[number][j, i] = (float(program.equalities[form - 1].bound) - said[form]) / c
            said[form] = float(program.equalities[form - 1].bound)
        return [*map(float, said)]


def along(axis: int) -> Array:
    """Return the two signs of a noise along its axis."""
    shape = [1] * (len(AXES) + 1)
    shape[axis] = 2
    return np.array([1.0, -1.0]).reshape(shape)


def wobble(v: Array) -> Array:
    """Return vectors as long as some are, which depend on them in no linear way."""
    turned = np.sin(3 * v + 0.7 * np.arange(v.shape[-1]) + 0.2)
    return turned * np.linalg.norm(v, axis=-1, keepdims=True) / np.linalg.norm(turned, axis=-1, keepdims=True)


class Term:
    """A function, clients, or a sum of them, of the problem and of the run."""

    def __init__(self, run: Run, said: Any, parts: list[tuple[Q, Member]]) -> None:
        self.run, self.said, self.parts = run, said, parts

    def __add__(self, other: "Term") -> "Term":
        return Term(self.run, self.said + other.said, [*self.parts, *other.parts])

    def __rmul__(self, factor: Q) -> "Term":
        return Term(self.run, factor * self.said, [(factor * c, part) for c, part in self.parts])

    @property
    def weighted(self) -> list[tuple[float, Member]]:
        return [(float(c), part) for c, part in self.parts]

    def slope(self, x: Array) -> Array:
        return sum(c * part.gradient(x) for c, part in self.weighted)

    def gradient(self, x: V) -> V:
        said = self.said.gradient(x.said)
        self.run.settled()
        return self.run.bound(said, self.slope(x.true))

    def value(self, x: V) -> F:
        true = sum(c * float(part.value(x.true).mean()) for c, part in self.weighted)
        said = self.said.value(x.said)
        return F(Form.of(said), true)

    def relative_noise(self, x: V, share: Q) -> V:
        """Return a stochastic gradient with a noise that is as long as a share of the gradient allows."""
        own = next((part.axis for _, part in self.parts if part.axis is not None), None)
        slope, exact = self.said.gradient(x.said), self.gradient(x).true
        said = self.said.stochastic_gradient(x.said, relative=share)
        noise = self.run.noise(said, slope, x.true, own)
        length, most = (np.linalg.norm(some, axis=-1, keepdims=True) for some in (noise, exact))
        return self.run.bound(said, exact + float(share) ** 0.5 * most * noise / length)

    def stochastic_gradient(self, x: V) -> V:
        own = next((part.axis for _, part in self.parts if part.axis is not None), None)
        slope = self.said.gradient(x.said)
        exact = self.gradient(x).true
        draw = wobble(x.true + 1.3)
        variance = above(4 * float((draw**2).sum(axis=-1).max()) + 4)
        self.run.numbers[name := f"noise {len(self.run.numbers)}"] = variance
        said = self.said.stochastic_gradient(x.said, variance=variance, name=name)
        return self.run.bound(said, exact + self.run.noise(said, slope, x.true, own))

    def inexact_gradient(self, x: V, relative: Q) -> V:
        slope = self.slope(x.true)
        said = self.said.inexact_gradient(x.said, relative=relative)
        self.run.settled()
        return self.run.bound(said, slope + wobble(slope) * float(relative))

    def proximal(self, x: V, step: Q) -> V:
        said = self.said.proximal(x.said, step)
        return self.run.bound(said, minimum_of(self.weighted, x.true, 1 / float(step), 0, mean=False))

    def linear_minimizer(self, direction: V) -> V:
        said = self.said.linear_minimizer(direction.said)
        at = np.zeros_like(direction.true)
        return self.run.bound(said, minimum_of(self.weighted, at, 0, direction.true, mean=False))

    def line_search(self, x: V, direction: V) -> V:
        said = self.said.line_search(x.said, direction.said)
        low, high = np.full((*AXES, 1), -60.0), np.full((*AXES, 1), 60.0)
        for _ in range(80):
            t = (low + high) / 2
            slopes = sum(c * part.slope(x.true + t * direction.true) for c, part in self.weighted)
            rises = (slopes * direction.true).sum(axis=-1, keepdims=True) > 0
            low, high = np.where(rises, low, t), np.where(rises, t, high)
        y = snapped([part for _, part in self.parts], x.true + (low + high) / 2 * direction.true)
        ends = []
        for side in (-1, 1):
            ends.append(
                [np.where(side * direction.true > 0, part.slope(y, 1), part.slope(y, -1)) for _, part in self.parts]
            )
        along = [
            sum(
                c * (slope * direction.true).sum(axis=-1, keepdims=True)
                for (c, _), slope in zip(self.weighted, end, strict=True)
            )
            for end in ends
        ]
        share = np.where(
            along[1] > along[0] + 1e-9, -along[0] / np.where(along[1] > along[0] + 1e-9, along[1] - along[0], 1), 0
        )
        for (_, part), before, after in zip(self.parts, *ends, strict=True):
            part.chosen.append((y, before + share * (after - before)))
        return self.run.bound(said, y)

    def minimizer(self) -> V:
        return self.run.bound(self.said.minimizer(), self._lowest(mean=True))

    def stationary_point(self) -> V:
        return self.run.bound(self.said.stationary_point(), self._lowest(mean=True, least_one=False))

    def local_minimizer(self) -> V:
        return self.run.bound(self.said.local_minimizer(), self._lowest(mean=False))

    def objective_gap(self) -> F:
        best = self.value(self.minimizer())
        for c, part in self.parts:
            called = next(called for called, real in self.run.real.items() if real is part)
            one = Term(self.run, called, [(Q(1), part)])
            best = best - c * one.value(one.local_minimizer())
        return F(self.said.objective_gap(), best.true)

    def _lowest(self, *, mean: bool, least_one: bool = True) -> Array:
        zero = self.run.fixed(np.zeros(DIM))
        curves = [one for _, part in self.parts for one in part.curves]
        if not least_one and all(
            not len(one.knots) and np.isinf(one.low) for one in curves
        ):  # quadratic: a linear slope
            ends = [
                sum(c * part.slope(zero + t).mean(axis=part.axis or 0, keepdims=True) for c, part in self.weighted)
                for t in (0, 1)
            ]
            if np.abs(ends[1] - ends[0]).min() < 1e-3:
                raise Nowhere
            return zero - ends[0] / (ends[1] - ends[0])
        if least_one and any((one.slopes < 0).any() for one in curves):
            return self.run.fixed(least(curves[0]))
        return minimum_of(self.weighted, zero, 0, zero, mean=mean)

    # ---- what clients have besides

    def mean(self, v: V) -> V:
        [(_, member)] = self.parts
        before = {*self.run.problem.record.averaged}
        said, true = self.said.mean(v.said), v.true
        for block, image in self.run.problem.record.averaged.items():
            own = self.run.part(v.true, block) if (block, 0) in v.said.coordinates else 0 * true
            true = true - own
            if block not in before:
                self.run.mean_noise(block, image)
            c = float(v.said.coordinates.get((block, 0), 0))
            true = true + c * self.run.told(image)
        return self.run.bound(said, true.mean(axis=member.axis, keepdims=True) + 0 * true)

    def sample_square(self, v: V, m: int, how: str) -> F:
        """Go through all samples; clients draw their own noises, and share those of the server."""
        said = self.said.sample(m, how).square(v.said)
        [(_, member)] = self.parts
        own = tuple(axis for axis, group in self.run.own_noises.items() if group == member.axis)
        means = v.true.mean(axis=own, keepdims=True) if own else v.true
        each, means = (np.moveaxis(some, member.axis or 0, 0) for some in (v.true, means))
        draws = [*(combinations(range(CLIENTS), m) if how == "distinct" else product(range(CLIENTS), repeat=m))]
        total = 0.0
        for draw in draws:
            for (a, k), (b, j) in product(enumerate(draw), repeat=2):
                one, other = (each[k], each[j]) if a == b else (means[k], means[j])
                total += float((one * other).sum(axis=-1).mean())
        return F(said, total / m**2 / len(draws))


class Operator:
    """An operator of the problem and of the run."""

    def __init__(self, run: Run, said: Any, real: Map) -> None:
        self.run, self.said, self.real = run, said, real
        run.real[said] = real

    def __call__(self, x: V) -> V:
        return self.run.bound(self.said(x.said), self.real(x.true))

    def resolvent(self, x: V, step: Q) -> V:
        matrix = np.eye(DIM) + float(step) * self.real.matrix
        true = np.linalg.solve(matrix, (x.true - float(step) * self.real.shift)[..., None])[..., 0]
        return self.run.bound(self.said.resolvent(x.said, step), true)

    def zero(self) -> V:
        return self.run.bound(self.said.zero(), self.run.fixed(-np.linalg.solve(self.real.matrix, self.real.shift)))

    def fixed_point(self) -> V:
        place = np.linalg.solve(np.eye(DIM) - self.real.matrix, self.real.shift)
        return self.run.bound(self.said.fixed_point(), self.run.fixed(place))
