"""A problem as text, which states the theorem that is proved."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ._forms import Call, Form, Function, Vector, blocks_of
from ._problem import SERVER, Problem

PLAIN = re.compile(r"[A-Za-z][\w.]*(\*[0-9]*)?", re.ASCII)


class Writer:
    """Formatter of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.words = {frozenset(vector.items()): written(name) for name, vector in problem.names.items()}
        self.parts: dict[tuple[int, int], str] = {}
        self.values = {-1: "0"}
        for one in problem.functions:
            for call in one.calls:
                if call.gradient in problem.vectors:
                    self.words.setdefault(frozenset(call.gradient.items()), slope(one, call))
                if one.kind == "function":
                    self.values.setdefault(call.value, f"{written(one.name)}({written(call.name)})")
        for number, vector in enumerate(problem.vectors):
            # no name of a point has a bracket
            name = self.words.setdefault(frozenset(vector.items()), f"v[{number}]")
            for place in vector:
                source = "the mean" if not place[0] else f"source {place[0]}"
                self.parts[place] = name if len(vector) == 1 else f"({name} in {source})"

    def vector(self, vector: Vector) -> str:
        """Return the name of a vector, or the combination that it is."""
        return self.words.get(frozenset(vector.items())) or self.combination(vector)

    def combination(self, vector: Vector) -> str:
        """Return a vector as a combination of the vectors that were made."""
        left, terms = dict(vector), list[tuple[Fraction, str]]()
        for whole_one in self.problem.vectors:
            shares = {left.get(place, Fraction(0)) for place in whole_one}
            if len(shares) == 1 and (c := shares.pop()):
                terms.append((c, self.words[frozenset(whole_one.items())]))
                left = {place: x for place, x in left.items() if place not in whole_one}
        return summed([*terms, *((c, self.parts[place]) for place, c in left.items())])

    def form(self, form: Form) -> str:
        terms = [(c, self.values.get(f, f"t{f}")) for c, f in form.levels]
        for c, u, v in form.terms:
            one, other = self.vector(u), self.vector(v)
            terms.append((c, f"|{one}|^2" if one == other else f"<{one}, {other}>"))
        return summed(terms)

    def lines(self) -> Iterator[str]:
        """Yield hypotheses, constraints and objective.

        How vectors were made, and the names of constraints, are no part of the proof and are not printed.
        """
        yield "For all"
        for one in self.problem.functions:
            what = ", ".join(f"{key}={c}" for key, c in one.of.items() if c is not False)
            many = f"{one.num_clients} clients, each with a {one.kind}" if one.num_clients > 1 else one.kind
            yield f"  {written(one.name)}: {many} ({what}){', with the least value 0' if one.least else ''}"
            if one.minimum is not None:
                whose = "of the function of each client of " if one.num_clients > 1 else "of "
                yield f"  {written(one.calls[one.minimum].name)}: a minimizer {whose}{written(one.name)}"
        yield from self._sources()
        for vector in self.problem.vectors:
            yield f"  {self.words[frozenset(vector.items())]}: {kind_of(vector)}"
        yield "with"
        for one in self.problem.functions:
            for call in one.calls:
                name, left = written(call.name), slope(one, call)
                made = name if call.at in self.problem.vectors else self.combination(call.at)
                yield from [f"  {name} = {made}"] if made != name else []
                right = self.vector(call.gradient)
                if right != left:
                    yield f"  {left} = {right}"
        for constraint in self.problem.demanded:
            relation = "=" if constraint.is_equality else "<="
            yield f"  {self.form(constraint.form)} {relation} {constraint.bound}"
        if len(self.problem.owners) > 1:
            yield "Products and values are means over clients and noises; what a source adds is orthogonal to all else."
        yield "what is maximized is" if len(self.problem.objectives) == 1 else "what is maximized is the least of"
        for form in self.problem.objectives:
            yield f"  {self.form(form)}"

    def _sources(self) -> Iterator[str]:
        """Yield the sources of the blocks after the first."""
        noises = {mean: noise for noise, mean in self.problem.averaged.items()}
        for block, (owner, behind) in enumerate(zip(self.problem.owners, self.problem.behind, strict=True)):
            if not block:
                continue
            if block in noises:
                what = f"the mean over clients of source {noises[block]}"
            elif not owner:
                what = "apart from all others"
            elif block not in self.problem.noises:
                what = f"differences of clients {written(owner)}"
            else:
                what = owner if owner == SERVER else f"a noise of {written(owner)}"
            after = f", drawn after {' and '.join(map(str, sorted(behind)))}" if behind else ""
            yield f"  source {block}: {what}{after}"


def written(name: str) -> str:
    """Return the name of a point or a function, in quotes if it could be read as an expression; the origin is 0."""
    if not name:
        return "0"
    return name if PLAIN.fullmatch(name) else f'"{name}"'


def slope(one: Function, call: Call) -> str:
    """Return the gradient, or the value of an operator, as text."""
    mark = "" if one.kind == "operator" else "'"
    return f"{written(one.name)}{mark}({written(call.name)})"


def kind_of(vector: Vector) -> str:
    """Return the sources of a vector as text."""
    blocks = blocks_of(vector)
    sources = " and ".join(f"source {block}" for block in sorted(blocks - {0}))
    if 0 in blocks:
        return f"vector, with {sources}" if sources else "vector"
    return f"vector of {sources}, with mean 0"


def summed(terms: Sequence[tuple[Fraction, str]]) -> str:
    """Return a linear combination as text."""
    found = ""
    for c, term in terms:
        if c:
            found += f"{' - ' if c < 0 else ' + '}{'' if abs(c) == 1 else f'{abs(c)} '}{term}"
    return found.removeprefix(" + ").replace(" - ", "-", 1 if found.startswith(" - ") else 0) or "0"
