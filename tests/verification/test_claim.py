"""Findings and claims: comparisons, ratios and what a claim must look like."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.paper import Paper, Statement
from fedtheory.verification.claim import (
    ROUNDING,
    Claim,
    at_least,
    at_most,
    equal_to,
    not_applicable,
    worst_of,
)

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")
SMALLEST = Fraction(1, 10**40)


@given(st.fractions(min_value=-5, max_value=5))
def test_exact_comparisons_have_no_tolerance(bound: Fraction) -> None:
    assert at_most(bound, bound).holds
    assert not at_most(bound + SMALLEST, bound).holds
    assert not at_least(bound - SMALLEST, bound).holds
    assert not equal_to(bound + SMALLEST, bound).holds


def test_floating_comparisons_forgive_rounding_and_nothing_more() -> None:
    assert at_most(1 + ROUNDING / 2, 1.0).holds
    assert not at_most(1 + 2 * ROUNDING, 1.0).holds
    assert equal_to(-1.0, -1.0 - ROUNDING / 2).holds
    assert at_most(1.0, 1).side == "floating point"
    assert at_most(1, Fraction(3, 2)).side == "exact"


def test_an_infinite_bound_holds_with_ratio_zero() -> None:
    finding = at_most(1.0, math.inf)
    assert (finding.holds, finding.ratio) == (True, 0.0)
    assert at_most(math.inf, math.inf).holds


def test_a_nan_is_no_side_of_a_comparison() -> None:
    with pytest.raises(ValueError, match="both sides of a comparison must be numbers"):
        at_most(math.nan, 1.0)


def test_the_ratio_exceeds_one_exactly_where_an_inequality_between_positive_numbers_fails() -> None:
    assert at_most(1, 2).ratio == at_least(2, 1).ratio == 0.5
    assert at_most(2, 1).ratio == at_least(1, 2).ratio == 2
    assert at_most(1, 0).ratio == math.inf


def test_an_inequality_between_zeros_strains_nothing_but_an_identity_is_met() -> None:
    assert (at_most(0, 0).ratio, at_most(0, 0).holds) == (0.0, True)
    assert equal_to(0, 0).ratio == 1


def test_an_identity_is_strained_from_both_sides() -> None:
    assert equal_to(Fraction(9, 10), 1).strain == pytest.approx(equal_to(Fraction(11, 10), 1).strain)
    assert equal_to(1, 1).strain == 0


def test_the_worst_finding_is_a_failure_then_the_most_strained_then_an_applicable_one() -> None:
    # A failure between numbers of different sign has a ratio below 1 and still comes first.
    failure, tight, loose = at_most(1, -2), at_most(99, 100), at_most(1, 100)
    assert worst_of([tight, failure, loose]) is failure
    assert worst_of([loose, tight, not_applicable()]) is tight
    assert worst_of([not_applicable(), loose]) is loose


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": "No Key"}, "key must look like"),
        ({"kind": "guess"}, "kind must be one of"),
        ({"expected": "inconclusive"}, "expected must be"),
        ({"instances": (0, 1)}, "instances must be at least 1"),
    ],
)
def test_a_malformed_claim_is_refused(changes: dict[str, object], message: str) -> None:
    sound = Claim("toy:theorem-0", "one is one", STATEMENT, "identity", lambda rng: equal_to(1, 1))
    with pytest.raises(ValueError, match=message):
        replace(sound, **changes)  # type: ignore[arg-type]
