"""The four verdicts, and instances that can be drawn again."""

import json
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.interval import Interval
from fedtheory.paper import Paper, Statement
from fedtheory.verification.claim import Claim, Finding, at_most, not_applicable
from fedtheory.verification.expectation import mean_at_most
from fedtheory.verification.verdicts import examine, reproduce, verdicts_of

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
    return mean_at_most(Interval(0.0, float(die(rng))), 3.0)


def odd_only(rng: np.random.Generator) -> Finding:
    thrown = die(rng)
    return at_most(thrown, 5) if thrown % 2 else not_applicable(thrown=thrown)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (at_most_six, "holds"),
        (at_most_five, "fails"),
        (never, "not applicable"),
        (undecided, "inconclusive"),
        (odd_only, "holds"),
    ],
)
def test_every_verdict_can_be_reached(check: Check, verdict: str) -> None:
    assert examine(claim(check)).verdict == verdict


def test_one_failure_outweighs_everything_else() -> None:
    def mixed(rng: np.random.Generator) -> Finding:
        return (at_most_five if die(rng) == 1 else undecided)(rng)

    assert examine(claim(mixed), 300).verdict == "fails"


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


def test_a_row_is_plain_json_that_keeps_fractions_exact() -> None:
    def exact(rng: np.random.Generator) -> Finding:
        return at_most(Fraction(1, 3), Fraction(1, 2), instance={"x": Fraction(2, 7)})

    row = json.loads(json.dumps(examine(claim(exact)).as_row()))
    assert (row["measured"], row["predicted"], row["instance"]) == ("1/3", "1/2", {"x": "2/7"})
    assert float(row["worst_ratio"]) == float(Fraction(2, 3))
