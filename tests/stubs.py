"""Say to type checkers and editors what the open packages offer, which is found by scanning when the code runs.

``python -m tests.stubs`` writes an ``__init__.pyi`` beside the ``__init__.py`` of every open package.
"""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import fedtheory
from fedtheory._support.discover import modules, surface
from fedtheory.theorem.paper import is_bound
from tests.environment import ROOT

HEAD = '"""What {package} offers; written by ``python -m tests.stubs``."""\n'
# Calls of a bound are checked by the names of its arguments, and what they return depends on the types of these, as it
# does with ``Bound``. A ParamSpec would keep the names, but it can add no ``strict``, and no overload can depend on it.
OF_BOUNDS = """
# ruff: noqa: E501
# fmt: off
# mypy: disable-error-code="overload-overlap, override"
from abc import ABCMeta
from fractions import Fraction
from typing import Literal, overload

from fedtheory._support.validate import Array
from fedtheory.theorem.paper import Bound, Entry, Number, Rational, Value
"""
OVERLOADS = (
    ("Entry", "Literal[False]", "tuple[Value, list[str]]"),
    ("float", "float = ...", "float"),
    ("Rational", "Rational = ...", "Fraction"),
    ("Number", "Number = ...", "float"),
    ("Entry", "Entry = ...", "Array"),
)


def open_packages() -> list[ModuleType]:
    """Packages whose names are found by scanning; claims are asked for by their keys."""
    found = [module for module in modules(fedtheory) if hasattr(module, "__path__")]
    return [package for package in found if not package.__name__.startswith("fedtheory.claims")]


def stub(package: ModuleType) -> str:
    """Return the text of a package's stub: explicit imports of what it offers lazily, and of what it imports itself."""
    name, folder = package.__name__, package.__path__[0]
    rooms = [room for room in dir(package) if isinstance(getattr(package, room), ModuleType)]
    offered = surface(folder) if len(rooms) < len(dir(package)) else {}
    own = [name for name in vars(package) if name.isupper()]
    bounds = {offer: getattr(package, offer) for offer in sorted(offered) if is_bound(getattr(package, offer))}
    lines = [f"from {name} import {room} as {room}" for room in rooms]
    lines += [f"from {name}._words import {word} as {word}" for word in own]
    lines += [
        f"from {name}.{module} import {offer} as {offer}" for offer, module in offered.items() if offer not in bounds
    ]
    text = "\n".join([HEAD.format(package=name), *sorted(lines)]) + "\n"
    return (
        text + "\n".join([OF_BOUNDS, *(line for each in bounds.items() for line in called(*each))]) if bounds else text
    )


def called(name: str, bound: Any) -> Iterator[str]:
    """Yield a class whose calls have the names of a bound's arguments, and the bound as its instance."""
    given = [one for one in inspect.signature(bound).parameters.values() if one.name != "strict"]
    first = [one for one in given if one.kind is not one.KEYWORD_ONLY]
    yield f"class _{name}(Bound, metaclass=ABCMeta):"
    for kind, strict, value in OVERLOADS:
        typed = [f"{one.name}: {kind}{'' if one.default is one.empty else ' = ...'}" for one in given]
        takes = ["self", *typed[: len(first)], "*", *typed[len(first) :], f"strict: {strict}"]
        yield f"    @overload\n    def __call__({', '.join(takes)}) -> {value}: ..."
    yield f"{name}: _{name}"


def path(package: ModuleType) -> Path:
    """Return where a package's stub stands."""
    return Path(package.__path__[0]) / "__init__.pyi"


if __name__ == "__main__":
    for found in open_packages():
        path(importlib.import_module(found.__name__)).write_text(stub(found), encoding="utf-8")
        print(path(found).relative_to(ROOT))
