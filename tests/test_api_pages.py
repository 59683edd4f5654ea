"""Pages of the API cover public modules only, each bound within four clicks, and groups of studies."""

import os
import re
import runpy
from pathlib import Path

import pytest

from fedtheory.verification import known_bounds
from tests.additions import check_of_all
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS

API = runpy.run_path(str(ROOT / "docs" / "api_pages.py"))
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "docs")  # as in conf.py: a module there may import another one
    GROUPS = runpy.run_path(str(ROOT / "docs" / "gallery_groups.py"))
GENERATED = "api/generated/"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return API["pages"]()


def below(page: str, pages: dict[str, str]) -> list[str]:
    """Pages in the tables of contents of a page."""
    if page.startswith(GENERATED):
        tables = re.findall(
            r"^\.\. toctree::\n   :hidden:\n\n((?:   .+\n)+)", pages[page.removeprefix(GENERATED)], re.MULTILINE
        )
        return [GENERATED + re.sub(r".*<(.*)>", r"\1", line) for table in tables for line in table.splitlines()]
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    lines = [
        line for table in re.findall(r"```\{toctree\}\n---\n[^`]*---\n([^`]*)```", text) for line in table.splitlines()
    ]
    entries = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    return [os.path.normpath(Path(page).parent / entry) for entry in entries]


def test_each_bound_is_at_most_four_clicks_from_the_first_page(pages: dict[str, str]) -> None:
    reached = level = {"index", "api/index"} & {"index", *below("index", pages)}
    for _ in range(3):
        level = {entry for page in level - {"index"} for entry in below(page, pages)}
        reached = reached | level
    homes = {name: GENERATED + bound.__module__ for name, bound in known_bounds().items()}
    assert len(set(homes.values())) > 20
    check_of_all("a way to its page", (f"{name}: {home}" for name, home in homes.items() if home not in reached))


def test_helpers_that_no_package_exports_have_no_page(pages: dict[str, str]) -> None:
    assert "fedtheory.bounds.scaffold.paper" not in pages
    assert "checked_centers" not in pages["fedtheory.federation.quadratic"]
    assert not any(part.startswith("_") for name in pages for part in name.split("."))


def test_every_study_belongs_to_at_most_one_question() -> None:
    studies = [script.stem for script in SCRIPTS]
    assert set(GROUPS["ORDER"]) <= set(studies)
    assert len(GROUPS["ORDER"]) == len(set(GROUPS["ORDER"]))
    if others := set(studies) - set(GROUPS["ORDER"]):
        pytest.skip(f"docs/gallery_groups.py does not list {', '.join(sorted(others))}")
