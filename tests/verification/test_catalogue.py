"""Claims and bounds are found by scanning, and selected by keys, prefixes and patterns."""

import types

import pytest

from fedtheory import bounds, claims
from fedtheory._support.wording import suggest
from fedtheory.bounds import power_of_choice
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims import catalogue
from fedtheory.claims.catalogue import known_claims, select_claims
from fedtheory.claims.power_of_choice import appendix_b


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


def test_an_unknown_key_is_refused_with_close_ones() -> None:
    with pytest.raises(ValueError, match=r"got 'power-of-choice:lema-b1' \(close: power-of-choice:lemma-b1"):
        select_claims("power-of-choice:lema-b1")


def test_three_letters_within_a_name_are_close_to_it_and_two_are_not() -> None:
    names = ["a-long-name-with-gap-inside"]
    assert suggest("gap", names) == " (close: a-long-name-with-gap-inside)"
    assert suggest("ga", names) == ""


def test_two_claims_with_one_key_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(package: types.ModuleType, accept: object) -> object:
        assert package is claims
        from dataclasses import replace

        return iter([("a", appendix_b.lemma_b1), ("b", replace(appendix_b.lemma_b1, title="another"))])

    monkeypatch.setattr(catalogue, "members", twice)
    with pytest.raises(ValueError, match="claim keys must be unique, got 'power-of-choice:lemma-b1' twice"):
        known_claims()


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


def test_a_full_key_finds_the_claim_of_the_catalogue_without_reading_other_papers() -> None:
    for key in ("fedavg:lemma-4", "power-of-choice:theorem-3.1", "sgd:drawn-step-worst-case"):
        assert catalogue._with_that_key(key) is known_claims()[key]
    assert catalogue._with_that_key("sgd:no-such-claim") is None
    assert catalogue._with_that_key("recursion:no-such-claim") is None


def test_each_bound_with_a_worst_case_has_a_claim_about_it() -> None:
    bound_of = {key: claim.bound for key, claim in known_claims().items() if key.endswith("-worst-case")}
    expected = [bound for bound in known_bounds().values() if bound.worst_case is not None]
    assert sorted(map(id, bound_of.values())) == sorted(map(id, expected))
