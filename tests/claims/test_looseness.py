"""Every inequality fails once it is sharper by its looseness, so that its check sees wrong constants from there on.

Where the number is large (the closed forms of Theorem 3.1 and of eq. (85), Lemma B.2) a wrong constant goes unnoticed:
those are verified by their refined forms and by the one-step inequalities, whose numbers are near 1.
"""

import pytest

from fedtheory.verification.catalogue import known_claims
from fedtheory.verification.claims import Claim
from fedtheory.verification.counterexamples import search
from fedtheory.verification.findings import HOLDS
from fedtheory.verification.looseness import LADDER, least_refuted_factor, most_instances, tightened

CLAIMS = known_claims().values()
INEQUALITIES = [
    claim for claim in CLAIMS if claim.kind == "inequality" and claim.expected == HOLDS and not claim.is_single
]
EACH = pytest.mark.parametrize("claim", INEQUALITIES, ids=lambda claim: claim.key)


def test_every_inequality_says_how_loose_it_is_and_nothing_else_does() -> None:
    assert [claim.key for claim in INEQUALITIES if claim.looseness not in LADDER] == []
    assert {claim.key for claim in CLAIMS if claim.looseness is not None} == {claim.key for claim in INEQUALITIES}


@EACH
def test_an_inequality_is_refuted_once_it_is_sharper_by_its_looseness(claim: Claim) -> None:
    assert claim.looseness is not None
    assert search(tightened(claim, claim.looseness), most_instances(claim)).worst.holds is False


@pytest.mark.slow
@EACH
def test_no_smaller_factor_of_the_ladder_is_refuted(claim: Claim) -> None:
    assert least_refuted_factor(claim) == claim.looseness
