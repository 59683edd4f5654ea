"""Things that are wrong wherever a number or an array of numbers is due, and valid calls of all public doors.

The valid calls are those of the doctests: each is asked again with one argument exchanged.
"""

import ast
import doctest
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

import fedtheory
from fedtheory._support.discover import modules

# What no number, and no array of numbers, is.
NEVER: dict[str, Callable[[], Any]] = {
    "bytes": lambda: b"1",
    "a word": lambda: "1",
    "a bytearray": lambda: bytearray(b"1"),
    "memory": lambda: memoryview(b"1"),
    "None": lambda: None,
    "True": lambda: True,
    "nan": lambda: float("nan"),
    "a complex number": lambda: 1 + 1j,
    "Decimal": lambda: Decimal("0.5"),
    "a ragged list": lambda: [[1.0], [1.0, 2.0]],
    "an object array": lambda: np.array([object()]),
    "a set": lambda: {1},
    "a dict": lambda: {1: 1},
    "a generator": lambda: (number for number in (1,)),
    "a function": lambda: len,
    "a date": lambda: np.datetime64("2020-01-01"),
    "an array of words": lambda: np.array(["1"]),
    "a masked array": lambda: np.ma.array([1.0], mask=[True]),
}
# What may be one, depending on the argument: there a result is no error, but it comes soon and is no nan.
PERHAPS: dict[str, Callable[[], Any]] = {
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "-1": lambda: -1,
    "a half": lambda: 0.5,
    "10^30": lambda: 10**30,
    "2^63": lambda: 2**63,
    "an array of one": lambda: np.array([1.0]),
    "a matrix": lambda: np.array([[1.0, 2.0], [3.0, 4.0]]),
    "an empty list": list,
}
WRONG = {**NEVER, **PERHAPS}


@dataclass(frozen=True)
class Call:
    """A valid call of a public door."""

    door: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    signature: inspect.Signature

    def numeric(self) -> list[str]:
        """Name the arguments that are numbers or arrays of them, also where these are defaults."""
        defaults = {name: parameter.default for name, parameter in self.signature.parameters.items()}
        return [name for name, value in (defaults | self.arguments).items() if is_numeric(value)]

    def exchanged(self, name: str, wrong: Any) -> Any:
        """Call with another value of one argument."""
        many = self.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        given = {**self.arguments, name: (wrong,) if many else wrong}
        bound = inspect.BoundArguments(self.signature, given)  # type: ignore[arg-type]
        return self.function(*bound.args, **bound.kwargs)


def is_numeric(value: Any) -> bool:
    """Whether a value is a number or an array of numbers, in lists, too."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf"
    if type(value) in (list, tuple):  # a NamedTuple is a record, not a row of numbers
        return bool(value) and all(map(is_numeric, value))
    return isinstance(value, Number) and not isinstance(value, bool | np.bool_)


def doors() -> dict[str, Any]:
    """Return all public callables: those of the modules' ``__all__``, by name, and public methods of their classes.

    A NamedTuple is a record that doors return and checks nothing: who takes one does.
    """
    found = {}
    for module in modules(fedtheory):
        if module.__name__.startswith("fedtheory.claims") or hasattr(module, "__path__"):
            continue
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", module.__name__) == module.__name__:
                if not hasattr(value, "_fields"):
                    found[f"{module.__name__}.{name}"] = value
                if isinstance(value, type):
                    for part, method in vars(value).items():
                        # a function that stands for a field's default is no method
                        is_method = getattr(method, "__qualname__", part).startswith((f"{name}.", part))
                        if not part.startswith("_") and callable(method) and is_method:
                            found[f"{module.__name__}.{name}.{part}"] = method
    return found


def calls(within: str) -> dict[str, Call]:
    """Return of each door of some modules the valid call that their doctests show, the one with most numbers.

    Kernels, which are called by compiled code only, are no doors.
    """
    known = {door: value for door, value in doors().items() if not hasattr(value, "py_func")}
    names = {id(value): name for name, value in known.items()}
    found: dict[str, Call] = {}
    for module in modules(fedtheory):
        if not f"{module.__name__}.".startswith(f"fedtheory.{within}."):
            continue
        for test in doctest.DocTestFinder(exclude_empty=True).find(module):
            for call in shown(test, names):
                kept = found.get(call.door)
                if not call.door.startswith(f"fedtheory.{within}."):
                    continue
                if kept is None or len(call.numeric()) > len(kept.numeric()):
                    found[call.door] = call
    return found


def shown(test: doctest.DocTest, names: dict[int, str]) -> Iterator[Call]:
    """Yield the calls of public doors in one doctest, with the values of their arguments."""
    values = dict(test.globs)
    for example in test.examples:
        if doctest.SKIP in example.options or example.exc_msg:
            continue
        tree = ast.parse(example.source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                try:
                    function = evaluated(node.func, values)
                    owner = function
                    bound = inspect.ismethod(function)
                    if bound:
                        owner = function.__func__
                    if id(owner) not in names:
                        continue
                    positional = [evaluated(part, values) for part in node.args]
                    keywords: dict[str, Any] = {}
                    for part in node.keywords:
                        value = evaluated(part.value, values)
                        keywords |= value if part.arg is None else {part.arg: value}
                    signature = inspect.signature(function)
                    arguments = signature.bind(*positional, **keywords).arguments
                except Exception:  # a name of a comprehension, or what has no signature
                    continue
                yield Call(names[id(owner)], function, arguments, signature)
        if all(isinstance(statement, ast.Expr) for statement in tree.body):
            continue  # what is only looked at names nothing, and may take long
        try:
            exec(compile(tree, test.name, "exec"), values)
        except Exception:
            return


def evaluated(node: ast.expr, values: dict[str, Any]) -> Any:
    """Return the value of an expression."""
    return eval(compile(ast.Expression(node), "doctest", "eval"), values)
