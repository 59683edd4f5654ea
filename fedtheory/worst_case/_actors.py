"""What a problem of one's own is made of: functions, sums of them, operators, and clients that cannot be told apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from operator import add, sub
from typing import TYPE_CHECKING, Any, overload

from fedtheory._support import validate
from fedtheory.worst_case._classes import (
    Condition,
    FunctionClass,
    OperatorClass,
    Point,
    impose_linear,
    impose_quadratic,
)
from fedtheory.worst_case._gram import Basis, Draft, Form, Value, Vector, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Clients", "Function", "Linear", "Operator", "Sum", "Term", "positive_number"]

_ZERO = Vector({})
Key = frozenset[tuple[Basis, Fraction]]


def positive_number(name: str, number: Any) -> Fraction:
    """Return a rational that is above 0."""
    found = Fraction(exact(name, number))
    validate.positive(name, found)
    return found


class _Known:
    """Points at which a function or an operator is known; one asked for twice is the same."""

    def __init__(
        self, draft: Draft, name: str, of: FunctionClass | OperatorClass, blocks: Sequence[int] = (0,)
    ) -> None:
        self.draft, self.name, self.of, self.blocks = draft, name, of, tuple(blocks)
        self.points: list[Point] = []
        self.places: dict[Key, int] = {}
        self.minimum: int | None = None
        self.is_exact = of.exact
        self.slopes: set[tuple[int, int]] = set()

    def known(self, x: Any, gradient: Vector | None = None, level: Value | None = None) -> Point:
        """Return what is known at a point; a new point has a gradient and a value of its own."""
        if not isinstance(x, Vector):
            message = f"{self.name} must be asked at a vector of its problem, got {x!r}"
            raise TypeError(message)
        if x.owner not in (None, self.draft):
            message = f"{self.name} must be asked at a vector of its own problem, got one of another"
            raise ValueError(message)
        place = self.places.get(x.key)
        if place is None:
            place = self.places[x.key] = len(self.points)
            slope = self._slope(x) if gradient is None else gradient
            own = self.draft.zero() if getattr(self.of, "indicator", False) else self.draft.value()
            self.points.append(Point(x, slope, level or own))
        elif gradient is not None:
            message = f"{self.name} must be asked for a point once, got one at which its gradient is known already"
            raise ValueError(message)
        return self.points[place]

    def _slope(self, x: Vector) -> Vector:
        """Make the gradient at a point, which differs where the point does."""
        elsewhere = sorted(x.blocks - {*self.blocks})
        # Of points that clients, or noises, make differ, conditions between any two are known for noises only.
        self.is_exact &= {*elsewhere} <= {*self.draft.noises} and not (
            elsewhere and getattr(self.of, "L", None) is None
        )
        found = self.draft.vector(*self.blocks, *elsewhere)
        self.slopes |= found.coordinates.keys()
        return found

    def conditions(self) -> Iterator[Condition]:
        """Yield what must hold for there to be such a function or operator."""
        return self.of.conditions(self.points, self.minimum)

    @property
    def tilts(self) -> bool:
        """Whether a linear function, or a constant, may be added: only differences of gradients count in the class."""
        return True

    def prepare(self) -> None:
        """Ask for all points that the conditions are about."""

    def impose(self) -> None:
        """Demand what conditions on pairs do not say."""


class Term(ABC):
    """A function that can be evaluated, scaled and added."""

    name: str
    draft: Draft
    _minimizer: Vector | None = None

    @abstractmethod
    def parts(self) -> list[tuple[Fraction, Function]]:
        """Return the functions that it is a combination of, with their coefficients."""

    def gradient(self, x: Vector) -> Vector:
        """Return the gradient, or a subgradient, at a point; the same point has the same one."""
        return reduce(add, (c * part.known(x).gradient for c, part in self.parts()))

    def step(self, x: Vector, step_size: Any, *, variance: Any = 0, name: str = "gradient_noise") -> Vector:
        """Return the model after a gradient step, of clients each one's own after a step of its own."""
        slope = self.stochastic_gradient(x, variance=variance, name=name) if variance else self.gradient(x)
        return x - positive_number("step_size", step_size) * slope

    def stochastic_gradient(self, x: Vector, *, variance: Any, name: str = "") -> Vector:
        """Return the gradient plus noise of its own, of mean 0 and of a mean square of at most ``variance``.

        Clients have independent noises. A run is then one for each outcome of the noises, and products are means.
        """
        noise, most = self.draft.noise(), Fraction(exact("variance", variance))
        validate.nonnegative("variance", most)
        self.draft.at_most(noise.square, most, name)
        return self.gradient(x) + noise

    def value(self, x: Vector) -> Form:
        """Return the value at a point."""
        return reduce(add, (c * part.level(x) for c, part in self.parts()))

    def minimizer(self, at: Vector | None = None, *, objective_gap: Any = None) -> Vector:
        """Return the minimizer of a convex function, at which gradients add up to 0.

        Parameters
        ----------
        at
            Where it lies: ``p.origin`` may stand for one point of a problem. Anywhere if None.
        objective_gap
            Of a sum or of clients, the largest Gamma, ``F* - sum c F_k*``; if it is 0, all have this minimizer.
        """
        for c, part in self.parts():
            if c < 0 or part.of.mu < 0:
                message = (
                    f"minimizer() must be asked of a sum of convex functions, got {part.name} (stationary_point())"
                )
                raise ValueError(message)
        if self._minimizer is not None and not (at is None and objective_gap is None):
            message = f"the minimizer of {self.name} must be placed, and Gamma bounded, when it is first asked for"
            raise ValueError(message)
        if self._minimizer is None:
            at = self.draft.vector(*self.parts()[-1][1].blocks[:1]) if at is None else at
            gap = None if objective_gap is None else Fraction(exact("objective_gap", objective_gap))
            for _, part in self.parts() if gap is not None else []:
                part.local_minimizer(None if gap else at)
            self._minimizer = at if gap == 0 else self.balance(at)
            if gap:
                self.draft.at_most(self.objective_gap(), gap, "objective_gap")
        return self._minimizer

    def objective_gap(self) -> Form:
        """Return Gamma, by how much the least value is above the sum of the parts' least values."""
        least = [c * part.value(part.local_minimizer()) for c, part in self.parts()]
        return reduce(sub, least, self.value(self.minimizer()))

    def stationary_point(self) -> Vector:
        """Return a point at which the gradient, or some subgradient, is 0."""
        return self.balance(self.draft.vector(*self.parts()[-1][1].blocks[:1]))

    def proximal(self, x: Vector, step: Any) -> Vector:
        """Return ``y = x - step g`` with g a (sub)gradient at y: the minimizer of ``f + |. - x|^2 / (2 step)``."""
        [(c, part)] = self._alone("proximal")
        slope = part._slope(x)
        y = x - positive_number("step", step) * c * slope
        part.known(y, slope)
        return y

    def line_search(self, x: Vector, *directions: Vector) -> Vector:
        """Return the best point on x plus the span of some directions.

        The gradient there is orthogonal to the directions and to the step. That the step lies in their span no form can
        say, so that what is proved is an upper bound.
        """
        y = self.draft.vector()
        slope = self.gradient(y)
        for direction in (*directions, y - x):
            self.draft.equal_to(slope @ direction)
        for _, part in self.parts():
            part.is_exact = False
        return y

    def linear_minimizer(self, direction: Vector) -> Vector:
        """Return the minimizer of ``f + <direction, .>``, at which gradients add up to minus the direction.

        That is a step of Frank and Wolfe's method where f is the indicator of a set, and a mirror step where f has a
        kernel h in it: ``direction = step * gradient - h.gradient(x)``.
        """
        return self.balance(self.draft.vector(*self.parts()[-1][1].blocks), direction)

    def balance(self, x: Vector, direction: Vector = _ZERO) -> Vector:
        """Let the gradients at a new point, in the mean over clients, add up to minus a direction; return the point."""
        *others, (last, closing) = self.parts()
        for c, part in others:
            direction = direction + c * part.known(x).gradient
        closing.known(x, -1 / Fraction(last) * direction.within((0,)) + closing.deviation())
        return x

    def inexact_gradient(self, x: Vector, *, relative: Any = None, absolute: Any = None) -> Vector:
        """Return a vector that is off the gradient by at most a share of it, or by at most a length."""
        if (relative is None) == (absolute is None):
            message = f"one of relative and absolute must be given, got relative={relative!r}, absolute={absolute!r}"
            raise ValueError(message)
        slope = self.gradient(x)
        guess = self.draft.vector(*sorted(slope.blocks.union(*(part.blocks for _, part in self.parts()))))
        if absolute is not None:
            self.draft.at_most((guess - slope).square, positive_number("absolute", absolute) ** 2)
        else:
            share = positive_number("relative", relative)
            self.draft.at_most((guess - slope).square - share**2 * slope.square)
        return guess

    def _alone(self, verb: str) -> list[tuple[Fraction, Function]]:
        found = self.parts()
        if len(found) > 1:
            message = f"{verb} must be asked of one function, got a sum of {len(found)}"
            raise ValueError(message)
        return found

    def __add__(self, other: Term) -> Sum:
        if not isinstance(other, Term):
            return NotImplemented
        if other.draft is not self.draft:
            message = "functions must belong to one problem to be added, got some of two"
            raise ValueError(message)
        return Sum([*self.parts(), *other.parts()])

    def __rmul__(self, factor: Any) -> Sum:
        c = Fraction(exact("a factor", factor))
        return Sum([(c * one, part) for one, part in self.parts()])

    __mul__ = __rmul__


class Sum(Term):
    """A combination of functions."""

    def __init__(self, parts: list[tuple[Fraction, Function]]) -> None:
        merged: dict[Function, Fraction] = {}
        for c, part in parts:
            merged[part] = merged.get(part, Fraction(0)) + c
        self._parts = [(c, part) for part, c in merged.items() if c]
        if not self._parts:
            message = "a sum must have a function with a coefficient other than 0, got none"
            raise ValueError(message)
        self.draft, self.name = self._parts[0][1].draft, " + ".join(part.name for _, part in self._parts)

    def parts(self) -> list[tuple[Fraction, Function]]:
        """Return the functions that it is a combination of, with their coefficients."""
        return self._parts


class Function(_Known, Term):
    """A function of a class, known by its gradients and values at the points at which it was asked."""

    of: FunctionClass
    num_clients = 1

    def __init__(
        self, draft: Draft, name: str, of: FunctionClass, blocks: Sequence[int] = (0,), least: Value | None = None
    ) -> None:
        super().__init__(draft, name, of, blocks)
        self._least = least
        self._with_normal_0: set[Key] = set()

    @property
    def tilts(self) -> bool:
        """Whether a linear function may be added: only differences of gradients count in its class."""
        of = self.of
        beside = (of.lipschitz, of.quadratic_growth, of.polyak)
        unlike = of.quadratic or any(one is not None for one in beside) or (of.mu < 0 and self.minimum is not None)
        return not unlike and self.blocks == (0,)

    def parts(self) -> list[tuple[Fraction, Function]]:
        """Return itself."""
        return [(Fraction(1), self)]

    def minimizer(self, at: Vector | None = None, *, objective_gap: Any = None) -> Vector:  # noqa: ARG002, 0 of its own
        """Return the minimizer, at which the gradient is 0 and than which no value is smaller."""
        return self.local_minimizer(at)

    def local_minimizer(self, at: Vector | None = None) -> Vector:
        """Return the minimizer, of several clients each one's own."""
        if self.minimum is None:
            self.minimum = len(self.points)
            self.known(self.draft.vector(*self.blocks) if at is None else at, _ZERO, self._least)
        found = self.points[self.minimum].at
        if at is not None and at.key != found.key:
            message = f"the minimizer of {self.name} must be placed when it is first asked for, got another place later"
            raise ValueError(message)
        return found

    def limit_excess(self, x: Vector, bound: Any, name: str = "", share: Any = 1) -> None:
        """Demand that the value at a point is at most a share of a bound above the least; if that is 0, it is there."""
        number, part = Fraction(exact("bound", bound)), Fraction(exact("share", share))
        least = self.local_minimizer(None if number * part else x)
        if number * part:
            self.draft.at_most(self.value(x) - self.value(least), number, name, part)

    def deviation(self) -> Vector:
        """Return a vector by which clients differ from their mean; 0 of a single function."""
        return self.draft.vector(*self.blocks[1:]) if self.blocks[1:] else _ZERO

    def level(self, x: Any) -> Value:
        """Return the value at a point; a point of a set has the normal vector 0 until another one is asked for."""
        if self.of.indicator and isinstance(x, Vector) and x.key not in self.places:
            self.known(x, _ZERO)
            self._with_normal_0.add(x.key)
        if isinstance(x, Vector) and x.key in self._with_normal_0:
            return self.points[self.places[x.key]].value
        return self.known(x).value

    def known(self, x: Any, gradient: Vector | None = None, level: Value | None = None) -> Point:
        """Return what is known at a point, with a normal vector of its own where it had none."""
        if gradient is None and isinstance(x, Vector) and x.key in self._with_normal_0:
            self._with_normal_0.remove(x.key)
            place = self.places[x.key]
            self.points[place] = self.points[place]._replace(gradient=self._slope(x))
        return super().known(x, gradient, level)

    def prepare(self) -> None:
        """Ask for the minimizer where the class is described by it."""
        if self.of.quadratic or self.of.quadratic_growth is not None or self.of.polyak is not None:
            self.local_minimizer()

    def impose(self) -> None:
        """Demand that a quadratic function is one."""
        if self.of.quadratic and self.of.L is not None:
            others = [point for number, point in enumerate(self.points) if number != self.minimum]
            impose_quadratic(self.draft, self.points[self.minimum or 0], others, self.of.mu, self.of.L)

    def conditions(self) -> Iterator[Condition]:
        """Yield what must hold for there to be such a function."""
        if not self.of.quadratic:
            yield from super().conditions()
            yield from self.of.between_runs(self.points, self.draft.noises)


class Operator(_Known):
    """An operator of a class, known by its values at the points at which it was asked."""

    of: OperatorClass

    def __call__(self, x: Vector) -> Vector:
        """Return the value at a point, or one of several; the same point has the same one."""
        return self.known(x).gradient

    def resolvent(self, x: Vector, step: Any) -> Vector:
        """Return ``y = x - step T y``."""
        slope = self._slope(x)
        y = x - positive_number("step", step) * slope
        self.known(y, slope)
        return y

    def fixed_point(self) -> Vector:
        """Return a point with ``T x = x``."""
        x = self.draft.vector()
        self.known(x, x)
        return x

    def zero(self) -> Vector:
        """Return a point with ``T x = 0``."""
        x = self.draft.vector()
        self.known(x, _ZERO)
        return x


class Linear(Operator):
    """A linear operator; its adjoint is known by values of its own, which agree with those of the operator."""

    def __init__(self, draft: Draft, name: str, of: OperatorClass) -> None:
        super().__init__(draft, name, of)
        self.adjoint = Operator(draft, f"{name}.adjoint", of)

    @property
    def tilts(self) -> bool:
        """Whether a constant may be added to all values, as it may not."""
        return False

    def impose(self) -> None:
        """Demand that there is such an operator: ``<M x, u> = <x, M' u>``, and no value is too long."""
        impose_linear(self.draft, self.points, self.adjoint.points, self.of.lipschitz or Fraction(0))

    def conditions(self) -> Iterator[Condition]:
        """Yield nothing, as conditions on pairs do not say that an operator is linear."""
        return iter(())


class Clients(Function):
    """Clients that cannot be told apart: what one of them has stands for all, in two blocks whatever their number.

    A vector of a client is a mean and a deviation; a product of two such vectors is its average over the clients.
    """

    def __init__(
        self, draft: Draft, name: str, of: FunctionClass, num_clients: int, least: Value | None = None
    ) -> None:
        super().__init__(draft, name, of, (0, draft.block()) if num_clients > 1 else (0,), least)
        self.num_clients = num_clients

    minimizer = Term.minimizer

    def heterogeneity(self, *, zeta2: Any, name: str = "zeta2") -> None:
        """Demand that the mean of ``|grad F_k(w*)|^2`` is at most zeta2."""
        bound = Fraction(exact("zeta2", zeta2))
        if not bound:
            message = (
                "zeta2 must be above 0, got 0: minimizer(objective_gap=0) says that all clients have one minimizer"
            )
            raise ValueError(message)
        self.draft.at_most(self.known(self.minimizer()).gradient.square, bound, name)

    @overload
    def mean(self, term: Vector) -> Vector: ...

    @overload
    def mean(self, term: Form | Value) -> Form: ...

    def mean(self, term: Any) -> Any:
        """Return the mean of a vector over the clients; of a product or a value it is what one has anyway."""
        if not isinstance(term, Vector):
            return Form.of(term)
        if term.blocks & {*self.draft.noises}:
            message = (
                "mean must be given a vector without noise, got one with (a sample's square tells what it becomes)"
            )
            raise ValueError(message)
        return term.within((0,))

    def sample(self, num_selected: int, how: str = "distinct") -> Sample:
        """Return a sample of clients: ``distinct`` ones, or ``independent`` draws with replacement."""
        m = validate.count("num_selected", num_selected)
        if how not in ("distinct", "independent"):
            message = f"how must be 'distinct' or 'independent', got {how!r}"
            raise ValueError(message)
        if how == "distinct" and m > self.num_clients:
            message = f"num_selected must be at most the number of clients, {self.num_clients}, got {m}"
            raise ValueError(message)
        rest = Fraction(self.num_clients - m, max(self.num_clients - 1, 1)) if how == "distinct" else Fraction(1)
        return Sample(self, m, rest / m)


class Sample:
    """A random sample of clients, over which vectors are averaged.

    ``share`` of the mean squared deviation is what is expected of the squared deviation of an average, in which the
    noises of ``num_selected`` clients are independent.
    """

    def __init__(self, clients: Clients, num_selected: int, share: Fraction) -> None:
        self.clients, self.num_selected, self.share = clients, num_selected, share

    def square(self, vector: Vector) -> Form:
        """Return the expected squared length of the sample's average of a vector."""
        found = vector.within((0,)).square
        noise = Fraction(1, self.num_selected)
        for blocks, share in ((self.clients.blocks[1:], self.share), (self.clients.draft.noises, noise)):
            part = vector.within(blocks)
            found = found + share * part.square if share and part.coordinates else found
        return found
