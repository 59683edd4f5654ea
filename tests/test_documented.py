"""Public functions have examples, bounds explain their arguments, and the scripts of the pages can be imported."""

import importlib
import inspect
from types import ModuleType
from typing import Any

import pytest

import fedtheory
from fedtheory.verification import known_bounds
from tests.additions import check_of_all


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


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_lacks_an_example(package: str) -> None:
    functions = {name: value for name, value in public_names(package) if inspect.isroutine(value)}
    lacking = (name for name, value in functions.items() if ">>>" not in (inspect.getdoc(value) or ""))
    check_of_all("an example", lacking)


def test_every_parameter_of_a_bound_has_a_meaning_and_every_bound_its_source() -> None:
    bounds = known_bounds()
    forms = bounds | {f"{name}.printed": bound.printed for name, bound in bounds.items()}
    silent = [name for name, bound in forms.items() if not all(one.meaning for one in bound.symbols.values())]
    lost = [name for name, bound in bounds.items() if ">>>" not in (bound.__doc__ or "") or not bound.statement.number]
    names = (name.removesuffix(".printed") for name in [*silent, *lost])
    check_of_all("a meaning of each parameter, an example or a source", dict.fromkeys(names))


def test_every_bound_has_a_paper_with_an_address() -> None:
    papers = {name: bound.statement.topic for name, bound in known_bounds().items()}
    assert all(paper.authors and paper.title for paper in papers.values())
    check_of_all("an address", (f"{name}: {paper.title}" for name, paper in papers.items() if not paper.url))
