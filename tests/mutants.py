"""Mutants of a source: one sign, constant, term, hypothesis or branch is another, the rest stays."""

import ast
import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

OTHER_NAMES = {
    "any": "all", "min": "max", "argmin": "argmax", "minimum": "maximum", "amin": "amax", "floor": "ceil",
    "sum": "prod", "cumsum": "cumprod", "ones": "zeros", "issubset": "issuperset",
}  # fmt: skip
OTHER_NAMES |= {other: name for name, other in OTHER_NAMES.items()} | {"log1p": "log", "expm1": "exp"}
# Called by their bare names: another name has to be one that Python knows, or the mutant dies of that.
OTHER_BUILTINS = {"any": "all", "all": "any", "min": "max", "max": "min", "sum": "max"}
OTHER_OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Mod: ("%", "*"),
    ast.FloorDiv: ("//", "/"), ast.Pow: ("**", "*"), ast.BitOr: ("|", "&"), ast.BitAnd: ("&", "|"),
    ast.And: ("and", "or"), ast.Or: ("or", "and"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<=", ">"), ast.LtE: ("<=", "<", ">="), ast.Gt: (">", ">=", "<"), ast.GtE: (">=", ">", "<="),
}  # fmt: skip
NEED_NO_PARENTHESES = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.Starred)
Change = tuple[str, int, int, str]


@dataclass(frozen=True)
class Mutant:
    """A file with the bytes from ``start`` to ``end`` replaced; ``number`` counts the mutants of the file."""

    file: str
    number: int
    kind: str
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        """The file and the number: what ``--replay`` takes."""
        return f"{self.file}#{self.number}"

    @property
    def package(self) -> str:
        """Package of the file; a module beside the packages stands for itself, and so do the studies."""
        first, *rest = Path(self.file).with_suffix("").parts
        return rest[0] if first == "fedtheory" else first

    def apply(self, source: str) -> str:
        """Return the mutated source."""
        honest = source.encode()
        return (honest[: self.start] + self.text.encode() + honest[self.end :]).decode()

    def diff(self, source: str) -> str:
        """Return the lines that differ."""
        lines = difflib.unified_diff(source.splitlines(), self.apply(source).splitlines(), n=0, lineterm="")
        return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


def mutants(file: str, text: str) -> list[Mutant]:
    """All mutants of a file, numbered in the order of its syntax tree.

    >>> for mutant in mutants("a.py", "x = y < 2"):
    ...     print(mutant.name, mutant.kind, mutant.apply("x = y < 2"), sep=" | ")
    a.py#0 | comparison | x = y <= 2
    a.py#1 | comparison | x = y > 2
    a.py#2 | constant | x = y < 3
    """
    source = _Source(text)
    places = _working(ast.parse(text))
    found = [change for node, parent in places for change in _changes(source, node, parent)]
    return [Mutant(file, number, *change) for number, change in enumerate(found)]


class _Source:
    """Text of a file with places in it; the columns of a syntax tree count bytes."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        self._starts = [0, 0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and where it ends."""
        at = vars(node)
        return self._starts[at["lineno"]] + at["col_offset"], self._starts[at["end_lineno"]] + at["end_col_offset"]

    def text(self, node: ast.AST) -> str:
        """Return the text of a node, in parentheses unless it needs none."""
        start, end = self.span(node)
        text = self._bytes[start:end].decode()
        return text if isinstance(node, NEED_NO_PARENTHESES) else f"({text})"

    def swap(self, left: ast.AST, op: ast.AST, right: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Yield the other operators for the gap between two operands, which may also hold parentheses."""
        start, end = self.span(left)[1], self.span(right)[0]
        old, *others = OTHER_OPERATORS.get(type(op), ("",))
        for new in others:
            yield start, end, self._bytes[start:end].decode().replace(old, new, 1)

    def without(self, word: str, node: ast.AST, operand: ast.AST) -> tuple[int, int, str]:
        """Leave out the word before an operand."""
        start, end = self.span(node)[0], self.span(operand)[0]
        return start, end, self._bytes[start:end].decode().replace(word, "", 1)


def _working(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield (node, parent) of what computes: no annotations, messages, exports, imports and branches for types."""
    idle: list[object] = [getattr(tree, "annotation", None), getattr(tree, "returns", None)]
    for node in ast.iter_child_nodes(tree):
        targets = {ast.unparse(target) for target in getattr(node, "targets", ())}
        speaks = isinstance(node, ast.Raise | ast.JoinedStr) or not targets.isdisjoint({"__all__", "message"})
        loads = isinstance(node, ast.Import | ast.ImportFrom)
        for_types = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if not (speaks or loads or for_types or node in idle):
            yield node, tree
            yield from _working(node)


def _changes(source: _Source, node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    yield from _other_numbers(source, node, parent)
    yield from _other_operators(source, node)
    yield from _fewer_terms(source, node)
    yield from _other_branches(source, node)
    yield from _other_functions(source, node, parent)


def _other_numbers(source: _Source, node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    """The other truth value, the next integer, twice the number."""
    if not isinstance(node, ast.Constant):
        return
    kind = "exponent" if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) else "constant"
    match node.value:
        case bool() as value:
            yield kind, *source.span(node), repr(not value)
        case int() as value:
            yield kind, *source.span(node), repr(value + 1)
        case float() as value if math.isfinite(2 * value):
            yield kind, *source.span(node), repr(2 * value or 1.0)


def _other_operators(source: _Source, node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if not _is_text(left) and not _is_text(right):
            yield from (("operator", *change) for change in source.swap(left, op, right))
        case ast.AugAssign(target=left, op=op, value=right):
            yield from (("operator", *change) for change in source.swap(left, op, right))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from (("comparison", *change) for change in source.swap(left, op, right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "sign", *source.without("-", node, operand)


def _fewer_terms(source: _Source, node: ast.AST) -> Iterator[Change]:
    """Leave out a term of a sum, a factor, an entry of a returned dictionary or of a list of hypotheses."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if not _is_text(left):
            yield "summand", *source.span(node), source.text(left)
            yield "summand", *source.span(node), ("-" if isinstance(op, ast.Sub) else "") + source.text(right)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() | ast.MatMult()):
            yield "factor", *source.span(node), source.text(left)
        case ast.Return(value=ast.Dict(keys=[ast.Constant(), *_], values=values)):
            yield from (("summand", *source.span(value), "0.0") for value in values)
        case ast.Tuple(elts=parts, ctx=ast.Load()) if _are_constants(parts):
            yield from _fewer_hypotheses(source, node, parts)
        case ast.FunctionDef(decorator_list=decorators):
            for part in (part for decorator in decorators for part in ast.walk(decorator)):
                if isinstance(part, ast.Tuple) and not _are_constants(part.elts):
                    yield from _fewer_hypotheses(source, part, part.elts)


def _fewer_hypotheses(source: _Source, node: ast.AST, parts: list[ast.expr]) -> Iterator[Change]:
    texts = [source.text(part) for part in parts]
    for place in range(len(parts)):
        kept = "".join(f"{text}, " for text in texts[:place] + texts[place + 1 :])
        yield "hypothesis", *source.span(node), f"({kept.rstrip()})"


def _other_branches(source: _Source, node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If(test=test, body=[*_, ast.Raise()]):
            yield "refusal", *source.span(test), "False"
        case ast.If(test=test) | ast.IfExp(test=test):
            yield "branch", *source.span(test), f"not {source.text(test)}"
        case ast.comprehension(ifs=[test, *_]):
            yield "branch", *source.span(test), "True"
        case ast.BoolOp(op=op, values=values):
            for left, right in pairwise(values):
                yield from (("branch", *change) for change in source.swap(left, op, right))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "branch", *source.without("not", node, operand)
        case ast.Expr(value=ast.Call()):
            yield "refusal", *source.span(node), "pass"


def _other_functions(source: _Source, node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Name(id=name) if name in OTHER_BUILTINS and isinstance(parent, ast.Call) and parent.func is node:
            if name != "sum" or (len(parent.args) == 1 and not parent.keywords):
                yield "function", *source.span(node), OTHER_BUILTINS[name]
        case ast.Attribute(attr=name) if name in OTHER_NAMES:
            end = source.span(node)[1]
            yield "function", end - len(name), end, OTHER_NAMES[name]
        case ast.Call(func=ast.Name(id="abs") | ast.Attribute(attr="abs" | "sqrt"), args=[argument]):
            yield "function", *source.span(node), source.text(argument)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _are_constants(parts: list[ast.expr]) -> bool:
    names = [ast.unparse(part).split("(")[0].lstrip("*") for part in parts]
    return bool(names) and all(name.strip("_").isupper() for name in names)
