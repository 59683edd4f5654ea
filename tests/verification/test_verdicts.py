"""The five verdicts, and instances that can be drawn again."""

import math
import time
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.statistics.interval import Interval
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.catalogue import known_claims
from fedtheory.verification.claims import STORED, Claim, known_tapes, replay, reproduce
from fedtheory.verification.findings import Finding, at_most, mean_at_most, not_applicable
from fedtheory.verification.verdicts import examine, verdicts_of, verify

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")
Check = Callable[[np.random.Generator], Finding]


def claim(check: Check, key: str = "toy:theorem", **more: object) -> Claim:
    return Claim(key, "a toy", STATEMENT, "inequality", check, **{"instances": (20, 50), **more})  # type: ignore[arg-type]


def die(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 7))


def at_most_five(rng: np.random.Generator) -> Finding:
    thrown = die(rng)
    return at_most(thrown, 5, instance={"thrown": thrown})


def at_most_six(rng: np.random.Generator) -> Finding:
    return at_most(die(rng), 6)


def never(rng: np.random.Generator) -> Finding:
    return not_applicable(thrown=die(rng))


def undecided(rng: np.random.Generator) -> Finding:
    return mean_at_most(Interval(0.0, float(die(rng))), 3.0, confidence=0.999)


def odd_only(rng: np.random.Generator) -> Finding:
    thrown = die(rng)
    return at_most(thrown, 5) if thrown % 2 else not_applicable(thrown=thrown)


def broken(rng: np.random.Generator) -> Finding:
    return at_most(die(rng), 6 // 0)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (at_most_six, "holds"),
        (at_most_five, "fails"),
        (never, "not applicable"),
        (undecided, "inconclusive"),
        (odd_only, "holds"),
        (broken, "error"),
    ],
)
def test_every_verdict_can_be_reached(check: Check, verdict: str) -> None:
    assert examine(claim(check)).verdict == verdict


def test_one_failure_outweighs_everything_else() -> None:
    def mixed(rng: np.random.Generator) -> Finding:
        return (at_most_five if die(rng) == 1 else undecided)(rng)

    assert examine(claim(mixed), 300).verdict == "fails"


def cycle(findings: list[Finding]) -> Check:
    """A check that returns these findings in turn, whatever it is given."""
    left = iter(findings * 100)
    return lambda rng: next(left)


HOLDING, UNMET, UNDECIDED, FAILING = at_most(1, 2), not_applicable("too rare"), at_most(1.0, math.inf), at_most(3, 2)


@pytest.mark.parametrize(("num_applicable", "verdict"), [(1, "inconclusive"), (4, "inconclusive"), (5, "holds")])
def test_a_claim_that_rarely_applies_is_not_said_to_hold(num_applicable: int, verdict: str) -> None:
    # Of 20 instances at least 20/4 = 5 must count.
    found = examine(claim(cycle([HOLDING] * num_applicable + [UNMET] * (20 - num_applicable))), 20)
    assert (found.verdict, found.num_applicable, found.num_instances) == (verdict, num_applicable, 20)
    rare = f"the hypotheses hold on {num_applicable} of 20 instances, at least 5 must count"
    assert found.reason == (rare if verdict == "inconclusive" else "")


def test_the_least_share_of_a_few_instances_is_rounded_up() -> None:
    assert examine(claim(cycle([UNMET, HOLDING, UNMET])), 3).verdict == "holds"
    assert examine(claim(cycle([UNMET, HOLDING, UNMET, UNMET, UNMET])), 5).verdict == "inconclusive"


def test_a_stored_instance_is_tried_last_and_has_the_number_minus_one() -> None:
    def larger(rng: np.random.Generator) -> Finding:
        return at_most(rng.random(), 2)

    found = examine(claim(larger), 5, tape=[0.999999])
    assert (found.worst_index, found.num_instances, found.num_applicable) == (STORED, 6, 6)
    assert found.worst.measured == 0.999999
    assert examine(claim(larger), 5).worst_index >= 0
    assert examine(claim(larger), 5, tape=[0.0]).worst_index >= 0
    with pytest.raises(ValueError, match="claim must be one whose worst instance is stored, got"):
        reproduce(claim(larger), 0, STORED)


def test_a_stored_instance_that_raises_is_an_error_with_its_number() -> None:
    def sometimes(rng: np.random.Generator) -> Finding:
        return at_most(1, 1 / (rng.random() - 0.5) ** 2)

    found = examine(claim(sometimes), 2, tape=[0.5])
    assert (found.verdict, found.worst_index, found.num_instances) == ("error", STORED, 3)


def test_verdicts_replay_the_stored_instances_of_the_package() -> None:
    key = "power-of-choice:lemma-b3"
    (found,) = verify(key)
    assert found.num_instances == known_claims()[key].instances[0] + 1
    again = reproduce(known_claims()[key], 0, STORED)
    assert again == replay(known_claims()[key], known_tapes()[key])
    assert found.worst_ratio >= again.ratio


def test_a_single_applicable_instance_refutes() -> None:
    assert examine(claim(cycle([UNMET] * 19 + [FAILING])), 20).verdict == "fails"


def test_a_bound_that_is_always_infinite_is_inconclusive_and_says_why() -> None:
    found = examine(claim(cycle([UNDECIDED])), 20)
    assert (found.verdict, found.reason) == (
        "inconclusive",
        "20 of 20 instances decide nothing: an infinite side says nothing",
    )
    assert math.isnan(found.worst_ratio)


def test_one_undecided_instance_is_enough_to_be_inconclusive() -> None:
    found = examine(claim(cycle([HOLDING] * 19 + [UNDECIDED])), 20)
    assert found.reason == "1 of 20 instances decide nothing: an infinite side says nothing"
    assert (found.verdict, found.worst, found.worst_index) == ("inconclusive", UNDECIDED, 19)


def test_hypotheses_that_never_hold_are_not_applicable_and_say_why() -> None:
    found = examine(claim(cycle([UNMET])), 20)
    assert found.reason == "the hypotheses hold on none of 20 instances: too rare"


def test_a_check_that_raises_gives_an_error_and_the_others_their_verdicts() -> None:
    checks = {"toy:first": at_most_six, "toy:second": broken, "toy:third": at_most_five}
    found = list(verdicts_of([claim(check, key) for key, check in checks.items()]))
    assert [verdict.verdict for verdict in found] == ["holds", "error", "fails"]
    assert found[1].reason.startswith("ZeroDivisionError: ")
    assert not found[1].as_expected


def test_the_instance_that_raised_is_named_and_raises_again() -> None:
    def sometimes(rng: np.random.Generator) -> Finding:
        if die(rng) == 6:
            raise LookupError
        return HOLDING

    found = examine(claim(sometimes), 60)
    assert (found.verdict, found.reason) == ("error", "LookupError")
    assert found.num_instances == found.worst_index + 1 == found.num_applicable + 1
    with pytest.raises(LookupError):
        reproduce(claim(sometimes), 0, found.worst_index)


def test_an_error_outweighs_a_failure() -> None:
    # A check that cannot be carried out is not to be trusted where it did say something.
    def flaky(rng: np.random.Generator) -> Finding:
        if die(rng) == 6:
            raise LookupError
        return FAILING

    assert examine(claim(flaky, expected="fails"), 60).verdict == "error"


def garbage(value: object) -> Check:
    return lambda rng: value  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (broken, "error"),
        (lambda rng: at_most(math.nan, 1.0), "error"),
        (lambda rng: Finding(1, 9, "<=", False), "error"),
        (garbage(False), "error"),
        (garbage(None), "error"),
        (never, "not applicable"),
        (undecided, "inconclusive"),
        (lambda rng: at_most(math.inf, 1.0), "fails"),
    ],
)
def test_an_erratum_whose_check_yields_garbage_is_not_as_expected(check: Check, verdict: str) -> None:
    found = examine(claim(check, expected="fails"))
    assert found.verdict == verdict
    assert not found.as_expected


def test_a_check_that_returns_no_finding_says_so() -> None:
    assert examine(claim(garbage(True))).reason == "TypeError: a check must return a Finding, got True"


def test_only_applicable_instances_are_counted_and_ranked() -> None:
    verdict = examine(claim(odd_only))
    assert 0 < verdict.num_applicable < verdict.num_instances == 20
    assert verdict.worst.applicable
    assert np.isnan(examine(claim(never)).worst_ratio)


@given(seed=st.integers(0, 2**64))
def test_a_failing_instance_is_reproduced_by_its_index(seed: int) -> None:
    verdict = examine(claim(at_most_five), 60, seed)
    again = reproduce(claim(at_most_five), seed, verdict.worst_index)
    assert again == verdict.worst
    assert verdict.entropy == seed
    if verdict.verdict == "fails":
        assert again.instance == {"thrown": 6}


def test_a_seed_sequence_and_its_record_give_the_same_instances() -> None:
    child = np.random.SeedSequence(7).spawn(2)[1]
    verdict = examine(claim(at_most_six), 5, child)
    rebuilt = np.random.SeedSequence(verdict.entropy, spawn_key=verdict.spawn_key)
    assert reproduce(claim(at_most_six), rebuilt, verdict.worst_index) == verdict.worst


def test_instances_do_not_depend_on_which_other_claims_are_examined() -> None:
    first, second = claim(at_most_six, "toy:first"), claim(at_most_six, "toy:second")
    alone = next(iter(verdicts_of([second])))
    together = list(verdicts_of([first, second]))[1]
    assert alone.worst == together.worst
    # and claims with different keys see different instances
    assert [reproduce(first, 0, i) for i in range(9)] != [reproduce(second, 0, i) for i in range(9)]


def test_a_thorough_budget_extends_the_quick_one() -> None:
    quick, thorough = (next(iter(verdicts_of([claim(at_most_six)], budget))) for budget in ("quick", "thorough"))
    assert (quick.num_instances, thorough.num_instances) == (20, 50)
    assert thorough.worst_ratio >= quick.worst_ratio


def test_a_single_instance_is_examined_once_at_any_budget() -> None:
    single = claim(at_most_six, instances=(1, 1))
    assert examine(single, 1000).num_instances == 1


def test_an_unknown_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="budget must be one of 'quick', 'thorough', got 'slow'"):
        list(verdicts_of([claim(at_most_six)], "slow"))


def test_expected_failure_is_as_expected() -> None:
    assert examine(claim(at_most_five, expected="fails")).as_expected
    assert not examine(claim(at_most_six, expected="fails")).as_expected


def test_the_seed_is_zero_unless_another_is_given() -> None:
    assert examine(claim(at_most_six)).entropy == next(iter(verdicts_of([claim(at_most_six)]))).entropy == 0
    assert verify("power-of-choice:lemma-b1")[0].entropy == 0
    assert verify("power-of-choice:lemma-b1", rng=3)[0].entropy == 3


def test_the_time_is_that_of_the_check() -> None:
    def slow(rng: np.random.Generator) -> Finding:
        time.sleep(0.01)
        return HOLDING

    started = time.perf_counter()
    spent = examine(claim(slow), 3).seconds
    assert 0.03 <= spent <= time.perf_counter() - started


def test_a_verdict_stays_as_it_was_reached() -> None:
    with pytest.raises(FrozenInstanceError):
        examine(claim(at_most_six)).verdict = "fails"  # type: ignore[misc]


def test_a_verdict_holds_its_claim() -> None:
    mine = claim(at_most_six, expected="fails")
    verdict = examine(mine)
    assert verdict.claim is mine
    assert (verdict.key, verdict.expected) == (mine.key, "fails")
