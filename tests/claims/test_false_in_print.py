"""The table of the four papers has all their errata, ranked, with a counterexample for each."""

from importlib import import_module

import pytest

from fedtheory.claims.catalogue import known_claims
from tests.environment import ROOT

with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(ROOT / "docs")  # whose files import each other
    page = import_module("false_in_print")
ERRATA = [claim for claim in known_claims().values() if claim.kind == "erratum" and claim.key not in page.ENTRIES]


def test_what_is_ranked_is_an_erratum() -> None:
    kinds = page.WRONG_AS.values()
    ranked = {f"{paper}:{name}" for papers in kinds for paper, names in papers.items() for name in names.split()}
    assert ranked <= {claim.key for claim in ERRATA}


def test_each_erratum_has_a_line_with_an_instance_that_breaks_it_and_the_heaviest_come_first() -> None:
    found = page.errata()
    assert {claim.key for claim, _ in found} == {claim.key for claim in ERRATA}
    assert {row["verdict"] for _, row in found} == {"fails"}
    places = [page.KINDS.index(page.kind_of(claim)) for claim, _ in found]
    assert places == sorted(places)
    lines = [line for line in page.table().splitlines() if line.startswith("| ")]
    kinds = {page.kind_of(claim) for claim in ERRATA}
    assert len(lines) == 2 * len(kinds) + len(ERRATA)
