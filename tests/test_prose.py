"""Numbers in texts about studies are those that the studies compute from their stored data."""

import ast
import re
import runpy
import sys

import pytest

from fedtheory import study
from tests.environment import ROOT
from tests.prose import numbers, plain, reading, unexplained
from tests.quick_studies import loaded

STORED = runpy.run_path(str(ROOT / "docs" / "full_size.py"))["STORED"]
NAMES = sorted(folder.name for folder in STORED.iterdir() if folder.is_dir())
ABOUT = ("README.md", "docs/reproduction.md", "docs/index.md", "docs/theory/greedyfed.md")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ABOUT}


def said(name: str) -> list[str]:
    if name not in NAMES:
        return []
    loaded(name)
    module = sys.modules[f"studies.{name}"]
    own = getattr(getattr(module, "theory", module), "said", None)
    return list(own(study.load(STORED / name).data)) if own else []


def text_of(name: str) -> str:
    return reading(ast.get_docstring(ast.parse((ROOT / "studies" / f"{name}.py").read_text(encoding="utf-8"))) or "")


def rows() -> list[tuple[str, set[str]]]:
    """What the page of figures says of ours, with the studies that it names: cells of its tables, and measurements."""
    page = PAGES["docs/reproduction.md"]
    found = []
    for row in re.findall(r"^\| ((?:Figure|Table).*) \|$", page, flags=re.MULTILINE):
        found.append((row.split(" | ")[2], row))
    for item in re.findall(r"^- \*\*(?:Figure|Table).*?(?=^\S|\Z)", page, flags=re.MULTILINE | re.DOTALL):
        found.append((item, item))
    return [(text, set(re.findall(r"<gallery/(\w+)>", source))) for text, source in found]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_study_says_of_its_data_is_written_on_its_page_or_on_those_about_all(name: str) -> None:
    texts = [plain(text) for text in (text_of(name), *PAGES.values())]
    assert [phrase for phrase in said(name) if not any(plain(phrase) in text for text in texts)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_number_in_a_reading_is_computed_from_the_data(name: str) -> None:
    assert unexplained(text_of(name), said(name)) == []


@pytest.mark.parametrize(("cell", "names"), rows(), ids=lambda value: value[:40] if isinstance(value, str) else "")
def test_every_number_in_a_row_about_a_figure_is_computed_from_the_data_of_a_study_that_it_names(
    cell: str, names: set[str]
) -> None:
    assert unexplained(cell, [phrase for name in sorted(names) for phrase in said(name)]) == []


@pytest.mark.parametrize(("page", "name", "finding"), [("README.md", "bound_versus_error", "ends")])
def test_a_page_quotes_a_finding(page: str, name: str, finding: str) -> None:
    assert study.load(STORED / name).findings[finding].sentence in plain(PAGES[page])


def test_a_number_that_nobody_computes_is_seen_and_names_are_none() -> None:
    text = "By Theorem 3.1 (2020), with m = 3 and d = 2m, it is 1.7 [0.9, 2.5] points\nor four times :math:`2 x`."
    assert [number for _, number in numbers(text)] == ["1.7", "0.9", "2.5", "four"]
    assert unexplained(text, ["it is 1.7 [0.9, 2.5] points or four times"]) == []
    assert len(unexplained(text, ["it is 1.8 [0.9, 2.5] points"])) == 4


def test_every_number_about_studies_of_greedyfed_is_computed_from_their_data() -> None:
    section = PAGES["docs/theory/greedyfed.md"].partition("## What the studies find")[2].partition("\n## ")[0]
    phrases = [phrase for name in ("greedyfed_tables", "shapley_approximation") for phrase in said(name)]
    assert unexplained(section, phrases) == []
