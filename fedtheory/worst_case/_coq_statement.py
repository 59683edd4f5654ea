"""The statement of a formal theorem: a problem's functions, points, calls and constraints in Coq."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

from fedtheory.worst_case import _coq_terms as coq
from fedtheory.worst_case._constants import Constant, key_of
from fedtheory.worst_case._coq_classes import At, Declared, Fact, declared
from fedtheory.worst_case._coq_names import OF_FUNCTION, VERBS, NotStated, identifier
from fedtheory.worst_case.checker._forms import Constraint, Form, Function, Vector
from fedtheory.worst_case.checker._problem import Problem
from fedtheory.worst_case.function_classes import class_of

LARGEST_SAMPLE = 1000
"""Largest number of clients of which samples are stated, so that Coq reads it quickly as a natural number."""
Term = tuple[Fraction, Vector, Vector]


class Apart(NamedTuple):
    """A vector of all clients, its mean, and a proof that the difference is orthogonal to shared vectors."""

    atom: coq.Name
    mean: Any
    proof: str


class Statement:
    """Hypotheses, definitions and facts of a theorem, in the order in which they are stated.

    Vectors are elements of a space or, with clients, families of such vectors, one for each client. ``atoms`` are
    vectors that are not combinations of others, the variables of the checker; ``named`` are the atoms and the points
    that are defined by them. ``values`` are the texts of the numbers that are not constants.

    ``binders`` and ``free`` are universally quantified functions and numbers, and points. ``items`` are hypotheses and
    definitions: kind, name, text. ``before`` are sentences of the proof that derive consequences of the hypotheses.

    ``demands`` are the constraints, as facts, and ``zeros`` the function values that are 0. ``links`` are products of
    vectors that all clients share, as facts about the space of all clients. ``apart`` are the vectors that differ among
    clients.
    """

    def __init__(self, problem: Problem, taken: Sequence[str] = ()) -> None:
        self.problem, self.taken = problem, {*taken}
        self.atoms: list[coq.Name] = []
        self.named: list[coq.Name] = []
        self.values: list[str] = []
        self.binders: list[str] = []
        self.free: list[str] = []
        self.items: list[tuple[str, str, str]] = []
        self.before: list[str] = []
        self.demands: list[Fact] = []
        self.zeros: list[Fact] = []
        self.links: dict[str, Fact] = {}
        self.apart: list[Apart] = []
        self._draws: dict[tuple[str, int], tuple[str, str, str]] = {}
        self._numbers: dict[int, coq.Value] = {}
        self._points: dict[frozenset[Any], coq.Name] = {}
        self._basis: dict[tuple[int, int], Mapping[int, Fraction]] = {}
        self.has_clients = any(problem.owners)
        self._refuse_unstated()
        if self.has_clients:
            self.binders.append("(p : law)")
        self.functions = [*map(self._declare, problem.functions)]
        self._waiting = [(one, n) for one in self.functions for n in range(len(one.of.calls))]
        self._demanded = [*problem.demanded]
        self._state()
        for vector, (verb, of, inputs) in zip(problem.vectors, problem.verbs, strict=True):
            self._make(vector, verb, of, inputs)
            self._state()
        for demand in self._demanded:
            self._demand(demand)
        self.goals = [self.form(form) for form in problem.objectives]

    def _refuse_unstated(self) -> None:
        """Raise NotStated if a part of the problem has no formal statement."""
        for one in self.problem.functions:
            of = class_of(one.of, one.kind)
            if of.coq is None:
                message = f"{one.name}, and {of.without_coq}"
                raise NotStated(message)
        for verb, *_ in self.problem.verbs:
            if verb not in VERBS:
                message = f"a vector made by the operation {verb}, which has no formal statement yet"
                raise NotStated(message)
        if self.problem.noises:
            message = "noises, which have no formal statement yet (p.mean over outcomes has one)"
            raise NotStated(message)
        for one in self.problem.functions if self.has_clients else ():
            if one.num_clients == 1 or one.number("L") is None or one.number("polyak") is not None:
                message = f"{one.name} in a problem with clients, where only smooth clients have a formal statement yet"
                raise NotStated(message)
        if self.has_clients and len(self.problem.functions) > 1:
            message = "two groups of clients, which have no formal statement yet"
            raise NotStated(message)

    # Names, hypotheses and consequences.

    def identifier(self, name: str) -> str:
        return identifier(name, self.taken)

    def hypothesis(self, text: str) -> str:
        """Add a hypothesis and return its name."""
        name = f"h{sum(kind == 'hypothesis' for kind, *_ in self.items)}"
        self.items.append(("hypothesis", name, text))
        return name

    def follows(self, term: str, name: str = "") -> str:
        """Add a consequence of the hypotheses to the proof and return its name."""
        name = name or f"k{len(self.before)}"
        self.before.append(f"pose proof ({term}) as {name}.")
        return name

    def term(self, v: Any) -> str:
        """Return a vector as an argument of a lemma."""
        if not self.has_clients:
            return coq.argument(v)
        return f"(fun {'k' if coq.is_of_client(v) else '_'} => {coq.text(v)}){'%V' * coq.argument(v).endswith('%V')}"

    def applied(self, name: str, x: Any) -> str:
        """Return a function, or its gradient, at a point, as text."""
        return f"{name} k {coq.argument(x)}" if self.has_clients else f"{name} {coq.argument(x)}"

    def codes(self) -> Iterator[tuple[str, str]]:
        """Yield the names of the checker's vectors, and their definitions."""
        for v in self.named:
            yield v.code, f"VVar {min(v.at)}" if v.stands_for is None else coq.code(v.stands_for)

    # Vectors and numbers of the certificate.

    def _new(self, text: str, at: Mapping[int, Fraction], *, of_client: bool, stands_for: Any = None) -> coq.Name:
        made = coq.Name(text, f"e{len(self.named)}", at, of_client, stands_for)
        self.named.append(made)
        return made

    def atom(self, text: str, *, of_client: bool = False) -> coq.Name:
        """Add a vector that is not a combination of others."""
        self.atoms.append(self._new(text, {len(self.atoms): coq.ONE}, of_client=of_client))
        return self.atoms[-1]

    def family(self, vector: Vector, text: str) -> coq.Name:
        """Make a vector of the certificate an atom; if it differs among clients, add its mean as another atom."""
        mean, *deviation = sorted(vector)
        if not deviation:
            made = self.atom(text, of_client=self.has_clients and " k" in text)
            self._basis[mean] = made.at
            return made
        made, average = self.atom(text, of_client=True), self.atom(f"vE p (fun k => {text})")
        self._basis[mean], self._basis[deviation[0]] = average.at, coq.coordinates(coq.minus(made, average))
        self.apart.append(Apart(made, average, "(same_refl _)"))
        return made

    def number(self, text: str, place: int = -1) -> coq.Value:
        """Return a number that is not a constant, by its index in the certificate if it has one."""
        if place in self._numbers:
            return self._numbers[place]
        found = coq.Value(text, len(self.values))
        self.values.append(text)
        if place >= 0:
            self._numbers[place] = found
        return found

    def at(self, vector: Vector) -> dict[int, Fraction]:
        """Return the coordinates of a vector of the certificate with respect to the atoms."""
        found: dict[int, Fraction] = {}
        for place, c in vector.items():
            found = coq.added(found, c, self._basis[place])
        return found

    def vector(self, vector: Vector) -> Any:
        """Return a vector as a combination of named vectors."""
        at = self.at(vector)
        known = self._points.get(key_of(at))
        return known or coq.expressed(at, [*self._points.values()], self.atoms)

    def point(self, vector: Vector, name: str) -> coq.Name:
        """Return a point by its name; a point without a name gets one."""
        at = self.at(vector)
        key = key_of(at)
        known = coq.ZERO if not at else self._points.get(key) or next((one for one in self.atoms if one.at == at), None)
        if known is not None:
            return known
        made, word = coq.expressed(at, [*self._points.values()], self.atoms), self.identifier(name or "x")
        varies = coq.is_of_client(made)
        self.items.append(("let", word, f"fun k => {coq.text(made)}" if varies else coq.text(made)))
        self._points[key] = self._new(f"{word} k" if varies else word, at, of_client=varies, stands_for=made)
        return self._points[key]

    def form(self, form: Form, *, stated: bool = True) -> Any:
        """Return a form as a sum of products and values.

        If ``stated``, products of shared vectors are separate numbers.
        """
        terms: list[tuple[Fraction, Any]] = []
        for c, place in form.levels:
            if place >= 0 and place not in self._numbers:
                word = self.identifier("t")
                self.binders.append(f"({word} : R)")
                self.number(word, place)
            terms += [(c, self._numbers[place])] if place >= 0 else []
        left = [term for term in form.terms if term[1] and term[2]]
        for mean, deviation in self._sampled(left) if stated and self.has_clients else ():
            if (drawn := self._drawn(mean, deviation)) is not None:
                terms.append((mean[0], drawn))
                left = [term for term in left if term is not mean and term is not deviation]
        for c, u, v in left:
            found = coq.Product(self.vector(u), self.vector(v))
            terms.append((c, self._linked(found, u, v) if stated and self.has_clients else found))
        return coq.total(terms, coq.Fixed(Fraction(0)))

    def _linked(self, found: coq.Product, u: Vector, v: Vector) -> Any:
        """Return a product of shared vectors as a separate number; other products are returned unchanged."""
        if (written := coq.text(found)).startswith("E "):
            return found
        if written not in self.links:
            proof = f"(call_shared _ {coq.argument(self.vector(u))} {coq.argument(self.vector(v))})"
            self.links[written] = Fact(coq.minus(self.number(written), found), proof, is_equality=True)
        return self.links[written].says.left

    # Samples of clients.

    def _sampled(self, terms: Sequence[Term]) -> Iterator[tuple[Term, Term]]:
        """Yield pairs of squares that are the mean of a vector of all clients, and its deviations from the mean."""
        families = [(mean, deviation) for mean, *rest in map(sorted, self.problem.vectors) for deviation in rest[:1]]
        among = {block for block, owner in enumerate(self.problem.owners) if owner}
        squares = [term for term in terms if term[1] == term[2]]
        for mean, deviation in permutations(squares, 2):
            of_clients = [{block in among for block, _ in term[1]} for term in (mean, deviation)]
            shares = [(mean[1].get(a), deviation[1].get(b)) for a, b in families]
            used = [(a, b) for a, b in shares if a is not None or b is not None]
            are_equal = (a is not None and b is not None and a == b for a, b in used)
            if of_clients == [{False}, {True}] and used and all(are_equal):
                yield mean, deviation

    def _drawn(self, mean: Term, deviation: Term) -> coq.Value | None:
        """Return the expected square of a sample's average as a number, if some sample has these shares of both."""
        [(c, u, _), (d, v, _)] = mean, deviation
        share, n = d / c, self.functions[0].of.num_clients
        if isinstance(share, Constant) or share <= 0:
            return None
        kinds = [("draws_distinct", n / (1 + share * (n - 1))), ("draws_with_replacement", 1 / share)]
        kinds = kinds[::-1] if share == 1 else kinds  # one client: by the weights, whatever they are
        found = [(kind, m.numerator) for kind, m in kinds if m.denominator == 1 and m <= LARGEST_SAMPLE]
        if not found or n > LARGEST_SAMPLE:
            return None
        kind, m = found[0]
        draw, of, h = self._draw(kind, m, n)
        x, middle = self.point({**u, **v}, "x"), self.vector(u)
        plain = x.text.removesuffix(" k")
        family = self.term(x) if " " in plain else plain
        is_mean = f"k{len(self.before)}"
        self.before.append(f"assert ({is_mean} : same (vE p {family}) {coq.argument(middle)}) by averages.")
        number = self.number(f"E {draw} (fun b => sq (sampled_mean {m} {of} {family} b))")
        sum_of_both = coq.plus(coq.square(middle), coq.Times(share, coq.square(coq.minus(x, middle))))
        sides = ["ltac:(lia)", *["ltac:(lia)"] * 2 * (kind == "draws_distinct"), "ltac:(counted)", h]
        given = f"p {draw} {m} {of} {family} {coq.argument(middle)} {coq.tight(share)} {is_mean}"
        proof = f"(call_{kind} {given} {' '.join(sides)})"
        self.links[number.text] = Fact(coq.minus(number, sum_of_both), proof, is_equality=True)
        return number

    def _draw(self, kind: str, m: int, n: int) -> tuple[str, str, str]:
        """Return the names of a random draw of m of n clients, of the drawn clients, and of the hypothesis."""
        if (kind, m) not in self._draws:
            draw, of = self.identifier("draw"), self.identifier("c")
            self.binders += [f"({draw} : law)", f"({of} : nat -> nat -> nat)"]
            if kind == "draws_distinct":
                self.hypothesis(f"size p = {n}%nat")
            self._draws[kind, m] = draw, of, self.hypothesis(f"{kind} p {draw} {m} {of}")
        return self._draws[kind, m]

    # Functions, steps and calls.

    def _declare(self, one: Function) -> Declared:
        """State the class of a function."""
        found = declared(self, one, identifier(one.name, self.taken, OF_FUNCTION))
        names = class_of(one.of).coq
        found.declare(names(coq.tight) if names else [])
        return found

    def _make(self, vector: Vector, verb: str, of: Sequence[str], inputs: Sequence[Vector]) -> None:
        """State a step that makes a vector."""
        its_calls = [
            (one, n, call)
            for one in self.functions
            for n, call in enumerate(one.of.calls)
            if call.gradient == vector and [one.of.name] == of and (verb != "gradient" or call.at == inputs[0])
        ]
        if verb == "gradient" and its_calls and its_calls[0][0].of.number("L") is not None:
            [(one, _, call)] = its_calls
            self.family(vector, self.applied(f"grad_{one.name}", self.point(call.at, call.name)))
        elif verb == "deviation":
            self._deviate(min(vector))
        elif verb == "proximal" and its_calls:
            [(one, n, _)] = its_calls
            self._waiting.remove((one, n))
            self._implicit(one, n, min(vector), inputs[0])
        else:
            letter = {"gradient": "g", "inexact gradient": "g", "compressed": "c"}.get(verb, "v")
            named = [name for name, known in self.problem.names.items() if known == vector]
            made = self._variable(vector, self.identifier(named[0] if named else f"{letter}{len(self.atoms)}"))
            if named:
                self._points[key_of(made.at)] = made

    def _deviate(self, place: tuple[int, int]) -> None:
        """Make a part of a vector that differs among clients: of gradients with a known mean, or of a free vector."""
        for one in self.functions:
            for call in one.of.calls:
                if place in call.gradient:
                    shared = {other: c for other, c in call.gradient.items() if other != place}
                    x, mean = self.point(call.at, call.name), self.vector(shared)
                    made = self.atom(self.applied(f"grad_{one.name}", x), of_client=True)
                    self._basis[place] = coq.coordinates(coq.minus(made, mean))
                    if coq.coordinates(mean) or one.of.of["mu"] < 0:
                        proof = self.hypothesis(f"same (vE p (fun k => {made.text})) {coq.argument(mean)}")
                    else:
                        h = self.hypothesis(f"minimizer (mean_loss p {one.name}) {coq.argument(x)}")
                        proof = self.follows(f"mean_minimizer p _ _ _ _ {one.name}_upper {h}")
                    self.apart.append(Apart(made, mean, proof))
                    return
        word = self.identifier("v")
        self.binders.append(f"({word} : nat -> V)")
        made = self.atom(f"{word} k", of_client=True)
        self._basis[place] = made.at
        self.apart.append(Apart(made, coq.ZERO, self.hypothesis(f"same (vE p {word}) zero")))

    def _implicit(self, one: Declared, n: int, place: tuple[int, int], start: Vector) -> None:
        """State that a point y is the proximal point of x; the gradient there is (x - y) / step."""
        call, x = one.of.calls[n], self.vector(start)
        word, step = self.identifier(call.name), start.get(place, Fraction(0)) - call.at[place]
        y = self._variable(call.gradient, word)
        self._points[key_of(y.at)] = y
        for other in call.gradient:
            # The part in each block is that of x minus that of y.
            part = self.at({at: c for at, c in start.items() if at[0] == other[0]})
            self._basis[other] = coq.added({}, 1 / step, coq.added(part, -1, self._basis[other]))
        self._called(one, n, y, coq.Times(1 / step, coq.minus(x, y)), one.step(y, x, step))

    def _variable(self, vector: Vector, word: str) -> coq.Name:
        """Return a universally quantified vector for a vector of the certificate."""
        if len(vector) > 1:
            self.binders.append(f"({word} : nat -> V)")
            return self.family(vector, f"{word} k")
        self.free.append(word)
        return self.family(vector, word)

    def _called(self, one: Declared, n: int, x: Any, u: Any, proof: str) -> None:
        number: Any = coq.Fixed(Fraction(0))
        is_least = n == one.of.minimum
        if not one.of.of["indicator"]:
            loss = self.applied(one.name, x)
            number = self.number(f"E p (fun k => {loss})" if self.has_clients else loss, one.of.calls[n].value)
        one.calls[n] = At(x, self.term(x), u, number, proof, is_least)
        if one.of.least and is_least:
            h = self.hypothesis(f"{coq.text(number)} = 0")
            self.zeros.append(
                Fact(coq.minus(number, coq.Fixed(Fraction(0))), f"(call_equal _ _ {h})", is_equality=True)
            )

    def _state(self) -> None:
        """State the calls and constraints all of whose vectors have been made."""
        for one, n in [*self._waiting]:
            call = one.of.calls[n]
            if {*call.at, *call.gradient} <= self._basis.keys():
                self._waiting.remove((one, n))
                x, u = self.point(call.at, call.name), self.vector(call.gradient)
                self._called(one, n, x, u, one.call(x, u, is_least=n == one.of.minimum))
        while self._demanded:
            demand = self._demanded[0]
            made = {place for _, u, v in demand.form.terms for place in (*u, *v)} <= self._basis.keys()
            if not made or not {place for _, place in demand.form.levels} <= self._numbers.keys():
                return
            self._demand(self._demanded.pop(0))

    def _demand(self, demand: Constraint) -> None:
        form, bound = self.form(demand.form), coq.Fixed(demand.bound)
        h = self.hypothesis(f"{coq.text(form)} {'=' if demand.is_equality else '<='} {coq.text(bound)}")
        lemma = "call_equal" if demand.is_equality else "call_at_most"
        self.demands.append(Fact(coq.minus(form, bound), f"({lemma} _ _ {h})", demand.is_equality))


def minimum(texts: Sequence[str]) -> str:
    """Return the minimum of some numbers as text."""
    first, *rest = texts
    return f"Rmin ({first}) ({minimum(rest)})" if rest else first


def claim_text(goals: Sequence[Any], upper: Fraction) -> str:
    """Return the conclusion of the theorem: the least of the goals is at most ``upper``."""
    return f"{minimum([coq.text(one) for one in goals])} <= {coq.real(upper)}"
