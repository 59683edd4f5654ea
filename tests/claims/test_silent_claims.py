"""A claim neither holds nor fails if a hypothesis fails."""

import pytest

from fedtheory.claims.catalogue import known_claims
from fedtheory.verification.instances import replay

CLAIMS = known_claims()
# On choices of zeros clients are drawn that are all alike, and begin where they end.
SILENT_ON_ZEROS = {
    "fedavg:unit-skew": "",
    "optimal-client-sampling:remark-14-uniform": "all updates are zero",
    "optimal-client-sampling:improvement-zero": "",
    "optimal-client-sampling:improvement-one": "",
    "optimal-client-sampling:improvement-shorthand": "",
    "power-of-choice:equations-77-78": "the objective gap is 0",
    "power-of-choice:rho-bar-as-printed": "the skew is 0/0 at a common minimizer",
    "power-of-choice:skew-order": "",
}


@pytest.mark.parametrize(("key", "reason"), SILENT_ON_ZEROS.items())
def test_where_all_clients_are_alike_some_claims_do_not_apply(key: str, reason: str) -> None:
    found = replay(CLAIMS[key], [0.0] * 400)
    assert (found.applicable, found.holds, found.reason) == (False, None, reason)
