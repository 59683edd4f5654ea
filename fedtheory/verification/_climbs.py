"""One climb of a hunt: from random instances upwards, until no change strains the claim more."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fedtheory.verification._moves import changed, drifted
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding
from fedtheory.verification.tapes import Read, on_tape

__all__ = ["Held", "Step", "climb", "height"]

_SCATTERED, _STALE = 15, 100
# Where a bound is attained there is nothing above but what breaks the claim, and that may be anywhere.
_ATTAINED, _STALE_THERE = 1 - 1e-9, 15
_SHARE_AFRESH, _SHARE_DRIFTED = 0.25, 0.5
_FARTHEST, _NEAREST = 0.3, 1e-12
# Reach grows and shrinks so that one move in five succeeds: Rechenberg's rule for the (1+1) evolution strategy.
_LONGER, _SHORTER = 1.5, 1.5**-0.25
_NEW_MOVES = 20


class Step(NamedTuple):
    """The worst finding of a climb so far, all that its check read, and how many instances were tried."""

    worst: Finding
    reads: tuple[Read, ...]
    num_instances: int


class Held(NamedTuple):
    """A number that all tapes of a climb have at a place."""

    place: int
    number: float

    def on(self, numbers: Sequence[float], rng: np.random.Generator) -> list[float]:
        """Return the numbers with this one at its place, and random ones before it if there are too few."""
        missing = [float(rng.random()) for _ in range(len(numbers), self.place + 1)]
        return [*numbers[: self.place], *missing[:-1], self.number, *numbers[self.place + 1 :]]


def climb(
    claim: Claim,
    seeds: np.random.SeedSequence,
    start: Sequence[float] = (),
    held: Held | None = None,
    *,
    afresh: Callable[[np.random.Generator], list[float]] | None = None,
    aim: Callable[[Finding], float] | None = None,
    hold: Callable[[Sequence[float], np.random.Generator], Sequence[float]] | None = None,
) -> Iterator[Step]:
    """Yield the worst instance so far after each one tried; end where the claim breaks, or where nothing improves.

    Without a start it begins with the worst of a few random instances. Whole numbers change by coordinates and blocks;
    numbers that are used as they are drift by steps of adapted length. Tapes begin afresh with what is asked for, the
    height of a finding may be another one, and what is held may be more than a number; each finding is measured once.
    """
    rng = np.random.default_rng(seeds)
    measured = aim or height
    keep = hold or ((lambda numbers, _: numbers) if held is None else held.on)
    fresh = afresh or (lambda _: [])
    first = start or fresh(rng)
    at, reach, stale = Step(*on_tape(claim, keep(first, rng), rng), 1), _FARTHEST, 0
    top = measured(at.worst)
    tried: set[tuple[float, ...]] = set()
    yield at
    while (
        at.reads and at.worst.holds is not False and stale < (_STALE_THERE if _is_attained(at.worst, top) else _STALE)
    ):
        anew = rng.random() < _SHARE_AFRESH or (not start and at.num_instances < _SCATTERED)
        drifts = not anew and rng.random() < _SHARE_DRIFTED and not all(read.levels for read in at.reads)
        numbers = fresh(rng) if anew else drifted(at.reads, reach, rng) if drifts else _untried(at.reads, tried, rng)
        found = Step(*on_tape(claim, keep(numbers, rng), rng), at.num_instances + 1)
        reached = measured(found.worst)
        better = found.worst.holds is False or reached > top
        if drifts:
            reach = min(max(reach * (_LONGER if better else _SHORTER), _NEAREST), _FARTHEST)
        stale = 0 if better else stale + 1
        if better or reached == top:
            at, top, tried = found, reached, set()
        else:
            at = at._replace(num_instances=found.num_instances)
        yield at


def height(finding: Finding) -> float:
    """How near a finding is to breaking the claim: its strain, or for rounded sides of an identity their distance.

    The ratio of two sides that cancel says little; the slack knows the size of what they are made of.
    """
    if finding.relation == "==" and finding.slack and finding.is_finite:
        return float(abs(finding.measured - finding.predicted) / finding.slack)
    return finding.strain


def _is_attained(finding: Finding, top: float) -> bool:
    return finding.relation != "==" and top >= _ATTAINED


def _untried(reads: Sequence[Read], tried: set[tuple[float, ...]], rng: np.random.Generator) -> list[float]:
    """Change a tape so that the check sees something else than it did after the other changes of the same tape."""
    numbers = changed(reads, rng)
    for _ in range(_NEW_MOVES):
        seen = tuple(read._replace(number=number).essence for number, read in zip(numbers, reads, strict=False))
        if (len(numbers), *seen) not in tried:
            break
        numbers = changed(reads, rng)
    tried.add((len(numbers), *seen))
    return numbers
