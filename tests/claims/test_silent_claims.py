"""A claim neither holds nor fails if a hypothesis fails or nothing is proved."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory import worst_case
from fedtheory.claims import _comparisons
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.power_of_choice import whole_rounds
from fedtheory.errors import OracleError
from fedtheory.instances.observed import Skews
from fedtheory.theorem.claims import Claim
from fedtheory.verification.instances import replay

CLAIMS = known_claims()
# On choices of zeros clients are drawn that are all alike, and begin where they end.
SILENT_ON_ZEROS = {
    "fedavg:unit-skew": "",
    "optimal-client-sampling:remark-14-uniform": "all updates are zero",
    "optimal-client-sampling:improvement-zero": "",
    "optimal-client-sampling:improvement-one": "",
    "optimal-client-sampling:improvement-shorthand": "",
    "optimal-client-sampling:closed-form-solver": "norms too far apart for a solver",
    "optimal-client-sampling:closed-form-moves": "",
    "power-of-choice:equations-77-78": "the objective gap is 0",
    "power-of-choice:rho-bar-as-printed": "the skew is 0/0 at a common minimizer",
    "power-of-choice:skew-order": "",
}


def says_nothing(claim: Claim, reason: str = "") -> bool:
    found = replay(claim, [0.0] * 400)
    return (found.applicable, found.holds, found.reason) == (False, None, reason)


@pytest.mark.parametrize(("key", "reason"), SILENT_ON_ZEROS.items())
def test_where_all_clients_are_alike_some_claims_do_not_apply(key: str, reason: str) -> None:
    assert says_nothing(CLAIMS[key], reason)


def test_where_no_worst_case_is_proved_there_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    def unproved(*_: Any) -> Any:
        message = "the solver stalled"
        raise OracleError(message)

    monkeypatch.setattr(worst_case, "compared", unproved)
    assert says_nothing(
        CLAIMS["optimal-client-sampling:dsgd-contraction-worst-case"],
        "the worst case was not proved: the solver stalled",
    )


@pytest.mark.parametrize("key", ["theorem-3.1", "theorem-3.1-refined", "equation-85"])
def test_a_theorem_that_divides_by_the_skew_says_nothing_where_it_is_zero(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_comparisons, "observed_skews", lambda _: Skews(Fraction(0), Fraction(1), Fraction(0)))
    assert says_nothing(CLAIMS[f"power-of-choice:{key}"])


def test_after_whole_rounds_a_skew_of_zero_counts_as_a_thousandth(monkeypatch: pytest.MonkeyPatch) -> None:
    thousandth, predicted = Fraction(1, 1000), []
    for size in (Fraction(0), thousandth):
        observed = Skews(size, thousandth, size)
        monkeypatch.setattr(whole_rounds, "observed_skews", lambda _, observed=observed: observed)
        predicted.append(whole_rounds.averaged_rounds_gap.check(np.random.default_rng(0)).predicted)
    assert predicted[0] == predicted[1]
