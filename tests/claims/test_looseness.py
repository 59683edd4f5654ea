"""Every inequality fails once it is sharper by its looseness, so that its check sees wrong constants from there on.

Where the number is large (the closed forms of Theorem 3.1 and of eq. (85), Lemma B.2) a wrong constant goes unnoticed:
those are verified by their refined forms and by the one-step inequalities, whose numbers are near 1.
"""

import pytest

from fedtheory.verification.catalogue import known_claims, known_tapes
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import HOLDS
from fedtheory.verification.instances import replay
from fedtheory.verification.looseness import LADDER, least_refuted_factor, tightened

CLAIMS = known_claims().values()
INEQUALITIES = [claim for claim in CLAIMS if claim.kind == "inequality" and claim.expected == HOLDS]
EACH = pytest.mark.parametrize("claim", INEQUALITIES, ids=lambda claim: claim.key)
TAPES = known_tapes()


def test_every_inequality_says_how_loose_it_is_and_nothing_else_does() -> None:
    assert [claim.key for claim in INEQUALITIES if claim.looseness not in LADDER] == []
    assert {claim.key for claim in CLAIMS if claim.looseness is not None} == {claim.key for claim in INEQUALITIES}


def test_every_inequality_has_a_tape_of_its_worst_known_instance_and_so_has_what_a_hunt_can_break() -> None:
    broken = {claim.key for claim in CLAIMS if claim.expected != HOLDS and not claim.is_single}
    assert set(TAPES) == {claim.key for claim in INEQUALITIES} | broken


def is_refuted(claim: Claim, factor: float) -> bool:
    return replay(tightened(claim, factor), TAPES[claim.key]).holds is False


@EACH
def test_the_worst_known_instance_refutes_what_is_sharper_by_the_looseness_and_nothing_less(claim: Claim) -> None:
    assert claim.looseness is not None
    assert is_refuted(claim, claim.looseness)
    step = LADDER.index(claim.looseness)
    assert not any(is_refuted(claim, smaller) for smaller in LADDER[:step][-1:])


@pytest.mark.slow
@EACH
def test_no_search_from_the_worst_known_instance_refutes_less(claim: Claim) -> None:
    instances = min(100, claim.instances[1])
    assert least_refuted_factor(claim, instances, start=TAPES[claim.key]) == claim.looseness
