"""The score of an instance, on which a search climbs."""

from fedtheory.theorem.findings import at_most, equal_to
from fedtheory.verification._search import score


def test_of_two_identities_the_one_that_is_off_by_more_of_its_slack_is_higher() -> None:
    # A quarter of 3 and a quarter of 60 are allowed for; the ratios are a third and a sixth.
    assert score(equal_to(1.0, 3.0, rtol=0.25)) == 2 / 0.75
    assert score(equal_to(10.0, 60.0, rtol=0.25)) == 50 / 15
    assert score(at_most(1.0, 4.0)) == 0.25
