"""From a counterexample to one that can be read: fewer numbers, shorter ones, smaller ones."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from fedtheory.verification._climbs import Held, Step, climb
from fedtheory.verification._moves import changed
from fedtheory.verification.claims import Claim
from fedtheory.verification.tapes import Read, on_tape

__all__ = ["shrink", "size"]

_FIRST_CHOICES, _MOST_CLIMBED = 6, 80
_STALE, _SHARE_ROUNDED = 400, 0.3
_MOST_DIGITS = 1000


def size(found: Step) -> tuple[float, ...]:
    """How much there is to read: the numbers of an instance, their digits, signs and sum; then its tape.

    Fewer clients and dimensions are fewer numbers, and short rationals few digits.
    """
    text = " ".join(map(str, found.worst.instance.values()))
    numbers = re.findall(r"\d+", text)
    digits = sum(map(len, numbers))
    total = sum(map(int, numbers)) if digits < _MOST_DIGITS else math.inf
    return len(numbers), digits + text.count("-"), total, len(found.reads), sum(read.essence for read in found.reads)


def shrink(claim: Claim, found: Step, seeds: np.random.SeedSequence) -> Iterator[Step]:
    """Yield ever smaller instances that break the claim as well, one for each instance tried, until none is smaller."""
    at = found
    for at in _fewer(claim, found, seeds):
        yield at
    yield from _simpler(claim, at, np.random.default_rng(seeds))


def _fewer(claim: Claim, found: Step, seeds: np.random.SeedSequence) -> Iterator[Step]:
    """Lower the first choices, which is how many clients and dimensions there are, and climb to where it breaks again.

    With one client fewer all that follows on the tape is read as something else.
    """
    at = found
    for place in range(min(_FIRST_CHOICES, len(found.reads))):
        present = at.reads[place].level if place < len(at.reads) else 0
        for level in sorted({0, present - 1} if present else ()):
            held, before = Held(place, (level + 0.5) / at.reads[place].levels), at
            for step in islice(climb(claim, seeds, held=held), _MOST_CLIMBED):
                kept = step if _smaller(step, at) else at
                at = kept._replace(num_instances=before.num_instances + step.num_instances)
                yield at
            if at.worst is not before.worst:
                break


def _smaller(found: Step, at: Step) -> bool:
    return found.worst.holds is False and found.worst.is_finite and size(found) < size(at)


def _simpler(claim: Claim, found: Step, rng: np.random.Generator) -> Iterator[Step]:
    """Go downhill in size by the moves that went uphill in strain."""
    at, stale = found, 0
    while at.reads and stale < _STALE:
        rounds = rng.random() < _SHARE_ROUNDED and not all(read.levels for read in at.reads)
        numbers = _rounded(at.reads, rng) if rounds else changed(at.reads, rng)
        other = Step(*on_tape(claim, numbers, rng), at.num_instances + 1)
        stale = 0 if _smaller(other, at) else stale + 1
        at = at._replace(num_instances=other.num_instances) if stale else other
        yield at


def _rounded(reads: Sequence[Read], rng: np.random.Generator) -> list[float]:
    """Cut a number that is used as it is off after a few decimals."""
    numbers = [read.number for read in reads]
    place = int(rng.choice([place for place, read in enumerate(reads) if not read.levels]))
    scale = 10.0 ** int(rng.integers(0, 4))
    numbers[place] = math.floor(numbers[place] * scale) / scale
    return numbers
