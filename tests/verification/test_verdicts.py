"""Verdicts, the number of instances that they need, and reproducible instances."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.claims.catalogue import known_claims, one_claim
from fedtheory.statistics.interval import Interval
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, mean_at_most, not_applicable
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import _trials, instances
from fedtheory.verification.instances import EXAMPLE, regression_examples, replay, reproduce
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


def test_one_failure_outweighs_everything_else() -> None:
    def mixed(rng: np.random.Generator) -> Finding:
        return (at_most_five if die(rng) == 1 else undecided)(rng)

    assert examine(claim(mixed), 300).verdict == "fails"


def cycle(findings: list[Finding]) -> Check:
    """A check that returns these findings in turn, whatever it is given."""
    left = itertools.cycle(findings)
    return lambda rng: next(left)


HOLDING, UNMET, UNDECIDED, FAILING = at_most(1, 2), not_applicable("too rare"), at_most(1.0, math.inf), at_most(3, 2)


def every(number: int) -> Check:
    """A check whose hypotheses hold on every so many instances."""
    return cycle([UNMET] * (number - 1) + [HOLDING])


@pytest.mark.parametrize(("number", "num_instances"), [(1, 20), (5, 100), (20, 400)])
def test_instances_are_drawn_until_the_hypotheses_hold_on_as_many_as_asked_for(number: int, num_instances: int) -> None:
    found = examine(claim(every(number)), 20)
    assert (found.verdict, found.num_applicable, found.num_instances) == ("no counterexample", 20, num_instances)
    assert found.as_expected


def test_few_applicable_instances_are_enough_for_a_verdict_and_fewer_are_not_and_name_the_option() -> None:
    # 20 applicable instances may take 400 draws; every 80th leaves 5, every 81st 4.
    assert examine(claim(every(80)), 20).verdict == "no counterexample"
    rare = examine(claim(every(81)), 20)
    assert (rare.verdict, rare.num_applicable, rare.num_instances) == ("inconclusive", 4, 400)
    assert "the hypotheses hold on 4 of 400 instances, 5 are needed" in rare.reason
    assert examine(claim(every(81)), 100).verdict == "no counterexample"


def test_a_user_s_claim_never_holds_and_the_package_s_does() -> None:
    """More instances are no proof: the strongest sentence is that none of them is a counterexample."""
    assert examine(claim(at_most_six), 300).verdict == "no counterexample"
    assert examine(claim(partial(at_most_six))).verdict == "no counterexample"
    assert examine(one_claim("power-of-choice:lemma-b1")).verdict == "holds"


@pytest.mark.parametrize(
    ("finding", "factor"),
    [
        (at_most(1, 4), 4.0),
        (at_most(4, 4), 1.0),
        (at_least(4, 1), 4.0),
        (at_most(-3, -2), 1.5),
        (at_most(99, 98 + 2, baseline=200), 1.01),  # -101 <= -100 beyond the baseline: sharper by 1.01
        (equal_to(2.0, 2.0), 1.0),
        (at_most(0, 4), math.inf),
        (at_most(-1, 4), math.inf),
        (at_most(5, 4), None),
        (not_applicable(), None),
    ],
)
def test_the_detectable_factor_is_that_by_which_the_worst_instance_refutes_a_sharper_bound(
    finding: Finding, factor: float | None
) -> None:
    assert examine(claim(cycle([finding])), 1).detectable == (None if factor is None else pytest.approx(factor))


def test_a_bound_sharpened_beyond_the_detectable_factor_is_refuted() -> None:
    verdict = examine(one_claim("power-of-choice:lemma-b2"))
    assert verdict.detectable is not None
    assert verdict.detectable > 2
    for factor, holds in ((0.999, True), (1.001, False)):
        sharper = verdict.worst.predicted / (Fraction(verdict.detectable) * Fraction(factor))
        assert at_most(verdict.worst.measured, sharper).holds is holds


def test_a_regression_example_is_checked_last_and_has_the_number_minus_one(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = claim(lambda rng: at_most(rng.random(), 2))
    monkeypatch.setattr(_trials, "is_own", lambda claim: False)
    for module in (_trials, instances):
        monkeypatch.setattr(module, "regression_examples", lambda: {mine.key: (0.999999,)})
    found = examine(mine, 5)
    assert (found.worst_index, found.num_instances, found.num_applicable) == (EXAMPLE, 6, 6)
    assert found.worst.measured == 0.999999
    monkeypatch.setattr(instances, "regression_examples", lambda: {mine.key: (0.0,)})
    assert examine(mine, 5).worst_index >= 0
    raising = replace(mine, check=lambda rng: at_most(1, 1 / (rng.random() - 0.5) ** 2))
    monkeypatch.setattr(instances, "regression_examples", lambda: {mine.key: (0.5,)})
    failed = examine(raising, 2)
    assert (failed.verdict, failed.worst_index, failed.num_instances) == ("error", EXAMPLE, 3)


def test_verdicts_replay_the_stored_instances_of_the_package() -> None:
    key = "power-of-choice:lemma-b3"
    (found,) = verify(key)
    assert found.num_instances == known_claims()[key].instances[0] + 1
    again = reproduce(known_claims()[key], 0, EXAMPLE)
    assert again == replay(known_claims()[key], regression_examples()[key])
    assert found.worst_ratio >= again.ratio


def test_a_notebook_displays_verdicts_as_a_table() -> None:
    found = verify("power-of-choice:lemma-b3")
    assert isinstance(found, list)
    assert "<tr><td>power-of-choice:lemma-b3</td>" in found._repr_html_()
    assert found._repr_html_().count("<tr>") == 1 + len(found)


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


@given(seed=st.integers(0, 2**64))
def test_a_failing_instance_is_reproduced_by_its_index(seed: int) -> None:
    verdict = examine(claim(at_most_five), 60, seed)
    again = reproduce(claim(at_most_five), seed, verdict.worst_index)
    assert again == verdict.worst
    assert verdict.entropy == seed
    if verdict.verdict == "fails":
        assert again.instance == {"thrown": 6}


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
    for options in ({"num_instances": 1000}, {"budget": 0.1}):
        [found] = verdicts_of([single], **options)  # type: ignore[arg-type]
        assert (found.verdict, found.num_instances) == ("no counterexample", 1)
