"""A problem of a certificate, and its semidefinite program."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from ._conditions import of_function, of_operator
from ._forms import FLAGS, NUMBERS, Call, Constraint, Form, Function, Vector, blocks_of, says_nothing, within
from ._reading import (
    LARGEST_BLOCK,
    MOST_CALLS,
    MOST_CONSTRAINTS,
    MOST_ENTRIES,
    Refused,
    array,
    count,
    fields,
    limited,
    rational,
    text,
)

SERVER = "the server's noise"
VERBS = {
    "point", "gradient", "proximal", "resolvent", "minimizer", "local minimizer", "stationary point", "fixed point",
    "zero", "line search", "linear minimizer", "inexact gradient", "deviation", "compressed", "root", "noise",
    "mean",
}  # fmt: skip


class Problem:
    """A problem of a certificate, and its semidefinite program."""

    def __init__(self, written: Any) -> None:
        keys = ("sources", "vectors", "functions", "constraints", "objectives")
        parts = {key: array(part, key) for key, part in zip(keys, fields(written, "a problem", keys), strict=True)}
        self.num_values = 0
        self.owners, self.behind, self.noises = [""], [set[int]()], list[int]()
        self.differences: dict[str, int] = {}
        self.crossed: dict[tuple[str, int], int] = {}
        self.averaged: dict[int, int] = {}
        self.sizes: list[int] = []
        self.vectors: list[Vector] = []
        self.verbs: list[tuple[str, list[str], list[Vector]]] = []
        self.names: dict[str, Vector] = {}
        clients = {text(one.get("name"), "a name") for one in parts["functions"] if isinstance(one, dict)}
        self._read_sources(parts["sources"], clients)
        for one in parts["vectors"]:
            self._read_vector(one, clients)
        self.functions = [self._read_function(one) for one in parts["functions"]]
        self._check_functions()
        self.demanded = [self._read_constraint(one) for one in parts["constraints"]]
        self.objectives = [self._read_form(one) for one in parts["objectives"]]
        if not self.objectives:
            raise Refused("a problem has no objective")
        self._check_means()
        self.constraints = [*self.demanded]
        for function in self.functions:
            for condition in self._conditions(function):
                limited(len(self.constraints), MOST_CONSTRAINTS, "constraints")
                self.constraints += [] if says_nothing(condition.form) else [condition]
        self.objective = self.objectives[0]
        if len(self.objectives) > 1:
            self.objective = Form([], [(Fraction(1), self.num_values)])
            for form in self.objectives:
                less = Form([(-c, u, v) for c, u, v in form.terms], [(-c, f) for c, f in form.levels])
                self.constraints.append(Constraint(Form(less.terms, [*self.objective.levels, *less.levels])))
            self.num_values += 1
        self.sizes = [max(size, 1) for size in self.sizes]
        limited(max(self.sizes), LARGEST_BLOCK, "rows in a block")
        limited(sum(size**2 for size in self.sizes), MOST_ENTRIES, "entries in its blocks")

    def _check_functions(self) -> None:
        """Reject two functions of a name, two calls with a value, and owners that there are not."""
        if len({one.name for one in self.functions}) < len(self.functions):
            raise Refused("a function has a name that another one has")
        values = [call.value for one in self.functions for call in one.calls if call.value >= 0]
        if len({*values}) < len(values):
            raise Refused("two calls have one value")
        several = [one.name for one in self.functions if one.num_clients > 1]
        if any(owner not in ["", SERVER, *several] for owner in self.owners):
            raise Refused("a source is one of clients that there are not")

    def _read_sources(self, written: list[Any], clients: set[str]) -> None:
        limited(len(written), LARGEST_BLOCK, "sources")
        if not written or fields(written[0], "a source", ("owner", "behind", "noise")) != ["", [], False]:
            raise Refused("the first source is not that of means")
        for block, one in enumerate(written[1:], start=1):
            owner, behind, noise = fields(one, "a source", ("owner", "behind", "noise"))
            if owner not in ["", SERVER, *clients] or type(noise) is not bool or (noise and not owner):
                raise Refused("a source has an owner that there is not")
            self.owners.append(owner)
            before = [count(other, "a source", block - 1) for other in array(behind, "behind")]
            if before != sorted({*before} - {0}):
                raise Refused("the sources behind one are not in order")
            self.behind.append({*before})
            self.noises += [block] if noise else []
            if owner in clients and not noise:
                self._read_differences(owner, block)
        self.sizes = [0] * len(written)

    def _read_differences(self, owner: str, block: int) -> None:
        """Read a block of differences between clients, or of the effect of a server noise on them."""
        behind = self.behind[block]
        if not behind:
            if owner in self.differences:
                raise Refused("clients have two sources of differences")
            self.differences[owner] = block
            return
        noises = [one for one in self.noises if one in behind]
        if self.differences.get(owner) not in behind or not noises or self.owners[noises[-1]] != SERVER:
            raise Refused("differences between clients are behind no noise of the server")
        if not self.closed(behind) <= behind or (owner, noises[-1]) in self.crossed:
            raise Refused("what a noise adds to differences between clients is said twice, or not after all else")
        self.crossed[owner, noises[-1]] = block

    def closed(self, blocks: Iterable[int]) -> set[int]:
        """Return the blocks of vectors that depend on the given blocks."""
        found = {*blocks}
        found = found.union(*(self.behind[block] for block in found))
        owners = {self.owners[block] for block in found} - {"", SERVER}
        if len(owners) > 1:
            raise Refused("a vector depends on two groups of clients")
        for owner in owners & self.differences.keys():
            for noise in [one for one in self.noises if one in found and self.owners[one] == SERVER]:
                # the block that is being read is not yet in `crossed`
                found |= {self.crossed[owner, noise]} if (owner, noise) in self.crossed else set()
        return found

    def complete(self, blocks: set[int]) -> bool:
        """Whether all effects of server noises on differences between clients are present."""
        owners = {self.owners[block] for block in blocks} & self.differences.keys()
        noises = [one for one in self.noises if one in blocks and self.owners[one] == SERVER]
        return all((owner, noise) in self.crossed for owner in owners for noise in noises)

    def _read_vector(self, written: Any, clients: set[str]) -> None:
        name, verb, of, inputs, blocks = fields(written, "a vector", ("name", "verb", "of", "inputs", "blocks"))
        own = [count(block, "a block", len(self.sizes) - 1) for block in array(blocks, "blocks")]
        told, needed = [self.vector(one) for one in array(inputs, "inputs")], set[int]()
        if verb not in [*VERBS] or len({*own}) < len(own) or not own:
            raise Refused("a vector is made by no operation of a problem")
        if any(text(one, "a name") not in clients for one in array(of, "of")):
            raise Refused("a vector is made by a function that there is not")
        if verb in ("noise", "mean"):
            [block, *more] = own
            owner = self.owners[block]
            before = [b for b in self.noises if b < block and self.owners[b] == owner and b not in self.averaged]
            first = [self.differences[owner]] if owner in self.differences else []
            needed = self.closed([*(blocks_of(*told) if verb == "noise" else []), *before, *first])
            if more or block not in self.noises or self.sizes[block] or not needed - {0} <= self.behind[block]:
                raise Refused("a noise has no block of its own behind all that was drawn before")
            needed = self.closed({block, *self.behind[block]}) if verb == "noise" else {block, *self.behind[block]}
            if owner == SERVER and {self.owners[one] for one in needed} - {"", SERVER}:
                raise Refused("a vector depends on two groups of clients, or on one and on the server's noise")
            if verb == "mean":
                self._read_mean(block, told)
        else:
            needed = self.closed([*own, *blocks_of(*told)])
            if not needed <= {*own}:
                raise Refused("a vector does not depend on all that it is computed from")
        if needed & self.averaged.keys() or not self.complete(needed):
            raise Refused("a vector depends on a noise whose mean was taken, or not on all that noises add to it")
        made: Vector = {}
        for block in own:
            made[block, self.sizes[block]] = Fraction(1)
            self.sizes[block] += 1
        self.vectors.append(made)
        self.verbs.append((verb, of, told))
        if text(name, "a name", empty=True):
            self._name(name, made)

    def _read_mean(self, block: int, told: list[Vector]) -> None:
        """Read a server noise that is the mean over clients of a noise that each of them has drawn."""
        noise = next(iter(blocks_of(*told)), 0)
        if self.owners[block] != SERVER or len(told) != 1 or told[0] != {(noise, 0): 1} or noise in self.averaged:
            raise Refused("a mean over clients is not that of one noise")
        if noise not in self.noises or self.owners[noise] == SERVER:
            raise Refused("a mean over clients is that of a noise that is one for all")
        self.averaged[noise] = block

    def _check_means(self) -> None:
        """Reject a mean of noises that occurs in products with these noises, or that has another length."""
        forms = [*self.objectives, *(constraint.form for constraint in self.demanded)]
        products = [blocks_of(u, v) for form in forms for c, u, v in form.terms if c]
        called = {0}.union(*(blocks_of(call.at, call.gradient) for one in self.functions for call in one.calls))
        for noise, mean in self.averaged.items():
            after = {b for b in range(len(self.behind)) if mean == b or mean in self.behind[b]}
            if self.sizes[noise] != 1 or noise in called or any(noise in some and some & after for some in products):
                raise Refused("a noise of clients is used together with its mean")
            number = next(one.num_clients for one in self.functions if one.name == self.owners[noise])
            one, other = {(mean, 0): Fraction(1)}, {(noise, 0): Fraction(1)}
            terms = [(Fraction(1), one, one), (Fraction(-1, number), other, other)]
            if Constraint(Form(terms, []), Fraction(0), is_equality=True) not in self.demanded:
                raise Refused("a mean of noises has not the length that independent noises have")
            if self.sizes[mean] < 1:
                raise Refused("a mean of noises is not made")

    def _name(self, name: str, vector: Vector) -> None:
        """Assign a name to a point; both must be new."""
        if self.names.setdefault(name, vector) != vector or sum(one == vector for one in self.names.values()) > 1:
            raise Refused(f"the name {name} does not stand for one point")

    def vector(self, written: Any) -> Vector:
        """Return a combination of the vectors made so far, or of their parts in a block."""
        found: Vector = {}
        order: list[tuple[int, int]] = []
        for one in array(written, "a combination"):
            summand = array(one, "a summand")
            if len(summand) not in (2, 3):
                raise Refused("a summand is not a coefficient, a vector and perhaps a block")
            made = self.vectors[count(summand[1], "a vector", len(self.vectors) - 1)]
            parts = made if len(summand) == 2 else within(made, [count(summand[2], "a block")])
            order.append((summand[1], summand[2] if len(summand) == 3 else -1))
            if not parts or (len(summand) == 3 and parts == made):
                raise Refused("a summand names a block that its vector does not have, or has alone")
            for place in parts:
                found[place] = found.get(place, Fraction(0)) + rational(summand[0], "a coefficient")
        if order != sorted({*order}):
            raise Refused("the summands of a combination are not in order")
        return {place: c for place, c in found.items() if c}

    def _read_function(self, written: Any) -> Function:
        keys = ("name", "kind", "class", "blocks", "clients", "calls", "minimum", "least")
        name, kind, of, blocks, clients, calls, minimum, least = fields(written, "a function", keys)
        if kind not in [*NUMBERS] or not isinstance(of, dict) or not {*of} <= {*NUMBERS[kind], *FLAGS[kind]}:
            raise Refused("a function is of no class that is known")
        numbers = {key: rational(of[key], key) for key in NUMBERS[kind] if key in of}
        flags = {key: of.get(key) for key in FLAGS[kind]}
        if {*map(type, (*flags.values(), least))} != {bool}:
            raise Refused("a class is not described")
        if kind == "function" and "mu" not in numbers:
            raise Refused("a class is not described")
        places = [count(block, "a block", len(self.sizes) - 1) for block in array(blocks, "blocks")]
        number = count(clients, "clients")
        of_clients = len(places) == 2 and not places[0] and self.owners[places[1]] == name
        if places != [0] and (not of_clients or places[1] in self.noises):
            raise Refused("a function has blocks of others")
        if (places == [0]) != (number == 1) or not number:
            raise Refused("the number of clients is not that of a function or of several")
        limited(len(array(calls, "calls")), MOST_CALLS, "calls of a function")
        found = Function(
            text(name, "a name"), kind, numbers | flags, places, number, [*map(self._read_call, calls)],
            None if minimum is None else count(minimum, "a minimum", len(calls) - 1), least,
        )  # fmt: skip
        self._check_function(found)
        return found

    def _read_call(self, written: Any) -> Call:
        name, at, gradient, value = array(written, "a call", 4)
        number = -1 if value == -1 and type(value) is int else count(value, "a value", MOST_CALLS * MOST_CALLS)
        self.num_values = max(self.num_values, number + 1)
        found = Call(text(name, "a name", empty=True), self.vector(at), self.vector(gradient), number)
        if bool(found.at) != bool(found.name):
            raise Refused("a point has no name, or the origin has one")
        if found.at in self.vectors and self.names.get(found.name) != found.at:
            raise Refused("a vector does not have the name that it has where a function is called")
        if found.name:
            self._name(found.name, found.at)
        made = self.verbs[self.vectors.index(found.gradient)][0] if found.gradient in self.vectors else ""
        # the differences of gradients whose mean is demanded to be 0
        if made not in {"", "deviation"} and not blocks_of(found.at) <= blocks_of(found.gradient):
            raise Refused("a gradient does not depend on all that its point depends on")
        return found

    def _check_function(self, one: Function) -> None:
        """Reject an unknown class, and values that contradict the class."""
        low, high = one.number("mu"), one.number("L")
        free = {"mu", "strongly_monotone", "cocoercive", *FLAGS[one.kind]}
        if any(c <= 0 for key, c in one.of.items() if key not in free):
            raise Refused("a constant of a class is not positive")
        if any(one.of.get(key, 0) < 0 for key in ("strongly_monotone", "cocoercive")):
            raise Refused("a constant of a class is not positive")
        self._check_kind(one)
        if one.kind == "operator" and (one.least or one.minimum is not None):
            raise Refused("an operator has a minimizer or a least value")
        if low is not None and high is not None and low >= high:
            raise Refused("the least curvature is not below the largest")
        if one.of.get("quadratic") and high is None:
            raise Refused("a quadratic function has no largest curvature")
        if any(call.at == other.at for call, other in combinations(one.calls, 2)):
            raise Refused(f"{one.name} is called twice at a point")
        for place, call in enumerate(one.calls):
            is_zero = bool(one.of.get("indicator")) or (one.least and place == one.minimum)
            if one.kind == "function" and (call.value < 0) != is_zero:
                raise Refused("a value is 0 that need not be, or is not where it must be")
        crossed = {block for (owner, _), block in self.crossed.items() if owner == one.name}
        if one.of.get("quadratic") and any(blocks_of(call.at, call.gradient) & crossed for call in one.calls):
            raise Refused("clients with quadratic functions are called where a noise of the server moves them")
        if one.minimum is not None and one.calls[one.minimum].gradient:
            raise Refused("the gradient at a minimizer is not 0")

    def _check_kind(self, one: Function) -> None:
        """Reject a class with hypotheses that cannot be combined."""
        described = {key for key, c in one.of.items() if c is not False}
        if "indicator" in described and (described - {"indicator", "diameter", "mu"} or one.of["mu"]):
            raise Refused("the indicator of a set has another hypothesis")
        if "diameter" in described and "indicator" not in described:
            raise Refused("a function that is no indicator has a diameter")
        if not described:
            raise Refused("an operator is not described")

    def _read_form(self, written: Any) -> Form:
        products, values = fields(written, "a form", ("products", "values"))
        terms = [array(one, "a product", 3) for one in array(products, "products")]
        levels = [array(one, "a value", 2) for one in array(values, "values")]
        form = Form(
            [(rational(c, "a coefficient"), self.vector(u), self.vector(v)) for c, u, v in terms],
            [(rational(c, "a coefficient"), count(f, "a value", MOST_CALLS * MOST_CALLS)) for c, f in levels],
        )
        self.num_values = max([self.num_values, *(f + 1 for _, f in form.levels)])
        return form

    def _read_constraint(self, written: Any) -> Constraint:
        """Return a constraint; the constant of which its bound is a share is no part of the proof."""
        keys = ("name", "form", "relation", "bound", "share")
        name, form, relation, bound, share = fields(written, "a constraint", keys)
        text(name, "a name", empty=True)
        rational(share, "a share")
        if relation not in ("=", "<="):
            raise Refused("a constraint has no relation")
        return Constraint(self._read_form(form), rational(bound, "a bound"), relation == "=")

    def _conditions(self, one: Function) -> Iterator[Constraint]:
        """Yield the interpolation conditions of a class; a matrix of forms is the Gram matrix of another block."""
        if one.kind == "function":
            crossed = [(noise, block) for (_, noise), block in self.crossed.items()]
            found = of_function(one, self.noises, crossed)
        else:
            found = of_operator(one)
        for condition in found:
            if isinstance(condition, Constraint):
                yield condition
                continue
            block = len(self.sizes)
            self.sizes.append(max(i for i, _ in condition) + 1)
            for (i, j), form in condition.items():
                slack = [{(block, k): Fraction(1)} for k in (i, j)]
                yield Constraint(Form([*form.terms, (Fraction(-1), slack[0], slack[1])], form.levels), is_equality=True)

    def relaxed(self) -> str:
        """Return the parts with necessary conditions only, which rule out a proof of the lower side."""
        searched = {name for verb, of, _ in self.verbs if verb == "line search" for name in of}
        for one in self.functions:
            elsewhere = blocks_of(*(part for call in one.calls for part in (call.at, call.gradient))) - {*one.blocks}
            known = one.of.get("quadratic") or not elsewhere
            own = {block for (owner, _), block in self.crossed.items() if owner == one.name}
            known = known or (one.number("L") is not None and elsewhere <= {*self.noises, *own})
            if not known or not one.is_described or one.name in searched:
                return one.name
        roots = [vector for vector, (verb, *_) in zip(self.vectors, self.verbs, strict=True) if verb == "root"]
        signed = [(self.objective, -1), *((one.form, 0 if one.is_equality else 1) for one in self.constraints)]
        for form, sign in signed:
            for c, u, v in form.terms:
                if (u in roots or v in roots) and u != v and not (sign and sign * c < 0 and u in roots and v in roots):
                    return "a geometric mean"
        return ""
