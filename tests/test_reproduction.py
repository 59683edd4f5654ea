"""The page of figures and tables lists each figure and table of the papers once, and names each study."""

import re

import pytest

from tests.environment import ROOT
from tests.quick_studies import SCRIPTS

PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
WORDS = ("reproduced", "partly different", "different", "not run")
ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4}
# How many figures and tables each paper has.
PAPERS = {"Power-of-Choice": (15, 2), "Optimal client sampling": (13, 0), "FedALIGN": (6, 0), "GreedyFed": (1, 4)}


def section(title: str, page: str) -> list[str]:
    """Rows of the table of one paper."""
    [text] = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^\| ((?:Figure|Table).*) \|$", text, flags=re.MULTILINE)


def numbers(rows: list[str], kind: str) -> list[int]:
    """Numbers of the figures or tables that rows speak about; ranges are spelled out, panels are one figure."""
    found: set[int] = set()
    for name in (row.split(" | ")[0] for row in rows if row.startswith(kind)):
        words = [int(ROMAN.get(word, word)) for word in re.findall(r"\d+|\b[IV]+\b", name)]
        found |= set(range(words[0], words[1] + 1)) if " to " in name else set(words)
    return sorted(found)


def named(page: str) -> set[str]:
    return set(re.findall(r"\{doc\}`\w+ <gallery/(\w+)>`", page))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_and_table_of_a_paper_is_there(paper: str) -> None:
    rows = section(paper, PAGE)
    figures, tables = PAPERS[paper]
    assert numbers(rows, "Figure") == list(range(1, figures + 1))
    assert numbers(rows, "Table") == list(range(1, tables + 1))


def status(row: str) -> tuple[str, str]:
    """Status of a row, and the reason that follows it."""
    [found] = re.findall(r"^\*\*([a-z ]+)\*\*(?:: (.+))?$", row.split(" | ")[2])
    return found


def measurements(page: str) -> dict[str, str]:
    """Text of each measurement, by the figures or tables that it is about."""
    items = re.findall(r"^- \*\*((?:Figure|Table)[^*]*)\.\*\*(.*?)(?=^\S|\Z)", page, flags=re.MULTILINE | re.DOTALL)
    return dict(items)


@pytest.mark.parametrize("paper", PAPERS)
def test_each_row_has_a_status_and_a_reason_unless_it_is_reproduced_and_measurements_if_it_was_run(paper: str) -> None:
    [text] = re.findall(rf"^## {paper}\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    measured = measurements(text)
    for row in section(paper, PAGE):
        word, reason = status(row)
        assert word in WORDS, row
        assert reason or word == "reproduced", row
        assert word == "not run" or named(measured[row.split(" | ")[0]]), row


def test_each_study_is_named_and_each_named_study_exists() -> None:
    studies = {script.stem for script in SCRIPTS}
    assert named(PAGE) <= studies
    if studies - named(PAGE):
        pytest.skip(f"docs/reproduction.md does not name {', '.join(sorted(studies - named(PAGE)))}")
