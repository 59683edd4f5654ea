"""Search for counterexamples: steer a claim's check towards the instances that strain it most."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast, final

import numpy as np

from fedtheory import _validate
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding

__all__ = ["Hunt", "Tape", "replay", "search"]

_SHARE_AT_RANDOM = 0.3


@final
class Tape:
    """Uniform numbers on record, read through the two methods of a Generator that checks use.

    What lies beyond the record is drawn from a generator and added to it.
    """

    def __init__(self, numbers: Sequence[float], rng: np.random.Generator) -> None:
        self.numbers = list(numbers)
        self._rng = rng
        self._read = 0

    def _next(self) -> float:
        if self._read == len(self.numbers):
            self.numbers.append(float(self._rng.random()))
        self._read += 1
        return self.numbers[self._read - 1]

    def random(self, size: Any = None) -> Any:
        """Return uniform numbers in [0, 1)."""
        if size is None:
            return self._next()
        return np.array([self._next() for _ in range(int(np.prod(size)))]).reshape(size)

    def integers(self, low: int, high: int | None = None, size: Any = None) -> Any:
        """Return whole numbers in low..high-1, or in 0..low-1."""
        first, last = (0, low) if high is None else (low, high)
        drawn = first + np.floor(np.asarray(self.random(size)) * (last - first)).astype(np.int64)
        return int(drawn) if size is None else drawn

    @property
    def used(self) -> tuple[float, ...]:
        """The numbers read so far."""
        return tuple(self.numbers[: self._read])


class Hunt(NamedTuple):
    """What a search found: the worst finding, the tape that gives it, and how many instances were tried."""

    worst: Finding
    tape: tuple[float, ...]
    num_instances: int


def search(claim: Claim, num_instances: int = 1000, rng: Any = 0, start: Sequence[float] = ()) -> Hunt:
    """Look for the instance that strains a claim most, and stop at the first that breaks it.

    A third of the instances is drawn afresh; the others change some of the random numbers behind the worst one so far.

    Parameters
    ----------
    claim
        The claim; its check must draw by ``rng.random`` and ``rng.integers`` only.
    num_instances
        Most instances to try.
    rng
        Seed, SeedSequence or Generator.
    start
        Tape of the first instance: the worst one of an earlier search, say.

    Raises
    ------
    ValueError
        If the number of instances is not positive.
    """
    generator = np.random.default_rng(_validate.seed_sequence(rng))
    worst, tape = _check(claim, start, generator)
    tried = 1
    while tried < _validate.count("num_instances", num_instances) and worst.holds is not False:
        afresh = generator.random() < _SHARE_AT_RANDOM
        finding, numbers = _check(claim, () if afresh else _changed(tape, generator), generator)
        tried += 1
        if finding.holds is False or finding.strain >= worst.strain:
            worst, tape = finding, numbers
    return Hunt(worst, tape, tried)


def replay(claim: Claim, tape: Sequence[float]) -> Finding:
    """Check the instance that a tape stands for."""
    return _check(claim, tape, np.random.default_rng(0))[0]


def _check(claim: Claim, numbers: Sequence[float], rng: np.random.Generator) -> tuple[Finding, tuple[float, ...]]:
    tape = Tape(numbers, rng)
    finding = claim.check(cast(np.random.Generator, tape))
    return finding, tape.used


def _changed(tape: tuple[float, ...], rng: np.random.Generator) -> list[float]:
    chosen = rng.random(len(tape)) < min(1.0, 2 / max(len(tape), 1))
    return [float(rng.random()) if change else number for change, number in zip(chosen, tape, strict=True)]
