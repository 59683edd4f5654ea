"""Every numbered statement of the papers has a claim or a reason, and claims cite existing numbers only."""

import re
from importlib import import_module

import pytest

from docs.statements import PAPERS, claims_about, numbered
from tests.environment import ROOT

with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(ROOT / "docs")  # whose files import each other
    page = import_module("claims_table")
LAST_EQUATION = {"power-of-choice": 87, "optimal-client-sampling": 40, "fedalign": 60, "fedavg": 0, "greedyfed": 0}
ALL = {(paper, at.number) for paper in PAPERS for at in numbered(paper)}


def test_every_number_has_a_claim_or_a_reason() -> None:
    explained = {(paper, at.number) for paper in PAPERS for at in numbered(paper) if at.reason}
    assert sorted(ALL - explained - set(claims_about())) == []


@pytest.mark.parametrize("paper", sorted({paper for paper, _ in claims_about() if paper in PAPERS}))
def test_no_claim_cites_a_number_that_its_paper_does_not_have(paper: str) -> None:
    unlisted = sorted(number for cited_paper, number in set(claims_about()) - ALL if cited_paper == paper)
    if unlisted and not LAST_EQUATION.get(paper):  # of the others the lists are complete
        pytest.skip(f"docs/theory/numbered/{paper}.txt does not have {', '.join(unlisted)}")
    assert unlisted == []


def test_each_statement_without_a_claim_has_a_line_on_the_page_of_claims() -> None:
    lines = [re.split(r"(?<!\\)\|", line) for line in page.unclaimed()]  # a bar inside a cell is escaped
    missing = [
        (paper, at.number) for paper in PAPERS for at in numbered(paper) if (paper, at.number) not in claims_about()
    ]
    assert [(cells[2].strip(), cells[1].strip().partition("<br>")[0]) for cells in lines] == missing
    assert len(missing) > 10
