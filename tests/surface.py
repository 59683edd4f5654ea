"""Say what callers rely on: public names with their arguments, their order and defaults; what is told of each bound.

``python -m tests.surface`` writes ``tests/surface.txt``. A default is part of what is promised: who leaves an argument
out takes it, and the same call must not come to mean something else unnoticed. Limits, tolerances and
tables that modules keep to themselves are told, too: they seldom decide what a test looks at.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from numbers import Number
from pathlib import Path
from typing import Any

import fedtheory
from fedtheory._support.discover import modules
from fedtheory.verification import known_bounds

FILE = Path(__file__).with_suffix(".txt")
# What is no constant, since it tells what the processor has.
OF_THE_PROCESSOR = {("fedtheory.engine._products", name) for name in ("VECTORS", "_WIDE")}


def lines() -> list[str]:
    """Return a line for each public function, class, method and number, and for each record."""
    public = [module for module in modules(fedtheory) if not module.__name__.startswith("fedtheory.claims")]
    callables = {line for module in public if not hasattr(module, "__path__") for line in offered(module)}
    return [*sorted(callables), *stated(), *sorted(constants()), *sorted(records())]


def stated() -> Iterator[str]:
    """Yield what the command line tells of each bound: its source, hypotheses, and the meaning of its arguments."""
    known = known_bounds()
    for name, bound in known.items():
        for form in dict.fromkeys((bound, bound.printed)):
            words = [str(form.statement), form.statement.side, *map(str, form.statement.schemes)]
            yield f"{name}: {'; '.join([*words, *(hypothesis.text for hypothesis in form.hypotheses)])}"
        yield from (f"{name} {symbol.name}: {symbol.kind}; {symbol.meaning}" for symbol in bound.symbols.values())


def constants() -> Iterator[str]:
    """Yield what modules name in capitals, those of claims aside, whose records tell everything."""
    for module in everything():
        if not module.__name__.startswith("fedtheory.claims"):
            for name in assigned(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
                value = vars(module)[name] if name.isupper() and (module.__name__, name) not in OF_THE_PROCESSOR else ""
                # A word alone decides nothing, but for one that tells what the machine is.
                if is_plain(value) and not isinstance(value, str):
                    yield from entries(f"{module.__name__}.{name}", value)


def records() -> Iterator[str]:
    """Yield of each dataclass whether it can be changed, and how it compares and shows itself."""
    for module in everything():
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__ and is_dataclass(value):
                flags = vars(value)["__dataclass_params__"]
                yield f"{module.__name__}.{name}: frozen={flags.frozen}, eq={flags.eq}, repr={flags.repr}"


def everything() -> Iterator[Any]:
    """Yield all modules, private ones, too."""
    house = Path(fedtheory.__file__).parent
    for file in house.rglob("*.py"):
        names = file.relative_to(house.parent).with_suffix("").parts
        if names[1] != "__main__":
            yield importlib.import_module(".".join(names).removesuffix(".__init__"))


def entries(title: str, value: Any) -> Iterator[str]:
    """Yield a line for each entry of a table, and one for anything else."""
    if isinstance(value, dict):
        yield from (f"{title}[{key!r}] = {entry!r}" for key, entry in value.items())
    else:
        yield f"{title} = {value!r}"


def assigned(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module gives to what it computes."""
    for line in tree.body:
        targets = (
            line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
        )
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def is_plain(value: Any) -> bool:
    """Whether a value is made of numbers and words only."""
    if isinstance(value, tuple | list):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return is_plain([*value, *value.values()])
    return isinstance(value, Number | str)


def offered(module: Any) -> Iterator[str]:
    """Yield the lines of a module."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
        value = getattr(module, name)
        title = f"{module.__name__}.{name}"
        if isinstance(value, Number | tuple | str):
            yield f"{title} = {_without_addresses(repr(value))}"
        elif callable(value):
            yield title + arguments(value)
        if isinstance(value, type):
            methods = (part for part in vars(value) if not part.startswith("_") and callable(vars(value)[part]))
            yield from (f"{title}.{part}{arguments(vars(value)[part])}" for part in methods)


def arguments(value: Any) -> str:
    """Return the arguments of a callable with their defaults, without what type checkers want to know."""
    try:
        signature = inspect.signature(getattr(value, "py_func", value))
    except (TypeError, ValueError):
        return "(...)"
    bare = [part.replace(annotation=inspect.Parameter.empty) for part in signature.parameters.values()]
    return _without_addresses(str(inspect.Signature(bare)))


def _without_addresses(text: str) -> str:
    return re.sub(r"<(?:function|class) '?([\w.]+)[^>]*>", r"\1", text)


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    print(FILE.name)
