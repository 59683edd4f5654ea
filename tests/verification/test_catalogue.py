"""Claims and bounds are found by scanning, and selected by keys, prefixes and patterns."""

from fedtheory import bounds
from fedtheory.bounds import power_of_choice
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims.catalogue import known_claims, select_claims


def test_a_key_names_one_claim_even_if_it_begins_other_keys() -> None:
    assert [claim.key for claim in select_claims("power-of-choice:lemma-b2")] == ["power-of-choice:lemma-b2"]
    assert "power-of-choice:lemma-b2-refined" in known_claims()


def test_prefixes_and_patterns_name_several_claims_once_each() -> None:
    prefix = {claim.key for claim in select_claims("power-of-choice:lemma-")}
    pattern = {claim.key for claim in select_claims("*:lemma-*")}
    both = [claim.key for claim in select_claims(["power-of-choice:lemma-", "*:lemma-*"])]
    assert prefix <= pattern
    assert len(both) == len(set(both)) == len(pattern)
    assert len(select_claims(None)) == len(known_claims())


def test_a_bound_goes_by_the_name_by_which_it_is_reached() -> None:
    found = known_bounds()
    assert found["power_of_choice.one_step"] is power_of_choice.one_step
    assert len({id(bound) for bound in found.values()}) == len(found) > 40
    for name, bound in found.items():
        paper, function = name.split(".")
        assert getattr(getattr(bounds, paper), function) is bound


def test_every_bound_of_a_claim_is_in_the_catalogue_itself_or_as_a_printed_form() -> None:
    offered = {form for bound in known_bounds().values() for form in (bound, bound.printed)}
    assert {claim.bound for claim in known_claims().values() if claim.bound is not None} <= offered


def test_each_bound_with_a_worst_case_has_a_claim_about_it() -> None:
    bound_of = {key: claim.bound for key, claim in known_claims().items() if key.endswith("-worst-case")}
    expected = [bound for bound in known_bounds().values() if bound.worst_case is not None]
    assert sorted(map(id, bound_of.values())) == sorted(map(id, expected))
