"""Findings and claims: comparisons, ratios, and the required form of a claim."""

import math
import operator
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.bounds import power_of_choice as poc
from fedtheory.statistics.interval import Interval
from fedtheory.theorem.claims import Claim, claim, is_own
from fedtheory.theorem.findings import (
    ROUNDING,
    Finding,
    at_least,
    at_most,
    equal_to,
    mean_at_most,
    not_applicable,
    worst_of,
)
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.verdicts import examine

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")
SMALLEST = Fraction(1, 10**40)
RELATIONS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}


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


@pytest.mark.parametrize(
    "finding",
    [
        at_most(math.inf, 5.0), at_least(5.0, math.inf), at_least(-math.inf, 5), at_most(5, -math.inf),
        equal_to(math.inf, 5.0), equal_to(math.inf, -math.inf), equal_to(math.inf, 5.0, scale=1e300),
    ],
)  # fmt: skip
def test_an_infinite_side_on_the_wrong_side_breaks_the_claim(finding: Finding) -> None:
    assert finding.holds is False
    assert finding.strain == math.inf
    assert not finding.is_finite


@pytest.mark.parametrize(
    "finding",
    [
        at_most(1.0, math.inf), at_least(1.0, -math.inf), at_most(-math.inf, 1.0), at_least(math.inf, 1.0),
        at_most(math.inf, math.inf), equal_to(math.inf, math.inf),
    ],
)  # fmt: skip
def test_an_infinite_bound_decides_nothing(finding: Finding) -> None:
    assert finding.holds is None
    assert finding.reason == "an infinite side decides nothing"
    assert not finding.ratio > 0
    assert finding.strain == -math.inf  # a search must not be drawn to it


def test_the_ratio_exceeds_one_exactly_where_an_inequality_between_positive_numbers_fails() -> None:
    assert at_most(1, 2).ratio == at_least(2, 1).ratio == 0.5
    assert at_most(2, 1).ratio == at_least(1, 2).ratio == 2
    assert at_most(1, 0).ratio == math.inf


def test_an_inequality_between_zeros_strains_nothing_but_an_identity_is_met() -> None:
    assert (at_most(0, 0).ratio, at_most(0, 0).holds) == (0.0, True)
    assert equal_to(0, 0).ratio == 1


@pytest.mark.parametrize(("sign", "ratio"), [(1, math.inf), (-1, -math.inf)])
def test_exact_sides_of_any_size_have_a_ratio(sign: int, ratio: float) -> None:
    huge = 10**400
    assert at_most(sign * huge, 1).ratio == at_most(Fraction(sign * huge), Fraction(1, huge)).ratio == ratio
    assert at_most(sign * huge, 0).ratio == ratio
    assert at_most(1, huge).ratio == 0
    assert at_most(sign * huge, huge).holds


@given(
    st.sampled_from(sorted(RELATIONS)),
    st.fractions(min_value=-2, max_value=2, max_denominator=2),
    st.fractions(min_value=-2, max_value=2, max_denominator=2),
    st.booleans(),
)
def test_a_finding_made_by_hand_is_refused_exactly_if_it_contradicts_its_sides(
    relation: str, measured: Fraction, predicted: Fraction, holds: bool
) -> None:
    if holds == RELATIONS[relation](measured, predicted):
        assert Finding(measured, predicted, relation, holds).holds is holds
    else:
        with pytest.raises(ValueError, match="holds must agree with the sides"):
            Finding(measured, predicted, relation, holds)


def test_what_is_not_applicable_neither_holds_nor_fails() -> None:
    for holds in (True, False):
        with pytest.raises(ValueError, match="holds must agree with the sides, None"):
            Finding(1, 2, "<=", holds, applicable=False)
    unmet = not_applicable("too far apart", x=3)
    assert (unmet.holds, unmet.reason, unmet.instance, unmet.is_finite) == (None, "too far apart", {"x": 3}, False)
    assert math.isnan(unmet.ratio)


@pytest.mark.parametrize(
    ("relation", "on_the_edge", "beyond"),
    [("<=", (1.5,), (1.75, math.inf)), (">=", (0.5,), (0.25, -math.inf)), ("==", (0.5, 1.5), (0.25, 1.75, math.inf))],
)
def test_an_allowance_is_part_of_the_finding_and_includes_its_edge(
    relation: str, on_the_edge: tuple[float, ...], beyond: tuple[float, ...]
) -> None:
    for measured in on_the_edge:
        assert Finding(measured, 1.0, relation, True, slack=0.5).holds
    for measured in beyond:
        assert Finding(measured, 1.0, relation, False, slack=0.5).holds is False
        with pytest.raises(ValueError, match="holds must agree with the sides, False, got True"):
            Finding(measured, 1.0, relation, True, slack=0.5)


def test_inequalities_have_no_absolute_slack() -> None:
    assert at_most(1e-12, 0.0).holds is False
    assert at_least(0.0, 1e-12).holds is False
    assert equal_to(1e-12, 0.0).holds is False


def test_a_failure_strains_as_much_as_its_ratio_says_or_without_end() -> None:
    assert (at_most(3, 2).strain, at_least(2, 3).strain, equal_to(3, 2).strain) == (1.5, 1.5, 0.5)
    assert at_most(2, -1).strain == at_least(-1, 2).strain == math.inf
    # Of negative sides the ratio is turned over: at most -2 is broken by -1 and not by -4.
    assert (at_most(-1, -2).strain, at_most(-4, -2).strain, at_least(-4, -2).strain) == (2.0, 0.5, 2.0)
    assert at_most(1 + SMALLEST, 1).strain == math.inf  # as a float the ratio is 1, as if it were attained


def test_the_worst_finding_is_a_failure_then_the_most_strained_then_an_applicable_one() -> None:
    # A failure between numbers of different sign has a ratio below 1 and still comes first.
    failure, tight, loose = at_most(1, -2), at_most(99, 100), at_most(1, 100)
    assert worst_of([tight, failure, loose]) is failure
    assert worst_of([loose, tight, not_applicable()]) is tight
    assert worst_of([not_applicable(), loose]) is loose
    undecided = at_most(1.0, math.inf)
    assert worst_of([tight, undecided, not_applicable()]) is undecided
    assert worst_of([undecided, failure]) is failure


def test_a_claim_assumes_what_its_bound_does_unless_it_says_otherwise() -> None:
    make = partial(Claim, "toy:theorem-0", "one is one", STATEMENT, "identity", lambda rng: equal_to(1, 1))
    assumed = make(bound=poc.gradient_norm).hypotheses
    assert assumed == tuple(hypothesis.text for hypothesis in poc.gradient_norm.hypotheses)
    assert assumed
    assert make(bound=poc.gradient_norm, hypotheses=("my own",)).hypotheses == ("my own",)
    assert make().hypotheses == ()


def test_a_baseline_changes_what_is_measured_and_no_verdict() -> None:
    shared = Fraction(10**30)
    for new, bound in ((-1, -2), (-2, -1), (-1, 2), (3, 2), (2, 3), (2, -1), (-2, -2)):
        plain, based = at_most(new, bound), at_most(shared + new, shared + bound, baseline=shared)
        assert (based.holds, based.ratio, based.strain) == (plain.holds, plain.ratio, plain.strain)
        other = at_least(shared + bound, shared + new, baseline=shared)
        assert (other.holds, other.strain) == (plain.holds, plain.strain)
    assert at_most(shared + Fraction(1, 10**9), shared, baseline=shared).holds is False
    assert at_most(99, 98).ratio < 1.02
    assert at_most(99, 98, baseline=100).ratio == 2


def test_a_check_that_draws_nothing_is_made_once_and_stays_its_author_s() -> None:
    calls = list[int]()

    @claim("toy:three", "2 + 1 <= 2", STATEMENT, "refuted conjecture")
    def three() -> Finding:
        calls.append(1)
        return at_most(2 + 1, 2)

    verdict = examine(three)
    assert (three.is_single, verdict.num_instances, len(calls)) == (True, 1, 1)
    assert verdict.as_expected
    assert is_own(three)  # told by where the check was written


def test_a_decision_is_taken_on_the_unfavorable_side() -> None:
    assert mean_at_most(Interval(0.9, 1.0), 1.0, confidence=0.9).holds is True
    assert mean_at_most(Interval(0.9, 1.1), 1.0, confidence=0.9).holds is None
    assert mean_at_most(Interval(1.0, 1.1), 1.0, confidence=0.9).holds is None
    assert mean_at_most(Interval(1.01, 1.1), 1.0, confidence=0.9).holds is False
    assert mean_at_most(Interval(2.0, 3.0), 1.0, confidence=0.9).measured == 2.0
    assert mean_at_most(Interval(0.0, 0.5), 1.0, confidence=0.9).measured == 0.5
    open_question = mean_at_most(Interval(0.0, 2.0), 1.0, confidence=0.9, instance={"x": 7})
    assert open_question.reason == "the bound 1 is between the limits 0 and 2"
    assert open_question.instance == {"x": 7}


def test_an_infinite_bound_on_a_mean_decides_nothing() -> None:
    assert mean_at_most(Interval(0.0, 1.0), math.inf, confidence=0.9).holds is None
    assert mean_at_most(Interval(0.0, math.inf), math.inf, confidence=0.9).holds is None
