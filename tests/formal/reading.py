"""Parser of the statement of a theorem in a Coq file, and its evaluation for given numbers.

The parser covers the syntax that statements of bounds use: arithmetic, applications, ``fun`` and ``let``. Names that
are not given are looked up in the definitions of the file, and then in those of the files that it requires.
"""

import functools
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from fedtheory.formal import FOLDER

_TOKEN = re.compile(r"\s*([\d]+|[A-Za-z_][\w']*|=>|:=|<=|[-+*/^()=,:])")
_DEFINITION = re.compile(r"^ *(?:Let|Definition|Local Notation) (\w+)\b(.*?)\.$", re.DOTALL | re.MULTILINE)
_THEOREM = r"^ *(?:Theorem|Lemma|Corollary) {}\b(.*?)\.\s*^Proof"


def spaced(text: str) -> str:
    """One space between words, whatever the line breaks."""
    return " ".join(re.sub(r"\(\*.*?\*\)", " ", text, flags=re.DOTALL).split())


# What these define is in `_LIBRARY`, as Python.
_BASE = {"Space", "Laws"}


@functools.cache
def source(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def statement(file: str, name: str) -> str:
    """What a theorem says, with its variables and hypotheses."""
    found = re.search(_THEOREM.format(name), source(file), re.DOTALL | re.MULTILINE)
    assert found, f"{file} has no theorem {name}"
    return spaced(found[1])


def split(text: str, mark: str) -> list[str]:
    """Split at a mark that stands outside of all parentheses."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and text.startswith(mark, place) and place >= start:
            parts.append(text[start:place])
            start = place + len(mark)
    return [*(part.strip() for part in parts), text[start:].strip()]


def sides(file: str, name: str) -> tuple[dict[str, str], str, str]:
    """The local definitions of a conclusion, its left side and its right side."""
    lets, text = {}, ""
    for part in split(statement(file, name), " -> "):
        text = re.sub(r"^~ forall .*?, ", "", split(part, " : ")[-1].removeprefix(": "))
        while found := re.match(r"let (\w+)((?: \w+)*) := ", text):
            body, _, text = text[found.end() :].partition(" in ")
            lets[found[1]] = f"fun{found[2]} => {body}" if found[2] else body
    for mark in (" <= ", " = "):
        if len(halves := split(text, mark)) == 2:
            return lets, halves[0], halves[1]
    raise AssertionError(f"{name} is neither an inequality nor an equation: {text}")


def premises(text: str) -> list[str]:
    """What a theorem assumes, in the order of its full statement: ``forall`` and ``let`` are left out."""
    found: list[str] = []
    rest = spaced(text)
    while True:
        mark = ", " if rest.startswith("forall ") else " in " if rest.startswith("let ") else " -> "
        first, *others = split(rest, mark)
        if not others:
            return found
        if mark == " -> ":
            first = first[1:-1] if re.fullmatch(r"\(forall .*\)", first) else first
            found += [first] if first.startswith("forall ") else split(first, " /\\ ")
        rest = mark.join(others)


def comparisons(premise: str) -> list[tuple[str, str, str]]:
    """The pairs of terms that a chain such as ``0 < mu <= L`` compares, with what stands between them."""
    pieces = re.split(r" (<=|<|=) ", premise)
    return list(zip(pieces[:-2:2], pieces[1::2], pieces[2::2], strict=True))


@functools.cache
def definitions(file: str, theorem: str) -> dict[str, str]:
    """Definitions before a theorem, the nearest last; those of the files it requires come first."""
    text = source(file)
    found: dict[str, str] = {}
    for required in re.findall(r"^From FedTheory Require (?:Export|Import) ([\w ]+)\.", text, re.MULTILINE):
        for other in set(required.split()) - _BASE:
            found |= definitions(f"{other}.v", "")
    place = re.search(_THEOREM.format(theorem), text, re.DOTALL | re.MULTILINE) if theorem else None
    for name, rest in _DEFINITION.findall(text[: place.start() if place else None]):
        parameters, _, body = spaced(rest).partition(":= ")
        names = re.findall(r"\((\w[\w ]*) :", parameters) or [parameters.partition(":")[0]]
        names = " ".join(names).split()
        found[name] = f"fun {' '.join(names)} => {body}" if names else body
    return found


class _Parser:
    """Coq's grammar of terms, as far as it is needed: ``^`` binds before signs, these before ``*`` and ``/``."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"%(?:nat|R|V)", "", text).strip()
        assert re.fullmatch(f"(?:{_TOKEN.pattern})*", text), f"not a term: {text}"
        self.tokens = [token[1] for token in _TOKEN.finditer(text)] + [""]
        self.place = 0

    def take(self, *tokens: str) -> str:
        token = self.tokens[self.place]
        if tokens and token not in tokens:
            return ""
        self.place += 1
        return token

    def term(self) -> Any:
        if self.take("fun"):
            names = []
            while not self.take("=>"):
                if self.take(":"):
                    while self.tokens[self.place] != "=>":
                        self.take()
                else:
                    names.append(self.take())
            return ("fun", names, self.term())
        if self.take("let"):
            name = self.take()
            names = []
            while not self.take(":="):
                names.append(self.take())
            body = self.term()
            assert self.take("in")
            return ("let", name, ("fun", names, body) if names else body, self.term())
        left = self.product()
        while sign := self.take("+", "-"):
            left = (sign, left, self.product())
        return left

    def product(self) -> Any:
        left = self.signed()
        while sign := self.take("*", "/"):
            left = (sign, left, self.signed())
        return left

    def signed(self) -> Any:
        if sign := self.take("-", "/"):
            return ("negative" if sign == "-" else "inverse", self.signed())
        base = self.application()
        return ("^", base, self.signed()) if self.take("^") else base

    def application(self) -> Any:
        parts = [self.atom()]
        while re.match(r"[\w(]", self.tokens[self.place]) and self.tokens[self.place] != "in":
            parts.append(self.atom())
        return ("apply", *parts) if len(parts) > 1 else parts[0]

    def atom(self) -> Any:
        if self.take("("):
            inner = self.term()
            assert self.take(")"), self.tokens[self.place :]
            return inner
        token = self.take()
        assert token, "the term ends too early"
        return Fraction(token) if token.isdigit() else token


@functools.cache
def parse(text: str) -> Any:
    """The tree of a term."""
    parser = _Parser(text)
    tree = parser.term()
    assert parser.tokens[parser.place] == "", f"not read: {parser.tokens[parser.place :]} of {text}"
    return tree


def _root(value: Any) -> Any:
    """The square root, exact where it is rational."""
    value = Fraction(value)
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(above, below) if (above**2, below**2) == value.as_integer_ratio() else math.sqrt(value)


_LIBRARY: dict[str, Any] = {
    "INR": lambda n: n,
    "Rmax": lambda a: lambda b: max(a, b),
    "Rmin": lambda a: lambda b: min(a, b),
    "sqrt": _root,
    "S": lambda n: n + 1,
    "sq": lambda x: x**2,
    "sum": lambda n: lambda f: sum(f[: int(n)] if isinstance(f, list) else map(f, range(int(n))), Fraction(0)),
    "E": lambda law: lambda f: sum((weight * f(i) for i, weight in enumerate(law)), Fraction(0)),
    "uniform": lambda values: [Fraction(1, len(values))] * len(values),
}


class Reader:
    """Evaluates terms. Names have values, and words of a statement stand for other words."""

    def __init__(
        self, names: Mapping[str, Any], words: Mapping[str, str], lets: Mapping[str, str], known: Mapping[str, str]
    ) -> None:
        self.names, self.words, self.lets, self.known = names, words, lets, known

    def value(self, text: str) -> Any:
        """The number that a text stands for."""
        for words in sorted(self.words, key=len, reverse=True):
            text = text.replace(words, self.words[words])
        return self._value(parse(text), {})

    def _value(self, tree: Any, local: Mapping[str, Any]) -> Any:
        if isinstance(tree, Fraction):
            return tree
        if isinstance(tree, str):
            return local[tree] if tree in local else self._named(tree)
        match tree:
            case ("fun", names, body):
                return self._function(names, body, local)
            case ("let", name, body, rest):
                return self._value(rest, {**local, name: self._value(body, local)})
            case ("apply", head, *arguments):
                return self._applied(head, arguments, local)
        operator, *rest = tree
        return _OPERATIONS[operator](*(self._value(one, local) for one in rest))

    def _function(self, names: list[str], body: Any, local: Mapping[str, Any]) -> Any:
        if not names:
            return self._value(body, local)
        return lambda argument: self._function(names[1:], body, {**local, names[0]: argument})

    def _applied(self, head: Any, arguments: list[Any], local: Mapping[str, Any]) -> Any:
        # Outside of its section a definition also takes the section's variables, which have the same names everywhere.
        if isinstance(head, str) and head not in self.names and head not in self.lets and head in self.known:
            text = self.known[head]
            own = len(text.partition("=>")[0].split()) - 1 if text.startswith("fun ") else 0
            outer = max(0, len(arguments) - own)
            variables, arguments = arguments[:outer], arguments[outer:]
            assert all(isinstance(one, str) for one in variables), f"{head} of {variables}"
        value = self._value(head, local)
        for argument in arguments:
            number = self._value(argument, local)
            value = value[int(number)] if isinstance(value, list) else value(number)
        return value

    def _named(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        for texts in (self.lets, self.known):
            if name in texts:
                return self.value(texts[name])
        assert name in _LIBRARY, f"nothing is known about {name}"
        return _LIBRARY[name]


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a ** int(b),
    "negative": lambda a: -a,
    "inverse": lambda a: 1 / a,
}
