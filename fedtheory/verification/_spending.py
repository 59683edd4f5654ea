"""Time spent on claims where it tells most: a few instances of each, then more where a verdict is least certain."""

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np

from fedtheory.verification._jobs import Shipped, arrived, in_order, shipped
from fedtheory.verification.claims import Claim
from fedtheory.verification.trials import STORED, Trials, tried

__all__ = ["Batch", "first_batch", "on_batch", "spent", "uncertainty"]

_FIRST, _DOUBT = 3, 0.05


class Batch(NamedTuple):
    """Instances of a claim to try: numbered ones, and that of a tape."""

    claim: Claim | Shipped
    numbers: range
    tape: Sequence[float] | None = None


def first_batch(claim: Claim, count: int, tape: Sequence[float] | None, jobs: int) -> Batch:
    """Return so many instances and that of a tape; the only one if the claim has no others."""
    if claim.is_single:
        return Batch(shipped(claim, jobs), range(1))
    return Batch(shipped(claim, jobs), range(count), tape)


def on_batch(seeds: np.random.SeedSequence, batch: Batch) -> Trials:
    """Try the instances of a batch."""
    return tried(arrived(batch.claim), seeds, batch.numbers, batch.tape)


def uncertainty(claim: Claim, trials: Trials) -> float:
    """Share of instances that may break the claim for all that was seen, but for one chance in twenty.

    It is 0 where nothing is left to see: the claim has one instance only, is broken, or its check raised an exception.
    """
    findings = trials.findings.values()
    if claim.is_single or trials.fault or any(finding.holds is False for finding in findings):
        return 0.0
    decided = sum(finding.holds is True for finding in findings)
    undecided = any(finding.applicable and finding.holds is None for finding in findings)
    return 1.0 if undecided or not decided else float(1 - _DOUBT ** (1 / decided))


def spent(
    claims: Sequence[Claim],
    seeds: np.random.SeedSequence,
    tapes: Mapping[str, Sequence[float]],
    seconds: float,
    jobs: int,
) -> Generator[tuple[Claim, Trials], None, None]:
    """Yield each claim with its trials, again when there are more of them, until the seconds are over.

    A few instances of each claim are tried whatever that takes. Then the claim that is least certain is tried twice as
    often as before, or as often as the time that is left allows; with several jobs, so many claims at once.
    """
    deadline, work, jobs = time.monotonic() + seconds, partial(on_batch, seeds), max(1, min(jobs, len(claims)))
    reached: list[Trials] = []
    with closing(
        in_order(work, [first_batch(claim, _FIRST, tapes.get(claim.key), jobs) for claim in claims], jobs)
    ) as first:
        for claim, trials in zip(claims, first, strict=True):
            reached.append(trials)
            yield claim, trials
    while wave := _wave(claims, reached, deadline - time.monotonic(), jobs):
        with closing(in_order(work, wave.values(), jobs)) as results:
            for number, more in zip(wave, results, strict=True):
                reached[number] = reached[number].then(more)
                yield claims[number], reached[number]


def _wave(claims: Sequence[Claim], reached: Sequence[Trials], left: float, jobs: int) -> dict[int, Batch]:
    """Return the next instances of the least certain claims, by the number of the claim."""
    wave: dict[int, Batch] = {}
    doubts = [uncertainty(claim, trials) for claim, trials in zip(claims, reached, strict=True)]
    for number in sorted(range(len(claims)), key=lambda number: -doubts[number]):
        trials = reached[number]
        drawn = sum(index != STORED for index in trials.findings)
        affordable = int(left / max(trials.seconds / len(trials.findings), 1e-6))
        if len(wave) < jobs and doubts[number] > 0 and affordable > 0:
            wave[number] = Batch(shipped(claims[number], jobs), range(drawn, drawn + min(drawn, affordable)))
    return wave
