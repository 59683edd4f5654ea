"""Reliability of verdicts: broken claims do not hold, jobs change nothing, risks add up."""

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fedtheory.claims.catalogue import select_claims
from fedtheory.statistics import bounded_mean
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_most, mean_at_most, not_applicable, worst_of
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.records import rows
from fedtheory.verification.renderings import false_alarms
from fedtheory.verification.verdicts import Verdict, examine, verdicts_of, verify

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")
Check = Callable[[np.random.Generator], Finding]


def claim(check: Check, key: str = "toy:theorem", **more: object) -> Claim:
    return Claim(key, "a toy", STATEMENT, "inequality", check, **{"instances": (20, 50), **more})  # type: ignore[arg-type]


def holding(rng: np.random.Generator) -> Finding:
    return at_most(float(rng.random()), 1.0)


def raising(rng: np.random.Generator) -> Finding:
    raise ArithmeticError


NEVER_HOLD: dict[str, Check] = {
    "it raises": raising,
    "a side is NaN": lambda rng: at_most(math.nan, 1.0),
    "the bound is NaN": lambda rng: at_most(1.0, math.nan),
    "no hypothesis is met": lambda rng: not_applicable(),
    "the bound is infinite": lambda rng: at_most(1.0, math.inf),
    "nothing is returned": lambda rng: None,  # type: ignore[dict-item,return-value]
    "a word is returned": lambda rng: "holds",  # type: ignore[dict-item,return-value]
    "there is nothing to compare": lambda rng: worst_of([]),
    "it contradicts its sides": lambda rng: Finding(1, 9, "<=", False),
    "limits do not decide": lambda rng: mean_at_most(bounded_mean([0.5], 0, 1), 0.5, confidence=0.999),
}


@pytest.mark.parametrize("check", NEVER_HOLD.values(), ids=NEVER_HOLD)
def test_what_was_not_seen_to_hold_is_not_said_to_hold(check: Check) -> None:
    found = examine(claim(check))
    assert found.verdict in {"error", "inconclusive", "not applicable"}
    assert found.reason
    assert not found.as_expected
    assert not examine(claim(check, expected="fails")).as_expected
    sometimes = claim(lambda rng: check(rng) if rng.random() < 0.2 else holding(rng))
    positive = examine(sometimes).verdict == "no counterexample"
    assert positive or examine(sometimes).verdict in {"error", "inconclusive"}
    assert positive == (check is NEVER_HOLD["no hypothesis is met"])


def test_an_infinite_counterexample_is_not_that_of_an_erratum() -> None:
    found = examine(claim(lambda rng: at_most(math.inf, 1.0), expected="fails"))
    assert (found.verdict, found.as_expected) == ("fails", False)


def without_time(verdict: Verdict) -> tuple[object, ...]:
    [row] = rows([replace(verdict, seconds=0.0)])
    # As text, since NaN, which an instance without sides has, is not equal to itself.
    return verdict.key, row, repr(verdict.worst)


SAMPLE = [
    "power-of-choice:lemma-b1", "power-of-choice:step-54-55", "power-of-choice:skew-order", "fedalign:lemma-a6",
]  # fmt: skip


@pytest.mark.slow
def test_several_jobs_reach_the_verdicts_of_one() -> None:
    alone, together = (verify(SAMPLE, rng=3, jobs=jobs) for jobs in (1, 2))
    assert len(alone) == len(SAMPLE)
    assert list(map(without_time, together)) == list(map(without_time, alone))
    # Claims that the package does not have travel whole, and an exception stays with its claim.
    mine = [claim(holding, "toy:first"), claim(raising, "toy:second")]
    one, two = (list(verdicts_of(mine, jobs=jobs)) for jobs in (1, 2))
    assert list(map(without_time, two)) == list(map(without_time, one))
    assert [found.verdict for found in two] == ["no counterexample", "error"]
    assert two[0].claim is mine[0]


def test_every_claim_gets_a_few_instances_however_short_the_time() -> None:
    found = verify(["power-of-choice:lemma-b1", "power-of-choice:step-54-55"], budget=1e-9)
    assert [verdict.num_instances for verdict in found] == [4, 1]  # 3 and the stored one
    assert all(verdict.as_expected for verdict in found)


def test_a_paper_and_a_kind_leave_their_claims() -> None:
    chosen = select_claims(paper="fedavg", kind="identity")
    assert {(each.statement.topic.key, each.kind) for each in chosen} == {("fedavg", "identity")}
    assert [each.key for each in select_claims("fedavg:lemma-4", kind="identity")] == ["fedavg:lemma-4"]


def test_only_confidence_limits_take_a_risk() -> None:
    assert at_most(1.0, 2.0).risk == at_most(1, 2).risk == 0
    limits = bounded_mean([0.5] * 9, 0, 1, 0.99)
    assert mean_at_most(limits, 0.5, confidence=0.99).risk == pytest.approx(0.01)


def test_the_risks_of_all_comparisons_add_up() -> None:
    def thrice(rng: np.random.Generator) -> Finding:
        limits = bounded_mean(rng.random(50), 0, 1, 0.999)
        return worst_of(mean_at_most(limits, bound, confidence=0.999) for bound in (2.0, 3.0, 4.0))

    found = [examine(claim(thrice, f"toy:{number}"), 10) for number in range(2)]
    assert [verdict.risk for verdict in found] == pytest.approx([0.03, 0.03])
    assert false_alarms(rows(found)) == "at most 0.06"


def test_a_check_that_raises_has_taken_time_too() -> None:
    for check in (raising, holding):
        started = time.perf_counter()
        assert 0 < examine(claim(check)).seconds <= time.perf_counter() - started
