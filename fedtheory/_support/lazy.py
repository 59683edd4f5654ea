"""Imports on first use, and the nearest public name for an unknown attribute of a package."""

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn

import lazy_loader

# What others call the functions of this package.
_SYNONYMS = {"fedavg": ("run", "simulate", "simulation", "train"), "hunt": ("falsify", "search")}


class UnknownAttributeError(AttributeError):
    """An attribute that a package does not have; the message, which names the nearest one, is made when it is read."""

    def __init__(self, package: str, name: str) -> None:
        super().__init__(package, name, name=name)

    def __str__(self) -> str:
        package, name = self.args
        found = [] if name.startswith("_") else _nearest(package, name)
        return f"{package} has no attribute {name!r}" + (f"; did you mean {' or '.join(found)}?" if found else "")


def attach(
    package: str, submodules: Sequence[str] = (), submod_attrs: Mapping[str, Sequence[str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports on first use."""
    imported, listed, names = lazy_loader.attach(package, submodules, submod_attrs)
    known = frozenset(names)

    def found(name: str) -> Any:
        if name not in known:
            raise UnknownAttributeError(package, name)
        return imported(name)

    return found, listed, names


def unknown_in(package: str) -> Callable[[str], NoReturn]:
    """Return the ``__getattr__`` of a package that is imported at once."""

    def unknown(name: str) -> NoReturn:
        raise UnknownAttributeError(package, name)

    return unknown


def _nearest(package: str, name: str) -> list[str]:
    """Return at most three public names: the same name, or else the closest one of the package, or of all packages."""
    wanted = next((ours for ours, theirs in _SYNONYMS.items() if name in theirs), name).casefold()
    root = importlib.import_module(package.partition(".")[0])
    paths = sorted(_paths(root), key=lambda path: (not path.startswith(f"{package}."), path.count("."), path))
    own = [path for path in paths if path.rpartition(".")[0] == package]
    for some, cutoff in ((own, 1.0), (paths, 1.0), (own, 0.6), (paths, 0.75)):
        if found := _close(wanted, some, cutoff):
            return found
    return []


def _close(wanted: str, paths: Iterable[str], cutoff: float) -> list[str]:
    """Return the paths whose last name is closest to a name."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition(".")[2].casefold(), []).append(path)
    names = difflib.get_close_matches(wanted, by_name, n=1, cutoff=cutoff)
    return by_name[names[0]][:3] if names else []


def _paths(root: ModuleType) -> Iterator[str]:
    """Yield the public names of a package and the packages in it; only packages are imported."""
    names = getattr(root, "__all__", None) or [name for name in vars(root) if not name.startswith("_")]
    yield from (f"{root.__name__}.{name}" for name in names)
    for info in pkgutil.iter_modules(getattr(root, "__path__", ())):
        if info.name in names and (info.ispkg or info.name == "errors"):
            yield from _paths(importlib.import_module(f"{root.__name__}.{info.name}"))
