"""Every public name documents its parameters, return values and errors."""

import ast
import importlib
import inspect
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fedtheory
from fedtheory.theorem.bound import is_bound
from fedtheory.verification import known_bounds
from tests.additions import check_of_all
from tests.environment import ROOT

Public = tuple[str, Any, ast.FunctionDef, ast.Module]


def public_names(package: str) -> list[tuple[str, Any]]:
    """Names that a package exports, or those that the papers of ``bounds`` export, with what they are."""
    home = importlib.import_module(f"fedtheory.{package}")
    homes = [home]
    if package == "bounds":
        homes += [getattr(home, paper) for paper in home.__all__]
    return [
        (f"{home.__name__}.{name}", getattr(home, name))
        for home in homes
        for name in dir(home)
        if not name.startswith("_") and not isinstance(getattr(home, name), ModuleType)
    ]


PACKAGES = sorted(name for name in fedtheory.__all__ if isinstance(getattr(fedtheory, name), ModuleType))


@cache
def syntax(module: str) -> ast.Module:
    """Syntax tree of a module."""
    return ast.parse(Path(str(importlib.import_module(module).__file__)).read_text(encoding="utf-8"))


def functions_of(package: str) -> Iterator[Public]:
    """Yield the functions that a package exports, but for bounds, which have their own sections."""
    for name, value in public_names(package):
        if not is_bound(value) and inspect.isroutine(value):
            tree = syntax(value.__module__)
            defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
            if value.__name__ in defined:
                yield name, value, defined[value.__name__], tree


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_lacks_an_example(package: str) -> None:
    lacking = (name for name, value, *_ in functions_of(package) if ">>>" not in (inspect.getdoc(value) or ""))
    check_of_all("an example", lacking)


def test_every_parameter_of_a_bound_has_a_meaning_and_every_bound_its_source() -> None:
    bounds = known_bounds()
    forms = bounds | {f"{name}.printed": bound.printed for name, bound in bounds.items()}
    silent = [name for name, bound in forms.items() if not all(one.meaning for one in bound.symbols.values())]
    lost = [name for name, bound in bounds.items() if ">>>" not in (bound.__doc__ or "") or not bound.statement.number]
    names = (name.removesuffix(".printed") for name in [*silent, *lost])
    check_of_all("a meaning of each parameter, an example or a source", dict.fromkeys(names))


@pytest.mark.parametrize("script", sorted((ROOT / "docs").glob("*.py")), ids=lambda script: script.stem)
def test_what_makes_the_pages_can_be_imported(script: Path, monkeypatch) -> None:
    if script.stem in ("findings", "house", "pictures", "thumbnails"):
        pytest.importorskip("sphinx_gallery", reason="needs the extra docs")
    monkeypatch.syspath_prepend(ROOT / "docs")  # whose files import each other
    assert runpy.run_path(str(script))
