"""Iteration over the public modules of a package."""

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any


class BrokenModuleWarning(UserWarning):
    """A file of a package cannot be imported and is skipped."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the public modules of a package and its subpackages; warn about those that cannot be imported."""
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
    """Yield pairs (qualified name, value) of the public values in a package's modules that satisfy ``accept``."""
    for module in modules(package):
        for name, value in vars(module).items():
            # Only functions and classes have a module; a record's __module__ is that of its class.
            owner = value.__module__ if inspect.isroutine(value) or isinstance(value, type) else module.__name__
            if not name.startswith("_") and owner == module.__name__ and accept(value):
                yield f"{module.__name__}.{name}", value


def _leave_out(file: Path, error: Exception) -> None:
    place = file if file.is_dir() else file.with_suffix(".py")
    text = " ".join(str(error).split())
    warnings.warn(f"{place} is left out: {type(error).__name__}: {text}", BrokenModuleWarning, stacklevel=3)
