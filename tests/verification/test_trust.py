"""Reliability of verdicts: broken claims do not hold, jobs change nothing, false alarms are counted."""

import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import linregress

from fedtheory.claims.catalogue import select_claims
from fedtheory.statistics import bounded_mean, limits, student_mean, subgaussian_mean
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import (
    Finding,
    at_most,
    mean_at_most,
    not_applicable,
    worst_of,
)
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.instances import reproduce
from fedtheory.verification.records import rows
from fedtheory.verification.renderings import false_alarms
from fedtheory.verification.verdicts import Verdict, examine, verdicts_of, verify
from tests.environment import thinned

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
    "limits do not decide": lambda rng: mean_at_most(bounded_mean([0.5], 0, 1), 0.5, confidence=0.999),
}


@pytest.mark.parametrize("check", NEVER_HOLD.values(), ids=NEVER_HOLD)
def test_what_was_not_seen_to_hold_is_not_said_to_hold(check: Check) -> None:
    found = examine(claim(check))
    assert found.verdict in {"error", "inconclusive", "not applicable"}
    assert found.reason
    assert not found.as_expected
    sometimes = claim(lambda rng: check(rng) if rng.random() < 0.2 else holding(rng))
    positive = examine(sometimes).verdict == "no counterexample"
    assert positive or examine(sometimes).verdict in {"error", "inconclusive"}
    assert positive == (check is NEVER_HOLD["no hypothesis is met"])


# --- jobs


def without_time(verdict: Verdict) -> tuple[object, ...]:
    [row] = rows([replace(verdict, seconds=0.0)])
    # As text, since NaN, which an instance without sides has, is not equal to itself.
    return verdict.key, row, repr(verdict.worst)


SAMPLE = [
    "power-of-choice:lemma-b1",
    "power-of-choice:step-54-55",
    "power-of-choice:skew-order",
    "exact-quadratics:base",
]


@pytest.mark.slow
def test_several_jobs_reach_the_verdicts_of_one() -> None:
    alone, together = (verify(SAMPLE, rng=3, jobs=jobs) for jobs in (1, 2))
    assert len(alone) == len(SAMPLE)
    assert list(map(without_time, together)) == list(map(without_time, alone))
    # Claims that the package does not have travel whole, and an exception stays with its claim.
    mine = [claim(holding, "toy:first"), claim(raising, "toy:second")]
    alone, together = (list(verdicts_of(mine, jobs=jobs)) for jobs in (1, 2))
    assert list(map(without_time, together)) == list(map(without_time, alone))
    assert [found.verdict for found in together] == ["no counterexample", "error"]
    assert together[0].claim is mine[0]


def test_a_batch_of_instances_is_that_of_a_single_claim() -> None:
    mine = claim(holding)
    [found] = verdicts_of([mine], rng=2, num_instances=7)
    assert without_time(found) == without_time(examine(mine, 7, rng=2))


def test_no_jobs_and_no_time_are_refused() -> None:
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        verify("power-of-choice:lemma-b1", jobs=0)
    with pytest.raises(ValueError, match="budget must be finite and positive"):
        verify("power-of-choice:lemma-b1", budget=-1.0)


# --- time


def patience() -> int:
    """Return by how much longer than on an idle machine something may take."""
    return 1 + math.ceil(os.getloadavg()[0] / (os.cpu_count() or 1))


@pytest.mark.slow
def test_claims_share_the_time_and_single_instances_take_none_of_it() -> None:
    claims = [claim(holding, f"toy:{name}") for name in ("first", "second")]
    single = claim(holding, "toy:single", instances=(1, 1))
    found = list(verdicts_of([*claims, single], 0.4))
    assert [verdict.num_instances > 100 for verdict in found] == [True, True, False]
    assert all(0.2 <= verdict.seconds < 0.2 * (1 + patience()) for verdict in found[:2])
    # More instances are those of a larger budget.
    again = examine(claims[0], found[0].num_instances)
    assert (again.worst, again.worst_index) == (found[0].worst, found[0].worst_index)


def test_every_claim_gets_a_few_instances_however_short_the_time() -> None:
    found = verify(["power-of-choice:lemma-b1", "power-of-choice:step-54-55"], budget=1e-9)
    assert [verdict.num_instances for verdict in found] == [4, 1]  # 3 and the stored one
    assert all(verdict.as_expected for verdict in found)


def test_a_paper_and_a_kind_leave_their_claims() -> None:
    chosen = select_claims(paper="fedavg", kind="identity")
    assert {(each.statement.topic.key, each.kind) for each in chosen} == {("fedavg", "identity")}
    assert [each.key for each in select_claims("fedavg:lemma-4", kind="identity")] == ["fedavg:lemma-4"]
    with pytest.raises(ValueError, match="kind must be one of"):
        select_claims(kind="guess")
    with pytest.raises(ValueError, match="paper must be one of"):
        select_claims(paper="fed")
    with pytest.raises(ValueError, match="must select a claim"):
        select_claims("fedavg:lemma-4", kind="rate")


# --- false alarms


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


def coin(rng: np.random.Generator, size: int) -> np.ndarray:
    return (rng.random(size) < 0.2).astype(float)


def stopped(limits: Callable[..., object], draw: Callable[..., np.ndarray], mean: float, batch: int = 50) -> Check:
    """Sampling that stops as soon as the limits decide about a bound that is the mean itself, which they should not."""

    def check(rng: np.random.Generator) -> Finding:
        samples = np.empty(0)
        while True:
            samples = np.append(samples, draw(rng, batch))
            finding = mean_at_most(limits(samples, confidence=0.9), mean, confidence=0.9)
            if finding.holds is not None or samples.size >= 200:
                return finding

    return check


def of_fixed_size(rng: np.random.Generator) -> Finding:
    return mean_at_most(student_mean(rng.normal(3.0, 2.0, 12), 0.9), 3.0, confidence=0.9)


def of_an_order(rng: np.random.Generator) -> Finding:
    fit = linregress(np.arange(6.0), np.arange(6.0) + rng.normal(0.0, 0.3, 6))
    return mean_at_most(limits.student_interval(fit.slope, fit.stderr, 4, 0.9), 1.0, confidence=0.9)


LIMITS: dict[str, Check] = {
    "bounded_mean of coins": stopped(partial(bounded_mean, lower=0.0, upper=1.0), coin, 0.2),
    "bounded_mean of uniform numbers": stopped(
        partial(bounded_mean, lower=0.0, upper=1.0), lambda rng, size: rng.random(size), 0.5
    ),
    "subgaussian_mean of normal numbers": stopped(
        partial(subgaussian_mean, scale=2.0, tuned_for=100), lambda rng, size: rng.normal(1.0, 2.0, size), 1.0
    ),
    "student_mean at a fixed size": of_fixed_size,
    "student_interval of an order": of_an_order,
}


def decisions(check: Check, repetitions: int) -> tuple[int, float]:
    """How many findings decide about a bound at the mean, where either decision is false, and the risk taken."""
    found = [reproduce(claim(check), 0, index) for index in range(repetitions)]
    return sum(finding.holds is not None for finding in found), sum(finding.risk for finding in found)


def test_every_confidence_limit_is_simulated() -> None:
    assert {name.split()[0] for name in LIMITS} == {*limits.__all__, "student_interval"}


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", thinned([4_000, 10_000], 2))
@pytest.mark.parametrize("check", LIMITS.values(), ids=LIMITS)
def test_false_alarms_are_as_rare_as_stated(check: Check, repetitions: int) -> None:
    """Under optional stopping, at confidence 9/10 so that there is something to count."""
    alarms, stated = decisions(check, repetitions)
    assert stated == pytest.approx(repetitions / 10)
    assert alarms <= stated + 3 * math.sqrt(stated * 0.9)


@pytest.mark.slow
def test_limits_of_a_fixed_size_raise_more_alarms_when_sampling_stops_at_will() -> None:
    """The simulation sees it: Student's limits, read after every ten samples, break their promise."""
    at_will = stopped(student_mean, lambda rng, size: rng.normal(1.0, 2.0, size), 1.0, batch=10)
    alarms, stated = decisions(at_will, 500)
    assert alarms > 2 * stated


DOORS: dict[str, Callable[[Claim, np.random.SeedSequence], Verdict]] = {
    "examine": lambda claim, seeds: examine(claim, 5, seeds),
    "verdicts_of": lambda claim, seeds: next(verdicts_of([claim], rng=seeds)),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_a_seed_without_a_single_integer_is_refused_before_anything_is_checked(
    door: Callable[[Claim, np.random.SeedSequence], Verdict],
) -> None:
    checked = list[float]()

    def check(rng: np.random.Generator) -> Finding:
        checked.append(rng.random())
        return at_most(checked[-1], 1.0)

    with pytest.raises(ValueError, match="rng must come from a single integer of entropy"):
        door(claim(check), np.random.SeedSequence([1, 2]))
    assert not checked


def test_a_check_that_raises_has_taken_time_too() -> None:
    for check in (raising, holding):
        started = time.perf_counter()
        assert 0 < examine(claim(check)).seconds <= time.perf_counter() - started
