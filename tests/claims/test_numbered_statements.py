"""Every numbered statement of the papers has a claim or a reason, and claims cite existing numbers only."""

from dataclasses import replace

import pytest

from docs import statements
from docs.statements import PAPERS, cited, claims_about, numbered, numbers_in, row
from fedtheory.claims.catalogue import known_claims

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


@pytest.mark.parametrize("paper", PAPERS)
def test_the_list_has_every_equation_of_the_paper_once(paper: str) -> None:
    numbers = [at.number for at in numbered(paper)]
    assert len(numbers) == len(set(numbers))
    equations = [number for number in numbers if number.startswith("(")]
    assert equations == [f"({n})" for n in range(1, LAST_EQUATION.get(paper, 0) + 1)]


def test_a_line_of_the_page_says_number_words_claim_verdict_and_ratio() -> None:
    (lemma,) = (at for at in numbered("power-of-choice") if at.number == "Lemma B.1")
    lines = list(row(lemma, "power-of-choice"))
    assert lines[0].startswith("| Lemma B.1 | holds | ")
    assert f"| {lemma.words} | `" in lines[0]
    # A parabola attains it.
    assert any("| holds | 1 | " in line and line.endswith("`power-of-choice:lemma-b1` |") for line in lines)


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("Appendix C, eqs. (10), (13)-(15)", {"(10)", "(13)", "(14)", "(15)"}),
        ("Theorems 13 and 15", {"Theorem 13", "Theorem 15"}),
        ("Lemmas 1 to 3, footnote 1", {"Footnote 1", "Lemma 1", "Lemma 2", "Lemma 3"}),
        ("Assumptions 3.1 to 3.3", {"Assumption 3.1", "Assumption 3.2", "Assumption 3.3"}),
        ("Lemma A.4, eq. (26), (a)", {"(26)", "Lemma A.4"}),
    ],
)
def test_numbers_are_read_off_a_source(source: str, numbers: set[str]) -> None:
    assert numbers_in(source) == numbers


def test_a_claim_without_a_number_and_a_number_without_a_claim_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = known_claims()["fedalign:lemma-a2"]
    astray = replace(claim, statement=replace(claim.statement, equation="eq. (61)"))
    monkeypatch.setattr(statements, "known_claims", lambda: {astray.key: astray})
    found = claims_about.__wrapped__()
    assert ("fedalign", "(61)") in set(found) - ALL
    assert ("fedalign", "(21)") not in found


def test_a_result_of_this_project_cites_the_number_of_the_related_statement() -> None:
    decaying = known_claims()["fedavg:decaying-steps"].statement
    assert cited(decaying) == {"Theorem 2"}
    assert decaying.topic.key == "fedavg"
