"""A problem as text, which states the theorem that is proved."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ._forms import Call, Form, Vector, blocks_of
from ._problem import Problem

__all__: list[str] = []


class Writer:
    """Formatter of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.words = {frozenset(vector.items()): name for name, vector in problem.names.items()}
        self.parts: dict[tuple[int, int], str] = {}
        self.values = {-1: "0"}
        for one in problem.functions:
            for call in one.calls:
                mark = "" if one.kind == "operator" else "'"
                point = call.name or "0"
                if call.gradient in problem.vectors and not call.epsilon:
                    self.words.setdefault(frozenset(call.gradient.items()), f"{one.name}{mark}({point})")
                self.values.setdefault(call.value, f"{one.name}({point})")
        for number, vector in enumerate(problem.vectors):
            name = self.words.setdefault(frozenset(vector.items()), f"v{number}")
            for place in vector:
                source = "the mean" if not place[0] else f"source {place[0]}"
                self.parts[place] = name if len(vector) == 1 else f"({name} in {source})"

    def vector(self, vector: Vector) -> str:
        """Return the name of a vector, or the combination that it is."""
        if found := self.words.get(frozenset(vector.items())):
            return found
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
        """Yield hypotheses, constraints and objective."""
        yield "For all"
        for one in self.problem.functions:
            what = ", ".join(f"{key}={c}" for key, c in one.of.items() if c is not False)
            many = f"{one.num_clients} clients, each with a {one.kind}" if one.num_clients > 1 else one.kind
            least = ", with the least value 0" if one.least else ""
            yield f"  {one.name}: {f'adjoint of {one.adjoint_of}' if one.adjoint_of else many} ({what}){least}"
            if one.minimum is not None:
                whose = "of the function of each client of " if one.num_clients > 1 else "of "
                yield f"  {one.calls[one.minimum].name or '0'}: a minimizer {whose}{one.name}"
        yield from self._sources()
        for vector, (verb, of, inputs) in zip(self.problem.vectors, self.problem.verbs, strict=True):
            name = self.words[frozenset(vector.items())]
            free = [f"source {block}" for block in sorted(blocks_of(vector)) if block]
            of_what = f" of {' + '.join(of)}" if of else ""
            from_what = f", from {', '.join(map(self.vector, inputs))}" if inputs else ""
            yield f"  {name}: {verb}{of_what}{from_what}{', with ' + ' and '.join(free) if free else ''}"
        yield "with"
        for one in self.problem.functions:
            mark = "" if one.kind == "operator" else "'"
            for call in one.calls:
                made, left = self.vector_of(call), f"{one.name}{mark}({call.name or '0'})"
                yield from [f"  {call.name} = {made}"] if made != call.name else []
                slope = self.vector(call.gradient)
                if call.epsilon:
                    below = f"{one.name}({call.name or '0'}) + <{slope}, z - {call.name or '0'}> - {call.epsilon}"
                    yield f"  {one.name}(z) >= {below} for all z"
                elif slope != left:
                    yield f"  {left} = {slope}"
        for name, constraint in self.problem.demanded:
            relation = "=" if constraint.is_equality else "<="
            yield f"  {f'[{name}] ' if name else ''}{self.form(constraint.form)} {relation} {constraint.bound}"
        if len(self.problem.owners) > 1:
            yield "Products and values are means over clients and noises; what a source adds is orthogonal to all else."
        yield "what is maximized is" if len(self.problem.objectives) == 1 else "what is maximized is the least of"
        for form in self.problem.objectives:
            yield f"  {self.form(form)}"

    def _sources(self) -> Iterator[str]:
        """Yield the sources of the blocks after the first."""
        for block, (owner, behind) in enumerate(zip(self.problem.owners, self.problem.behind, strict=True)):
            if block:
                what = f"a noise of {owner}" if block in self.problem.noises else f"differences of clients {owner}"
                if block in self.problem.averaged.values():
                    what = "the mean of a noise over clients"
                after = f", drawn after {' and '.join(map(str, sorted(behind)))}" if behind else ""
                yield f"  source {block}: {what if owner else 'apart from all others'}{after}"

    def vector_of(self, call: Call) -> str:
        """Return the combination that the point of a call is."""
        known = self.words.pop(frozenset(call.at.items()), None)
        made = self.vector(call.at) if call.at not in self.problem.vectors else known or ""
        if known is not None:
            self.words[frozenset(call.at.items())] = known
        return made or "0"


def summed(terms: Sequence[tuple[Fraction, str]]) -> str:
    """Return a linear combination as text."""
    found = ""
    for c, term in terms:
        if c:
            found += f"{' - ' if c < 0 else ' + '}{'' if abs(c) == 1 else f'{abs(c)} '}{term}"
    return found.removeprefix(" + ").replace(" - ", "-", 1 if found.startswith(" - ") else 0) or "0"
