"""Claims of one's own: those of a Python file, a module or a package outside this one."""

import importlib
import importlib.util
import runpy
from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from fedtheory._support.discover import modules
from fedtheory.verification.claims import Claim

__all__ = ["claim_packages", "claims_of"]

_GROUP = "fedtheory.claims"
"""The group of entry points by which installed packages say where their claims are."""

Found = TypeVar("Found")


def claims_of(source: str | Path) -> dict[str, Claim]:
    """Run a Python file, or import a module, and return the claims that it makes, by key.

    Parameters
    ----------
    source
        A script, or the name of an entry point of the group ``fedtheory.claims`` or of a module. Names at top level
        stand for claims, each made by ``@claim``; of a package, those in its public modules, too.

    Returns
    -------
    dict[str, Claim]
        By key; each knows where it comes from.

    Raises
    ------
    ValueError
        If there is no such source, it does not run, it makes no claim, or two of one key; one sentence names it.

    Examples
    --------
    >>> claims_of("missing.py")
    Traceback (most recent call last):
    ValueError: claims must come from a Python file, got missing.py
    """
    what, values = _from_file(Path(source)) if _is_path(source) else _from_name(str(source))
    found: dict[str, Claim] = {}
    for claim in {id(value): value for value in values if isinstance(value, Claim)}.values():
        if claim.key in found:
            message = f"claims must have keys of their own, got {claim.key!r} twice in {source}"
            raise ValueError(message)
        found[claim.key] = replace(claim, home=str(source))
    if not found:
        message = f"a {what} of claims must make one by @claim, got none in {source}"
        raise ValueError(message)
    return found


def claim_packages() -> dict[str, str]:
    """Names of the entry points of the group ``fedtheory.claims``, and what each stands for; nothing is imported.

    Returns
    -------
    dict[str, str]
        By name, sorted.

    Examples
    --------
    >>> all(isinstance(home, str) for home in claim_packages().values())
    True
    """
    return {point.name: point.value for point in sorted(entry_points(group=_GROUP), key=lambda point: point.name)}


def _is_path(source: str | Path) -> bool:
    return isinstance(source, Path) or source.endswith(".py") or Path(source).is_file()


def _from_file(path: Path) -> tuple[str, Iterable[Any]]:
    if not path.is_file():
        message = f"claims must come from a Python file, got {path}"
        raise ValueError(message)
    return "file", _tried("a file that runs", path, lambda: runpy.run_path(str(path), run_name=path.stem)).values()


def _from_name(name: str) -> tuple[str, Iterable[Any]]:
    points = [point for point in entry_points(group=_GROUP) if point.name == name]
    if len({point.value for point in points}) > 1:
        message = f"an entry point of {_GROUP} must stand for one thing, got {name!r} for {_listed(points)}"
        raise ValueError(message)
    if points:
        return "package", _tried(
            f"an entry point ({points[0].value}) that loads", name, lambda: _values(points[0].load())
        )
    if not _importable(name):
        close = get_close_matches(name, claim_packages())
        hint = f" (close: {', '.join(close)})" if close else ""
        message = f"claims must come from a file, a module or an entry point of {_GROUP}, got {name!r}{hint}"
        raise ValueError(message)
    return "module", _tried("a module that can be imported", name, lambda: _values(importlib.import_module(name)))


def _listed(points: Iterable[EntryPoint]) -> str:
    return " and ".join(sorted(point.value for point in points))


def _importable(name: str) -> bool:
    if not all(part.isidentifier() for part in name.split(".")):
        return False
    package, _, _ = name.partition(".")
    # Only the outermost package is looked for here: to look further would run it.
    return importlib.util.find_spec(package) is not None


def _tried(wanted: str, source: Path | str, work: Callable[[], Found]) -> Found:
    try:
        return work()
    except (Exception, SystemExit) as error:  # whatever somebody's file raises
        told = " ".join(f"{type(error).__name__}: {error}".split())
        message = f"claims must come from {wanted}, got {source}, which raises {told}"
        raise ValueError(message) from error


def _values(loaded: Any) -> list[Any]:
    """Return what stands at the top level of a module, and of a package's public modules; or the thing itself."""
    if not isinstance(loaded, ModuleType):
        return [loaded]
    is_package = loaded.__spec__ is not None and loaded.__spec__.submodule_search_locations is not None
    inside = modules(loaded) if is_package else ()
    return [value for module in (loaded, *inside) for value in vars(module).values()]
