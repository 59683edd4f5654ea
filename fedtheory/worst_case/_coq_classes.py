"""Functions in Coq: hypotheses on classes and calls, and the facts that follow from them.

Each kind of function has the same methods. ``declare`` adds binders and the hypotheses of the class, whose names in Coq
are given. ``call`` and ``step`` return the proof that u is a (sub)gradient at x, or that ``(x - y) / step`` is one at
y, the proximal point of x, after adding the hypotheses that it needs. ``facts`` yields the facts about all calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple, final

from fedtheory.worst_case._coq_terms import (
    Fixed,
    Name,
    Product,
    Sum,
    Times,
    argument,
    coordinates,
    minus,
    plus,
    square,
    text,
    tight,
)
from fedtheory.worst_case.checker._forms import Function

if TYPE_CHECKING:
    from fedtheory.worst_case._coq_statement import Statement


class Fact(NamedTuple):
    """An inequality ``expression <= 0``, or an equality, and the term that proves it."""

    says: Any
    proof: str
    is_equality: bool = False


class At(NamedTuple):
    """A call: point, gradient, function value, and a proof that they belong to the function.

    The ``term`` is the point as an argument of a lemma.
    """

    x: Any
    term: str
    u: Any
    value: Any
    proof: str
    is_least: bool


@final
@dataclass(eq=False)
class Smooth:
    """A smooth function; with clients, the functions of all clients, one smooth function on the space of all clients.

    It has one gradient at each point.
    """

    stated: Statement
    of: Function
    name: str
    calls: dict[int, At] = field(default_factory=dict)

    def declare(self, names: Sequence[str]) -> None:
        name, slope, stated, mu, L = self.name, self._slope, self.stated, self.of.of["mu"], self.of.of["L"]
        both = f"{name} {slope}"
        if stated.has_clients:
            stated.binders += [f"({name} : nat -> V -> R)", f"({slope} : nat -> V -> V)"]
            low, up = (stated.hypothesis(f"(forall k, {kind} ({name} k) ({slope} k))") for kind in names)
            stated.follows(f"fun k => proj1 ({up} k)" if mu >= 0 else up, f"{name}_upper")
            low, up = f"(all_lower p {tight(mu)} {both} {low})", f"(all_upper p {tight(L)} {both} {name}_upper)"
            both = f"(all_values p {name}) (all_gradients p {slope})"
        else:
            stated.binders += [f"({name} : V -> R)", f"({slope} : V -> V)"]
            if mu < 0 and mu == -L:
                h = stated.hypothesis(f"smooth {tight(L)} {both}")
                low, up = f"(lower_le (- {tight(L)}) {tight(mu)} {both} ltac:(lra) (proj2 {h}))", f"(proj1 {h})"
            else:
                low, up = (stated.hypothesis(f"{kind} {both}") for kind in names)
                up = up if mu < 0 else f"(proj1 {up})"
            stated.follows(up, f"{name}_upper")
        # The inequality between any two calls.
        share = tight(1 / (2 * (L - mu)))
        lemma = f"call_convex {tight(L)} {share} {both}"
        if mu:
            lemma = f"call_between {tight(mu)} {tight(L)} {tight(mu / 2)} {share} {both} ltac:(lra)"
        stated.follows(f"{lemma} ltac:(lra) ltac:(lra) {low} {up}", f"{name}_pairs")

    @property
    def _slope(self) -> str:
        return f"grad_{self.name}"

    def call(self, x: Any, u: Any, *, is_least: bool) -> str:
        stated, gradient = self.stated, self.stated.applied(self._slope, x)
        if text(u) == gradient:
            return "(same_refl _)"
        if is_least:
            return stated.follows(self._minimizes(x))
        says = f"same ({gradient}) {argument(u)}"
        if not stated.has_clients:
            return stated.hypothesis(says)
        h = stated.hypothesis(f"(forall k, {says})")
        return stated.follows(f"all_same p {self._slope} {stated.term(x)} {stated.term(u)} {h}")

    def _minimizes(self, x: Any) -> str:
        """State that a point is the minimizer, and return the proof that its gradient is 0."""
        if not self.stated.has_clients:
            return f"minimizer_same _ _ _ _ {self.name}_upper {self._least(argument(x))}"
        h = self.stated.hypothesis(f"(forall k, minimizer ({self.name} k) {argument(x)})")
        lemma = f"all_minimizers p {tight(self.of.of['L'])} {self.name} {self._slope} {self.stated.term(x)}"
        return f"{lemma} {self.name}_upper {h}"

    def _least(self, x: str) -> str:
        """State that a point is the minimizer, with the consequences of the class."""
        name, slope, stated = self.name, self._slope, self.stated
        best = stated.hypothesis(f"minimizer {name} {x}")
        if self.of.of["mu"] < 0:
            L = self.of.of["L"]
            lemma = f"call_descent {tight(L)} {tight(1 / (2 * L))} {name} {slope} {x} ltac:(lra) ltac:(lra)"
            stated.follows(f"{lemma} {name}_upper {best}", f"{name}_above")
        if (m := self.of.number("polyak")) is not None:
            h = stated.hypothesis(f"(forall z, 2 * {tight(m)} * ({name} z - {name} {x}) <= sq ({slope} z))")
            lemma = f"call_polyak {tight(m)} {tight(1 / (2 * m))} {name} {slope} {x} ltac:(lra) {h} ltac:(lra)"
            stated.follows(lemma, f"{name}_polyak")
        return best

    def step(self, y: Any, x: Any, step: Fraction) -> str:
        slope, stated = self._slope, self.stated
        taken = argument(minus(x, Times(step, Name(stated.applied(slope, y), "", {}))))
        sizes = f"{tight(1 / step)} {tight(step)} {slope}"
        if stated.has_clients:
            h = stated.hypothesis(f"(forall k, same {argument(y)} {taken})")
            return stated.follows(f"all_implicit p {sizes} {stated.term(x)} {stated.term(y)} ltac:(lra) {h}")
        h = stated.hypothesis(f"same {text(y)} {taken}")
        return stated.follows(f"implicit_same {sizes} {argument(x)} {text(y)} ltac:(lra) {h}")

    def facts(self) -> Iterator[Fact]:
        mu, L, name, m = self.of.of["mu"], self.of.of["L"], self.name, self.of.number("polyak")
        calls, b = _in_order(self), 1 / (2 * (L - mu))
        for p, q in permutations(calls, 2):
            says, ahead, apart = _gap(p, q), minus(q.x, p.x), minus(q.u, p.u)
            if mu:
                says, apart = plus(says, Times(mu / 2, square(ahead))), minus(apart, Times(mu, ahead))
            yield Fact(plus(says, Times(b, square(apart))), f"({name}_pairs {p.term} {q.term} _ _ {p.proof} {q.proof})")
        for best in (at for at in calls if at.is_least):
            for p in (at for at in calls if not at.is_least):
                excess = minus(p.value, best.value)
                if mu < 0:
                    yield Fact(minus(Times(1 / (2 * L), square(p.u)), excess), f"({name}_above _ _ {p.proof})")
                if m is not None:
                    yield Fact(minus(excess, Times(1 / (2 * m), square(p.u))), f"({name}_polyak _ _ {p.proof})")


@final
@dataclass(eq=False)
class Nonsmooth:
    """A convex, or strongly or weakly convex, function with subgradients, perhaps finite on a domain only."""

    stated: Statement
    of: Function
    name: str
    calls: dict[int, At] = field(default_factory=dict)

    @property
    def domain(self) -> str:
        """The domain on which the function is finite."""
        return "everywhere" if "lipschitz" in self.of.of else f"dom_{self.name}"

    def declare(self, names: Sequence[str]) -> None:
        domain = [f"({self.domain} : V -> Prop)"] * (self.domain != "everywhere")
        self.stated.binders += [*domain, f"({self.name} : V -> R)"]
        for kind in names:
            h = self.stated.follows(self.stated.hypothesis(f"{kind} {self.name}"), f"{self.name}_lipschitz")
            most = self.of.of["lipschitz"]
            lemma = f"call_lipschitz {tight(most)} {tight(most**2)} {self.name} ltac:(lra) ltac:(lra) {h}"
            self.stated.follows(lemma, f"{self.name}_class")

    def call(self, x: Any, u: Any, *, is_least: bool) -> str:
        mu = self.of.of["mu"]
        if not is_least or mu:
            kind = f"subgradient_by {tight(mu)}" if mu else "subgradient"
            return self.stated.hypothesis(f"{kind} {self.domain} {self.name} {argument(x)} {argument(u)}")
        if self.domain == "everywhere":
            return f"(minimizer_everywhere _ _ {self.stated.hypothesis(f'minimizer {self.name} {argument(x)}')})"
        return self.stated.hypothesis(f"minimizer_on {self.domain} {self.name} {argument(x)}")

    def step(self, y: Any, x: Any, step: Fraction) -> str:
        if self.of.of["mu"]:
            return self.call(y, Times(1 / step, minus(x, y)), is_least=False)
        where, both = f"{self.domain} {self.name}", f"{argument(x)} {text(y)}"
        h = self.stated.hypothesis(f"prox {tight(step)} {where} {both}")
        return self.stated.follows(f"prox_subgradient {tight(1 / step)} {tight(step)} {where} {both} ltac:(lra) {h}")

    def facts(self) -> Iterator[Fact]:
        mu, most, name = self.of.of["mu"], self.of.number("lipschitz"), self.name
        calls = _in_order(self)
        for p, q in permutations(calls, 2):
            both = f"{p.proof} (proj1 {q.proof})"
            if mu:
                says = plus(_gap(p, q), Times(mu / 2, square(minus(q.x, p.x))))
                yield Fact(says, f"(call_subgradient_by {tight(mu)} {tight(mu / 2)} _ _ _ _ _ ltac:(lra) {both})")
            elif p.is_least:
                yield Fact(minus(p.value, q.value), f"(call_minimizer_on _ _ _ _ {both})")
            else:
                yield Fact(_gap(p, q), f"(cond_subgradient _ _ _ _ _ {both})")
        for p in calls:
            if most is not None and not p.is_least:
                yield Fact(minus(square(p.u), Fixed(most**2)), f"({name}_class _ _ {p.proof})")


@final
@dataclass(eq=False)
class Sets:
    """A convex set, with normal vectors as subgradients of its indicator."""

    stated: Statement
    of: Function
    name: str
    calls: dict[int, At] = field(default_factory=dict)

    def declare(self, names: Sequence[str]) -> None:
        self.stated.binders.append(f"({self.name} : V -> Prop)")
        for kind in names:
            h, size = self.stated.hypothesis(f"{kind} {self.name}"), self.of.of["diameter"]
            lemma = f"fun x y => call_diameter {tight(size)} {tight(size**2)} {self.name} x y ltac:(lra) {h}"
            self.stated.follows(lemma, f"{self.name}_class")

    def call(self, x: Any, u: Any, *, is_least: bool) -> str:  # noqa: ARG002, as for other classes
        if coordinates(u):
            return self.stated.hypothesis(f"normal {self.name} {argument(x)} {argument(u)}")
        inside = self.stated.hypothesis(f"{self.name} {argument(x)}")
        return self.stated.follows(f"normal_zero {self.name} {argument(x)} {inside}")

    def step(self, y: Any, x: Any, step: Fraction) -> str:
        both = f"{self.name} {argument(x)} {text(y)}"
        h = self.stated.hypothesis(f"projection {both}")
        return self.stated.follows(f"projection_normal {tight(1 / step)} {both} ltac:(lra) {h}")

    def facts(self) -> Iterator[Fact]:
        size = self.of.number("diameter")
        for p, q in permutations(_in_order(self), 2):
            yield Fact(Product(p.u, minus(q.x, p.x)), f"(call_normal _ _ _ _ {p.proof} (proj1 {q.proof}))")
            if size is not None:
                says = minus(square(minus(p.x, q.x)), Fixed(size**2))
                yield Fact(says, f"({self.name}_class _ _ (proj1 {p.proof}) (proj1 {q.proof}))")


Declared = Smooth | Nonsmooth | Sets


def declared(stated: Statement, of: Function, name: str) -> Declared:
    """Return a function in a statement."""
    if of.of["indicator"]:
        return Sets(stated, of, name)
    if of.number("L") is None:
        return Nonsmooth(stated, of, name)
    return Smooth(stated, of, name)


def _in_order(one: Declared) -> list[At]:
    return [at for _, at in sorted(one.calls.items())]


def _gap(p: At, q: At) -> Sum:
    """Return the distance of the value at q below the tangent at p."""
    return plus(minus(p.value, q.value), Product(p.u, minus(q.x, p.x)))
