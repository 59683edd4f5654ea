"""Claims by key."""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import importlib.util
import runpy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from fedtheory import bounds, claims
from fedtheory._support import validate
from fedtheory._support.discover import members, modules
from fedtheory._support.wording import suggest
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims._worst_cases import worst_case_claim
from fedtheory.theorem.bound import Bound, is_bound
from fedtheory.theorem.claims import KINDS, Claim, Kind

__all__ = ["known_claims"]

_GROUP = "fedtheory.claims"
"""The group of entry points in which installed packages declare their claims."""

Found = TypeVar("Found")


def known_claims() -> dict[str, Claim]:
    """Return all claims by key, in the order of the modules.

    >>> known_claims()["power-of-choice:lemma-b1"].kind
    'inequality'
    """
    written = (claim for _, claim in members(claims, _is_claim))
    found: dict[str, Claim] = {}
    for claim in (*written, *map(worst_case_claim, filter(_has_worst_case, known_bounds().values()))):
        if found.setdefault(claim.key, claim) is not claim:
            message = f"claim keys must be unique, got {claim.key!r} twice"
            raise ValueError(message)
    return found


def _with_that_key(key: str) -> Claim | None:
    """Return the claim of a full key; only modules with the key in their text are imported, or bounds of its paper."""
    written = (value for module in _modules_with(f'"{key}"') for value in vars(module).values() if _is_claim(value))
    worst_cases = map(worst_case_claim, filter(_has_worst_case, _bounds_of(key.partition(":")[0])))
    return next((claim for claim in chain(written, worst_cases) if claim.key == key), None)


def _modules_with(text: str) -> Iterator[ModuleType]:
    folder = Path(claims.__path__[0])
    for file in sorted(folder.rglob("[!_]*.py")):
        if text in file.read_text(encoding="utf-8"):
            yield importlib.import_module(".".join([claims.__name__, *file.relative_to(folder).with_suffix("").parts]))


def _bounds_of(paper: str) -> Iterator[Any]:
    """Yield the bounds of a paper, one module after the other."""
    name = paper.replace("-", "_")
    if name in bounds.__all__ and hasattr(getattr(bounds, name), "__path__"):
        yield from (bound for _, bound in members(getattr(bounds, name), is_bound))


def _is_claim(value: Any) -> bool:
    return isinstance(value, Claim)


def _has_worst_case(value: Any) -> bool:
    return is_bound(value) and value.worst_case is not None


def select_claims(
    keys: str | Iterable[str] | None = None,
    paper: str | None = None,
    kind: Kind | None = None,
    among: Mapping[str, Claim] | str | Path | None = None,
) -> list[Claim]:
    """Return the claims that match keys, prefixes or patterns; by default all. A full key matches its claim only.

    Matching ignores case. ``paper`` (a key) and ``kind`` restrict the claims further. Claims are selected from
    ``among``, by default the claims of the package.

    >>> {claim.statement.topic.key for claim in select_claims(paper="greedyfed")}
    {'greedyfed'}
    """
    asked = [keys] if isinstance(keys, str) else list(keys or [])
    if among is paper is kind is None and len(asked) == 1 and (found := _with_that_key(asked[0])):
        return [found]
    known = known_claims() if among is None else claims_of(among) if isinstance(among, str | Path) else among
    named = _named(known, asked if keys is not None else None)
    if paper is not None:
        validate.choice("paper", paper, tuple(sorted({claim.statement.topic.key for claim in known.values()})))
    if kind is not None:
        validate.choice("kind", kind, KINDS)
    chosen = [claim for claim in named if paper in (None, claim.statement.topic.key) and kind in (None, claim.kind)]
    if not chosen:
        message = f"keys, paper and kind must select a claim, got {len(named)} claims, none of {paper} and {kind}"
        raise ValueError(message)
    return chosen


def _named(known: Mapping[str, Claim], keys: str | Iterable[str] | None) -> list[Claim]:
    if keys is None:
        return list(known.values())
    chosen: dict[str, Claim] = {}
    for key in [keys] if isinstance(keys, str) else keys:
        named = matching(key, known)
        if not named:
            message = f"keys must name claims, got {key!r}{suggest(key, known)}"
            raise ValueError(message)
        chosen.update({name: known[name] for name in named})
    return list(chosen.values())


def one_claim(key: str, among: Mapping[str, Claim] | str | Path | None = None) -> Claim:
    """Return the only claim that matches a key, prefix or pattern, by default among the claims of the package.

    >>> one_claim("POWER-OF-CHOICE:lemma-b1").key
    'power-of-choice:lemma-b1'
    """
    named = select_claims(key, among=among)
    if len(named) > 1:
        message = f"key must name one claim, got {key!r}, which matches {', '.join(claim.key for claim in named[:3])}"
        raise ValueError(message)
    return named[0]


def matching(key: str, known: Iterable[str]) -> list[str]:
    """Return the known names that match a name, prefix or pattern, ignoring case; a full name matches itself only."""
    folded, wanted = {name: name.casefold() for name in known}, key.casefold()
    same = [name for name, text in folded.items() if text == wanted]
    return same or [
        name for name, text in folded.items() if text.startswith(wanted) or fnmatch.fnmatchcase(text, wanted)
    ]


def claims_of(source: str | Path) -> dict[str, Claim]:
    """Run a Python file or import a module, and return the claims that it defines, by key."""
    found, _ = contents_of(source)
    if not found:
        raise ValueError(_without_claims(source))
    return found


def contents_of(source: str | Path) -> tuple[dict[str, Claim], dict[str, Bound]]:
    """Run a Python file or import a module, and return its claims by key and its bounds by name."""
    values = list(run_file(Path(source)).values() if _is_path(source) else _from_name(str(source)))
    new = [value for value in values if is_bound(value) and not value.__module__.startswith("fedtheory.")]
    bounds = {bound.__name__: bound for bound in new if not bound.__name__.startswith("_")}
    found = own_claims(values, source)
    if not found and not bounds:
        raise ValueError(_without_claims(source))
    return found, bounds


def _without_claims(source: str | Path) -> str:
    return f"a source of claims must define one with @claim, got none in {source}"


def own_claims(values: Iterable[Any], source: str | Path) -> dict[str, Claim]:
    """Return the claims among the top-level values of a source, by key; there may be none."""
    found: dict[str, Claim] = {}
    for claim in {id(value): value for value in values if isinstance(value, Claim)}.values():
        if claim.key in found:
            message = f"claim keys must be unique, got {claim.key!r} twice in {source}"
            raise ValueError(message)
        found[claim.key] = replace(claim, home=str(source))
    return found


def claim_packages() -> dict[str, str]:
    """Return the names and values of the entry points in the group ``fedtheory.claims``, without importing them."""
    return {point.name: point.value for point in sorted(entry_points(group=_GROUP), key=lambda point: point.name)}


def _is_path(source: str | Path) -> bool:
    return isinstance(source, Path) or source.endswith(".py") or Path(source).is_file()


def run_file(path: Path) -> dict[str, Any]:
    """Run a Python file, and return its top-level values by name."""
    if not path.is_file():
        message = (
            f"claims must come from a Python file, got {path}, which {'is none' if path.exists() else 'does not exist'}"
        )
        raise ValueError(message)
    return _tried("a file that runs", path, lambda: runpy.run_path(str(path), run_name=path.stem))


def _from_name(name: str) -> Iterable[Any]:
    points = [point for point in entry_points(group=_GROUP) if point.name == name]
    if len({point.value for point in points}) > 1:
        message = f"an entry point of {_GROUP} must be unique, got {name!r} for {_listed(points)}"
        raise ValueError(message)
    if points:
        return _tried(f"an entry point ({points[0].value}) that loads", name, lambda: _values(points[0].load()))
    if not _importable(name):
        close = difflib.get_close_matches(name, claim_packages())
        hint = f" (close: {', '.join(close)})" if close else ""
        message = f"claims must come from a file, a module or an entry point of {_GROUP}, got {name!r}{hint}"
        raise ValueError(message)
    return _tried("a module that can be imported", name, lambda: _values(importlib.import_module(name)))


def _listed(points: Iterable[EntryPoint]) -> str:
    return " and ".join(sorted(point.value for point in points))


def _importable(name: str) -> bool:
    if not all(part.isidentifier() for part in name.split(".")):
        return False
    package, _, _ = name.partition(".")
    # Only the outermost package is looked up, since looking further would run it.
    return importlib.util.find_spec(package) is not None


def _tried(wanted: str, source: Path | str, work: Callable[[], Found]) -> Found:
    try:
        return work()
    except (Exception, SystemExit) as error:  # a user's file may raise anything
        text = " ".join(f"{type(error).__name__}: {error}".split())
        message = f"claims must come from {wanted}, got {source}, which raises {text}"
        raise ValueError(message) from error


def _values(loaded: Any) -> list[Any]:
    """Return the top-level values of a module and of a package's public modules; any other object itself."""
    if not isinstance(loaded, ModuleType):
        return [loaded]
    is_package = loaded.__spec__ is not None and loaded.__spec__.submodule_search_locations is not None
    inside = modules(loaded) if is_package else ()
    return [value for module in (loaded, *inside) for value in vars(module).values()]
