"""Find what the modules of an open package define: by reading their source when asked, never by a registry."""

import ast
import importlib
import inspect
import pkgutil
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from fedtheory._support.wording import close_to

__all__ = ["BrokenModuleWarning", "lazy_modules", "lazy_names", "members", "modules", "surface"]


class BrokenModuleWarning(UserWarning):
    """A file of an open package cannot be imported; everything else goes on without it."""


# Two threads that build syntax trees at once count into one depth of Python 3.11's, who calls that a SystemError.
_PARSING = threading.RLock()


@cache
def surface(folder: str, name: str = "") -> dict[str, str]:
    """Names that the modules in a folder offer, with their modules: those of ``__all__``, or functions and classes.

    Only modules in whose text ``name`` occurs are looked at, since no others can offer it.
    """
    found: dict[str, str] = {}
    for file in sorted(Path(folder).glob("[!_]*.py")):
        text = file.read_text(encoding="utf-8")
        if name not in text:
            continue
        try:
            with _PARSING:
                tree = ast.parse(text)
            offered = _offered_by(tree)
        except SyntaxError as error:
            _leave_out(file, error)
            continue
        for one in offered:
            if found.setdefault(one, file.stem) != file.stem:
                message = f"{one} must be offered by one module of {folder}, got {found[one]}.py and {file.name}"
                raise ImportError(message)
    return found


def _offered_by(module: ast.Module) -> list[str]:
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return [str(name) for name in ast.literal_eval(getattr(node, "value"))]  # noqa: B009
    # Constants are a module's own unless it lists them: two papers may both have a PAPER.
    definitions = (node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return [name for name in definitions if not name.startswith("_")]


@cache
def _rooms(folder: str) -> frozenset[str]:
    return frozenset(info.name for info in pkgutil.iter_modules([folder]) if not info.name.startswith("_"))


def lazy_names(
    package: str, folder: str, offered: Callable[[str, str], dict[str, str]] = surface
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of an open package: a name loads the one module that offers it."""

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return __dir__()
        if name.startswith("_"):
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        if name in _rooms(folder):
            return importlib.import_module(f"{package}.{name}")
        if name not in offered(folder, name):
            message = f"module {package!r} has no attribute {name!r}{close_to(name, __dir__())}"
            raise AttributeError(message)
        return getattr(importlib.import_module(f"{package}.{offered(folder, name)[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*offered(folder, ""), *_rooms(folder)})

    return __getattr__, __dir__


def lazy_modules(package: str, folder: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package that offers its modules and none of their names.

    Modules of such a package may use the same name: claims are found by their keys, and bounds through their papers.
    """
    return lazy_names(package, folder, lambda *_: {})


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the public modules of a package and of the packages in it; warn of those that cannot be imported."""
    for info in pkgutil.iter_modules(package.__path__):
        if not info.name.startswith("_"):
            try:
                module = importlib.import_module(f"{package.__name__}.{info.name}")
            except Exception as error:
                _leave_out(Path(package.__path__[0], info.name), error)
                continue
            yield module
            if info.ispkg:
                yield from modules(module)


def members(package: ModuleType, accept: Callable[[Any], bool]) -> Iterator[tuple[str, Any]]:
    """Pairs (qualified name, value) of the public values in a package's modules that ``accept`` takes."""
    for module in modules(package):
        for name, value in vars(module).items():
            # Only what is called or made knows its home; a record's __module__ is that of its class.
            owner = value.__module__ if inspect.isroutine(value) or isinstance(value, type) else module.__name__
            if not name.startswith("_") and owner == module.__name__ and accept(value):
                yield f"{module.__name__}.{name}", value


def _leave_out(file: Path, error: Exception) -> None:
    place = file if file.is_dir() else file.with_suffix(".py")
    text = " ".join(str(error).split())
    warnings.warn(f"{place} is left out: {type(error).__name__}: {text}", BrokenModuleWarning, stacklevel=3)
