"""The table of the four papers has all their errata, ranked, with a counterexample for each."""

from importlib import import_module

import pytest

from fedtheory.claims.catalogue import known_claims
from tests.environment import ROOT

with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(ROOT / "docs")  # whose files import each other
    page = import_module("false_in_print")
ERRATA = [claim for claim in known_claims().values() if claim.kind == "erratum" and claim.key not in page.ENTRIES]


@pytest.mark.parametrize("claim", ERRATA, ids=lambda claim: claim.key)
def test_an_erratum_is_ranked(claim) -> None:
    kind = page.kind_of(claim)
    if kind == page.NEW:
        pytest.skip(f"docs/false_in_print.py does not say as what {claim.key} is wrong")
    assert page.kind_of(claim) in page.WRONG_AS


def test_what_is_ranked_is_an_erratum() -> None:
    ranked = [
        f"{paper}:{name}"
        for kinds in page.WRONG_AS.values()
        for paper, names in kinds.items()
        for name in names.split()
    ]
    assert sorted(ranked) == sorted(set(ranked) & {claim.key for claim in ERRATA})


@pytest.mark.slow
def test_each_erratum_has_a_line_with_an_instance_that_breaks_it_and_the_heaviest_come_first() -> None:
    found = page.errata()
    assert {claim.key for claim, _ in found} == {claim.key for claim in ERRATA}
    assert not any(finding.holds for _, finding in found)
    places = [page.KINDS.index(page.kind_of(claim)) for claim, _ in found]
    assert places == sorted(places)
    assert len(page.table().splitlines()) == 2 + len(ERRATA)


def test_an_erratum_that_nobody_ranked_stands_last(monkeypatch: pytest.MonkeyPatch) -> None:
    heaviest = next(claim for claim in ERRATA if page.kind_of(claim) == page.THEOREM)
    monkeypatch.setattr(page, "WRONG_AS", {})
    assert page.kind_of(heaviest) == page.NEW


def test_it_is_one_click_from_the_first_page() -> None:
    assert "(theory/false_in_print.md)" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
