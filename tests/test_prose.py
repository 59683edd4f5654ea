"""What pages state about studies is a finding of a study, which its data decide."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.environment import ROOT
from tests.quick_studies import SCRIPTS

STORED = ROOT / "docs" / "full_size"
MADE_BY_THE_BUILD = {ROOT / "docs" / name for name in ("gallery", "api/generated", "theory/generated", "_build")}
FINDING = re.compile(r"\{finding\}`(\w+) ([^`]+)`")
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    if not MADE_BY_THE_BUILD & set(page.parents)
}


# What names a thing or cites it, and measures nothing.
_NAMES = re.compile(
    "|".join(
        (
            r":\w+:`[^`]*`|``[^`]*``|\{[\w:]+\}`[^`]*`|\$[^$]*\$|`[^`]*`|\]\([^)]*\)",
            r"\((?:19|20)\d\d\)|\((?:eq\. )?\(?\d+[a-z]?\)?(?:-\(\d+\))?\)",
            r"(?:Figure|Table|Theorem|Lemma|Section|Appendi|row)[sx]? [\dA-Z][\d.]*[a-z]?(?:(?:,| and| or| to) \d+)*",
            r"Synthetic\([^)]*\)|Dir_K\([^)]*\)|CIFAR-?\d+|AVX-?\d+|U\(\d+, \d+\)|95%",
            r"\b[A-Za-z]+ = (?:\d[\d,.]*\d|\d|[a-zA-Z]+)[A-Za-z]?(?:/\d)?(?:(?:,| and| or) \d+\b(?![.%]))*",
            r"\b[dmKEN]/\d|\bm - 1\b|\b\d*m\b|\d+ x \d+",
        )
    )
)
_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty|(?:a |one )?hundred"
    "|(?:a |one )?thousand"
)
_NUMBER = re.compile(
    rf"(?<![A-Za-z\d])\d+(?:[.,]\d+)*(?:e-?\d+)?|\b(?:{_WORDS})\b(?= (?:times|points?|percent|orders of magnitude))"
    rf"|(?<=loss by )(?:{_WORDS})\b"
    rf"|(?<=factor of )(?:about )?(?:{_WORDS})\b"
)


def plain(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def numbers(text: str) -> Iterator[tuple[int, str]]:
    """Places and words of the numbers that a text measures, on one line; names of things are left out."""
    line = plain(text)
    named = [range(*found.span()) for found in _NAMES.finditer(line)]
    for found in _NUMBER.finditer(line):
        if not any(found.start() in span for span in named):
            yield found.start(), found[0]


def unexplained(text: str, phrases: Iterable[str]) -> list[str]:
    """Numbers that no phrase covers where it stands in the text, each with the words about it."""
    line = plain(text)
    covered = [range(*found.span()) for phrase in phrases for found in re.finditer(re.escape(plain(phrase)), line)]
    return [
        f"{number} in '...{line[max(0, place - 40) : place + 30]}...'"
        for place, number in numbers(line)
        if not any(place in span for span in covered)
    ]


def sentences(study: str) -> dict[str, str]:
    found: dict[str, Any] = json.loads((STORED / study / "findings.json").read_text(encoding="utf-8"))
    return {name: one["sentence"] for name, one in found.items()}


def between(page: str, start: str, end: str) -> str:
    return PAGES[page].partition(start)[2].partition(end)[0]


def measurements() -> list[str]:
    """Items about figures and tables of the papers."""
    page = PAGES["docs/reproduction.md"]
    return re.findall(r"^- \*\*(?:Figure|Table).*?(?=^\S|\Z)", page, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if FINDING.search(text)])
def test_each_finding_that_a_page_quotes_exists(page: str) -> None:
    quoted = FINDING.findall(PAGES[page])
    assert [(study, name) for study, name in quoted if name not in sentences(study)] == []


@pytest.mark.parametrize(
    "text",
    [
        *measurements(),
        between("docs/theory/greedyfed.md", "## What the studies find", "\n## "),
        between("docs/lessons.md", "## Which figures were reproduced", "**A known reason**").partition("\n\n**Repr")[2],
    ],
    ids=lambda text: text[4:20],
)
def test_the_measured_numbers_of_a_text_about_studies_are_those_of_the_findings_that_it_quotes(text: str) -> None:
    assert FINDING.search(text) or "Measured as" in text
    assert unexplained(text, SETTINGS) == []


# Numbers of a setting, which measure nothing.
SETTINGS = (
    "on 32 unbalanced clients",
    "15 of 500 EMNIST clients per round",
    "9 and 18 priority clients are of EMNIST",
    "the rounds 150, 250 and 350 of its runs",
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_page_of_a_study_asks_and_describes_and_leaves_the_answer_to_the_findings(script: Path) -> None:
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    assert re.findall(r"\*\*(\w+)\.\*\*", text) == ["Question", "Method", "Figure"]


@pytest.mark.parametrize(("page", "name", "finding"), [("README.md", "bound_versus_error", "ends")])
def test_a_page_that_cannot_use_the_role_repeats_the_finding(page: str, name: str, finding: str) -> None:
    assert sentences(name)[finding].removesuffix(".") in plain(PAGES[page])


def test_the_speed_that_readme_states_is_the_measured_one() -> None:
    rows = json.loads((STORED / "performance" / "table.json").read_text(encoding="utf-8"))["rows"]
    own = {row["peer"]: row for row in rows if row["workload"] == "pow-d, 30 clients"}
    assert "takes 1 to 2 microseconds, about a hundredth of the time of a loop in NumPy" in plain(PAGES["README.md"])
    assert 1 <= own["NumPy, loop"]["ours [us]"] <= 2
    assert 50 < own["NumPy, loop"]["peer / ours"] < 200
    assert own["numba loop"]["peer / ours"] < 1


def test_a_number_that_is_no_finding_is_seen_and_names_are_none() -> None:
    text = "By Theorem 3.1 (2020), with m = 3 and d = 2m, it is 1.7 [0.9, 2.5] points\nor four times :math:`2 x`."
    assert [number for _, number in numbers(text)] == ["1.7", "0.9", "2.5", "four"]
    assert unexplained(text, ["it is 1.7 [0.9, 2.5] points or four times"]) == []
    assert len(unexplained(text, ["it is 1.8 [0.9, 2.5] points"])) == 4
