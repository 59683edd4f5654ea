"""Every inequality fails once it is tightened by its looseness, so its check detects larger errors of constants.

If the looseness is large (the closed forms of Theorem 3.1 and of eq. (85), Lemma B.2), a wrong constant is not
detected. These bounds are verified by their refined forms and by the one-step inequalities, whose looseness is about 1.
"""

import pytest

from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import HOLDS
from fedtheory.verification.instances import regression_examples, replay
from tests.claims.tightening import LADDER, tightened

CLAIMS = known_claims().values()
INEQUALITIES = [claim for claim in CLAIMS if claim.kind == "inequality" and claim.expected == HOLDS]
EXAMPLES = regression_examples()
STRAINED = [claim for claim in INEQUALITIES if claim.key in EXAMPLES]


def is_refuted(claim: Claim, factor: float) -> bool:
    return replay(tightened(claim, factor), EXAMPLES[claim.key]).holds is False


@pytest.mark.parametrize("claim", STRAINED, ids=lambda claim: claim.key)
def test_the_worst_known_instance_refutes_what_is_sharper_by_the_looseness_and_nothing_less(claim: Claim) -> None:
    assert claim.looseness is not None
    assert is_refuted(claim, claim.looseness)
    step = LADDER.index(claim.looseness)
    assert not any(is_refuted(claim, smaller) for smaller in LADDER[:step][-1:])
