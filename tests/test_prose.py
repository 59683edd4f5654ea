"""What pages state about studies is a finding of a study, which its data decide."""

import json
import re
from typing import Any

import pytest

from tests.environment import ROOT

STORED = ROOT / "docs" / "full_size"
MADE_BY_THE_BUILD = {ROOT / "docs" / name for name in ("gallery", "api/generated", "theory/generated", "_build")}
FINDING = re.compile(r"\{finding\}`(\w+) ([^`]+)`")
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    if not MADE_BY_THE_BUILD & set(page.parents)
}


def plain(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def sentences(study: str) -> dict[str, str]:
    found: dict[str, Any] = json.loads((STORED / study / "findings.json").read_text(encoding="utf-8"))
    return {name: one["sentence"] for name, one in found.items()}


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if FINDING.search(text)])
def test_each_finding_that_a_page_quotes_exists(page: str) -> None:
    quoted = FINDING.findall(PAGES[page])
    assert [(study, name) for study, name in quoted if name not in sentences(study)] == []


@pytest.mark.parametrize(("name", "finding"), [("bound_versus_error", "ends"), ("published_rates", "all")])
def test_readme_which_cannot_use_the_role_repeats_the_finding(name: str, finding: str) -> None:
    assert sentences(name)[finding].removesuffix(".") in plain(PAGES["README.md"])


def test_the_speed_that_readme_states_is_the_measured_one() -> None:
    rows = json.loads((STORED / "performance" / "table.json").read_text(encoding="utf-8"))["rows"]
    own = {row["peer"]: row for row in rows if row["workload"] == "pow-d, 30 clients"}
    assert "takes about 2 microseconds, about a hundredth of the time of a loop in NumPy" in plain(PAGES["README.md"])
    assert own["NumPy, loop"]["ours [us]"] == pytest.approx(2, rel=0.25)
    assert 50 < own["NumPy, loop"]["peer / ours"] < 200
    assert own["numba loop"]["peer / ours"] < 1
