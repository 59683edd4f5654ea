"""The functions of a worst-case problem: functions, sums of functions, operators, and exchangeable clients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from operator import add, sub
from typing import Any, overload

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.worst_case._constants import written
from fedtheory.worst_case._record import Declared, Record
from fedtheory.worst_case._vectors import Form, Key, Value, Vector, fraction
from fedtheory.worst_case.arguments import nonnegative_number, positive_number
from fedtheory.worst_case.function_classes.interface import Call, FunctionClass

_ZERO = Vector({})


def own_vector(what: str, x: Any, record: Record) -> Vector:
    """Return a vector after checking that it belongs to this problem."""
    if not isinstance(x, Vector):
        message = f"{what} must be asked at a vector of its problem, got {truncate(x)}"
        raise TypeError(message)
    if x.owner not in (None, record.owner):
        message = f"{what} must be asked at a vector of its own problem, got one of another"
        raise ValueError(message)
    return x


class _Called:
    """A function or an operator with the points at which it is called; it has one value at each point."""

    def __init__(self, record: Record, declared: Declared) -> None:
        self.record, self._number, self._places = record, record.declare(declared), dict[Key, int]()
        self.name, self.of, self.blocks = declared.name, declared.of, declared.blocks

    @property
    def declared(self) -> Declared:
        """The function's entry in the record."""
        return self.record.declared[self._number]

    @declared.setter
    def declared(self, changed: Declared) -> None:
        self.record.declared[self._number] = changed

    def call(self, x: Any, gradient: Vector | None = None, level: Value | None = None) -> Call:
        """Return the call at a point; a new call has an unknown gradient and an unknown value."""
        x, known = own_vector(self.name, x, self.record), self.declared
        if x.key not in self._places:
            self._places[x.key] = len(known.calls)
            slope = self.slope(x) if gradient is None else gradient
            own = self.record.zero() if self.of.indicator else self.record.value()
            exact = known.exact and self._compares(x.blocks.union(slope.blocks).difference(self.blocks))
            self.declared = known._replace(calls=(*known.calls, Call(x, slope, level or own)), exact=exact)
        elif gradient is not None:
            message = f"{self.name} must be asked for a point once, got one at which its gradient is known already"
            raise ValueError(message)
        return self.declared.calls[self._places[x.key]]

    def slope(self, x: Vector, verb: str = "gradient", numbers: Iterable[Fraction] = ()) -> Vector:
        """Make the gradient at a point, which depends on the same sources of variation as the point."""
        at = own_vector(self.name, x, self.record)
        return self.record.vector(at, blocks=self.blocks, verb=verb, of=[(Fraction(1), self.name)], numbers=numbers)

    def _compares(self, elsewhere: set[int]) -> bool:
        """Whether the conditions remain sufficient for points that depend on other clients or on noises.

        For smooth functions, the conditions compare the points of two outcomes of a noise. No conditions compare the
        points of two clients.
        """
        own = self.record.differences_of(self.name)
        return not elsewhere or (self.of.compares_outcomes and elsewhere <= {*self.record.noises, *own})


class Term(ABC):
    """A function that can be evaluated, scaled and added."""

    name: str
    record: Record
    _minimizer: Vector | None = None

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    @abstractmethod
    def parts(self) -> list[tuple[Fraction, Function]]:
        """Return the functions and their coefficients in this combination."""

    @property
    def _of(self) -> list[tuple[Fraction, str]]:
        return [(c, part.name) for c, part in self.parts()]

    def gradient(self, x: Vector, *, name: str = "") -> Vector:
        """Return the gradient, or a subgradient, at a point; repeated calls return the same vector."""
        found = reduce(add, (c * part.call(x).gradient for c, part in self.parts()))
        return self.record.named(found, name)

    def step(
        self, x: Vector, step_size: Any, *, variance: Any = 0, relative: Any = 0, name: str = "gradient_noise"
    ) -> Vector:
        """Return the model after a gradient step; with clients, each of them makes the step with its own gradient."""
        size, most = positive_number("step_size", step_size), nonnegative_number("variance", variance)
        share = nonnegative_number("relative", relative)
        is_random = most or share
        slope = self.stochastic_gradient(x, variance=most, relative=share, name=name) if is_random else self.gradient(x)
        return x - size * slope

    def stochastic_gradient(self, x: Vector, *, variance: Any = 0, relative: Any = 0, name: str = "") -> Vector:
        """Return the gradient plus a new noise, whose mean is 0 given all earlier draws.

        The mean square of the noise is at most ``variance`` plus ``relative`` times the squared gradient. Clients draw
        independent noises; any other function draws one noise for all clients. Products are expectations over the
        noises.
        """
        most, share = nonnegative_number("variance", variance), nonnegative_number("relative", relative)
        if not (most or share):
            message = f"variance or relative must be above 0 (gradient(x) is without noise), got 0 for {self.name}"
            raise ValueError(message)
        parts = [part for _, part in self.parts()]
        clients = [part for part in parts if isinstance(part, Clients)]
        if clients and len(parts) > 1:
            message = f"stochastic_gradient must be asked of {clients[0].name} alone and added, got the sum {self.name}"
            raise ValueError(message)
        slope = self.gradient(x)
        noise = self.record.noise(clients[0].name if clients else "", x, parts[0].blocks)
        self.record.at_most(noise.square - share * slope.square if share else noise.square, most, name if most else "")
        return slope + noise

    def value(self, x: Vector) -> Form:
        """Return the value at a point."""
        return reduce(add, (c * part.level(x) for c, part in self.parts()))

    def minimizer(self, at: Vector | None = None, *, objective_gap: Any = None, name: str = "") -> Vector:
        """Return the minimizer of a convex function, at which gradients add up to 0.

        It is arbitrary, or placed ``at`` a point such as ``p.origin``. ``objective_gap`` bounds Gamma,
        ``F* - sum c F_k*``, of a sum or of clients; if it is 0, all of them have this minimizer.
        """
        self._refuse_unless_convex("minimizer")
        gap = None if objective_gap is None else nonnegative_number("objective_gap", objective_gap)
        if self._minimizer is not None and not (at is None and gap is None):
            message = f"the minimizer of {self.name} must be placed, and Gamma bounded, when it is first asked for"
            raise ValueError(message)
        if self._minimizer is None:
            at = self.record.vector(verb="minimizer", of=self._of) if at is None else self._fixed("minimizer", at)
            for _, part in self.parts() if gap is not None else []:
                part.local_minimizer(None if gap else at)
            self._minimizer = at if gap == 0 else self.balance(at)
            if gap:
                self.record.at_most(self.objective_gap(), gap, "objective_gap")
        return self.record.named(self._minimizer, name)

    def objective_gap(self) -> Form:
        """Return Gamma, the least value minus the sum of the parts' least values."""
        least = [c * part.value(part.local_minimizer()) for c, part in self.parts()]
        return reduce(sub, least, self.value(self.minimizer()))

    def stationary_point(self, *, name: str = "") -> Vector:
        """Return a point at which the gradient, or some subgradient, is 0."""
        at = self.record.vector(verb="stationary point", of=self._of)
        return self.record.named(self.balance(at), name)

    def proximal(self, x: Vector, step: Any, *, name: str = "") -> Vector:
        """Return ``y = x - step g`` with g a (sub)gradient at y: the minimizer of ``f + |. - x|^2 / (2 step)``."""
        [(c, part)] = self._alone("proximal")
        length = positive_number("step", step) * c
        if c < 0 or length * part.of.mu < -1:
            message = (
                "proximal must minimize a convex function, f + |. - x|^2 / (2 step), got the factor "
                f"{written(c)} and the step {written(length / c)} for {part.name} with "
                f"mu = {written(part.of.mu)}"
            )
            raise ValueError(message)
        slope = part.slope(x, "proximal", [length])
        y = x - length * slope
        part.call(y, slope)
        return self.record.named(y, name)

    def line_search(self, x: Vector, *directions: Vector, name: str = "") -> Vector:
        """Return the best point on x plus the span of some directions.

        The gradient at this point is orthogonal to the directions and to the step. The condition that the step is in
        their span cannot be expressed by forms, so only an upper bound is proved.
        """
        self._refuse_clients("line_search")
        inputs = [own_vector("line_search", vector, self.record) for vector in (x, *directions)]
        y = self.record.vector(*inputs, verb="line search", of=self._of)
        slope = self.gradient(y)
        for direction in (*directions, y - x):
            self.record.equal_to(slope @ direction)
        for _, part in self.parts():
            part.declared = part.declared._replace(exact=False)
        return self.record.named(y, name)

    def linear_minimizer(self, direction: Vector, *, name: str = "") -> Vector:
        """Return the minimizer of ``f + <direction, .>``, at which the gradients sum to ``-direction``.

        This is a step of the Frank-Wolfe method if f is the indicator of a set. It is a mirror step if f contains a
        kernel h: ``direction = step * gradient - h.gradient(x)``. The minimizer depends on the same sources of
        variation as the direction.
        """
        self._refuse_clients("linear_minimizer")
        self._refuse_unless_convex("linear_minimizer")
        way = own_vector("linear_minimizer", direction, self.record)
        y = self.record.vector(way, verb="linear minimizer", of=self._of)
        *others, (last, closing) = self.parts()
        slope = reduce(add, (c * part.call(y).gradient for c, part in others), direction)
        closing.call(y, -1 / last * slope)
        return self.record.named(y, name)

    def balance(self, x: Vector) -> Vector:
        """Demand that the gradients at a new point, averaged over clients, sum to 0; return the point."""
        *others, (last, closing) = self.parts()
        if own_vector("balance", x, self.record).blocks.difference(closing.blocks):
            message = f"balance must be asked of {self.name} at a point of its clients, got another"
            raise ValueError(message)
        direction = _ZERO
        for c, part in others:
            direction = direction + c * part.call(x).gradient
        closing.call(x, -1 / last * direction.within((0,)) + closing.deviation())
        return x

    def inexact_gradient(self, x: Vector, *, relative: Any, name: str = "") -> Vector:
        """Return a vector whose distance from the gradient g is at most ``relative * |g|``."""
        size = positive_number("relative", relative)
        slope, blocks = self.gradient(x), sorted({0}.union(*(part.blocks for _, part in self.parts())))
        guess = self.record.vector(slope, blocks=blocks, verb="inexact gradient", numbers=[size])
        self.record.at_most((guess - slope).square - size**2 * slope.square)
        return self.record.named(guess, name)

    def _fixed(self, verb: str, at: Vector) -> Vector:
        """Return a point after checking that it is the same for all clients and depends on no noise."""
        if own_vector(verb, at, self.record).blocks - {0}:
            message = f"{verb} must be placed at a point that clients share, without noise, got another for {self.name}"
            raise ValueError(message)
        return at

    def _refuse_clients(self, verb: str) -> None:
        for _, part in self.parts():
            if isinstance(part, Clients):
                message = f"{verb} must be of functions that are written one by one, got the clients {part.name}"
                raise ValueError(message)

    def _refuse_unless_convex(self, verb: str) -> None:
        for c, part in self.parts():
            if c < 0 or not part.of.mu >= 0:
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
        if other.record is not self.record:
            message = "functions must belong to one problem to be added, got some of two"
            raise ValueError(message)
        return Sum([*self.parts(), *other.parts()])

    def __rmul__(self, factor: Any) -> Sum:
        c = fraction("a factor", factor)
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
        self.record, self.name = self._parts[0][1].record, " + ".join(part.name for _, part in self._parts)

    def parts(self) -> list[tuple[Fraction, Function]]:
        return self._parts


class Function(_Called, Term):
    """A function of a class, described by its gradients and values at the points where it is called."""

    def __init__(
        self, record: Record, name: str, of: FunctionClass, least: Value | None = None, *, num_clients: int = 1
    ) -> None:
        self.num_clients, blocks = num_clients, (0, record.block(name)) if num_clients > 1 else (0,)
        super().__init__(record, Declared(name, of, blocks, (), None, num_clients, of.exact, least))
        self._with_normal_0: set[Key] = set()

    def parts(self) -> list[tuple[Fraction, Function]]:
        return [(Fraction(1), self)]

    def minimizer(self, at: Vector | None = None, *, objective_gap: Any = None, name: str = "") -> Vector:
        """Return the minimizer, where the gradient is 0 and the value is the least one.

        Gamma of a single function is 0, so ``objective_gap`` has no effect.
        """
        if objective_gap is not None:
            nonnegative_number("objective_gap", objective_gap)
        found = self.local_minimizer(None if at is None else self._fixed("minimizer", at))
        return self.record.named(found, name)

    def local_minimizer(self, at: Vector | None = None) -> Vector:
        """Return the minimizer; for clients, the minimizer of each client."""
        if not self.of.has_minimizer:
            message = (
                f"minimizer() must be asked of a function that is convex, or smooth and not quadratic, got {self.name} "
                "(stationary_point())"
            )
            raise ValueError(message)
        if self.declared.minimum is None:
            made = self.record.vector(blocks=self.blocks, verb="local minimizer", of=self._of) if at is None else at
            place = own_vector(self.name, made, self.record)
            if place.blocks.difference(self.blocks):
                message = f"the minimizer of {self.name} must lie where no noise moves it, got another place"
                raise ValueError(message)
            number = len(self.declared.calls)
            self.call(place, _ZERO, self.declared.least)
            self.declared = self.declared._replace(minimum=number)
        found = self.declared.calls[self.declared.minimum or 0].at
        if at is not None and at.key != found.key:
            message = f"the minimizer of {self.name} must be placed when it is first asked for, got another place later"
            raise ValueError(message)
        return found

    def limit_excess(self, x: Vector, bound: Any, name: str = "", share: Any = 1) -> None:
        """Bound the excess at a point by a share of a bound; if the bound is 0, the point is the minimizer."""
        number, part = fraction("bound", bound), fraction("share", share)
        least = self.local_minimizer(None if number * part else x)
        if number * part:
            self.record.at_most(self.value(x) - self.value(least), number, name, part)

    def deviation(self, *, name: str = "") -> Vector:
        """Return a vector by which clients differ from their mean; it is 0 for a single function."""
        own = self.blocks[1:]
        found = self.record.vector(blocks=own, verb="deviation", of=self._of) if own else _ZERO
        return self.record.named(found, name)

    def level(self, x: Any) -> Value:
        """Return the value at a point.

        The normal vector at a point of a set is 0 until a normal vector is requested.
        """
        if self.of.indicator and isinstance(x, Vector) and x.key not in self._places:
            self.call(x, _ZERO)
            self._with_normal_0.add(x.key)
        if isinstance(x, Vector) and x.key in self._with_normal_0:
            return self.declared.calls[self._places[x.key]].value
        return self.call(x).value

    def call(self, x: Any, gradient: Vector | None = None, level: Value | None = None) -> Call:
        """Return the call at a point; a requested normal vector replaces the normal vector 0."""
        if gradient is None and isinstance(x, Vector) and x.key in self._with_normal_0:
            self._with_normal_0.remove(x.key)
            place, calls = self._places[x.key], [*self.declared.calls]
            calls[place] = calls[place]._replace(gradient=self.slope(x))
            self.declared = self.declared._replace(calls=tuple(calls))
        return super().call(x, gradient, level)

    def _compares(self, elsewhere: set[int]) -> bool:
        """Whether the conditions remain sufficient, as they do for quadratic functions."""
        if self.of.quadratic and elsewhere & {*self.record.differences_of(self.name)}:
            message = f"quadratic clients must be asked where no noise of the server moves them, got {self.name}"
            raise ValueError(message)
        return self.of.quadratic or super()._compares(elsewhere)


class Operator(_Called):
    """An operator of a class, described by its values at the points where it is called."""

    def __init__(self, record: Record, name: str, of: FunctionClass) -> None:
        super().__init__(record, Declared(name, of, (0,), (), exact=of.exact))

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    @property
    def _of(self) -> list[tuple[Fraction, str]]:
        return [(Fraction(1), self.name)]

    def __call__(self, x: Vector, *, name: str = "") -> Vector:
        """Return the value at a point, or one of several values; repeated calls return the same vector."""
        return self.record.named(self.call(x).gradient, name)

    def resolvent(self, x: Vector, step: Any, *, name: str = "") -> Vector:
        """Return ``y = x - step T y``."""
        length = positive_number("step", step)
        slope = self.slope(x, "resolvent", [length])
        y = x - length * slope
        self.call(y, slope)
        return self.record.named(y, name)

    def fixed_point(self, *, name: str = "") -> Vector:
        """Return a point with ``T x = x``."""
        x = self.record.vector(verb="fixed point", of=self._of)
        self.call(x, x)
        return self.record.named(x, name)

    def zero(self, *, name: str = "") -> Vector:
        """Return a point with ``T x = 0``."""
        x = self.record.vector(verb="zero", of=self._of)
        self.call(x, _ZERO)
        return self.record.named(x, name)


class Clients(Function):
    """Exchangeable clients: one vector represents the vectors of all clients, in two blocks for any number of clients.

    The vector of a client is the sum of a mean and a deviation. A product of two such vectors is an average over
    clients.
    """

    minimizer = Term.minimizer

    def heterogeneity(self, *, zeta2: Any, name: str = "zeta2") -> None:
        """Demand that the mean of ``|grad F_k(w*)|^2`` is at most zeta2."""
        bound = nonnegative_number("zeta2", zeta2)
        if not bound:
            message = "zeta2 must be above 0, got 0 (minimizer(objective_gap=0) demands one minimizer of all clients)"
            raise ValueError(message)
        self.record.at_most(self.call(self.minimizer()).gradient.square, bound, name)

    @overload
    def mean(self, term: Vector) -> Vector: ...

    @overload
    def mean(self, term: Form | Value) -> Form: ...

    def mean(self, term: Any) -> Any:
        """Return the mean of a vector over the clients; products and values already are means.

        The mean of the clients' independent noises is a noise of the server.
        """
        if not isinstance(term, Vector):
            return Form.of(term)
        noises = own_vector("mean", term, self.record).blocks & {*self.record.noises_of(self.name)}
        used = {0}.union(*(call.at.blocks | call.gradient.blocks for one in self.record.declared for call in one.calls))
        if noises & used or any(self.record.sizes[block] > 1 for block in noises):
            message = "mean must be given noises of clients at whose outcomes nothing is computed, got others"
            raise ValueError(message)
        found = term.within(term.blocks.difference(self.record.differences_of(self.name), noises))
        means = ((term[block, 0], self.record.mean_noise(block, self.num_clients)) for block in sorted(noises))
        return reduce(add, (c * mean for c, mean in means), found)

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

    def __repr__(self) -> str:
        return f"<sample of {self.num_selected} of the {self.clients.num_clients} clients of {self.clients.name}>"

    def square(self, vector: Vector) -> Form:
        """Return the expected squared length of the sample's average of a vector.

        The part of the vector that is the same for all clients, such as noise of the server, is unchanged by the
        average.
        """
        record, deviations = self.clients.record, self.clients.record.differences_of(self.clients.name)
        record.refuse_dependent(own_vector("square", vector, record))
        noises = record.noises_of(self.clients.name)
        shared = vector.blocks.difference(deviations, noises)
        found = vector.within(shared).square
        for blocks, share in ((deviations, self.share), (noises, Fraction(1, self.num_selected))):
            part = vector.within(blocks)
            found = found + share * part.square if share and part.coordinates else found
        return found
