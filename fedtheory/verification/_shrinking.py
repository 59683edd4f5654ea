"""From a counterexample to one that can be read: fewer numbers, shorter ones, smaller ones."""

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from fedtheory.verification._climbs import Step
from fedtheory.verification._moves import changed
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding
from fedtheory.verification.tapes import Read, on_tape

__all__ = ["shrink", "size"]

_STALE, _SHARE_ROUNDED = 400, 0.3
_MOST_DIGITS = 1000


def size(finding: Finding, reads: Sequence[Read]) -> tuple[float, ...]:
    """How much there is to read: the numbers of an instance, their digits, signs and sum; then its tape.

    Fewer clients and dimensions are fewer numbers, and short rationals few digits.
    """
    text = " ".join(map(str, finding.instance.values()))
    numbers = re.findall(r"\d+", text)
    digits = sum(map(len, numbers))
    total = sum(map(int, numbers)) if digits < _MOST_DIGITS else math.inf
    return len(numbers), digits + text.count("-"), total, len(reads), sum(read.essence for read in reads)


def shrink(claim: Claim, found: Step, seeds: np.random.SeedSequence) -> Iterator[Step]:
    """Yield ever smaller instances that break the claim as well, one for each instance tried, until none is smaller.

    It goes downhill in size by the moves that went uphill in strain.
    """
    rng = np.random.default_rng(seeds)
    at, stale = found, 0
    while at.reads and stale < _STALE:
        rounds = rng.random() < _SHARE_ROUNDED and not all(read.levels for read in at.reads)
        finding, reads = on_tape(claim, _rounded(at.reads, rng) if rounds else changed(at.reads, rng), rng)
        broken, before = finding.holds is False and finding.is_finite, size(*at[:2])
        smaller = broken and size(finding, reads) < before
        stale = 0 if smaller else stale + 1
        kept = (finding, reads) if smaller else at[:2]
        at = Step(*kept, at.num_instances + 1)
        yield at


def _rounded(reads: Sequence[Read], rng: np.random.Generator) -> list[float]:
    """Cut a number that is used as it is off after a few decimals."""
    numbers = [read.number for read in reads]
    place = int(rng.choice([place for place, read in enumerate(reads) if not read.levels]))
    scale = 10.0 ** int(rng.integers(0, 4))
    numbers[place] = math.floor(numbers[place] * scale) / scale
    return numbers
