"""Every inequality fails once it is tightened by its looseness, so its check detects larger errors of constants.

If the looseness is large (the closed forms of Theorem 3.1 and of eq. (85), Lemma B.2), a wrong constant is not
detected. These bounds are verified by their refined forms and by the one-step inequalities, whose looseness is about 1.
"""

import pytest

from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import HOLDS
from fedtheory.verification.instances import regression_examples, replay
from tests.claims.tightening import LADDER, least_refuted_factor, tightened
from tests.environment import thinned

CLAIMS = known_claims().values()
INEQUALITIES = [claim for claim in CLAIMS if claim.kind == "inequality" and claim.expected == HOLDS]
EACH = pytest.mark.parametrize("claim", INEQUALITIES, ids=lambda claim: claim.key)
EXAMPLES = regression_examples()
STRAINED = [claim for claim in INEQUALITIES if claim.key in EXAMPLES]


@EACH
def test_an_inequality_says_how_loose_it_is_and_has_a_regression_example(claim: Claim) -> None:
    if claim.looseness is None:
        pytest.skip(f"{claim.key} does not say how loose it is: looseness=")
    if claim.key not in EXAMPLES:
        pytest.skip(f"{claim.key} has no regression example: `python -m tests.claims.regression_examples {claim.key}`")
    assert claim.looseness in LADDER


def test_nothing_else_is_loose_and_examples_are_of_inequalities_and_of_what_a_hunt_can_break() -> None:
    inequalities = {claim.key for claim in INEQUALITIES}
    assert {claim.key for claim in CLAIMS if claim.looseness is not None} <= inequalities
    broken = {claim.key for claim in CLAIMS if claim.expected != HOLDS and not claim.is_single}
    assert set(EXAMPLES) <= inequalities | broken


def is_refuted(claim: Claim, factor: float) -> bool:
    return replay(tightened(claim, factor), EXAMPLES[claim.key]).holds is False


@pytest.mark.parametrize("claim", STRAINED, ids=lambda claim: claim.key)
def test_the_worst_known_instance_refutes_what_is_sharper_by_the_looseness_and_nothing_less(claim: Claim) -> None:
    assert claim.looseness is not None
    assert is_refuted(claim, claim.looseness)
    step = LADDER.index(claim.looseness)
    assert not any(is_refuted(claim, smaller) for smaller in LADDER[:step][-1:])


@pytest.mark.slow
@pytest.mark.parametrize("claim", thinned(STRAINED, 18), ids=lambda claim: claim.key)
def test_no_search_from_the_worst_known_instance_refutes_less(claim: Claim) -> None:
    instances = min(100, claim.instances[1])
    assert least_refuted_factor(claim, instances, start=EXAMPLES[claim.key]) == claim.looseness
