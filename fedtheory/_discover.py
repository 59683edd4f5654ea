"""Find what the modules of an open package define: by reading their source when asked, never by a registry."""

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

__all__ = ["lazy_names", "members"]


@cache
def definitions(folder: str) -> dict[str, str]:
    """Public top-level names of the modules in a folder, each with the module that defines it."""
    found: dict[str, str] = {}
    for file in sorted(Path(folder).glob("[!_]*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            for name in _names_bound_by(node):
                if not name.startswith("_"):
                    found.setdefault(name, file.stem)
    return found


def _names_bound_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def lazy_names(package: str, folder: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of an open package: a name loads the one module that defines it."""

    def __getattr__(name: str) -> Any:
        if (Path(folder) / f"{name}.py").is_file():
            return importlib.import_module(f"{package}.{name}")
        module = None if name.startswith("_") else definitions(folder).get(name)
        if module is None:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(importlib.import_module(f"{package}.{module}"), name)

    def __dir__() -> list[str]:
        return sorted({*definitions(folder), *definitions(folder).values()})

    return __getattr__, __dir__


def members(package: ModuleType, accept: Callable[[Any], bool]) -> Iterator[tuple[str, Any]]:
    """Pairs (qualified name, value) of the public values in a package's modules that ``accept`` takes."""
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for name, value in vars(module).items():
            # Only functions and classes know their home; a record's __module__ is that of its class.
            owner = value.__module__ if isinstance(value, FunctionType | type) else module.__name__
            if not name.startswith("_") and owner == module.__name__ and accept(value):
                yield f"{module.__name__}.{name}", value
