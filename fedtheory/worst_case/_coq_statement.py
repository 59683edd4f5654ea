"""The statement of a formal theorem: a problem's functions, points, calls and constraints in Coq."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

from fedtheory.worst_case._constants import Constant, key_of
from fedtheory.worst_case._coq_names import OF_FUNCTION, VERBS, NotStated, identifier
from fedtheory.worst_case._coq_terms import (
    ONE,
    ZERO,
    Num,
    Vec,
    add,
    constant,
    expressed,
    less,
    minus,
    product,
    real,
    scaled,
    square,
    tight,
    times,
    total,
    value,
)
from fedtheory.worst_case.checker._forms import Call, Constraint, Form, Function, Vector
from fedtheory.worst_case.checker._problem import Problem
from fedtheory.worst_case.function_classes import class_of

__all__: list[str] = []

LARGEST_SAMPLE = 1000
"""Largest number of clients of which samples are stated, so that Coq reads it quickly as a natural number."""
Term = tuple[Fraction, Vector, Vector]


class Fact(NamedTuple):
    """An inequality ``expression <= 0``, or an equality, and the term that proves it."""

    says: Num
    proof: str
    is_equality: bool = False


class At(NamedTuple):
    """A call: point, gradient, function value, and a proof that they belong to the function.

    The ``term`` is the point as an argument of a lemma.
    """

    x: Vec
    term: str
    u: Vec
    value: Num
    proof: str
    is_least: bool


class Declared(NamedTuple):
    """A function, its name and that of its gradient, and its calls by number."""

    of: Function
    name: str
    slope: str
    calls: dict[int, At]

    @property
    def is_smooth(self) -> bool:
        """Whether it has a unique gradient at each point."""
        return self.of.number("L") is not None

    @property
    def domain(self) -> str:
        """Domain on which a nonsmooth function is finite."""
        of = self.of.of
        if of["indicator"]:
            return self.name
        return "everywhere" if self.is_smooth or "lipschitz" in of else f"dom_{self.name}"


class Apart(NamedTuple):
    """A vector of all clients, its mean, and a proof that the difference is orthogonal to shared vectors."""

    atom: Vec
    mean: Vec
    proof: str


class Statement:
    """Hypotheses, definitions and facts of a theorem, in the order in which they are stated.

    Vectors are elements of a space or, with clients, families of such vectors, one for each client.

    Attributes
    ----------
    atoms
        Vectors that are not combinations of others; the variables of the checker's expressions.
    values
        Texts of the numbers that are not rational constants.
    binders, free
        Universally quantified functions and numbers, and universally quantified points.
    items
        Hypotheses and definitions: kind, name, text.
    before
        Sentences of the proof that derive consequences of the hypotheses.
    codes
        Names of the checker's expressions, and their definitions.
    demands
        The constraints, as facts.
    zeros
        Function values that are 0, as facts.
    links
        Products of vectors that all clients share, as facts about the space of all clients.
    apart
        The vectors that differ among clients.
    """

    def __init__(self, problem: Problem, taken: Sequence[str] = ()) -> None:
        self.problem = problem
        self.taken = {*taken}
        self.atoms: list[Vec] = []
        self.values: list[str] = []
        self.binders: list[str] = []
        self.free: list[str] = []
        self.items: list[tuple[str, str, str]] = []
        self.before: list[str] = []
        self.codes: list[tuple[str, str]] = []
        self.demands: list[Fact] = []
        self.zeros: list[Fact] = []
        self.links: dict[str, Fact] = {}
        self.apart: list[Apart] = []
        self._draws: dict[tuple[str, int], tuple[str, str, str]] = {}
        self._numbers: dict[int, Num] = {}
        self._points: dict[frozenset[Any], Vec] = {}
        self._basis: dict[tuple[int, int], Mapping[int, Fraction]] = {}
        self.has_clients = any(problem.owners)
        self._refuse_unstated()
        if self.has_clients:
            self.binders.append("(p : law)")
        self.functions: list[Declared] = []
        for one in problem.functions:
            self.functions.append(self._declare(one))
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

    def term(self, v: Vec) -> str:
        """Return a vector as an argument of a lemma."""
        if not self.has_clients:
            return v.tight
        return f"(fun {'k' if v.is_of_client else '_'} => {v.text}){'%V' * v.tight.endswith('%V')}"

    def applied(self, name: str, x: Vec, *, of_client: bool | None = None) -> str:
        """Return a function, or its gradient, at a point, as text."""
        is_family = self.has_clients if of_client is None else of_client
        return f"{name} k {x.tight}" if is_family else f"{name} {x.tight}"

    def identifier(self, name: str) -> str:
        """Return a new Coq identifier that resembles a name."""
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

    def atom(self, text: str, *, of_client: bool = False) -> Vec:
        """Add a vector that is not a combination of others."""
        number, code = len(self.atoms), f"e{len(self.codes)}"
        self.codes.append((code, f"VVar {number}"))
        self.atoms.append(Vec(text, code, {number: ONE}, is_of_client=of_client))
        return self.atoms[-1]

    def family(self, vector: Vector, text: str) -> Vec:
        """Make a vector of the certificate an atom; if it differs among clients, add its mean as another atom."""
        mean, *deviation = sorted(vector)
        if not deviation:
            made = self.atom(text, of_client=self.has_clients and " k" in text)
            self._basis[mean] = made.at
            return made
        made, average = self.atom(text, of_client=True), self.atom(f"vE p (fun k => {text})")
        self._basis[mean], self._basis[deviation[0]] = average.at, minus(made, average).at
        self.apart.append(Apart(made, average, "(same_refl _)"))
        return made

    def number(self, text: str, place: int) -> Num:
        """Return a number that is not a constant by its index in the certificate; the index -1 is a value that is 0."""
        if place in self._numbers:
            return self._numbers[place]
        found = value(text, len(self.values))
        self.values.append(text)
        if place >= 0:
            self._numbers[place] = found
        return found

    def coordinates(self, vector: Vector) -> dict[int, Fraction]:
        """Return the coordinates of a vector of the certificate with respect to the atoms."""
        found: dict[int, Fraction] = {}
        for place, c in vector.items():
            for number, x in self._basis[place].items():
                found[number] = found.get(number, Fraction(0)) + c * x
        return {number: x for number, x in found.items() if x}

    def vector(self, vector: Vector) -> Vec:
        """Return a vector as a combination of named vectors."""
        at = self.coordinates(vector)
        known = self._points.get(key_of(at))
        return known or expressed(at, [*self._points.values()], self.atoms)

    def point(self, vector: Vector, name: str) -> Vec:
        """Return a point by its name; a point without a name gets one."""
        at = self.coordinates(vector)
        key = key_of(at)
        known = ZERO if not at else self._points.get(key) or next((one for one in self.atoms if one.at == at), None)
        if known is not None:
            return known
        made, code = expressed(at, [*self._points.values()], self.atoms), f"e{len(self.codes)}"
        self.codes.append((code, made.code))
        word = self.identifier(name or "x")
        self.items.append(("let", word, f"fun k => {made.text}" if made.is_of_client else made.text))
        text = f"{word} k" if made.is_of_client else word
        found = self._points[key] = Vec(text, code, at, is_of_client=made.is_of_client)
        return found

    def form(self, form: Form, *, stated: bool = True) -> Num:
        """Return a form as a sum of products and values.

        If ``stated``, products of shared vectors are separate numbers.
        """
        terms: list[tuple[Fraction, Num]] = []
        for c, place in form.levels:
            if place >= 0 and place not in self._numbers:
                text = self.identifier("t")
                self.binders.append(f"({text} : R)")
                self.number(text, place)
            terms += [(c, self._numbers[place])] if place >= 0 else []
        left = [term for term in form.terms if term[1] and term[2]]
        for mean, deviation in self._sampled(left) if stated and self.has_clients else ():
            if (drawn := self._drawn(mean, deviation)) is not None:
                terms.append((mean[0], drawn))
                left = [term for term in left if term is not mean and term is not deviation]
        for c, u, v in left:
            found = product(self.vector(u), self.vector(v))
            terms.append((c, self._linked(found, u, v) if stated else found))
        return total(terms)

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

    def _drawn(self, mean: Term, deviation: Term) -> Num | None:
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
        if found[0] not in self._draws:
            draw, of = self.identifier("draw"), self.identifier("c")
            self.binders += [f"({draw} : law)", f"({of} : nat -> nat -> nat)"]
            if kind == "draws_distinct":
                self.hypothesis(f"size p = {n}%nat")
            self._draws[kind, m] = draw, of, self.hypothesis(f"{kind} p {draw} {m} {of}")
        draw, of, h = self._draws[kind, m]
        x, middle = self.point({**u, **v}, "x"), self.vector(u)
        family = self.term(x) if " " in x.text.removesuffix(" k") else x.text.removesuffix(" k")
        is_mean = f"k{len(self.before)}"
        self.before.append(f"assert ({is_mean} : same (vE p {family}) {middle.tight}) by averages.")
        text = f"E {draw} (fun b => sq (sampled_mean {m} {of} {family} b))"
        number = value(text, len(self.values))
        self.values.append(text)
        sum_of_both = add(square(middle), times(share, square(minus(x, middle))))
        sides = ["ltac:(lia)", *["ltac:(lia)"] * 2 * (kind == "draws_distinct"), "ltac:(counted)", h]
        proof = f"(call_{kind} p {draw} {m} {of} {family} {middle.tight} {tight(share)} {is_mean} {' '.join(sides)})"
        self.links[text] = Fact(less(number, sum_of_both), proof, is_equality=True)
        return number

    def _linked(self, found: Num, u: Vector, v: Vector) -> Num:
        """Return a product of shared vectors as a separate number; other products are returned unchanged."""
        if not self.has_clients or found.text.startswith("E "):
            return found
        if found.text not in self.links:
            number = value(found.text, len(self.values))
            self.values.append(found.text)
            proof = f"(call_shared _ {self.vector(u).tight} {self.vector(v).tight})"
            self.links[found.text] = Fact(less(number, found), proof, is_equality=True)
        [place] = self.links[found.text].says.values
        return value(found.text, place)

    def _declare(self, one: Function) -> Declared:
        """State the class of a function."""
        name, c = identifier(one.name, self.taken, OF_FUNCTION), one.number
        names = class_of(one.of).coq
        classes = names(tight) if names else []
        found = Declared(one, name, f"grad_{name}", {})
        if found.is_smooth:
            self._declare_smooth(found, *classes[:2])
        elif one.of["indicator"]:
            self.binders.append(f"({name} : V -> Prop)")
            if (size := c("diameter")) is not None:
                h = self.hypothesis(f"{classes[0]} {name}")
                self.follows(
                    f"fun x y => call_diameter {tight(size)} {tight(size**2)} {name} x y ltac:(lra) {h}",
                    f"{name}_class",
                )
        else:
            self.binders += [f"({found.domain} : V -> Prop)"] * (found.domain != "everywhere") + [f"({name} : V -> R)"]
            if (most := c("lipschitz")) is not None:
                h = self.follows(self.hypothesis(f"{classes[0]} {name}"), f"{name}_lipschitz")
                lemma = f"call_lipschitz {tight(most)} {tight(most**2)} {name} ltac:(lra) ltac:(lra) {h}"
                self.follows(lemma, f"{name}_class")
        return found

    def _declare_smooth(self, one: Declared, lower: str, upper: str) -> None:
        name, mu, L = one.name, one.of.of["mu"], one.of.of["L"]
        both = f"{name} {one.slope}"
        if self.has_clients:
            self._declare_clients(one, lower, upper)
            return
        self.binders += [f"({name} : V -> R)", f"({one.slope} : V -> V)"]
        if mu < 0 and mu != -L:
            low, up = (self.hypothesis(f"{kind} {both}") for kind in (lower, upper))
        elif mu < 0:
            h = self.hypothesis(f"smooth {tight(L)} {both}")
            low, up = f"(lower_le (- {tight(L)}) {tight(mu)} {both} ltac:(lra) (proj2 {h}))", f"(proj1 {h})"
        else:
            low = self.hypothesis(f"{lower} {both}")
            up = f"(proj1 {self.hypothesis(f'{upper} {both}')})"
        self.follows(up, f"{name}_upper")
        self._pairs(one, both, low, up)

    def _pairs(self, one: Declared, both: str, low: str, up: str) -> None:
        mu, L = one.of.of["mu"], one.of.of["L"]
        share = tight(1 / (2 * (L - mu)))
        lemma = (
            f"call_between {tight(mu)} {tight(L)} {tight(mu / 2)} {share} {both} ltac:(lra)"
            if mu
            else f"call_convex {tight(L)} {share} {both}"
        )
        self.follows(f"{lemma} ltac:(lra) ltac:(lra) {low} {up}", f"{one.name}_pairs")

    def _declare_clients(self, one: Declared, lower: str, upper: str) -> None:
        name, slope, mu, L = one.name, one.slope, one.of.of["mu"], one.of.of["L"]
        both = f"({name} k) ({slope} k)"
        self.binders += [f"({name} : nat -> V -> R)", f"({slope} : nat -> V -> V)"]
        low, up = (self.hypothesis(f"(forall k, {kind} {both})") for kind in (lower, upper))
        self.follows(f"fun k => proj1 ({up} k)" if mu >= 0 else up, f"{name}_upper")
        lifted = [f"(all_{kind} p {tight(c)} {name} {slope} {h})" for kind, c, h in
                  (("lower", mu, low), ("upper", L, f"{name}_upper"))]  # fmt: skip
        self._pairs(one, f"(all_values p {name}) (all_gradients p {slope})", *lifted)

    def _make(self, vector: Vector, verb: str, of: Sequence[str], inputs: Sequence[Vector]) -> None:
        """State a step that makes a vector."""
        place = min(vector)
        its_calls = [
            (one, n, call)
            for one in self.functions
            for n, call in enumerate(one.of.calls)
            if call.gradient == vector and [one.of.name] == of and (verb != "gradient" or call.at == inputs[0])
        ]
        if verb == "gradient" and its_calls and its_calls[0][0].is_smooth:
            [(one, _, call)] = its_calls
            self.family(vector, self.applied(one.slope, self.point(call.at, call.name)))
        elif verb == "deviation":
            self._deviate(place)
        elif verb == "proximal" and its_calls:
            [(one, n, call)] = its_calls
            self._waiting.remove((one, n))
            self._implicit(one, n, place, inputs[0])
        else:
            letter = {"gradient": "g", "inexact gradient": "g", "compressed": "c"}.get(verb, "v")
            named = [name for name, known in self.problem.names.items() if known == vector]
            word = self.identifier(named[0] if named else f"{letter}{len(self.atoms)}")
            made = self._variable(vector, word)
            if named:
                self._points[key_of(made.at)] = made

    def _deviate(self, place: tuple[int, int]) -> None:
        """Make a part of a vector that differs among clients: of gradients with a known mean, or of a free vector."""
        for one in self.functions:
            for call in one.of.calls:
                if place in call.gradient:
                    shared = {other: c for other, c in call.gradient.items() if other != place}
                    x, mean = self.point(call.at, call.name), self.vector(shared)
                    made = self.atom(self.applied(one.slope, x), of_client=True)
                    self._basis[place] = minus(made, mean).at
                    average = f"(vE p (fun k => {made.text}))"
                    if mean.at or one.of.of["mu"] < 0:
                        proof = self.hypothesis(f"same {average} {mean.tight}")
                    else:
                        h = self.hypothesis(f"minimizer (mean_loss p {one.name}) {x.tight}")
                        proof = self.follows(f"mean_minimizer p _ _ _ _ {one.name}_upper {h}")
                    self.apart.append(Apart(made, mean, proof))
                    return
        word = self.identifier("v")
        self.binders.append(f"({word} : nat -> V)")
        made = self.atom(f"{word} k", of_client=True)
        self._basis[place] = made.at
        self.apart.append(Apart(made, ZERO, self.hypothesis(f"same (vE p {word}) zero")))

    def _implicit(self, one: Declared, n: int, place: tuple[int, int], start: Vector) -> None:
        """State that a point y is the proximal point of x; the gradient there is (x - y) / step."""
        call, x = one.of.calls[n], self.vector(start)
        word, step = self.identifier(call.name), start.get(place, Fraction(0)) - call.at[place]
        y = self._variable(call.gradient, word)
        self._points[key_of(y.at)] = y
        gradient = scaled(1 / step, minus(x, y))
        for other in call.gradient:
            # The part in each block is that of x minus that of y.
            part = self.coordinates({at: c for at, c in start.items() if at[0] == other[0]})
            apart = {
                at: part.get(at, Fraction(0)) - self._basis[other].get(at, 0) for at in {**part, **self._basis[other]}
            }
            self._basis[other] = {at: c / step for at, c in apart.items() if c}
        s, t, both = tight(step), tight(1 / step), f"{x.tight} {y.text}"
        taken = minus(x, scaled(step, Vec(self.applied(one.slope, y), "", {})))
        if self.has_clients:
            h = self.hypothesis(f"(forall k, same {y.tight} {taken.tight})")
            lemma = f"all_implicit p {t} {s} {one.slope} {self.term(x)} {self.term(y)}"
            proof = self.follows(f"{lemma} ltac:(lra) {h}")
        elif one.is_smooth:
            h = self.hypothesis(f"same {y.text} {taken.tight}")
            proof = self.follows(f"implicit_same {t} {s} {one.slope} {both} ltac:(lra) {h}")
        elif one.of.of["indicator"]:
            h = self.hypothesis(f"projection {one.name} {both}")
            proof = self.follows(f"projection_normal {t} {one.name} {both} ltac:(lra) {h}")
        elif one.of.of["mu"]:
            proof = self._subgradient(one, y, gradient)
        else:
            h = self.hypothesis(f"prox {s} {one.domain} {one.name} {both}")
            proof = self.follows(f"prox_subgradient {t} {s} {one.domain} {one.name} {both} ltac:(lra) {h}")
        self._called(one, n, y, gradient, proof)

    def _variable(self, vector: Vector, word: str) -> Vec:
        """Return a universally quantified vector for a vector of the certificate."""
        if len(vector) > 1:
            self.binders.append(f"({word} : nat -> V)")
            return self.family(vector, f"{word} k")
        self.free.append(word)
        return self.family(vector, word)

    def _subgradient(self, one: Declared, x: Vec, u: Vec) -> str:
        mu = one.of.of["mu"]
        kind = f"subgradient_by {tight(mu)}" if mu else "subgradient"
        return self.hypothesis(f"{kind} {one.domain} {one.name} {x.tight} {u.tight}")

    def _called(self, one: Declared, n: int, x: Vec, u: Vec, proof: str) -> None:
        number, call = constant(Fraction(0)), one.of.calls[n]
        if not one.of.of["indicator"]:
            text = self.applied(one.name, x)
            number = self.number(f"E p (fun k => {text})" if self.has_clients else text, call.value)
        one.calls[n] = At(x, self.term(x), u, number, proof, n == one.of.minimum)
        if one.of.least and n == one.of.minimum:
            h = self.hypothesis(f"{number.text} = 0")
            self.zeros.append(Fact(less(number, constant(Fraction(0))), f"(call_equal _ _ {h})", is_equality=True))

    def _state(self) -> None:
        """State the calls and constraints all of whose vectors have been made."""
        for one, n in [*self._waiting]:
            call = one.of.calls[n]
            if {*call.at, *call.gradient} <= self._basis.keys():
                self._waiting.remove((one, n))
                self._call(one, n, call)
        while self._demanded:
            demand = self._demanded[0]
            made = {place for _, u, v in demand.form.terms for place in (*u, *v)} <= self._basis.keys()
            if not made or not {place for _, place in demand.form.levels} <= self._numbers.keys():
                return
            self._demand(self._demanded.pop(0))

    def _demand(self, demand: Constraint) -> None:
        form, bound = self.form(demand.form), constant(demand.bound)
        h = self.hypothesis(f"{form.text} {'=' if demand.is_equality else '<='} {bound.text}")
        lemma = "call_equal" if demand.is_equality else "call_at_most"
        self.demands.append(Fact(less(form, bound), f"({lemma} _ _ {h})", demand.is_equality))

    def _call(self, one: Declared, n: int, call: Call) -> None:
        """State a call whose gradient is not the result of a separate step."""
        x, of, name = self.point(call.at, call.name), one.of.of, one.name
        u, is_least = self.vector(call.gradient), n == one.of.minimum
        if one.is_smooth and u.text == self.applied(one.slope, x):
            proof = "(same_refl _)"
        elif self.has_clients and is_least:
            h = self.hypothesis(f"(forall k, minimizer ({name} k) {x.tight})")
            lemma = f"all_minimizers p {tight(of['L'])} {name} {one.slope} {self.term(x)}"
            proof = self.follows(f"{lemma} {name}_upper {h}")
        elif self.has_clients:
            h = self.hypothesis(f"(forall k, same ({self.applied(one.slope, x)}) {u.tight})")
            proof = self.follows(f"all_same p {one.slope} {self.term(x)} {self.term(u)} {h}")
        elif one.is_smooth and is_least:
            proof = self.follows(f"minimizer_same _ _ _ _ {name}_upper {self._least(one, x)}")
        elif one.is_smooth:
            proof = self.hypothesis(f"same ({one.slope} {x.tight}) {u.tight}")
        elif of["indicator"] and u.at:
            proof = self.hypothesis(f"normal {name} {x.tight} {u.tight}")
        elif of["indicator"]:
            proof = self.follows(f"normal_zero {name} {x.tight} {self.hypothesis(f'{name} {x.tight}')}")
        elif is_least and not of["mu"]:
            proof = self._least(one, x)
        else:
            proof = self._subgradient(one, x, u)
        self._called(one, n, x, u, proof)

    def _least(self, one: Declared, x: Vec) -> str:
        """State that a point is the minimizer, with consequences of the class; return the proof of the minimizer."""
        name, c = one.name, one.of.number
        if one.is_smooth:
            best = self.hypothesis(f"minimizer {name} {x.tight}")
        elif one.domain == "everywhere":
            best = f"(minimizer_everywhere _ _ {self.hypothesis(f'minimizer {name} {x.tight}')})"
        else:
            best = self.hypothesis(f"minimizer_on {one.domain} {name} {x.tight}")
        if one.of.of["mu"] < 0 and (L := c("L")) is not None:
            lemma = f"call_descent {tight(L)} {tight(1 / (2 * L))} {name} {one.slope} {x.tight} ltac:(lra) ltac:(lra)"
            self.follows(f"{lemma} {name}_upper {best}", f"{name}_above")
        if (m := c("polyak")) is not None:
            h = self.hypothesis(f"(forall z, 2 * {tight(m)} * ({name} z - {name} {x.tight}) <= sq ({one.slope} z))")
            lemma = (
                f"call_polyak {tight(m)} {tight(1 / (2 * m))} {name} {one.slope} {x.tight} ltac:(lra) {h} ltac:(lra)"
            )
            self.follows(lemma, f"{name}_polyak")
        return best


def minimum(texts: Sequence[str]) -> str:
    """Return the minimum of some numbers as text."""
    first, *rest = texts
    return f"Rmin ({first}) ({minimum(rest)})" if rest else first


def claim_text(goals: Sequence[Num], upper: Fraction) -> str:
    """Return the conclusion of the theorem as text."""
    return f"{minimum([one.text for one in goals])} <= {real(upper)}"
