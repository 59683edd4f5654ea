"""What a problem is made of: functions, sums of them, operators, and clients that cannot be told apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from operator import add, sub
from typing import TYPE_CHECKING, Any, overload

from fedtheory._support import validate
from fedtheory._support.wording import short, shown
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


def nonnegative_number(name: str, number: Any) -> Fraction:
    """Return a rational that is at least 0."""
    found = Fraction(exact(name, number))
    validate.nonnegative(name, found)
    return found


def own_vector(what: str, x: Any, draft: Draft) -> Vector:
    """Return a vector that belongs to a problem."""
    if not isinstance(x, Vector):
        message = f"{what} must be asked at a vector of its problem, got {short(x)}"
        raise TypeError(message)
    if x.owner not in (None, draft):
        message = f"{what} must be asked at a vector of its own problem, got one of another"
        raise ValueError(message)
    return x


class _Known:
    """Points at which a function or an operator is known; a point that is asked for twice is the same."""

    def __init__(
        self, draft: Draft, name: str, of: FunctionClass | OperatorClass, blocks: Sequence[int] = (0,)
    ) -> None:
        self.draft, self.name, self.of, self.blocks = draft, name, of, tuple(blocks)
        self.points: list[Point] = []
        self.places: dict[Key, int] = {}
        self.minimum: int | None = None
        self.is_exact = of.exact

    def known(self, x: Any, gradient: Vector | None = None, level: Value | None = None) -> Point:
        """Return what is known at a point; a new point has a gradient and a value of its own."""
        x = own_vector(self.name, x, self.draft)
        place = self.places.get(x.key)
        if place is None:
            place = self.places[x.key] = len(self.points)
            slope = self._slope(x) if gradient is None else gradient
            own = self.draft.zero() if getattr(self.of, "indicator", False) else self.draft.value()
            self.points.append(Point(x, slope, level or own))
            self.is_exact &= self._compares(x.blocks.union(slope.blocks).difference(self.blocks))
        elif gradient is not None:
            message = f"{self.name} must be asked for a point once, got one at which its gradient is known already"
            raise ValueError(message)
        return self.points[place]

    def _slope(self, x: Vector) -> Vector:
        """Make the gradient at a point, which depends on everything that the point depends on."""
        return self.draft.vector(own_vector(self.name, x, self.draft), blocks=self.blocks)

    def _compares(self, elsewhere: set[int]) -> bool:
        """Whether the conditions are still sufficient for points that depend on clients, or on noises, of others.

        Of two outcomes of a noise they compare the points of smooth functions, of two clients no points.
        """
        return not elsewhere or (self.of.compares_outcomes and elsewhere <= {*self.draft.noises})

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

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    @abstractmethod
    def parts(self) -> list[tuple[Fraction, Function]]:
        """Return the functions that it is a combination of, with their coefficients."""

    def gradient(self, x: Vector) -> Vector:
        """Return the gradient, or a subgradient, at a point; the same point has the same one."""
        return reduce(add, (c * part.known(x).gradient for c, part in self.parts()))

    def step(self, x: Vector, step_size: Any, *, variance: Any = 0, name: str = "gradient_noise") -> Vector:
        """Return the model after a gradient step; each client makes a step of its own."""
        size, most = positive_number("step_size", step_size), nonnegative_number("variance", variance)
        slope = self.stochastic_gradient(x, variance=most, name=name) if most else self.gradient(x)
        return x - size * slope

    def stochastic_gradient(self, x: Vector, *, variance: Any, name: str = "") -> Vector:
        """Return the gradient plus a new noise of mean 0 and of a mean square of at most ``variance``.

        The noise has mean 0 whatever was drawn before. Each client draws a noise, independently of the others; a
        function that is no client's draws one for all. Products are means over the noises.
        """
        most = nonnegative_number("variance", variance)
        parts = [part for _, part in self.parts()]
        clients = [part for part in parts if isinstance(part, Clients)]
        if clients and len(parts) > 1:
            message = f"stochastic_gradient must be asked of {clients[0].name} alone and added, got the sum {self.name}"
            raise ValueError(message)
        slope = self.gradient(x)
        noise = self.draft.noise(clients[0].name if clients else "", x, parts[0].blocks)
        self.draft.at_most(noise.square, most, name)
        return slope + noise

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
        self._refuse_unless_convex("minimizer")
        gap = None if objective_gap is None else nonnegative_number("objective_gap", objective_gap)
        if self._minimizer is not None and not (at is None and gap is None):
            message = f"the minimizer of {self.name} must be placed, and Gamma bounded, when it is first asked for"
            raise ValueError(message)
        if self._minimizer is None:
            at = self.draft.vector() if at is None else self._fixed("minimizer", at)
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
        return self.balance(self.draft.vector())

    def proximal(self, x: Vector, step: Any) -> Vector:
        """Return ``y = x - step g`` with g a (sub)gradient at y: the minimizer of ``f + |. - x|^2 / (2 step)``."""
        [(c, part)] = self._alone("proximal")
        length = positive_number("step", step) * c
        if c < 0 or length * part.of.mu < -1:
            message = (
                f"proximal must minimize a convex function, f + |. - x|^2 / (2 step), got the factor {shown(c)} and "
                f"the step {shown(length / c)} for {part.name} with mu = {shown(part.of.mu)}"
            )
            raise ValueError(message)
        slope = part._slope(x)
        y = x - length * slope
        part.known(y, slope)
        return y

    def line_search(self, x: Vector, *directions: Vector) -> Vector:
        """Return the best point on x plus the span of some directions.

        The gradient there is orthogonal to the directions and to the step. That the step lies in their span no form can
        say, so that what is proved is an upper bound.
        """
        self._refuse_clients("line_search")
        inputs = [own_vector("line_search", vector, self.draft) for vector in (x, *directions)]
        y = self.draft.vector(*inputs)
        slope = self.gradient(y)
        for direction in (*directions, y - x):
            self.draft.equal_to(slope @ direction)
        for _, part in self.parts():
            part.is_exact = False
        return y

    def linear_minimizer(self, direction: Vector) -> Vector:
        """Return the minimizer of ``f + <direction, .>``, at which gradients add up to minus the direction.

        That is a step of Frank and Wolfe's method where f is the indicator of a set, and a mirror step where f has a
        kernel h in it: ``direction = step * gradient - h.gradient(x)``. The minimizer depends on everything that the
        direction depends on.
        """
        self._refuse_clients("linear_minimizer")
        self._refuse_unless_convex("linear_minimizer")
        y = self.draft.vector(own_vector("linear_minimizer", direction, self.draft))
        *others, (last, closing) = self.parts()
        slope = reduce(add, (c * part.known(y).gradient for c, part in others), direction)
        closing.known(y, -1 / Fraction(last) * slope)
        return y

    def balance(self, x: Vector, direction: Vector = _ZERO) -> Vector:
        """Let the gradients at a new point, in the mean over clients, add up to minus a direction; return the point.

        Of points and directions that clients have only the means count, and noises are refused.
        """
        *others, (last, closing) = self.parts()
        x, direction = (own_vector("balance", vector, self.draft) for vector in (x, direction))
        beyond = x.blocks.difference(closing.blocks), direction.blocks & {*self.draft.noises}
        if any(beyond):
            message = f"balance must be asked of {self.name} at a point of its clients, and without noise, got another"
            raise ValueError(message)
        for c, part in others:
            direction = direction + c * part.known(x).gradient
        closing.known(x, -1 / Fraction(last) * direction.within((0,)) + closing.deviation())
        return x

    def inexact_gradient(self, x: Vector, *, relative: Any = None, absolute: Any = None) -> Vector:
        """Return a vector that is off the gradient by at most a share of it, or by at most a length."""
        if (relative is None) == (absolute is None):
            message = f"one of relative and absolute must be given, got relative={relative!r}, absolute={absolute!r}"
            raise ValueError(message)
        size = positive_number("absolute", absolute) if relative is None else positive_number("relative", relative)
        slope = self.gradient(x)
        guess = self.draft.vector(slope, blocks=sorted({0}.union(*(part.blocks for _, part in self.parts()))))
        if relative is None:
            self.draft.at_most((guess - slope).square, size**2)
        else:
            self.draft.at_most((guess - slope).square - size**2 * slope.square)
        return guess

    def _fixed(self, verb: str, at: Vector) -> Vector:
        """Return a point that clients share, and that no noise moves."""
        if own_vector(verb, at, self.draft).blocks - {0}:
            message = f"{verb} must be placed at a point that clients share, without noise, got another for {self.name}"
            raise ValueError(message)
        return at

    def _refuse_clients(self, verb: str) -> None:
        for _, part in self.parts():
            if isinstance(part, Clients):
                message = (
                    f"{verb} must be asked of functions that are written one by one (p.function, p.mean), "
                    f"got the clients {part.name}"
                )
                raise ValueError(message)

    def _refuse_unless_convex(self, verb: str) -> None:
        for c, part in self.parts():
            if c < 0 or part.of.mu < 0:
                message = f"{verb}() must be asked of a sum of convex functions, got {part.name} (stationary_point())"
                raise ValueError(message)

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
        fixed = any(one is not None for one in beside) or (of.mu < 0 and self.minimum is not None)
        return not fixed and self.blocks == (0,)

    def parts(self) -> list[tuple[Fraction, Function]]:
        """Return itself."""
        return [(Fraction(1), self)]

    def minimizer(self, at: Vector | None = None, *, objective_gap: Any = None) -> Vector:
        """Return the minimizer, at which the gradient is 0 and than which no value is smaller.

        Gamma of one function is 0, so that any ``objective_gap`` bounds it.
        """
        if objective_gap is not None:
            nonnegative_number("objective_gap", objective_gap)
        return self.local_minimizer(None if at is None else self._fixed("minimizer", at))

    def local_minimizer(self, at: Vector | None = None) -> Vector:
        """Return the minimizer, of several clients each one's own."""
        if not self.of.has_minimizer:
            message = (
                "minimizer() must be asked of a function that is convex, or smooth and not quadratic, got "
                f"{self.name} with mu = {shown(self.of.mu)} (stationary_point())"
            )
            raise ValueError(message)
        if self.minimum is None:
            place = self.draft.vector(blocks=self.blocks) if at is None else own_vector(self.name, at, self.draft)
            if place.blocks.difference(self.blocks):
                message = f"the minimizer of {self.name} must lie where no noise moves it, got another place"
                raise ValueError(message)
            self.minimum = len(self.points)
            self.known(place, _ZERO, self._least)
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
        return self.draft.vector(blocks=self.blocks[1:]) if self.blocks[1:] else _ZERO

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
        if self._least is not None or self.of.quadratic_growth is not None or self.of.polyak is not None:
            self.local_minimizer()

    def impose(self) -> None:
        """Demand that a quadratic function is one."""
        if self.of.quadratic and self.of.L is not None and self.points:
            first = self.points[self.minimum or 0]
            others = [point for point in self.points if point is not first]
            impose_quadratic(self.draft, first, others, (self.of.mu, self.of.L), self.blocks)

    def conditions(self) -> Iterator[Condition]:
        """Yield what must hold for there to be such a function."""
        yield from super().conditions()
        yield from self.of.between_runs(self.points, self.draft.noises)

    def _compares(self, elsewhere: set[int]) -> bool:
        """Whether the conditions are still sufficient: those of a quadratic function are, block by block."""
        return self.of.quadratic or super()._compares(elsewhere)


class Operator(_Known):
    """An operator of a class, known by its values at the points at which it was asked."""

    of: OperatorClass

    def __call__(self, x: Vector) -> Vector:
        """Return the value at a point, or one of several; the same point has the same one."""
        return self.known(x).gradient

    def resolvent(self, x: Vector, step: Any) -> Vector:
        """Return ``y = x - step T y``."""
        length, slope = positive_number("step", step), self._slope(x)
        y = x - length * slope
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

    def _compares(self, elsewhere: set[int]) -> bool:  # noqa: ARG002
        """Whether the conditions are still sufficient, as they are block by block."""
        return True

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
        super().__init__(draft, name, of, (0, draft.block(name)) if num_clients > 1 else (0,), least)
        self.num_clients = num_clients

    minimizer = Term.minimizer

    def heterogeneity(self, *, zeta2: Any, name: str = "zeta2") -> None:
        """Demand that the mean of ``|grad F_k(w*)|^2`` is at most zeta2."""
        bound = nonnegative_number("zeta2", zeta2)
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
        """Return the mean of a vector over the clients; products and values are means already."""
        if not isinstance(term, Vector):
            return Form.of(term)
        if term.blocks & {*self.draft.noises_of(self.name)}:
            message = (
                f"mean must be given a vector without noise of the clients, got one with "
                f"({self.name}.sample(m).square(v) is the expected square of an average)"
            )
            raise ValueError(message)
        return own_vector("mean", term, self.draft).within(term.blocks.difference(self.blocks[1:]))

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

    ``share`` times the mean squared deviation is the expected squared deviation of an average, in which the noises of
    ``num_selected`` clients are independent.
    """

    def __init__(self, clients: Clients, num_selected: int, share: Fraction) -> None:
        self.clients, self.num_selected, self.share = clients, num_selected, share

    def square(self, vector: Vector) -> Form:
        """Return the expected squared length of the sample's average of a vector.

        What does not differ among these clients, noise of the server for example, is in the average as it is.
        """
        draft, deviations = self.clients.draft, self.clients.blocks[1:]
        noises = draft.noises_of(self.clients.name)
        shared = own_vector("square", vector, draft).blocks.difference(deviations, noises)
        found = vector.within(shared).square
        for blocks, share in ((deviations, self.share), (noises, Fraction(1, self.num_selected))):
            part = vector.within(blocks)
            found = found + share * part.square if share and part.coordinates else found
        return found
