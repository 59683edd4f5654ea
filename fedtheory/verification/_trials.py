"""Trials of a claim: instances, drawn until enough of them apply, and a hunt."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory import verification
from fedtheory.theorem.claims import Claim, is_own
from fedtheory.theorem.findings import Finding, is_number, not_applicable
from fedtheory.verification.instances import EXAMPLE, regression_examples, reproduce

if TYPE_CHECKING:
    from fedtheory.verification.hunts import Hunt

DRAWS_PER_INSTANCE = 20
"""Largest number of drawn instances per requested applicable one."""

FIRST = 3
"""Smallest number of instances of each claim, even if the time is short."""


Ranges = Mapping[str, tuple[Any, Any]]


class Effort(NamedTuple):
    """Effort for one claim: number of applicable instances, or seconds of drawing; seconds of a hunt."""

    wanted: int
    seconds: float | None = None
    hunt_seconds: float = 0.0


class Hunted(NamedTuple):
    """Result of a hunt, the numbers of its instances and applicable instances, and an exception that ended it."""

    hunt: "Hunt | None"
    num_instances: int
    num_applicable: int
    seconds: float
    ranges: Ranges
    fault: str = ""


class Trials(NamedTuple):
    """Findings on the instances of one claim, by number, in the order of the checks.

    If the check raised an exception, ``fault`` describes it in one line, and the last finding is a placeholder.
    """

    findings: dict[int, Finding]
    seconds: float
    fault: str = ""
    hunted: Hunted | None = None


def tried(claim: Claim, effort: Effort, *, seeds: np.random.SeedSequence) -> Trials:
    """Check instances of a claim, and hunt for a counterexample if the effort includes a hunt."""
    from threadpoolctl import threadpool_limits

    # The last digits of linear algebra depend on the number of threads.
    with threadpool_limits(1):
        trials = _drawn(claim, effort, seeds)
        failed = trials.fault or any(finding.holds is False for finding in trials.findings.values())
        if effort.hunt_seconds > 0 and not failed and not claim.is_single:
            hunted = _hunted(claim, effort.hunt_seconds, seeds)
            return trials._replace(hunted=hunted, seconds=trials.seconds + hunted.seconds)
        return trials


def _drawn(claim: Claim, effort: Effort, seeds: np.random.SeedSequence) -> Trials:
    """Check numbered instances until enough of them apply or the time is over, then the regression example."""
    started, findings = time.perf_counter(), dict[int, Finding]()
    deadline = started + (effort.seconds or 0.0)
    most = 1 if claim.is_single else DRAWS_PER_INSTANCE * effort.wanted if effort.seconds is None else None
    number, applicable = 0, 0
    try:
        while number != most and (
            applicable < effort.wanted if most else number < FIRST or time.perf_counter() < deadline
        ):
            findings[number] = reproduce(claim, seeds, number)
            applicable += findings[number].applicable
            number += 1
        if not claim.is_single and not is_own(claim) and claim.key in regression_examples():
            number = EXAMPLE
            findings[number] = reproduce(claim, seeds, number)
    except Exception as error:  # a check may raise anything
        fault = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
        return Trials({**findings, number: not_applicable(fault)}, time.perf_counter() - started, fault)
    return Trials(findings, time.perf_counter() - started)


def _hunted(claim: Claim, seconds: float, seeds: np.random.SeedSequence) -> Hunted:
    """Hunt for a counterexample; count the instances and those that satisfy the hypotheses."""
    started, num_instances, num_applicable = time.perf_counter(), 0, 0
    ranges: dict[str, tuple[Any, Any]] = {}

    @wraps(claim.check)
    def check(rng: np.random.Generator) -> Finding:
        nonlocal num_instances, num_applicable
        num_instances += 1
        finding = claim.check(rng)
        if getattr(finding, "applicable", False):  # the check may return something else
            num_applicable += 1
            widen(ranges, finding)
        return finding

    last: Hunt | None = None
    fault = ""
    try:
        for last in verification.hunts.hunting(replace(claim, check=check), seconds, seeds):  # noqa: B007
            pass
    except Exception as error:  # a check may raise anything
        fault = ", ".join([" ".join(f"{type(error).__name__}: {error}".split()), *getattr(error, "__notes__", [])])
    return Hunted(last, num_instances, num_applicable, time.perf_counter() - started, ranges, fault)


def widen(ranges: dict[str, tuple[Any, Any]], finding: Finding) -> None:
    """Extend the ranges by the numbers of an instance."""
    for name, value in finding.instance.items():
        numbers = [*_numbers_in(value), *ranges.get(name, ())]
        if numbers:
            ranges[name] = min(numbers), max(numbers)


def _numbers_in(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple | np.ndarray):
        for part in value:
            yield from _numbers_in(part)
    elif is_number(value):
        yield value
