"""What a verdict on somebody's own claim rests on: a hunt beside the instances, and words on how little that is."""

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedtheory.verification._jobs import Shipped, arrived, in_order, shipped
from fedtheory.verification.claims import Claim
from fedtheory.verification.conclusions import HUNTED, Hunted, Verdict
from fedtheory.verification.findings import ERROR, FAILS
from fedtheory.verification.hunts import Hunt, hunting
from fedtheory.verification.severities import severity

__all__ = ["after_hunts"]

_MOST = 2000
"""Instances that a claim is hunted for at most: with enough time the same seed hunts the same way."""


class _Task(NamedTuple):
    claim: Claim | Shipped
    entropy: int
    spawn_key: tuple[int, ...]
    seconds: float


class _Outcome(NamedTuple):
    hunt: Hunt | None
    fault: str
    tried: int
    seconds: float
    ended: bool


def after_hunts(verdicts: Sequence[Verdict], seconds: float, jobs: int = 1) -> Generator[Verdict, None, None]:
    """Yield those verdicts that a hunt may change, each after its hunt; all hunts together take about so long.

    Each claim has an equal share of the time. A single instance, a failure and an error need no hunt.
    """
    open_ones = [v for v in verdicts if not v.claim.is_single and v.verdict not in (FAILS, ERROR)]
    share = seconds * min(jobs, len(open_ones)) / max(len(open_ones), 1)
    tasks = [_Task(shipped(v.claim, jobs), v.entropy, v.spawn_key, share) for v in open_ones]
    with closing(in_order(_hunt, tasks, jobs)) as outcomes:
        for verdict, outcome in zip(open_ones, outcomes, strict=True):
            yield _with_hunt(verdict, outcome)


def _hunt(task: _Task) -> _Outcome:
    started = time.monotonic()
    seeds = np.random.SeedSequence(task.entropy, spawn_key=task.spawn_key)
    last, tried, ended = None, 0, True
    try:
        with closing(hunting(arrived(task.claim), rng=seeds, evaluations=_MOST)) as states:  # type: ignore[type-var]
            for last in states:
                tried = last.num_instances
                broken = last.worst.holds is False
                # Half of the time again makes a counterexample small.
                if time.monotonic() - started > task.seconds * (1.5 if broken else 1.0):
                    ended = tried >= _MOST
                    break
    except Exception as error:  # whatever a check raises is news about this claim only
        told = " ".join(f"{type(error).__name__}: {error}".split())
        fault = ", ".join([told, *getattr(error, "__notes__", [])])
        return _Outcome(last, fault, tried + 1, time.monotonic() - started, ended=False)
    return _Outcome(last, "", tried, time.monotonic() - started, ended)


def _with_hunt(verdict: Verdict, outcome: _Outcome) -> Verdict:
    hunted = Hunted(outcome.tried, outcome.seconds, outcome.ended)
    found = replace(verdict, hunted=hunted, seconds=verdict.seconds + outcome.seconds)
    if outcome.hunt is None:
        return replace(found, verdict=ERROR, reason=outcome.fault) if outcome.fault else found
    worst, tape = outcome.hunt.worst, outcome.hunt.tape
    if worst.holds is False or severity(worst) > severity(verdict.worst):
        found = replace(found, worst=worst, worst_index=HUNTED, hunted=hunted._replace(tape=tape))
    if worst.holds is False:
        return replace(found, verdict=FAILS, reason="")
    return replace(found, verdict=ERROR, reason=f"a hunt met {outcome.fault}") if outcome.fault else found
