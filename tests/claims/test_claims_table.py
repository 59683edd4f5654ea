"""The table of all claims has a line for each claim, and one for each numbered statement without a claim."""

import re
from importlib import import_module

import pytest

from fedtheory.claims.catalogue import known_claims
from tests.environment import ROOT

with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(ROOT / "docs")  # whose files import each other
    page = import_module("claims_table")
FOUND = {"verdict": "fails", "as_expected": True, "reason": "", "worst_ratio": 2.0, "detectable": None}


def cells(line: str) -> list[str]:
    """Cells of a line; a bar inside a cell is escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_a_false_statement_is_shown_as_refuted_with_its_hypotheses(monkeypatch) -> None:
    claim = known_claims()["power-of-choice:step-54-55"]
    monkeypatch.setattr(page, "verdicts", lambda: {claim.key: FOUND})
    monkeypatch.setattr(page, "ratio", lambda _: "1.89")
    text, *rest = cells(page.row(claim, {}))
    assert rest == ["power-of-choice", "erratum", "refuted, as documented", "1.89", ""]
    assert f'<span id="{page.anchor(claim.key)}">' in text
    assert "Source: " in text


def test_an_unexpected_verdict_is_marked(monkeypatch) -> None:
    claim = known_claims()["power-of-choice:step-54-55"]
    monkeypatch.setattr(page, "verdicts", lambda: {claim.key: FOUND | {"verdict": "holds", "as_expected": False}})
    monkeypatch.setattr(page, "ratio", lambda _: "1")
    assert cells(page.row(claim, {}))[3] == "holds, **unexpected**"


def test_each_numbered_statement_has_a_claim_or_a_line_with_the_reason() -> None:
    lines = [cells(line) for line in page.unclaimed()]
    missing = [
        (paper, at.number)
        for paper in page.PAPERS
        for at in page.numbered(paper)
        if (paper, at.number) not in page.claims_about()
    ]
    assert [(line[1], line[0].partition("<br>")[0]) for line in lines] == missing
    assert len(missing) > 10
