"""Every public name documents its parameters, return values and errors."""

import ast
import importlib
import inspect
import re
import runpy
import types
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


def sections(text: str) -> dict[str, str]:
    """Sections of a docstring in numpydoc's form, by title."""
    parts = re.split(r"^([A-Z][\w ]+)\n-{3,}$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def returns_something(node: ast.FunctionDef) -> bool:
    """Whether there is anything to say of what a call gives."""
    if node.returns is not None:
        return ast.unparse(node.returns) != "None"
    return any(isinstance(inner, ast.Return | ast.Yield) and inner.value is not None for inner in ast.walk(node))


def raises_something(node: ast.AST, tree: ast.Module) -> bool:
    """Whether the function, or one of its file that it calls, raises or hands arguments to what validates them."""
    functions = {inner.name: inner for inner in tree.body if isinstance(inner, ast.FunctionDef)}
    seen: set[ast.AST] = set()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        seen.add(here)
        for inner in uncaught(here):
            if isinstance(inner, ast.Raise) or (isinstance(inner, ast.Call) and is_validation(inner.func)):
                return True
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
                waiting += [known for known in [functions.get(inner.func.id)] if known and known not in seen]
    return False


def uncaught(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, but for what stands where every exception is caught."""
    yield node
    caught = isinstance(node, ast.Try) and any(ast.unparse(one.type or node) == "Exception" for one in node.handlers)
    for inner in node.handlers if isinstance(node, ast.Try) and caught else ast.iter_child_nodes(node):
        yield from uncaught(inner)


def is_validation(called: ast.expr) -> bool:
    """Whether this is one of the helpers that refuse arguments."""
    return isinstance(called, ast.Attribute) and ast.unparse(called.value) == "validate" and called.attr != "generator"


def missing(function: Public) -> list[str]:
    """Name what the docstring of a function does not say."""
    name, value, node, tree = function
    found = sections(inspect.getdoc(value) or "")
    parameters = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    parameters = [parameter for parameter in parameters if not parameter.startswith("_")]
    told = set(re.findall(r"\w+", " ".join(re.findall(r"^\S.*$", found.get("Parameters", ""), flags=re.MULTILINE))))
    lacking = [f"{name}: parameter {parameter}" for parameter in parameters if parameter not in told]
    if returns_something(node) and not {"Returns", "Yields"} & set(found):
        lacking.append(f"{name}: Returns")
    if raises_something(node, tree) and "Raises" not in found:
        lacking.append(f"{name}: Raises")
    return lacking


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


SAMPLE = '''
def _checked(x):
    return validate.positive("x", x)

def caught(x: float) -> float:
    """Say half.

    Parameters
    ----------
    x
        Of any size.
    """
    try:
        raise ValueError
    except Exception:
        return x / 2

def half(x: float, y: float) -> float:
    """Say half.

    Parameters
    ----------
    x
        Positive.
    """
    return _checked(x) / 2
'''


def test_each_missing_section_is_named() -> None:
    tree = ast.parse(SAMPLE)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    documented = {name: types.SimpleNamespace(__doc__=ast.get_docstring(node)) for name, node in functions.items()}
    assert missing(("half", documented["half"], functions["half"], tree)) == [
        "half: parameter y",
        "half: Returns",
        "half: Raises",
    ]
    assert missing(("caught", documented["caught"], functions["caught"], tree)) == ["caught: Returns"]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_function_lacks_parameters_returns_or_raises(package: str) -> None:
    lacking = [line for function in functions_of(package) for line in missing(function)]
    check_of_all("a section of the docstring", lacking)


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
