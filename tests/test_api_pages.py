"""Pages of the API cover public modules only, each bound within four clicks, and groups of studies."""

import os
import re
import runpy
from pathlib import Path

import pytest

import fedtheory
from fedtheory.verification import known_bounds
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
    homes = {GENERATED + bound.__module__ for bound in known_bounds().values()}
    assert len(homes) > 20
    assert homes <= reached


def test_what_a_package_exports_is_on_the_page_of_its_module(pages: dict[str, str]) -> None:
    text = pages["fedtheory.selection"]
    assert set(re.findall(r"^   ~fedtheory\.selection\.\w+\.(\w+)$", text, re.MULTILINE)) == {
        name for name in dir(fedtheory.selection) if isinstance(getattr(fedtheory.selection, name), type)
    } | {"matches"}
    assert "   :members: " in pages["fedtheory.selection.uniform"]
    assert "Uniform" in pages["fedtheory.selection.uniform"]


def test_helpers_that_no_package_exports_have_no_page(pages: dict[str, str]) -> None:
    assert "fedtheory.bounds.scaffold.paper" not in pages
    assert "checked_centers" not in pages["fedtheory.federation.quadratic"]
    assert not any(part.startswith("_") for name in pages for part in name.split("."))


def test_a_title_is_the_name_of_the_module(pages: dict[str, str]) -> None:
    assert all(text.startswith(f"{name}\n{'=' * len(name)}\n") for name, text in pages.items())


def test_the_page_of_a_removed_module_is_deleted_and_unchanged_pages_are_kept(tmp_path: Path) -> None:
    (tmp_path / "fedtheory.removed.rst").write_text("old", encoding="utf-8")
    texts = {"fedtheory.errors": "one", "fedtheory.study": "two"}
    API["write"](tmp_path, texts)
    times = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert sorted(times) == ["fedtheory.errors.rst", "fedtheory.study.rst"]
    API["write"](tmp_path, {**texts, "fedtheory.study": "three"})
    changed = {name for name, time in times.items() if (tmp_path / name).stat().st_mtime_ns != time}
    assert changed == {"fedtheory.study.rst"}


def test_every_study_belongs_to_one_question() -> None:
    assert sorted(GROUPS["ORDER"]) == sorted(script.stem for script in SCRIPTS)


def test_each_question_stands_before_its_first_study() -> None:
    card = '.. raw:: html\n\n    <div class="sphx-glr-thumbcontainer">\n\n  :doc:`/gallery/{}`\n\n'
    page = GROUPS["grouped"]("".join(card.format(name) for name in GROUPS["ORDER"]))
    order = re.findall(r"^(.+)\n-+\n|:doc:`/gallery/(\w+)`", page, re.MULTILINE)
    expected = [entry for question, names in GROUPS["GROUPS"].items() for entry in (question, *names)]
    assert [question or name for question, name in order] == expected


def test_a_finding_and_the_figure_of_a_study_stand_before_its_question_once() -> None:
    figure = ".. image-sg:: /gallery/images/one.png\n   :alt: one\n\n"
    code = ".. GENERATED FROM PYTHON SOURCE LINES 1-2\n\nsource\n\n"
    moved = GROUPS["figure_first"](f"Title\n=====\n\n**Question.** Why?\n\n{code}{figure}Out", "one")
    order = (".. findings:: one first", "image-sg", "**Question.**", ".. findings:: one others", "source", "Out")
    places = [moved.index(part) for part in order]
    assert places == sorted(places)
    assert GROUPS["figure_first"](moved, "one") == moved


@pytest.mark.slow
def test_a_thumbnail_is_the_first_panel_with_data_alone(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs the extra docs")
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, (first, second) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    first.set_axis_off()
    second.plot([0, 1], label="line")
    figure.suptitle("title")
    figure.legend()
    runpy.run_path(str(ROOT / "docs" / "thumbnails.py"))["draw_panel"](figure, tmp_path / "panel.png")
    assert (figure.axes, figure.legends) == ([second], [])
    with Image.open(tmp_path / "panel.png") as picture:
        assert 1.3 < picture.width / picture.height < 1.6
    plt.close(figure)
