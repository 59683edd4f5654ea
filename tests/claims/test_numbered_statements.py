"""Every numbered statement of the papers has a claim or a reason, and the page that says so is up to date."""

from dataclasses import replace

import pytest

from fedtheory.verification.catalogue import known_claims
from fedtheory.verification.findings import FAILS, HOLDS
from tests import statements
from tests.statements import PAPERS, cited, claims_about, numbered, strained

LAST_EQUATION = {"power-of-choice": 87, "optimal-client-sampling": 40, "fedalign": 60, "fedavg": 0, "greedyfed": 0}
ALL = {(paper, at.number) for paper in PAPERS for at in numbered(paper)}


def test_every_number_has_a_claim_or_a_reason() -> None:
    explained = {(paper, at.number) for paper in PAPERS for at in numbered(paper) if at.reason}
    assert sorted(ALL - explained - set(claims_about())) == []


def test_no_claim_cites_a_number_that_its_paper_does_not_have() -> None:
    assert sorted(set(claims_about()) - ALL) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_the_list_has_every_equation_of_the_paper_once(paper: str) -> None:
    numbers = [at.number for at in numbered(paper)]
    assert len(numbers) == len(set(numbers))
    equations = [number for number in numbers if number.startswith("(")]
    assert equations == [f"({n})" for n in range(1, LAST_EQUATION[paper] + 1)]


def test_the_page_is_what_the_claims_say_now() -> None:
    """Where it is not: ``python -m tests.statements``."""
    assert statements.PAGE.read_text(encoding="utf-8") == statements.page()


def test_the_ratios_of_the_page_are_on_the_side_of_the_verdict() -> None:
    for key, claim in known_claims().items():
        finding = strained(key)
        assert finding is None or finding.holds is {HOLDS: True, FAILS: False}[claim.expected]


def test_a_claim_without_a_number_and_a_number_without_a_claim_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = known_claims()["fedalign:lemma-a2"]
    astray = replace(claim, statement=replace(claim.statement, equation="eq. (61)"))
    monkeypatch.setattr(statements, "known_claims", lambda: {astray.key: astray})
    found = claims_about.__wrapped__()
    assert ("fedalign", "(61)") in set(found) - ALL
    assert ("fedalign", "(21)") not in found


def test_a_source_in_terms_of_another_paper_cites_that_paper() -> None:
    decaying = known_claims()["fedavg:decaying-steps"].statement
    assert cited(decaying) == {"fedavg": {"Theorem 2"}, "power-of-choice": {"(7)"}}
