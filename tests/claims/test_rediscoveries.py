"""Searches that use only the hypotheses find counterexamples to the printed errata."""

from fractions import Fraction

import pytest

from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.findings import Finding
from fedtheory.verification.hunts import hunt
from fedtheory.verification.instances import regression_examples, replay

CLAIMS = known_claims()
DRAWN = sorted(key for key, claim in CLAIMS.items() if claim.expected == "fails" and not claim.is_single)
# Three times what the slowest of the seeds 0 to 5 needs, or more.
BUDGETS = {
    "fedalign:theorem-1-as-printed": 300,
    "optimal-client-sampling:approximate-unrescaled-as-stated": 200,
    "optimal-client-sampling:theorem-13-per-client-as-stated": 500,
    "power-of-choice:candidates-equal-selected-as-printed": 50,
    "power-of-choice:equation-81-as-printed": 200,
    "power-of-choice:equation-85-as-printed": 1500,
    "power-of-choice:rho-bar-as-printed": 50,
}
LONG = [key for key, evaluations in BUDGETS.items() if evaluations >= 500]


def test_the_list_names_claims_that_there_are() -> None:
    assert set(BUDGETS) <= set(DRAWN)


@pytest.mark.parametrize("key", sorted(set(DRAWN) - set(LONG)))
def test_a_hunt_breaks_what_is_false_as_printed(key: str) -> None:
    if key not in BUDGETS:
        pytest.skip(f"{key} has no budget for a hunt among BUDGETS")
    found = hunt(key, evaluations=BUDGETS[key], small=False)
    assert found.worst.holds is False
    assert found.worst.is_finite


@pytest.mark.slow
@pytest.mark.parametrize("key", LONG)
def test_a_longer_hunt_breaks_what_is_false_as_printed(key: str) -> None:
    """Ten seconds of processor time."""
    assert hunt(key, evaluations=BUDGETS[key], small=False).worst.holds is False


def stored(key: str) -> Finding:
    return replay(CLAIMS[key], regression_examples()[key])


@pytest.mark.parametrize("key", DRAWN)
def test_a_stored_counterexample_is_exact_and_small(key: str) -> None:
    if key not in regression_examples():
        pytest.skip(f"{key} has no regression example: `python -m tests.claims.regression_examples {key}`")
    worst = stored(key)
    assert (worst.holds, worst.side) == (False, "exact")
    if "weights" in worst.instance:
        assert worst.instance["weights"].count(",") == 1  # two clients
        assert "," not in worst.instance["centers"].replace("), (", "")  # one dimension


def test_two_clients_drawn_together_have_equal_shares() -> None:
    # p = (1/3, 2/3), both are drawn, and each has the weight 1/2.
    worst = stored("power-of-choice:candidates-equal-selected-as-printed")
    assert {worst.measured, worst.predicted} == {Fraction(1, 2), Fraction(1, 3)}


def test_the_skew_vanishes_at_the_optimum_of_the_selected_client() -> None:
    assert stored("power-of-choice:rho-bar-as-printed").measured == 0
